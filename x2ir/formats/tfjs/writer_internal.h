// Parts of the writer of TensorFlow.js.
#ifndef X2IR_FORMATS_TFJS_WRITER_INTERNAL_H_
#define X2IR_FORMATS_TFJS_WRITER_INTERNAL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::tfjs {

using PutBytes = std::function<absl::Status(std::string_view bytes)>;
using PutTensor = std::function<absl::Status(const Tensor& tensor)>;

// How a weight is stored, as the manifest says it.
struct StoredForm {
  enum Kind : uint8_t { kPlain, kUInt8, kUInt16, kFloat16 } kind = kPlain;
  std::string_view dtype = "float32";  // that TensorFlow.js computes with
  double min = 0, scale = 1;           // of kUInt8 and kUInt16: a number is q * scale + min
  uint64_t nbytes = 0;                 // in the files

  Json Quantization() const;
};

// `quantize`: uint8, uint16 or float16 for weights of float32, else empty. A weight with numbers
// that are not finite stays float32 rather than uint8 or uint16. FailedPrecondition for an element
// type that TensorFlow.js does not have.
absl::StatusOr<StoredForm> FormOf(const Tensor& tensor, std::string_view quantize);
// The bytes of a weight, in order: whole tensors where they are stored as they are.
absl::Status PutStored(const Tensor& tensor, const StoredForm& form, const PutTensor& put_tensor,
                       const PutBytes& put);

struct NamedWeight {
  std::string name;
  Tensor tensor;
};
struct WrittenShards {
  Json manifest;                   // the value of "weightsManifest"
  std::vector<std::string> names;  // of the files
  std::vector<AtomicFile> files;   // complete, but not committed
};
// Weights one after the other in files of 4 MiB (larger ones where these would be more than 512),
// `prefix` and "group1-shard1of3.bin". `create` makes a file of a name.
absl::StatusOr<WrittenShards> WriteShards(
    const std::vector<NamedWeight>& weights, std::string_view prefix, std::string_view quantize,
    const std::function<absl::StatusOr<AtomicFile>(const std::string& name)>& create);

}  // namespace x2ir::tfjs

#endif  // X2IR_FORMATS_TFJS_WRITER_INTERNAL_H_
