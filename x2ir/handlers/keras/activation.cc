#include "x2ir/handlers/keras/activation.h"

#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

Expr Softmax(const Expr& x, int64_t axis) { return x.Op("softmax", {}, {{"axis", axis}}); }

// f(x) = max_value for x >= max_value, x for threshold <= x < max_value, else
// negative_slope (x - threshold).
Expr ReluWith(const Expr& x, double slope, double most, double threshold) {
  const bool bounded = std::isfinite(most);
  if (threshold == 0) {
    Expr y = slope == 0 ? x.Op("relu") : activation::LeakyRelu(x, static_cast<float>(slope));
    return bounded ? Min(y, x.Number(most)) : y;
  }
  const Expr top = bounded ? Min(x, x.Number(most)) : x;
  const Expr low = slope == 0 ? x.Number(0) : (x - threshold) * slope;
  return Where(x >= x.Number(threshold), top, low);
}

using activation::Relu6;

constexpr std::string_view kCommon =
    "relu relu6 sigmoid tanh log_softmax softplus softsign elu selu celu gelu mish log_sigmoid "
    "tanh_shrink hard_tanh";

constexpr NamedActivation kOwn[] = {
    {"linear", ""},
    {"softmax", "", [](const Expr& x) { return Softmax(x, -1); }},
    {"exponential", "exp"},
    {"hard_silu", "", [](const Expr& x) { return x * (Relu6(x + 3.0) / 6.0); }},
    {"hard_swish", "", [](const Expr& x) { return x * (Relu6(x + 3.0) / 6.0); }},
    {"swish", "", activation::Silu},
    {"silu", "", activation::Silu},
    {"leaky_relu", "", [](const Expr& x) { return activation::LeakyRelu(x, 0.2f); }},
    {"hard_shrink", "", [](const Expr& x) { return Where(Abs(x) > x.Number(0.5), x, 0.0); }},
    {"soft_shrink", "", [](const Expr& x) { return Sign(x) * Max(Abs(x) - 0.5, x.Number(0)); }},
    {"squareplus", "", [](const Expr& x) { return (x + Sqrt(Square(x) + 4.0)) / 2.0; }},
    {"sparse_plus", "",
     [](const Expr& x) {
       const Expr middle = Square(x + 1.0) / 4.0;
       return Where(x <= x.Number(-1), x.Number(0), Where(x < x.Number(1), middle, x));
     }},
};

// --- Layers --------------------------------------------------------------------------------------

Value* Activation(KerasArgs& a) { return ActivatedBy(a, "activation", a.tensor()); }

Value* Relu(KerasArgs& a) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double most = a.Number("max_value", infinity);
  return ReluWith(a.tensor(), a.Number("negative_slope", 0), most, a.Number("threshold", 0));
}

// The slope is called alpha until Keras 2.
Value* LeakyRelu(KerasArgs& a) {
  const double slope =
      a.Given("negative_slope") ? a.Number("negative_slope", 0.3) : a.Number("alpha", 0.3);
  a.Ignore("alpha");
  return activation::LeakyRelu(a.tensor(), static_cast<float>(slope));
}

Value* Elu(KerasArgs& a) {
  return a.tensor().Op("elu", {}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
}

Value* ThresholdedRelu(KerasArgs& a) {
  return a.tensor().Op("thresholded_relu", {},
                       {{"alpha", static_cast<float>(a.Number("theta", 1))}});
}

// Slopes of the last axes of x.
Value* Prelu(KerasArgs& a) {
  a.Ignore("shared_axes");
  const Expr slope = a.Weights({"alpha"})[0];
  return a.tensor().Op("prelu", {slope});
}

// Elements whose mask is false count for nothing.
Value* SoftmaxLayer(KerasArgs& a) {
  Expr x = a.tensor();
  std::vector<Expr> masks = a.named("mask");
  if (masks.empty() && a.has_mask()) masks = {a.mask()};
  std::vector<int64_t> axes = a.Integers("axis");
  if (axes.empty()) axes = {-1};
  if (!masks.empty()) {
    const double large = x.dtype() == DType::kFloat16 ? -65504.0 : -1e9;
    const Expr closed = (1.0 - masks[0].To(x.dtype())) * (large);
    x = x + closed;
  }
  if (axes.size() == 1) return Softmax(x, axes[0]);
  // exp(x - logsumexp(x)).
  const Expr top = Reduce(x, "reduce_max", axes, true);
  const Expr y = Exp(x - top);
  return y / Reduce(y, "reduce_sum", axes, true);
}

}  // namespace

Expr HardSigmoid(KerasArgs& a, const Expr& x) {
  if (a.version() >= 3) return Relu6(x + 3.0) / 6.0;
  return x.Op("hard_sigmoid", {}, {{"alpha", 0.2f}, {"beta", 0.5f}});
}

