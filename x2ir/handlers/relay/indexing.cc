// Relay: picking and putting elements, and sorting.
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

Value* TakeOp(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const std::string mode = a.Text("mode", "clip");
  a.Require(a.Integer("batch_dims", 0) == 0, "batches of indices");
  a.Require(mode == "clip" || mode == "wrap" || mode == "fast", StrCat("mode ", mode));
  const Expr x = axis ? a.in(0) : Flat(a.in(0));
  const Expr index = a.AsInt64(a.in(1));
  const int64_t at = a.AxisOf(axis.value_or(0), x.rank());
  // "fast": indices are inside, as whoever wrote it promises.
  if (mode == "fast") return Gather(x, index, at);
  const Expr size = SizeOf(x, at);
  return Gather(x, mode == "wrap" ? Mod(index, size) : Clip(index, Int(a, 0), size - 1), at);
}

Value* GatherOp(SymbolArgs& a) {
  return GatherElements(a.in(0), a.AsInt64(a.in(1)), a.AxisOf(a.Integer("axis", 0)));
}

// Tuples of indices lie along the first axis there.
Expr Tuples(SymbolArgs& a, size_t i) {
  const int64_t rank = a.RankOf(i);
  a.Require(rank > 0, "indices without an axis");
  return MoveAxis(a.AsInt64(a.in(i)), 0, rank - 1);
}

Value* GatherNdOp(SymbolArgs& a) {
  a.Ignore("index_rank");
  const int64_t batches = a.Integer("batch_dims", 0);
  return a.Op("gather_nd", {a.in(0), Tuples(a, 1)}, {{"batch_dims", batches}});
}

std::string Reduction(SymbolArgs& a, const std::string& name) {
  a.Require(name == "update" || name == "add" || name == "mul" || name == "min" || name == "max",
            StrCat("reduction ", name));
  return name == "update" ? "none" : name;
}

Value* ScatterOp(SymbolArgs& a) {
  const int64_t axis = a.AxisOf(a.Integer("axis", 0));
  const std::string how =
      Reduction(a, a.op() == "scatter_add" ? "add" : a.Text("reduction", "update"));
  return ScatterElements(a.in(0), axis, a.AsInt64(a.in(1)), a.in(2), how);
}
Value* ScatterNdOp(SymbolArgs& a) {
  const std::string how = Reduction(a, a.Text("mode", "update"));
  return ScatterNd(a.in(0), Tuples(a, 1), a.in(2), how);
}

Value* ArgwhereOp(SymbolArgs& a) {
  const Expr places = IsTrue(a.in(0)).Op("non_zero");
  return Transpose(places, {1, 0}).To(DType::kInt32);
}

// Numbers of elements as their indices, along a new first axis.
Value* UnravelIndexOp(SymbolArgs& a) {
  const Dim rank = DimAt(a.in(1), 0);
  a.Require(rank.is_static() && rank.value() > 0 && rank.value() <= 64, "an unknown rank");
  const Expr shape = a.AsInt64(a.in(1));
  Values sizes;
  for (int64_t i = 0; i < rank.value(); ++i) sizes.push_back(ElementAt(shape, 0, i));
  const DType t = a.dtype(0);
  return Stack(a, Unraveled(a.AsInt64(a.in(0)), sizes), 0).To(t);
}

// Elements in order and their places; ties keep their order.
absl::StatusOr<Values> TopkRow(SymbolArgs& a) {
  const std::string gives = a.Text("ret_type", "both");
  const bool ascending = a.Flag("is_ascend", false);
  const DType t = a.ElementType("dtype", DType::kInt32);
  const int64_t axis = a.AxisOf(a.Integer("axis", -1));
  Value* k = nullptr;
  if (a.op().starts_with("dyn.") || a.num_inputs() > 1) {
    k = Reshape(a.AsInt64(a.in(1)), {1});
  } else {
    const int64_t count = a.Integer("k", 1);
    k = count < 1 ? Reshape(SizeOf(a.in(0), axis), {1}).value() : a.b().Ints({count});
  }
  const Sorted top = TopOf(a.in(0), k, axis, !ascending);
  const Expr places = top.indices.To(t);
  if (gives == "values") return Values{top.values};
  if (gives == "indices") return Values{places};
  a.Require(gives == "both", StrCat("ret_type ", gives));
  return Values{top.values, places};
}

Value* ArgsortRow(SymbolArgs& a) {
  const int64_t axis = a.AxisOf(a.Integer("axis", -1));
  const bool ascending = a.Flag("is_ascend", true);
  const DType t = a.ElementType("dtype", DType::kInt32);
  const Sorted sorted = Sort(a.in(0), axis, !ascending);
  return a.op() == "sort" ? sorted.values.value() : sorted.indices.To(t).value();
}

