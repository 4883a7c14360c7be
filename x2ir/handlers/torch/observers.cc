// Fake quantization that observes: a moving average of the least and greatest element, the scale
// and the zero point for it, and x rounded to their steps. What the observer keeps for the next run
// is given as results where the operator gives it; else it is no part of the model
// (functionalize.cc).
#include <cmath>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/quantize.h"

namespace x2ir {
namespace {

constexpr DType kSingle = DType::kFloat32, kExact = DType::kFloat64;

struct ObservedRange {
  Expr least, greatest;  // float32, of one shape
};
struct ChosenSteps {
  Expr scale;       // float32
  Expr zero_point;  // int32
};

Expr Larger(const Expr& a, const Expr& b) { return Where(a < b, b, a); }
Expr Larger(const Expr& a, double b) { return Larger(a, a.Number(b)); }
Expr Smaller(const Expr& a, double b) { return Where(a > b, b, a); }

// The steps of [low, high] that cover a range, with zero among them. Numbers are float32 where the
// kernel has them so, and float64 where it computes in that.
ChosenSteps ChooseSteps(ObservedRange r, int64_t low, int64_t high, bool symmetric) {
  constexpr double kLeastScale = 6.1e-5f;  // what is less is this
  const auto qmin = static_cast<double>(low), qmax = static_cast<double>(high);
  if (symmetric) {
    // Both ends as far from zero as the farther one, counted in the steps of its side.
    const auto below = static_cast<double>(-((high - low) / 2 + 1));
    const auto above = static_cast<double>((high - low) / 2);
    const Expr both = (r.least < 0.0) & (r.greatest > 0.0);
    const Expr step = Larger(Abs(r.least / below), Abs(r.greatest / above));
    r = {Where(both, step * below, r.least), Where(both, step * above, r.greatest)};
  }
  Expr least = Smaller(r.least, 0.0), greatest = Larger(r.greatest, 0.0);
  Expr scale = (greatest.To(kExact) - least.To(kExact)) / (qmax - qmin);
  const Expr single = scale.To(kSingle);
  scale = Where((single == 0.0) | IsInf(1.0 / single), 0.1, scale);
  const Expr small = scale < kLeastScale;
  const auto whole =
      static_cast<double>(static_cast<float>(kLeastScale) * static_cast<float>(high - low));
  const Expr amplifier = kLeastScale / scale.To(kSingle);
  const Expr from_zero = least == 0.0, to_zero = greatest == 0.0;
  const Expr wider = Where(from_zero, whole, Where(to_zero, greatest, greatest * amplifier));
  const Expr lower = Where(from_zero, least, Where(to_zero, -whole, least * amplifier));
  least = Where(small, lower, least);
  greatest = Where(small, wider, greatest);
  scale = Where(small, kLeastScale, scale);
  const Expr down = least.To(kExact) / scale, up = greatest.To(kExact) / scale;
  // From the end that is rounded less.
  const Expr nearer = std::abs(qmin) - Abs(down) < std::abs(qmax) - Abs(up);
  Expr zero_point = Where(nearer, qmin - down, qmax - up);
  if (symmetric) {
    zero_point = Where((least < 0.0) & (greatest > 0.0), (qmin + qmax) / 2, zero_point);
  }
  zero_point = Round(zero_point);
  zero_point = zero_point.Op("clip", {zero_point.Number(qmin), zero_point.Number(qmax)});
  return {scale.To(kSingle), zero_point.To(DType::kInt32)};
}

// The average moves by a part of the distance; before the first time it is infinite.
Expr MovedTo(const Expr& running, const Expr& now, double part) {
  const Expr moved = running + (now - running) * running.Number(part);
  return Where(IsInf(running), now, moved);
}

// As it is given: x, which turns what on, the range so far, and how the steps are chosen.
Values Observed(TorchCall& c) {
  const Expr x = c.Tensor("self");
  RequireFloat(c, x);
  const Expr observer_on = c.Tensor("observer_on"), fake_on = c.Tensor("fake_quant_on");
  ObservedRange range{c.Tensor("running_min"), c.Tensor("running_max")};
  const Expr old_scale = c.Tensor("scale"), old_zero = c.Tensor("zero_point");
  const IntegerBounds bounds{c.Int("quant_min"), c.Int("quant_max")};
  const double part = c.Float("averaging_const");
  const bool by_channel = c.Bool("per_row_fake_quant", false);
  const bool symmetric = c.Bool("symmetric_quant", false);
  const int64_t channel = c.Int("ch_axis");
  const int64_t rank = c.Rank(x), axis = by_channel ? c.NormalAxis(channel, rank) : 0;
  if (range.least.dtype() != kSingle || range.greatest.dtype() != kSingle ||
      bounds.low >= bounds.high) {
    return c.Fail(Unimplemented("a range of ", Name(range.least.dtype())));
  }
  for (const Expr& end : {range.least, range.greatest}) {
    const Dim count = end->shape() ? end->shape()->NumElements() : Dim();
    if (count == Dim(0)) return c.Fail(Unimplemented("an observer that has seen nothing yet"));
  }

  const std::optional<int64_t> observes = SwitchOf(observer_on);
  if (observes != 0) {
    if (x.dtype() != kSingle) return c.Fail(Unimplemented("observation of ", Name(x.dtype())));
    std::vector<int64_t> axes;
    for (int64_t i = 0; by_channel && i < rank; ++i) {
      if (i != axis) axes.push_back(i);
    }
    const Expr on = OneElement(observer_on).To(DType::kBool);
    const auto observed = [&](const Expr& running, Symbol op) {
      const bool each = by_channel && axes.empty();
      const Expr now = each ? x : Reduce(x, op, axes);
      const Expr moved = MovedTo(running, by_channel ? now : Reshape(now, {}), part);
      return observes ? moved : Where(on, moved, running);
    };
    range = {observed(range.least, "reduce_min"), observed(range.greatest, "reduce_max")};
  }

  const std::optional<int64_t> fakes = SwitchOf(fake_on);
  Values values(c.num_outputs(), nullptr);
  const auto give = [&](size_t i, const Expr& v) {
    if (c.wants(i)) values[i] = v.Op("identity");
  };
  ChosenSteps chosen{old_scale, old_zero};
  if (fakes != 0) {
    const ChosenSteps now = ChooseSteps(range, bounds.low, bounds.high, symmetric);
    QuantizationParams steps{now.scale, now.zero_point};
    if (by_channel) {
      steps.axis = axis;
    } else {
      steps = {OneElement(now.scale), OneElement(now.zero_point)};
    }
    const Values given = FakeQuantizedCall(c, x, steps, bounds, fake_on);
    for (size_t i = 0; i < given.size() && i < 2; ++i) values[i] = given[i];
    const auto kept = [&](const Expr& fresh, const Expr& old) {
      const Expr v = LikeRank(AtLeast1d(fresh), old).To(old.dtype());
      return fakes ? v : Where(OneElement(fake_on).To(DType::kBool), v, old);
    };
    if (c.wants(4)) chosen.scale = kept(now.scale, old_scale);
    if (c.wants(5)) chosen.zero_point = kept(now.zero_point, old_zero);
  } else {
    give(0, x);
    if (c.wants(1)) values[1] = Expand({c, c.b().Scalar(DType::kBool, 1)}, ShapeOf(x));
  }
  give(2, range.least);
  give(3, range.greatest);
  give(4, chosen.scale);
  give(5, chosen.zero_point);
  return values;
}

}  // namespace

X2IR_TORCH(quantize_linear)
    .From({"aten::fused_moving_avg_obs_fake_quant.default",
           "aten::_fused_moving_avg_obs_fq_helper.default",
           "aten::_fused_moving_avg_obs_fq_helper_functional.default"},
          Observed);

}  // namespace x2ir
