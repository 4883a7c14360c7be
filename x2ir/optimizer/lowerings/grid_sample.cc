// grid_sample as arithmetic on coordinates and a gather for each pixel that takes part: the same
// steps in the same order as its evaluation (x2ir/ops/grid_sample.cc).
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/constants.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxTaps = 64;                // pixels that make up a result
constexpr int64_t kMaxSize = int64_t{1} << 22;  // of an axis: float32 counts that far, and more

struct Sampler {
  Builder& b;
  DType place_type;  // that places are computed in
  std::string mode, padding;
  bool align_corners;
};

// What bounds the coordinates of an axis: see Bounds in the evaluation.
struct SampleBounds {
  Expr size, last, low, high;
};

SampleBounds BoundsOf(const Sampler& s, const Expr& size) {
  const Expr last = size + -1;
  if (s.align_corners) return {size, last, size.Number(0), last};
  return {size, last, size.Number(-0.5), size + -0.5};
}

// x folded back into the bounds; NaN becomes the low bound.
Expr Reflect(const Expr& x, const SampleBounds& k) {
  const Expr range = k.high - k.low;
  const Expr below = x < k.low;
  const Expr outside = below | (k.high < x);
  const Expr distance = Where(below, k.low - x, x - k.high);
  const Expr turns = Floor(distance / range);
  const Expr rest = distance - turns * range;
  const Expr half = turns * 0.5;
  const Expr odd = Floor(half) < half;
  const Expr from_low = below ^ odd;
  const Expr folded = Where(from_low, k.low + rest, k.high - rest);
  const Expr y = Where(outside, Clip(folded, k.low, k.high), x);
  const Expr finite = Abs(x) < kInf;
  return Where(finite & (0 < range), y, k.low);
}

// A pixel along one axis, for every result: where it is, whether it is there (null: always), and
// its weight (null: 1).
struct Tap {
  Value *index, *there, *weight;
};

Tap TapAt(const Sampler& s, Expr i, const SampleBounds& k, Value* weight) {
  const Expr zero = i.Number(0);
  Tap tap{nullptr, nullptr, weight};
  if (s.padding == "zeros") {
    tap.there = Not((i < zero) | (k.last < i));
  } else if (s.padding == "reflection") {
    const Expr outside = (i < zero) | (k.last < i);
    // Cut off towards zero, and never below -1: then the clip below makes it 0.
    const Expr folded = Reflect(i, k);
    i = Where(outside, Floor(Clip(folded, zero, k.last)), i);
  }
  tap.index = Clip(i, zero, k.last).To(DType::kInt64);
  return tap;
}

