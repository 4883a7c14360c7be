// Losses whose targets are classes: the negative log-likelihood, cross entropy, connectionist
// temporal classification.

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/losses.h"
#include "x2ir/handlers/torch/pieces.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

struct Nll {
  Num loss, total_weight;
};

// Classes stand along `axis` of log-probabilities; weight (of each class) may be left out.
Nll NllOf(const Num& log_p, const Num& target, const std::optional<Num>& weight, int64_t reduction,
          int64_t ignore_index) {
  const int64_t axis = log_p.rank() == 1 ? 0 : 1;
  const Num ignored = target == target.m().Int(ignore_index);
  const Num index = If(ignored, 0, target);
  const Num picked = Squeeze(GatherElements(log_p, Unsqueeze(index, axis), axis), axis);
  const Num w = weight ? Gather(*weight, index, 0) : picked.N(1);
  const Num loss = If(ignored, 0, -picked * w);
  const Num total = SumAll(If(ignored, 0, w));
  if (reduction == kNone) return {loss, picked.N(0)};
  const Num sum = SumAll(loss);
  return {reduction == kSum ? sum : sum / total, total};
}

std::optional<Num> WeightOf(TorchCall& c, Calc& m, DType t) {
  Value* weight = c.OptTensor("weight");
  if (!weight) return std::nullopt;
  return m.Of(c.Cast(weight, t));
}

Values NllLoss(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype(), computed = ComputeTypeOfTorch(t);
  const Num x = m.In("self", computed), target = m.In("target", DType::kInt64);
  const std::optional<Num> weight = WeightOf(c, m, computed);
  const int64_t reduction = c.Int("reduction", kMean);
  const Nll nll = NllOf(x, target, weight, reduction, c.Int("ignore_index", -100));
  Values results = {m.Out(nll.loss, t)};
  if (c.num_outputs() > 1) results.push_back(m.Out(nll.total_weight, t));
  return results;
}

// Of classes, or of their probabilities where the target is of floats. Smoothing takes a share from
// the target and gives it to all classes.
Num CrossEntropyOf(TorchCall& c, const Num& x, Value* target_value,
                   const std::optional<Num>& weight, int64_t reduction, int64_t ignore_index,
                   double smoothing) {
  Calc& m = x.m();
  const int64_t axis = x.rank() == 1 ? 0 : 1;
  if (x.rank() == 0) c.Fail(Invalid("cross entropy of a number"));
  const Num log_p = x.Op("log_softmax", {}, {{"axis", axis}});
  const Num classes = SizeOf(x, axis).As(x.dtype());
  // Weights along the axis of classes.
  const auto weighted = [&](const Num& y) {
    if (!weight) return y;
    Num w = *weight;
    for (int64_t i = axis + 1; i < x.rank(); ++i) w = Unsqueeze(w, -1);
    return y * w;
  };
  if (IsFloating(target_value->dtype())) {
    Num target = m.Of(c.Cast(target_value, x.dtype()));
    if (smoothing > 0) target = target * (1 - smoothing) + smoothing / classes;
    const Num loss = -Sum(weighted(log_p * target), axis);
    if (reduction != kMean) return Reduced(loss, reduction);
    const Num count = x.Op("size").As(x.dtype()) / classes;
    return SumAll(loss) / count;
  }
  const Num target = m.Of(c.Cast(target_value, DType::kInt64));
  const Num nll = NllOf(log_p, target, weight, reduction, ignore_index).loss;
  if (smoothing == 0) return nll;
  const Num ignored = target == target.m().Int(ignore_index);
  Num smooth = If(ignored, 0, -Sum(weighted(log_p), axis));
  if (reduction != kNone) smooth = SumAll(smooth);
  if (reduction == kMean) {
    const Num index = If(ignored, 0, target);
    const Num w = weight ? Gather(*weight, index, 0) : smooth.N(1);
    smooth = smooth / SumAll(If(ignored, 0, w));
  }
  return (1 - smoothing) * nll + smooth * (smoothing / classes);
}

Values CrossEntropyLoss(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype(), computed = ComputeTypeOfTorch(t);
  const Num x = m.In("self", computed);
  const std::optional<Num> weight = WeightOf(c, m, computed);
  const int64_t reduction = c.Int("reduction", kMean), ignored = c.Int("ignore_index", -100);
  const double smoothing = c.Float("label_smoothing", 0);
  return {
      m.Out(CrossEntropyOf(c, x, c.Tensor("target"), weight, reduction, ignored, smoothing), t)};
}

// linear, then cross entropy, which PyTorch computes in chunks to save memory. The gradients that
// it makes on the way are not had.
Values LinearCrossEntropy(TorchCall& c, bool reduces) {
  Calc m(c);
  const DType t = c.out_dtype(), computed = ComputeTypeOfTorch(t);
  const Num x = m.In("input", computed);
  Num logits = MatMul(x, Transposed(m.In("linear_weight", computed)));
  if (Value* bias = c.OptTensor("linear_bias")) logits = logits + m.Of(c.Cast(bias, computed));
  const std::optional<Num> weight = WeightOf(c, m, computed);
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
  results[0] = m.Out(
      CrossEntropyOf(c, logits, c.Tensor("target"), weight, reduction, ignored, smoothing), t);
  for (size_t i = 1; i < results.size(); ++i) {
    const Value* unused = c.node().output(i);
    if (!unused) continue;
    if (!unused->is_unused()) return c.Fail(Unimplemented("its gradients are not mapped"));
    results[i] = m.Zeros(c.out_dtype(i), {0});
  }
  return results;
}

