// Shared code of the ops of classical machine learning (ONNX's domain ai.onnx.ml): rows of
// features, class labels, and transforms of scores. If the specification does not define a result,
// it is that of ONNX Runtime, which is the field's reference for these ops.
#ifndef X2IR_OPS_ML_UTIL_H_
#define X2IR_OPS_ML_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

// A list attribute; empty when it is left out.
template <typename T>
const std::vector<T>& ListAttr(const AttributeMap& attrs, Symbol name) {
  static const auto* none = new std::vector<T>;
  const Attribute* attr = attrs.Find(name);
  const auto* list = attr ? attr->get<std::vector<T>>() : nullptr;
  return list ? *list : *none;
}

// A part of their definitions: no rewrite changes them, and they need float32.
void ClassicOp(OpDef& op);

// --- Rows of features -----------------------------------------------------------------------

// InvalidArgument when the type is known and neither floating nor integer.
absl::Status ExpectReal(DType dtype);
// [N,F] is N rows of F features, [F] is one row.
struct RowShape {
  int64_t rows = 0, features = 0;
};
absl::StatusOr<RowShape> RowsOf(const Tensor& x);
// The number of rows and of features of operand 0, as far as they are known.
struct RowDims {
  Dim rows, features;
};
absl::StatusOr<RowDims> InferRows(const InferContext& ctx);
// The axis of the features in a tensor of any rank but 0: along axis 1, of a vector along axis 0.
int64_t FeatureAxis(int64_t rank);

// --- Class labels ---------------------------------------------------------------------------

// Strings or integers, by the two attributes of an op that hold them.
class ClassLabels {
 public:
  // InvalidArgument if both are present.
  static absl::StatusOr<ClassLabels> Of(const AttributeMap& attrs, Symbol strings, Symbol ints);
  // The labels for "no" and "yes" if there are no labels: 0 and 1.
  ClassLabels NoAndYes() const;
  bool are_strings() const { return !strings_.empty(); }
  DType dtype() const { return are_strings() ? DType::kString : DType::kInt64; }
  int64_t size() const {
    return static_cast<int64_t>(are_strings() ? strings_.size() : ints_.size());
  }
  // The labels of these classes, each in [0, size).
  Tensor Take(absl::Span<const int64_t> classes) const;
  const std::vector<std::string>& strings() const { return strings_; }
  const std::vector<int64_t>& ints() const { return ints_; }

 private:
  std::vector<std::string> strings_;
  std::vector<int64_t> ints_;
};

// --- Scores ---------------------------------------------------------------------------------

enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
absl::StatusOr<PostTransform> PostTransformOf(const AttributeMap& attrs);

// The score of the first of two classes if only one score, s, was computed. LOGISTIC makes it the
// logistic function of -s in any case.
enum class FirstScore : uint8_t {
  kNotWanted,   // one score is one score
  kComplement,  // 1 - s
  kNegative,    // -s
};

// Applies the transform to the scores of one row. To a single score only PROBIT applies: no
// runtime does more, whatever the model asks for.
template <typename T>
absl::Status FinishScores(PostTransform transform, FirstScore first, std::vector<T>& scores);

template <typename T>
T Logistic(T x);

}  // namespace x2ir

#endif  // X2IR_OPS_ML_UTIL_H_
