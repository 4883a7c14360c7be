// MXNet: reductions, and what is in order.
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"

namespace x2ir {
namespace {

// The axes that are reduced; none: all of them.
absl::StatusOr<std::vector<int64_t>> ReducedAxes(SymbolArgs& a) {
  std::vector<int64_t> axes = a.AxesAttr().value_or(std::vector<int64_t>());
  if (!a.Flag("exclude", false)) return axes;
  X2IR_ASSIGN_OR_RETURN(axes, a.Axes(axes));
  std::vector<int64_t> others;
  for (int64_t i = 0; i < a.rank(0); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) others.push_back(i);
  }
  return others;
}

using ReduceFn = Expr (*)(const Expr& x, const std::vector<int64_t>& axes, bool keepdims);
template <ReduceFn kFn>
absl::StatusOr<Value*> ReduceWith(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ReducedAxes(a));
  const bool keep = a.Flag("keepdims", false);
  return AtLeastOneAxis(a, kFn(a.in(0), axes, keep)).value();
}

#define X2IR_MXNET_REDUCTION_(name, op)                                   \
  Expr name(const Expr& x, const std::vector<int64_t>& axes, bool keep) { \
    return Reduce(x, op, axes, keep);                                     \
  }
X2IR_MXNET_REDUCTION_(SumOver, "reduce_sum")
X2IR_MXNET_REDUCTION_(MeanOver, "reduce_mean")
X2IR_MXNET_REDUCTION_(ProdOver, "reduce_prod")
X2IR_MXNET_REDUCTION_(MaxOver, "reduce_max")
X2IR_MXNET_REDUCTION_(MinOver, "reduce_min")
#undef X2IR_MXNET_REDUCTION_
Expr SquareSumOver(const Expr& x, const std::vector<int64_t>& axes, bool keep) {
  return Reduce(Square(x), "reduce_sum", axes, keep);
}
// NaN counts for nothing.
Expr NanSumOver(const Expr& x, const std::vector<int64_t>& axes, bool keep) {
  return Reduce(Where(IsNan(x), x.Number(0), x), "reduce_sum", axes, keep);
}
Expr NanProdOver(const Expr& x, const std::vector<int64_t>& axes, bool keep) {
  return Reduce(Where(IsNan(x), x.Number(1), x), "reduce_prod", axes, keep);
}

// NumPy's: bools are summed up as int64, means are of floats; integers keep their type.
enum class NpReduction { kSum, kMean, kProd, kMax, kMin, kStd, kVar, kAny, kAll };
template <NpReduction kKind>
Value* NpReduce(SymbolArgs& a) {
  const std::vector<int64_t> axes = a.AxesAttr().value_or(std::vector<int64_t>());
  const bool keep = a.Flag("keepdims", false);
  const DType to = a.ElementType("dtype", DType::kUndefined);
  a.Require(!a.Given("initial"), "a first value");
  a.Ignore("initial");
  const auto ddof = static_cast<double>(a.Integer("ddof", 0));
  Expr x = a.in(0);
  const bool floats = IsFloating(x.dtype());
  if (kKind == NpReduction::kAny || kKind == NpReduction::kAll) {
    return kKind == NpReduction::kAny ? Any(IsTrue(x), axes, keep) : All(IsTrue(x), axes, keep);
  }
  if (to != DType::kUndefined) {
    x = x.To(to);
  } else if (kKind == NpReduction::kSum || kKind == NpReduction::kProd) {
    if (x.dtype() == DType::kBool) x = x.To(DType::kInt64);
  } else if (!floats && kKind != NpReduction::kMax && kKind != NpReduction::kMin) {
    x = x.To(DType::kFloat32);
  }
  switch (kKind) {
    case NpReduction::kSum: return Reduce(x, "reduce_sum", axes, keep);
    case NpReduction::kMean: return Reduce(x, "reduce_mean", axes, keep);
    case NpReduction::kProd: return Reduce(x, "reduce_prod", axes, keep);
    case NpReduction::kMax: return Reduce(x, "reduce_max", axes, keep);
    case NpReduction::kMin: return Reduce(x, "reduce_min", axes, keep);
    default: break;
  }
  const Expr off = x - Reduce(x, "reduce_mean", axes, true);
  const Expr sum = Reduce(Square(off), "reduce_sum", axes, keep);
  const Expr count = axes.empty() ? Expr(a, a.Op("size", {x})) : CountOf(x, axes);
  const Expr variance = sum / Shifted(count.To(x.dtype()), -ddof);
  return kKind == NpReduction::kVar ? variance : Sqrt(variance);
}

