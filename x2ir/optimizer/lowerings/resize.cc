// Lowerings of resize: `axes`, which ONNX has since opset 18, with operands that are computed
// (constant ones are written out by the handler); and where all sizes are known, what each result
// is made of, by gathering.
#include "x2ir/ops/resize.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

enum Operand : size_t { kX, kRoi, kScales, kSizes };

// `values` of some axes become values of all: they replace those of `all` at `places`.
Value* SpreadOver(Builder& b, Value* all, const std::vector<int64_t>& places, Value* values) {
  return b.Op("scatter_elements", {all, b.Ints(places, "axes"), values});
}

absl::StatusOr<Values> ResizeAllAxes(Rewrite& r) {
  const Attribute* attr = r.attrs().Find("axes");
  const int64_t rank = r.rank(0);
  if (attr == nullptr) return NothingToDo();
  if (const Fact fact = Fact::Takes("resize", kSizes, DType::kInt64); !r.target.Holds(fact)) {
    return CannotExpress("computed sizes, scales or roi", r.target.Later(fact));
  }
  const auto constant = [&](size_t i) { return !r.has(i) || r.in(i)->fixed_constant(); };
  if (constant(kRoi) && constant(kScales) && constant(kSizes)) {
    return NothingToDo();
  }
  if (rank < 0) {
    return CannotExpress("axes of an input of unknown rank",
                         r.target.Later(Fact::Says("resize", "axes", *attr)));
  }
  const Attribute* policy = r.attrs().Find("keep_aspect_ratio_policy");
  if (policy && *policy != Attribute("stretch")) {
    return CannotExpress("a policy that looks at some axes only",
                         r.target.Later(Fact::Says("resize", "keep_aspect_ratio_policy", *policy)));
  }
  std::vector<int64_t> axes = r.attrs().Ints("axes");
  for (int64_t& a : axes) a += a < 0 ? rank : 0;
  Builder& b = r.b;
  std::vector<Value*> operands = {r.in(0), nullptr, nullptr, nullptr};
  if (r.has(1)) {  // roi: all starts, then all ends; the whole axis is from 0 to 1
    std::vector<int64_t> places = axes;
    for (int64_t a : axes) places.push_back(a + rank);
    std::vector<float> whole(rank, 0.0f);
    whole.resize(2 * rank, 1.0f);
    X2IR_ASSIGN_OR_RETURN(
        Tensor all,
        CastTensor(Tensor::Of<float>({2 * rank}, absl::MakeConstSpan(whole)), r.dtype(1)));
    operands[1] = SpreadOver(b, b.Constant(std::move(all), "whole_roi"), places, r.in(1));
  }
  if (r.has(2)) {
    const std::vector<float> ones(rank, 1.0f);
    Value* all = b.Constant(Tensor::Of<float>({rank}, absl::MakeConstSpan(ones)), "ones");
    operands[2] = SpreadOver(b, all, axes, r.in(2));
  }
  if (r.has(3)) operands[3] = SpreadOver(b, b.Op("shape", {r.in(0)}), axes, r.in(3));
  AttributeMap attrs = r.attrs();
  attrs.Erase("axes");
  return Values{b.Op("resize", operands, std::move(attrs))};
}

// --- What is known --------------------------------------------------------------------------

constexpr size_t kMaxResizeTaps = 64;  // elements that make up a result

// The numbers of a constant operand, as many as expected.
std::optional<std::vector<double>> ConstNumbers(const Rewrite& r, size_t i, size_t count) {
  const Tensor* t = Given(r, i) ? r.in(i)->fixed_constant() : nullptr;
  if (!t || t->is_sparse() || t->num_elements() != static_cast<int64_t>(count) ||
      !IsFloating(t->dtype())) {
    return std::nullopt;
  }
  std::vector<double> values;
  for (size_t k = 0; k < count; ++k) values.push_back(t->AsDouble(static_cast<int64_t>(k)));
  return values;
}

struct AxisToResize {
  int64_t axis;
  ResizeAxis along;
};

