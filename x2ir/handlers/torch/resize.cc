// Images of other sizes, and samples at places of a grid.
#include "x2ir/builder/layers/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

enum class ResampleMode {
  kNearest,
  kNearestExact,
  kLinear,
  kCubic,
  kLinearAntialias,
  kCubicAntialias
};

bool IsNearest(ResampleMode m) { return m <= ResampleMode::kNearestExact; }
bool IsAntialias(ResampleMode m) { return m >= ResampleMode::kLinearAntialias; }

struct Upsample {
  ResampleMode mode;
  bool align_corners = false;
  std::vector<Size> sizes;  // of the spatial axes of the result, or empty
  std::vector<std::optional<double>> scales;
};

// --- One axis -------------------------------------------------------------------------------

struct Axis {
  int64_t in, out;
  std::optional<double> scale;
};

// Input elements and weights of each output, all of one length.
struct Taps {
  std::vector<int64_t> picks;
  std::vector<double> weights;
  int64_t each = 1;
};

// How far apart in the input two outputs are.
template <typename T>
T StepOf(const Upsample& u, const Axis& a) {
  if (u.align_corners && !IsNearest(u.mode)) {
    return a.out > 1 ? static_cast<T>(a.in - 1) / static_cast<T>(a.out - 1) : T{0};
  }
  if (a.scale && *a.scale > 0) return static_cast<T>(1.0 / *a.scale);
  return static_cast<T>(a.in) / static_cast<T>(a.out);
}

double CubicWeight(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

template <typename T>
Taps NearestTaps(const Upsample& u, const Axis& a) {
  Taps taps;
  const T step = StepOf<T>(u, a), shift = u.mode == ResampleMode::kNearestExact ? T{0.5} : T{0};
  for (int64_t o = 0; o < a.out; ++o) {
    const auto place = static_cast<int64_t>(std::floor((static_cast<T>(o) + shift) * step));
    taps.picks.push_back(std::min(place, a.in - 1));
    taps.weights.push_back(1);
  }
  return taps;
}

template <typename T>
Taps InterpolatedTaps(const Upsample& u, const Axis& a) {
  const bool cubic = u.mode == ResampleMode::kCubic;
  Taps taps;
  taps.each = cubic ? 4 : 2;
  const T step = StepOf<T>(u, a);
  for (int64_t o = 0; o < a.out; ++o) {
    T place =
        u.align_corners ? step * static_cast<T>(o) : step * (static_cast<T>(o) + T{0.5}) - T{0.5};
    if (!cubic) place = std::max(place, T{0});
    const T floor = std::floor(place);
    const auto base = static_cast<int64_t>(floor);
    const double t = static_cast<double>(place - floor);
    for (int64_t k = 0; k < taps.each; ++k) {
      const int64_t at = base + k - (cubic ? 1 : 0);
      taps.picks.push_back(std::clamp<int64_t>(at, 0, a.in - 1));
      taps.weights.push_back(cubic    ? CubicWeight(t - static_cast<double>(k - 1), -0.75)
                             : k == 0 ? 1 - t
                                      : t);
    }
  }
  return taps;
}

// The filter is stretched over all elements that an output covers.
template <typename T>
Taps AntialiasTaps(const Upsample& u, const Axis& a) {
  const bool cubic = u.mode == ResampleMode::kCubicAntialias;
  const T step = StepOf<T>(u, a), stretch = std::max(step, T{1});
  const T support = (cubic ? T{2} : T{1}) * stretch;
  Taps taps;
  std::vector<std::vector<double>> weights;
  std::vector<int64_t> begins;
  for (int64_t o = 0; o < a.out; ++o) {
    const T center = step * (static_cast<T>(o) + T{0.5});
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(center - support + T{0.5}), 0);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(center + support + T{0.5}), a.in);
    std::vector<double> w;
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double x = (static_cast<double>(i) - center + 0.5) / stretch;
      w.push_back(cubic ? CubicWeight(x, -0.5) : std::max(0.0, 1 - std::abs(x)));
      sum += w.back();
    }
    for (double& each : w) each /= sum == 0 ? 1 : sum;
    taps.each = std::max(taps.each, static_cast<int64_t>(w.size()));
    weights.push_back(std::move(w));
    begins.push_back(begin);
  }
  for (size_t o = 0; o < weights.size(); ++o) {
    for (int64_t k = 0; k < taps.each; ++k) {
      const bool inside = static_cast<size_t>(k) < weights[o].size();
      taps.picks.push_back(std::min(begins[o] + k, a.in - 1));
      taps.weights.push_back(inside ? weights[o][static_cast<size_t>(k)] : 0);
    }
  }
  return taps;
}

