// Resampling along one axis: the inputs of each result and their weights. Evaluation and lowering
// share it.
#ifndef X2IR_OPS_RESIZE_H_
#define X2IR_OPS_RESIZE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct ResizeAxis {
  int64_t in, out;
  float scale;
  double length;             // of the output, before it was made whole
  float start = 0, end = 1;  // region of interest

  // Of sizes that are given; the scale follows from them.
  static ResizeAxis Of(int64_t in, int64_t out) {
    return {in, out, static_cast<float>(out) / static_cast<float>(in), static_cast<double>(out)};
  }

  // Whether every result is the element of its own place (unless a region is cropped).
  bool same() const { return in == out && scale == 1; }
};

// The inputs of one output position along an axis.
struct ResizeTaps {
  bool outside = false;                            // tf_crop_and_resize: the extrapolation value
  std::vector<std::pair<int64_t, double>> inputs;  // (index, weight)
};

// For all output positions, from the attributes of op resize. `axis.in` must be over 0.
absl::StatusOr<std::vector<ResizeTaps>> ResizeTapsAlong(const AttributeMap& attrs,
                                                        const ResizeAxis& axis);

// Whether the corner positions of a resize node follow from the sizes alone: with `align_corners`
// and scales, IR divides by size times scale, which runtimes that use sizes round first.
bool CornersFollowSizes(const Node& resize);

// Whether op resize gives for each output position of the axis just the element of `picks`.
// Attributes that are not among `attrs` have their defaults.
bool ResizePicks(const AttributeMap& attrs, const ResizeAxis& axis,
                 absl::Span<const int64_t> picks);

}  // namespace x2ir

#endif  // X2IR_OPS_RESIZE_H_
