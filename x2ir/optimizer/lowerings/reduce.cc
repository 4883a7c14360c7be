// Lowerings of reductions: those over no axes, over computed ones, of bools.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/builder/expr.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/axis_masks.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// What a reduction makes of each element alone.
Value* OfOneElement(Rewrite& r, const std::string& op) {
  Builder& b = r.b;
  if (op == "reduce_l1" || op == "reduce_l2") return b.Op("abs", {r.in(0)});
  if (op == "reduce_log_sum") return b.Op("log", {r.in(0)});
  if (op == "reduce_sum_square") return b.Op("mul", {r.in(0), r.in(0)});
  return b.Op("identity", {r.in(0)});
}

// noop_with_empty_axes, where it is known whether there are axes.
absl::StatusOr<Values> ReduceNothing(Rewrite& r) {
  if (r.attrs().Int("noop_with_empty_axes") == 0) {
    return CannotExpress("no other ops express it");
  }
  const Shape* axes = r.has(1) ? r.in(1)->shape() : nullptr;
  if (r.has(1) && !(axes && axes->rank() == 1 && (*axes)[0].is_static())) {
    return CannotExpress("whether there are axes is not known");
  }
  if (!r.has(1) || (*axes)[0].value() == 0) return Values{OfOneElement(r, r.node.op().str())};
  AttributeMap attrs = r.attrs();
  attrs.Set("noop_with_empty_axes", 0);
  return Values{r.b.Op(r.node.op(), {r.in(0), r.in(1)}, std::move(attrs))};
}

// What a reduction makes of no elements at all, as a constant of rank 0.
absl::StatusOr<Value*> OfNoElements(Rewrite& r) {
  Graph scratch;
  Builder b(scratch, nullptr);
  Value* none = b.Constant(Tensor::Zeros(r.dtype(0), {0}));
  Value* y = b.Op(r.node.op(), {none}, {{"keepdims", 0}});
  X2IR_RETURN_IF_ERROR(b.status());
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, EvalConstantNode(*y->producer()));
  if (!results[0].tensor()) return Internal("a reduction gives no tensor");
  return r.b.Constant(*results[0].tensor(), "nothing");
}

// Each axis is split in two, one to keep and one to reduce over, and one of these is of size 1:
// which one is a matter of the shape, and a shape may be computed.
absl::StatusOr<Values> ReduceComputedAxes(Rewrite& r) {
  Builder& b = r.b;
  const int64_t rank = r.rank(0);
  if (!r.has(1) || r.ConstInts(1) || rank < 0) {
    return CannotExpress("only computed axes of an operand of known rank have a formula");
  }
  if (rank == 0) return Values{b.Op(r.node.op(), {r.in(0)})};  // there are no axes to name
  const bool keepdims = r.attrs().Int("keepdims") != 0;
  const Shape& in = *r.in(0)->shape();
  const bool empty = std::any_of(in.begin(), in.end(), [](const Dim& d) { return d == Dim(0); });
  // No axes are all axes, unless noop_with_empty_axes.
  Value* reduced = AxisMask(r, r.in(1), rank);
  if (r.attrs().Int("noop_with_empty_axes") == 0) {
    Value* any = b.Op("reduce_sum", {Expr(b, reduced).To(DType::kInt32)}, {{"keepdims", 0}});
    reduced = b.Op("or", {reduced, b.Op("not", {Expr(b, any).To(DType::kBool)})});
  }
  Value* kept = b.Op("not", {reduced});
  Value* one = b.Int(1, "one");
  Value *x = r.in(0), *sizes, *nothing = nullptr;
  if (empty) {
    if (!in.is_static()) return CannotExpress("which sizes are 0 is not known");
    sizes = b.Ints(*in.Static(), "sizes");
    X2IR_ASSIGN_OR_RETURN(nothing, OfNoElements(r));
  } else {
    X2IR_ASSIGN_OR_RETURN(sizes, SizesToReshape(r, r.in(0)));
  }
  Value* keep = b.Op("where", {reduced, one, sizes});
  if (nothing) {  // all elements are reductions of nothing, however many there are
    if (!keepdims) keep = b.Op("compress", {sizes, kept}, {{"axis", 0}});
    return Values{b.Op("expand", {nothing, keep})};
  }
  Value* reduce = b.Op("where", {reduced, sizes, one});
  std::vector<int64_t> odd;
  for (int64_t i = 0; i < rank; ++i) odd.push_back(2 * i + 1);
  Value* last = b.Ints({1}, "last");
  Value* pairs =
      b.Op("concat", {b.Op("unsqueeze", {keep, last}), b.Op("unsqueeze", {reduce, last})},
           {{"axis", 1}});
  pairs = b.Op("reshape", {pairs, b.Ints({2 * rank}, "pairs")});
  Value* y = b.Op(r.node.op(), {ReshapeTo(r, x, pairs), b.Ints(odd, "axes")}, {{"keepdims", 0}});
  if (!keepdims) y = ReshapeTo(r, y, b.Op("compress", {sizes, kept}, {{"axis", 0}}));
  return Values{y};
}