template <typename T>
Taps TapsAlong(const Upsample& u, const Axis& a) {
  if (IsNearest(u.mode)) return NearestTaps<T>(u, a);
  return IsAntialias(u.mode) ? AntialiasTaps<T>(u, a) : InterpolatedTaps<T>(u, a);
}

Value* Apply(TorchCall& c, Value* x, int64_t axis, const Taps& taps) {
  const int64_t out = static_cast<int64_t>(taps.picks.size()) / taps.each;
  if (taps.each == 1) return c.Op("gather", {x, Ints(c, taps.picks)}, {{"axis", axis}});
  Value* picks = c.b().Constant(x2ir::Tensor::Of<int64_t>({out, taps.each}, taps.picks));
  std::vector<int64_t> dims(static_cast<size_t>(c.Rank(x) - axis + 1), 1);
  dims[0] = out;
  dims[1] = taps.each;
  const Expr parts = Gather({c, x}, picks, axis) * NumbersAs(c, x->dtype(), dims, taps.weights);
  return Sum(parts, axis + 1);
}

// --- Sizes that are computed ------------------------------------------------------------------

Expr CubicWeight(const Expr& x, double a) {
  const Expr d = Abs(x), near = ((a + 2) * d - (a + 3)) * d * d + 1;
  return Where(d < 1, near, Where(d < 2, (((d - 5) * d + 8) * d - 4) * a, 0));
}

// [out, in]: what AntialiasTaps has, for sizes that are not known.
Expr AntialiasMatrix(TorchCall& c, DType t, const Upsample& u, const Size& in_size,
                     const Size& out_size, std::optional<double> scale) {
  const bool cubic = u.mode == ResampleMode::kCubicAntialias;
  const Expr count = Scalar(c, out_size);
  const Expr in = Scalar(c, in_size).To(t), out = count.To(t);
  const Expr step =
      u.align_corners ? Where(out > 1, (in - 1) / Max(out - 1, 1), 0)
      : scale && *scale > 0
          ? in.Number(t == DType::kFloat64 ? 1 / *scale : static_cast<float>(1 / *scale))
          : in / out;
  const Expr stretch = Max(step, 1), support = Scaled(stretch, cubic ? 2 : 1);
  const Expr center = (Unsqueeze(Iota(count).To(t), {1}) + 0.5) * step;
  const Expr begin = Max(Floor(center - support + 0.5), 0);
  const Expr end = Min(Floor(center + support + 0.5), in);
  const Expr at = Unsqueeze(Iota(Scalar(c, in_size)).To(t), {0});
  const Expr x = (at - center + 0.5) / stretch;
  const Expr filter = cubic ? CubicWeight(x, -0.5) : Max(1 - Abs(x), 0);
  const Expr weights = Where((at >= begin) & (at < end), filter, 0);
  const Expr sum = Sum(weights, 1, true);
  return weights / Where(sum == 0, 1, sum);
}

Expr AntialiasedTo(TorchCall& c, const Expr& x, const Upsample& u, const std::vector<Size>& sizes) {
  const DType t = x.dtype(), computed = AtLeastFloat32(t);
  const auto matrix = [&](size_t i) {
    return AntialiasMatrix(c, computed, u, SizeAt(x, 2 + static_cast<int64_t>(i)), sizes[i],
                           u.scales.empty() ? std::nullopt : u.scales[i]);
  };
  return MatMul(MatMul(matrix(0), x.To(computed)), SwapLast(matrix(1))).To(t);
}

// --- All axes -------------------------------------------------------------------------------

Sampling SamplingBy(const Upsample& u) {
  if (u.mode == ResampleMode::kNearest) return kNearestFloor;
  if (u.mode == ResampleMode::kNearestExact) return kNearestMiddle;
  return Interpolated(u.mode == ResampleMode::kCubic ? "cubic" : "linear", u.align_corners);
}

// The axis as op `resize` sees it.
ResizeAxis ResizedAxis(const Axis& a) {
  ResizeAxis axis = ResizeAxis::Of(a.in, a.out);
  if (a.scale) {
    axis.scale = static_cast<float>(*a.scale);
    axis.length = static_cast<double>(a.in) * axis.scale;
  }
  return axis;
}

