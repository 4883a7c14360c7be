// TensorFlow.js: boxes that no better one overlaps too much. It leaves out boxes that overlap a
// better one by the threshold, too, where TensorFlow wants more than that (4.22).
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/handlers/tf/non_max_suppression.h"
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

// By the least number above the threshold, which is at most 1 for TensorFlow.js. No box overlaps
// another one by more than 1, and none without an area overlaps any.
absl::StatusOr<Value*> ToTfjsNonMaxSuppression(TfWriter& w) {
  using Limits = std::numeric_limits<float>;
  const auto known = w.has(3) ? KnownTensor(*w.in(3)) : Tensor::Scalar(0.0f);
  if (known && known->num_elements() == 1) {
    const auto threshold = static_cast<float>(known->AsDouble(0));
    if (!(threshold >= 0 && threshold <= 1)) {
      return CannotExpress("a threshold of overlap of ", threshold);
    }
    if (threshold < 1) {
      Value* const above = w.Number(DType::kFloat32, std::nextafter(threshold, 1.0f));
      return ToTfNonMaxSuppression(w, w.in(0), above);
    }
  }
  const Expr threshold(w.b(), w.Reshape(w.in(3), {}));
  const Expr boxes = Expr(w.b(), w.in(0)) * (threshold < 1.0).To(DType::kFloat32);
  const Expr above = threshold * (1 + Limits::epsilon()) + Limits::denorm_min();
  return ToTfNonMaxSuppression(w, boxes.value(), Min(above, 1.0).value());
}

}  // namespace

X2IR_TFJS(non_max_suppression).To("NonMaxSuppressionV3", ToTfjsNonMaxSuppression);

}  // namespace x2ir
