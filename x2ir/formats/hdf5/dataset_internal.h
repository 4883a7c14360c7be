// The elements of a dataset: a view of the file where they lie in one piece and in the order of
// tensors, else put together.
#ifndef X2IR_FORMATS_HDF5_DATASET_INTERNAL_H_
#define X2IR_FORMATS_HDF5_DATASET_INTERNAL_H_

#include <string_view>

#include "x2ir/formats/hdf5/types_internal.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/unpack_budget.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::hdf5 {

// Where an image lies in a blob.
struct Origin {
  BlobPtr blob;
  uint64_t offset = 0;
};

// What is not a view of the file counts against the budget. Texts are uint8 here: their bytes in
// one axis.
absl::StatusOr<Tensor> ReadElements(Image* image, const Origin& origin, UnpackBudget* budget,
                                    const Messages& messages, const ElementType& type,
                                    const Extent& extent);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_DATASET_INTERNAL_H_
