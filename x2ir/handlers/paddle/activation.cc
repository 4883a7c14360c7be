// Activations, and what dropout and softmax are at inference.
#include "x2ir/handlers/paddle/activation.h"

#include "x2ir/builder/complex.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// scale * min(max(x + offset, 0), threshold) x.
Expr HardSwish(PaddleArgs& a) {
  const Expr x = a.X();
  const double threshold = a.Number("threshold", 6), scale = a.Number("scale", 6),
               offset = a.Number("offset", 3);
  if (threshold == 6 && scale == 6 && offset == 3) return x.Op("hard_swish");
  return x * Clip(x + offset, x.Number(0), x.Number(threshold)) / scale;
}

Expr Swish(PaddleArgs& a) {
  const Expr x = a.X();
  return x.Op("swish", {}, {{"alpha", static_cast<float>(a.Number("beta", 1))}});
}

// log(1 + exp(beta x)) / beta, and x itself above the threshold.
Expr Softplus(PaddleArgs& a) {
  const Expr x = a.X();
  const double beta = a.Number("beta", 1), threshold = a.Number("threshold", 20);
  const Expr scaled = Scaled(x, beta);
  return Where(scaled > threshold, x, Scaled(scaled.Op("softplus"), 1 / beta));
}

// 0 near 0; all else moves there by `bias`.
auto Shrink(const char* attr, bool moves) {
  return [=](PaddleArgs& a) {
    const auto lambda = static_cast<float>(a.Number(attr, 0.5));
    return a.X().Op("shrink", {}, {{"lambd", lambda}, {"bias", moves ? lambda : 0.0f}});
  };
}

Expr ThresholdedRelu(PaddleArgs& a) {
  const Expr x = a.X();
  const double value = a.Number("value", 0);
  const double threshold = a.Number("threshold", 1);
  if (value == 0) return x.Op("thresholded_relu", {}, {{"alpha", static_cast<float>(threshold)}});
  return Where(x > threshold, x, value);
}

Expr Bounded(PaddleArgs& a, double low, double high) {
  const Expr x = a.X();
  return x.Op("clip", {x.Number(low), x.Number(high)});
}

Expr Relu6(PaddleArgs& a) { return Bounded(a, 0, a.Number("threshold", 6)); }

Expr BoundedRelu(PaddleArgs& a) {
  const double low = a.Number("t_min", 0), high = a.Number("t_max", 24);
  return Bounded(a, low, high);
}

Expr SoftRelu(PaddleArgs& a) {
  const Expr x = a.X();
  const double t = a.Number("threshold", 40);
  return Log1p(Exp(Clip(x, x.Number(-t), x.Number(t))));
}

Expr Stanh(PaddleArgs& a) {
  const double inner = a.Number("scale_a", 0.67), outer = a.Number("scale_b", 1.7159);
  return Scaled(Scaled(a.X(), inner).Op("tanh"), outer);
}

// Before version 1 of the operator the two tests were added: where both hold, x counts twice.
Expr HardShrink(PaddleArgs& a) {
  const double threshold = a.Number("threshold", 0.5);
  if (a.Version() >= 1 || threshold >= 0) return Shrink("threshold", false)(a);
  const Expr x = a.X();
  return x * ((x < -threshold).To(x.dtype()) + (x > threshold).To(x.dtype()));
}

// Before version 1 it was the greater one of x and alpha x, whatever alpha is.
Expr LeakyRelu(PaddleArgs& a) {
  const Expr x = a.X();
  const double alpha = a.Number("alpha", 0.02);
  if (a.Version() < 1 && (alpha < 0 || alpha > 1)) return Max(x, x * alpha);
  return activation::LeakyRelu(x, static_cast<float>(alpha));
}

// A slope between two bounds that is drawn in training is their mean.
PaddleResults RandomizedRelu(PaddleArgs& a) {
  const double lower = a.Number("lower", 1.0 / 8), upper = a.Number("upper", 1.0 / 3);
  a.Require(a.Bool("is_test", false), "random slopes");
  const auto slope = static_cast<float>((lower + upper) / 2);
  return {{"Out", {activation::LeakyRelu(a.X(), slope)}}};
}

Expr TanhShrink(PaddleArgs& a) { return activation::TanhShrink(a.X()); }

Expr Mish(PaddleArgs& a) {
  a.Number("threshold", 20);  // above which softplus is x, to the last digit
  return a.X().Op("mish");
}

