// Linear models: linear_regressor, linear_classifier.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/ml_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// scores[t] = intercepts[t] + sum of features times coefficients[t], for one row.
void LinearScores(const float* x, int64_t features, const std::vector<float>& coefficients,
                  const std::vector<float>& intercepts, std::vector<float>& scores) {
  for (size_t t = 0; t < scores.size(); ++t) {
    double sum = intercepts.empty() ? 0.0 : intercepts[t];
    for (int64_t f = 0; f < features; ++f) {
      sum += double{x[f]} * coefficients[t * features + f];
    }
    scores[t] = static_cast<float>(sum);
  }
}

absl::Status CheckCoefficients(size_t have, int64_t targets, int64_t features) {
  const std::optional<int64_t> want = CheckedProduct({targets, features});
  if (want == static_cast<int64_t>(have)) return absl::OkStatus();
  return Invalid(have, " coefficients for ", targets, " targets of ", features, " features");
}

// --- linear_regressor -----------------------------------------------------------------------

absl::StatusOr<int64_t> TargetsOf(const AttributeMap& attrs) {
  const int64_t targets = attrs.Int("targets");
  if (targets < 1) return Invalid("targets: ", targets);
  const size_t intercepts = ListAttr<float>(attrs, "intercepts").size();
  if (intercepts != 0 && static_cast<int64_t>(intercepts) != targets) {
    return Invalid(intercepts, " intercepts for ", targets, " targets");
  }
  return targets;
}

absl::Status InferLinearRegressor(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(PostTransformOf(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const int64_t targets, TargetsOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  if (ctx.attrs().Has("coefficients") && x.features.is_static()) {
    const size_t coefficients = ListAttr<float>(ctx.attrs(), "coefficients").size();
    X2IR_RETURN_IF_ERROR(CheckCoefficients(coefficients, targets, x.features.value()));
  }
  return ctx.Return(DType::kFloat32, Shape{x.rows, targets});
}

absl::Status EvalLinearRegressor(EvalContext& ctx) {
  const auto& coefficients = ListAttr<float>(ctx.attrs(), "coefficients");
  const auto& intercepts = ListAttr<float>(ctx.attrs(), "intercepts");
  X2IR_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const int64_t targets, TargetsOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  X2IR_RETURN_IF_ERROR(CheckCoefficients(coefficients.size(), targets, shape.features));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, {shape.rows, targets}));
  const Numbers<float> x(ctx.input(0));
  NumbersOut<float> y(DType::kFloat32, {shape.rows, targets});
  for (int64_t row = 0; row < shape.rows; ++row) {
    std::vector<float> scores(targets);
    LinearScores(x.data() + row * shape.features, shape.features, coefficients, intercepts, scores);
    X2IR_RETURN_IF_ERROR(FinishScores(transform, FirstScore::kNotWanted, scores));
    std::copy(scores.begin(), scores.end(), y.data() + row * targets);
  }
  return ctx.Return(y.Finish());
}

X2IR_OP(linear_regressor)
    .Signature("x -> y")
    .Attrs("coefficients: floats?, intercepts: floats?, post_transform = 'NONE', targets = 1")
    .Functions(InferLinearRegressor, EvalLinearRegressor)
    .With(ClassicOp)
    .Doc("For each target its coefficients times the features plus its intercept, transformed.");

// --- linear_classifier ----------------------------------------------------------------------

absl::StatusOr<ClassLabels> LabelsOf(const AttributeMap& attrs) {
  return ClassLabels::Of(attrs, "classlabels_strings", "classlabels_ints");
}

// Scores are computed for as many classes as there are intercepts, else as rows of coefficients
// fit the features. InvalidArgument where that is not a whole number.
absl::StatusOr<int64_t> ClassesOf(const AttributeMap& attrs, int64_t features) {
  const size_t coefficients = ListAttr<float>(attrs, "coefficients").size();
  int64_t classes = static_cast<int64_t>(ListAttr<float>(attrs, "intercepts").size());
  if (classes == 0 && features > 0) classes = static_cast<int64_t>(coefficients) / features;
  if (classes == 0) return Invalid("neither intercepts nor coefficients say the number of classes");
  X2IR_RETURN_IF_ERROR(CheckCoefficients(coefficients, classes, features));
  return classes;
}

absl::Status InferLinearClassifier(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(PostTransformOf(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const ClassLabels labels, LabelsOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  Dim scores;
  if (x.features.is_static()) {
    X2IR_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(ctx.attrs(), x.features.value()));
    scores = classes == 1 && labels.size() == 2 ? 2 : classes;
  }
  ctx.Set(0, labels.dtype(), Shape{x.rows});
  ctx.Set(1, DType::kFloat32, Shape{x.rows, scores});
  return absl::OkStatus();
}

absl::Status EvalLinearClassifier(EvalContext& ctx) {
  const auto& coefficients = ListAttr<float>(ctx.attrs(), "coefficients");
  const auto& intercepts = ListAttr<float>(ctx.attrs(), "intercepts");
  X2IR_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(ClassLabels labels, LabelsOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  X2IR_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(ctx.attrs(), shape.features));
  // One score decides between two labels; the other's is made of it.
  const bool two = classes == 1 && labels.size() == 2;
  if (classes == 1 && labels.size() == 0) labels = labels.NoAndYes();
  if (labels.size() < std::max<int64_t>(classes, 2) || (classes == 1 && labels.size() > 2)) {
    return Invalid(labels.size(), " class labels for ", classes, " classes");
  }
  const int64_t width = two ? 2 : classes;
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, {shape.rows, width}));
  const Numbers<float> x(ctx.input(0));
  NumbersOut<float> z(DType::kFloat32, {shape.rows, width});
  std::vector<int64_t> chosen(shape.rows);
  for (int64_t row = 0; row < shape.rows; ++row) {
    std::vector<float> scores(classes);
    LinearScores(x.data() + row * shape.features, shape.features, coefficients, intercepts, scores);
    int64_t best = classes == 1 && scores[0] > 0 ? 1 : 0;
    for (int64_t c = 1; c < classes; ++c) {
      if (scores[c] > scores[best]) best = c;
    }
    chosen[row] = best;
    const FirstScore first = two ? FirstScore::kComplement : FirstScore::kNotWanted;
    X2IR_RETURN_IF_ERROR(FinishScores(transform, first, scores));
    std::copy(scores.begin(), scores.end(), z.data() + row * width);
  }
  ctx.Set(0, labels.Take(chosen));
  ctx.Set(1, z.Finish());
  return absl::OkStatus();
}

X2IR_OP(linear_classifier)
    .Signature("x -> y, z")
    .Attrs(
        "classlabels_ints: ints?, classlabels_strings: strings?, coefficients: floats, intercepts: "
        "floats?, multi_class = 0, post_transform = 'NONE'")
    .Functions(InferLinearClassifier, EvalLinearClassifier)
    .With(ClassicOp)
    .Doc(
        "The label of the class with the highest linear score, and the transformed scores. A "
        "single score above 0 means the second of two labels.");

}  // namespace
}  // namespace x2ir
