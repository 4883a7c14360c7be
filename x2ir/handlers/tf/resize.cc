// TensorFlow: images of other sizes, channels last. All kernels go an axis at a time: what each
// result is made of follows from the sizes, in float32 as TensorFlow computes it.
#include "x2ir/builder/layers/resize.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/handlers/tf/taps.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

enum class ResizeMode { kNearest, kLinear, kCubic, kArea };

struct Resize {
  ResizeMode mode;
  bool align_corners, half_pixel;
};

float StepOf(const Resize& r, const ResizeAxis& a) {
  return r.align_corners && a.out > 1 ? static_cast<float>(a.in - 1) / static_cast<float>(a.out - 1)
                                      : static_cast<float>(a.in) / static_cast<float>(a.out);
}

Taps NearestTaps(const Resize& r, const ResizeAxis& a) {
  Taps taps;
  taps.picks = NearestBySizes(a, r.align_corners, r.half_pixel);
  return taps;
}

float PlaceOf(const Resize& r, float step, int64_t o) {
  const auto x = static_cast<float>(o);
  return r.half_pixel ? (x + 0.5f) * step - 0.5f : x * step;
}

// Keys' kernel at 0 <= x <= 1 and at x + 1.
std::pair<float, float> CubicWeights(float x, double a) {
  const double y = x + 1.0f;
  return {static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1),
          static_cast<float>(((a * y - 5 * a) * y + 8 * a) * y - 4 * a)};
}

// Distances are rounded to 1/1024. With half_pixel a is -1/2 and elements outside are ignored,
// else it is -3/4 and the border is repeated.
Taps CubicTaps(const Resize& r, const ResizeAxis& a) {
  constexpr float kTable = 1024;
  Taps taps;
  taps.each = 4;
  const float step = StepOf(r, a);
  const double coefficient = r.half_pixel ? -0.5 : -0.75;
  for (int64_t o = 0; o < a.out; ++o) {
    const float place = PlaceOf(r, step, o);
    const float floor = std::floor(place);
    const float t = std::nearbyint((place - floor) * kTable) / kTable;
    const auto [near_before, far_before] = CubicWeights(t, coefficient);
    const auto [near_after, far_after] = CubicWeights(1 - t, coefficient);
    float weights[] = {far_before, near_before, near_after, far_after};
    float sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t at = static_cast<int64_t>(floor) + k - 1;
      const int64_t inside = std::clamp<int64_t>(at, 0, a.in - 1);
      taps.picks.push_back(inside);
      if (r.half_pixel && at != inside) weights[k] = 0;
      sum += weights[k];
    }
    const bool normalize = r.half_pixel && std::fabs(sum) >= 1000 * 1.17549435e-38f;
    for (const float weight : weights) taps.weights.push_back(normalize ? weight / sum : weight);
  }
  return taps;
}

// The mean of the part of the axis that an element of the result covers.
Taps AreaTaps(const Resize& r, const ResizeAxis& a) {
  Taps taps;
  const float step = StepOf(r, a);
  std::vector<std::vector<std::pair<int64_t, float>>> pieces;
  for (int64_t o = 0; o < a.out; ++o) {
    const float begin = static_cast<float>(o) * step, end = static_cast<float>(o + 1) * step;
    std::vector<std::pair<int64_t, float>> piece;
    for (auto i = static_cast<int64_t>(std::floor(begin)); i < static_cast<int64_t>(std::ceil(end));
         ++i) {
      const auto from = static_cast<float>(i), to = static_cast<float>(i + 1);
      const float weight =
          from < begin ? (to > end ? step : to - begin) : (to > end ? end - from : 1.0f);
      piece.emplace_back(std::clamp<int64_t>(i, 0, a.in - 1), weight / step);
    }
    taps.each = std::max<int64_t>(taps.each, static_cast<int64_t>(piece.size()));
    pieces.push_back(std::move(piece));
  }
  for (auto& piece : pieces) {
    piece.resize(static_cast<size_t>(taps.each), {0, 0.0f});
    for (const auto& [pick, weight] : piece) {
      taps.picks.push_back(pick);
      taps.weights.push_back(weight);
    }
  }
  return taps;
}

}  // namespace