Expr Elu(PaddleArgs& a) {
  return a.X().Op("elu", {}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
}

Expr Celu(PaddleArgs& a) {
  return a.X().Op("celu", {}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
}

Expr Selu(PaddleArgs& a) {
  const auto gamma = static_cast<float>(a.Number("scale", 1.0507009873554805));
  const auto alpha = static_cast<float>(a.Number("alpha", 1.6732632423543772));
  return a.X().Op("selu", {}, {{"alpha", alpha}, {"gamma", gamma}});
}

Expr Prelu(PaddleArgs& a) {
  const Expr x = a.X();
  Expr alpha = a.X("Alpha");
  const std::string mode = a.String("mode", "all");
  const bool last = a.String("data_format", "NCHW").ends_with("C");
  const int64_t rank = a.Rank(x);
  if (mode == "all") {
    alpha = Reshape(alpha, {});
  } else if (mode == "channel") {
    alpha = Flat(alpha);
    if (!last && rank > 2) alpha = Unsqueeze(alpha, CountedFrom(1, rank - 2));
  } else {
    a.Require(mode == "element", "a mode of that name");
    // One number for each element of an image. With as many axes as x it is a batch of one.
    if (a.Rank(alpha) != rank) alpha = ReshapeTo(alpha, SizesAt(x, 1, rank));
  }
  return x.Op("prelu", {alpha});
}

Expr Softmax(PaddleArgs& a, const char* op) {
  const Expr x = a.X();
  const int64_t axis = a.Int("axis", -1);
  a.String("data_format", "");
  if (a.Rank(x) == 0) return op == std::string_view("softmax") ? Exp(x - x) : x - x;
  return x.Op(op, {}, {{"axis", a.Axis(axis, x)}});
}

Expr MaxOut(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t groups = a.Int("groups", 1);
  const int64_t axis = a.Axis(a.Int("axis", 1), x);
  std::vector<Size> sizes = AllSizes(x);
  const Size channels = Divided(a, sizes[static_cast<size_t>(axis)], groups);
  sizes[static_cast<size_t>(axis)] = channels;
  sizes.insert(sizes.begin() + axis + 1, Size(groups));
  return Reduce(ReshapeTo(x, sizes), "reduce_max", {axis + 1});
}

Expr ClipTo(PaddleArgs& a) {
  const Expr x = a.X();
  const Expr low = a.Scalar("min", {"Min"}, 0, x.dtype());
  const Expr high = a.Scalar("max", {"Max"}, 0, x.dtype());
  if (IsFloating(x.dtype())) return x.Op("clip", {low, high});
  return Clip(x, low, high);
}

}  // namespace

Expr Activated(PaddleArgs& a, const Expr& x, std::string_view name, double alpha, double beta) {
  if (name.empty() || name == "identity" || name == "linear") return x;
  static constexpr NamedActivation kOwn[] = {{"hardswish", "hard_swish"}, {"gelu_erf", "gelu"}};
  static constexpr std::string_view kCommon =
      "relu sigmoid tanh abs sqrt mish elu exp hard_swish gelu gelu_tanh";
  if (const std::optional<Expr> y = Activated(kCommon, kOwn, name, x)) return *y;
  if (name == "leaky_relu") return activation::LeakyRelu(x, static_cast<float>(alpha));
  if (name == "clip" || name == "bounded_relu" || name == "relu6") {
    const bool is_six = name == "relu6" && alpha == 0 && beta == 0;
    return x.Op("clip", {x.Number(name == "clip" ? alpha : 0), x.Number(is_six           ? 6
                                                                        : name == "clip" ? beta
                                                                                         : alpha)});
  }
  if (name == "swish" || name == "silu") {
    const double factor = name == "silu" || alpha == 0 ? 1 : alpha;
    return x.Op("swish", {}, {{"alpha", static_cast<float>(factor)}});
  }
  if (name == "hard_sigmoid" || name == "hardsigmoid") {
    const bool given = alpha != 0;
    return x.Op("hard_sigmoid", {},
                {{"alpha", static_cast<float>(given ? alpha : 0.2)},
                 {"beta", static_cast<float>(given ? beta : 0.5)}});
  }
  if (name == "scale") return x * alpha + beta;
  a.Fail(Unimplemented("an activation '", name, "' inside of it"));
  return x;
}

Expr FusedActivation(PaddleArgs& a, const Expr& x) {
  const double alpha = a.Number("fuse_alpha", 0), beta = a.Number("fuse_beta", 0);
  std::string name = a.String("fuse_activation", "");
  if (a.Bool("fuse_relu", false) && name.empty()) name = "relu";
  if (a.Bool("fuse_brelu", false)) {
    return x.Op("clip", {x.Number(0), x.Number(a.Number("fuse_brelu_threshold", 6))});
  }
  return Activated(a, x, name, alpha, beta);
}

X2IR_PADDLE(relu).From("relu").From("maxout", MaxOut);
X2IR_PADDLE(sigmoid).From("sigmoid").From("logsigmoid",
                                          [](PaddleArgs& a) { return LogSigmoid(a.X()); });
X2IR_PADDLE(softsign).From("softsign");
X2IR_PADDLE(leaky_relu).From({{"leaky_relu", LeakyRelu}, {"rrelu", RandomizedRelu}});
X2IR_PADDLE(elu).From("elu", Elu);
X2IR_PADDLE(celu).From("celu", Celu);
X2IR_PADDLE(selu).From("selu", Selu);
X2IR_PADDLE(hard_sigmoid)
    .From("hard_sigmoid", {{"alpha", "slope", 0.2}, {"beta", "offset", 0.5}})
    .From({{"stanh", Stanh}, {"tanh_shrink", TanhShrink}});
X2IR_PADDLE(hard_swish).From("hard_swish", HardSwish);
X2IR_PADDLE(swish).From("swish", Swish).From("silu");
X2IR_PADDLE(softplus).From({{"softplus", Softplus}, {"soft_relu", SoftRelu}});
X2IR_PADDLE(shrink).From({{"softshrink", Shrink("lambda", true)}, {"hard_shrink", HardShrink}});
X2IR_PADDLE(thresholded_relu).From("thresholded_relu", ThresholdedRelu);
X2IR_PADDLE(clip).From({{"relu6", Relu6}, {"brelu", BoundedRelu}, {"clip", ClipTo}});
X2IR_PADDLE(mish).From("mish", Mish);
X2IR_PADDLE(gelu).From("gelu", [](PaddleArgs& a) {
  return a.X().Op("gelu", {}, {{"approximate", a.Bool("approximate", false) ? "tanh" : "none"}});
});
X2IR_PADDLE(prelu).From("prelu", Prelu);
X2IR_PADDLE(softmax).From("softmax", [](PaddleArgs& a) { return Softmax(a, "softmax"); });
X2IR_PADDLE(log_softmax).From("log_softmax", [](PaddleArgs& a) {
  return Softmax(a, "log_softmax");
});

}  // namespace x2ir
