// Gathering and scattering, written as calls.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// int64, counted from the front, where an operator takes no negative indices.
Value* FromTheFront(TorchWriter& w, Value* index, Value* data, int64_t axis) {
  const bool known = TorchWriter::CountsFromTheFront(*index);
  index = w.Cast(index, DType::kInt64);
  if (known) return index;
  const Dim& dim = (*data->shape())[axis];
  Value* size = dim.is_static()
                    ? w.b().Int(dim.value())
                    : w.Op("squeeze", {w.Op("shape", {data}, {{"start", axis}, {"end", axis + 1}}),
                                       w.b().Ints({0})});
  return w.FromTheFront(index, size);
}

// x[:, :, index]: negative indices count from the end, as in the IR.
absl::StatusOr<Value*> WriteGather(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  std::vector<Value*> indices(static_cast<size_t>(axis) + 1, nullptr);
  if (w.in(1)->shape() && w.in(1)->shape()->rank() == 0) {
    if (const auto known = KnownInts(w.in(1))) {
      return w.Call("aten::select.int", {{"self", w.in(0)}, {"dim", axis}, {"index", (*known)[0]}});
    }
  }
  indices.back() = w.Cast(w.in(1), DType::kInt64);
  return w.Call("aten::index.Tensor", {{"self", w.in(0)}, {"indices", std::move(indices)}});
}
X2IR_TORCH(gather).To("aten::index.Tensor", WriteGather);

absl::StatusOr<Value*> WriteGatherElements(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = FromTheFront(w, w.in(1), w.in(0), axis);
  return w.Call("aten::gather.default", {{"self", w.in(0)}, {"dim", axis}, {"index", index}});
}
X2IR_TORCH(gather_elements).To("aten::gather.default", WriteGatherElements);

// The columns of tuples, an index an axis.
absl::StatusOr<std::vector<Value*>> ColumnsOf(TorchWriter& w, Value* tuples) {
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

absl::StatusOr<Value*> WriteGatherNd(TorchWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_ASSIGN_OR_RETURN(std::vector<Value*> columns, ColumnsOf(w, w.in(1)));
  if (columns.empty()) return CannotExpress("tuples of nothing");
  return w.Call("aten::index.Tensor", {{"self", w.in(0)}, {"indices", std::move(columns)}});
}
X2IR_TORCH(gather_nd).To("aten::index.Tensor", WriteGatherNd);

absl::StatusOr<Value*> WriteScatterElements(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const std::string& how = w.String("reduction");
  TorchArguments arguments = {{"self", w.in(0)},
                              {"dim", axis},
                              {"index", FromTheFront(w, w.in(1), w.in(0), axis)},
                              {"src", w.in(2)}};
  if (how == "none") return w.Call("aten::scatter.src", std::move(arguments));
  if (how == "add") return w.Call("aten::scatter_add.default", std::move(arguments));
  arguments.emplace_back("reduce", how == "mul" ? "prod" : how == "max" ? "amax" : "amin");
  return w.Call("aten::scatter_reduce.two", std::move(arguments));
}
X2IR_TORCH(scatter_elements).To("aten::scatter.src", WriteScatterElements);

absl::StatusOr<Value*> WriteScatterNd(TorchWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("reduction ", how);
  X2IR_ASSIGN_OR_RETURN(std::vector<Value*> columns, ColumnsOf(w, w.in(1)));
  if (columns.empty()) return CannotExpress("tuples of nothing");
  return w.Call("aten::index_put.default", {{"self", w.in(0)},
                                            {"indices", std::move(columns)},
                                            {"values", w.in(2)},
                                            {"accumulate", how == "add"}});
}
X2IR_TORCH(scatter_nd).To("aten::index_put.default", WriteScatterNd);

// PyTorch has a row for each element, the IR a column.
absl::StatusOr<Value*> WriteNonZero(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* rows = w.Call("aten::nonzero.default", {{"self", w.in(0)}},
                       Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})));
  return w.Op("transpose", {rows}, {{"perm", {1, 0}}});
}
X2IR_TORCH(non_zero).To("aten::nonzero.default", WriteNonZero);

absl::StatusOr<Value*> WriteCompress(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Op("gather", {found.x, found.places}, {{"axis", found.axis}});
}
X2IR_TORCH(compress).To("aten::index.Tensor", WriteCompress);

// 1 where a position along the new axis is the index.
absl::StatusOr<Value*> WriteOneHot(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += rank + 1;
  const Expr depth = Expr{w, OneElement(w, w.in(1))}.To(DType::kInt64);
  const Expr given = Expr{w, w.in(0)}.To(DType::kInt64);
  const Expr index = Where(given < 0, given + depth, given);
  Value* hit = Unsqueeze(index, {axis}) == AlongAxis(Iota(depth), axis, rank + 1);
  const auto value = [&](int64_t i) {
    return w.Op("gather", {w.in(2), w.b().Int(i)}, {{"axis", 0}});
  };
  return w.Op("where", {hit, value(1), value(0)});
}
X2IR_TORCH(one_hot).To("aten::where.self", WriteOneHot);

}  // namespace
}  // namespace x2ir