Value* ApplyTaps(TfArgs& a, Value* x, int64_t axis, const Taps& taps) {
  const auto out = static_cast<int64_t>(taps.picks.size()) / taps.each;
  if (taps.weights.empty()) {
    return a.Op("gather", {x, a.b().Ints(taps.picks)}, {{"axis", axis}});
  }
  std::vector<int64_t> dims(static_cast<size_t>(x->shape()->rank() - axis + 1), 1);
  dims[0] = out;
  dims[1] = taps.each;
  Value* weights = a.b().Constant(Tensor::Of<float>(dims, taps.weights));
  Value* picks = a.b().Constant(Tensor::Of<int64_t>({out, taps.each}, taps.picks));
  Value* parts = a.Op("mul", {a.Op("gather", {x, picks}, {{"axis", axis}}), weights});
  return a.Op("reduce_sum", {parts, a.b().Ints({axis + 1})}, {{"keepdims", 0}});
}

namespace {

AttributeMap ResizeAttrs(const Resize& r) {
  const bool nearest = r.mode == ResizeMode::kNearest;
  Sampling sampling = Interpolated(nearest ? "nearest" : "linear", r.align_corners, r.half_pixel);
  if (nearest) sampling.rounding = r.align_corners ? "round_prefer_ceil" : "floor";
  return sampling.Attrs({1, 2});
}

// Whether images of sizes that are not known are made larger by whole factors that leave no doubt.
bool IsMadeLarger(const Value& x, const Value& sizes) {
  const std::vector<Dim>* out = sizes.elements();
  if (!out || out->size() != 2) return false;
  for (int64_t i = 0; i < 2; ++i) {
    const Dim& in = (*x.shape())[1 + i];
    int64_t times = 1;
    while (times <= kMaxTimesOfAnySize && !(in * Dim(times) == (*out)[static_cast<size_t>(i)]))
      ++times;
    if (!IsNearestOfAnySize(times)) return false;
  }
  return true;
}

template <ResizeMode kMode>
absl::StatusOr<Value*> FromResize(TfArgs& a) {
  constexpr int64_t kMaxTaps = int64_t{1} << 22;
  constexpr bool kNearest = kMode == ResizeMode::kNearest;
  const Resize r{kMode, a.Bool("align_corners", false),
                 kMode != ResizeMode::kArea && a.Bool("half_pixel_centers", false)};
  a.in(1);
  if (r.align_corners && r.half_pixel) return Invalid("both align_corners and half_pixel_centers");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 4) return Invalid("expected images of rank 4, got ", rank);
  Value* x = kNearest ? a.in(0) : a.Cast(a.in(0), DType::kFloat32);
  const auto sizes = a.Ints(1);
  if (sizes && sizes->size() != 2) return Invalid("expected two sizes, got ", sizes->size());
  std::vector<ResizeAxis> axes;
  for (int64_t i = 0; i < 2; ++i) {
    const Dim& in = (*x->shape())[1 + i];
    if (!in.is_static() || !sizes) continue;
    const int64_t out = (*sizes)[static_cast<size_t>(i)];
    if (out < 1 || in.value() < 1) return Invalid("images of ", in.value(), " made ", out);
    if (out > kMaxTaps || in.value() > kMaxTaps * 4) return Unimplemented("sizes that large");
    axes.push_back(ResizeAxis::Of(in.value(), out));
  }
  const bool known = axes.size() == 2;
  const AttributeMap attrs = kMode <= ResizeMode::kLinear ? ResizeAttrs(r) : AttributeMap();
  std::vector<Taps> taps;
  // Runtimes resize floats.
  bool by_taps = kMode > ResizeMode::kLinear || x->dtype() != DType::kFloat32;
  for (const ResizeAxis& axis : axes) {
    if (kMode == ResizeMode::kLinear) break;
    taps.push_back(kNearest                      ? NearestTaps(r, axis)
                   : kMode == ResizeMode::kCubic ? CubicTaps(r, axis)
                                                 : AreaTaps(r, axis));
    if (static_cast<int64_t>(taps.back().picks.size()) > kMaxTaps) {
      return Unimplemented("sizes that large");
    }
    by_taps = by_taps || !ResizePicks(attrs, axis, taps.back().picks);
  }
  if (!by_taps && (known || kMode == ResizeMode::kLinear)) {
    return a.Op("resize", {x, nullptr, nullptr, a.AsInt64(a.in(1))}, attrs);
  }
  if (kNearest && !by_taps && !r.align_corners && IsMadeLarger(*x, *a.in(1))) {
    AttributeMap larger = attrs;
    larger.Set("nearest_mode", r.half_pixel ? "round_prefer_ceil" : "floor");
    return a.Op("resize", {x, nullptr, nullptr, a.AsInt64(a.in(1))}, std::move(larger));
  }
  if (!known) return Unimplemented("sizes that are not known");
  for (int64_t i = 0; i < 2; ++i) x = ApplyTaps(a, x, 1 + i, taps[static_cast<size_t>(i)]);
  return x;
}