namespace {

// A function of one's own, registered in a package: "mine>relu".
std::string OwnActivation(const Json& activation) {
  const std::string& registered = activation["registered_name"].text();
  const bool own = registered.find('>') != registered.npos && !registered.starts_with("keras>") &&
                   !registered.starts_with("Keras>");
  return own ? registered : std::string();
}

Value* Unchanged(KerasArgs& a) {
  a.IgnoreConfiguration();
  return a.in(0);
}

}  // namespace

Expr Activated(KerasArgs& a, const Json& activation, const Expr& x) {
  const std::string own = OwnActivation(activation);
  a.Require(own.empty(), StrCat("activation '", own, "'"));
  std::string name = activation.text();
  if (activation.is_object()) {
    name = activation["class_name"].text();
    const Json& config = activation["config"];
    // A function by its name, as Keras 3 and tf.keras wrap it.
    if (config.is_string()) name = config.text();
    const double infinity = std::numeric_limits<double>::infinity();
    if (name == "ReLU") {
      return ReluWith(x, config["negative_slope"].Number(0), config["max_value"].Number(infinity),
                      config["threshold"].Number(0));
    }
    if (name == "LeakyReLU") {
      const double slope = config["negative_slope"].Number(config["alpha"].Number(0.3));
      return ReluWith(x, slope, infinity, 0);
    }
    if (name == "ELU") {
      return x.Op("elu", {}, {{"alpha", static_cast<float>(config["alpha"].Number(1))}});
    }
    if (name == "Softmax" && config["axis"].is_number()) return Softmax(x, config["axis"].Int(-1));
    if (name == "Softmax") return Softmax(x, -1);
  }
  if (name.empty()) return x;
  if (name == "hard_sigmoid") return HardSigmoid(a, x);
  const std::optional<Expr> y = Activated(kCommon, kOwn, name, x);
  a.Require(y.has_value(), StrCat("activation '", name, "'"));
  return *y;
}

Expr ActivatedBy(KerasArgs& a, Symbol name, const Expr& x, std::string_view fallback) {
  if (!a.Given(name)) return Activated(a, Json(std::string(fallback)), x);
  return Activated(a, a.Nested(name), x);
}

std::optional<RecurrentActivation> GateActivationOf(KerasArgs& a, const Json& activation) {
  if (!OwnActivation(activation).empty()) return std::nullopt;  // refused where it is applied
  const std::string name = activation.is_object() && activation["config"].is_string()
                               ? activation["config"].text()
                               : activation.text();
  if (name == "linear" || (name.empty() && !activation.is_object())) {
    return RecurrentActivation{"Affine", 1.0f, 0.0f};
  }
  if (name == "tanh") return RecurrentActivation{"Tanh"};
  if (name == "sigmoid") return RecurrentActivation{"Sigmoid"};
  if (name == "relu") return RecurrentActivation{"Relu"};
  if (name == "softsign") return RecurrentActivation{"Softsign"};
  if (name == "softplus") return RecurrentActivation{"Softplus"};
  if (name == "hard_sigmoid") {
    return RecurrentActivation{"HardSigmoid", a.version() >= 3 ? 1.0f / 6 : 0.2f, 0.5f};
  }
  return std::nullopt;
}

X2IR_KERAS(identity).From("Activation", Activation);
X2IR_KERAS(relu).From("ReLU", Relu);
X2IR_KERAS(leaky_relu).From("LeakyReLU", LeakyRelu);
X2IR_KERAS(elu).From("ELU", Elu);
X2IR_KERAS(thresholded_relu).From("ThresholdedReLU", ThresholdedRelu);
X2IR_KERAS(prelu).From("PReLU", Prelu);
X2IR_KERAS(softmax).From("Softmax", SoftmaxLayer);
// Random images are so in training alone.
X2IR_KERAS(identity).From({"ActivityRegularization",
                           "AlphaDropout",
                           "AugMix",
                           "CutMix",
                           "Dropout",
                           "GaussianDropout",
                           "GaussianNoise",
                           "Identity",
                           "MixUp",
                           "RandAugment",
                           "RandomBrightness",
                           "RandomColorDegeneration",
                           "RandomColorJitter",
                           "RandomContrast",
                           "RandomElasticTransform",
                           "RandomErasing",
                           "RandomFlip",
                           "RandomGaussianBlur",
                           "RandomGrayscale",
                           "RandomHeight",
                           "RandomHue",
                           "RandomInvert",
                           "RandomPerspective",
                           "RandomPosterization",
                           "RandomRotation",
                           "RandomSaturation",
                           "RandomSharpness",
                           "RandomShear",
                           "RandomTranslation",
                           "RandomWidth",
                           "RandomZoom",
                           "SpatialDropout1D",
                           "SpatialDropout2D",
                           "SpatialDropout3D",
                           "StochasticDepth"},
                          Unchanged);

}  // namespace x2ir
