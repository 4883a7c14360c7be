// Relay: reductions, and sums in order.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

// Those that a reduction works on; none are all of them.
absl::StatusOr<std::vector<int64_t>> TakeAxes(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.ReducedAxes(a.Tuple("axis")));
  return a.Axes(axes);
}

std::function<absl::StatusOr<Value*>(SymbolArgs&)> ReduceOp(Symbol op) {
  return [op](SymbolArgs& a) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, TakeAxes(a));
    return Reduce(a.in(0), op, axes, a.Flag("keepdims", false)).value();
  };
}

template <bool kAll>
absl::StatusOr<Value*> LogicalRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, TakeAxes(a));
  const Expr x = IsTrue(a.in(0));
  if (axes.empty()) axes = AllAxes(x);
  const bool keep = a.Flag("keepdims", false);
  return (kAll ? All(x, axes, keep) : Any(x, axes, keep)).value();
}

std::function<absl::StatusOr<Value*>(SymbolArgs&)> ArgOp(Symbol op) {
  return [op](SymbolArgs& a) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, TakeAxes(a));
    const bool keep = a.Flag("keepdims", false), last = a.Flag("select_last_index", false);
    if (axes.empty()) axes = AllAxes(a.in(0));
    Expr x = a.in(0);
    if (axes.size() > 1) {
      a.Require(static_cast<int64_t>(axes.size()) == a.rank(0) && !keep,
                "places along several axes");
      x = Flat(x);
      axes = {0};
    } else if (axes.empty()) {
      x = Flat(x);
      axes = {0};
    }
    return x
        .Op(op, {},
            {{"axis", axes[0]}, {"keepdims", keep ? 1 : 0}, {"select_last_index", last ? 1 : 0}})
        .To(DType::kInt32)
        .value();
  };
}

// The mean is an operand.
absl::StatusOr<Value*> VarianceRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, TakeAxes(a));
  const bool keep = a.Flag("keepdims", false), unbiased = a.Flag("unbiased", false);
  const Expr x = a.in(0);
  if (axes.empty()) axes = AllAxes(x);
  const Expr squares = Square(x - a.in(1));
  if (!unbiased) return Reduce(squares, "reduce_mean", axes, keep).value();
  const Expr count = CountOf(x, axes).To(x.dtype());
  return (Reduce(squares, "reduce_sum", axes, keep) / (count - 1.0)).value();
}

// The axes that the other operand has not, or has with size 1, are summed.
absl::StatusOr<Value*> CollapseSumRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  std::vector<Dim> to;
  if (a.op() == "collapse_sum_to") {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, a.KnownInts(1, "shape"));
    to.assign(sizes.begin(), sizes.end());
  } else {
    X2IR_ASSIGN_OR_RETURN(const int64_t other, a.Rank(1));
    for (int64_t i = 0; i < other; ++i) to.push_back(DimAt(a.in(1), i));
  }
  const int64_t lead = rank - static_cast<int64_t>(to.size());
  if (lead < 0) return Invalid("a sum to more axes than there are");
  std::vector<int64_t> kept;
  for (size_t i = 0; i < to.size(); ++i) {
    a.Require(to[i].is_static(), "a sum to sizes that are not known");
    const int64_t axis = lead + static_cast<int64_t>(i);
    if (to[i] == Dim(1) && DimAt(a.in(0), axis) != Dim(1)) kept.push_back(axis);
  }
  Expr x = a.in(0);
  if (!kept.empty()) x = Reduce(x, "reduce_sum", kept, true);
  if (lead > 0) x = Reduce(x, "reduce_sum", CountedFrom(0, lead));
  return a.Op("identity", {x}).value();
}

Value* ReverseSequenceOp(SymbolArgs& a) {
  const int64_t steps = a.AxisOf(a.Integer("seq_axis", 1)),
                batch = a.AxisOf(a.Integer("batch_axis", 0));
  Expr x = a.in(0);
  a.Require((steps == 1 && batch == 0) || (steps == 0 && batch == 1), "other axes than 0 and 1");
  return a.Op("reverse_sequence", {x, a.AsInt64(a.in(1))},
              {{"time_axis", steps}, {"batch_axis", batch}});
}

// Along an axis, or of all elements in their order.
std::function<absl::StatusOr<Value*>(SymbolArgs&)> ScanRow(Symbol op) {
  return [op](SymbolArgs& a) -> absl::StatusOr<Value*> {
    const auto axis = a.MaybeInteger("axis");
    Expr x = axis ? a.in(0) : Flat(a.in(0));
    const DType t = a.ElementType("dtype", x.dtype());
    const bool exclusive = a.Flag("exclusive", false);
    x = x.To(t == DType::kUndefined ? x.dtype() : t);
    return x.Op(op, {Int(a, axis.value_or(0))}, {{"exclusive", exclusive ? 1 : 0}}).value();
  };
}

// --- Written -------------------------------------------------------------------------------------