// Images of float32, rows and columns after the batch.
absl::StatusOr<Value*> ToTfResize(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Sampling sampling = SamplingOf(w.node());
  if (rank != 4 || w.dtype() != DType::kFloat32 || !IsPlainResize(w.node())) {
    return CannotExpress("images of that kind");
  }
  std::vector<int64_t> axes = w.attrs().Ints("axes", {0, 1, 2, 3});
  const bool first = axes == std::vector<int64_t>{2, 3}, last = axes == std::vector<int64_t>{1, 2};
  if (!first && !last) return CannotExpress("other axes than rows and columns");
  static constexpr Sampling kSaid[] = {kNearestFloor, kNearestCorners, Interpolated("linear", true),
                                       Interpolated("linear", false),
                                       Interpolated("linear", false, false)};
  X2IR_RETURN_IF_ERROR(CheckSampling(sampling, kSaid));
  Value* sizes = w.in(3);
  if (!sizes) {
    const auto out = w.out_type().shape() ? w.out_type().shape()->Static() : std::nullopt;
    const auto in = w.shape()->Static();
    const auto scales = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
    if (!out || !in || !scales) return CannotExpress("factors of unknown sizes");
    std::vector<int64_t> known;
    for (size_t i = 0; i < 2; ++i) {
      const auto at = static_cast<size_t>(axes[i]);
      // TensorFlow uses the sizes: the factor must be their quotient.
      if (static_cast<double>((*in)[at]) * scales->AsDouble(static_cast<int64_t>(i)) !=
          static_cast<double>((*out)[at])) {
        return CannotExpress("a factor that is not the sizes'");
      }
      known.push_back((*out)[at]);
    }
    sizes = w.Ints(known);
  }
  const auto known = KnownInts(sizes);
  for (size_t i = 0; sampling.mode == "nearest" && known && i < 2; ++i) {
    const Dim& in = (*w.shape())[axes[i]];
    if (in.is_static() && !IsNearestBySizes(w.node(), sampling, in.value(), (*known)[i])) {
      return CannotExpress("nearest elements of ", in.value(), " made ", (*known)[i],
                           ", which TensorFlow finds by a rounded quotient");
    }
  }
  if (first) return ResizedChannelsLast(w, w.node(), nullptr, sizes);
  return w.Tf(sampling.mode == "nearest" ? "ResizeNearestNeighbor" : "ResizeBilinear",
              {w.in(0), known ? w.Int32s(*known) : w.Cast(sizes, DType::kInt32)},
              {{"align_corners", sampling.coordinates == "align_corners"},
               {"half_pixel_centers", sampling.coordinates == "half_pixel"}});
}

}  // namespace

X2IR_TF(resize)
    .To("ResizeBilinear", ToTfResize)
    .From({{"ResizeNearestNeighbor", FromResize<ResizeMode::kNearest>},
           {"ResizeBilinear", FromResize<ResizeMode::kLinear>}});
X2IR_TF(gather).From({{"ResizeBicubic", FromResize<ResizeMode::kCubic>},
                      {"ResizeArea", FromResize<ResizeMode::kArea>}});

}  // namespace x2ir
