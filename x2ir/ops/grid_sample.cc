// Sampling an image at computed places: grid_sample, and affine_grid, which computes them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- grid_sample ----------------------------------------------------------------------------

enum class SampleMode { kLinear, kNearest, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Sampling {
  SampleMode mode;
  Padding padding;
  bool align_corners;
};

absl::StatusOr<Sampling> ReadSampling(const AttributeMap& attrs) {
  Sampling s{};
  X2IR_ASSIGN_OR_RETURN(s.mode,
                        ChoiceAttr<SampleMode>(attrs, "mode", {"linear", "nearest", "cubic"}));
  X2IR_ASSIGN_OR_RETURN(
      s.padding, ChoiceAttr<Padding>(attrs, "padding_mode", {"zeros", "border", "reflection"}));
  s.align_corners = attrs.Int("align_corners") != 0;
  return s;
}

absl::Status InferGridSample(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ReadSampling(ctx.attrs()).status());
  const Shape* x = ctx.shape(0);
  const Shape* grid = ctx.shape(1);
  if (ctx.dtype(1) != DType::kUndefined && !IsFloating(ctx.dtype(1))) {
    return Invalid("grid: expected floating-point numbers, got ", Name(ctx.dtype(1)));
  }
  if (x && x->rank() < 3) return Invalid("x: expected rank 3 or more, got ", x->rank());
  if (grid && grid->rank() < 3) return Invalid("grid: expected rank 3 or more, got ", grid->rank());
  if (x && grid && x->rank() != grid->rank()) {
    return Invalid("grid: expected rank ", x->rank(), ", got ", grid->rank());
  }
  ctx.Set(0, ctx.dtype(0));
  if (!x && !grid) return absl::OkStatus();
  const int64_t rank = x ? x->rank() : grid->rank();
  if (grid && ProvablyDifferent((*grid)[rank - 1], Dim(rank - 2))) {
    return Invalid("grid: expected ", rank - 2, " coordinates, got ", (*grid)[rank - 1].ToString());
  }
  Shape out = Shape::UnknownDims(rank);
  if (x) out[0] = (*x)[0];
  if (x) out[1] = (*x)[1];
  if (grid) {
    if (x) {
      X2IR_ASSIGN_OR_RETURN(out[0], SameDim((*x)[0], (*grid)[0]));
    } else {
      out[0] = (*grid)[0];
    }
    for (int64_t i = 2; i < rank; ++i) out[i] = (*grid)[i - 1];
  }
  return ctx.Return(ctx.dtype(0), std::move(out));
}

// What bounds a coordinate before padding has its say: the outer pixels' centres if corners are
// aligned, else their edges.
template <typename T>
struct Bounds {
  T low, high;
};

// x folded back into the bounds, as often as it takes. NaN becomes the low bound.
template <typename T>
T Reflect(T x, Bounds<T> b) {
  const T range = b.high - b.low;
  if (!(range > 0) || !std::isfinite(x)) return b.low;
  if (x >= b.low && x <= b.high) return x;
  const bool below = x < b.low;
  const T distance = below ? b.low - x : x - b.high;
  const T turns = std::trunc(distance / range);
  const T rest = distance - turns * range;
  const bool from_low = below == (std::fmod(turns, T{2}) == 0);
  return std::clamp(from_low ? b.low + rest : b.high - rest, b.low, b.high);
}

// The pixel that is used for position `i`, or -1 where there is none and zero counts.
template <typename T>
int64_t PadIndex(int64_t i, int64_t size, Padding padding, Bounds<T> bounds) {
  if (i >= 0 && i < size) return i;
  if (size == 0 || padding == Padding::kZeros) return -1;
  if (padding == Padding::kReflection) {
    i = static_cast<int64_t>(Reflect(static_cast<T>(i), bounds));
  }
  return std::clamp<int64_t>(i, 0, size - 1);
}

// Weights of four pixels around a place t in [0, 1) after the second, for a kernel with a = -3/4.
void CubicWeights(double t, double* w) {
  constexpr double a = -0.75;
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  w[0] = far(t + 1);
  w[1] = near(t);
  w[2] = near(1 - t);
  w[3] = far(2 - t);
}

