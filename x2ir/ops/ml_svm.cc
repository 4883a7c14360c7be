// Support vector machines: svm_regressor, svm_classifier.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/ml_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- Kernels --------------------------------------------------------------------------------

struct Kernel {
  enum Kind : uint8_t { kLinear, kPoly, kRbf, kSigmoid } kind = kLinear;
  double gamma = 0, coef0 = 0, degree = 0;

  double operator()(const float* a, const float* b, int64_t n) const {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double d = double{a[i]} - b[i];
      sum += kind == kRbf ? d * d : double{a[i]} * b[i];
    }
    switch (kind) {
      case kLinear: return sum;
      case kPoly: return portable::pow(gamma * sum + coef0, degree);
      case kRbf: return portable::exp(-gamma * sum);
      case kSigmoid: return portable::tanh(gamma * sum + coef0);
    }
    return sum;
  }
};

absl::StatusOr<Kernel> KernelOf(const AttributeMap& attrs) {
  Kernel kernel;
  X2IR_ASSIGN_OR_RETURN(
      kernel.kind,
      ChoiceAttr<Kernel::Kind>(attrs, "kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"}));
  const auto& params = ListAttr<float>(attrs, "kernel_params");
  if (params.empty()) return kernel;
  if (params.size() != 3) return Invalid("expected 3 kernel_params, got ", params.size());
  kernel.gamma = params[0];
  kernel.coef0 = params[1];
  kernel.degree = params[2];
  return kernel;
}

// How many features a support vector has.
absl::StatusOr<int64_t> FeaturesOf(size_t numbers, int64_t vectors) {
  const int64_t n = static_cast<int64_t>(numbers);
  if (n % vectors == 0) return n / vectors;
  return Invalid(n, " numbers for ", vectors, " support vectors");
}

absl::Status SameFeatures(const Dim& x, int64_t features) {
  if (!x.is_static() || x.value() == features) return absl::OkStatus();
  return Invalid("expected ", features, " features, got ", x.value());
}

// --- svm_regressor --------------------------------------------------------------------------

struct Regressor {
  Kernel kernel;
  std::vector<float> coefficients, vectors;
  int64_t supports = 0, features = 0;
  double rho = 0;
};

// What is absent is missed only when the node runs.
absl::StatusOr<Regressor> RegressorOf(const AttributeMap& attrs) {
  Regressor r;
  X2IR_ASSIGN_OR_RETURN(r.kernel, KernelOf(attrs));
  X2IR_RETURN_IF_ERROR(PostTransformOf(attrs).status());
  r.coefficients = ListAttr<float>(attrs, "coefficients");
  r.vectors = ListAttr<float>(attrs, "support_vectors");
  r.supports = attrs.Int("n_supports");
  const auto& rho = ListAttr<float>(attrs, "rho");
  if (!rho.empty()) r.rho = rho[0];
  if (r.supports < 0) return Invalid("n_supports: ", r.supports);
  if (r.supports == 0) {  // a linear model, whatever the kernel
    r.kernel = Kernel();
    r.features = static_cast<int64_t>(r.coefficients.size());
    return r;
  }
  X2IR_ASSIGN_OR_RETURN(r.features, FeaturesOf(r.vectors.size(), r.supports));
  if (!r.coefficients.empty() && static_cast<int64_t>(r.coefficients.size()) != r.supports) {
    return Invalid(r.coefficients.size(), " coefficients for ", r.supports, " support vectors");
  }
  return r;
}

absl::Status InferSvmRegressor(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Regressor r, RegressorOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  if (r.features != 0) X2IR_RETURN_IF_ERROR(SameFeatures(x.features, r.features));
  return ctx.Return(DType::kFloat32, Shape{x.rows, 1});
}

