// See ml_util.h.
#include "x2ir/ops/ml_util.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

// The inverse of the error function by the one formula that runtimes use here (Winitzki's, good
// to 2e-3): the exact function would give other numbers than they do.
template <typename T>
T InverseErf(T x) {
  constexpr T kA = T(0.147);
  const T log = portable::log((1 - x) * (1 + x));
  const T half = 2 / (std::numbers::pi_v<T> * kA) + log / 2;
  const T root = std::sqrt(std::sqrt(half * half - log / kA) - half);
  return x < 0 ? -root : root;
}

template <typename T>
T Probit(T x) {
  return std::numbers::sqrt2_v<T> * InverseErf(2 * x - 1);
}

// SOFTMAX_ZERO leaves out the scores that are zero, or so small that they count as zero.
template <typename T>
void SoftmaxOf(bool leave_out_zeros, std::vector<T>& scores) {
  constexpr T kZero = T(1e-7);
  T max = std::numeric_limits<T>::lowest(), sum = 0;
  for (const T s : scores) max = std::max(max, s);
  for (T& s : scores) {
    if (leave_out_zeros && !(s > kZero || s < -kZero)) {
      s *= portable::exp(-max);
    } else {
      s = portable::exp(s - max);
      sum += s;
    }
  }
  for (T& s : scores) s /= sum;
}

}  // namespace

absl::Status ExpectReal(DType dtype) {
  if (dtype == DType::kUndefined || IsFloating(dtype) || IsInteger(dtype)) return absl::OkStatus();
  return Invalid("expected numbers, got ", Name(dtype));
}

absl::StatusOr<RowShape> RowsOf(const Tensor& x) {
  X2IR_RETURN_IF_ERROR(ExpectReal(x.dtype()));
  if (x.rank() == 1) return RowShape{1, x.dim(0)};
  if (x.rank() == 2) return RowShape{x.dim(0), x.dim(1)};
  return Invalid("expected [N,F] or [F], got ", DimsText(x.dims()));
}

absl::StatusOr<RowDims> InferRows(const InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectReal(ctx.dtype(0)));
  const Shape* x = ctx.shape(0);
  if (!x) return RowDims{};
  if (x->rank() == 1) return RowDims{1, (*x)[0]};
  if (x->rank() == 2) return RowDims{(*x)[0], (*x)[1]};
  return Invalid("expected [N,F] or [F], got rank ", x->rank());
}

int64_t FeatureAxis(int64_t rank) { return rank > 1 ? 1 : 0; }

absl::StatusOr<ClassLabels> ClassLabels::Of(const AttributeMap& attrs, Symbol strings,
                                            Symbol ints) {
  ClassLabels labels;
  labels.strings_ = ListAttr<std::string>(attrs, strings);
  labels.ints_ = ListAttr<int64_t>(attrs, ints);
  if (labels.strings_.empty() || labels.ints_.empty()) return labels;
  return Invalid("both ", strings.str(), " and ", ints.str(), " are given; expected one of them");
}

ClassLabels ClassLabels::NoAndYes() const {
  ClassLabels labels;
  if (are_strings()) {
    labels.strings_ = {"0", "1"};
  } else {
    labels.ints_ = {0, 1};
  }
  return labels;
}

Tensor ClassLabels::Take(absl::Span<const int64_t> classes) const {
  const std::vector<int64_t> dims = {static_cast<int64_t>(classes.size())};
  if (are_strings()) {
    Strings taken;
    for (const int64_t c : classes) taken.push_back(strings_[c]);
    return Tensor::Strings(dims, std::move(taken));
  }
  std::vector<int64_t> taken;
  for (const int64_t c : classes) taken.push_back(ints_[c]);
  return Tensor::Of<int64_t>(dims, taken);
}

void ClassicOp(OpDef& op) { op.Opaque().NeedsFloat32(float32_for::kClassic); }

absl::StatusOr<PostTransform> PostTransformOf(const AttributeMap& attrs) {
  return ChoiceAttr<PostTransform>(attrs, "post_transform",
                                   {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
}

template <typename T>
T Logistic(T x) {
  const T v = 1 / (1 + portable::exp(-std::abs(x)));
  return x < 0 ? 1 - v : v;
}

template <typename T>
absl::Status FinishScores(PostTransform transform, FirstScore first, std::vector<T>& scores) {
  if (scores.empty()) return absl::OkStatus();
  if (scores.size() > 1) {
    switch (transform) {
      case PostTransform::kNone: break;
      case PostTransform::kSoftmax: SoftmaxOf(false, scores); break;
      case PostTransform::kSoftmaxZero: SoftmaxOf(true, scores); break;
      case PostTransform::kLogistic:
        for (T& s : scores) s = Logistic(s);
        break;
      case PostTransform::kProbit:
        for (T& s : scores) s = Probit(s);
        break;
    }
    return absl::OkStatus();
  }
  const T s = scores[0];
  if (transform == PostTransform::kProbit) {
    // Runtimes leave the memory of the other score as they find it.
    if (first != FirstScore::kNotWanted) {
      return Unimplemented("PROBIT of one score for two classes: nothing says what the other is");
    }
    scores[0] = Probit(s);
  } else if (first != FirstScore::kNotWanted) {
    scores = {first == FirstScore::kComplement ? 1 - s : -s, s};
    if (transform == PostTransform::kLogistic) scores = {Logistic(-s), Logistic(s)};
  }
  return absl::OkStatus();
}

template float Logistic<float>(float);
template double Logistic<double>(double);
template absl::Status FinishScores<float>(PostTransform, FirstScore, std::vector<float>&);
template absl::Status FinishScores<double>(PostTransform, FirstScore, std::vector<double>&);

}  // namespace x2ir
