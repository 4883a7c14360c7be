// OneFlow: losses of each element or sample.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

constexpr int64_t kEach = 0, kMean = 1;  // reductions, as PyTorch numbers them

Value* BinaryCrossEntropy(OneflowArgs& a) {
  return AsTorch(a, "aten::binary_cross_entropy.default",
                 {{"self", a.in(0)},
                  {"target", a.in(1)},
                  {"weight", a.has(2) ? a.in(2).value() : nullptr},
                  {"reduction", kEach}})[0];
}
Value* WithLogits(OneflowArgs& a) {
  a.Ignore("has_pos_weight");
  return AsTorch(a, "aten::binary_cross_entropy_with_logits.default",
                 {{"self", a.in(0)},
                  {"target", a.in(1)},
                  {"weight", a.has(2) ? a.in(2).value() : nullptr},
                  {"pos_weight", a.has(3) ? a.in(3).value() : nullptr},
                  {"reduction", kEach}})[0];
}
Value* WithLogitsMean(OneflowArgs& a) {
  return AsTorch(a, "aten::binary_cross_entropy_with_logits.default",
                 {{"self", a.in(0)}, {"target", a.in(1)}, {"reduction", kMean}})[0];
}
Value* SigmoidCrossEntropy(OneflowArgs& a) {
  return AsTorch(a, "aten::binary_cross_entropy_with_logits.default",
                 {{"self", a.in(0)}, {"target", a.in(1).To(a.dtype())}, {"reduction", kEach}})[0];
}
Value* SmoothL1(OneflowArgs& a) {
  const double beta = a.Number("beta");
  return AsTorch(a, "aten::smooth_l1_loss.default",
                 {{"self", a.in(0)}, {"target", a.in(1)}, {"reduction", kEach}, {"beta", beta}})[0];
}
Value* KlDiv(OneflowArgs& a) {
  const bool log_target = a.Bool("log_target");
  return AsTorch(a, "aten::kl_div.default",
                 {{"self", a.in(0)},
                  {"target", a.in(1)},
                  {"reduction", kEach},
                  {"log_target", log_target}})[0];
}

// The element of the last axis that each label says.
Expr AtLabels(OneflowArgs& a, const Expr& x) {
  const Expr places = Unsqueeze(a.AsInt64(a.in(1)), {-1});
  return Squeeze(GatherElements(x, places, x.rank() - 1), {-1});
}
Value* SparseCrossEntropy(OneflowArgs& a) {
  a.Ignore("depth");
  return -Log(AtLabels(a, a.in(0)));
}
// The probabilities, and the loss.
Values SparseSoftmaxCrossEntropy(OneflowArgs& a) {
  a.Ignore("depth");
  const Expr prob = a.Op("softmax", {a.in(0)}), logs = a.Op("log_softmax", {a.in(0)});
  return {prob, -AtLabels(a, logs)};
}
Values SoftmaxCrossEntropy(OneflowArgs& a) {
  const Expr prob = a.Op("softmax", {a.in(0)}), logs = a.Op("log_softmax", {a.in(0)});
  return {prob, -Sum(logs * a.in(1), -1)};
}
// Classes are last; what is left out has no weight.
Values FromNll(OneflowArgs& a) {
  const Expr x = a.in(0), labels = a.AsInt64(a.in(1));
  const Expr counts = Not(labels == static_cast<double>(a.Int("ignore_index")));
  const Expr safe = Where(counts, labels, 0.0);
  Expr weight = counts.To(x.dtype());
  if (a.has(2)) weight = weight * Gather(a.in(2), safe, 0);
  const Expr picked = Squeeze(GatherElements(x, Unsqueeze(safe, {-1}), x.rank() - 1), {-1});
  return {Where(counts, -picked * weight, 0.0), weight};
}

}  // namespace

X2IR_ONEFLOW(neg).From({{"binary_cross_entropy", BinaryCrossEntropy},
                        {"sparse_cross_entropy", SparseCrossEntropy},
                        {"sparse_cross_entropy_ms", SparseCrossEntropy}});
X2IR_ONEFLOW(sigmoid).From({{"binary_cross_entropy_with_logits", WithLogits},
                            {"binary_cross_entropy_with_logits_reduce_mean", WithLogitsMean},
                            {"sigmoid_cross_entropy", SigmoidCrossEntropy}});
X2IR_ONEFLOW(sub).From({{"smooth_l1_loss", SmoothL1}, {"kl_div_loss", KlDiv}});
X2IR_ONEFLOW(log_softmax)
    .From({{"sparse_softmax_cross_entropy", SparseSoftmaxCrossEntropy},
           {"sparse_softmax_cross_entropy_ms", SparseSoftmaxCrossEntropy},
           {"softmax_cross_entropy", SoftmaxCrossEntropy}});
X2IR_ONEFLOW(gather_elements).From("nll", FromNll);

}  // namespace x2ir
