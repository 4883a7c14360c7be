// MXNet: activations.

#include "x2ir/builder/layers/activation.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

Value* HardSigmoid(SymbolArgs& a) {
  return Clip(a.in(0) * a.Number("alpha", 0.2f) + a.Number("beta", 0.5), a.in(0).Number(0),
              a.in(0).Number(1));
}

Value* ClipTo(SymbolArgs& a) {
  const Expr x = a.in(0);
  Expr y = x;
  if (a.Given("a_min")) y = Max(y, a.Number("a_min", 0));
  if (a.Given("a_max")) y = Min(y, a.Number("a_max", 0));
  a.Ignore("a_min"), a.Ignore("a_max");
  return y.value() == x.value() ? a.Op("identity", {x}) : y;
}

Value* ActivationLayer(SymbolArgs& a) {
  const std::string type = a.Text("act_type", "");
  static constexpr NamedActivation kOwn[] = {{"softrelu", "softplus"}};
  const std::optional<Expr> y =
      Activated("relu sigmoid tanh softsign mish log_sigmoid", kOwn, type, a.in(0));
  a.Require(y.has_value(), StrCat("act_type ", type));
  return *y;
}

Value* LeakyRelu(SymbolArgs& a) {
  const std::string type = a.Text("act_type", "leaky");
  const double slope = a.Number("slope", 0.25), low = a.Number("lower_bound", 0.125),
               high = a.Number("upper_bound", 0.334);
  const Expr x = a.in(0);
  const auto leaky = [&](double alpha) {
    return activation::LeakyRelu(x, static_cast<float>(alpha));
  };
  if (type == "leaky") return leaky(slope);
  // At inference the slope is the mean of those that training draws.
  if (type == "rrelu") return leaky((low + high) / 2);
  if (type == "elu") return a.Op("elu", {x}, {{"alpha", static_cast<float>(slope)}});
  if (type == "selu") return a.Op("selu", {x});
  if (type == "gelu" || type == "gelu_erf") return a.Op("gelu", {x}, {{"approximate", "none"}});
  if (type == "gelu_tanh") return activation::GeluTanh(x);
  a.Require(type == "prelu", StrCat("act_type ", type));
  return PreluAlong(x, a.in(1), 1);
}

// Of rows: all axes but the first one together.
Expr SoftmaxOfRows(const Expr& x) {
  if (x->shape() && x->shape()->rank() == 2) return SoftmaxOf(x, "softmax", -1);
  return ReshapeTo(SoftmaxOf(FlattenedRows(x), "softmax", -1), ShapeOf(x));
}

absl::StatusOr<Value*> SoftmaxWith(SymbolArgs& a, Symbol op, bool negative) {
  const int64_t axis = a.Integer("axis", -1);
  const double temperature = a.Number("temperature", 1);
  const DType to = a.ElementType("dtype", DType::kUndefined);
  const bool lengths = a.Flag("use_length", false);
  Expr x = a.in(0);
  if (to != DType::kUndefined) x = x.To(to);
  if (negative) x = -x;
  if (temperature != 1) x = x / temperature;
  if (!lengths) return SoftmaxOf(x, op, axis);
  // Elements after the length are ignored, and 0 in the result.
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({axis}));
  const int64_t rank = a.rank(0);
  const Expr places = AlongAxis(Iota(SizeOf(x, axes[0])), axes[0], rank);
  const Expr inside = places < Unsqueeze(a.AsInt64(a.in(1)), {axes[0]});
  const Expr y = SoftmaxOf(Where(inside, x, Extreme(a, x.dtype(), false)), op, axis);
  return Where(inside, y, y.Number(0)).value();
}

absl::StatusOr<Value*> Softmax(SymbolArgs& a) { return SoftmaxWith(a, "softmax", false); }
absl::StatusOr<Value*> LogSoftmax(SymbolArgs& a) { return SoftmaxWith(a, "log_softmax", false); }
absl::StatusOr<Value*> Softmin(SymbolArgs& a) { return SoftmaxWith(a, "softmax", true); }

