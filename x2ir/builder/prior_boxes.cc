#include "x2ir/builder/prior_boxes.h"

#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

absl::StatusOr<Value*> CornersOf(Builder& b, DType dtype, const PriorBoxes& boxes) {
  const auto count =
      CheckedProduct({boxes.rows, boxes.columns, static_cast<int64_t>(boxes.halves.size())});
  if (!count || *count > kMaxPriors) return Unimplemented("as many boxes");
  std::vector<double> numbers;
  for (int64_t row = 0; row < boxes.rows; ++row) {
    for (int64_t column = 0; column < boxes.columns; ++column) {
      const double x = (static_cast<double>(column) + boxes.offset) * boxes.step_w,
                   y = (static_cast<double>(row) + boxes.offset) * boxes.step_h;
      for (const auto& [half_w, half_h] : boxes.halves) {
        for (const double edge : {(x - half_w) / boxes.width, (y - half_h) / boxes.height,
                                  (x + half_w) / boxes.width, (y + half_h) / boxes.height}) {
          numbers.push_back(boxes.clip ? std::clamp(edge, 0.0, 1.0) : edge);
        }
      }
    }
  }
  const size_t each = boxes.variances.size();
  for (int64_t i = 0; i < *count * 4; ++i) {
    numbers.push_back(boxes.variances[static_cast<size_t>(i) % each]);
  }
  return NumbersAs(b, dtype, {1, 2, *count * 4}, numbers, "priors").value();
}

}  // namespace x2ir
