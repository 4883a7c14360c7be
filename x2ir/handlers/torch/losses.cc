// Losses by element: what is lost, then its mean, its sum or neither.
#include "x2ir/handlers/torch/losses.h"

#include <cmath>
#include <numbers>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/special.h"

namespace x2ir {

Expr Reduced(const Expr& loss, int64_t reduction) {
  if (reduction == kNone) return loss;
  const Expr sum = SumAll(loss);
  if (reduction == kSum) return sum;
  return sum / loss.Op("size").To(loss.dtype());
}

namespace {

using std::numbers::pi;

// The operands in the result's type (float32 for halves); rows say what becomes of them.
struct Operands {
  TorchCall& c;
  DType t, computed;
  explicit Operands(TorchCall& call) : c(call), t(call.out_dtype()), computed(AtLeastFloat32(t)) {
    if (IsComplex(t)) c.Fail(Unimplemented("of complex numbers"));
  }
  Expr In(std::string_view name) { return c.Operand(name, computed); }
  Values Out(const Expr& loss) { return {Reduced(loss, c.Int("reduction", kMean)).To(t)}; }
};

Values MseLoss(TorchCall& c) {
  Operands of(c);
  return of.Out(Square(of.In("self") - of.In("target")));
}
Values L1Loss(TorchCall& c) {
  Operands of(c);
  return of.Out(Abs(of.In("self") - of.In("target")));
}
Values SmoothL1Loss(TorchCall& c) {
  Operands of(c);
  const double beta = c.Float("beta", 1);
  const Expr z = Abs(of.In("self") - of.In("target"));
  if (beta == 0) return of.Out(z);
  return of.Out(Where(z < beta, z * z * 0.5 / beta, z - 0.5 * beta));
}
Values HuberLoss(TorchCall& c) {
  Operands of(c);
  const double delta = c.Float("delta", 1);
  const Expr z = Abs(of.In("self") - of.In("target"));
  return of.Out(Where(z <= delta, z * z * 0.5, (z - 0.5 * delta) * delta));
}
Values SoftMarginLoss(TorchCall& c) {
  Operands of(c);
  return of.Out(Log1p(Exp(-of.In("target") * of.In("self"))));
}

Values BinaryCrossEntropy(TorchCall& c) {
  Operands of(c);
  const Expr x = of.In("self"), target = of.In("target");
  const auto log = [](const Expr& y) { return Where(y < -100, -100, y); };
  Expr loss = (target - 1) * log(Log1p(-x)) - target * log(Log(x));
  if (c.Has("weight")) loss = loss * of.In("weight");
  c.Ignore({"weight"});
  return of.Out(loss);
}
Values BinaryCrossEntropyWithLogits(TorchCall& c) {
  Operands of(c);
  const Expr x = of.In("self"), target = of.In("target");
  Expr log = LogSigmoid(x);
  if (c.Has("pos_weight")) log = log * ((of.In("pos_weight") - 1) * target + 1);
  Expr loss = (1 - target) * x - log;
  if (c.Has("weight")) loss = loss * of.In("weight");
  c.Ignore({"weight", "pos_weight"});
  return of.Out(loss);
}
Values KlDiv(TorchCall& c) {
  Operands of(c);
  const Expr x = of.In("self"), target = of.In("target");
  if (c.Bool("log_target", false)) return of.Out(Exp(target) * (target - x));
  return of.Out(XLogY(target, target) - target * x);
}
Values PoissonNllLoss(TorchCall& c) {
  Operands of(c);
  const Expr x = of.In("input"), target = of.In("target");
  const double eps = c.Float("eps", 1e-8);
  Expr loss = c.Bool("log_input") ? Exp(x) - target * x : x - target * Log(x + eps);
  if (c.Bool("full")) {
    const Expr stirling = target * Log(target) - target + 0.5 * Log(2 * pi * target);
    loss = loss + Where(target <= 1, 0, stirling);
  }
  return of.Out(loss);
}
Values HingeEmbeddingLoss(TorchCall& c) {
  Operands of(c);
  const double margin = c.Float("margin", 1);
  const Expr x = of.In("self"), target = of.In("target");
  const Expr below = Max(margin - x, 0);
  return of.Out(Where(target == 1, 0, below) + Where(target == -1, 0, x));
}
Values MarginRankingLoss(TorchCall& c) {
  Operands of(c);
  const double margin = c.Float("margin", 0);
  const Expr apart = of.In("input1") - of.In("input2");
  return of.Out(Max(-of.In("target") * apart + margin, 0));
}
Values CosineEmbeddingLoss(TorchCall& c) {
  Operands of(c);
  const double margin = c.Float("margin", 0), eps = 1e-12;
  const Expr a = of.In("input1"), b = of.In("input2"), target = of.In("target");
  const int64_t axis = target.rank() == 1 ? 1 : 0;
  const Expr product = Sum(a * b, axis);
  const Expr sizes = (Sum(a * a, axis) + eps) * (Sum(b * b, axis) + eps);
  const Expr cosine = product / Sqrt(sizes);
  return of.Out(Where(target == 1, 1 - cosine, 0 * cosine) +
                Where(target == -1, Max(cosine - margin, 0), 0 * cosine));
}
Values TripletMarginLoss(TorchCall& c) {
  Operands of(c);
  const double margin = c.Float("margin", 1), p = c.Float("p", 2), eps = c.Float("eps", 1e-6);
  const Expr anchor = of.In("anchor"), positive = of.In("positive"), negative = of.In("negative");
  const auto distance = [&](const Expr& a, const Expr& b) {
    const Expr apart = a - b + eps;
    return VectorNorm(apart, p, {apart.rank() - 1}, false);
  };
  Expr far = distance(anchor, negative);
  if (c.Bool("swap", false)) far = Min(far, distance(positive, negative));
  return of.Out(Max(margin + distance(anchor, positive) - far, 0));
}

// --- Of classes -------------------------------------------------------------------------------

// sum over the other classes j of max(0, margin - x[y] + x[j])^p, over the number of classes.
Values MultiMarginLoss(TorchCall& c) {
  Operands of(c);
  Expr x = of.In("self"), target = c.Operand("target", DType::kInt64);
  const bool batched = x.rank() > 1;
  if (x.rank() == 0) x = Unsqueeze(x, {0});
  if (!batched) x = Unsqueeze(x, {0});
  if (target.rank() == 0) target = Unsqueeze(target, {0});
  const double p = c.Number("p", 1).real(), margin = c.Number("margin", 1).real();
  const Expr index = Unsqueeze(target, {-1});
  Expr z = Max(margin - GatherElements(x, index, 1) + x, 0);
  if (p != 1) z = Pow(z, z.Number(p));
  if (c.Has("weight")) z = z * Unsqueeze(Gather(of.In("weight"), target, 0), {-1});
  c.Ignore({"weight"});
  z = Where(index == Iota(SizeOf(x, 1)), 0, z);
  Expr loss = Sum(z, 1) / SizeOf(x, 1).To(of.computed);
  const int64_t reduction = c.Int("reduction", kMean);
  if (!batched && reduction == kNone) loss = Squeeze(loss, {0});
  return of.Out(loss);
}

// Targets end with the first negative one.
Values MultilabelMarginLoss(TorchCall& c) {
  Operands of(c);
  Expr x = of.In("self"), target = c.Operand("target", DType::kInt64);
  const bool batched = x.rank() > 1;
  for (int64_t i = x.rank(); i < 2; ++i) x = Unsqueeze(x, {0});
  const int64_t target_rank = target.rank();
  for (int64_t i = target_rank; i < 2; ++i) target = Unsqueeze(target, {0});
  const Expr ended = CumSum((target < 0).To(DType::kInt64), 1) > 0;
  const Expr index = Where(ended, 0, target);
  const Expr classes = Iota(SizeOf(x, 1));
  const DType t = of.computed;
  const Expr hit = (Unsqueeze(index, {-1}) == classes).To(t) * Unsqueeze(Not(ended).To(t), {-1});
  const Expr is_target = Sum(hit, 1) > 0;
  const Expr own = Unsqueeze(GatherElements(x, index, 1), {-1});
  Expr z = Max(1 - own + Unsqueeze(x, {1}), 0);
  z = Where(Unsqueeze(ended, {-1}) | Unsqueeze(is_target, {1}), 0, z);
  Expr loss = Sum(Sum(z, 2), 1) / SizeOf(x, 1).To(t);
  if (!batched) loss = Squeeze(loss, {0});
  Values results = of.Out(loss);
  if (c.num_outputs() > 1) {
    Expr labels = is_target.To(c.out_dtype(1));
    for (int64_t r = 2; r > target_rank; --r) labels = Squeeze(labels, {0});
    results.push_back(labels.value());
  }
  return results;
}

X2IR_TORCH(mul)
    .From("aten::mse_loss.default", MseLoss)
    .From("aten::smooth_l1_loss.default", SmoothL1Loss)
    .From("aten::huber_loss.default", HuberLoss);
X2IR_TORCH(abs).From("aten::l1_loss.default", L1Loss);
X2IR_TORCH(log)
    .From("aten::soft_margin_loss.default", SoftMarginLoss)
    .From("aten::binary_cross_entropy.default", BinaryCrossEntropy)
    .From("aten::binary_cross_entropy_with_logits.default", BinaryCrossEntropyWithLogits)
    .From("aten::kl_div.default", KlDiv)
    .From("aten::poisson_nll_loss.default", PoissonNllLoss);
X2IR_TORCH(max)
    .From("aten::hinge_embedding_loss.default", HingeEmbeddingLoss)
    .From("aten::margin_ranking_loss.default", MarginRankingLoss)
    .From("aten::cosine_embedding_loss.default", CosineEmbeddingLoss)
    .From("aten::triplet_margin_loss.default", TripletMarginLoss)
    .From("aten::multi_margin_loss.default", MultiMarginLoss)
    .From({"aten::multilabel_margin_loss.default", "aten::multilabel_margin_loss_forward.default"},
          MultilabelMarginLoss);

}  // namespace
}  // namespace x2ir