// floor(size * factor) of the spatial axes, in float64.
std::vector<Size> ScaledSizes(TorchCall& c, Value* x, const Upsample& u) {
  std::vector<Size> sizes;
  for (size_t i = 0; i < u.scales.size(); ++i) {
    const Size in = SizeAt({c, x}, 2 + static_cast<int64_t>(i));
    const double factor = *u.scales[i];
    if (in.number) {
      const double out = std::floor(static_cast<double>(*in.number) * factor);
      sizes.push_back(out < 1e9 ? static_cast<int64_t>(out) : 0);
    } else if (factor == std::floor(factor) && factor < 1e9) {
      sizes.push_back(Times(c, in, static_cast<int64_t>(factor)));
    } else {
      sizes.push_back(Floor(Scaled(c.Cast(in.value, DType::kFloat64), factor)).To(DType::kInt64));
    }
  }
  return sizes;
}

Value* Resampled(TorchCall& c, Value* x, const Upsample& u, int64_t spatial) {
  constexpr int64_t kMaxTaps = 1 << 22;
  const DType t = x->dtype();
  const bool nearest = IsNearest(u.mode);
  if (!nearest) RequireFloat(c, x);
  // Axes whose sizes are known.
  std::vector<Axis> axes;
  for (int64_t i = 0; i < spatial; ++i) {
    const size_t at = static_cast<size_t>(i);
    const auto in = KnownSizes(x, 2 + i, 3 + i);
    if (!in || (*in)[0] < 1) continue;
    Axis axis{(*in)[0], 0, u.scales.empty() ? std::nullopt : u.scales[at]};
    if (!u.sizes.empty()) {
      if (!u.sizes[at].number) continue;
      axis.out = *u.sizes[at].number;
    } else {
      const double out = std::floor(static_cast<double>(axis.in) * axis.scale.value_or(1));
      axis.out = out < 1e9 ? static_cast<int64_t>(out) : 0;
    }
    if (axis.out >= 1) axes.push_back(axis);
  }
  const bool known = static_cast<int64_t>(axes.size()) == spatial;
  const Sampling sampling = SamplingBy(u);
  const std::vector<int64_t> all_axes = CountedFrom(2, spatial);
  // Places of float64 are those of float32 where sizes are not known: off by 1e-7 of the size.
  bool by_taps =
      IsAntialias(u.mode) || (known && t == DType::kFloat64) || (nearest && !IsFloating(t));
  // A factor and a size that do not go together, in float32 at least.
  for (const Axis& a : axes) {
    const double factor = static_cast<float>(a.scale.value_or(1));
    if (a.scale && !u.align_corners &&
        std::floor(static_cast<double>(a.in) * factor) != static_cast<double>(a.out)) {
      by_taps = true;
    }
  }
  std::vector<Taps> taps;
  if (known && (by_taps || nearest)) {
    for (const Axis& a : axes) {
      // Before any tap is made: a filter that is stretched has more taps than there are results.
      if (a.out > kMaxTaps || (IsAntialias(u.mode) && a.in > kMaxTaps)) {
        c.Fail(Unimplemented("sizes that are too large"));
        return x;
      }
      taps.push_back(t == DType::kFloat64 && !nearest ? TapsAlong<double>(u, a)
                                                      : TapsAlong<float>(u, a));
      if (static_cast<int64_t>(taps.back().picks.size()) > kMaxTaps) {
        c.Fail(Unimplemented("sizes that are too large"));
        return x;
      }
      // In float32, what is rounded otherwise picks another element.
      if (nearest && !ResizePicks(sampling.Attrs(), ResizedAxis(a), taps.back().picks))
        by_taps = true;
    }
  }
  if (by_taps) {
    if (!known && IsAntialias(u.mode) && spatial == 2) {
      return AntialiasedTo(c, {c, x}, u, u.sizes.empty() ? ScaledSizes(c, x, u) : u.sizes);
    }
    if (!known) {
      c.Fail(Unimplemented("sizes that are not known, of this mode and type"));
      return x;
    }
    Value* y = nearest ? x : c.Cast(x, AtLeastFloat32(t));
    for (int64_t i = 0; i < spatial; ++i) y = Apply(c, y, 2 + i, taps[static_cast<size_t>(i)]);
    return c.Cast(y, t);
  }
  bool scales = !u.scales.empty();
  for (const auto& scale : u.scales) scales &= scale && *scale > 0;
  // Aligned corners go by the size alone, which is whole.
  if (u.align_corners && scales && u.sizes.empty()) {
    return ResizedTo({c, x}, ScaledSizes(c, x, u), sampling, all_axes);
  }
  if (scales && !u.align_corners) {
    std::vector<double> numbers;
    for (const auto& scale : u.scales) numbers.push_back(*scale);
    Value* factors = NumbersAs(c, DType::kFloat32, {spatial}, numbers);
    Value* y = ResizedBy({c, x}, factors, sampling, all_axes);
    const Shape *made = y->shape(), *wanted = c.out_shape(0);
    for (int64_t i = 2; made && wanted && i < spatial + 2 && i < wanted->rank(); ++i) {
      if (ProvablyDifferent((*made)[i], (*wanted)[i])) {
        c.Fail(Unimplemented("a factor whose size is rounded otherwise in float32"));
      }
    }
    return y;
  }
  if (u.sizes.empty()) {
    c.Fail(Invalid("neither sizes nor factors"));
    return x;
  }
  return ResizedTo({c, x}, u.sizes, sampling, all_axes);
}

