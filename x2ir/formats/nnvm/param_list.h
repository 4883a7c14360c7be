// TVM's lists of parameters: a dict of names and DLTensors, as relay.save_param_dict and
// nnvm.compiler.save_param_dict write it.
#ifndef X2IR_FORMATS_NNVM_PARAM_LIST_H_
#define X2IR_FORMATS_NNVM_PARAM_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/nnvm/byte_list.h"

namespace X2IR_API x2ir {
namespace nnvm {

bool LooksLikeParamList(absl::Span<const std::byte> head);

// Tensors are views of the file. DataLoss for a list that is cut off, or none; Unimplemented for
// element types that are not known.
absl::StatusOr<std::vector<NamedTensor>> ReadParamList(const BlobPtr& file);
// FailedPrecondition for strings, sparse tensors, and types that have less than a byte.
absl::Status WriteParamList(const std::vector<NamedTensor>& all, AtomicFile& out);

// One array, as the list has them: the cursor stands after it then. What stands before its bytes.
absl::StatusOr<Tensor> ReadParamArray(ByteCursor& in);
absl::StatusOr<std::string> ParamArrayHead(const Tensor& tensor);

}  // namespace nnvm
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNVM_PARAM_LIST_H_