// Elements whose mask is 0 count for nothing.
template <bool kLog>
Value* MaskedSoftmax(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", -1);
  a.Ignore("normalize");
  const Expr x = a.in(0) / a.Number("temperature", 1), mask = IsTrue(a.in(1));
  const Expr low = Extreme(a, x.dtype(), false);
  const Expr y = SoftmaxOf(Where(mask, x, low), kLog ? "log_softmax" : "softmax", axis);
  return Where(mask, y, kLog ? low : y.Number(0));
}

Value* SoftmaxActivation(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "instance");
  a.Require(mode == "instance" || mode == "channel", StrCat("mode ", mode));
  return mode == "channel" ? SoftmaxOf(a.in(0), "softmax", 1) : SoftmaxOfRows(a.in(0));
}

void IgnoreTraining(SymbolArgs& a) {
  for (const char* name : {"grad_scale", "ignore_label", "use_ignore", "normalization", "out_grad",
                           "smooth_alpha", "valid_thresh", "margin", "regularization_coefficient",
                           "use_linear", "sparseness_target", "penalty", "momentum"}) {
    a.Ignore(name);
  }
}

Value* SoftmaxOutput(SymbolArgs& a) {
  IgnoreTraining(a);
  const bool channels = a.Flag("multi_output", false), last = a.Flag("preserve_shape", false);
  if (last) return SoftmaxOf(a.in(0), "softmax", -1);
  return channels ? SoftmaxOf(a.in(0), "softmax", 1) : SoftmaxOfRows(a.in(0));
}

Value* RegressionOutput(SymbolArgs& a) {
  IgnoreTraining(a);
  return SameValue(a);
}

Value* LogisticOutput(SymbolArgs& a) {
  IgnoreTraining(a);
  return a.Op("sigmoid", {a.in(0)});
}

// The sum of minus the logarithms of the labels' probabilities.
Value* SoftmaxCrossEntropy(SymbolArgs& a) {
  const Expr log = SoftmaxOf(a.in(0), "log_softmax", 1);
  const Expr picked = GatherElements(log, Unsqueeze(a.AsInt64(a.in(1)), {1}), 1);
  return Reshape(-Reduce(picked, "reduce_sum", {}), {1});
}

Value* Dropout(SymbolArgs& a) {
  const double p = a.Number("p", 0.5);
  const std::string mode = a.Text("mode", "training");
  a.Tuple("axes");
  a.Ignore("seed");
  a.Require(mode == "training" || p == 0, "dropout at inference");
  return SameValue(a);
}

}  // namespace

X2IR_MXNET(clip).From({"clip", "_npi_clip"}, ClipTo);
X2IR_MXNET(hard_sigmoid).From({"hard_sigmoid", "_npx_hard_sigmoid"}, HardSigmoid);
X2IR_MXNET(mish).From("mish").From("_npx_mish");
X2IR_MXNET(relu)
    .From("relu")
    .From("_npx_relu")
    .From({"Activation", "_npx_activation"}, ActivationLayer);
X2IR_MXNET(sigmoid)
    .From("sigmoid")
    .From("_npx_sigmoid")
    .From("LogisticRegressionOutput", LogisticOutput);
X2IR_MXNET(softsign).From("softsign").From("_npx_softsign");
X2IR_MXNET(dropout).From({"Dropout", "_npx_dropout"}, Dropout);
X2IR_MXNET(identity).From({"LinearRegressionOutput", "MAERegressionOutput", "SVMOutput", "MakeLoss",
                           "IdentityAttachKLSparseReg"},
                          RegressionOutput);
X2IR_MXNET(leaky_relu).From({"LeakyReLU", "_npx_leaky_relu"}, LeakyRelu);
X2IR_MXNET(log_softmax)
    .From({"log_softmax", "_npx_log_softmax"}, LogSoftmax)
    .From({"masked_log_softmax", "_npx_masked_log_softmax"}, MaskedSoftmax<true>)
    .From("softmax_cross_entropy", SoftmaxCrossEntropy);
X2IR_MXNET(softmax)
    .From({"softmax", "_npx_softmax"}, Softmax)
    .From({"masked_softmax", "_npx_masked_softmax"}, MaskedSoftmax<false>)
    .From({{"softmin", Softmin}, {"SoftmaxActivation", SoftmaxActivation}})
    .From({"SoftmaxOutput", "Softmax"}, SoftmaxOutput);

}  // namespace x2ir