// Of bools, as numbers: greater than 0 also where there are none.
absl::StatusOr<Values> ReduceBools(Rewrite& r) {
  if (r.dtype(0) != DType::kBool) return CannotExpress("it is not of bools");
  std::vector<Value*> operands = r.node.inputs();
  operands[0] = Expr(r.b, operands[0]).To(DType::kInt32);
  Value* y = r.b.Op(r.node.op(), std::move(operands), r.attrs());
  return Values{r.b.Op("greater", {y, r.b.Scalar(DType::kInt32, 0, "zero")})};
}

// A mean of integers is a sum, divided by a number that is known.
absl::StatusOr<Values> MeanOfIntegers(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t)) return CannotExpress("as a sum, it is a mean of integers");
  const int64_t rank = r.rank(0);
  const auto given = r.has(1) ? r.ConstInts(1) : std::vector<int64_t>();
  if (rank < 0 || !given) return CannotExpress("as a sum, it needs a known rank and known axes");
  std::vector<bool> reduced(static_cast<size_t>(rank), given->empty());
  for (const int64_t axis : *given)
    reduced.at(static_cast<size_t>(axis < 0 ? axis + rank : axis)) = true;
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i) {
    if (!reduced[static_cast<size_t>(i)]) continue;
    const Dim& size = (*r.in(0)->shape())[i];
    if (!size.is_static() || size.value() == 0) {
      return CannotExpress("as a sum, it needs to know of how many elements");
    }
    count *= size.value();
  }
  const DType wide = BitWidth(t) < 32 ? DType::kInt32 : t;
  const Expr x = Expr(r.b, r.in(0)).To(wide);
  Value* sum = r.b.Op("reduce_sum", {x, r.in(1)}, r.attrs());
  const Expr mean(r.b, r.b.Op("div", {sum, r.b.Scalar(wide, static_cast<double>(count), "count")}));
  return Values{mean.To(t)};
}

// Logarithms of integers are those of float64, rounded towards zero.
absl::StatusOr<Values> LogOfIntegers(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t)) return CannotExpress("in float64, it is for integers");
  Builder& b = r.b;
  const auto floats = [&](Value* x) { return Expr(b, x).To(DType::kFloat64); };
  if (r.node.Is("reduce_log_sum")) {
    // The sum may be more than the type holds.
    const Expr x(b, r.in(0));
    const Expr wide = BitWidth(t) < 64 ? x.To(DType::kInt64) : x;
    Value* sum = b.Op("reduce_sum", {wide, r.in(1)}, r.attrs());
    return Values{Expr(b, b.Op("log", {floats(sum)})).To(t)};
  }
  return Values{Expr(b, b.Op("reduce_log_sum_exp", {floats(r.in(0)), r.in(1)}, r.attrs())).To(t)};
}
X2IR_LOWERING(reduce_log_sum, LogOfIntegers);
X2IR_LOWERING(reduce_log_sum_exp, LogOfIntegers);
X2IR_LOWERING(reduce_sum, ReduceNothing);
X2IR_LOWERING(reduce_mean, ReduceNothing);
X2IR_LOWERING(reduce_max, ReduceNothing);
X2IR_LOWERING(reduce_min, ReduceNothing);
X2IR_LOWERING(reduce_prod, ReduceNothing);
X2IR_LOWERING(reduce_l1, ReduceNothing);
X2IR_LOWERING(reduce_l2, ReduceNothing);
X2IR_LOWERING(reduce_log_sum, ReduceNothing);
X2IR_LOWERING(reduce_log_sum_exp, ReduceNothing);
X2IR_LOWERING(reduce_sum_square, ReduceNothing);
X2IR_LOWERING(reduce_mean, MeanOfIntegers);
X2IR_LOWERING(reduce_max, ReduceBools);
X2IR_LOWERING(reduce_min, ReduceBools);
X2IR_LOWERING(reduce_sum, ReduceComputedAxes);
X2IR_LOWERING(reduce_mean, ReduceComputedAxes);
X2IR_LOWERING(reduce_max, ReduceComputedAxes);
X2IR_LOWERING(reduce_min, ReduceComputedAxes);
X2IR_LOWERING(reduce_prod, ReduceComputedAxes);
X2IR_LOWERING(reduce_l1, ReduceComputedAxes);
X2IR_LOWERING(reduce_l2, ReduceComputedAxes);
X2IR_LOWERING(reduce_log_sum, ReduceComputedAxes);
X2IR_LOWERING(reduce_log_sum_exp, ReduceComputedAxes);
X2IR_LOWERING(reduce_sum_square, ReduceComputedAxes);

}  // namespace
}  // namespace x2ir