// The pixels along one axis that make up a result, and their weights.
struct Taps {
  int n = 1;
  int64_t index[4] = {-1, -1, -1, -1};  // -1: zero
  double weight[4] = {1, 0, 0, 0};
};

// T is the type of the grid: places are computed in it, for where halves are rounded to.
template <typename T>
Taps TapsAt(T place, int64_t size, const Sampling& s) {
  const Bounds<T> bounds = s.align_corners ? Bounds<T>{T{0}, static_cast<T>(size - 1)}
                                           : Bounds<T>{T(-0.5), static_cast<T>(size) - T(0.5)};
  T x = s.align_corners ? (place + 1) / 2 * static_cast<T>(size - 1)
                        : ((place + 1) * static_cast<T>(size) - 1) / 2;
  if (s.mode == SampleMode::kNearest) x = std::nearbyint(x);
  if (!(x >= bounds.low && x <= bounds.high)) {
    if (s.padding == Padding::kBorder) {
      x = x > 0 ? static_cast<T>(size - 1) : T{0};
    } else if (s.padding == Padding::kReflection) {
      x = Reflect(x, bounds);
    } else if (std::isnan(x)) {
      x = T(-4);  // nowhere: zeros
    }
  }
  // No tap is further than 3 from its place: what is more than that outside may come nearer.
  x = std::clamp(x, T(-4), static_cast<T>(size) + T(4));
  Taps taps;
  const T floor = std::floor(x);
  const double t = static_cast<double>(x - floor);
  int64_t first = static_cast<int64_t>(floor);
  switch (s.mode) {
    case SampleMode::kNearest: first = static_cast<int64_t>(std::nearbyint(x)); break;
    case SampleMode::kLinear:
      taps.n = 2;
      taps.weight[0] = 1 - t;
      taps.weight[1] = t;
      break;
    case SampleMode::kCubic:
      taps.n = 4;
      first -= 1;
      CubicWeights(t, taps.weight);
      break;
  }
  for (int i = 0; i < taps.n; ++i) {
    taps.index[i] = PadIndex(first + i, size, s.padding, bounds);
  }
  return taps;
}

// An element of the input that counts towards a result, and how much. -1: zero.
struct Tap {
  int64_t offset;
  double weight;
};

// More axes would make more taps than anyone waits for.
constexpr int64_t kMaxInterpolatedAxes = 8;

absl::Status CheckGridSample(const EvalContext& ctx, const Sampling& s) {
  const Tensor& x = ctx.input(0);
  const Tensor& grid = ctx.input(1);
  if (!IsFloating(grid.dtype())) return Invalid("grid: expected floating-point numbers");
  if (x.rank() < 3 || grid.rank() != x.rank() || grid.dims().back() != x.rank() - 2 ||
      grid.dim(0) != x.dim(0)) {
    return Invalid("grid ", DimsText(grid.dims()), " does not fit an input ", DimsText(x.dims()));
  }
  if (s.mode != SampleMode::kNearest && x.rank() - 2 > kMaxInterpolatedAxes) {
    return Unimplemented("interpolation over ", x.rank() - 2, " axes");
  }
  if (s.mode != SampleMode::kNearest && x.is_string()) {
    return Invalid("strings cannot be interpolated; mode nearest picks them");
  }
  return absl::OkStatus();
}

// Calls put(output offset, input offset of the channel, taps within it) for every result.
template <typename T, typename Put>
void ForEachSample(const EvalContext& ctx, const Sampling& s, const std::vector<int64_t>& out_dims,
                   Put&& put) {
  const Tensor& x = ctx.input(0);
  const Numbers<T> grid(ctx.input(1));
  const int64_t axes = x.rank() - 2;
  const std::vector<int64_t> strides = Strides(x.dims());
  const int64_t places = Count(absl::MakeConstSpan(out_dims).subspan(2));
  const int64_t plane = Count(absl::MakeConstSpan(x.dims()).subspan(2));
  std::vector<Tap> taps, next;
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t p = 0; p < places; ++p) {
      taps.assign(1, {0, 1.0});
      for (int64_t a = 0; a < axes; ++a) {
        // The grid names the last axis first.
        const T place = grid[(n * places + p) * axes + (axes - 1 - a)];
        const Taps along = TapsAt<T>(place, x.dim(2 + a), s);
        next.clear();
        for (const Tap& tap : taps) {
          for (int i = 0; i < along.n; ++i) {
            const bool zero = tap.offset < 0 || along.index[i] < 0;
            next.push_back({zero ? -1 : tap.offset + along.index[i] * strides[2 + a],
                            tap.weight * along.weight[i]});
          }
        }
        taps.swap(next);
      }
      for (int64_t c = 0; c < x.dim(1); ++c) {
        const int64_t channel = n * x.dim(1) + c;
        put(channel * places + p, channel * plane, taps);
      }
    }
  }
}

