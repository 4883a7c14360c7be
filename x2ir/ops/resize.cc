// resize: interpolation along any axes, with all of ONNX's coordinate rules.
#include "x2ir/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

// --- Attributes -----------------------------------------------------------------------------

enum ResizeOperand : size_t { kX, kRoi, kScales, kSizes };

enum class Mode { kNearest, kLinear, kCubic };
enum class Coordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize,
};
enum class Nearest { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
enum class Policy { kStretch, kNotLarger, kNotSmaller };

// The index of the attribute's value among `names`, which are in the order of the enum.
template <typename E, size_t N>
absl::StatusOr<E> ReadEnum(const AttributeMap& attrs, Symbol name, const char* const (&names)[N]) {
  const std::string& value = attrs.String(name);
  for (size_t i = 0; i < N; ++i) {
    if (value == names[i]) return static_cast<E>(i);
  }
  return Invalid(name.view(), ": expected one of ", absl::StrJoin(names, ", "), ", got '", value,
                 "'");
}

struct Attrs {
  Mode mode;
  Coordinates coordinates;
  Nearest nearest;
  Policy policy;
  bool antialias, exclude_outside;
  double cubic_a, extrapolation;
};

absl::StatusOr<Attrs> ReadAttrs(const AttributeMap& m) {
  static constexpr const char* kModes[] = {"nearest", "linear", "cubic"};
  static constexpr const char* kCoordinates[] = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  static constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                             "ceil"};
  static constexpr const char* kPolicies[] = {"stretch", "not_larger", "not_smaller"};
  Attrs a;
  X2IR_ASSIGN_OR_RETURN(a.mode, ReadEnum<Mode>(m, "mode", kModes));
  X2IR_ASSIGN_OR_RETURN(a.coordinates,
                        ReadEnum<Coordinates>(m, "coordinate_transformation_mode", kCoordinates));
  X2IR_ASSIGN_OR_RETURN(a.nearest, ReadEnum<Nearest>(m, "nearest_mode", kNearest));
  X2IR_ASSIGN_OR_RETURN(a.policy, ReadEnum<Policy>(m, "keep_aspect_ratio_policy", kPolicies));
  a.antialias = m.Int("antialias") != 0;
  a.exclude_outside = m.Int("exclude_outside") != 0;
  a.cubic_a = m.Float("cubic_coeff_a");
  a.extrapolation = m.Float("extrapolation_value");
  return a;
}

// The axes that scales, sizes and roi speak of; all of them where attribute `axes` is absent.
absl::StatusOr<std::vector<int64_t>> ReadAxes(const AttributeMap& attrs, int64_t rank) {
  std::vector<int64_t> axes;
  if (attrs.Has("axes")) return NormalizeAxes(attrs.Ints("axes"), rank);
  axes.resize(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// --- Inference ------------------------------------------------------------------------------

// Numbers of a constant floating-point operand.
std::optional<std::vector<double>> ConstFloats(InferContext& ctx, size_t i) {
  const Tensor* t = ctx.constant(i);
  if (t == nullptr || !IsFloating(t->dtype()) || t->rank() != 1 || t->num_elements() > 64) {
    return std::nullopt;
  }
  std::vector<double> values;
  for (int64_t k = 0; k < t->num_elements(); ++k) values.push_back(t->AsDouble(k));
  return values;
}

absl::Status CheckScale(double s) {
  if (s > 0 && s <= std::numeric_limits<float>::max()) return absl::OkStatus();
  return Invalid("scales: expected numbers over 0, got ", s);
}

// floor(in * scale) in float32, as ONNX's own inference and ONNX Runtime have it: 5 * 2.6 is 13,
// which the exact product with the nearest float32 to 2.6 is not.
absl::StatusOr<int64_t> ScaledSize(double in, double scale) {
  const double out = std::floor(static_cast<float>(in) * static_cast<float>(scale));
  if (!(out >= 0 && out < 9e15)) return Invalid("the output size overflows");
  return static_cast<int64_t>(out);
}

absl::StatusOr<Dim> ScaledDim(const Dim& in, double scale) {
  X2IR_RETURN_IF_ERROR(CheckScale(scale));
  if (scale == 1) return in;
  if (in.is_static()) {
    X2IR_ASSIGN_OR_RETURN(const int64_t out, ScaledSize(static_cast<double>(in.value()), scale));
    return Dim(out);
  }
  if (scale == std::floor(scale) && scale < 1e9) return in * Dim(static_cast<int64_t>(scale));
  // 1/2, 1/4, ...: exact in floating point, so floor(in / 2) says it.
  const double inverse = 1 / scale;
  if (inverse == std::floor(inverse) && inverse * scale == 1 && inverse < 1e9 &&
      portable::exp2(std::round(portable::log2(inverse))) == inverse) {
    return FloorDiv(in, Dim(static_cast<int64_t>(inverse)));
  }
  return Dim::Unknown();
}

// Sizes of the resized axes under a policy that keeps the aspect ratio: the wanted sizes give
// one scale for all, the smallest (not_larger) or the largest (not_smaller).
absl::StatusOr<std::vector<int64_t>> KeepAspect(Policy policy, const std::vector<int64_t>& in,
                                                const std::vector<int64_t>& wanted) {
  float scale = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 0) return Invalid("an empty axis has no aspect ratio to keep");
    const float s = static_cast<float>(wanted[i]) / static_cast<float>(in[i]);
    const bool better = policy == Policy::kNotLarger ? s < scale : s > scale;
    if (i == 0 || better) scale = s;
  }
  std::vector<int64_t> out;
  for (int64_t d : in) {
    const double v = std::floor(static_cast<double>(scale * static_cast<float>(d)) + 0.5);
    if (!(v >= 0 && v < 9e15)) return Invalid("the output size overflows");
    out.push_back(static_cast<int64_t>(v));
  }
  return out;
}

