// Relay: activations.
#include <algorithm>
#include <cmath>
#include <string>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

// Bounds that a type does not hold bound nothing.
Value* ClipRow(SymbolArgs& a) {
  const Expr x = a.in(0);
  const double low = a.Number("a_min", 0), high = a.Number("a_max", 0);
  Value *least = nullptr, *most = nullptr;
  if (IsInteger(x.dtype())) {
    const int bits = BitWidth(x.dtype());
    const double top = std::ldexp(1.0, bits - (IsSignedInt(x.dtype()) ? 1 : 0));
    const double bottom = IsSignedInt(x.dtype()) ? -top : 0;
    if (low > bottom) least = x.Number(std::ceil(std::min(low, top - 1)));
    if (high < top - 1) most = x.Number(std::floor(std::max(high, bottom)));
  } else {
    if (!(std::isinf(low) && low < 0)) least = x.Number(low);
    if (!(std::isinf(high) && high > 0)) most = x.Number(high);
  }
  if (!least && !most) return SameValue(a);
  return a.Op("clip", {x, least, most});
}

// A bound that is left out is that of the type: the attributes are doubles.
absl::StatusOr<Value*> ToClipOp(RelayWriter& w) {
  const DType t = w.dtype(0);
  const auto low = OneNumber(w.in(1)), high = OneNumber(w.in(2));
  // Bounds that are computed, or that no double holds.
  if ((w.in(1) && !low) || (w.in(2) && !high)) return ClipByBounds(w);
  if (!low && !high) return w.Call("copy", {w.in(0)});
  if (IsFloating(t) && BitWidth(t) != 32 && BitWidth(t) != 64) {
    return CannotExpress("bounds of type ", Name(t));
  }
  if ((low && !std::isfinite(*low)) || (high && !std::isfinite(*high)) ||
      (low && high && *low > *high)) {
    return CannotExpress("bounds that are no numbers, or that cross");
  }
  if (IsInteger(t) && BitWidth(t) == 64 && (!low || !high)) {
    return CannotExpress("one bound of integers of 64 bits");
  }
  double least = 0, most = 0;
  if (IsInteger(t)) {
    most = std::ldexp(1.0, BitWidth(t) - (IsSignedInt(t) ? 1 : 0)) - 1;
    least = IsSignedInt(t) ? -most - 1 : 0;
  } else {
    // Infinities stay what they are where there is no bound.
    if (!low) return w.Call("minimum", {w.in(0), w.Number(t, *high)});
    if (!high) return w.Call("maximum", {w.in(0), w.Number(t, *low)});
  }
  return w.Call(
      "clip", {w.in(0)},
      {{"a_min", NumberText(low.value_or(least))}, {"a_max", NumberText(high.value_or(most))}});
}

absl::StatusOr<Value*> ToDropoutOp(RelayWriter& w) {
  const Tensor* training = w.in(2) ? w.in(2)->fixed_constant() : nullptr;
  if ((w.in(2) && !training) || (training && training->AsInt(0) != 0) || w.wants(1)) {
    return CannotExpress("dropout of a training");
  }
  return w.Call("copy", {w.in(0)});
}

Value* PreluOp(SymbolArgs& a) {
  return PreluAlong(a.in(0), a.in(1), a.AxisOf(a.Integer("axis", 1)));
}

// A slope for each channel of axis 1; others by a choice.
absl::StatusOr<Value*> ToPreluOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Shape *x = w.shape(0), *slope = w.shape(1);
  const Expr data(w, w.in(0));
  bool by_channel = true;
  if (rank < 2 || !slope || !slope->is_static() || !(*x)[1].is_static()) by_channel = false;
  const int64_t place = !by_channel ? -1 : 1 - (rank - slope->rank());
  for (int64_t i = 0; by_channel && i < slope->rank(); ++i) {
    const Dim size = (*slope)[i], channels = (*x)[1];
    if (size != (i == place ? channels : Dim(1))) by_channel = false;
  }
  if (!by_channel || place < 0) return Where(data < 0.0, data * Expr(w, w.in(1)), data).value();
  Value* flat = slope->rank() == 1 ? w.in(1) : w.Reshape(w.in(1), {(*x)[1].value()});
  return w.Call("nn.prelu", {w.in(0), flat}, {{"axis", "1"}});
}