absl::StatusOr<Value*> Norm(SymbolArgs& a) {
  const int64_t order = a.Integer("ord", 2);
  a.Require(order == 1 || order == 2, StrCat("ord ", order));
  const std::vector<int64_t> axes = a.AxesAttr().value_or(std::vector<int64_t>());
  const bool keep = a.Flag("keepdims", false);
  const DType to = a.ElementType("out_dtype", DType::kUndefined);
  Expr x = a.in(0);
  if (to != DType::kUndefined) x = x.To(to);
  return AtLeastOneAxis(a, Reduce(x, order == 1 ? "reduce_l1" : "reduce_l2", axes, keep)).value();
}

// --- The place of the largest --------------------------------------------------------------------

// Without an axis, of all elements together.
Expr PlaceOf(SymbolArgs& a, const Expr& x, Symbol op, std::optional<int64_t> axis, bool keep) {
  if (axis) return x.Op(op, {}, {{"axis", *axis}, {"keepdims", keep ? 1 : 0}});
  const Expr place = Reshape(x, {-1}).Op(op, {}, {{"axis", 0}, {"keepdims", 0}});
  if (!keep) return place;
  a.Require(x->shape() != nullptr, "all axes of an operand of unknown rank");
  return Reshape(place, std::vector<int64_t>(static_cast<size_t>(x->shape()->rank()), 1));
}
template <bool kMax>
Value* ArgOf(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const bool keep = a.Flag("keepdims", false);
  const Expr place = PlaceOf(a, a.in(0), kMax ? "arg_max" : "arg_min", axis, keep);
  // Numbers of places are of the operand's type, NumPy's int64.
  if (a.op().starts_with("_np")) return place;
  return AtLeastOneAxis(a, place.To(a.dtype()));
}
Value* ArgmaxChannel(SymbolArgs& a) {
  return PlaceOf(a, a.in(0), "arg_max", 1, false).To(a.dtype());
}

// --- Order ---------------------------------------------------------------------------------------

// An axis, of one axis that holds all elements where there is none.
struct AxisOf {
  Expr x;
  int64_t axis;
};
AxisOf OrderedAxis(SymbolArgs& a) {
  const bool all = a.attrs().Has("axis") && !a.Given("axis");
  const int64_t axis = a.Integer("axis", -1);
  if (all) return {Reshape(a.in(0), {-1}), 0};
  return {a.in(0), axis};
}
Values TopK(SymbolArgs& a) {
  const auto [x, axis] = OrderedAxis(a);
  const int64_t k = a.Integer("k", 1);
  const std::string kind = a.Text("ret_typ", "indices");
  const bool ascending = a.Flag("is_ascend", false);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  const Expr count = k > 0 ? Ints(a, {k}) : ReshapeTo(SizeOf(x, axis), a.b().Ints({1}));
  const auto [values, places] = TopOf(x, count, axis, !ascending);
  if (kind == "value") return {values};
  if (kind == "both") return {values, places.To(t)};
  if (kind == "mask") {
    const Expr zeros = Expand(x.Number(0), ShapeOf(x));
    const Expr ones = Expand(x.Number(1), ShapeOf(places));
    return {ReshapeTo(ScatterElements(zeros, axis, places, ones, "none"), ShapeOf(a.in(0)))};
  }
  a.Require(kind == "indices", StrCat("ret_typ ", kind));
  return {places.To(t)};
}
Value* SortAxis(SymbolArgs& a) {
  const auto [x, axis] = OrderedAxis(a);
  return Sort(x, axis, !a.Flag("is_ascend", true)).values;
}
Value* ArgSort(SymbolArgs& a) {
  const bool numpy = a.op().starts_with("_np");
  const auto [x, axis] = OrderedAxis(a);
  const DType t = a.ElementType("dtype", numpy ? DType::kInt64 : DType::kFloat32);
  return Sort(x, axis, !a.Flag("is_ascend", true)).indices.To(t);
}

