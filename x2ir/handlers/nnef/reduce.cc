// NNEF: reductions. The axes stay, with size 1.
#include <algorithm>
#include <optional>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Expr ReducedBy(NnefArgs& a, Symbol op) {
  const std::vector<int64_t> axes = a.Axes();
  if (axes.empty()) return a.in(0).Op("identity");
  return Reduce(a.in(0), op, axes, true);
}
auto ReduceRow(std::string_view op) {
  return [op](NnefArgs& a) -> Value* { return ReducedBy(a, op); };
}
Value* SumReduceRow(NnefArgs& a) {
  return ReducedBy(a, a.Flag("normalize") ? "reduce_mean" : "reduce_sum");
}
Value* AllReduceRow(NnefArgs& a) { return All(a.in(0), a.Axes(), true); }
Value* AnyReduceRow(NnefArgs& a) { return Any(a.in(0), a.Axes(), true); }
auto ArgReduceRow(std::string_view op, int64_t last = 0) {
  return [op, last](NnefArgs& a) -> Value* {
    const std::vector<int64_t> axes = a.Axes();
    a.Require(axes.size() == 1, "the place of an extreme over several axes");
    return a.in(0).Op(op, {}, {{"axis", axes[0]}, {"keepdims", 1}, {"select_last_index", last}});
  };
}
absl::StatusOr<Values> MomentsRow(NnefArgs& a) {
  const std::vector<int64_t> axes = a.Axes();
  const Expr mean = Reduce(a.in(0), "reduce_mean", axes, true);
  return Values{mean, Reduce(Square(a.in(0) - mean), "reduce_mean", axes, true)};
}

// --- Written -------------------------------------------------------------------------------------

// The axes of the node; nullopt where each element stays alone.
absl::StatusOr<std::optional<std::vector<int64_t>>> AxesToReduce(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(auto axes, w.KnownInts(1, "axes"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> all = axes.value_or(std::vector<int64_t>());
  if (all.empty()) {
    if (w.Int("noop_with_empty_axes") != 0) return std::optional<std::vector<int64_t>>();
    all = CountedFrom(0, rank);
  }
  for (int64_t& axis : all) axis += axis < 0 ? rank : 0;
  std::sort(all.begin(), all.end());
  return std::optional(std::move(all));
}
absl::StatusOr<Value*> WithoutAxes(NnefWriter& w, Value* y, const std::vector<int64_t>& axes) {
  if (w.Int("keepdims") != 0 || axes.empty()) return y;
  return w.Call("squeeze", {{"input", y}}, {{"axes", axes}});
}
auto ToReduce(std::string_view op) {
  return [op](NnefWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axes, AxesToReduce(w));
    if (!axes || axes->empty()) return w.Call("copy", {{"x", w.in(0)}});
    if (w.dtype(0) == DType::kBool) {
      std::vector<Value*> operands = w.node().inputs();
      operands[0] = w.Cast(operands[0], DType::kFloat32);
      return w.Cast(w.Op(w.node().op(), operands, w.attrs()), DType::kBool);
    }
    // A mean of nothing is no number, an extreme of nothing is none.
    const NnefWriter::Given operands = {{"input", w.in(0)}};
    AttributeMap attrs = {{"axes", *axes}};
    if (op == "sum_reduce") attrs.Set("normalize", 0);
    X2IR_ASSIGN_OR_RETURN(Value * y, w.Call(op, operands, std::move(attrs)));
    return WithoutAxes(w, y, *axes);
  };
}
// The first place of the elements in reverse, counted from the end.
absl::StatusOr<Value*> LastPlace(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Dim& size = (*w.shape(0))[axis];
  if (!size.is_static() || size.value() < 1 || size.value() > NnefWriter::kExact) {
    return CannotExpress("the last place of several along an axis of unknown size");
  }
  const int64_t last = size.value() - 1;
  Value* reversed =
      w.Op("gather", {w.in(0), w.Ints(CountedFrom(last, last + 1, -1))}, {{"axis", axis}});
  AttributeMap attrs = w.attrs();
  attrs.Set("select_last_index", 0);
  const Expr place = w.AsReal(w.Op(w.node().op(), {reversed}, std::move(attrs)));
  return (static_cast<double>(last) - place).To(DType::kInt64).value();
}
// Few elements one after the other; tract has an operator for more.
absl::StatusOr<Value*> ToReduceProd(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, AxesToReduce(w));
  if (!axes || axes->empty()) return w.Call("copy", {{"x", w.in(0)}});
  constexpr int64_t kMostFactors = 64;
  int64_t factors = 1;
  for (const int64_t axis : *axes) {
    const Dim& size = (*w.shape(0))[axis];
    if (!size.is_static() || size.value() < 1 || (factors *= size.value()) > kMostFactors) {
      X2IR_ASSIGN_OR_RETURN(
          Value * y, w.Call("tract_core_product_reduce", {{"input", w.in(0)}}, {{"axes", *axes}}));
      return WithoutAxes(w, y, *axes);
    }
  }
  Expr y(w, w.in(0));
  for (const int64_t axis : *axes) {
    const Expr whole = y;
    y = SliceAt(whole, axis, 0);
    for (int64_t i = 1; i < (*w.shape(0))[axis].value(); ++i) y = y * SliceAt(whole, axis, i);
  }
  if (w.Int("keepdims") == 0) y = Squeeze(y, *axes);
  return y.value();
}
auto ToArgReduce(std::string_view op) {
  return [op](NnefWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return LastPlace(w);
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    X2IR_ASSIGN_OR_RETURN(Value * y,
                          w.Call(op, {{"input", w.in(0)}}, {{"axes", Attribute::Ints{axis}}}));
    return WithoutAxes(w, y, {axis});
  };
}

}  // namespace

