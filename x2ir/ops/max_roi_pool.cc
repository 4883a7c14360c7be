// max_roi_pool: regions of images in whole pixels, each cut into a grid of cells.
//
// ONNX says no more than "RoI max pool". The rules here are those of Fast R-CNN, where the op is
// from: corners are rounded away from zero, both belong to the region, cells overlap where the
// region does not divide, and arithmetic is in the element type (16-bit floats in float32).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

struct PooledShape {
  int64_t height, width;
};

absl::StatusOr<PooledShape> ReadPooledShape(const AttributeMap& attrs) {
  const auto& sizes = attrs.Ints("pooled_shape");
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) {
    return Invalid("pooled_shape: expected two numbers from 1, got ", DimsText(sizes));
  }
  return PooledShape{sizes[0], sizes[1]};
}

absl::Status InferMaxRoiPool(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const PooledShape pooled, ReadPooledShape(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 2));
  Shape out{Dim(), Dim(), Dim(pooled.height), Dim(pooled.width)};
  if (const Shape* x = ctx.shape(0)) {
    if (x->rank() != 4) return Invalid("x: expected rank 4, got ", x->rank());
    out[1] = (*x)[1];
  }
  if (const Shape* rois = ctx.shape(1)) {
    if (rois->rank() != 2 || ProvablyDifferent((*rois)[1], Dim(5))) {
      return Invalid("rois: expected shape [n,5], got [", rois->ToString(), "]");
    }
    out[0] = (*rois)[0];
  }
  return ctx.Return(dtype, std::move(out));
}

// Pixels [begin, end) of one axis.
struct Pixels {
  int64_t begin, end;
};

// One axis of a region, from which cells are cut.
template <typename T>
struct Region {
  int64_t start;
  T step;        // of a cell
  int64_t size;  // of the image

  Pixels Cell(int64_t i) const {
    const auto begin = static_cast<int64_t>(std::floor(static_cast<T>(i) * step));
    const auto end = static_cast<int64_t>(std::ceil(static_cast<T>(i + 1) * step));
    return {std::clamp<int64_t>(start + begin, 0, size), std::clamp<int64_t>(start + end, 0, size)};
  }
};

template <typename T>
absl::StatusOr<Region<T>> CutRegion(T first, T last, int64_t count, int64_t size) {
  constexpr T kLimit = T(1) * (int64_t{1} << 40);  // beyond any image, and no overflow
  first = std::round(first);
  last = std::round(last);
  if (!(std::abs(first) < kLimit && std::abs(last) < kLimit)) {
    return Invalid("rois: a corner is out of range");
  }
  const int64_t start = static_cast<int64_t>(first);
  const int64_t length = std::max<int64_t>(static_cast<int64_t>(last) - start + 1, 1);
  return Region<T>{start, static_cast<T>(length) / static_cast<T>(count), size};
}

// The largest number, 0 where there is none. NaN is never larger.
template <typename T>
T LargestIn(const T* image, int64_t width, Pixels rows, Pixels columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
  T largest = std::numeric_limits<T>::lowest();
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      if (image[y * width + x] > largest) largest = image[y * width + x];
    }
  }
  return largest;
}

absl::Status EvalMaxRoiPool(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const PooledShape pooled, ReadPooledShape(ctx.attrs()));
  const Tensor &x = ctx.input(0), &rois = ctx.input(1);
  if (x.rank() != 4) return Invalid("x: expected rank 4, got ", x.rank());
  if (rois.rank() != 2 || rois.dim(1) != 5 || rois.dtype() != x.dtype()) {
    return Invalid("rois: expected ", Name(x.dtype()), "[n,5], got ", rois.type().ToString());
  }
  const int64_t batch = x.dim(0), channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  const std::vector<int64_t> dims = {rois.dim(0), channels, pooled.height, pooled.width};
  X2IR_RETURN_IF_ERROR(CheckAllocation(x.dtype(), dims));
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> images(x), regions(rois);
    const auto scale = static_cast<T>(ctx.attrs().Float("spatial_scale"));
    NumbersOut<T> out(x.dtype(), dims);
    int64_t at = 0;
    for (int64_t r = 0; out.size() > 0 && r < rois.dim(0); ++r) {
      const T* roi = regions.data() + r * 5;  // image, x1, y1, x2, y2
      if (!(roi[0] >= 0 && roi[0] < static_cast<T>(batch))) {
        return Invalid("rois: there is no image ", roi[0]);
      }
      X2IR_ASSIGN_OR_RETURN(const auto columns,
                            CutRegion<T>(roi[1] * scale, roi[3] * scale, pooled.width, width));
      X2IR_ASSIGN_OR_RETURN(const auto rows,
                            CutRegion<T>(roi[2] * scale, roi[4] * scale, pooled.height, height));
      const int64_t first = static_cast<int64_t>(roi[0]) * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const T* image = images.data() + (first + c) * height * width;
        for (int64_t i = 0; i < pooled.height; ++i) {
          const Pixels row = rows.Cell(i);
          for (int64_t j = 0; j < pooled.width; ++j) {
            out[at++] = LargestIn(image, width, row, columns.Cell(j));
          }
        }
      }
    }
    return ctx.Return(out.Finish());
  });
}

X2IR_OP(max_roi_pool)
    .Signature("x, rois -> y")
    .Attrs("pooled_shape: ints, spatial_scale = 1.0")
    .Functions(InferMaxRoiPool, EvalMaxRoiPool)
    .Opaque()
    .Heavy()
    .Doc(
        "The largest number of each cell of a grid over each region, given as [image, x1, y1, x2, "
        "y2] in pixels times spatial_scale; 0 for a cell outside the image.")
    .NeedsFloat32(float32_for::kPlaces);

}  // namespace
}  // namespace x2ir