template <typename T>
absl::Status EvalSamples(EvalContext& ctx, const Sampling& s, std::vector<int64_t> dims) {
  const Tensor& x = ctx.input(0);
  if (s.mode == SampleMode::kNearest) {
    CellsOut out(x.dtype(), dims);
    const Cells in(x);
    DispatchCell(out.size(), [&](auto cell) {
      using C = decltype(cell);
      ForEachSample<T>(ctx, s, dims, [&](int64_t to, int64_t from, absl::Span<const Tap> taps) {
        if (taps[0].offset >= 0) out.as<C>()[to] = in.as<C>()[from + taps[0].offset];
      });
    });
    return ctx.Return(out.Finish());
  }
  const auto interpolate = [&](auto zero) {
    using V = decltype(zero);  // double, or complex double
    const Numbers<V> in(x);
    std::vector<V> out(Count(dims));
    ForEachSample<T>(ctx, s, dims, [&](int64_t to, int64_t from, absl::Span<const Tap> taps) {
      V sum{};
      for (const Tap& tap : taps) {
        if (tap.offset >= 0) sum += in[from + tap.offset] * tap.weight;
      }
      out[to] = sum;
    });
    return out;
  };
  if (IsComplex(x.dtype())) {
    ctx.Set(
        0, FromNumbers<std::complex<double>>(x.dtype(), dims, interpolate(std::complex<double>{})));
    return absl::OkStatus();
  }
  const std::vector<double> values = interpolate(double{});
  if (IsFloating(x.dtype())) {
    return ctx.Return(FromNumbers<double>(x.dtype(), dims, values));
  }
  // Integers are cut off towards zero; what is not zero is true.
  X2IR_ASSIGN_OR_RETURN(Tensor out, CastTensor(Tensor::Of<double>(dims, values), x.dtype()));
  return ctx.Return(std::move(out));
}

absl::Status EvalGridSample(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Sampling s, ReadSampling(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(CheckGridSample(ctx, s));
  std::vector<int64_t> dims = {ctx.dims(0)[0], ctx.dims(0)[1]};
  dims.insert(dims.end(), ctx.dims(1).begin() + 1, ctx.dims(1).end() - 1);
  X2IR_RETURN_IF_ERROR(CheckAllocation(ctx.dtype(0), dims));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kComplex128, dims));
  return DispatchFloat(ctx.dtype(1), [&](auto zero) {
    return EvalSamples<decltype(zero)>(ctx, s, std::move(dims));
  });
}

X2IR_OP(grid_sample)
    .Signature("x, grid -> y")
    .Attrs("align_corners = 0, mode = 'linear', padding_mode = 'zeros'")
    .Functions(InferGridSample, EvalGridSample)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly, kFirstOfType)
    .Heavy()
    .Doc(
        "x, channels first, at the places of grid: coordinates from -1 to 1, that of the last axis "
        "first, between which pixels are interpolated and beyond which padding_mode rules.")
    .NeedsFloat32(float32_for::kPlaces, 1u << 1, true);

// --- affine_grid ----------------------------------------------------------------------------