// The sums over all ways that the targets can be drawn out over time, with blanks between, by the
// forward algorithm in logarithms.
Values CtcLoss(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype(), computed = ComputeTypeOfTorch(t);
  constexpr DType kLong = DType::kInt64;
  Num log_p = m.In("log_probs", computed);
  Num targets = m.In("targets", kLong);
  const auto lengths = [&](std::string_view name) {
    const bool tensor = c.node().op() != Symbol("aten::ctc_loss.IntList");
    const Num n = tensor ? m.In(name, kLong) : m.Ints(c.Ints(name));
    return n.rank() == 0 ? Unsqueeze(n, 0) : n;
  };
  const Num times = lengths("input_lengths"), sizes = lengths("target_lengths");
  const int64_t blank = c.Int("blank", 0), reduction = c.Int("reduction", kMean);
  const bool zero_infinity = c.Bool("zero_infinity", false);
  const bool batched = log_p.rank() == 3;
  if (!batched) log_p = Unsqueeze(log_p, 1);
  const Num longest = sizes.Op("reduce_max", {}, {{"keepdims", 0}});
  const Num places = Iota(longest * 2 + 1);  // blank, label, blank, label, ..., blank
  const Num label = Mod(places, places.N(2)) == 1;
  const Num which = If(label, places / 2, 0);
  // Targets of all samples one after the other, or a row each.
  Num starts = Unsqueeze(m.Of(CumSum(c, sizes.v(), 0)) - sizes, -1);
  if (targets.rank() > 1) {
    const Num width = SizeOf(targets, 1);
    starts = Unsqueeze(Iota(SizeOf(targets, 0)) * width, -1);
  }
  targets = targets.Op("reshape", {m.Ints({-1})}, {{"allowzero", 0}})
                .Op("concat", {m.Ints({blank})}, {{"axis", 0}});
  const Num last = SizeOf(targets, 0) - 1;
  const Num labels = If(label, Gather(targets, Min(starts + which, last), 0), m.Int(blank));
  // Whether the step over the blank before is allowed: to another label.
  const Num two_back = Gather(labels, Max(places - 2, 0), 1);
  const Num may_skip = label & (places > 1) & !(labels == two_back);
  const Num one_back_ok = places > 0;
  const Num none = m.Of(c.Constant(computed, -kInf));
  const auto log_add = [&](const Num& a, const Num& b) {
    const Num top = Max(a, b);
    const Num safe = If(top == -kInf, 0, top);
    return safe + Log(Exp(a - safe) + Exp(b - safe));
  };
  const auto emitted = [&](const Num& i) { return GatherElements(Gather(log_p, i, 0), labels, 1); };
  const Num before = If((places == 0) & (labels == labels), emitted(m.Int(0)) * 0, none);
  const Num steps = Unsqueeze(times, -1);
  const Num back1 = Max(places - 1, 0), back2 = Max(places - 2, 0);
  const Num alpha = m.Rounds(SizeOf(log_p, 0), {before},
                             [&](const Num& i, const std::vector<Num>& s) -> std::vector<Num> {
                               const Num a = s[0];
                               const Num b = If(one_back_ok, Gather(a, back1, 1), none);
                               const Num d = If(may_skip, Gather(a, back2, 1), none);
                               const Num next = log_add(log_add(a, b), d) + emitted(i);
                               return {If(i < steps, next, a)};
                             })[0];
  const Num end = Unsqueeze(sizes * 2, -1);
  const Num at_end = GatherElements(alpha, end, 1);
  const Num before_end = If(end > 0, GatherElements(alpha, Max(end - 1, 0), 1), none);
  Num loss = -Squeeze(log_add(at_end, before_end), 1);
  if (zero_infinity) loss = If(loss == kInf, 0, loss);
  if (reduction == kMean) loss = loss / Max(sizes, 1).As(computed);
  if (reduction == kNone && !batched) loss = Squeeze(loss, 0);
  return {m.Out(Reduced(loss, reduction), t)};
}

X2IR_TORCH(negative_log_likelihood_loss)
    .Is({"aten::nll_loss.default", "aten::nll_loss_nd.default", "aten::nll_loss2d.default",
         "aten::nll_loss_forward.default", "aten::nll_loss2d_forward.default"},
        NllLoss);
X2IR_TORCH(softmax_cross_entropy_loss)
    .Is("aten::cross_entropy_loss.default", CrossEntropyLoss)
    .Is("torch_nn::_linear_cross_entropy_batch_chunked.default",
        [](TorchCall& c) { return LinearCrossEntropy(c, true); })
    .Is("torch_nn::_linear_cross_entropy_batch_chunked_no_reduction.default",
        [](TorchCall& c) { return LinearCrossEntropy(c, false); });
X2IR_TORCH(loop).Is({"aten::ctc_loss.Tensor", "aten::ctc_loss.IntList"}, CtcLoss);

}  // namespace
}  // namespace x2ir
