// Caffe2: activations.

#include "x2ir/builder/layers/detection.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

Value* ClipOp(Caffe2Args& a) {
  const double most = 3.4028234663852886e38;
  const Expr x = a.in(0);
  return Clip(x, x.Number(a.Number("min", -most)), x.Number(a.Number("max", most)));
}

// One half of an axis, times the sigmoid of the other half.
Expr Glu(Caffe2Args& a) {
  const Expr x = a.in(0);
  const int64_t axis = a.AxisOf(a.Int("dim", -1));
  const Dim size = DimAt(x, axis);
  a.Require(size.is_static(), "an axis of unknown size");
  const int64_t half = size.value() / 2;
  return Slice(x, axis, 0, Size(half)) * Slice(x, axis, Size(half), kToEnd).Op("sigmoid");
}

absl::StatusOr<Value*> Prelu(Caffe2Args& a) {
  const bool last = a.ChannelsLast();
  Expr slope = a.in(1);
  if (!last && DimAt(slope, 0) != Dim(1)) slope = AlongChannels(slope, a.RankOf());
  return a.in(0).Op("prelu", {slope}).value();
}

Value* HardSigmoid(Caffe2Args& a) {
  const Expr x = a.in(0);
  const Expr y = Shifted(Scaled(x, a.Number("alpha", 0.2)), a.Number("beta", 0.5));
  return Clip(y, x.Number(0), x.Number(1));
}

Value* ThresholdedRelu(Caffe2Args& a) {
  return a.Op("thresholded_relu", {a.in(0)}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
}

Value* GeluOp(Caffe2Args& a) {
  return a.Op("gelu", {a.in(0)}, {{"approximate", a.Bool("fast_gelu", false) ? "tanh" : "none"}});
}

// The axes from `axis` on count as one.
template <bool kLog>
Value* SoftmaxOver(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1)), rank = a.RankOf();
  const Symbol op(kLog ? "log_softmax" : "softmax");
  if (axis == rank - 1) return a.Op(op, {a.in(0)}, {{"axis", axis}});
  const Expr rows = a.in(0).Op("flatten", {}, {{"axis", axis}});
  return ReshapeTo(rows.Op(op, {}, {{"axis", 1}}), AllSizes(a.in(0)));
}

}  // namespace

X2IR_CAFFE2(relu).From("Relu", PlainOp("relu"));
X2IR_CAFFE2(leaky_relu).From("LeakyRelu", [](Caffe2Args& a) {
  return a.Op("leaky_relu", {a.in(0)}, {{"alpha", static_cast<float>(a.Number("alpha", 0.01))}});
});
X2IR_CAFFE2(elu).From("Elu", [](Caffe2Args& a) {
  return a.Op("elu", {a.in(0)}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
});
X2IR_CAFFE2(selu).From("Selu", [](Caffe2Args& a) {
  return a.Op("selu", {a.in(0)},
              {{"alpha", static_cast<float>(a.Number("alpha", 1.6732632423543772))},
               {"gamma", static_cast<float>(a.Number("scale", 1.0507009873554804))}});
});
X2IR_CAFFE2(prelu).From("PRelu", Prelu);
X2IR_CAFFE2(sigmoid).From({{"Sigmoid", PlainOp("sigmoid")}, {"Glu", Glu}});
X2IR_CAFFE2(softplus).From("Softplus", PlainOp("softplus"));
X2IR_CAFFE2(softsign).From("Softsign", PlainOp("softsign"));
X2IR_CAFFE2(swish).From("Swish",
                        [](Caffe2Args& a) { return a.in(0) * a.Op("sigmoid", {a.in(0)}); });
X2IR_CAFFE2(clip).From({{"Clip", ClipOp}, {"HardSigmoid", HardSigmoid}});
X2IR_CAFFE2(thresholded_relu).From("ThresholdedRelu", ThresholdedRelu);
X2IR_CAFFE2(gelu).From("Gelu", GeluOp);
X2IR_CAFFE2(softmax).From("Softmax", SoftmaxOver<false>);
X2IR_CAFFE2(log_softmax).From("LogSoftmax", SoftmaxOver<true>);

}  // namespace x2ir