X2IR_NNEF(reduce_sum).From("sum_reduce", SumReduceRow).To("sum_reduce", ToReduce("sum_reduce"));
X2IR_NNEF(reduce_mean)
    .From("mean_reduce", ReduceRow("reduce_mean"))
    .From("moments", MomentsRow)
    .To("mean_reduce", ToReduce("mean_reduce"));
X2IR_NNEF(reduce_max)
    .From("max_reduce", ReduceRow("reduce_max"))
    .From("any_reduce", AnyReduceRow)
    .To("max_reduce", ToReduce("max_reduce"));
X2IR_NNEF(reduce_min)
    .From("min_reduce", ReduceRow("reduce_min"))
    .From("all_reduce", AllReduceRow)
    .To("min_reduce", ToReduce("min_reduce"));
X2IR_NNEF(reduce_prod)
    .From("tract_core_product_reduce", ReduceRow("reduce_prod"))
    .To("mul", ToReduceProd);
X2IR_NNEF(reduce_l1).To("sum_reduce", [](NnefWriter& w) { return L1BySum(w); });
X2IR_NNEF(reduce_l2).To("sum_reduce", [](NnefWriter& w) { return L2BySum(w); });
X2IR_NNEF(reduce_sum_square).To("sum_reduce", [](NnefWriter& w) { return SumSquareBySum(w); });
X2IR_NNEF(reduce_log_sum_exp).To("sum_reduce", [](NnefWriter& w) { return LogSumExpBySum(w); });
X2IR_NNEF(reduce_log_sum).To("sum_reduce", [](NnefWriter& w) { return LogSumBySum(w); });
X2IR_NNEF(arg_max)
    .From("argmax_reduce", ArgReduceRow("arg_max"))
    .From("tract_core_argmax_reduce_last", ArgReduceRow("arg_max", 1))
    .To("argmax_reduce", ToArgReduce("argmax_reduce"));
X2IR_NNEF(arg_min)
    .From("argmin_reduce", ArgReduceRow("arg_min"))
    .From("tract_core_argmin_reduce_last", ArgReduceRow("arg_min", 1))
    .To("argmin_reduce", ToArgReduce("argmin_reduce"));

}  // namespace x2ir
