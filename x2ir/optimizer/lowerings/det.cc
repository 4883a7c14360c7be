// det of matrices of one or two rows. More rows have products of which one may be infinite and
// another 0, where the elimination that evaluation does has none.
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> SmallDet(Rewrite& r) {
  const Shape* x = r.in(0)->shape();
  if (!x || x->rank() < 2 || !IsFloating(r.dtype(0))) {
    return CannotExpress("the shape or the element type is not known");
  }
  const Dim& n = (*x)[x->rank() - 1];
  if (n != Dim(1) && n != Dim(2))
    return CannotExpress("only matrices of 1 or 2 rows have a formula");
  Builder& b = r.b;
  Value* matrix = Expr(b, r.in(0)).To(DType::kFloat64);
  const int64_t last = x->rank() - 1;
  const auto at = [&](int64_t row, int64_t column) {
    Value* v = b.Op("gather", {matrix, b.Int(row, "row")}, {{"axis", last - 1}});
    return b.Op("gather", {v, b.Int(column, "column")}, {{"axis", last - 1}});
  };
  Value* y = at(0, 0);
  if (n == Dim(2)) {
    y = b.Op("sub", {b.Op("mul", {y, at(1, 1)}), b.Op("mul", {at(0, 1), at(1, 0)})});
  }
  return Values{Expr(b, y).To(r.dtype(0))};
}
X2IR_LOWERING(det, SmallDet);

}  // namespace
}  // namespace x2ir