std::function<absl::StatusOr<Value*>(RelayWriter&)> ToReduceOp(std::string_view op) {
  return [op](RelayWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
    X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
    std::vector<int64_t> all = axes.value_or(std::vector<int64_t>());
    if (rank == 0 || (all.empty() && w.Int("noop_with_empty_axes") != 0)) {
      return w.Call("copy", {w.in(0)});
    }
    if (all.empty()) all = CountedFrom(0, rank);
    for (int64_t& axis : all) axis += axis < 0 ? rank : 0;
    return w.Call(op, {w.in(0)},
                  {{"axis", TupleText(all)}, {"keepdims", FlagText(w.Int("keepdims") != 0)}});
  };
}

std::function<absl::StatusOr<Value*>(RelayWriter&)> ToArgOp(std::string_view op) {
  return [op](RelayWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    AttributeMap attrs = {{"axis", TupleText({axis})},
                          {"keepdims", FlagText(w.Int("keepdims") != 0)}};
    if (w.Int("select_last_index") != 0) attrs.Set("select_last_index", "True");
    Value* place = w.Call(op, {w.in(0)}, std::move(attrs));
    return w.Call("cast", {place}, {{"dtype", "int64"}});
  };
}

template <Value* (*kBySum)(NodeWriter&), bool kOfFloats = false>
absl::StatusOr<Value*> BySum(RelayWriter& w) {
  if (kOfFloats && !IsFloating(w.dtype(0))) {
    return CannotExpress("logarithms and roots of integers");
  }
  return kBySum(w);
}

std::function<absl::StatusOr<Value*>(RelayWriter&)> ToScan(std::string_view op) {
  return [op](RelayWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axis, w.KnownInts(1, "axis"));
    if (!axis || axis->size() != 1) return CannotExpress("an axis that is computed");
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
    const int64_t at = (*axis)[0] + ((*axis)[0] < 0 ? rank : 0);
    const bool reverse = w.Int("reverse") != 0;
    const auto turned = [&](Value* x) {
      return reverse ? w.Call("reverse", {x}, {{"axis", StrCat(at)}}) : x;
    };
    return turned(w.Call(op, {turned(w.in(0))},
                         {{"axis", StrCat(at)},
                          {"dtype", std::string(Name(w.dtype(0)))},
                          {"exclusive", w.Int("exclusive") != 0 ? "1" : "0"}}));
  };
}

absl::StatusOr<Value*> ToReverseSequence(RelayWriter& w) {
  return w.Call(
      "reverse_sequence", {w.in(0), w.in(1)},
      {{"seq_axis", StrCat(w.Int("time_axis"))}, {"batch_axis", StrCat(w.Int("batch_axis"))}});
}

}  // namespace

X2IR_RELAY(reduce_sum)
    .From("sum", ReduceOp("reduce_sum"))
    .From({"collapse_sum_like", "collapse_sum_to"}, CollapseSumRow)
    .To("sum", ToReduceOp("sum"));
X2IR_RELAY(reduce_mean)
    .From({{"mean", ReduceOp("reduce_mean")}, {"variance", VarianceRow}})
    .To("mean", ToReduceOp("mean"));
X2IR_RELAY(reduce_max)
    .From({{"max", ReduceOp("reduce_max")}, {"any", LogicalRow<false>}})
    .To("max", ToReduceOp("max"));
X2IR_RELAY(reduce_min)
    .From({{"min", ReduceOp("reduce_min")}, {"all", LogicalRow<true>}})
    .To("min", ToReduceOp("min"));
X2IR_RELAY(reduce_prod).From("prod", ReduceOp("reduce_prod")).To("prod", ToReduceOp("prod"));
X2IR_RELAY(reduce_log_sum_exp)
    .From("logsumexp", ReduceOp("reduce_log_sum_exp"))
    .To("sum", BySum<LogSumExpBySum, true>);
X2IR_RELAY(reduce_l1).To("sum", BySum<L1BySum>);
X2IR_RELAY(reduce_l2).To("sum", BySum<L2BySum, true>);
X2IR_RELAY(reduce_log_sum).To("sum", BySum<LogSumBySum, true>);
X2IR_RELAY(reduce_sum_square).To("sum", BySum<SumSquareBySum>);
X2IR_RELAY(arg_max).From("argmax", ArgOp("arg_max")).To("argmax", ToArgOp("argmax"));
X2IR_RELAY(arg_min).From("argmin", ArgOp("arg_min")).To("argmin", ToArgOp("argmin"));
X2IR_RELAY(cum_sum).From("cumsum", ScanRow("cum_sum")).To("cumsum", ToScan("cumsum"));
X2IR_RELAY(cum_prod).From("cumprod", ScanRow("cum_prod")).To("cumprod", ToScan("cumprod"));
X2IR_RELAY(reverse_sequence)
    .From("reverse_sequence", ReverseSequenceOp)
    .To("reverse_sequence", ToReverseSequence);
}  // namespace x2ir