// --- Activations that Relay does not have
// ---------------------------------------------------------

using Formula = Expr (*)(RelayWriter& w, const Expr& x);
std::function<absl::StatusOr<Value*>(RelayWriter&)> ByFormula(Formula formula) {
  return [formula](RelayWriter& w) -> absl::StatusOr<Value*> {
    return formula(w, {w, w.in(0)}).value();
  };
}
double FloatOf(RelayWriter& w, Symbol attr) { return w.attrs().Float(attr); }

// alpha (exp(x) - 1) of what is below 0.
Expr EluOf(const Expr& x, double alpha, double scale) {
  return Where(x > 0.0, x, (Exp(Min(x, 0.0) * scale) - 1.0) * alpha);
}
Expr Elu(RelayWriter& w, const Expr& x) { return EluOf(x, FloatOf(w, "alpha"), 1); }
Expr Celu(RelayWriter& w, const Expr& x) {
  const double alpha = FloatOf(w, "alpha");
  return EluOf(x, alpha, 1 / alpha);
}
Expr Selu(RelayWriter& w, const Expr& x) {
  return EluOf(x, FloatOf(w, "alpha"), 1) * FloatOf(w, "gamma");
}
Expr HardSigmoidOf(const Expr& x, double alpha, double beta) {
  return Max(Min(x * alpha + beta, 1.0), 0.0);
}
Expr HardSigmoid(RelayWriter& w, const Expr& x) {
  return HardSigmoidOf(x, FloatOf(w, "alpha"), FloatOf(w, "beta"));
}
Expr HardSwish(RelayWriter&, const Expr& x) { return x * HardSigmoidOf(x, 1.0 / 6, 0.5); }
Expr Softplus(RelayWriter&, const Expr& x) { return Max(x, 0.0) + Log(Exp(-Abs(x)) + 1.0); }
Expr Softsign(RelayWriter&, const Expr& x) { return x / (Abs(x) + 1.0); }
Expr Mish(RelayWriter& w, const Expr& x) { return x * Softplus(w, x).Op("tanh"); }
Expr ThresholdedRelu(RelayWriter& w, const Expr& x) {
  return Where(x > FloatOf(w, "alpha"), x, 0.0);
}

// 1 at the first of the greatest elements.
absl::StatusOr<Value*> ToHardmax(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Expr x(w, w.in(0));
  const Expr place = x.Op("arg_max", {}, {{"axis", axis}, {"keepdims", 1}});
  const Expr places = AlongAxis(Iota(SizeOf(x, axis)), axis, rank);
  return (places == place).To(x.dtype()).value();
}

}  // namespace

X2IR_RELAY(elu).To("where", ByFormula(Elu));
X2IR_RELAY(celu).To("where", ByFormula(Celu));
X2IR_RELAY(selu).To("multiply", ByFormula(Selu));
X2IR_RELAY(hard_sigmoid).To("maximum", ByFormula(HardSigmoid));
X2IR_RELAY(hard_swish).To("multiply", ByFormula(HardSwish));
X2IR_RELAY(softplus).To("add", ByFormula(Softplus));
X2IR_RELAY(softsign).To("divide", ByFormula(Softsign));
X2IR_RELAY(mish).To("multiply", ByFormula(Mish));
X2IR_RELAY(thresholded_relu).To("where", ByFormula(ThresholdedRelu));
X2IR_RELAY(hardmax).To("cast", ToHardmax);
X2IR_RELAY(relu).Is("nn.relu");
X2IR_RELAY(sigmoid).Is("sigmoid");
X2IR_RELAY(dropout).To("copy", ToDropoutOp);
X2IR_RELAY(leaky_relu)
    .Is("nn.leaky_relu", TextAttr("alpha", "alpha", AttrKind::kFloat, Attribute(0.25f)));
X2IR_RELAY(softmax)
    .Is("nn.softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)))
    .From("nn.fast_softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)));
X2IR_RELAY(log_softmax)
    .Is("nn.log_softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)));
X2IR_RELAY(clip).From("clip", ClipRow).To("clip", ToClipOp);
X2IR_RELAY(prelu).From("nn.prelu", PreluOp).To("nn.prelu", ToPreluOp);

}  // namespace x2ir
