// Core ML: activations.
#include "x2ir/handlers/coreml/activations.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

Expr Clipped(NnArgs& a) {
  const double low = a.Number("minVal"), high = a.Number("maxVal");
  return Min(Max(a.X(), low), high);
}

Expr Gelu(NnArgs& a) { return GeluOfMode(a, a.X(), a.Enum("mode", "EXACT")); }

Expr Clamped(NnArgs& a) {
  const double alpha = a.Number("alpha"), beta = a.Number("beta");
  return ClampedRelu(a.X(), alpha, beta);
}

Expr SoftmaxOfChannels(NnArgs& a) { return a.X().Op("softmax", {}, {{"axis", -3}}); }

Expr SoftmaxNd(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return a.X().Op("softmax", {}, {{"axis", axis}});
}

}  // namespace

X2IR_NN(clip).From({{"clip", Clipped}, {"clampedReLU", Clamped}});
X2IR_NN(gelu).From("gelu", Gelu);
X2IR_NN(softmax).From({{"softmax", SoftmaxOfChannels}, {"softmaxND", SoftmaxNd}});

}  // namespace x2ir
