// Caffe: resizing and sampling of images.
#include "x2ir/builder/layers/resize.h"

#include <algorithm>

#include "x2ir/builder/layers/images.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

// Of images whose corners stay corners.
absl::StatusOr<Value*> Interp(CaffeArgs& a) {
  const int64_t zoom = a.Int("zoom_factor", 1), shrink = a.Int("shrink_factor", 1);
  const int64_t height = a.Int("height", 0), width = a.Int("width", 0);
  const int64_t begin = a.Int("pad_beg", 0), end = a.Int("pad_end", 0);
  if (begin > 0 || end > 0 || zoom < 1 || shrink < 1) return Invalid("padding that adds");
  Expr x = a.in(0);
  for (int64_t axis = 2; begin + end < 0 && axis < 4; ++axis) {
    x = Slice(x, axis, Size(-begin), Plus(a, SizeAt(x, axis), Size(end)));
  }
  std::vector<Size> sizes = SizesAt(x, 0, 2);
  for (int64_t axis = 2; axis < 4; ++axis) {
    const int64_t asked = axis == 2 ? height : width;
    if (a.num_bottoms() > 1) {
      sizes.push_back(SizeAt(a.in(1), axis));
    } else if (height > 0 && width > 0) {
      sizes.emplace_back(asked);
    } else {
      Size size = SizeAt(x, axis);
      if (shrink > 1) size = Plus(a, Divided(a, Minus(a, size, Size(1)), Size(shrink)), Size(1));
      if (zoom > 1) {
        size = Plus(a, size, Times(a, Minus(a, size, Size(1)), Size(zoom - 1)));
      }
      sizes.push_back(size);
    }
  }
  return ResizedTo(x, sizes, Interpolated("linear", true)).value();
}

// Without indices each number is repeated to a square; with indices (a pool's second result) it is
// written at its index, and the others are 0.
absl::StatusOr<Value*> Upsample(CaffeArgs& a) {
  const int64_t scale = a.Int("scale", 2);
  const int64_t scale_h = a.Int("scale_h", scale), scale_w = a.Int("scale_w", scale);
  const int64_t height = a.Int("upsample_h", 0), width = a.Int("upsample_w", 0);
  const bool less_h = a.Bool("pad_out_h", false), less_w = a.Bool("pad_out_w", false);
  if (scale_h < 1 || scale_w < 1 || std::max(scale_h, scale_w) > 4096) {
    return Invalid("a scale of ", scale_h, " x ", scale_w);
  }
  if (a.num_bottoms() == 1) {
    a.Require(!less_h && !less_w && height == 0 && width == 0, "sizes beside a scale");
    return RepeatedPixels(a, a.in(0), scale_h, scale_w).value();
  }
  const auto sizes = KnownSizes(a.in(0), 2, 4);
  a.Require(sizes && std::max((*sizes)[0], (*sizes)[1]) <= INT32_MAX,
            "places in a plane of unknown size");
  const int64_t h = height > 0 ? height : (*sizes)[0] * scale_h - (less_h ? 1 : 0);
  const int64_t w = width > 0 ? width : (*sizes)[1] * scale_w - (less_w ? 1 : 0);
  const std::vector<Size> front = SizesAt(a.in(0), 0, 2);
  const Expr numbers = ReshapeTo(a.in(0), {front[0], front[1], Size(-1)});
  const Expr places = ReshapeTo(a.AsInt64(a.in(1)), {front[0], front[1], Size(-1)});
  const Expr zeros = Filled(a, a.dtype(), {front[0], front[1], Size(h * w)}, 0);
  const Expr y = ScatterElements(zeros, 2, places, numbers, "none");
  return ReshapeTo(y, {front[0], front[1], Size(h), Size(w)}).value();
}

}  // namespace

X2IR_CAFFE(resize)
    .From("Interp", "interp_param", Interp)
    .From("Upsample", "upsample_param", Upsample);

}  // namespace x2ir
