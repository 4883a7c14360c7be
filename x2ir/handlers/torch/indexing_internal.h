// What several files of PyTorch's rows share: indexing.
#ifndef X2IR_HANDLERS_TORCH_INDEXING_INTERNAL_H_
#define X2IR_HANDLERS_TORCH_INDEXING_INTERNAL_H_

#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

// int64, counted from the front, where an operator takes no negative indices.
inline Value* FromTheFront(TorchWriter& w, Value* index, Value* data, int64_t axis) {
  const bool known = w.CountsFromTheFront(*index);
  index = w.Cast(index, DType::kInt64);
  if (known) return index;
  const Dim& dim = (*data->shape())[axis];
  Value* size = dim.is_static()
                    ? w.b().Int(dim.value())
                    : w.Op("squeeze", {w.Op("shape", {data}, {{"start", axis}, {"end", axis + 1}}),
                                       w.b().Ints({0})});
  return w.FromTheFront(index, size);
}

// The columns of tuples, an index an axis.
inline absl::StatusOr<std::vector<Value*>> ColumnsOf(TorchWriter& w, Value* tuples) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.RankOf(tuples));
  const Dim& count = (*tuples->shape())[rank - 1];
  if (!count.is_static()) return CannotExpress("tuples of unknown length");
  std::vector<Value*> columns;
  Value* wide = w.Cast(tuples, DType::kInt64);
  for (int64_t i = 0; i < count.value(); ++i) {
    columns.push_back(w.Op("gather", {wide, w.b().Int(i)}, {{"axis", rank - 1}}));
  }
  return columns;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_INDEXING_INTERNAL_H_
