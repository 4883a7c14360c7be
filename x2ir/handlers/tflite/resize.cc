// TFLite: resizing and sampling of images.
#include "x2ir/builder/layers/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/taps.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* Resize(TfliteArgs& a, const char* op) {
  return AsTf(a, op, {a.in(0), a.in(1)},
              {{"align_corners", a.Bool("align_corners", false)},
               {"half_pixel_centers", a.Bool("half_pixel_centers", false)}})[0];
}

// Kernels of int16 know places to 1/1024, which more digits than 8 bits have show.
Taps FixedPointTaps(bool align_corners, bool half_pixel, int64_t in, int64_t out) {
  constexpr int64_t kOne = 1024;
  const int64_t step = align_corners && out > 1 ? (kOne * (in - 1) + (out - 1) / 2) / (out - 1)
                                                : (kOne * in + out / 2) / out;
  Taps taps;
  taps.each = 2;
  for (int64_t o = 0; o < out; ++o) {
    const int64_t place = o * step + (half_pixel ? step / 2 - kOne / 2 : 0);
    const int64_t lower = std::clamp<int64_t>(place / kOne, 0, in - 1);
    const int64_t upper = std::clamp<int64_t>((place + kOne - 1) / kOne, 0, in - 1);
    const float share = static_cast<float>(place - kOne * lower) / static_cast<float>(kOne);
    taps.picks.insert(taps.picks.end(), {lower, upper});
    taps.weights.insert(taps.weights.end(), {1 - share, share});
  }
  return taps;
}

Value* ResizeBilinear(TfliteArgs& a) {
  a.Ignore("new_height");
  a.Ignore("new_width");
  const bool fixed = a.Bool("fixed_point", false);
  const auto sizes = a.Ints(1);
  const auto known = a.rank(0) == 4 ? KnownSizes(a.in(0), 1, 3) : std::nullopt;
  constexpr int64_t kLimit = 1 << 20;
  if (fixed && sizes && sizes->size() == 2 && known && (*known)[0] > 0 && (*known)[1] > 0 &&
      (*sizes)[0] > 0 && (*sizes)[1] > 0 && (*sizes)[0] < kLimit && (*sizes)[1] < kLimit) {
    const bool align = a.Bool("align_corners", false), half = a.Bool("half_pixel_centers", false);
    Value* x = ApplyTaps(a, a.in(0), 1, FixedPointTaps(align, half, (*known)[0], (*sizes)[0]));
    return ApplyTaps(a, x, 2, FixedPointTaps(align, half, (*known)[1], (*sizes)[1]));
  }
  return Resize(a, "ResizeBilinear");
}

Value* ResizeNearest(TfliteArgs& a) { return Resize(a, "ResizeNearestNeighbor"); }

// Rows and columns are the axes after the batch.
absl::StatusOr<Value*> ToResize(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Sampling sampling = SamplingOf(w.node());
  if (rank != 4 || !IsPlainResize(w.node())) return CannotExpress("images of that kind");
  const std::vector<int64_t> axes = w.attrs().Ints("axes", {0, 1, 2, 3});
  const bool first = axes == Pads{2, 3}, last = axes == Pads{1, 2};
  if (!first && !last) return CannotExpress("other axes than rows and columns");
  const auto out = w.out_type().shape() ? w.out_type().shape() : nullptr;
  const Shape* in = w.shape();
  Pads from, to;
  for (const int64_t axis : axes) {
    if (!out || !in || !(*in)[axis].is_static() || !(*out)[axis].is_static()) break;
    from.push_back((*in)[axis].value());
    to.push_back((*out)[axis].value());
  }
  const bool known = to.size() == 2;
  // TFLite uses the sizes: the factors must be their quotients, as integers always are.
  std::vector<int64_t> factors;
  if (!w.in(3)) {
    const auto scales = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
    if (!scales || scales->num_elements() != 2) return CannotExpress("factors that are not known");
    for (size_t i = 0; i < 2; ++i) {
      const double factor = scales->AsDouble(static_cast<int64_t>(i));
      if (known && static_cast<double>(from[i]) * factor != static_cast<double>(to[i])) {
        return CannotExpress("a factor that is not the sizes'");
      }
      if (!known && (factor < 1 || factor > 1 << 20 || factor != std::floor(factor))) {
        return CannotExpress("factors of unknown sizes that are not whole");
      }
      factors.push_back(static_cast<int64_t>(factor));
    }
  }
  const bool enlarged = !known && !factors.empty();
  const bool whole = enlarged || (known && to[0] % from[0] == 0 && to[1] % from[1] == 0);
  const bool several = known && to[0] > 1 && to[1] > 1;
  std::vector<Sampling> said = {kNearestFloor, kNearestMiddle, Interpolated("linear", true),
                                Interpolated("linear", false),
                                Interpolated("linear", false, false)};
  if (several) said.push_back(kNearestCorners);
  // Whole factors leave no halves to round.
  if (whole) said.push_back({"nearest", "half_pixel", "round_prefer_floor"});
  X2IR_RETURN_IF_ERROR(CheckSampling(sampling, said));
  const bool is_nearest = sampling.mode == "nearest";
  if (is_nearest && !known && !enlarged) {
    return CannotExpress("nearest elements of sizes that are not known");
  }
  if (is_nearest && enlarged && !std::ranges::all_of(factors, IsNearestOfAnySize)) {
    // A lowering finds the elements where the sizes are given.
    Value* own = w.Op("shape", {w.in(0)}, {{"start", axes[0]}, {"end", axes[0] + 2}});
    return w.Op("resize", {w.in(0), nullptr, nullptr, w.Op("mul", {own, w.Ints(factors)})},
                w.attrs());
  }
  for (size_t i = 0; is_nearest && known && i < 2; ++i) {
    if (!IsNearestBySizes(w.node(), sampling, from[i], to[i])) {
      return CannotExpress("nearest elements of ", from[i], " made ", to[i],
                           ", which TFLite finds by a rounded quotient");
    }
  }
  if (first) return ResizedChannelsLast(w, w.node(), w.in(2), w.in(3));
  Value* sizes = nullptr;
  if (enlarged) {
    Value* own = w.Op("shape", {w.in(0)}, {{"start", 1}, {"end", 3}});
    sizes = w.Op("mul", {w.Cast(own, DType::kInt32), w.Int32s(factors)});
  } else {
    sizes = known ? w.Int32s(to) : w.Cast(w.in(3), DType::kInt32);
  }
  return w.Tflite(is_nearest ? "RESIZE_NEAREST_NEIGHBOR" : "RESIZE_BILINEAR", {w.in(0), sizes},
                  {{"align_corners", sampling.coordinates == "align_corners"},
                   {"half_pixel_centers", sampling.coordinates == "half_pixel"}});
}

}  // namespace

X2IR_TFLITE(resize)
    .To("RESIZE_BILINEAR", ToResize)
    .From({{"RESIZE_BILINEAR", ResizeBilinear}, {"RESIZE_NEAREST_NEIGHBOR", ResizeNearest}});

}  // namespace x2ir