absl::Status InferResize(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Attrs attrs, ReadAttrs(ctx.attrs()));
  if (ctx.has(kScales) == ctx.has(kSizes)) return Invalid("expected either scales or sizes");
  ctx.Set(0, ctx.dtype(kX));
  const Shape* x = ctx.shape(kX);
  if (x == nullptr) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ReadAxes(ctx.attrs(), x->rank()));
  Shape out = *x;
  for (int64_t a : axes) out[a] = Dim::Unknown();
  if (ctx.has(kSizes)) {
    if (auto sizes = ctx.Elements(kSizes)) {
      if (sizes->size() != axes.size()) {
        return Invalid("sizes: expected ", axes.size(), " numbers, got ", sizes->size());
      }
      std::vector<int64_t> in, wanted;
      for (size_t i = 0; i < axes.size(); ++i) {
        const Dim& d = (*sizes)[i];
        if (d.is_static() && d.value() < 0) return Invalid("sizes: got ", d.value());
        if (d.is_static() && (*x)[axes[i]].is_static()) {
          in.push_back((*x)[axes[i]].value());
          wanted.push_back(d.value());
        }
        if (attrs.policy == Policy::kStretch) out[axes[i]] = d;
      }
      if (attrs.policy != Policy::kStretch && in.size() == axes.size()) {
        X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kept,
                              KeepAspect(attrs.policy, in, wanted));
        for (size_t i = 0; i < axes.size(); ++i) out[axes[i]] = Dim(kept[i]);
      }
    }
  } else if (auto scales = ConstFloats(ctx, kScales)) {
    if (scales->size() != axes.size()) {
      return Invalid("scales: expected ", axes.size(), " numbers, got ", scales->size());
    }
    const bool crop = attrs.coordinates == Coordinates::kTfCropAndResize;
    const auto roi = crop ? ConstFloats(ctx, kRoi) : std::nullopt;
    for (size_t i = 0; i < axes.size(); ++i) {
      double part = 1;  // of the axis that the region covers
      if (crop) {
        if (!roi || roi->size() != 2 * axes.size()) continue;
        part = (*roi)[i + axes.size()] - (*roi)[i];
        if (!(part > 0)) continue;
      }
      X2IR_ASSIGN_OR_RETURN(out[axes[i]], ScaledDim((*x)[axes[i]], (*scales)[i] * part));
    }
  }
  return ctx.Return(ctx.dtype(kX), std::move(out));
}

// --- Evaluation -----------------------------------------------------------------------------

