// NNEF: activations and softmax.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

auto Activation(std::string_view op) {
  return [op](NnefArgs& a) -> Value* { return a.in(0).Op(op); };
}
float NnefFloat(NnefArgs& a, std::string_view name) { return static_cast<float>(a.Number(name)); }

Expr SoftmaxOver(const Expr& x, const std::vector<int64_t>& axes) {
  if (axes.size() == 1) return x.Op("softmax", {}, {{"axis", axes[0]}});
  const Expr e = Exp(x - Reduce(x, "reduce_max", axes, true));
  return e / Reduce(e, "reduce_sum", axes, true);
}

Value* SoftmaxRow(NnefArgs& a) { return SoftmaxOver(a.in(0), a.Axes()); }
Value* LogSoftmaxRow(NnefArgs& a) {
  const std::vector<int64_t> axes = a.Axes();
  if (axes.size() == 1) return a.in(0).Op("log_softmax", {}, {{"axis", axes[0]}});
  return Log(SoftmaxOver(a.in(0), axes));
}
Value* SiluRow(NnefArgs& a) { return a.in(0) * a.in(0).Op("sigmoid"); }
Value* PreluRow(NnefArgs& a) {
  const std::vector<Expr> both = a.Alike({a.Tensor("x"), a.Tensor("alpha")});
  return Where(both[0] < 0.0, both[0] * both[1], both[0]);
}
Value* EluRow(NnefArgs& a) { return a.in(0).Op("elu", {}, {{"alpha", NnefFloat(a, "alpha")}}); }
Value* SeluRow(NnefArgs& a) {
  return a.in(0).Op("selu", {},
                    {{"alpha", NnefFloat(a, "alpha")}, {"gamma", NnefFloat(a, "lambda")}});
}
Value* LeakyReluRow(NnefArgs& a) {
  return a.in(0).Op("leaky_relu", {}, {{"alpha", NnefFloat(a, "alpha")}});
}
Value* GeluByTanhRow(NnefArgs& a) {
  a.Require(a.op() == "tract_core_gelu_approximate" || !a.Flag("fast_impl"),
            "gelu by another formula (fast_impl)");
  return a.in(0).Op("gelu", {}, {{"approximate", "tanh"}});
}
// `exp` says how the exponential is rounded.
Value* TractSoftmaxRow(NnefArgs& a) {
  a.Ignore("exp");
  return SoftmaxOver(a.in(0), a.Axes());
}

auto ToActivation(std::string_view op) {
  return [op](NnefWriter& w) { return w.Call(op, {{"x", w.in(0)}}); };
}
absl::StatusOr<Value*> ToSoftmax(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Call("softmax", {{"x", w.in(0)}}, {{"axes", Attribute::Ints{axis}}});
}
Value* ToLogSoftmax(NnefWriter& w) {
  const int64_t axis = w.Int("axis");
  const Expr x(w, w.in(0));
  const Expr centered = x - Reduce(x, "reduce_max", {axis}, true);
  return centered - Log(Reduce(Exp(centered), "reduce_sum", {axis}, true));
}
absl::StatusOr<Value*> ToLeakyRelu(NnefWriter& w) {
  return w.Call("leaky_relu", {{"x", w.in(0)}},
                {{"alpha", static_cast<float>(w.attrs().Float("alpha"))}});
}
Value* ToElu(NnefWriter& w) {
  const Expr x(w, w.in(0));
  return Where(x < 0.0, (Exp(x) - 1.0) * w.attrs().Float("alpha"), x);
}
absl::StatusOr<Value*> ToPrelu(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> both, w.Broadcast());
  return w.Call("prelu", {{"x", both[0]}, {"alpha", both[1]}});
}
absl::StatusOr<Value*> ToSelu(NnefWriter& w) {
  return w.Call("selu", {{"x", w.in(0)}},
                {{"alpha", static_cast<float>(w.attrs().Float("alpha"))},
                 {"lambda", static_cast<float>(w.attrs().Float("gamma"))}});
}
Value* ToSoftsign(NnefWriter& w) {
  const Expr x(w, w.in(0));
  return x / (Abs(x) + 1.0);
}
Value* ToHardSigmoid(NnefWriter& w) {
  const Expr x(w, w.in(0));
  const Expr y = x * w.attrs().Float("alpha") + w.attrs().Float("beta");
  return Max(Min(y, 1.0), 0.0);
}
Value* ToHardSwish(NnefWriter& w) {
  const Expr x(w, w.in(0));
  return x * Max(Min(x * (1.0 / 6) + 0.5, 1.0), 0.0);
}
Value* ClampRow(NnefArgs& a) {
  const std::vector<Expr> all = a.Alike({a.Tensor("x"), a.Tensor("a"), a.Tensor("b")});
  return Max(Min(all[0], all[2]), all[1]);
}
Value* ToClip(NnefWriter& w) { return ClipByBounds(w); }

}  // namespace

X2IR_NNEF(relu).From("relu", Activation("relu")).To("relu", ToActivation("relu"));
X2IR_NNEF(sigmoid).From("sigmoid", Activation("sigmoid")).To("sigmoid", ToActivation("sigmoid"));
X2IR_NNEF(softplus)
    .From("softplus", Activation("softplus"))
    .To("softplus", ToActivation("softplus"));
X2IR_NNEF(swish).From({"silu", "tract_core_silu", "tract_transformers_silu"}, SiluRow);
X2IR_NNEF(softsign).To("div", ToSoftsign);
X2IR_NNEF(hard_sigmoid).To("clamp", ToHardSigmoid);
X2IR_NNEF(hard_swish)
    .From("tract_core_hard_swish", Activation("hard_swish"))
    .To("clamp", ToHardSwish);
X2IR_NNEF(gelu).From({"tract_core_gelu_approximate", "tract_core_gelu_approx",
                      "tract_transformers_gelu_approx"},
                     GeluByTanhRow);
X2IR_NNEF(softmax)
    .From("softmax", SoftmaxRow)
    .From("tract_core_softmax", TractSoftmaxRow)
    .To("softmax", ToSoftmax);
X2IR_NNEF(log_softmax).From("tract_core_log_softmax", LogSoftmaxRow).To("sub", ToLogSoftmax);
X2IR_NNEF(elu).From("elu", EluRow).To("select", ToElu);
X2IR_NNEF(selu).From("selu", SeluRow).To("selu", ToSelu);
X2IR_NNEF(hardmax).To("argmax_reduce", [](NnefWriter& w) { return HardmaxByOneHot(w); });
X2IR_NNEF(leaky_relu).From("leaky_relu", LeakyReluRow).To("leaky_relu", ToLeakyRelu);
X2IR_NNEF(prelu).From("prelu", PreluRow).To("prelu", ToPrelu);
X2IR_NNEF(clip).From("clamp", ClampRow).To("min", ToClip);

}  // namespace x2ir
