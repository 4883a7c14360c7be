// Caffe: activations.

#include "x2ir/builder/layers/activation.h"

#include "x2ir/handlers/caffe/caffe.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

Value* Relu(CaffeArgs& a) {
  const float slope = a.Float("negative_slope", 0);
  if (slope == 0) return a.Op("relu", {a.in(0)});
  return a.Op("leaky_relu", {a.in(0)}, {{"alpha", slope}});
}

Value* Relu6(CaffeArgs& a) { return activation::Relu6(a.in(0)); }

Value* Prelu(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t rank = a.RankOf();
  a.Require(rank >= 2, "a slope a channel of an operand without channels");
  Expr slope = Reshape(a.blob(0), {-1});
  if (!a.Bool("channel_shared", false)) slope = AlongChannels(slope, rank);
  return x.Op("prelu", {slope});
}

Value* Elu(CaffeArgs& a) { return a.Op("elu", {a.in(0)}, {{"alpha", a.Float("alpha", 1)}}); }

Value* Swish(CaffeArgs& a) {
  const Expr x = a.in(0);
  return x * Scaled(x, a.Float("beta", 1)).Op("sigmoid");
}

Value* Clipped(CaffeArgs& a) {
  a.Require(a.Has("min") && a.Has("max"), "bounds that are left out");
  const Expr x = a.in(0);
  return Clip(x, x.Number(a.Float("min", 0)), x.Number(a.Float("max", 0)));
}

Value* SoftmaxAlong(CaffeArgs& a) {
  return a.Op("softmax", {a.in(0)}, {{"axis", a.AxisOf(a.Int("axis", 1))}});
}

}  // namespace

X2IR_CAFFE(relu).From("ReLU", "relu_param", Relu);
X2IR_CAFFE(clip).From("ReLU6", "relu6_param", Relu6).From("Clip", "clip_param", Clipped);
X2IR_CAFFE(prelu).From("PReLU", "prelu_param", Prelu);
X2IR_CAFFE(elu).From("ELU", "elu_param", Elu);
X2IR_CAFFE(sigmoid).From("Sigmoid", "sigmoid_param",
                         [](CaffeArgs& a) { return a.Op("sigmoid", {a.in(0)}); });
X2IR_CAFFE(softplus).From("BNLL", "bnll_param",
                          [](CaffeArgs& a) { return a.Op("softplus", {a.in(0)}); });
X2IR_CAFFE(swish).From("Swish", "swish_param", Swish);
X2IR_CAFFE(mish).From("Mish", "mish_param", [](CaffeArgs& a) { return a.Op("mish", {a.in(0)}); });
X2IR_CAFFE(softmax).From("Softmax", "softmax_param", SoftmaxAlong);

}  // namespace x2ir