absl::Status EvalSvmRegressor(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Regressor r, RegressorOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  X2IR_RETURN_IF_ERROR(SameFeatures(shape.features, r.features));
  if (r.coefficients.empty()) return Invalid("expected coefficients, got none");
  if (ListAttr<float>(ctx.attrs(), "rho").empty()) return Invalid("expected rho, got none");
  const bool one_class = ctx.attrs().Int("one_class") != 0;
  const Numbers<float> x(ctx.input(0));
  NumbersOut<float> y(DType::kFloat32, {shape.rows, 1});
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float* features = x.data() + row * shape.features;
    double sum = r.rho;
    if (r.supports == 0) {
      sum += r.kernel(features, r.coefficients.data(), r.features);
    }
    for (int64_t v = 0; v < r.supports; ++v) {
      const float* vector = r.vectors.data() + v * r.features;
      sum += r.coefficients[v] * r.kernel(features, vector, r.features);
    }
    y[row] = !one_class ? static_cast<float>(sum) : sum > 0 ? 1.0f : -1.0f;
  }
  return ctx.Return(y.Finish());
}

X2IR_OP(svm_regressor)
    .Signature("x -> y")
    .Attrs(
        "coefficients: floats?, kernel_params: floats?, kernel_type = 'LINEAR', n_supports = 0, "
        "one_class = 0, post_transform = 'NONE', rho: floats?, support_vectors: floats?")
    .Functions(InferSvmRegressor, EvalSvmRegressor)
    .With(ClassicOp)
    .Heavy()
    .Doc(
        "rho plus the coefficients times the kernel of the features and each support vector, or "
        "times the features where there are none; its sign if one_class. No runtime applies a "
        "transform to the one score, and neither does this.");

// --- svm_classifier -------------------------------------------------------------------------

struct Classifier {
  Kernel kernel;
  ClassLabels labels;
  std::vector<float> coefficients, vectors, rho, prob_a, prob_b;
  std::vector<int64_t> first;  // the first support vector of each class, and past the last one
  int64_t classes = 0, supports = 0, features = 0;
  int64_t pairs() const { return classes * (classes - 1) / 2; }
  bool with_probabilities() const { return supports > 0 && !prob_a.empty(); }
  // How many scores a row has.
  int64_t width() const {
    if (supports == 0 || with_probabilities()) return classes;
    return classes > 2 ? pairs() : 2;
  }
};

absl::StatusOr<Classifier> ClassifierOf(const AttributeMap& attrs) {
  Classifier c;
  X2IR_ASSIGN_OR_RETURN(c.kernel, KernelOf(attrs));
  X2IR_RETURN_IF_ERROR(PostTransformOf(attrs).status());
  X2IR_ASSIGN_OR_RETURN(c.labels,
                        ClassLabels::Of(attrs, "classlabels_strings", "classlabels_ints"));
  c.classes = c.labels.size();
  if (c.classes > 65535) return Unimplemented(c.classes, " classes");
  c.coefficients = ListAttr<float>(attrs, "coefficients");
  c.vectors = ListAttr<float>(attrs, "support_vectors");
  c.rho = ListAttr<float>(attrs, "rho");
  c.prob_a = ListAttr<float>(attrs, "prob_a");
  c.prob_b = ListAttr<float>(attrs, "prob_b");
  if (!c.prob_a.empty() && !c.prob_b.empty() && c.prob_a.size() != c.prob_b.size()) {
    return Invalid(c.prob_a.size(), " prob_a for ", c.prob_b.size(), " prob_b");
  }
  c.first = {0};
  for (const int64_t n : ListAttr<int64_t>(attrs, "vectors_per_class")) {
    if (n < 0 || n > std::numeric_limits<int32_t>::max()) return Invalid("vectors_per_class: ", n);
    c.first.push_back(c.supports += n);
  }
  const int64_t coefficients = static_cast<int64_t>(c.coefficients.size());
  if (c.supports == 0) {  // a linear model, whatever the kernel
    c.kernel = Kernel();
    if (c.classes != 0) c.features = coefficients / c.classes;
    if (c.classes != 0 && coefficients % c.classes != 0) {
      return Invalid(coefficients, " coefficients for ", c.classes, " classes");
    }
    return c;
  }
  X2IR_ASSIGN_OR_RETURN(c.features, FeaturesOf(c.vectors.size(), c.supports));
  auto expect = [&](std::string_view what, size_t have, int64_t want) -> absl::Status {
    if (have == 0 || static_cast<int64_t>(have) >= want) return absl::OkStatus();
    return Invalid("expected ", want, " ", what, ", got ", have);
  };
  if (c.classes == 0) return c;
  if (static_cast<int64_t>(c.first.size()) != c.classes + 1) {
    return Invalid(c.first.size() - 1, " vectors_per_class for ", c.classes, " classes");
  }
  X2IR_RETURN_IF_ERROR(expect("coefficients", c.coefficients.size(), (c.classes - 1) * c.supports));
  X2IR_RETURN_IF_ERROR(expect("rho", c.rho.size(), c.pairs()));
  X2IR_RETURN_IF_ERROR(expect("prob_a", c.prob_a.size(), c.pairs()));
  X2IR_RETURN_IF_ERROR(expect("prob_b", c.prob_b.size(), c.pairs()));
  return c;
}

