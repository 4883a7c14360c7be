// Losses whose targets are classes: the negative log-likelihood, cross entropy, connectionist
// temporal classification.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/losses.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

struct Nll {
  Expr loss, total_weight;
};

// Classes are axis 1 of log-probabilities (0 without a batch). weight, of each class, is optional.
Nll NllOf(const Expr& log_p, const Expr& target, const std::optional<Expr>& weight,
          int64_t reduction, int64_t ignore_index) {
  const int64_t axis = log_p.rank() == 1 ? 0 : 1;
  const Expr ignored = target == Int(target.builder(), ignore_index);
  const Expr index = Where(ignored, 0, target);
  const Expr picked = Squeeze(GatherElements(log_p, Unsqueeze(index, {axis}), axis), {axis});
  const Expr w = weight ? Gather(*weight, index, 0) : picked.Number(1);
  const Expr loss = Where(ignored, 0, -picked * w);
  const Expr total = SumAll(Where(ignored, 0, w));
  if (reduction == kNone) return {loss, picked.Number(0)};
  const Expr sum = SumAll(loss);
  return {reduction == kSum ? sum : sum / total, total};
}

std::optional<Expr> WeightOf(TorchCall& c, DType t) {
  Value* weight = c.OptTensor("weight");
  if (!weight) return std::nullopt;
  return c.Cast(weight, t);
}

Values NllLoss(TorchCall& c) {
  const DType t = c.out_dtype(), computed = AtLeastFloat32(t);
  const Expr x = c.Operand("self", computed), target = c.Operand("target", DType::kInt64);
  const std::optional<Expr> weight = WeightOf(c, computed);
  const int64_t reduction = c.Int("reduction", kMean);
  const Nll nll = NllOf(x, target, weight, reduction, c.Int("ignore_index", -100));
  Values results = {nll.loss.To(t)};
  if (c.num_outputs() > 1) results.push_back(nll.total_weight.To(t));
  return results;
}

// Of classes, or of their probabilities where the target is of floats. Smoothing takes a share from
// the target and gives it to all classes.
Expr CrossEntropyOf(TorchCall& c, const Expr& x, Value* target_value,
                    const std::optional<Expr>& weight, int64_t reduction, int64_t ignore_index,
                    double smoothing) {
  Builder& b = x.builder();
  const int64_t axis = x.rank() == 1 ? 0 : 1;
  if (x.rank() == 0) c.Fail(Invalid("cross entropy of a number"));
  const Expr log_p = x.Op("log_softmax", {}, {{"axis", axis}});
  const Expr classes = SizeOf(x, axis).To(x.dtype());
  // Weights along the axis of classes.
  const auto weighted = [&](const Expr& y) {
    if (!weight) return y;
    Expr w = *weight;
    for (int64_t i = axis + 1; i < x.rank(); ++i) w = Unsqueeze(w, {-1});
    return y * w;
  };
  if (IsFloating(target_value->dtype())) {
    Expr target = Expr(b, c.Cast(target_value, x.dtype()));
    if (smoothing > 0) target = target * (1 - smoothing) + smoothing / classes;
    const Expr loss = -Sum(weighted(log_p * target), axis);
    if (reduction != kMean) return Reduced(loss, reduction);
    const Expr count = x.Op("size").To(x.dtype()) / classes;
    return SumAll(loss) / count;
  }
  const Expr target = Expr(b, c.Cast(target_value, DType::kInt64));
  const Expr nll = NllOf(log_p, target, weight, reduction, ignore_index).loss;
  if (smoothing == 0) return nll;
  const Expr ignored = target == Int(target.builder(), ignore_index);
  Expr smooth = Where(ignored, 0, -Sum(weighted(log_p), axis));
  if (reduction != kNone) smooth = SumAll(smooth);
  if (reduction == kMean) {
    const Expr index = Where(ignored, 0, target);
    const Expr w = weight ? Gather(*weight, index, 0) : smooth.Number(1);
    smooth = smooth / SumAll(Where(ignored, 0, w));
  }
  return (1 - smoothing) * nll + smooth * (smoothing / classes);
}

Values CrossEntropyLoss(TorchCall& c) {
  const DType t = c.out_dtype(), computed = AtLeastFloat32(t);
  const Expr x = c.Operand("self", computed);
  const std::optional<Expr> weight = WeightOf(c, computed);
  const int64_t reduction = c.Int("reduction", kMean), ignored = c.Int("ignore_index", -100);
  const double smoothing = c.Float("label_smoothing", 0);
  return {CrossEntropyOf(c, x, c.Tensor("target"), weight, reduction, ignored, smoothing).To(t)};
}

// linear, then cross entropy, which PyTorch computes in chunks to save memory. The gradients that
// it computes in between are not supported.
Values LinearCrossEntropy(TorchCall& c, bool reduces) {
  const DType t = c.out_dtype(), computed = AtLeastFloat32(t);
  const Expr x = c.Operand("input", computed);
  Expr logits = MatMul(x, SwapLast(c.Operand("linear_weight", computed)));
  if (Value* bias = c.OptTensor("linear_bias")) logits = logits + c.Cast(bias, computed);
  const std::optional<Expr> weight = WeightOf(c, computed);
  int64_t reduction = kNone;
  if (reduces) {
    const std::string name = c.String("reduction");
    reduction = name == "mean" ? kMean : name == "sum" ? kSum : kNone;
  }
  const int64_t ignored = c.Int("ignore_index", -100);
  const double smoothing = c.Float("label_smoothing", 0);
  c.Ignore({"batch_chunk_size", "acc_policy", "acc_dtype", "allow_retain_graph",
            "compute_input_grad", "compute_linear_weight_grad", "compute_linear_bias_grad"});
  Values results(c.num_outputs(), nullptr);
  results[0] =
      CrossEntropyOf(c, logits, c.Tensor("target"), weight, reduction, ignored, smoothing).To(t);
  for (size_t i = 1; i < results.size(); ++i) {
    const Value* unused = c.node().output(i);
    if (!unused) continue;
    if (!unused->is_unused()) return c.Fail(Unimplemented("its gradients are not mapped"));
    results[i] = Zeros(c, c.out_dtype(i), {0});
  }
  return results;
}

