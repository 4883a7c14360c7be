// Values as ONNX's test data has them: SequenceProto and OptionalProto of onnx-data.proto.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// The two messages number alike what they may hold. A sequence repeats it.
enum : uint32_t { kElemType = 2, kTensors = 3, kSequences = 5, kOptionals = 7 };

class ValueReader {
 public:
  explicit ValueReader(onnx_format::Source& source) : source_(source) {}

  absl::StatusOr<OnnxValue> Read(std::string_view bytes, Type::Kind kind, int depth = 0) {
    if (depth > kMaxDepth) return Invalid("values nested too deeply");
    OnnxValue value;
    if (kind != Type::kSequence && kind != Type::kOptional) {
      onnx_format::TensorProto proto;
      X2IR_RETURN_IF_ERROR(onnx_format::ReadTensor(source_, bytes, &proto));
      value.kind = OnnxValue::kTensor;
      value.tensor = std::move(proto.tensor);
      return value;
    }
    const bool sequence = kind == Type::kSequence;
    if (sequence) value.kind = OnnxValue::kSequence;
    bool says_nothing = false;  // of an optional
    WireReader in(bytes, source_.origin());
    while (in.Next()) {
      Type::Kind inner = Type::kTensor;
      switch (in.field()) {
        case kElemType: says_nothing = in.Int() == 0; continue;
        case kTensors: break;
        case kSequences: inner = Type::kSequence; break;
        case kOptionals: inner = Type::kOptional; break;
        default: continue;
      }
      X2IR_ASSIGN_OR_RETURN(OnnxValue element, Read(in.Bytes(), inner, depth + 1));
      if (sequence) {
        value.elements.push_back(std::move(element));
      } else if (!says_nothing) {
        value = std::move(element);
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    return value;
  }

 private:
  static constexpr int kMaxDepth = 64;
  onnx_format::Source& source_;
};

}  // namespace

absl::StatusOr<OnnxValue> ReadOnnxValue(const std::string& path, const Type& type) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, Blob::Open(path));
  onnx_format::Source source;
  source.bytes = file->view();
  source.file = std::move(file);
  auto value = ValueReader(source).Read(source.bytes, type.kind());
  if (!value.ok()) return Annotate(value.status(), StrCat("'", path, "'"));
  return value;
}

}  // namespace x2ir