// `.vec` has either sizes or factors; the other one sizes, and the factors that they came from.
TorchHandler ResampleHandler(ResampleMode mode, int64_t spatial, bool vec) {
  return [=](TorchCall& c) -> Values {
    Upsample u;
    u.mode = mode;
    Value* x = c.Tensor(vec ? "input" : "self");
    u.align_corners = c.Bool("align_corners", false);
    if (c.Rank(x) != spatial + 2) return c.Fail(Invalid("an input of rank ", c.Rank(x)));
    const size_t n = static_cast<size_t>(spatial);
    if (c.Has("output_size")) u.sizes = c.Sizes("output_size");
    if (u.sizes.size() == 1) u.sizes.resize(n, u.sizes[0]);
    if (vec) {
      const auto factors = c.OptFloats("scale_factors");
      if (factors && u.sizes.empty()) u.scales.assign(factors->begin(), factors->end());
    } else {
      for (const char* name : {"scales_d", "scales_h", "scales_w", "scales"}) {
        if (c.Has(name)) u.scales.push_back(c.OptFloat(name));
      }
      // Some only: those of the others follow from the sizes, as known ones may do for all.
      if (u.scales.size() != n && !u.scales.empty()) {
        return c.Fail(Unimplemented("factors of some axes only"));
      }
    }
    if ((u.sizes.size() != n && !u.sizes.empty()) || (u.scales.size() != n && !u.scales.empty())) {
      return c.Fail(Invalid("expected ", n, " sizes"));
    }
    return {Resampled(c, x, u, spatial)};
  };
}

struct ResampleRow {
  std::string_view name;
  ResampleMode mode;
  int64_t spatial;
};

constexpr ResampleRow kRows[] = {
    {"upsample_nearest1d", ResampleMode::kNearest, 1},
    {"upsample_nearest2d", ResampleMode::kNearest, 2},
    {"upsample_nearest3d", ResampleMode::kNearest, 3},
    {"_upsample_nearest_exact1d", ResampleMode::kNearestExact, 1},
    {"_upsample_nearest_exact2d", ResampleMode::kNearestExact, 2},
    {"_upsample_nearest_exact3d", ResampleMode::kNearestExact, 3},
    {"upsample_linear1d", ResampleMode::kLinear, 1},
    {"upsample_bilinear2d", ResampleMode::kLinear, 2},
    {"upsample_trilinear3d", ResampleMode::kLinear, 3},
    {"upsample_bicubic2d", ResampleMode::kCubic, 2},
    {"_upsample_bilinear2d_aa", ResampleMode::kLinearAntialias, 2},
    {"_upsample_bicubic2d_aa", ResampleMode::kCubicAntialias, 2},
};

[[maybe_unused]] const bool kResampleRows = [] {
  for (const ResampleRow& row : kRows) {
    TorchSpec("resize")
        .From(StrCat("aten::", row.name, ".default"), ResampleHandler(row.mode, row.spatial, false))
        .From(StrCat("aten::", row.name, ".vec"), ResampleHandler(row.mode, row.spatial, true));
  }
  return true;
}();

// --- Grids ----------------------------------------------------------------------------------

