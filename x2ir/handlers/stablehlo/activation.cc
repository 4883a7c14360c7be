// StableHLO: clamps, and activations, which are written as formulas.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/elementwise.h"

namespace x2ir {
namespace {

// Between operands 0 and 2.
Value* Clamped(StablehloArgs& a) { return Least(Greatest(a.in(1), a.in(0)), a.in(2)); }

double FloatOf(StablehloWriter& w, Symbol attr) {
  return static_cast<double>(w.attrs().Float(attr));
}
Expr OfX(StablehloWriter& w, std::string_view op, const Expr& x) {
  return {w, w.Hlo(op, {x}, {}, x->type())};
}

Value* WriteRelu(StablehloWriter& w) { return Max(X(w), 0); }
Value* WriteLeakyRelu(StablehloWriter& w) {
  const Expr x = X(w);
  return Where(x < 0, x * FloatOf(w, "alpha"), x);
}
Value* WritePrelu(StablehloWriter& w) {
  const Expr x = X(w);
  return Where(x < 0, x * X(w, 1), x);
}
Value* WriteElu(StablehloWriter& w) {
  const Expr x = X(w);
  return Where(x < 0, OfX(w, "exponential_minus_one", x) * FloatOf(w, "alpha"), x);
}
Value* WriteSelu(StablehloWriter& w) {
  const Expr x = X(w), below = OfX(w, "exponential_minus_one", x) * FloatOf(w, "alpha");
  return Where(x < 0, below, x) * FloatOf(w, "gamma");
}
// No exponential overflows.
Value* WriteSoftplus(StablehloWriter& w) {
  const Expr x = X(w);
  return Max(x, 0) + OfX(w, "log_plus_one", Exp(-Abs(x)));
}
Value* WriteSoftsign(StablehloWriter& w) { return X(w) / (1 + Abs(X(w))); }
Value* WriteHardSigmoid(StablehloWriter& w) {
  return Min(Max(X(w) * FloatOf(w, "alpha") + FloatOf(w, "beta"), 0), 1);
}

// Bounds are of one element; an axis that they have is not one of the result.
absl::StatusOr<Value*> WriteClip(StablehloWriter& w) {
  const bool low = w.in(1), high = w.in(2);
  if (!low && !high) return w.Op("identity", {w.in(0)});
  const auto bound = [&](size_t i) { return Reshape(X(w, i), {}); };
  if (!high) return Max(X(w), bound(1)).value();
  if (!low) return Min(X(w), bound(2)).value();
  return w.Hlo("clamp", {bound(1), w.in(0), bound(2)});
}

// The largest element is subtracted, so that no exponential overflows.
absl::StatusOr<Value*> WriteHardmax(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Expr x = X(w);
  const Expr first = x.Op("arg_max", {}, {{"axis", axis}, {"keepdims", 1}});
  const Expr places = AlongAxis(Iota(SizeOf(x, axis)), axis, rank);
  return (places == first).To(x.dtype()).value();
}

}  // namespace

X2IR_STABLEHLO(clip).From("clamp", Clamped).To("clamp", WriteClip);
X2IR_STABLEHLO(elu).To("select", WriteElu);
X2IR_STABLEHLO(hard_sigmoid).To("minimum", WriteHardSigmoid);
X2IR_STABLEHLO(hardmax).To("convert", WriteHardmax);
X2IR_STABLEHLO(leaky_relu).To("select", WriteLeakyRelu);
X2IR_STABLEHLO(prelu).To("select", WritePrelu);
X2IR_STABLEHLO(relu).To("maximum", WriteRelu);
X2IR_STABLEHLO(selu).To("multiply", WriteSelu);
X2IR_STABLEHLO(softplus).To("add", WriteSoftplus);
X2IR_STABLEHLO(softsign).To("divide", WriteSoftsign);

}  // namespace x2ir
