// What the parts of the ONNX reader and writer share: the field numbers of onnx.proto
// (IR version 14), and the pieces that both directions need.
#ifndef X2IR_FORMATS_ONNX_ONNX_INTERNAL_H_
#define X2IR_FORMATS_ONNX_ONNX_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace x2ir::onnx_format {

namespace model_field {
enum : uint32_t {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDomain = 4,
  kModelVersion = 5,
  kDocString = 6,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadata = 14,
  kTrainingInfo = 20,
  kFunctions = 25,
  kConfiguration = 26,
};
}
namespace opset_field {
enum : uint32_t { kDomain = 1, kVersion = 2 };
}
namespace entry_field {
enum : uint32_t { kKey = 1, kValue = 2 };
}
namespace graph_field {
enum : uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kDocString = 10,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kQuantization = 14,
  kSparseInitializer = 15,
  kMetadata = 16,
};
}
namespace function_field {
enum : uint32_t {
  kName = 1,
  kInput = 4,
  kOutput = 5,
  kAttribute = 6,
  kNode = 7,
  kDocString = 8,
  kOpsetImport = 9,
  kDomain = 10,
  kAttributeProto = 11,
  kValueInfo = 12,
  kOverload = 13,
  kMetadata = 14,
};
}
namespace node_field {
enum : uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDocString = 6,
  kDomain = 7,
  kOverload = 8,
  kMetadata = 9,
};
}
namespace attr_field {
enum : uint32_t {
  kName = 1,
  kF = 2,
  kI = 3,
  kS = 4,
  kT = 5,
  kG = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTensors = 10,
  kGraphs = 11,
  kDocString = 13,
  kTp = 14,
  kTypeProtos = 15,
  kType = 20,
  kRefAttrName = 21,
  kSparseTensor = 22,
  kSparseTensors = 23,
};
}
// AttributeProto.AttributeType.
enum class AttrType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14,
};
namespace value_field {
enum : uint32_t { kName = 1, kType = 2, kDocString = 3, kMetadata = 4 };
}
namespace quant_field {
enum : uint32_t { kTensorName = 1 };
}
namespace type_field {
enum : uint32_t {
  kTensor = 1,
  kSequence = 4,
  kMap = 5,
  kDenotation = 6,
  kOpaque = 7,
  kSparseTensor = 8,
  kOptional = 9,
  // Of Tensor and SparseTensor; of Sequence and Optional; of Map; of Opaque.
  kElemType = 1,
  kShape = 2,
  kElement = 1,
  kKeyType = 1,
  kValueType = 2,
  kOpaqueDomain = 1,
  kOpaqueName = 2,
  // Of TensorShapeProto and its Dimension.
  kDim = 1,
  kDimValue = 1,
  kDimParam = 2,
  kDimDenotation = 3,
};
}
namespace tensor_field {
enum : uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUInt64Data = 11,
  kDocString = 12,
  kExternalData = 13,
  kDataLocation = 14,
  kMetadata = 16,
};
}
namespace sparse_field {
enum : uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
}

inline constexpr char kWireKey[] = "onnx.wire";
inline constexpr char kTypeKey[] = "onnx.type";
inline constexpr char kDenotationKey[] = "onnx.denotation";
inline constexpr char kDimDenotationKey[] = "onnx.dim_denotation";
inline constexpr char kTensorKey[] = "onnx.tensor";
inline constexpr char kSparseTensorKey[] = "onnx.sparse_tensor";
inline constexpr char kQuantKey[] = "onnx.quant";
inline constexpr char kValueInfoKey[] = "onnx.value_info";
inline constexpr const char* kDomainKey = kOnnxDomainNote;
inline constexpr char kOverloadKey[] = "onnx.overload";
inline constexpr char kAttrKey[] = "onnx.attr.";               // + name
inline constexpr char kAttrTensorKey[] = "onnx.attr_tensor.";  // + name, in lists + "#" + index
inline constexpr char kAttrSparseKey[] = "onnx.attr_sparse_tensor.";
inline constexpr char kAttrTypeKey[] = "onnx.attr_type.";
inline constexpr char kAttrProtoKey[] = "onnx.attr_proto.";  // as kAttrTensorKey

