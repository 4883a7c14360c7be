// Losses over class scores: negative_log_likelihood_loss, softmax_cross_entropy_loss.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

absl::Status CheckReduction(const AttributeMap& attrs) {
  return CheckChoice(attrs, "reduction", {"none", "sum", "mean"});
}

absl::Status InferLoss(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckReduction(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "target"));
  DType dtype = ctx.dtype(0);
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    if (dtype == DType::kUndefined) dtype = ctx.dtype(2);
    if (ctx.dtype(2) != DType::kUndefined && ctx.dtype(2) != dtype) {
      return Invalid("weight: expected ", Name(dtype), ", got ", Name(ctx.dtype(2)));
    }
  }
  const Shape* scores = ctx.shape(0);
  const Shape* target = ctx.shape(1);
  if (scores && scores->rank() < 2) {
    return Invalid("scores: expected rank 2 or more, got ", scores->rank());
  }
  if (scores && target && target->rank() != scores->rank() - 1) {
    return Invalid("target: expected rank ", scores->rank() - 1, ", got ", target->rank());
  }
  if (const Shape* weight = ctx.num_inputs() > 2 && ctx.has(2) ? ctx.shape(2) : nullptr) {
    if (weight->rank() != 1 || (scores && ProvablyDifferent((*weight)[0], (*scores)[1]))) {
      return Invalid("weight: expected one number a class, got shape [", weight->ToString(), "]");
    }
  }
  std::optional<Shape> each;
  if (scores || target) {
    each = Shape();
    for (int64_t i = 0; i < (target ? target->rank() : scores->rank() - 1); ++i) {
      Dim dim = target ? (*target)[i] : (*scores)[i == 0 ? 0 : i + 1];
      if (target && scores) {
        X2IR_ASSIGN_OR_RETURN(dim, SameDim(dim, (*scores)[i == 0 ? 0 : i + 1]));
      }
      each->Append(std::move(dim));
    }
  }
  ctx.Set(0, dtype, ctx.attrs().String("reduction") == "none" ? each : std::optional(Shape()));
  if (ctx.num_outputs() > 1) {
    ctx.Set(1, dtype, scores ? std::optional(*scores) : std::nullopt);
  }
  return absl::OkStatus();
}

// Scores as [batch, classes, inner].
struct ScoresView {
  int64_t batch, classes, inner;
};

absl::StatusOr<ScoresView> ViewScores(const EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckReduction(ctx.attrs()));
  const Tensor& scores = ctx.input(0);
  const Tensor& target = ctx.input(1);
  if (!IsFloating(scores.dtype())) return Unimplemented("evaluation of ", Name(scores.dtype()));
  if (scores.rank() < 2) return Invalid("scores: expected rank 2 or more, got ", scores.rank());
  std::vector<int64_t> each = scores.dims();
  each.erase(each.begin() + 1);
  if (target.dims() != each) {
    return Invalid("target: expected shape ", DimsText(each), ", got ", DimsText(target.dims()));
  }
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    const Tensor& weight = ctx.input(2);
    if (weight.rank() != 1 || weight.dim(0) != scores.dim(1) || !IsFloating(weight.dtype())) {
      return Invalid("weight: expected ", scores.dim(1), " numbers, got ",
                     weight.type().ToString());
    }
  }
  return ScoresView{scores.dim(0), scores.dim(1),
                    Count(absl::MakeConstSpan(scores.dims()).subspan(2))};
}

// The loss of log probabilities that are laid out as the scores are. Positions whose target is
// ignore_index have no loss and no weight in the mean; a mean over no weight is 0/0.
absl::Status SetLoss(EvalContext& ctx, const ScoresView& view, absl::Span<const double> log_prob) {
  const Tensor& target = ctx.input(1);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> classes, target.ToInts());
  const Attribute* attr = ctx.attrs().Find("ignore_index");
  const int64_t* ignored = attr ? attr->get<int64_t>() : nullptr;
  std::optional<Numbers<double>> weights;
  if (ctx.num_inputs() > 2 && ctx.has(2)) weights.emplace(ctx.input(2));
  std::vector<double> losses(classes.size(), 0.0);
  double sum = 0, weight_sum = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t c = classes[i];
    if (ignored && c == *ignored) continue;
    if (c < 0 || c >= view.classes) {
      return Invalid("target ", c, " is out of range; there are ", view.classes, " classes");
    }
    const int64_t n = static_cast<int64_t>(i) / view.inner,
                  k = static_cast<int64_t>(i) % view.inner;
    const double weight = weights ? (*weights)[c] : 1.0;
    losses[i] = -log_prob[(n * view.classes + c) * view.inner + k] * weight;
    sum += losses[i];
    weight_sum += weight;
  }
  const std::string& reduction = ctx.attrs().String("reduction");
  if (reduction == "none") {
    ctx.Set(0, FromNumbers<double>(ctx.dtype(0), target.dims(), losses));
  } else {
    const std::vector<double> one = {reduction == "sum" ? sum : sum / weight_sum};
    ctx.Set(0, FromNumbers<double>(ctx.dtype(0), {}, one));
  }
  return absl::OkStatus();
}

absl::Status EvalNll(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ScoresView view, ViewScores(ctx));
  return SetLoss(ctx, view, Numbers<double>(ctx.input(0)).span());
}

absl::Status EvalSoftmaxCrossEntropy(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ScoresView view, ViewScores(ctx));
  const Numbers<double> scores(ctx.input(0));
  std::vector<double> log_prob(scores.size());
  for (int64_t n = 0; n < (view.classes > 0 ? view.batch : 0); ++n) {
    for (int64_t k = 0; k < view.inner; ++k) {
      const int64_t at = n * view.classes * view.inner + k;
      double top = scores[at], sum = 0;
      for (int64_t c = 1; c < view.classes; ++c) top = std::max(top, scores[at + c * view.inner]);
      for (int64_t c = 0; c < view.classes; ++c)
        sum += portable::exp(scores[at + c * view.inner] - top);
      const double log_sum = portable::log(sum);
      for (int64_t c = 0; c < view.classes; ++c) {
        log_prob[at + c * view.inner] = scores[at + c * view.inner] - top - log_sum;
      }
    }
  }
  X2IR_RETURN_IF_ERROR(SetLoss(ctx, view, log_prob));
  if (ctx.num_outputs() > 1 && ctx.wants(1)) {
    ctx.Set(1, FromNumbers<double>(ctx.dtype(0), ctx.dims(0), log_prob));
  }
  return absl::OkStatus();
}

X2IR_OP(negative_log_likelihood_loss)
    .Signature("input, target, weight? -> loss")
    .Attrs("ignore_index: int?, reduction = 'mean'")
    .Functions(InferLoss, EvalNll)
    .Opaque()
    .Doc(
        "Minus the log probability (axis 1 of input: the classes) of each target class, times its "
        "weight; then their sum, or their mean by weight. Targets of ignore_index do not count.")
    .NeedsFloat32(float32_for::kTrains);

X2IR_OP(softmax_cross_entropy_loss)
    .Signature("scores, labels, weights? -> output, log_prob?")
    .Attrs("ignore_index: int?, reduction = 'mean'")
    .Functions(InferLoss, EvalSoftmaxCrossEntropy)
    .Opaque()
    .Doc(
        "negative_log_likelihood_loss of the log softmax of scores over axis 1, which is the "
        "second result.")
    .NeedsFloat32(float32_for::kTrains);

}  // namespace
}  // namespace x2ir
