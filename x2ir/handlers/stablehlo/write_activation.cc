// StableHLO, written: softmax and its relatives, as formulas.
#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

// The distances from the largest element, and the sum of their exponentials, which is not too large
// then. Halves are computed in float32.
struct Exponentials {
  Expr distances, powers, sum;
};
Exponentials ExponentialsOf(StablehloWriter& w, int64_t axis) {
  const Expr x = X(w).To(AtLeastFloat32(w.dtype()));
  const Expr distances = x - Reduce(x, "reduce_max", {axis}, true);
  const Expr powers = Exp(distances);
  return {distances, powers, Reduce(powers, "reduce_sum", {axis}, true)};
}

absl::StatusOr<Value*> ToSoftmax(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Exponentials e = ExponentialsOf(w, axis);
  return (e.powers / e.sum).To(w.dtype()).value();
}
absl::StatusOr<Value*> ToLogSoftmax(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Exponentials e = ExponentialsOf(w, axis);
  return (e.distances - Log(e.sum)).To(w.dtype()).value();
}

}  // namespace

X2IR_STABLEHLO(softmax).To("divide", ToSoftmax);
X2IR_STABLEHLO(log_softmax).To("subtract", ToLogSoftmax);

}  // namespace x2ir