// The position in the input of output position i. In float, as runtimes compute it, so that nearest
// picks what they pick.
float OriginalPosition(Coordinates mode, const ResizeAxis& a, int64_t i) {
  const float x = static_cast<float>(i);
  const float half = (x + 0.5f) / a.scale - 0.5f;
  switch (mode) {
    case Coordinates::kHalfPixel: return half;
    case Coordinates::kPytorchHalfPixel: return a.out > 1 ? half : 0.0f;
    case Coordinates::kAsymmetric: return x / a.scale;
    case Coordinates::kTfHalfPixelForNn: return (x + 0.5f) / a.scale;
    case Coordinates::kAlignCorners:
      if (a.length == 1) return 0;
      return static_cast<float>(static_cast<double>(x) * static_cast<double>(a.in - 1) /
                                (a.length - 1));
    case Coordinates::kHalfPixelSymmetric: {
      const float adjustment = static_cast<float>(static_cast<double>(a.out) / a.length);
      const float center = static_cast<float>(a.in) / 2;
      // In this order, or a place that is a whole number may come out just below it.
      return center * (1 - adjustment) + (x + 0.5f) / a.scale - 0.5f;
    }
    case Coordinates::kTfCropAndResize: {
      const float last = static_cast<float>(a.in - 1);
      if (a.out <= 1) return 0.5f * (a.start + a.end) * last;
      return a.start * last + x * (a.end - a.start) * last / static_cast<float>(a.out - 1);
    }
  }
  return 0;
}

int64_t NearestIndex(Nearest mode, float x) {
  switch (mode) {
    case Nearest::kRoundPreferFloor: return static_cast<int64_t>(std::ceil(x - 0.5f));
    case Nearest::kRoundPreferCeil: return static_cast<int64_t>(std::floor(x + 0.5f));
    case Nearest::kFloor: return static_cast<int64_t>(std::floor(x));
    case Nearest::kCeil: return static_cast<int64_t>(std::ceil(x));
  }
  return 0;
}

double LinearKernel(double x) { return std::max(0.0, 1 - std::abs(x)); }

double CubicKernel(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

ResizeTaps MakeTaps(const Attrs& attrs, const ResizeAxis& axis, int64_t i) {
  ResizeTaps taps;
  const float x = OriginalPosition(attrs.coordinates, axis, i);
  const int64_t last = axis.in - 1;
  // Also catches NaN, from an invalid region of interest.
  if (attrs.coordinates == Coordinates::kTfCropAndResize &&
      !(x >= 0 && x <= static_cast<float>(last))) {
    taps.outside = true;
    return taps;
  }
  // No place is far outside but by a strange scale; bounding it keeps conversions defined.
  const float place = std::min(std::max(x, -8.0f), static_cast<float>(last) + 8.0f);
  auto clamp = [&](int64_t k) { return std::min(std::max<int64_t>(k, 0), last); };
  if (attrs.mode == Mode::kNearest) {
    taps.inputs.emplace_back(clamp(NearestIndex(attrs.nearest, place)), 1.0);
    return taps;
  }
  // Antialiasing widens the kernel where the axis shrinks.
  const double stretch = attrs.antialias ? std::min(1.0, static_cast<double>(axis.scale)) : 1.0;
  const int64_t reach = attrs.mode == Mode::kLinear ? 1 : 2;
  // Only a strange scale asks for a kernel wider than this; it must not take forever.
  const double widest = 4 * static_cast<double>(axis.in) + 16;
  const double support = std::min(static_cast<double>(reach) / stretch, widest);
  const int64_t begin = static_cast<int64_t>(std::floor(place - support));
  const int64_t end = static_cast<int64_t>(std::ceil(place + support));
  double sum = 0;
  for (int64_t k = begin; k <= end; ++k) {
    const double at = (static_cast<double>(k) - place) * stretch;
    const double weight =
        attrs.mode == Mode::kLinear ? LinearKernel(at) : CubicKernel(at, attrs.cubic_a);
    if (weight == 0 || (attrs.exclude_outside && (k < 0 || k > last))) continue;
    sum += weight;
    const int64_t index = clamp(k);
    if (!taps.inputs.empty() && taps.inputs.back().first == index) {
      taps.inputs.back().second += weight;
    } else {
      taps.inputs.emplace_back(index, weight);
    }
  }
  if ((attrs.antialias || attrs.exclude_outside) && sum != 0) {
    for (auto& tap : taps.inputs) tap.second /= sum;
  }
  return taps;
}

absl::StatusOr<std::vector<ResizeAxis>> MakeAxes(EvalContext& ctx, const Attrs& attrs) {
  const std::vector<int64_t>& in = ctx.dims(kX);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                        ReadAxes(ctx.attrs(), ctx.input(kX).rank()));
  const int64_t n = static_cast<int64_t>(axes.size());
  const bool crop = attrs.coordinates == Coordinates::kTfCropAndResize;
  if (ctx.has(kScales) == ctx.has(kSizes)) return Invalid("expected either scales or sizes");
  const Tensor& given = ctx.input(ctx.has(kScales) ? kScales : kSizes);
  if (given.num_elements() != n) {
    return Invalid("scales or sizes: expected ", n, " numbers, got ", given.num_elements());
  }
  if (crop &&
      (!ctx.has(kRoi) || ctx.input(kRoi).num_elements() != 2 * n || !IsFloating(ctx.dtype(kRoi)))) {
    return Invalid("roi: tf_crop_and_resize expects ", 2 * n, " numbers");
  }
  std::vector<ResizeAxis> all;
  for (int64_t d : in) all.push_back({d, d, 1.0f, static_cast<double>(d)});
  std::vector<int64_t> sizes;
  if (ctx.has(kSizes)) {
    X2IR_ASSIGN_OR_RETURN(sizes, given.ToInts());
    for (int64_t s : sizes) {
      if (s < 0) return Invalid("sizes: expected numbers from 0, got ", s);
    }
    if (attrs.policy != Policy::kStretch) {
      std::vector<int64_t> from;
      for (int64_t a : axes) from.push_back(in[a]);
      X2IR_ASSIGN_OR_RETURN(sizes, KeepAspect(attrs.policy, from, sizes));
    }
  } else if (!IsFloating(given.dtype())) {
    return Invalid("scales: expected floating-point numbers");
  }
  for (int64_t i = 0; i < n; ++i) {
    ResizeAxis& a = all[axes[i]];
    if (crop) {
      a.start = static_cast<float>(ctx.input(kRoi).AsDouble(i));
      a.end = static_cast<float>(ctx.input(kRoi).AsDouble(i + n));
    }
    if (ctx.has(kSizes)) {
      a.out = sizes[i];
      a.length = static_cast<double>(sizes[i]);
      a.scale = static_cast<float>(a.out) / static_cast<float>(a.in);
    } else {
      const double scale = given.AsDouble(i);
      X2IR_RETURN_IF_ERROR(CheckScale(scale));
      const double part = crop ? static_cast<double>(a.end) - static_cast<double>(a.start) : 1.0;
      a.scale = static_cast<float>(scale);
      a.length = static_cast<double>(a.in) * scale * part;
      X2IR_ASSIGN_OR_RETURN(a.out, ScaledSize(static_cast<double>(a.in), scale * part));
    }
    if (a.in == 0 && a.out > 0) return Invalid("an empty axis cannot be resized to ", a.out);
  }
  return all;
}