Value* CumulativeSum(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const DType to = a.ElementType("dtype", DType::kUndefined);
  Expr x = a.in(0);
  if (to != DType::kUndefined) x = x.To(to);
  return axis ? CumSum(x, *axis) : CumSum(Reshape(x, {-1}), 0);
}

// The element that the index says, of an axis; an index out of range is that of the nearest.
absl::StatusOr<Value*> Pick(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const bool keep = a.Flag("keepdims", false), none = a.attrs().Has("axis") && !axis;
  const std::string mode = a.Text("mode", "clip");
  a.Require(!none, "picks among all elements");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({axis.value_or(-1)}));
  Expr index = a.AsInt64(a.in(1));
  const Expr size = SizeOf(a.in(0), axes[0]);
  a.Require(mode == "clip" || mode == "wrap", StrCat("mode ", mode));
  index = mode == "clip" ? Clip(index, Int(a, 0), size - 1) : Mod(index, size);
  if (a.rank(1) != a.rank(0)) index = Unsqueeze(index, {axes[0]});
  const Expr picked = GatherElements(a.in(0), index, axes[0]);
  return (keep ? picked : AtLeastOneAxis(a, Squeeze(picked, {axes[0]}))).value();
}
// An index out of range is that of the nearest.
Value* BatchTake(SymbolArgs& a) {
  const Expr index = Clip(a.AsInt64(a.in(1)), Int(a, 0), SizeOf(a.in(0), 1) - 1);
  return Squeeze(GatherElements(a.in(0), Unsqueeze(index, {1}), 1), {1});
}

}  // namespace

X2IR_MXNET(arg_max)
    .From({"argmax", "_npi_argmax"}, ArgOf<true>)
    .From("argmax_channel", ArgmaxChannel);
X2IR_MXNET(arg_min).From({"argmin", "_npi_argmin"}, ArgOf<false>);
X2IR_MXNET(cum_sum).From({"_np_cumsum", "_npi_cumsum", "cumsum"}, CumulativeSum);
X2IR_MXNET(gather_elements)
    .From({"pick", "_npx_pick", "choose_element_0index"}, Pick)
    .From("batch_take", BatchTake);
X2IR_MXNET(reduce_l2).From({"norm", "_npx_norm"}, Norm);
X2IR_MXNET(reduce_max)
    .From({"max", "max_axis"}, ReduceWith<MaxOver>)
    .From({"_np_max", "_npi_max", "_np_amax"}, NpReduce<NpReduction::kMax>)
    .From({"_np_any", "_npi_any"}, NpReduce<NpReduction::kAny>);
X2IR_MXNET(reduce_mean)
    .From("mean", ReduceWith<MeanOver>)
    .From({"_npi_mean", "_np_mean"}, NpReduce<NpReduction::kMean>)
    .From({"_npi_std"}, NpReduce<NpReduction::kStd>)
    .From({"_npi_var"}, NpReduce<NpReduction::kVar>);
X2IR_MXNET(reduce_min)
    .From({"min", "min_axis"}, ReduceWith<MinOver>)
    .From({"_np_min", "_npi_min", "_np_amin"}, NpReduce<NpReduction::kMin>)
    .From({"_np_all", "_npi_all"}, NpReduce<NpReduction::kAll>);
X2IR_MXNET(reduce_prod)
    .From("prod", ReduceWith<ProdOver>)
    .From("nanprod", ReduceWith<NanProdOver>)
    .From({"_np_prod", "_npi_prod"}, NpReduce<NpReduction::kProd>);
X2IR_MXNET(reduce_sum)
    .From({"sum", "sum_axis"}, ReduceWith<SumOver>)
    .From("nansum", ReduceWith<NanSumOver>)
    .From("_square_sum", ReduceWith<SquareSumOver>)
    .From({"_np_sum", "_npi_sum"}, NpReduce<NpReduction::kSum>);
X2IR_MXNET(top_k)
    .From({"topk", "_npx_topk"}, TopK)
    .From({"sort", "_npi_sort"}, SortAxis)
    .From({"argsort", "_npi_argsort"}, ArgSort);

}  // namespace x2ir
