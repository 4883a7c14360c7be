// MXNet: reductions, and what is in order.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/mxnet/mxnet.h"

namespace x2ir {
namespace {

// The axes that are reduced; none: all of them.
absl::StatusOr<std::vector<int64_t>> ReducedAxes(SymbolArgs& a) {
  return a.ReducedAxes(a.AxesAttr().value_or(std::vector<int64_t>()));
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

Value* CumulativeSum(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const DType to = a.ElementType("dtype", DType::kUndefined);
  Expr x = a.in(0);
  if (to != DType::kUndefined) x = x.To(to);
  return axis ? CumSum(x, *axis) : CumSum(Reshape(x, {-1}), 0);
}

// The mean and the variance over some axes.
Values Moments(SymbolArgs& a) {
  const std::vector<int64_t> axes = a.AxesAttr("axes").value_or(std::vector<int64_t>());
  const bool keep = a.Flag("keepdims", false);
  const Expr x = a.in(0), mean = Reduce(x, "reduce_mean", axes, true);
  const Expr variance = Reduce(Square(x - mean), "reduce_mean", axes, keep);
  return {AtLeastOneAxis(a, keep ? mean : Reduce(x, "reduce_mean", axes, false)),
          AtLeastOneAxis(a, variance)};
}

}  // namespace

X2IR_MXNET(arg_max)
    .From({"argmax", "_npi_argmax"}, ArgOf<true>)
    .From("argmax_channel", ArgmaxChannel);
X2IR_MXNET(arg_min).From({"argmin", "_npi_argmin"}, ArgOf<false>);
X2IR_MXNET(cum_sum).From({"_np_cumsum", "_npi_cumsum", "cumsum"}, CumulativeSum);
X2IR_MXNET(reduce_l2).From({"norm", "_npx_norm"}, Norm);
X2IR_MXNET(reduce_max)
    .From({"max", "max_axis"}, ReduceWith<MaxOver>)
    .From({"_np_max", "_npi_max", "_np_amax"}, NpReduce<NpReduction::kMax>)
    .From({"_np_any", "_npi_any"}, NpReduce<NpReduction::kAny>);
X2IR_MXNET(reduce_mean)
    .From("mean", ReduceWith<MeanOver>)
    .From({"_npi_mean", "_np_mean"}, NpReduce<NpReduction::kMean>)
    .From({"_npi_std"}, NpReduce<NpReduction::kStd>)
    .From({"_npi_var"}, NpReduce<NpReduction::kVar>)
    .From("moments", Moments);
X2IR_MXNET(reduce_min)
    .From({"min", "min_axis"}, ReduceWith<MinOver>)
    .From({"_np_min", "_npi_min", "_np_amin"}, NpReduce<NpReduction::kMin>)
    .From({"_np_all", "_npi_all"}, NpReduce<NpReduction::kAll>);
X2IR_MXNET(reduce_prod)
    .From({{"prod", ReduceWith<ProdOver>}, {"nanprod", ReduceWith<NanProdOver>}})
    .From({"_np_prod", "_npi_prod"}, NpReduce<NpReduction::kProd>);
X2IR_MXNET(reduce_sum)
    .From({"sum", "sum_axis"}, ReduceWith<SumOver>)
    .From({{"nansum", ReduceWith<NanSumOver>}, {"_square_sum", ReduceWith<SquareSumOver>}})
    .From({"_np_sum", "_npi_sum"}, NpReduce<NpReduction::kSum>);

}  // namespace x2ir