// The weights of a cubic kernel with a = -3/4 around a place t after the second pixel.
std::vector<Value*> CubicWeights(const Expr& t) {
  constexpr double a = -0.75;
  const auto near = [&](const Expr& d) { return (d * (a + 2) + -(a + 3)) * d * d + 1; };
  const auto far = [&](const Expr& d) { return ((d * a + -5 * a) * d + 8 * a) * d + -4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

// The pixels along an axis of that size for places from -1 to 1; weights of type `weight_type`.
std::vector<Tap> TapsAlong(const Sampler& s, const Expr& place, const Expr& size,
                           DType weight_type) {
  const SampleBounds k = BoundsOf(s, size);
  const Expr moved = place + 1;
  Expr x = s.align_corners ? moved * 0.5 * k.last : (moved * size + -1) * 0.5;
  if (s.mode == "nearest") x = Round(x);
  if (s.padding == "border") {
    const Expr above = x >= k.low, below = x <= k.high;
    const Expr inside = above & below;
    const Expr edge = Where(0 < x, k.last, x.Number(0));
    x = Where(inside, x, edge);
  } else if (s.padding == "reflection") {
    x = Reflect(x, k);
  } else {  // NaN is outside
    x = Where(IsNan(x), -4, x);
  }
  x = Clip(x, x.Number(-4), size + 4);
  if (s.mode == "nearest") return {TapAt(s, Round(x), k, nullptr)};
  const Expr floor = Floor(x);
  const Expr t = (x - floor).To(weight_type);
  const bool cubic = s.mode == "cubic";
  const std::vector<Value*> weights = cubic ? CubicWeights(t) : std::vector<Value*>{1 - t, t};
  std::vector<Tap> taps;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double offset = static_cast<double>(i) - (cubic ? 1 : 0);
    taps.push_back(TapAt(s, Shifted(floor, offset), k, weights[i]));
  }
  return taps;
}

// Each of the taps so far (none: the first axis) with each of those along one more axis, of that
// stride. Indices count rows of pixels.
std::vector<Tap> Combine(Sampler& s, const std::vector<Tap>& so_far, std::vector<Tap> along,
                         Value* stride) {
  for (Tap& tap : along) {
    if (stride) tap.index = s.b.Op("mul", {tap.index, stride});
  }
  if (so_far.empty()) return along;
  std::vector<Tap> all;
  for (const Tap& before : so_far) {
    for (Tap tap : along) {
      tap.index = s.b.Op("add", {before.index, tap.index});
      if (tap.there) tap.there = s.b.Op("and", {before.there, tap.there});
      if (tap.weight) tap.weight = s.b.Op("mul", {before.weight, tap.weight});
      all.push_back(tap);
    }
  }
  return all;
}

absl::StatusOr<Values> GridSampleAsGather(Rewrite& r) {
  Builder& b = r.b;
  const Shape* x = r.in(0)->shape();
  const Shape* grid = r.in(1)->shape();
  if (!x || !grid || x->rank() != grid->rank() || x->rank() < 3) {
    return CannotExpress("the ranks are not known");
  }
  const int64_t axes = x->rank() - 2;
  X2IR_ASSIGN_OR_RETURN(const DType place_type, FloatComputeType(r.dtype(1)));
  Sampler s{b, place_type, r.attrs().String("mode"), r.attrs().String("padding_mode"),
            r.attrs().Int("align_corners") != 0};
  const DType dtype = r.dtype(0);
  if (!IsFloating(dtype) && !IsInteger(dtype) && dtype != DType::kBool) {
    return CannotExpress("pixels of ", Name(dtype), " have no zero");
  }
  // Evaluation computes in float64. Between two pixels no number grows, so float32 does there.
  const bool small = IsFloating(dtype) && dtype != DType::kFloat64 && s.mode == "linear";
  const DType weight_type = small ? DType::kFloat32 : DType::kFloat64;
  const bool moves = s.mode == "nearest";
  if (portable::pow(s.mode == "cubic" ? 4 : 2, static_cast<double>(axes)) > kMaxTaps && !moves) {
    return CannotExpress("more than ", kMaxTaps, " pixels for each result");
  }
  if ((*x)[1] == Dim(0)) return CannotExpress("an image without channels");
  for (int64_t i = 2; i < x->rank(); ++i) {
    if ((*x)[i].is_static() && ((*x)[i].value() < 1 || (*x)[i].value() > kMaxSize)) {
      return CannotExpress("an image of ", (*x)[i].value(), " pixels along axis ", i);
    }
  }
  // Pixels as rows, all channels of one in each.
  std::vector<int64_t> perm(x->rank()), back(x->rank());
  std::iota(perm.begin(), perm.end(), 1);
  perm[0] = 0;
  perm.back() = 1;
  Value* channels = b.Op("slice", {b.Op("shape", {r.in(0)}), b.Ints({1}, "start"),
                                   b.Ints({2}, "end"), b.Ints({0}, "axes")});
  if ((*x)[1].is_static()) channels = b.Ints({(*x)[1].value()}, "channels");
  Value* row_shape = b.Op("concat", {b.Ints({-1}, "rows"), channels}, {{"axis", 0}});
  Value* rows = b.Op("reshape", {b.Op("transpose", {r.in(0)}, {{"perm", perm}}), row_shape});
  if (!moves) rows = Expr(b, rows).To(weight_type);

  Value* places = Expr(b, r.in(1)).To(place_type);
  std::vector<Value*> strides(axes + 1, nullptr);  // in rows; null: 1
  for (int64_t axis = axes; axis-- > 0;) {
    Value* size = SizeOfAxis(b, r.in(0), 2 + axis, DType::kInt64);
    strides[axis] = strides[axis + 1] ? b.Op("mul", {strides[axis + 1], size}) : size;
  }
  std::vector<Tap> taps;
  for (int64_t axis = 0; axis < axes; ++axis) {
    // The grid names the last axis first.
    const Expr place(
        b, b.Op("gather", {places, b.Int(axes - 1 - axis, "coordinate")}, {{"axis", -1}}));
    const Expr size = SizeOfAxis(b, r.in(0), 2 + axis, place_type);
    taps = Combine(s, taps, TapsAlong(s, place, size, weight_type), strides[axis + 1]);
  }
  // The first row of each image.
  Value* batch = (*x)[0].is_static()
                     ? Counting(b, (*x)[0].value(), DType::kInt64)
                     : b.Op("range", {b.Int(0, "start"), SizeOfAxis(b, r.in(0), 0, DType::kInt64),
                                      b.Int(1, "step")});
  std::vector<int64_t> place_axes(axes);
  std::iota(place_axes.begin(), place_axes.end(), 1);
  Value* first = b.Op("mul", {b.Op("unsqueeze", {batch, b.Ints(place_axes, "axes")}), strides[0]});

  const auto per_channel = [&](Value* v) {
    return b.Op("unsqueeze", {v, b.Ints({axes + 1}, "axes")});
  };
  Value* zero = dtype == DType::kBool && moves ? b.Constant(Tensor::Scalar(false), "zero")
                                               : b.Scalar(moves ? dtype : weight_type, 0, "zero");
  Value* sum = nullptr;
  for (const Tap& tap : taps) {
    Value* pixel = b.Op("gather", {rows, b.Op("add", {first, tap.index})}, {{"axis", 0}});
    if (tap.there) pixel = b.Op("where", {per_channel(tap.there), pixel, zero});
    if (tap.weight) pixel = b.Op("mul", {pixel, per_channel(tap.weight)});
    sum = sum ? b.Op("add", {sum, pixel}) : pixel;
  }
  std::iota(back.begin(), back.end(), -1);
  back[0] = 0;
  back[1] = axes + 1;
  return Values{Expr(b, b.Op("transpose", {sum}, {{"perm", back}})).To(dtype)};
}
X2IR_LOWERING(grid_sample, GridSampleAsGather);

}  // namespace
}  // namespace x2ir
