// Resizes of images: how frameworks sample, as op resize has it, read and written.
#ifndef X2IR_BUILDER_LAYERS_RESIZE_H_
#define X2IR_BUILDER_LAYERS_RESIZE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/builder/size.h"
#include "x2ir/ops/resize.h"

namespace X2IR_API x2ir {

// The attributes of op resize that say where a result is sampled and what it is made of.
struct Sampling {
  std::string_view mode;         // nearest, linear, cubic
  std::string_view coordinates;  // coordinate_transformation_mode
  std::string_view rounding;     // nearest_mode; empty for other modes than nearest

  // Those attributes, and `axes` where some are named.
  AttributeMap Attrs(std::vector<int64_t> axes = {}) const;
  bool operator==(const Sampling&) const = default;
};

// Each element is repeated, or each n-th one taken: of output i it is input floor(i * in / out).
inline constexpr Sampling kNearestFloor = {"nearest", "asymmetric", "floor"};
// The element that the middle of the result lies in: floor((i + 1/2) * in / out).
inline constexpr Sampling kNearestMiddle = {"nearest", "half_pixel", "round_prefer_ceil"};
// Of corners that stay corners.
inline constexpr Sampling kNearestCorners = {"nearest", "align_corners", "round_prefer_ceil"};
// Linear or cubic, where the corners stay corners, or pixels have their place in their middles, or
// else at their begins.
constexpr Sampling Interpolated(std::string_view mode, bool corners, bool half_pixel = true) {
  return {mode, corners ? "align_corners" : half_pixel ? "half_pixel" : "asymmetric", ""};
}

// x resized to sizes, or by factors, of all axes, or of those that are named.
Expr ResizedTo(const Expr& x, const std::vector<Size>& sizes, const Sampling& sampling,
               std::vector<int64_t> axes = {});
Expr ResizedBy(const Expr& x, Value* factors, const Sampling& sampling,
               std::vector<int64_t> axes = {});
Expr ResizedBy(const Expr& x, const std::vector<float>& factors, const Sampling& sampling);

// The element that kernels of TensorFlow and TFLite take for each result of an axis: they multiply
// by the quotient of the sizes, in float32.
std::vector<int64_t> NearestBySizes(const ResizeAxis& axis, bool align_corners, bool half_pixel);
// Whether they take the elements of op resize, `times` as many, whatever the sizes: the inverse is
// not rounded down, so that rounding reaches no place of the next element. Not of corners.
inline constexpr int64_t kMaxTimesOfAnySize = 64;
bool IsNearestOfAnySize(int64_t times);

// --- Written --------------------------------------------------------------------------------

// How an op resize samples. pytorch_half_pixel is given as half_pixel unless an axis may shrink to
// one element: there alone PyTorch's former rule takes the first element, and not the middle.
// The texts are those of the node, or constants.
Sampling SamplingOf(const Node& resize);
// Whether it is one of those that a target has; FailedPrecondition says which one it is not.
absl::Status CheckSampling(const Sampling& sampling, absl::Span<const Sampling> said);
// Whether NearestBySizes are the elements that op resize takes along an axis of these sizes.
bool IsNearestBySizes(const Node& resize, const Sampling& sampling, int64_t in, int64_t out);
// The factor of each axis of x, of that rank, in an op resize that has factors: 1 for axes that
// `axes` does not name. FailedPrecondition where they are computed.
absl::StatusOr<std::vector<double>> AxisFactors(const Node& resize, int64_t rank);
// Whether nothing but a Sampling says what an op resize computes with its sizes or factors: no
// antialias, no exclude_outside, no policy.
bool IsPlainResize(const Node& resize);
// A resize of rows and columns, channels first, by one with channels last between transposes.
Value* ResizedChannelsLast(Builder& b, const Node& resize, Value* factors, Value* sizes);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_RESIZE_H_
