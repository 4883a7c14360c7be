// Lowerings of reductions: those over no axes.
#include <string>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"

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

}  // namespace
}  // namespace x2ir