absl::Status InferAffineGrid(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "size"));
  X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, 1));
  X2IR_ASSIGN_OR_RETURN(const auto sizes, SizesOperand(ctx, 1));
  const Shape* theta = ctx.shape(0);
  ctx.Set(0, ctx.dtype(0));
  if (length >= 0 && length != 4 && length != 5) {
    return Invalid("size: expected 4 or 5 numbers, got ", length);
  }
  if (theta && theta->rank() != 3) return Invalid("theta: expected rank 3, got ", theta->rank());
  int64_t axes = length < 0 ? -1 : length - 2;
  if (axes < 0 && theta && (*theta)[1].is_static()) axes = (*theta)[1].value();
  if (axes < 0) return absl::OkStatus();
  if (axes != 2 && axes != 3) return Invalid("theta: expected 2 or 3 rows, got ", axes);
  if (theta && (ProvablyDifferent((*theta)[1], Dim(axes)) ||
                ProvablyDifferent((*theta)[2], Dim(axes + 1)))) {
    return Invalid("theta: expected matrices of ", axes, " by ", axes + 1, ", got [",
                   theta->ToString(), "]");
  }
  Shape out = Shape::UnknownDims(axes + 2);
  if (theta) out[0] = (*theta)[0];
  out[axes + 1] = Dim(axes);
  if (sizes) {
    if (theta) {
      X2IR_ASSIGN_OR_RETURN(out[0], SameDim((*sizes)[0], (*theta)[0]));
    } else {
      out[0] = (*sizes)[0];
    }
    for (int64_t i = 0; i < axes; ++i) out[1 + i] = (*sizes)[2 + i];
  }
  return ctx.Return(ctx.dtype(0), std::move(out));
}

// Place i of n between -1 and 1: of pixel centres if corners are aligned, else of the edges. A
// single pixel with aligned corners is in the middle.
double GridPlace(int64_t i, int64_t n, bool align_corners) {
  if (!align_corners) return (2.0 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
  return n == 1 ? 0 : 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1;
}

absl::Status EvalAffineGrid(EvalContext& ctx) {
  const Tensor& theta = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntsOperand(ctx, 1, "size"));
  const int64_t axes = static_cast<int64_t>(size.size()) - 2;
  if (axes != 2 && axes != 3) return Invalid("size: expected 4 or 5 numbers, got ", size.size());
  for (int64_t d : size) {
    if (d < 0) return Invalid("size: ", d, " is negative");
  }
  if (!IsFloating(theta.dtype())) return Unimplemented("evaluation of ", Name(theta.dtype()));
  if (theta.dims() != std::vector<int64_t>{size[0], axes, axes + 1}) {
    return Invalid("theta: expected shape ", DimsText({size[0], axes, axes + 1}), ", got ",
                   DimsText(theta.dims()));
  }
  const bool align = ctx.attrs().Int("align_corners") != 0;
  std::vector<int64_t> dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  const int64_t depth = axes == 3 ? size[2] : 1, height = size[axes], width = size[axes + 1];
  dims.push_back(axes);
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
  const Numbers<double> m(theta);
  std::vector<double> out;
  out.reserve(Count(dims));
  for (int64_t n = 0; n < (Count(dims) > 0 ? size[0] : 0); ++n) {
    for (int64_t d = 0; d < depth; ++d) {
      for (int64_t h = 0; h < height; ++h) {
        for (int64_t w = 0; w < width; ++w) {
          const double at[3] = {GridPlace(w, width, align), GridPlace(h, height, align),
                                axes == 3 ? GridPlace(d, depth, align) : 0};
          for (int64_t r = 0; r < axes; ++r) {
            const double* row = m.data() + (n * axes + r) * (axes + 1);
            double sum = row[axes];
            for (int64_t k = 0; k < axes; ++k) sum += row[k] * at[k];
            out.push_back(sum);
          }
        }
      }
    }
  }
  return ctx.Return(FromNumbers<double>(theta.dtype(), std::move(dims), out));
}

X2IR_OP(affine_grid)
    .Signature("theta, size -> grid")
    .Attrs("align_corners = 0")
    .Functions(InferAffineGrid, EvalAffineGrid)
    .Opaque()
    .Doc(
        "A grid for grid_sample: each place of an output of that size (channels first), mapped by "
        "the affine matrix theta of its batch entry.")
    .NeedsFloat32(float32_for::kPlaces, kAllOfType, true);

}  // namespace
}  // namespace x2ir