// Cubic samples with a border: PyTorch keeps each of the four pixels inside, ONNX the place. The
// border is made, and places go no further than where only it is seen.
std::pair<Value*, Value*> WithBorder(TorchCall& c, Value* x, Value* grid, bool align_corners) {
  constexpr int64_t kBorder = 3;
  const int64_t n = c.Rank(x) - 2;
  auto sizes = KnownSizes(x, 2, 2 + n);
  if (!sizes) {
    c.Fail(Unimplemented("cubic samples with a border, of an image of unknown size"));
    return {x, grid};
  }
  // The first number of the grid's last axis is for the last axis of the image.
  std::reverse(sizes->begin(), sizes->end());
  std::vector<double> size(sizes->begin(), sizes->end()), slope, offset, back, shift;
  for (const double in : size) {
    // place = grid * slope + offset, and back from the place in the larger image
    const double out = in + 2.0 * kBorder;
    slope.push_back(align_corners ? (in - 1) / 2 : in / 2);
    offset.push_back((in - 1) / 2);
    back.push_back(align_corners ? 2 / (out - 1) : 2 / out);
    shift.push_back(align_corners ? -1 : 1 / out - 1);
  }
  const DType t = AtLeastFloat32(x->dtype());
  const auto vector = [&](const std::vector<double>& v) { return NumbersAs(c, t, {n}, v); };
  Expr place = c.Cast(grid, t) * vector(slope) + vector(offset);
  place = Min(Max(place, place.Number(-2)), vector(size));
  place = (place + static_cast<double>(kBorder)) * vector(back) + vector(shift);
  const std::vector<int64_t> pads(static_cast<size_t>(2 * n), kBorder);
  Value* larger =
      c.Op("pad", {x, Ints(c, pads), nullptr, Ints(c, CountedFrom(2, n))}, {{"mode", "edge"}});
  return {larger, c.Cast(place, x->dtype())};
}

Values GridSampler(TorchCall& c) {
  Value* x = c.Tensor("input");
  RequireFloat(c, x);
  constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = c.Int("interpolation_mode"), padding = c.Int("padding_mode");
  const bool align_corners = c.Bool("align_corners", false);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) {
    return c.Fail(Invalid("interpolation_mode ", mode, ", padding_mode ", padding));
  }
  Value* grid = c.Cast(c.Tensor("grid"), x->dtype());
  std::string_view beyond = kPaddings[padding];
  if (mode == 2 && beyond == "border") {
    std::tie(x, grid) = WithBorder(c, x, grid, align_corners);
    beyond = "zeros";
  }
  return {c.Op("grid_sample", {x, grid},
               {{"mode", std::string(kModes[mode])},
                {"padding_mode", std::string(beyond)},
                {"align_corners", align_corners ? 1 : 0}})};
}

X2IR_TORCH(grid_sample)
    .From({"aten::grid_sampler.default", "aten::grid_sampler_2d.default",
           "aten::grid_sampler_3d.default"},
          GridSampler);
X2IR_TORCH(affine_grid).From("aten::affine_grid_generator.default", [](TorchCall& c) -> Values {
  Value* theta = c.Tensor("theta");
  RequireFloat(c, theta);
  const bool align_corners = c.Bool("align_corners", false);
  return {
      c.Op("affine_grid", {theta, c.SymInts("size")}, {{"align_corners", align_corners ? 1 : 0}})};
});

// The operator without its overload, by mode and number of spatial axes.
absl::StatusOr<std::string_view> UpsampleOf(TorchWriter& w, int64_t spatial) {
  const Sampling sampling = SamplingOf(w.node());
  const auto& [mode, place, rounding] = sampling;
  const size_t i = static_cast<size_t>(spatial) - 1;
  if (mode == "nearest") {
    constexpr std::string_view kFloor[] = {"aten::upsample_nearest1d", "aten::upsample_nearest2d",
                                           "aten::upsample_nearest3d"};
    constexpr std::string_view kExact[] = {"aten::_upsample_nearest_exact1d",
                                           "aten::_upsample_nearest_exact2d",
                                           "aten::_upsample_nearest_exact3d"};
    if (sampling == kNearestFloor) return kFloor[i];
    if (sampling == kNearestMiddle) return kExact[i];
    return CannotExpress("nearest elements of ", place, ", ", rounding);
  }
  if (place != "half_pixel" && place != "align_corners") {
    return CannotExpress("coordinates of ", place);
  }
  if (!IsFloating(w.dtype())) return CannotExpress("interpolated integers");
  constexpr std::string_view kLinear[] = {"aten::upsample_linear1d", "aten::upsample_bilinear2d",
                                          "aten::upsample_trilinear3d"};
  if (mode == "linear") return kLinear[i];
  if (spatial != 2 || w.Float("cubic_coeff_a") != -0.75) return CannotExpress("cubic of that kind");
  return std::string_view("aten::upsample_bicubic2d");
}

