// Darknet: arithmetic, comparisons and casts.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// How much of each operand of a shortcut: [operands, 1 or channels], or null.
Expr ShortcutWeights(DarknetArgs& a) {
  a.Drop({"weights_type"});
  std::string norm = a.Text("weights_normalization", "none");
  const std::string before = a.Text("weights_normalizion", "none");  // as it once was spelled
  if (norm == "none") norm = before;
  if (a.num_weights() == 0) return nullptr;
  const Expr w = a.weights(0);
  if (norm == "none") return w;
  const bool softmax = norm == "softmax";
  a.Require(softmax || norm == "relu" || norm == "avg_relu",
            StrCat("weights_normalization=", norm));
  const Expr part = softmax ? Exp(w - Reduce(w, "reduce_max", {0}, true)) : w.Op("relu");
  return part / (Sum(part, 0, true) + 0.0001);
}

// alpha, which is pjreddie's, is of the channels that the other image has as well.
Expr ScaledWhereMet(DarknetArgs& a, const Expr& x, const Expr& other, double alpha) {
  const auto own = KnownSizes(x, 1, 2), its = KnownSizes(other, 1, 2);
  a.Require(own && its, "an unknown number of channels");
  if ((*its)[0] >= (*own)[0]) return x * alpha;
  const Size met((*its)[0]);
  return Concat(a, {Slice(x, 1, Size(0), met) * alpha, Slice(x, 1, met, Size((*own)[0]))}, 1);
}

// Channels that the other one has not count as 0; those that it has more are left out.
absl::StatusOr<Value*> Shortcut(DarknetArgs& a) {
  const Expr weights = ShortcutWeights(a);
  const double alpha = a.Number("alpha", 1), beta = a.Number("beta", 1);
  a.Drop({"from"});
  const auto weighted = [&](size_t i, const Expr& x) {
    if (!weights.value()) return x;
    return x * Reshape(Gather(weights, a.b().Int(static_cast<int64_t>(i)), 0), {1, -1, 1, 1});
  };
  const Expr x = a.image(0);
  const auto own = KnownSizes(x, 1, 4);
  Expr y = weighted(0, x);
  if (alpha != 1) y = ScaledWhereMet(a, y, a.image(a.num_values() - 1), alpha);
  for (size_t i = 1; i < a.num_values(); ++i) {
    Expr other = a.image(i);
    const auto its = KnownSizes(other, 1, 4);
    a.Require(own && its && (*own)[1] == (*its)[1] && (*own)[2] == (*its)[2],
              "a shortcut between images of two sizes, on which Darknet's forks differ");
    const int64_t more = (*own)[0] - (*its)[0];
    if (more < 0) other = Slice(other, 1, Size(0), Size((*own)[0]));
    if (more > 0) {
      other = a.Op("pad", {other, a.b().Ints({0, 0, 0, 0, 0, more, 0, 0}), other.Number(0)});
    }
    y = y + weighted(i, Scaled(other, beta));
  }
  return WithActivation(a, y, "linear");
}

absl::StatusOr<Value*> ScaleChannels(DarknetArgs& a) {
  a.Drop({"from", "scale_wh"});
  return WithActivation(a, a.image(1) * a.image(0), "linear");
}

absl::StatusOr<Value*> Sam(DarknetArgs& a) {
  a.Drop({"from"});
  return WithActivation(a, a.image(1) * a.image(0), "linear");
}

}  // namespace

X2IR_DARKNET(add).From("shortcut", Shortcut);
X2IR_DARKNET(mul).From({{"scale_channels", ScaleChannels}, {"sam", Sam}});
X2IR_DARKNET(identity)
    .From("dropout",
          [](DarknetArgs& a) -> absl::StatusOr<Value*> {
            a.Drop({"probability", "dropblock", "dropblock_size_rel", "dropblock_size_abs"});
            return a.Op("identity", {a.in(0)}).value();
          })
    .From("implicit",
          [](DarknetArgs& a) -> absl::StatusOr<Value*> {
            a.Drop({"filters", "atoms", "mean", "std"});
            return a.Op("identity", {a.weights(0)}).value();
          })
    .From("empty",
          [](DarknetArgs& a) -> absl::StatusOr<Value*> {
            return a.Op("identity", {a.in(0)}).value();
          })
    .From("activation", [](DarknetArgs& a) { return WithActivation(a, a.in(0), "linear"); });

}  // namespace x2ir