// The sums over all ways that the targets can be drawn out over time, with blanks between, by the
// forward algorithm in logarithms.
Values CtcLoss(TorchCall& c) {
  const DType t = c.out_dtype(), computed = AtLeastFloat32(t);
  constexpr DType kLong = DType::kInt64;
  Expr log_p = c.Operand("log_probs", computed);
  Expr targets = c.Operand("targets", kLong);
  const auto lengths = [&](std::string_view name) {
    const bool tensor = c.node().op() != Symbol("aten::ctc_loss.IntList");
    const Expr n = tensor ? c.Operand(name, kLong) : Ints(c, c.Ints(name));
    return n.rank() == 0 ? Unsqueeze(n, {0}) : n;
  };
  const Expr times = lengths("input_lengths"), sizes = lengths("target_lengths");
  const int64_t blank = c.Int("blank", 0), reduction = c.Int("reduction", kMean);
  const bool zero_infinity = c.Bool("zero_infinity", false);
  const bool batched = log_p.rank() == 3;
  if (!batched) log_p = Unsqueeze(log_p, {1});
  const Expr longest = sizes.Op("reduce_max", {}, {{"keepdims", 0}});
  const Expr places = Iota(longest * 2 + 1);  // blank, label, blank, label, ..., blank
  const Expr label = Mod(places, places.Number(2)) == 1;
  const Expr which = Where(label, places / 2, 0);
  // Targets of all samples one after the other, or a row each.
  Expr starts = Unsqueeze(CumSum(sizes, 0) - sizes, {-1});
  if (targets.rank() > 1) {
    const Expr width = SizeOf(targets, 1);
    starts = Unsqueeze(Iota(SizeOf(targets, 0)) * width, {-1});
  }
  targets = targets.Op("reshape", {Ints(c, {-1})}, {{"allowzero", 0}})
                .Op("concat", {Ints(c, {blank})}, {{"axis", 0}});
  const Expr last = SizeOf(targets, 0) - 1;
  const Expr labels = Where(label, Gather(targets, Min(starts + which, last), 0), Int(c, blank));
  // Whether the step over the blank before is allowed: to another label.
  const Expr two_back = Gather(labels, Max(places - 2, 0), 1);
  const Expr may_skip = label & (places > 1) & Not(labels == two_back);
  const Expr one_back_ok = places > 0;
  const Expr none = c.Constant(computed, -kInf);
  const auto log_add = [&](const Expr& a, const Expr& b) {
    const Expr top = Max(a, b);
    const Expr safe = Where(top == -kInf, 0, top);
    return safe + Log(Exp(a - safe) + Exp(b - safe));
  };
  const auto emitted = [&](const Expr& i) {
    return GatherElements(Gather(log_p, i, 0), labels, 1);
  };
  const Expr before = Where((places == 0) & (labels == labels), emitted(Int(c, 0)) * 0, none);
  const Expr steps = Unsqueeze(times, {-1});
  const Expr back1 = Max(places - 1, 0), back2 = Max(places - 2, 0);
  const Expr alpha = Rounds(SizeOf(log_p, 0), {before},
                            [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
                              const Expr a = s[0];
                              const Expr b = Where(one_back_ok, Gather(a, back1, 1), none);
                              const Expr d = Where(may_skip, Gather(a, back2, 1), none);
                              const Expr next = log_add(log_add(a, b), d) + emitted(i);
                              return {Where(i < steps, next, a)};
                            })[0];
  const Expr end = Unsqueeze(sizes * 2, {-1});
  const Expr at_end = GatherElements(alpha, end, 1);
  const Expr before_end = Where(end > 0, GatherElements(alpha, Max(end - 1, 0), 1), none);
  Expr loss = -Squeeze(log_add(at_end, before_end), {1});
  if (zero_infinity) loss = Where(loss == kInf, 0, loss);
  if (reduction == kMean) loss = loss / Max(sizes, 1).To(computed);
  if (reduction == kNone && !batched) loss = Squeeze(loss, {0});
  return {Reduced(loss, reduction).To(t)};
}

X2IR_TORCH(negative_log_likelihood_loss)
    .From({"aten::nll_loss.default", "aten::nll_loss_nd.default", "aten::nll_loss2d.default",
           "aten::nll_loss_forward.default", "aten::nll_loss2d_forward.default"},
          NllLoss);
X2IR_TORCH(softmax_cross_entropy_loss)
    .From("aten::cross_entropy_loss.default", CrossEntropyLoss)
    .From("torch_nn::_linear_cross_entropy_batch_chunked.default",
          [](TorchCall& c) { return LinearCrossEntropy(c, true); })
    .From("torch_nn::_linear_cross_entropy_batch_chunked_no_reduction.default",
          [](TorchCall& c) { return LinearCrossEntropy(c, false); });
X2IR_TORCH(loop).From({"aten::ctc_loss.Tensor", "aten::ctc_loss.IntList"}, CtcLoss);

}  // namespace
}  // namespace x2ir
