// The boxes that detectors begin with, computed at conversion: prior boxes of SSD
// (https://arxiv.org/abs/1512.02325) and anchors of Faster R-CNN
// (https://arxiv.org/abs/1506.01497).
#ifndef X2IR_BUILDER_LAYERS_ANCHORS_H_
#define X2IR_BUILDER_LAYERS_ANCHORS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

constexpr int64_t kMaxAnchors = 1 << 22;

// A box of a place of the map.
struct Anchor {
  double half_width, half_height;
  double x = 0, y = 0;  // of its middle, seen from the place
};
struct AnchorGrid {
  int64_t rows, columns;  // of the map: each place has all the anchors
  std::vector<Anchor> anchors;
  double step_x, step_y;              // from one place to the next
  double offset_x = 0, offset_y = 0;  // of the first place, in steps
  double width = 1, height = 1;       // of the image: what coordinates are divided by
  bool clip = false;                  // coordinates stay between 0 and 1
};
// x1, y1, x2, y2 of each box: by rows, columns and anchors.
std::vector<double> AnchorCorners(const AnchorGrid& grid);

// --- SSD ----------------------------------------------------------------------------------------

// Ratios of width to height without 1, each once (`flip`: its reciprocal follows it).
std::vector<double> PriorRatios(const std::vector<double>& given, bool flip);
// Of each smallest size a square, one of the size between it and the largest one (`most`: none, or
// as many as `least`), and a box of each ratio; `between_last`: the second one is the last.
std::vector<Anchor> PriorAnchors(const std::vector<double>& least, const std::vector<double>& most,
                                 const std::vector<double>& ratios, bool between_last = false);
// [1, 2, 4 * boxes], as Caffe and ncnn lay them out: corners, and variances (4, or 1 for all).
// Unimplemented for more than kMaxAnchors boxes.
absl::StatusOr<Value*> PriorBoxes(Builder& b, DType dtype, const AnchorGrid& grid,
                                  const std::vector<double>& variances);

// --- Faster R-CNN -------------------------------------------------------------------------------

struct BoxSize {
  double width, height;
};
// Of each ratio of height to width a box of about that area, whose sides are whole numbers, times
// each scale.
struct AnchorSides {
  double area;
  std::vector<double> ratios, scales = {1};
  bool halves_to_even = false;  // in rounding of sides; else up
  bool whole_area = false;      // rounded down before its root
};
std::vector<BoxSize> AnchorSizes(const AnchorSides& sides);
// A box ends at its last pixel: its corners differ by 1 less than its size.
Anchor PixelAnchor(const BoxSize& size, double x, double y);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_ANCHORS_H_
