// The boxes that SSD's detectors begin with, as Caffe and ncnn lay them out.
#ifndef X2IR_BUILDER_PRIOR_BOXES_H_
#define X2IR_BUILDER_PRIOR_BOXES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

constexpr int64_t kMaxPriors = 1 << 22;

struct PriorBoxes {
  int64_t rows, columns;                          // of the map: as many boxes at each place
  double width, height;                           // of the image, in pixels
  double step_w, step_h;                          // from one place to the next
  double offset;                                  // of a place's middle, in steps
  bool clip;                                      // corners stay in the image
  std::vector<std::pair<double, double>> halves;  // of the width and the height of each box
  std::vector<double> variances;                  // 4, or 1 for all
};
// [1, 2, 4 * boxes]: corners as parts of the image, and variances. Unimplemented for more than
// kMaxPriors boxes.
absl::StatusOr<Value*> CornersOf(Builder& b, DType dtype, const PriorBoxes& boxes);

}  // namespace x2ir

#endif  // X2IR_BUILDER_PRIOR_BOXES_H_