// The axes that change. Sizes that are computed still are those of the result, if it has a shape.
absl::StatusOr<std::vector<AxisToResize>> AxesToResize(const Rewrite& r, bool crop) {
  const Shape *x = r.in(kX)->shape(), *y = r.node.output(0)->shape();
  if (!x || !y || x->rank() != y->rank()) return CannotExpress("the shapes are not known");
  std::vector<int64_t> axes(x->rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (r.attrs().Has("axes")) {
    X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(r.attrs().Ints("axes"), x->rank()));
  }
  const size_t n = axes.size();
  const auto scales = ConstNumbers(r, kScales, n);
  const auto roi = crop ? ConstNumbers(r, kRoi, 2 * n) : std::nullopt;
  if (Given(r, kScales) && !scales) return CannotExpress("the scales are computed");
  if (crop && !roi) return CannotExpress("the region of interest is computed");
  std::vector<AxisToResize> all;
  for (size_t i = 0; i < n; ++i) {
    const Dim &in = (*x)[axes[i]], &out = (*y)[axes[i]];
    const bool same = scales ? (*scales)[i] == 1 : ProvablyEqual(in, out);
    if (same && !crop) continue;
    if (!in.is_static() || !out.is_static() || in.value() < 1 ||
        out.value() > kMaxLoweringElements) {
      return CannotExpress("the sizes along axis ", axes[i], " are not known");
    }
    ResizeAxis a{in.value(), out.value(), 0, static_cast<double>(out.value())};
    if (crop) {
      a.start = static_cast<float>((*roi)[i]);
      a.end = static_cast<float>((*roi)[i + n]);
    }
    if (scales) {
      const double part = crop ? static_cast<double>(a.end) - static_cast<double>(a.start) : 1;
      a.scale = static_cast<float>((*scales)[i]);
      a.length = static_cast<double>(a.in) * (*scales)[i] * part;
    } else {
      a.scale = static_cast<float>(a.out) / static_cast<float>(a.in);
    }
    all.push_back({axes[i], a});
  }
  return all;
}

// --- Taps -----------------------------------------------------------------------------------

// An element that each result along an axis takes: where it is, whether it is there at all
// (null: always) and its weight (null: 1). All but the index broadcast over the axes after it.
struct ResizeTap {
  Value *index, *there, *weight;
};

struct AxisTaps {
  std::vector<ResizeTap> taps;
  Value* outside = nullptr;  // tf_crop_and_resize: the positions of the extrapolation value
};

struct Resampling {
  Rewrite& r;
  bool crop, nearest;
  int64_t rank;
  DType type;  // that is computed in
};

// A constant along one axis that broadcasts over those after it.
Value* Along(Builder& b, DType t, const std::vector<double>& values, int64_t axis, int64_t rank) {
  std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  dims.resize(rank - axis, 1);
  return NumbersAs(b, t, dims, values, "weights");
}

// The same of what is computed.
Value* Along(Builder& b, Value* values, int64_t axis, int64_t rank) {
  std::vector<int64_t> after(rank - axis - 1);
  std::iota(after.begin(), after.end(), 1);
  return after.empty() ? values : b.Op("unsqueeze", {values, b.Ints(after, "axes")});
}

bool Any(const std::vector<double>& flags, double value) {
  return std::find(flags.begin(), flags.end(), value) != flags.end();
}

absl::StatusOr<AxisTaps> KnownTaps(const Resampling& s, const AxisToResize& a) {
  Builder& b = s.r.b;
  // Four pixels on either side at most, where antialiasing does not widen the kernel.
  if (s.r.attrs().Int("antialias") != 0 && a.along.scale * kMaxResizeTaps < 8) {
    return CannotExpress("more than ", kMaxResizeTaps, " elements for each result");
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<ResizeTaps> results,
                        ResizeTapsAlong(s.r.attrs(), a.along));
  size_t count = 1;
  std::vector<double> outside;
  for (const ResizeTaps& taps : results) {
    count = std::max(count, taps.inputs.size());
    outside.push_back(taps.outside ? 1 : 0);
  }
  if (count > kMaxResizeTaps) return CannotExpress(count, " elements for each result");
  AxisTaps all;
  for (size_t k = 0; k < count; ++k) {
    std::vector<int64_t> picks;
    std::vector<double> weights, there;
    for (const ResizeTaps& taps : results) {
      const bool has = k < taps.inputs.size();
      picks.push_back(has ? taps.inputs[k].first : 0);
      weights.push_back(has ? taps.inputs[k].second : 0);
      there.push_back(has ? 1 : 0);
    }
    ResizeTap tap{b.Ints(picks, "places"), nullptr, nullptr};
    if (!s.nearest) tap.weight = Along(b, s.type, weights, a.axis, s.rank);
    if (!s.nearest && Any(there, 0)) {
      tap.there = Along(b, DType::kBool, there, a.axis, s.rank);
    }
    all.taps.push_back(tap);
  }
  if (Any(outside, 1)) all.outside = Along(b, DType::kBool, outside, a.axis, s.rank);
  return all;
}

