// ONNX files, read and written naively: nodes are copied as the file has them, in dialect
// "onnx", with nothing understood and nothing lost. The op symbol is "Relu", or
// "com.acme::Foo" for another domain. Weights stay mapped; writing moves them from file to
// file. docs/design.md says how this is used; core calls it.
//
// What the IR has no place for travels in Annotations::extra:
//
//   onnx.wire            fields that are not modeled (training info, device configurations,
//                        whatever is newer than this reader), as protobuf bytes
//   onnx.type            TypeProto bytes, where they say more than the Type
//   onnx.denotation      of a value's type; onnx.dim_denotation: of its dims, comma-separated
//   onnx.tensor          of an initializer: other fields of its TensorProto, as bytes;
//   onnx.sparse_tensor   the same of a SparseTensorProto
//   onnx.quant           quantization annotation of a value, as bytes
//   onnx.value_info      of a graph: value infos of names that it does not define
//   onnx.domain          a node's domain where the op symbol does not tell it ("ai.onnx"); of a
//                        model, that of its import of the default domain
//   onnx.opsets          of a model: what it says of a domain that it imports twice
//   onnx.overload        of a node that calls a function
//   onnx.attr.NAME       doc string of an attribute, as bytes; .attr_tensor.NAME,
//                        .attr_sparse_tensor.NAME, .attr_type.NAME, .attr_proto.NAME: what
//                        else an attribute's proto says
//
// The checksum of external data tells about the file that was read, so it is dropped.
#ifndef X2IR_FORMATS_ONNX_ONNX_H_
#define X2IR_FORMATS_ONNX_ONNX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// Notes that handlers look at.
inline constexpr char kOnnxDomainNote[] = "onnx.domain";
inline constexpr char kOnnxOpsetsNote[] = "onnx.opsets";

// Reads a model. The graph is not sorted: nodes are in the file's order and may refer forward.
// Errors: DataLoss if the bytes are not a complete ONNX model, InvalidArgument if the model is
// invalid, NotFound for a missing file, external data included.
absl::StatusOr<Model> ReadOnnx(const Source& source);
// The same of a model whose file says it in another way than as this message: `from` says what the
// file is called, and so where its external data lies. External data of location "" is in `own`.
absl::StatusOr<Model> ReadOnnxMessage(std::string message, const Source& from, BlobPtr own = {});
// From memory, without external data.
inline absl::StatusOr<Model> ParseOnnx(std::string bytes) {
  return ReadOnnx(Source::Bytes(std::move(bytes)));
}
// A file that holds one TensorProto, as ONNX's test data does.
absl::StatusOr<Tensor> ReadOnnxTensor(const std::string& path);

// What such a file may hold: a tensor, a sequence, or an empty optional.
struct OnnxValue {
  enum Kind { kNothing, kTensor, kSequence } kind = kNothing;
  Tensor tensor;
  std::vector<OnnxValue> elements;
};
// A file that holds one TensorProto, SequenceProto or OptionalProto: which one, `type` says.
absl::StatusOr<OnnxValue> ReadOnnxValue(const std::string& path, const Type& type);

struct OnnxWriteOptions {
  // Where initializers go: into NAME.data beside the file when it would be larger than
  // `max_inline` else, always, or never. kReference: the file names the ranges of the files that
  // they are mapped from, which must lie in its folder or below; what lies in no file goes to
  // NAME.data.
  enum class External { kAuto, kAlways, kNever, kReference } external = External::kAuto;
  uint64_t max_inline = 0x7fffffff;  // what protobuf can read
  uint64_t min_external = 1024;      // smaller tensors stay in the model file
  // Where NAME.data would be larger, more files follow: NAME.data.2, NAME.data.3, ... A tensor is
  // in one file, so one that is larger makes a larger file. 0: no limit.
  uint64_t max_external = 0;
  // Whether files in the place of external data that the file which is replaced does not name are
  // replaced too; else they are AlreadyExists.
  bool force = false;
  // Writes the model's message in another way; null: as it is.
  std::function<absl::Status(std::string_view message,
                             const std::function<absl::Status(std::string_view)>& put)>
      encode{};
};
// Writes the model and, if need be, its external data: all appear complete or not at all.
// Files that the model's own tensors are mapped from may be written over.
absl::Status WriteOnnx(const Model& model, const Sink& sink, const OnnxWriteOptions& options = {});
absl::StatusOr<std::string> SerializeOnnx(const Model& model);

// Whether a file of that size that begins with `head` is an ONNX model. A few hundred bytes
// are enough; no other format that we know is mistaken for one.
bool LooksLikeOnnx(absl::Span<const std::byte> head, uint64_t file_size);

}  // namespace x2ir

#endif  // X2IR_FORMATS_ONNX_ONNX_H_