absl::Status InferSvmClassifier(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Classifier c, ClassifierOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  if (c.features != 0) X2IR_RETURN_IF_ERROR(SameFeatures(x.features, c.features));
  ctx.Set(0, c.labels.dtype(), Shape{x.rows});
  ctx.Set(1, DType::kFloat32, Shape{x.rows, c.classes == 0 ? Dim() : Dim(c.width())});
  return absl::OkStatus();
}

// A score for each pair of classes (0,1), (0,2), ..., (1,2), ...: above 0 for the first of them.
// Row i of the coefficients holds, for the vectors of class j, what they weigh against class i
// if i < j, else against class i + 1.
std::vector<float> PairScores(const Classifier& c, const float* x) {
  std::vector<double> kernel(c.supports);
  for (int64_t v = 0; v < c.supports; ++v) {
    kernel[v] = c.kernel(x, c.vectors.data() + v * c.features, c.features);
  }
  std::vector<float> scores;
  for (int64_t i = 0; i < c.classes; ++i) {
    for (int64_t j = i + 1; j < c.classes; ++j) {
      double sum = c.rho[scores.size()];
      auto add = [&](int64_t of, int64_t row) {
        for (int64_t v = c.first[of]; v < c.first[of + 1]; ++v) {
          sum += c.coefficients[row * c.supports + v] * kernel[v];
        }
      };
      add(i, j - 1);
      add(j, i);
      scores.push_back(static_cast<float>(sum));
    }
  }
  return scores;
}

// The probabilities of the classes from those of all pairs (Wu, Lin and Weng 2004, the second
// method): p minimizes the sum over i != j of (r[j][i] p[i] - r[i][j] p[j])^2. The iteration
// ends as early as libsvm's does, since that shows in the results.
std::vector<float> CoupleProbabilities(int64_t k, const std::vector<double>& r) {
  std::vector<double> q(k * k, 0.0), p(k, 1.0 / k), qp(k);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      if (i == j) continue;
      q[i * k + i] += r[j * k + i] * r[j * k + i];
      q[i * k + j] = -r[j * k + i] * r[i * k + j];
    }
  }
  for (int round = 0; round < 100; ++round) {
    double pqp = 0, error = 0;
    for (int64_t i = 0; i < k; ++i) {
      qp[i] = 0;
      for (int64_t j = 0; j < k; ++j) qp[i] += q[i * k + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (int64_t i = 0; i < k; ++i) error = std::max(error, std::abs(qp[i] - pqp));
    if (error < 0.005 / k) break;
    for (int64_t i = 0; i < k; ++i) {
      // One coordinate is moved to where it is best, then all are scaled to sum to 1 again.
      const double own = q[i * k + i], step = (pqp - qp[i]) / own, scale = 1 + step;
      pqp = (pqp + step * (step * own + 2 * qp[i])) / (scale * scale);
      p[i] += step;
      for (int64_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[i * k + j]) / scale;
        p[j] /= scale;
      }
    }
  }
  return {p.begin(), p.end()};
}