// An axis of which something is computed: see MakeAxes in the evaluation.
struct ComputedAxis {
  Expr in = nullptr, out = nullptr;     // float32
  Expr scale = nullptr;                 // float32
  Expr length = nullptr;                // float64
  Expr start = nullptr, end = nullptr;  // float32, null without a region
  Expr places = nullptr;                // 0, 1, .. out - 1 as float32
};

absl::StatusOr<ComputedAxis> ReadAxis(const Resampling& s, int64_t axis, int64_t i, int64_t n) {
  Builder& b = s.r.b;
  const auto element = [&](size_t operand, int64_t k, DType t) {
    return Expr(b, b.Op("gather", {s.r.in(operand), b.Int(k, "axis")})).To(t);
  };
  ComputedAxis a;
  a.in = SizeOfAxis(b, s.r.in(kX), axis, DType::kFloat32);
  Expr part = nullptr;
  if (s.crop) {
    a.start = element(kRoi, i, DType::kFloat32);
    a.end = element(kRoi, i + n, DType::kFloat32);
    part = a.end.To(DType::kFloat64) - a.start.To(DType::kFloat64);
  }
  Expr count = nullptr;  // int64
  if (Given(s.r, kSizes)) {
    count = element(kSizes, i, DType::kInt64);
    a.length = count.To(DType::kFloat64);
  } else {
    const Expr scale = element(kScales, i, DType::kFloat64);
    const Expr factor = part ? scale * part : scale;
    const Expr in = SizeOfAxis(b, s.r.in(kX), axis, DType::kFloat64);
    count = Floor(in * factor).To(DType::kInt64);
    a.length = part ? in * scale * part : in * scale;
    a.scale = scale.To(DType::kFloat32);
  }
  const Dim& out = (*s.r.node.output(0)->shape())[axis];
  if (out.is_static()) {
    if (out.value() > kMaxLoweringElements) return CannotExpress("a size of ", out.value());
    a.places = Counting(b, out.value(), DType::kFloat32);
    a.out = {b, b.Scalar(DType::kFloat32, static_cast<double>(out.value()), "size")};
  } else {
    Value* places = b.Op("range", {b.Int(0, "start"), count, b.Int(1, "step")});
    a.places = Expr(b, places).To(DType::kFloat32);
    a.out = count.To(DType::kFloat32);
  }
  if (a.scale.value() == nullptr) a.scale = a.out / a.in;
  return a;
}

// The place in the input of each result, in float32: OriginalPosition of the evaluation.
Expr Positions(const Resampling& s, const ComputedAxis& a) {
  constexpr DType kWide = DType::kFloat64, kNarrow = DType::kFloat32;
  const std::string& mode = s.r.attrs().String("coordinate_transformation_mode");
  const auto half = [&] { return (a.places + 0.5) / a.scale + -0.5; };
  const auto single = [&] { return a.out < 2; };
  if (mode == "asymmetric") return a.places / a.scale;
  if (mode == "tf_half_pixel_for_nn") {  // scale 1 leaves an axis as it is
    const Expr kept = a.scale == 1;
    return Where(kept, a.places, (a.places + 0.5) / a.scale);
  }
  if (mode == "pytorch_half_pixel") return Where(single(), a.places.Number(0), half());
  if (mode == "align_corners") {
    const Expr last = a.in.To(kWide) + -1;
    const Expr x = a.places.To(kWide) * last;
    const Expr one = Not((a.length < 1) | (1 < a.length));
    return Where(one, 0, (x / (a.length + -1)).To(kNarrow));
  }
  if (mode == "half_pixel_symmetric") {
    const Expr covered = a.out.To(kWide) / a.length;
    const Expr adjustment = 1 - covered.To(kNarrow);
    return a.in * 0.5 * adjustment + (a.places + 0.5) / a.scale + -0.5;
  }
  if (mode == "tf_crop_and_resize") {
    const Expr last = a.in + -1;
    const Expr middle = (a.start + a.end) * 0.5 * last;
    const Expr along = a.places * (a.end - a.start) * last;
    const Expr x = a.start * last + along / (a.out + -1);
    return Where(single(), middle, x);
  }
  return half();
}

