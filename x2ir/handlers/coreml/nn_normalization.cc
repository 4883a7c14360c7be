// Core ML: norms.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

Expr BatchNorm(NnArgs& a) {
  const int64_t channels = a.Int("channels");
  const bool computed = a.Flag("computeMeanVar"), instance = a.Flag("instanceNormalization");
  const auto epsilon = static_cast<float>(a.Number("epsilon", 1e-5));
  a.Require(channels > 0 && computed == instance, "statistics of a batch");
  const Expr gamma = a.NeedWeights("gamma", {channels}), beta = a.NeedWeights("beta", {channels});
  if (instance) {
    return OnImages(a, a.X(), [&](const Expr& x) {
      return x.Op("instance_normalization", {gamma, beta}, {{"epsilon", epsilon}});
    });
  }
  const Expr mean = a.NeedWeights("mean", {channels}),
             variance = a.NeedWeights("variance", {channels});
  return OnImages(a, a.X(), [&](const Expr& x) {
    return x.Op("batch_normalization", {gamma, beta, mean, variance}, {{"epsilon", epsilon}});
  });
}

Expr MeanVariance(NnArgs& a) {
  std::vector<int64_t> axes = {-2, -1};
  if (a.Flag("acrossChannels")) axes.insert(axes.begin(), -3);
  const bool scales = a.Flag("normalizeVariance");
  const double epsilon = a.Number("epsilon", 1e-6);
  const Expr x = a.X();
  return scales ? Standardized(x, axes, epsilon) : x - Reduce(x, "reduce_mean", axes, true);
}

Expr L2Norm(NnArgs& a) { return L2Normalized(a.X(), {-3, -2, -1}, a.Number("epsilon", 1e-6)); }

Expr LocalResponse(NnArgs& a) {
  AttributeMap attrs = {{"alpha", static_cast<float>(a.Number("alpha"))},
                        {"beta", static_cast<float>(a.Number("beta"))},
                        {"bias", static_cast<float>(a.Number("k", 1))},
                        {"size", a.Int("localSize")}};
  return OnImages(a, a.X(), [&](const Expr& x) { return x.Op("lrn", {}, attrs); });
}

Expr LayerNorm(NnArgs& a) {
  const std::vector<int64_t> dims = a.List("normalizedShape");
  const auto epsilon = static_cast<float>(a.Number("eps", 1e-5));
  const auto count = static_cast<int64_t>(dims.size());
  a.Require(!dims.empty(), "a norm of no axes");
  return a.X().Op("layer_normalization",
                  {a.NeedWeights("gamma", dims), a.NeedWeights("beta", dims)},
                  {{"axis", -count}, {"epsilon", epsilon}});
}

}  // namespace

X2IR_NN(batch_normalization).From({{"batchnorm", BatchNorm}, {"mvn", MeanVariance}});
X2IR_NN(layer_normalization).From("layerNormalization", LayerNorm);
X2IR_NN(lp_normalization).From("l2normalize", L2Norm);
X2IR_NN(lrn).From("lrn", LocalResponse);

}  // namespace x2ir
