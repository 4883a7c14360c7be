// ncnn: activations.

#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// PReLU's list has a number for each element of a blob's first axis: its channels, or the rows or
// numbers of a blob of two axes or one.
Value* Relu(NcnnArgs& a) {
  const double slope = a.Float(0, 0);
  if (slope == 0) return a.Op("relu", {a.in(0)});
  return a.Op("leaky_relu", {a.in(0)}, {{"alpha", static_cast<float>(slope)}});
}

Value* Prelu(NcnnArgs& a) {
  const int64_t count = a.Int(0, 0);
  const Expr slope = a.weights(0);
  return a.in(0).Op("prelu", {count > 1 ? AlongChannels(slope, a.RankOf()) : slope});
}

Value* ClipLayer(NcnnArgs& a) {
  const double most = 3.4028234663852886e38;
  const Expr x = a.in(0);
  return Clip(x, x.Number(a.Float(0, -most)), x.Number(a.Float(1, most)));
}

Value* HardSigmoid(NcnnArgs& a) {
  const Expr x = a.in(0);
  return Clip(Shifted(Scaled(x, a.Float(0, 0.2)), a.Float(1, 0.5)), x.Number(0), x.Number(1));
}

Value* HardSwish(NcnnArgs& a) {
  const Expr x = a.in(0);
  return x * Expr(a, HardSigmoid(a));
}

Value* Gelu(NcnnArgs& a) {
  return a.Op("gelu", {a.in(0)}, {{"approximate", a.Flag(0, false) ? "tanh" : "none"}});
}

Value* Celu(NcnnArgs& a) {
  return a.Op("celu", {a.in(0)}, {{"alpha", static_cast<float>(a.Float(0, 1))}});
}

Value* SoftmaxLayer(NcnnArgs& a) {
  a.Drop({1});  // whether axes are counted as today
  return a.Op("softmax", {a.in(0)}, {{"axis", a.AxisOf(a.Int(0, 0))}});
}

absl::StatusOr<Value*> Glu(NcnnArgs& a) {
  const int64_t axis = a.AxisOf(a.Int(0, 0));
  const Dim whole = DimAt(a.in(0), axis);
  a.Require(whole.is_static(), "halves of an unknown size");
  const int64_t half = whole.value() / 2;
  return (Slice(a.in(0), axis, Size(0), Size(half)) *
          Slice(a.in(0), axis, Size(half), Size(2 * half)).Op("sigmoid"))
      .value();
}

}  // namespace

X2IR_NCNN(relu).From("ReLU", Relu);
X2IR_NCNN(prelu).From("PReLU", Prelu);
X2IR_NCNN(clip).From({{"Clip", ClipLayer}, {"HardSigmoid", HardSigmoid}});
X2IR_NCNN(hard_swish).From("HardSwish", HardSwish);
X2IR_NCNN(gelu).From("GELU", Gelu);
X2IR_NCNN(celu).From("CELU", Celu);
X2IR_NCNN(softplus).From({{"BNLL", Plain("softplus")}, {"Softplus", Plain("softplus")}});
X2IR_NCNN(sigmoid).From({{"Sigmoid", Plain("sigmoid")}, {"GLU", Glu}});
X2IR_NCNN(mish).From("Mish", Plain("mish"));
X2IR_NCNN(elu).From("ELU", [](NcnnArgs& a) {
  return a.Op("elu", {a.in(0)}, {{"alpha", static_cast<float>(a.Float(0, 0.1))}});
});
X2IR_NCNN(selu).From("SELU", [](NcnnArgs& a) {
  return a.Op("selu", {a.in(0)},
              {{"alpha", static_cast<float>(a.Float(0, 1.67326324))},
               {"gamma", static_cast<float>(a.Float(1, 1.050700987))}});
});
X2IR_NCNN(swish).From("Swish", [](NcnnArgs& a) { return a.in(0) * a.Op("sigmoid", {a.in(0)}); });
X2IR_NCNN(softmax).From("Softmax", SoftmaxLayer);

}  // namespace x2ir