// Weight of an element at a distance from the place, in float64.
Expr Kernel(const Resampling& s, const Expr& distance) {
  const Expr x = Abs(distance);
  if (s.r.attrs().String("mode") == "linear") {
    const Expr y = 1 - x;
    return Max(y, 0);
  }
  const double a = s.r.attrs().Float("cubic_coeff_a");
  const Expr near = Shifted(x * (a + 2), -(a + 3)) * x * x + 1;
  Expr far = Shifted(x * a, -5 * a);
  far = Shifted(Shifted(far * x, 8 * a) * x, -4 * a);
  const Expr none = Where(x < 2, far, x.Number(0));
  return Where(1 < x, none, near);
}

absl::StatusOr<AxisTaps> ComputedTaps(const Resampling& s, int64_t axis, int64_t i, int64_t n) {
  Builder& b = s.r.b;
  X2IR_ASSIGN_OR_RETURN(const ComputedAxis a, ReadAxis(s, axis, i, n));
  Expr x = Positions(s, a);
  const Expr zero = a.in.Number(0), last = a.in + -1;
  AxisTaps all;
  if (s.crop) {
    const Expr inside = (x >= zero) & (x <= last);
    all.outside = Along(b, Not(inside), axis, s.rank);
    x = Where(inside, x, zero);
  }
  const Expr place = Clip(x, x.Number(-8), last + 8);
  const auto index = [&](const Expr& k) { return Clip(k, zero, last).To(DType::kInt64); };
  if (s.nearest) {
    const std::string& mode = s.r.attrs().String("nearest_mode");
    const Expr k = mode == "floor"                ? Floor(place)
                   : mode == "ceil"               ? Ceil(place)
                   : mode == "round_prefer_floor" ? Ceil(place + -0.5)
                                                  : Floor(place + 0.5);
    all.taps.push_back({index(k), nullptr, nullptr});
    return all;
  }
  const bool cubic = s.r.attrs().String("mode") == "cubic";
  const bool exclude = s.r.attrs().Int("exclude_outside") != 0;
  const Expr floor = Floor(place);
  Expr sum = nullptr;
  for (int k = cubic ? -1 : 0; k <= (cubic ? 2 : 1); ++k) {
    const Expr at = Shifted(floor, k);
    Expr weight = Kernel(s, at.To(DType::kFloat64) - place.To(DType::kFloat64));
    if (exclude) {
      weight = Where((at < zero) | (last < at), 0, weight);
      sum = sum ? sum + weight : weight;
    }
    all.taps.push_back({index(at), nullptr, weight});
  }
  // Elements that are the same one, at the edges, count together: an infinity of two signs
  // would be no number.
  for (size_t k = 0; k + 1 < all.taps.size(); ++k) {
    ResizeTap &one = all.taps[k], &next = all.taps[k + 1];
    const Expr same(b, b.Op("equal", {one.index, next.index}));
    const Expr weight(b, one.weight);
    next.weight = Expr(b, next.weight) + Where(same, weight, 0);
    one.weight = Where(same, 0, weight);
  }
  const auto not_zero = [](const Expr& v) { return (v < 0) | (0 < v); };
  for (ResizeTap& tap : all.taps) {
    Expr weight(b, tap.weight);
    const Expr there = not_zero(weight);
    if (exclude) weight = weight / Where(Not(not_zero(sum)), 1, sum);
    tap.there = Along(b, there, axis, s.rank);
    tap.weight = Along(b, weight.To(s.type), axis, s.rank);
  }
  return all;
}

// --- By gathering ---------------------------------------------------------------------------

// Along one axis, what each result is made of.
Value* SumOfTaps(const Resampling& s, Value* x, int64_t axis, const AxisTaps& all) {
  Builder& b = s.r.b;
  Value* sum = nullptr;
  for (const ResizeTap& tap : all.taps) {
    Value* part = b.Op("gather", {x, tap.index}, {{"axis", axis}});
    // An infinity that has no part in a result must leave no trace.
    if (tap.there) part = b.Op("where", {tap.there, part, b.Scalar(s.type, 0, "zero")});
    if (tap.weight) part = b.Op("mul", {part, tap.weight});
    sum = sum ? b.Op("add", {sum, part}) : part;
  }
  return sum;
}