// Nearest moves elements of any type, all axes at once.
absl::StatusOr<Tensor> ResizeNearest(const Tensor& x, const Attrs& attrs,
                                     const std::vector<ResizeAxis>& axes,
                                     const std::vector<int64_t>& dims) {
  const std::vector<int64_t> strides = Strides(x.dims());
  std::vector<std::vector<int64_t>> offsets(dims.size());  // -1: outside
  for (size_t d = 0; d < dims.size(); ++d) {
    for (int64_t i = 0; i < dims[d]; ++i) {
      const bool same = axes[d].in == axes[d].out && axes[d].scale == 1 &&
                        attrs.coordinates != Coordinates::kTfCropAndResize;
      const ResizeTaps taps = same ? ResizeTaps{false, {{i, 1.0}}} : MakeTaps(attrs, axes[d], i);
      offsets[d].push_back(taps.outside ? -1 : taps.inputs[0].first * strides[d]);
    }
  }
  const bool extrapolates = attrs.coordinates == Coordinates::kTfCropAndResize &&
                            (IsFloating(x.dtype()) || IsInteger(x.dtype()));
  const Tensor beyond = extrapolates ? Tensor::ScalarOf(x.dtype(), attrs.extrapolation) : Tensor();
  const Cells from(x);
  const Cells fill(extrapolates ? beyond : x);
  CellsOut out(x.dtype(), dims);
  DispatchCell(from.size(), [&](auto cell) {
    using C = decltype(cell);
    C* to = out.template as<C>();
    std::vector<int64_t> index(dims.size(), 0);
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < dims.size() && at >= 0; ++d) {
        const int64_t offset = offsets[d][index[d]];
        at = offset < 0 ? -1 : at + offset;
      }
      if (at >= 0) {
        to[i] = from.template as<C>()[at];
      } else if (extrapolates) {
        to[i] = fill.template as<C>()[0];
      }
      NextIndex(dims, index);
    }
  });
  return out.Finish();
}

