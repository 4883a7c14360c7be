// Losses, and metrics of predictions.
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// The logarithm of the label's probability along an axis; 0 where the label is to be ignored.
Expr AtLabel(PaddleArgs& a, const Expr& log, const Expr& label, int64_t axis, int64_t ignored) {
  const Expr index = a.Rank(label) == a.Rank(log) ? label : Unsqueeze(label, {axis});
  const Expr is_ignored = index == index.Number(static_cast<double>(ignored));
  const Expr safe = Where(is_ignored, 0.0, index);
  return Where(is_ignored, 0.0, GatherElements(log, safe, axis));
}

PaddleResults SoftmaxCrossEntropy(PaddleArgs& a) {
  const Expr x = a.X("Logits"), label = a.X("Label");
  const int64_t axis = a.Axis(a.Int("axis", -1), x), ignored = a.Int("ignore_index", -100);
  const bool soft = a.Bool("soft_label", false), use_softmax = a.Bool("use_softmax", true);
  a.Bool("numeric_stable_mode", true);
  const Expr log = use_softmax ? x.Op("log_softmax", {}, {{"axis", axis}}) : Log(x);
  const Expr loss = soft ? -Sum(label * log, axis, true) : -AtLabel(a, log, label, axis, ignored);
  PaddleResults results = {{"Loss", {loss}}};
  if (a.Wants("Softmax")) {
    results.push_back(
        {"Softmax", {use_softmax ? x.Op("softmax", {}, {{"axis", axis}}) : x.Op("identity")}});
  }
  return results;
}

// Of probabilities.
PaddleResults CrossEntropy(PaddleArgs& a) {
  const Expr x = a.X(), label = a.X("Label");
  const int64_t axis = a.Rank(x) - 1, ignored = a.Int("ignore_index", -100);
  const Expr log = Log(x);
  const Expr loss = a.Bool("soft_label", false) ? -Sum(label * log, axis, true)
                                                : -AtLabel(a, log, label, axis, ignored);
  return {{"Y", {loss}}};
}

Expr BinaryCrossEntropy(PaddleArgs& a) {
  const Expr x = a.X(), label = a.X("Label");
  const Expr yes = Max(Log(x), -100.0), no = Max(Log(1.0 - x), -100.0);
  return (label - 1.0) * no - label * yes;
}

Expr SigmoidCrossEntropy(PaddleArgs& a) {
  const Expr x = a.X(), label = a.X("Label");
  const Expr weight = a.Opt("PosWeight");
  const double ignored = a.Number("ignore_index", -100);
  const bool normalize = a.Bool("normalize", false);
  // max(x, 0) - x label + log(1 + exp(-|x|))
  const Expr tail = Log1p(Exp(-Abs(x)));
  Expr loss = Max(x, 0.0) - x * label + tail;
  if (weight.value()) {
    loss = (1.0 - label) * x + ((weight - 1.0) * label + 1.0) * (tail + Max(-x, 0.0));
  }
  const Expr counts = Abs(label - ignored) > 1e-6;
  loss = Where(counts, loss, 0.0);
  if (!normalize) return loss;
  return loss / Max(Reduce(counts.To(x.dtype()), "reduce_sum", {}), 1e-5);
}

Expr Divergence(PaddleArgs& a) {
  const Expr x = a.X(), target = a.X("Target");
  const std::string reduction = a.String("reduction", "mean");
  const bool logs = a.Bool("log_target", false);
  const Expr loss =
      logs ? Exp(target) * (target - x) : Where(target > 0.0, target * (Log(target) - x), 0.0);
  if (reduction == "none") return loss;
  if (reduction == "mean") return Reduce(loss, "reduce_mean", {});
  const Expr sum = Reduce(loss, "reduce_sum", {});
  if (reduction == "sum") return sum;
  a.Require(reduction == "batchmean", StrCat("a reduction ", reduction));
  return sum / SizeOf(x, 0).To(x.dtype());
}

PaddleResults Huber(PaddleArgs& a) {
  const Expr rest = a.X("Y") - a.X();
  const double delta = a.Number("delta", 1);
  const Expr size = Abs(rest);
  const Expr loss = Where(size <= delta, Square(rest) * 0.5, (size - 0.5 * delta) * delta);
  return {{"Out", {loss}}, {"Residual", {rest}}};
}

