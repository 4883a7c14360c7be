// Tensors in files of their own (".dat"): a header of 128 bytes and the elements. Source:
// sonos/tract's crate nnef (tensors.rs), with its blocks of four bits (item types 0x2040, 0x3040).
#ifndef X2IR_FORMATS_NNEF_TENSOR_FILE_H_
#define X2IR_FORMATS_NNEF_TENSOR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace nnef {

struct StoredTensor {
  Tensor tensor;
  bool is_quantized = false;  // integers that a quantization gives their meaning
};

// Blocks become floats. DataLoss for a broken file, Unimplemented for elements of other types.
absl::StatusOr<StoredTensor> ReadTensorFile(const BlobPtr& file);
// `quantized`: integers that a quantization gives their meaning. FailedPrecondition for tensors
// that no such file holds: more than eight axes, 4 GiB, other types.
absl::StatusOr<std::string> TensorHeader(const Tensor& tensor, bool quantized = false);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_TENSOR_FILE_H_