// Linear and cubic are separable: one axis after the other.
template <typename T>
Tensor ResizeSmooth(const Tensor& x, const Attrs& attrs, const std::vector<ResizeAxis>& axes,
                    const std::vector<int64_t>& dims) {
  const Numbers<T> xs(x);
  std::vector<T> now(xs.span().begin(), xs.span().end());
  std::vector<int64_t> shape = x.dims();
  std::vector<std::vector<bool>> outside(dims.size());
  bool any_outside = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    outside[d].assign(dims[d], false);
    const bool crop = attrs.coordinates == Coordinates::kTfCropAndResize;
    if (axes[d].in == axes[d].out && axes[d].scale == 1 && !crop) continue;
    const absl::Span<const int64_t> all(shape);
    const int64_t outer = Product(all.subspan(0, d)), inner = Product(all.subspan(d + 1));
    const int64_t in = axes[d].in;
    std::vector<T> next(outer * dims[d] * inner);
    for (int64_t i = 0; i < dims[d]; ++i) {
      const ResizeTaps taps = MakeTaps(attrs, axes[d], i);
      outside[d][i] = taps.outside;
      any_outside |= taps.outside;
      for (int64_t o = 0; o < outer; ++o) {
        T* to = next.data() + (o * dims[d] + i) * inner;
        for (const auto& [k, weight] : taps.inputs) {
          const T* from = now.data() + (o * in + k) * inner;
          const T w = static_cast<T>(weight);
          for (int64_t j = 0; j < inner; ++j) to[j] += w * from[j];
        }
      }
    }
    now = std::move(next);
    shape[d] = dims[d];
  }
  if (any_outside) {
    std::vector<int64_t> index(dims.size(), 0);
    for (T& v : now) {
      for (size_t d = 0; d < dims.size(); ++d) {
        if (outside[d][index[d]]) v = static_cast<T>(attrs.extrapolation);
      }
      NextIndex(dims, index);
    }
  }
  // Results between integers are cut towards zero, and stay in range.
  if (IsInteger(x.dtype())) {
    const int bits = BitWidth(x.dtype());
    const double top = portable::exp2(IsSignedInt(x.dtype()) ? bits - 1 : bits);
    const double low = IsSignedInt(x.dtype()) ? -top : 0;
    // Of 64 bits the largest number below the bound, else the bound less one.
    const double high = bits == 64 ? std::nextafter(top, 0.0) : top - 1;
    for (T& v : now) {
      v = static_cast<T>(std::trunc(std::min(std::max(static_cast<double>(v), low), high)));
    }
  }
  return FromNumbers<T>(x.dtype(), dims, now);
}

absl::Status EvalResize(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Attrs attrs, ReadAttrs(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<ResizeAxis> axes, MakeAxes(ctx, attrs));
  const Tensor& x = ctx.input(kX);
  std::vector<int64_t> dims;
  for (const ResizeAxis& a : axes) dims.push_back(a.out);
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
  if (Product(dims) == 0) {
    return ctx.Return(CellsOut(x.dtype(), dims).Finish());
  }
  if (attrs.mode == Mode::kNearest) {
    X2IR_ASSIGN_OR_RETURN(Tensor out, ResizeNearest(x, attrs, axes, dims));
    return ctx.Return(std::move(out));
  }
  // Between axes the intermediate result may be larger than both ends.
  std::vector<int64_t> widest;
  for (const ResizeAxis& a : axes) widest.push_back(std::max(a.in, a.out));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, widest));
  switch (ComputeTypeOf(x.dtype())) {
    case ComputeType::kFloat: ctx.Set(0, ResizeSmooth<float>(x, attrs, axes, dims)); break;
    case ComputeType::kDouble:
    case ComputeType::kInt:
    case ComputeType::kUInt: ctx.Set(0, ResizeSmooth<double>(x, attrs, axes, dims)); break;
    default: return Unimplemented("linear and cubic resize of ", Name(x.dtype()));
  }
  return absl::OkStatus();
}

