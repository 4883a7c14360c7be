// roi_align: regions of an image, pooled from interpolated samples.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

struct RoiOptions {
  bool half_pixel, max;
  int64_t height, width, samples;
};

absl::StatusOr<RoiOptions> ReadRoiOptions(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(const bool output_half_pixel,
                        ChoiceAttr<bool>(attrs, "coordinate_transformation_mode",
                                         {"half_pixel", "output_half_pixel"}));
  X2IR_ASSIGN_OR_RETURN(const bool max, ChoiceAttr<bool>(attrs, "mode", {"avg", "max"}));
  const RoiOptions o{!output_half_pixel, max, attrs.Int("output_height"), attrs.Int("output_width"),
                     attrs.Int("sampling_ratio")};
  if (o.height < 1 || o.width < 1)
    return Invalid("output_height and output_width: expected from 1");
  if (o.samples < 0) return Invalid("sampling_ratio: expected a number from 0, got ", o.samples);
  return o;
}

absl::Status InferRoiAlign(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const RoiOptions o, ReadRoiOptions(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 2, "batch_indices"));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 2));
  Shape out{Dim::Unknown(), Dim::Unknown(), Dim(o.height), Dim(o.width)};
  if (const Shape* x = ctx.shape(0)) {
    if (x->rank() != 4) return Invalid("x: expected rank 4, got ", x->rank());
    out[1] = (*x)[1];
  }
  if (const Shape* rois = ctx.shape(1)) {
    if (rois->rank() != 2 || ProvablyDifferent((*rois)[1], Dim(4))) {
      return Invalid("rois: expected shape [n,4], got [", rois->ToString(), "]");
    }
    out[0] = (*rois)[0];
  }
  if (const Shape* batch = ctx.shape(2)) {
    if (batch->rank() != 1) return Invalid("batch_indices: expected rank 1, got ", batch->rank());
    X2IR_ASSIGN_OR_RETURN(out[0], SameDim(out[0], (*batch)[0]));
  }
  return ctx.Return(dtype, std::move(out));
}

// One axis of a sample: the two pixels around it and their weights, both 0 where it is outside.
struct Between {
  int64_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};

template <typename T>
Between Around(T at, int64_t size) {
  if (!(at >= -1 && at <= static_cast<T>(size))) return {};
  at = std::max(at, T{0});
  Between b;
  b.low = static_cast<int64_t>(at);
  if (b.low >= size - 1) {
    b.low = b.high = size - 1;
    at = static_cast<T>(b.low);
  } else {
    b.high = b.low + 1;
  }
  b.high_weight = static_cast<double>(at - static_cast<T>(b.low));
  b.low_weight = 1 - b.high_weight;
  return b;
}

// A region along one axis.
template <typename T>
struct RoiAxis {
  T start, bin;
  int64_t samples;  // a bin
  T At(int64_t bin_index, int64_t sample) const {
    return start + static_cast<T>(bin_index) * bin +
           (static_cast<T>(sample) + T(0.5)) * bin / static_cast<T>(samples);
  }
};

// A guard against regions that take too long to compute.
constexpr double kMaxSamples = 1e6;

template <typename T>
absl::StatusOr<RoiAxis<T>> PlaceRoi(T from, T to, T scale, int64_t bins, const RoiOptions& o) {
  const T offset = o.half_pixel ? T(0.5) : T(0);
  RoiAxis<T> axis;
  axis.start = from * scale - offset;
  T length = to * scale - offset - axis.start;
  if (!o.half_pixel) length = std::max(length, T(1));
  axis.bin = length / static_cast<T>(bins);
  const double samples = o.samples > 0 ? static_cast<double>(o.samples) : std::ceil(axis.bin);
  if (!(samples <= kMaxSamples)) return Invalid("a region has too many samples a bin: ", samples);
  axis.samples = static_cast<int64_t>(std::max(samples, 0.0));
  return axis;
}

