// Darknet: activations.
#include "x2ir/builder/layers/activation.h"

#include <cstdlib>

#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// Darknet's stairs: whole steps at even numbers, slopes at odd ones.
Expr Stair(const Expr& x) {
  const Expr n = Floor(x), half = Floor(x / 2);
  return Where(n == half * 2.0, half, (x - n) + half);
}

// AlexeyAB's: among the channels of a pixel.
Expr NormedChannels(const Expr& x) {
  const Expr above = x.Op("relu");
  return above / (Sum(above, 1, true) + 0.0001);
}

Expr ChannelChances(const Expr& x) {
  const Expr powers = Exp(x);
  return powers / (Sum(powers, 1, true) + 0.0001);
}

Expr Leaky(const Expr& x) { return activation::LeakyRelu(x, 0.1f); }

constexpr NamedActivation kOwn[] = {
    {"linear", ""},
    {"logistic", "sigmoid"},
    {"loggy", "", [](const Expr& x) { return Sigmoid(x) * 2.0 - 1.0; }},
    {"selu", "",
     [](const Expr& x) {
       return x.Op("selu", {}, {{"alpha", 1.6732f}, {"gamma", 1.0507f}});
     }},
    {"relie", "", [](const Expr& x) { return activation::LeakyRelu(x, 0.01f); }},
    {"ramp", "", [](const Expr& x) { return x.Op("relu") + x * 0.1; }},
    {"leaky", "", Leaky},
    {"revleaky", "", Leaky},
    {"gelu", "",
     [](const Expr& x) {
       return x * 0.5 * ((x * 0.797885 + x * x * x * 0.035677).Op("tanh") + 1.0);
     }},
    {"normalize_channels", "", NormedChannels},
    {"normalize_channels_softmax", "", ChannelChances},
    {"normalize_channels_softmax_maxval", "",
     [](const Expr& x) { return ChannelChances(x - Reduce(x, "reduce_max", {1}, true)); }},
    {"hardtan", "", activation::HardTanh},
    {"lhtan", "",
     [](const Expr& x) {
       return Where(x < 0.0, x * 0.001, Where(x > 1.0, (x - 1.0) * 0.001 + 1.0, x));
     }},
    {"plse", "",
     [](const Expr& x) {
       return Where(x < -4.0, (x + 4.0) * 0.01,
                    Where(x > 4.0, (x - 4.0) * 0.01 + 1.0, x * 0.125 + 0.5));
     }},
    {"stair", "", Stair},
    {"swish", "", activation::Silu},
    {"hard_mish", "",
     [](const Expr& x) { return Where(x > 0.0, x, Where(x > -2.0, x * x / 2.0 + x, x * 0.0)); }},
};

absl::StatusOr<Value*> SoftmaxSection(DarknetArgs& a) {
  const Expr x = a.in(0);
  const int64_t groups = a.Integer("groups", 1);
  const double temperature = a.Number("temperature", 1);
  a.Require(a.Text("tree", "").empty(), "a tree of classes");
  a.Drop({"noloss"});
  if (a.Flag("spatial", false)) {
    return Scaled(a.image(), 1 / temperature).Op("softmax", {}, {{"axis", 1}}).value();
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const auto sizes = KnownSizes(x, 1, rank);
  a.Require(sizes.has_value(), "an operand of unknown size");
  const int64_t count = *CheckedProduct(*sizes);
  if (groups < 1 || count % groups != 0) return Invalid(count, " numbers in ", groups, " groups");
  const Expr rows =
      ReshapeTo(Scaled(x, 1 / temperature), {SizeAt(x, 0), Size(groups), Size(count / groups)});
  return ReshapeTo(rows.Op("softmax", {}, {{"axis", 2}}), AllSizes(x)).value();
}

}  // namespace

absl::StatusOr<Expr> ActivatedBy(std::string_view name, const Expr& x) {
  if (const std::optional<Expr> y = Activated("relu relu6 elu tanh mish", kOwn, name, x)) return *y;
  return Unimplemented("activation=", name);
}
absl::StatusOr<Expr> Activated(DarknetArgs& a, const Expr& x, std::string_view fallback) {
  return ActivatedBy(a.Text("activation", fallback), x);
}
X2IR_DARKNET(softmax).From("softmax", SoftmaxSection);
X2IR_DARKNET(sigmoid).From("logistic", [](DarknetArgs& a) -> absl::StatusOr<Value*> {
  return a.Op("sigmoid", {a.in(0)}).value();
});

}  // namespace x2ir