absl::StatusOr<Resampling> ReadResampling(Rewrite& r) {
  Resampling s{r, r.attrs().String("coordinate_transformation_mode") == "tf_crop_and_resize",
               r.attrs().String("mode") == "nearest", r.rank(kX), r.dtype(kX)};
  const DType dtype = s.type;
  const bool number = IsFloating(dtype) || IsInteger(dtype);
  if (dtype == DType::kUndefined || (!number && (s.crop || !s.nearest))) {
    return CannotExpress("the element type is not known, or no number");
  }
  if (s.nearest) return s;
  if (IsInteger(dtype) && BitWidth(dtype) > 32) {
    return CannotExpress("sums of ", Name(dtype), " do not stay in range");
  }
  // As evaluation computes it, so that what is cut off to integers is the same.
  s.type = dtype == DType::kFloat64 || IsInteger(dtype) ? DType::kFloat64 : DType::kFloat32;
  return s;
}

// One axis after the other; then positions outside, and values beyond the element type.
Values Resampled(const Resampling& s, const std::vector<std::pair<int64_t, AxisTaps>>& axes) {
  Builder& b = s.r.b;
  const DType dtype = s.r.dtype(kX);
  Value* y = Expr(b, s.r.in(kX)).To(s.type);
  for (const auto& [axis, taps] : axes) y = SumOfTaps(s, y, axis, taps);
  if (axes.empty()) y = b.Op("identity", {y});
  for (const auto& [axis, taps] : axes) {
    if (!taps.outside) continue;
    Value* beyond = b.Scalar(s.type, s.r.attrs().Float("extrapolation_value"), "extrapolation");
    y = b.Op("where", {taps.outside, beyond, y});
  }
  if (IsInteger(dtype) && !s.nearest) {
    const int bits = BitWidth(dtype);
    const double top = portable::exp2(IsSignedInt(dtype) ? bits - 1 : bits);
    y = Clip({b, y}, {b, b.Scalar(s.type, IsSignedInt(dtype) ? -top : 0, "low")},
             {b, b.Scalar(s.type, top - 1, "high")});
  }
  return {Expr(b, y).To(dtype)};
}

absl::StatusOr<Values> ResizeAsGather(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const Resampling s, ReadResampling(r));
  X2IR_ASSIGN_OR_RETURN(const std::vector<AxisToResize> axes, AxesToResize(r, s.crop));
  std::vector<std::pair<int64_t, AxisTaps>> taps;
  for (const AxisToResize& a : axes) {
    X2IR_ASSIGN_OR_RETURN(AxisTaps along, KnownTaps(s, a));
    taps.emplace_back(a.axis, std::move(along));
  }
  return Resampled(s, taps);
}

// Where places and weights must be computed from the operands.
absl::StatusOr<Values> ResizeComputed(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const Resampling s, ReadResampling(r));
  const Shape *x = r.in(kX)->shape(), *y = r.node.output(0)->shape();
  if (!x || !y || x->rank() != y->rank()) return CannotExpress("the rank is not known");
  if (r.attrs().Int("antialias") != 0 && !s.nearest) {
    return CannotExpress("a kernel whose width depends on computed scales");
  }
  if (r.attrs().String("keep_aspect_ratio_policy") != "stretch" && Given(r, kSizes)) {
    return CannotExpress("computed sizes under a policy");
  }
  if ((s.crop && !Given(r, kRoi)) || IsInteger(r.dtype(kScales))) return Invalid("no region");
  std::vector<int64_t> axes(x->rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (r.attrs().Has("axes")) {
    X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(r.attrs().Ints("axes"), x->rank()));
  }
  const int64_t n = static_cast<int64_t>(axes.size());
  std::vector<std::pair<int64_t, AxisTaps>> taps;
  for (int64_t i = 0; i < n; ++i) {
    // One element stays as it is, whatever the scale.
    const bool one = (*x)[axes[i]] == Dim(1) && (*y)[axes[i]] == Dim(1);
    if (one && !s.crop) continue;
    X2IR_ASSIGN_OR_RETURN(AxisTaps along, ComputedTaps(s, axes[i], i, n));
    taps.emplace_back(axes[i], std::move(along));
  }
  return Resampled(s, taps);
}
X2IR_LOWERING(resize, ResizeAllAxes);
X2IR_LOWERING(resize, ResizeAsGather);
X2IR_LOWERING(resize, ResizeComputed);

}  // namespace
}  // namespace x2ir
