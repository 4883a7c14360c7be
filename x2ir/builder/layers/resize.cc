#include "x2ir/builder/layers/resize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Whether an axis of other than one element may become one of one.
bool MayShrinkToOne(const Dim& in, const Dim& out, std::optional<double> factor) {
  const bool whole = factor && *factor >= 1 && *factor == std::floor(*factor);
  if (whole || ProvablyEqual(in, Dim(1)) || ProvablyDifferent(out, Dim(1))) return false;
  const Dim times = FloorDiv(out, in);
  return !times.is_static() || !ProvablyEqual(times * in, out);
}

bool AnyMayShrinkToOne(const Node& resize) {
  const Shape *in = resize.input(0)->shape(), *out = resize.output(0)->shape();
  if (!in || !out || in->rank() != out->rank()) return true;
  const int64_t rank = in->rank();
  const std::vector<int64_t> axes = resize.attrs().Ints("axes", CountedFrom(0, rank));
  const auto factors = resize.input(2) ? KnownTensor(*resize.input(2)) : std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], at = static_cast<int64_t>(i);
    std::optional<double> factor;
    if (factors && at < factors->num_elements()) factor = factors->AsDouble(at);
    if (MayShrinkToOne((*in)[axis], (*out)[axis], factor)) return true;
  }
  return false;
}

}  // namespace

AttributeMap Sampling::Attrs(std::vector<int64_t> axes) const {
  AttributeMap attrs = {{"mode", mode}, {"coordinate_transformation_mode", coordinates}};
  if (!rounding.empty()) attrs.Set("nearest_mode", rounding);
  if (!axes.empty()) attrs.Set("axes", std::move(axes));
  return attrs;
}

Expr ResizedTo(const Expr& x, const std::vector<Size>& sizes, const Sampling& sampling,
               std::vector<int64_t> axes) {
  Builder& b = x.builder();
  return x.Op("resize", {nullptr, nullptr, Vector(b, sizes)}, sampling.Attrs(std::move(axes)));
}

Expr ResizedBy(const Expr& x, Value* factors, const Sampling& sampling, std::vector<int64_t> axes) {
  return x.Op("resize", {nullptr, factors}, sampling.Attrs(std::move(axes)));
}

Expr ResizedBy(const Expr& x, const std::vector<float>& factors, const Sampling& sampling) {
  const auto count = static_cast<int64_t>(factors.size());
  return ResizedBy(x, x.builder().Constant(Tensor::Of<float>({count}, factors)), sampling);
}

Sampling SamplingOf(const Node& resize) {
  const AttributeMap& attrs = resize.attrs();
  Sampling s = {attrs.String("mode"), attrs.String("coordinate_transformation_mode"), ""};
  if (s.mode == "nearest") s.rounding = attrs.String("nearest_mode");
  if (s.coordinates == "pytorch_half_pixel" && !AnyMayShrinkToOne(resize)) {
    s.coordinates = "half_pixel";
  }
  return s;
}

absl::Status CheckSampling(const Sampling& sampling, absl::Span<const Sampling> said) {
  if (std::find(said.begin(), said.end(), sampling) != said.end()) return absl::OkStatus();
  const auto& [mode, coordinates, rounding] = sampling;
  if (mode == "nearest") {
    return CannotExpress("nearest elements of ", coordinates, ", ", rounding);
  }
  return CannotExpress(mode, " of ", coordinates);
}

std::vector<int64_t> NearestBySizes(const ResizeAxis& axis, bool align_corners, bool half_pixel) {
  const bool corners = align_corners && axis.out > 1;
  const float step = corners ? static_cast<float>(axis.in - 1) / static_cast<float>(axis.out - 1)
                             : static_cast<float>(axis.in) / static_cast<float>(axis.out);
  std::vector<int64_t> picks;
  for (int64_t o = 0; o < axis.out; ++o) {
    const float place = (static_cast<float>(o) + (half_pixel ? 0.5f : 0)) * step;
    const float whole = align_corners ? std::round(place) : std::floor(place);
    picks.push_back(std::clamp<int64_t>(static_cast<int64_t>(whole), 0, axis.in - 1));
  }
  return picks;
}

bool IsNearestOfAnySize(int64_t times) {
  const double inverse = 1.0f / static_cast<float>(times);
  return times >= 1 && times <= kMaxTimesOfAnySize && inverse * static_cast<double>(times) >= 1;
}

bool IsNearestBySizes(const Node& resize, const Sampling& sampling, int64_t in, int64_t out) {
  constexpr int64_t kMaxSize = int64_t{1} << 22;
  if (in < 1 || in > kMaxSize || out < 1 || out > kMaxSize) return false;
  const ResizeAxis axis = ResizeAxis::Of(in, out);
  const bool corners = sampling.coordinates == "align_corners";
  return ResizePicks(resize.attrs(), axis,
                     NearestBySizes(axis, corners, sampling.coordinates == "half_pixel"));
}

absl::StatusOr<std::vector<double>> AxisFactors(const Node& resize, int64_t rank) {
  const auto given = KnownTensor(*resize.input(2));
  if (!given) return CannotExpress("factors that are computed");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                        NormalizeAxes(resize.attrs().Ints("axes", CountedFrom(0, rank)), rank));
  if (given->num_elements() != static_cast<int64_t>(axes.size())) {
    return Invalid("scales: expected ", axes.size(), " numbers, got ", given->num_elements());
  }
  std::vector<double> factors(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    factors[static_cast<size_t>(axes[i])] = given->AsDouble(static_cast<int64_t>(i));
  }
  return factors;
}

bool IsPlainResize(const Node& resize) {
  const AttributeMap& attrs = resize.attrs();
  return attrs.Int("antialias") == 0 && attrs.Int("exclude_outside") == 0 &&
         attrs.String("keep_aspect_ratio_policy") == "stretch";
}

Value* ResizedChannelsLast(Builder& b, const Node& resize, Value* factors, Value* sizes) {
  AttributeMap attrs = resize.attrs();
  attrs.Set("axes", {1, 2});
  Value* x = b.Op("transpose", {resize.input(0)}, {{"perm", {0, 2, 3, 1}}});
  Value* y = b.Op("resize", {x, nullptr, factors, sizes}, std::move(attrs));
  return b.Op("transpose", {y}, {{"perm", {0, 3, 1, 2}}});
}

}  // namespace x2ir