// "ai.onnx" is another name of the default domain.
inline constexpr std::string_view kDefaultDomain = "ai.onnx";
inline constexpr std::string_view kDialect = "onnx";

// The extra note of that key, or null.
inline const std::string* FindExtra(const AnnotationsPtr& annotations, const std::string& key) {
  const Annotations* a = annotations.get();
  if (a == nullptr) return nullptr;
  auto it = a->extra.find(key);
  return it == a->extra.end() ? nullptr : &it->second;
}

// For messages: the op, and what the reader of the message knows the node by.
std::string Label(const Node& node);
// The domain and the op type that a file has for a node.
std::pair<std::string_view, std::string_view> DomainAndOp(const Node& node);

// Most messages have a doc string and metadata, under numbers of their own.
struct NoteFields {
  uint32_t doc_string;
  uint32_t metadata;
};
inline constexpr NoteFields kModelNotes = {model_field::kDocString, model_field::kMetadata};
inline constexpr NoteFields kGraphNotes = {graph_field::kDocString, graph_field::kMetadata};
inline constexpr NoteFields kFunctionNotes = {function_field::kDocString,
                                              function_field::kMetadata};
inline constexpr NoteFields kNodeNotes = {node_field::kDocString, node_field::kMetadata};
inline constexpr NoteFields kValueNotes = {value_field::kDocString, value_field::kMetadata};
inline constexpr NoteFields kTensorNotes = {tensor_field::kDocString, tensor_field::kMetadata};

// Takes the current field as doc string or metadata, else keeps it under "onnx.wire".
void ReadNote(WireReader& in, NoteFields fields, AnnotationsPtr* annotations);
// Calls f for the key and value of the StringStringEntryProto that is the current field.
bool ReadEntry(WireReader& in, std::string_view* key, std::string_view* value);
// What a message may have of the two, and its unknown fields.
void WriteNotes(WireWriter& out, NoteFields fields, const AnnotationsPtr& annotations);
void WriteDocAndMetadata(WireWriter& out, NoteFields fields, const AnnotationsPtr& annotations);
void WriteEntry(WireWriter& out, uint32_t field, std::string_view key, std::string_view value);

// A TypeProto. What the Type has no room for goes into `annotations` (may be null).
absl::StatusOr<Type> ReadType(std::string_view bytes, const char* origin,
                              AnnotationsPtr* annotations);
// Whether the type can be written: not unknown, and with an element type.
bool IsWritable(const Type& type);
// The field `field` of type TypeProto, with what ReadType kept of it where that still fits.
void WriteType(WireWriter& out, uint32_t field, const Type& type,
               const AnnotationsPtr& annotations);
// The same for types in attributes, whose bytes are kept under a key of their own.
absl::StatusOr<Type> ReadAttrType(std::string_view bytes, const char* origin,
                                  const std::string& key, AnnotationsPtr* annotations);
void WriteAttrType(WireWriter& out, uint32_t field, const Type& type, const std::string& key,
                   const AnnotationsPtr& annotations);

// Where the bytes that are read come from.
struct Source {
  std::string_view bytes;
  BlobPtr file;                         // perhaps in memory
  const x2ir::Source* model = nullptr;  // null: a tensor's file
  StringMap<BlobPtr> external;          // open files by location

  const char* origin() const { return bytes.data(); }
};

// A TensorProto or SparseTensorProto.
struct TensorProto {
  std::string_view name;  // set even when the tensor is in error, if there is one
  Tensor tensor;
  std::string notes;  // other fields, as bytes; of a sparse one as SparseTensorProto's
};
absl::Status ReadTensor(Source& source, std::string_view bytes, TensorProto* out);
absl::Status ReadSparseTensor(Source& source, std::string_view bytes, TensorProto* out);

}  // namespace x2ir::onnx_format

#endif  // X2IR_FORMATS_ONNX_ONNX_INTERNAL_H_
