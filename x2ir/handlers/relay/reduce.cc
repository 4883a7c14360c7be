// Relay: reductions, sums in order, and sorting.
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

template <Value* (*kBySum)(NodeWriter&)>
Value* BySum(RelayWriter& w) {
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

X2IR_RELAY(reduce_sum).From("sum", ReduceOp("reduce_sum")).To("sum", ToReduceOp("sum"));
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
    .To("sum", BySum<LogSumExpBySum>);
X2IR_RELAY(reduce_l1).To("sum", BySum<L1BySum>);
X2IR_RELAY(reduce_l2).To("sum", BySum<L2BySum>);
X2IR_RELAY(reduce_log_sum).To("sum", BySum<LogSumBySum>);
X2IR_RELAY(reduce_sum_square).To("sum", BySum<SumSquareBySum>);
X2IR_RELAY(arg_max).From("argmax", ArgOp("arg_max")).To("argmax", ToArgOp("argmax"));
X2IR_RELAY(arg_min).From("argmin", ArgOp("arg_min")).To("argmin", ToArgOp("argmin"));
X2IR_RELAY(cum_sum).From("cumsum", ScanRow("cum_sum")).To("cumsum", ToScan("cumsum"));
X2IR_RELAY(cum_prod).From("cumprod", ScanRow("cum_prod")).To("cumprod", ToScan("cumprod"));
X2IR_RELAY(top_k)
    .From({"topk", "dyn.topk"}, TopkRow)
    .From({"argsort", "sort"}, ArgsortRow)
    .To("topk", ToTopkOp);

}  // namespace x2ir