template <typename T>
absl::Status EvalRois(EvalContext& ctx, const RoiOptions& o) {
  const Tensor& x = ctx.input(0);
  const Numbers<T> rois(ctx.input(1));
  const Numbers<double> in(x);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> batch, IntsOperand(ctx, 2, "batch_indices"));
  const int64_t count = ctx.dims(1)[0], channels = x.dim(1), rows = x.dim(2), columns = x.dim(3);
  std::vector<int64_t> dims = {count, channels, o.height, o.width};
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
  std::vector<double> out(Count(dims), 0.0);
  const T scale = static_cast<T>(ctx.attrs().Float("spatial_scale"));
  std::vector<Between> ys, xs;
  for (int64_t r = 0; r < count; ++r) {
    if (batch[r] < 0 || batch[r] >= x.dim(0)) {
      return Invalid("batch index ", batch[r], " is out of range; the batch has ", x.dim(0));
    }
    const T* roi = rois.data() + r * 4;
    X2IR_ASSIGN_OR_RETURN(const RoiAxis<T> w, PlaceRoi<T>(roi[0], roi[2], scale, o.width, o));
    X2IR_ASSIGN_OR_RETURN(const RoiAxis<T> h, PlaceRoi<T>(roi[1], roi[3], scale, o.height, o));
    if (static_cast<double>(w.samples) * static_cast<double>(h.samples) > kMaxSamples) {
      return Invalid("a region has too many samples a bin: ", h.samples, " by ", w.samples);
    }
    const int64_t samples = h.samples * w.samples;
    if (samples == 0 || rows == 0 || columns == 0) continue;  // zeros
    for (int64_t ph = 0; ph < o.height; ++ph) {
      ys.clear();
      for (int64_t i = 0; i < h.samples; ++i) ys.push_back(Around<T>(h.At(ph, i), rows));
      for (int64_t pw = 0; pw < o.width; ++pw) {
        xs.clear();
        for (int64_t i = 0; i < w.samples; ++i) xs.push_back(Around<T>(w.At(pw, i), columns));
        for (int64_t c = 0; c < channels; ++c) {
          const double* plane = in.data() + (batch[r] * channels + c) * rows * columns;
          double sum = 0, top = 0;
          bool first = true;
          for (const Between& y : ys) {
            for (const Between& z : xs) {
              const double parts[4] = {
                  y.low_weight * z.low_weight * plane[y.low * columns + z.low],
                  y.low_weight * z.high_weight * plane[y.low * columns + z.high],
                  y.high_weight * z.low_weight * plane[y.high * columns + z.low],
                  y.high_weight * z.high_weight * plane[y.high * columns + z.high]};
              sum += parts[0] + parts[1] + parts[2] + parts[3];
              // ONNX takes the largest of the weighted pixels, not of the interpolated samples.
              const double largest = *std::max_element(parts, parts + 4);
              top = first ? largest : std::max(top, largest);
              first = false;
            }
          }
          out[((r * channels + c) * o.height + ph) * o.width + pw] =
              o.max ? top : sum / static_cast<double>(samples);
        }
      }
    }
  }
  return ctx.Return(FromNumbers<double>(x.dtype(), std::move(dims), out));
}

absl::Status EvalRoiAlign(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const RoiOptions o, ReadRoiOptions(ctx.attrs()));
  const Tensor& rois = ctx.input(1);
  if (ctx.input(0).rank() != 4) return Invalid("x: expected rank 4, got ", ctx.input(0).rank());
  if (rois.rank() != 2 || rois.dim(1) != 4 || !IsFloating(rois.dtype())) {
    return Invalid("rois: expected floats of shape [n,4], got ", rois.type().ToString());
  }
  if (ctx.dims(2) != std::vector<int64_t>{rois.dim(0)}) {
    return Invalid("batch_indices: expected one for each of ", rois.dim(0), " rois");
  }
  return DispatchFloat(ctx.dtype(0), [&](auto zero) { return EvalRois<decltype(zero)>(ctx, o); });
}

X2IR_OP(roi_align)
    .Signature("x, rois, batch_indices -> y")
    .Attrs(
        "coordinate_transformation_mode = 'half_pixel', mode = 'avg', output_height = 1, "
        "output_width = 1, sampling_ratio = 0, spatial_scale = 1.0")
    .Functions(InferRoiAlign, EvalRoiAlign)
    .Opaque()
    .Heavy()
    .Doc(
        "Each region (x1, y1, x2, y2) of x, channels first, cut into bins; the mean of each, or "
        "its largest number, over samples that are interpolated between pixels.")
    .NeedsFloat32(float32_for::kPlaces);

}  // namespace
}  // namespace x2ir