absl::StatusOr<Value*> WriteResize(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t spatial = rank - 2;
  if (spatial < 1 || spatial > 3) return CannotExpress("rank ", rank);
  if (!IsPlainResize(w.node())) return CannotExpress("antialias, exclude_outside or a policy");
  if (!CornersFollowSizes(w.node())) return CannotExpress("corners by sizes that are rounded");
  X2IR_ASSIGN_OR_RETURN(const std::string_view op, UpsampleOf(w, spatial));
  std::vector<int64_t> all(static_cast<size_t>(rank)), last(static_cast<size_t>(spatial));
  std::iota(all.begin(), all.end(), 0);
  std::iota(last.begin(), last.end(), 2);
  std::vector<int64_t> axes = w.attrs().Ints("axes", all);
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  if (axes != all && axes != last) return CannotExpress("other axes than the spatial ones");
  const bool of_all = axes == all;
  TorchArguments arguments = {{"input", w.in(0)}};
  const bool nearest = w.String("mode") == "nearest";
  const auto rest = [&] {
    if (!nearest) {
      arguments.emplace_back("align_corners",
                             w.String("coordinate_transformation_mode") == "align_corners");
    }
  };
  if (w.has(2)) {
    const std::optional<Tensor> scales = KnownTensor(*w.in(2));
    if (!scales) return CannotExpress("factors that are computed");
    std::vector<double> factors;
    for (int64_t i = 0; i < scales->num_elements(); ++i) {
      if (!of_all || i >= 2) {
        factors.push_back(scales->AsDouble(i));
      } else if (scales->AsDouble(i) != 1) {
        return CannotExpress("other axes than the spatial ones");
      }
    }
    arguments.emplace_back("output_size", nullptr);
    rest();
    arguments.emplace_back("scale_factors", Attribute(Tensor::Of<double>({spatial}, factors)));
  } else {
    if (!w.has(3)) return CannotExpress("neither sizes nor factors");
    X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> sizes, w.Sizes(w.in(3)));
    for (int64_t i = 0; of_all && i < 2; ++i) {
      const Shape* out = w.out_type().shape();
      const Dim& own = (*w.in(0)->shape())[i];
      if (own.is_unknown() || !out || (*out)[i] != own) {
        return CannotExpress("other axes than the spatial ones");
      }
    }
    if (of_all) sizes.erase(sizes.begin(), sizes.begin() + 2);
    arguments.emplace_back("output_size", std::move(sizes));
    rest();
    arguments.emplace_back("scale_factors", nullptr);
  }
  return w.Call(StrCat(op, ".vec"), std::move(arguments));
}

absl::StatusOr<Value*> WriteGridSample(TorchWriter& w) {
  const std::string &mode = w.String("mode"), &padding = w.String("padding_mode");
  const int64_t how = mode == "linear" ? 0 : mode == "nearest" ? 1 : 2;
  const int64_t beyond = padding == "zeros" ? 0 : padding == "border" ? 1 : 2;
  // PyTorch keeps each of the four pixels inside, the IR the place.
  if (how == 2 && beyond == 1) return CannotExpress("cubic samples with a border");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 4 || rank > 5 || (rank == 5 && how == 2))
    return CannotExpress("samples of rank ", rank);
  return w.Call("aten::grid_sampler.default", {{"input", w.in(0)},
                                               {"grid", w.Cast(w.in(1), w.dtype())},
                                               {"interpolation_mode", how},
                                               {"padding_mode", beyond},
                                               {"align_corners", w.Int("align_corners") != 0}});
}

absl::StatusOr<Value*> WriteAffineGrid(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> size, w.Sizes(w.in(1)));
  return w.Call("aten::affine_grid_generator.default",
                {{"theta", w.in(0)},
                 {"size", std::move(size)},
                 {"align_corners", w.Int("align_corners") != 0}});
}

}  // namespace

X2IR_TORCH(resize).To("aten::upsample_bilinear2d.vec", WriteResize);
X2IR_TORCH(grid_sample).To("aten::grid_sampler.default", WriteGridSample);
X2IR_TORCH(affine_grid).To("aten::affine_grid_generator.default", WriteAffineGrid);

}  // namespace x2ir