std::vector<float> Probabilities(const Classifier& c, const std::vector<float>& pair_scores) {
  constexpr double kLeast = 1e-7;
  std::vector<double> r(c.classes * c.classes, 0.0);
  size_t pair = 0;
  for (int64_t i = 0; i < c.classes; ++i) {
    for (int64_t j = i + 1; j < c.classes; ++j, ++pair) {
      const double no =
          Logistic<double>(double{pair_scores[pair]} * c.prob_a[pair] + c.prob_b[pair]);
      r[i * c.classes + j] = std::clamp(1 - no, kLeast, 1 - kLeast);
      r[j * c.classes + i] = 1 - r[i * c.classes + j];
    }
  }
  return CoupleProbabilities(c.classes, r);
}

absl::Status CheckComplete(const Classifier& c) {
  if (c.classes == 0) return Invalid("expected class labels, got none");
  if (c.coefficients.empty()) return Invalid("expected coefficients, got none");
  if (c.rho.empty()) return Invalid("expected rho, got none");
  if (c.prob_a.size() != c.prob_b.size()) {
    return Invalid(c.prob_a.size(), " prob_a for ", c.prob_b.size(), " prob_b");
  }
  if (c.supports > 0 && c.classes == 1) return Unimplemented("support vectors of a single class");
  return absl::OkStatus();
}

absl::Status EvalSvmClassifier(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Classifier c, ClassifierOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  X2IR_RETURN_IF_ERROR(CheckComplete(c));
  X2IR_RETURN_IF_ERROR(SameFeatures(shape.features, c.features));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, {shape.rows, c.width()}));
  const bool all_positive =
      std::all_of(c.coefficients.begin(), c.coefficients.end(), [](float v) { return v >= 0; });
  const Numbers<float> x(ctx.input(0));
  NumbersOut<float> z(DType::kFloat32, {shape.rows, c.width()});
  std::vector<int64_t> chosen(shape.rows);
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float* features = x.data() + row * shape.features;
    std::vector<float> scores;
    FirstScore first = FirstScore::kNotWanted;
    if (c.supports > 0) {
      scores = PairScores(c, features);
      std::vector<int64_t> votes(c.classes, 0);
      size_t pair = 0;
      for (int64_t i = 0; i < c.classes; ++i) {
        for (int64_t j = i + 1; j < c.classes; ++j) ++votes[scores[pair++] > 0 ? i : j];
      }
      chosen[row] = std::max_element(votes.begin(), votes.end()) - votes.begin();
      if (c.with_probabilities()) {
        scores = Probabilities(c, scores);
      } else if (c.classes == 2) {
        first = transform == PostTransform::kNone ? FirstScore::kNegative : FirstScore::kComplement;
      }
    } else {
      for (int64_t k = 0; k < c.classes; ++k) {
        const float* row_of_class = c.coefficients.data() + k * c.features;
        scores.push_back(
            static_cast<float>(c.rho[0] + c.kernel(features, row_of_class, c.features)));
      }
      chosen[row] = std::max_element(scores.begin(), scores.end()) - scores.begin();
      // Of two classes the second is chosen as soon as any score is high enough.
      const float best = scores[chosen[row]];
      if (c.classes == 2 && c.prob_a.empty() && (all_positive ? best >= 0.5f : best > 0)) {
        chosen[row] = 1;
      }
    }
    X2IR_RETURN_IF_ERROR(FinishScores(transform, first, scores));
    std::copy(scores.begin(), scores.end(), z.data() + row * c.width());
  }
  ctx.Set(0, c.labels.Take(chosen));
  ctx.Set(1, z.Finish());
  return absl::OkStatus();
}

X2IR_OP(svm_classifier)
    .Signature("x -> y, z")
    .Attrs(
        "classlabels_ints: ints?, classlabels_strings: strings?, coefficients: floats?, "
        "kernel_params: floats?, kernel_type = 'LINEAR', post_transform = 'NONE', prob_a: floats?, "
        "prob_b: floats?, rho: floats?, support_vectors: floats?, vectors_per_class: ints?")
    .Functions(InferSvmClassifier, EvalSvmClassifier)
    .With(ClassicOp)
    .Heavy()
    .Doc(
        "The label of the class that most pairwise classifiers vote for, and the transformed "
        "scores: one a pair, or one a class if there are prob_a and prob_b. Without support "
        "vectors a linear classifier.");

}  // namespace
}  // namespace x2ir
