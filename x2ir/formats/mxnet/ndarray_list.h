// Lists of MXNet's arrays, as mx.nd.save writes them: "net-0000.params". Since MXNet 2 the same
// file is an archive of NumPy's.
#ifndef X2IR_FORMATS_MXNET_NDARRAY_LIST_H_
#define X2IR_FORMATS_MXNET_NDARRAY_LIST_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/nnvm/byte_list.h"

namespace X2IR_API x2ir {

bool LooksLikeNdarrayList(absl::Span<const std::byte> head);

// All arrays with their names, of every version of the format: dense ones are views of the file,
// of row_sparse and csr ones dense copies are made, within bounds. Arrays that are none ("no shape
// yet") are left out; an archive has dense ones alone. DataLoss for a list that is cut off, or
// none; Unimplemented for storage or element types that are not known.
absl::StatusOr<std::vector<NamedTensor>> ReadNdarrayList(const BlobPtr& file);

// MXNet's numbers of element types; nullopt where it is none of them.
std::optional<DType> MxnetDType(int64_t flag);

}  // namespace x2ir

#endif  // X2IR_FORMATS_MXNET_NDARRAY_LIST_H_