std::optional<Flip> FlipResize(const Node& node, Slot slot, const Perm& p) {
  auto flip = FlipSame(node, slot, p, 1);
  if (!flip) return std::nullopt;
  if (node.attrs().Has("axes")) {
    if (!AxisMask(node.attrs().Ints("axes"), static_cast<int64_t>(p.size()))) return std::nullopt;
    return flip;
  }
  for (size_t i = 1; i < 4; ++i) {
    const Value* numbers = node.input(i);
    if (!numbers) continue;
    // One for each axis (roi: two), or none at all, which says as much as an operand left out.
    if (RankOf(numbers) != 1 || !(*numbers->shape())[0].is_static()) return std::nullopt;
    const int64_t count = (*numbers->shape())[0].value();
    const int64_t all = static_cast<int64_t>(p.size()) * (i == 1 ? 2 : 1);
    if (count != 0 && count != all) return std::nullopt;
    flip->cost += CostOfOrdering(node.input(i));
  }
  return flip;
}
bool HasElements(const Value* value) { return value && (*value->shape())[0] != Dim(0); }
void MoveScales(Node& node, const Flip& flip, Builder& b) {
  const Perm& p = flip.in[0];
  if (node.attrs().Has("axes")) {
    // The numbers are in the order of the list, which does not change.
    node.SetAttr("axes", NewAxes(node.attrs().Ints("axes"), p));
    return;
  }
  std::vector<int64_t> roi = AsInts(p);
  for (int64_t axis : p) roi.push_back(axis + static_cast<int64_t>(p.size()));
  if (HasElements(node.input(1))) SetOperand(node, 1, Reordered(b, node.input(1), roi));
  for (size_t i = 2; i < 4; ++i) {
    if (HasElements(node.input(i))) SetOperand(node, i, Reordered(b, node.input(i), AsInts(p)));
  }
}

X2IR_OP(resize)
    .Signature("x, roi?, scales?, sizes? -> y")
    .Attrs(
        "antialias = 0, axes: ints?, coordinate_transformation_mode = 'half_pixel', cubic_coeff_a "
        "= -0.75, exclude_outside = 0, extrapolation_value = 0.0, keep_aspect_ratio_policy = "
        "'stretch', mode = 'nearest', nearest_mode = 'round_prefer_floor'")
    .Functions(InferResize, EvalResize)
    .Axes({FlipResize, MoveScales})
    .Numbers(NumberUse::kFloatOnly, kFirstOfType)
    .Heavy()
    .Doc(
        "Resamples the axes (all, unless `axes` names some) by scales or to sizes; roi serves "
        "tf_crop_and_resize alone. Coordinates are computed in float32.")
    .NeedsFloat32(float32_for::kPlaces, 1u << 1 | 1u << 2, true)
    .Origins(OriginsOfBatch)
    .Gives(ResultUse::kMeans);

}  // namespace

absl::StatusOr<std::vector<ResizeTaps>> ResizeTapsAlong(const AttributeMap& attrs,
                                                        const ResizeAxis& axis) {
  X2IR_ASSIGN_OR_RETURN(const Attrs read, ReadAttrs(attrs));
  std::vector<ResizeTaps> taps;
  for (int64_t i = 0; i < axis.out; ++i) taps.push_back(MakeTaps(read, axis, i));
  return taps;
}

bool CornersFollowSizes(const Node& resize) {
  if (resize.attrs().String("coordinate_transformation_mode") != "align_corners") return true;
  const Value *x = resize.input(0), *factors = resize.input(2);
  if (!factors) return true;
  const Tensor* scales = factors->fixed_constant();
  if (!scales || scales->is_sparse() || !x->shape()) return false;
  const int64_t rank = x->shape()->rank();
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  axes = resize.attrs().Ints("axes", axes);
  if (static_cast<int64_t>(axes.size()) != scales->num_elements()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const double factor = scales->AsDouble(static_cast<int64_t>(i));
    if (factor == std::floor(factor)) continue;
    const int64_t axis = axes[i] + (axes[i] < 0 ? rank : 0);
    if (axis < 0 || axis >= rank || !(*x->shape())[axis].is_static()) return false;
    const double length = factor * static_cast<double>((*x->shape())[axis].value());
    if (length != std::floor(length)) return false;
  }
  return true;
}

bool ResizePicks(const AttributeMap& attrs, const ResizeAxis& axis,
                 absl::Span<const int64_t> picks) {
  AttributeMap all = attrs;
  for (const AttrDef& def : FindOp("resize")->attrs()) {
    if (!all.Has(def.name) && def.default_value) all.Set(def.name, *def.default_value);
  }
  const auto taps = ResizeTapsAlong(all, axis);
  return taps.ok() && std::equal(taps->begin(), taps->end(), picks.begin(), picks.end(),
                                 [](const ResizeTaps& t, int64_t pick) {
                                   return t.inputs.size() == 1 && t.inputs[0].first == pick;
                                 });
}

}  // namespace x2ir