PaddleResults SmoothL1(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const Expr inside = a.Opt("InsideWeight"), outside = a.Opt("OutsideWeight");
  const double sigma = a.Number("sigma", 1), s2 = sigma * sigma;
  Expr diff = x - y;
  if (inside.value()) diff = diff * inside;
  const Expr size = Abs(diff);
  Expr loss = Where(size < 1 / s2, Square(diff) * (0.5 * s2), size - 0.5 / s2);
  if (outside.value()) loss = loss * outside;
  const std::vector<int64_t> axes = CountedFrom(1, a.Rank(x) - 1);
  return {{"Diff", {diff}}, {"Out", {Unsqueeze(Reduce(loss, "reduce_sum", axes), {1})}}};
}

Expr LogLoss(PaddleArgs& a) {
  const Expr p = a.X("Predicted"), label = a.X("Labels");
  const double eps = a.Number("epsilon", 1e-4);
  return -(label * Log(p + eps)) - (1.0 - label) * Log(1.0 - p + eps);
}
Expr Hinge(PaddleArgs& a) {
  const Expr x = a.X("Logits"), label = a.X("Labels");
  return Max(1.0 - x * (label * 2.0 - 1.0), 0.0);
}

PaddleResults NegativeLogLikelihood(PaddleArgs& a) {
  const Expr x = a.X(), label = a.X("Label");
  const Expr weight = a.Opt("Weight");
  const int64_t ignored = a.Int("ignore_index", -100);
  const std::string reduction = a.String("reduction", "mean");
  const int64_t kind = reduction == "none" ? 0 : reduction == "mean" ? 1 : 2;
  const int64_t rank = a.Rank(x);
  const Values both = AsTorch(
      a, rank == 4 ? "aten::nll_loss2d_forward.default" : "aten::nll_loss_forward.default",
      {{"self", x},
       {"target", label.To(DType::kInt64)},
       {"weight", weight},
       {"reduction", kind},
       {"ignore_index", ignored}},
      std::vector<DType>{x.dtype(), a.Wants("Total_weight") ? x.dtype() : DType::kUndefined});
  return {{"Out", {both[0]}}, {"Total_weight", {both[1]}}};
}

// 0: the sum; 1: the mean; 2: as it is.
Expr IdentityLoss(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t reduction = a.Int("reduction", 1);
  if (reduction == 2) return x.Op("identity");
  return Reduce(x, reduction == 0 ? "reduce_sum" : "reduce_mean", {});
}

// How many rows have their label among the classes that were found.
PaddleResults Accuracy(PaddleArgs& a) {
  a.Drop({"Out"});
  const Expr indices = a.X("Indices").To(DType::kInt64), label = a.X("Label").To(DType::kInt64);
  const Expr hit = Any(indices == label, {1});
  const Expr correct = Reduce(hit.To(DType::kInt32), "reduce_sum", {});
  const Expr total = SizeOf(indices, 0);
  const Expr rate = correct.To(DType::kFloat32) / total.To(DType::kFloat32);
  return {{"Accuracy", {rate}}, {"Correct", {correct}}, {"Total", {total.To(DType::kInt32)}}};
}

PaddleResults CosSim(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const auto norm = [](const Expr& v) { return Sqrt(Sum(Square(v), 1, true)); };
  const Expr of_x = norm(x), of_y = norm(y);
  return {{"Out", {Sum(x * y, 1, true) / of_x / of_y}}, {"XNorm", {of_x}}, {"YNorm", {of_y}}};
}

}  // namespace

X2IR_PADDLE(log_softmax)
    .From({{"softmax_with_cross_entropy", SoftmaxCrossEntropy}, {"cross_entropy", CrossEntropy}});
X2IR_PADDLE(log).From({{"bce_loss", BinaryCrossEntropy},
                       {"sigmoid_cross_entropy_with_logits", SigmoidCrossEntropy},
                       {"kldiv_loss", Divergence},
                       {"log_loss", LogLoss}});
X2IR_PADDLE(where).From({{"huber_loss", Huber}, {"smooth_l1_loss", SmoothL1}});
X2IR_PADDLE(max).From("hinge_loss", Hinge);
X2IR_PADDLE(negative_log_likelihood_loss).From("nll_loss", NegativeLogLikelihood);
X2IR_PADDLE(reduce_mean).From({{"identity_loss", IdentityLoss}, {"accuracy", Accuracy}});
X2IR_PADDLE(div).From("cos_sim", CosSim);

}  // namespace x2ir