// Indices of the first axes, broadcast with each other.
Value* AdvIndexOp(SymbolArgs& a) {
  a.Require(a.num_inputs() > 1, "no indices");
  Expr zero = a.AsInt64(a.in(1)) * 0.0;
  for (size_t i = 2; i < a.num_inputs(); ++i) zero = zero + a.AsInt64(a.in(i)) * 0.0;
  Values tuples;
  for (size_t i = 1; i < a.num_inputs(); ++i) tuples.push_back(a.AsInt64(a.in(i)) + zero);
  return a.Op("gather_nd", {a.in(0), Stack(a, tuples, -1)});
}

// --- Written -------------------------------------------------------------------------------------

// Indices of an axis, counted from the front.
absl::StatusOr<Value*> FrontIndices(RelayWriter& w, int64_t axis) {
  if (w.CountsFromTheFront(*w.in(1))) return w.Cast(w.in(1), DType::kInt64);
  const Expr size = SizeOf({w, w.in(0)}, axis);
  return w.FromTheFront(w.in(1), size);
}

absl::StatusOr<Value*> ToTakeOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontIndices(w, axis));
  return w.Call("take", {w.in(0), index}, {{"axis", StrCat(axis)}});
}
absl::StatusOr<Value*> ToGatherOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontIndices(w, axis));
  return w.Call("gather", {w.in(0), index}, {{"axis", StrCat(axis)}});
}

absl::StatusOr<Value*> FirstAxisTuples(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return MoveAxis({w, tuples}, rank - 1, 0).value();
}

absl::StatusOr<Value*> ToGatherNdOp(RelayWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batches of indices");
  X2IR_ASSIGN_OR_RETURN(Value * index, FirstAxisTuples(w));
  return w.Call("gather_nd", {w.in(0), index});
}

absl::StatusOr<Value*> ToScatterElementsOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontIndices(w, axis));
  const std::string how = w.String("reduction");
  return w.Call("scatter_elements", {w.in(0), index, w.in(2)},
                {{"axis", StrCat(axis)}, {"reduction", how == "none" ? "update" : how}});
}
absl::StatusOr<Value*> ToScatterNdOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Value * index, FirstAxisTuples(w));
  const std::string how = w.String("reduction");
  return w.Call("scatter_nd", {w.in(0), index, w.in(2)},
                {{"mode", how == "none" ? "update" : how}});
}

absl::StatusOr<Value*> ToArgwhere(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank < 1) return CannotExpress("places in a tensor without axes");
  Value* places = w.Call("argwhere", {w.in(0)});
  return w.Call("transpose", {w.Call("cast", {places}, {{"dtype", "int64"}})},
                {{"axes", "(1, 0)"}});
}

absl::StatusOr<Value*> ToCompress(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold parts, CompressByGather(w));
  return w.Call("take", {parts.x, parts.places}, {{"axis", StrCat(parts.axis)}});
}

absl::StatusOr<Values> ToTopkOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto k, w.KnownInts(1, "k"));
  if (!k || k->size() != 1) return CannotExpress("a number of elements that is computed");
  // Fewer than 1 are all of them there.
  if ((*k)[0] < 1) return CannotExpress("no elements");
  return w.CallAll("topk", {w.in(0)},
                   {{"k", StrCat((*k)[0])},
                    {"axis", StrCat(axis)},
                    {"ret_type", "both"},
                    {"is_ascend", FlagText(w.Int("largest") == 0)},
                    {"dtype", "int64"}},
                   2);
}

}  // namespace

X2IR_RELAY(gather).From("take", TakeOp).To("take", ToTakeOp);
X2IR_RELAY(gather_elements).From("gather", GatherOp).To("gather", ToGatherOp);
X2IR_RELAY(gather_nd)
    .From({{"gather_nd", GatherNdOp}, {"adv_index", AdvIndexOp}})
    .To("gather_nd", ToGatherNdOp);
X2IR_RELAY(scatter_elements)
    .From({"scatter", "scatter_add", "scatter_elements"}, ScatterOp)
    .To("scatter_elements", ToScatterElementsOp);
X2IR_RELAY(scatter_nd).From("scatter_nd", ScatterNdOp).To("scatter_nd", ToScatterNdOp);
X2IR_RELAY(non_zero).From("argwhere", ArgwhereOp).To("argwhere", ToArgwhere);
X2IR_RELAY(compress).To("take", ToCompress);
X2IR_RELAY(mod).From("unravel_index", UnravelIndexOp);

X2IR_RELAY(top_k)
    .From({"topk", "dyn.topk"}, TopkRow)
    .From({"argsort", "sort", "invert_permutation"}, ArgsortRow)
    .To("topk", ToTopkOp);

}  // namespace x2ir
