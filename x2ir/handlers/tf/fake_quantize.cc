// TensorFlow: floats as quantization would leave them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// The integers that floats are rounded to the steps of.
struct FakeSteps {
  int64_t bits, first, last;
};
FakeSteps TakeSteps(TfArgs& a) {
  const int64_t bits = a.Int("num_bits", 8);
  if (bits < 2 || bits > 16) a.b().Fail(Invalid("num_bits = ", bits));
  return {bits, a.Bool("narrow_range", false) ? 1 : 0,
          (int64_t{1} << (bits < 2 || bits > 16 ? 8 : bits)) - 1};
}

// Bounds are moved so that zero is one of the steps; where both are zero so is everything. In
// `zero` is the step that zero is.
struct NudgedRange {
  Expr scale, zero;
};
NudgedRange Nudged(const Expr& least, const Expr& greatest, const FakeSteps& steps) {
  const auto first = static_cast<double>(steps.first), last = static_cast<double>(steps.last);
  const Expr scale = (greatest - least) / (last - first);
  const Expr from_least = first - least / scale;
  return {scale, Where(from_least < first, first,
                       Where(from_least > last, last, RoundHalfUp(from_least)))};
}

// The step of x counted from that of zero, as a float: halves up.
Expr StepOf(const Expr& x, const NudgedRange& range, const FakeSteps& steps) {
  const Expr nudged_least = (static_cast<double>(steps.first) - range.zero) * range.scale;
  const Expr nudged_greatest = (static_cast<double>(steps.last) - range.zero) * range.scale;
  const Expr inverse = 1.0 / range.scale;
  const Expr quantized_zero = Floor(-nudged_least * inverse + 0.5);
  const Expr shifted = Max(Min(x, nudged_greatest), nudged_least) - nudged_least;
  return Floor(shifted * inverse - quantized_zero + 0.5);
}

// The numbers of a range that is known, in float32 as TensorFlow has them; nullopt where a step is
// no number to divide by.
struct KnownRange {
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  bool halves = false;  // whether floats meet the middle of two steps exactly
};
std::optional<KnownRange> KnownNudged(const Expr& least, const Expr& greatest,
                                      const FakeSteps& steps) {
  const Tensor *low = SettledTensor(least), *high = SettledTensor(greatest);
  if (!low || !high || low->dtype() != DType::kFloat32 || high->dtype() != DType::kFloat32 ||
      low->num_elements() != high->num_elements()) {
    return std::nullopt;
  }
  const auto first = static_cast<float>(steps.first), last = static_cast<float>(steps.last);
  KnownRange range;
  for (int64_t i = 0; i < low->num_elements(); ++i) {
    const auto from = static_cast<float>(low->AsDouble(i)),
               to = static_cast<float>(high->AsDouble(i));
    const float scale = (to - from) / (last - first);
    if (!std::isnormal(scale) || scale < 0) return std::nullopt;
    range.scales.push_back(scale);
    const float zero = first - from / scale;
    range.zeros.push_back(static_cast<int64_t>(std::floor(std::clamp(zero, first, last) + 0.5f)));
    // Odd multiples of half a scale of few digits are floats, and so are all sums on the way.
    int exponent = 0;
    const float digits = std::ldexp(std::frexp(scale, &exponent), 24 - 9);
    range.halves = range.halves || digits == std::floor(digits);
  }
  return range;
}

// Integers of 8 bits, by the ops of the IR. What is the same in every run is counted out here.
std::optional<Expr> FakeQuantizedByOps(const Expr& x, const Expr& least, const Expr& greatest,
                                       const FakeSteps& steps) {
  constexpr double kAboveHalf = 0x1p-15;  // of a step: no more than the kernel's own sums are off
  if (steps.bits > 8 || x.dtype() != DType::kFloat32) return std::nullopt;
  auto known = KnownNudged(least, greatest, steps);
  if (!known || known->scales.empty()) return std::nullopt;
  Builder& b = x.builder();
  // Around 0, where every zero is in the middle.
  constexpr int64_t kMiddle = 128;
  const bool around = std::all_of(known->zeros.begin(), known->zeros.end(),
                                  [](int64_t zero) { return zero == kMiddle; });
  const int64_t shift = around ? kMiddle : 0;
  const bool single = least.rank() == 0;
  const std::vector<int64_t> dims =
      single ? std::vector<int64_t>{}
             : std::vector<int64_t>{static_cast<int64_t>(known->zeros.size())};
  const auto numbers = [&](DType t, const auto& all, double less, double times = 1) {
    std::vector<double> moved;
    for (const auto number : all) moved.push_back((static_cast<double>(number) - less) * times);
    return NumbersAs(b, t, dims, moved);
  };
  const DType t = around ? DType::kInt8 : DType::kUInt8;
  const Expr scale = numbers(DType::kFloat32, known->scales, 0);
  const Expr zero = numbers(t, known->zeros, static_cast<double>(shift));
  QuantizationParams affine{scale, zero};
  if (!single) affine.axis = x.rank() - 1;
  if (IsSettled(x)) {
    const NudgedRange range{scale, numbers(DType::kFloat32, known->zeros, 0)};
    const Expr q = (StepOf(x, range, steps) + zero.To(DType::kFloat32)).To(t);
    return Dequantized(q, affine, DType::kFloat32);
  }
  // quantize_linear takes halves to even steps.
  const Expr up = known->halves ? x + numbers(DType::kFloat32, known->scales, 0, kAboveHalf) : x;
  const Expr q = Quantized(up, affine, {t, steps.first - shift, steps.last - shift});
  return Dequantized(q, affine, DType::kFloat32);
}

Value* FakeQuantized(TfArgs& a, const Expr& least, const Expr& greatest) {
  const FakeSteps steps = TakeSteps(a);
  const Expr x(a.b(), a.in(0));
  if (const auto y = FakeQuantizedByOps(x, least, greatest, steps)) return y->value();
  const NudgedRange range = Nudged(least, greatest, steps);
  const Expr result = StepOf(x, range, steps) * range.scale;
  return Where((least == 0.0) & (greatest == 0.0), 0.0, result).value();
}

Value* FakeQuantArgs(TfArgs& a) {
  const auto bound = [&](Symbol name, float fallback) {
    return Expr(a.b(), a.b().Scalar(DType::kFloat32, a.Float(name, fallback)));
  };
  return FakeQuantized(a, bound("min", -6), bound("max", 6));
}

// Of one number each, or one for each index of the last axis.
Value* FakeQuantVars(TfArgs& a) {
  const auto bound = [&](size_t i) -> Expr {
    const bool one = a.op() == "FakeQuantWithMinMaxVars" && !a.in(i)->shape();
    return one ? ReshapeTo({a, a.in(i)}, Ints(a, {})) : Expr(a, a.in(i));
  };
  const Expr least = bound(1), most = bound(2);
  return FakeQuantized(a, least, most);
}

// Integers of that many bits, and back. The range's scale is that of the side which needs the
// larger steps; zero stays zero.
struct AskedRange {
  int64_t bits;
  bool half_to_even = true;
  bool given = false;  // whether the range is, or else that of the elements counts
};
using Bounds = std::function<Expr(bool greatest)>;
absl::StatusOr<Value*> QuantizedThere(TfArgs& a, const AskedRange& q, const Bounds& bounds) {
  const bool is_signed = a.Bool("signed_input", true), given = q.given;
  const int64_t bits = q.bits;
  const bool narrow = a.Bool("narrow_range", false);
  const int64_t axis = a.Int("axis", -1);
  if (bits < 1 || bits > 62) return Invalid("num_bits = ", bits);
  const Expr x(a.b(), a.in(0));
  const auto power = static_cast<double>(int64_t{1} << (is_signed ? bits - 1 : bits));
  const double first = is_signed ? (narrow ? 1 - power : -power) : 0, last = power - 1;
  // One range, or one for each index of the axis.
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (axis < -1 || axis >= rank) return Invalid("axis = ", axis, " of a rank of ", rank);
  std::vector<int64_t> others, behind;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) others.push_back(i);
    if (axis >= 0 && i > axis) behind.push_back(i - axis);
  }
  const auto bound = [&](bool greatest) {
    const Symbol op = greatest ? "reduce_max" : "reduce_min";
    if (!given) return others.empty() ? x : Reduce(x, op, others, true);
    const Expr v = bounds(greatest);
    return behind.empty() ? v : v.Op("unsqueeze", {a.b().Ints(behind)});
  };
  const Expr least = bound(false), greatest = bound(true);
  a.Require(x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat64, "narrow floats");
  const Expr never = x.Number(x.dtype() == DType::kFloat64 ? std::numeric_limits<double>::max()
                                                           : std::numeric_limits<float>::max());
  const Expr by_least = Where(least * first > 0.0, first / least, never);
  const Expr by_greatest = Where(greatest * last > 0.0, last / greatest, never);
  // Where neither side counts all is zero, and so is the step.
  const Expr from_least = by_least < by_greatest;
  const Expr scale = Where(from_least, by_least, by_greatest);
  const Expr step =
      first == 0 ? greatest / last : Where(from_least, least / first, greatest / last);
  Expr clamped = x;
  if (given) {
    const Expr lower = Where(from_least, least, step * first);
    const Expr upper = Where(from_least, step * last, greatest);
    clamped = Max(Min(x, upper), lower);
  }
  const Expr scaled = clamped * scale;
  const Expr rounded = q.half_to_even ? scaled.Op("round") : Floor(scaled + 0.5);
  return (rounded * step).value();
}

// round_mode, where there is one.
absl::StatusOr<bool> HalfToEven(TfArgs& a) {
  const std::string mode = a.String("round_mode", "HALF_TO_EVEN");
  if (mode != "HALF_TO_EVEN" && mode != "HALF_UP") return Invalid("round_mode '", mode, "'");
  return mode == "HALF_TO_EVEN";
}
Bounds OfOperands(TfArgs& a) {
  return [&a](bool greatest) { return Expr(a.b(), a.in(greatest ? 2 : 1)); };
}
absl::StatusOr<Value*> QuantizeAndDequantize(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const bool half_to_even, HalfToEven(a));
  return QuantizedThere(a, {a.Int("num_bits", 8), half_to_even, a.Bool("range_given", false)},
                        OfOperands(a));
}
// The number of bits is an operand, and the range is given unless something else is said.
absl::StatusOr<Value*> QuantizeAndDequantizeV3(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t bits, a.KnownInt(3, "num_bits"));
  return QuantizedThere(a, {bits, true, a.Bool("range_given", true)}, OfOperands(a));
}
// The range is two attributes.
absl::StatusOr<Value*> QuantizeAndDequantizeV1(TfArgs& a) {
  const float least = a.Float("input_min", 0), greatest = a.Float("input_max", 0);
  const bool given = a.Bool("range_given", false);
  if (given && !(least <= greatest)) return Invalid("a range of ", least, " to ", greatest);
  const DType t = a.in(0)->dtype();
  return QuantizedThere(a, {a.Int("num_bits", 8), true, given}, [&](bool upper) {
    return Expr(a.b(), a.b().Scalar(t, upper ? greatest : least));
  });
}

}  // namespace

X2IR_TF(mul).From({{"QuantizeAndDequantize", QuantizeAndDequantizeV1},
                   {"QuantizeAndDequantizeV2", QuantizeAndDequantize},
                   {"QuantizeAndDequantizeV3", QuantizeAndDequantizeV3},
                   {"QuantizeAndDequantizeV4", QuantizeAndDequantize}});
X2IR_TF(floor).From({{"FakeQuantWithMinMaxArgs", FakeQuantArgs},
                     {"FakeQuantWithMinMaxVars", FakeQuantVars},
                     {"FakeQuantWithMinMaxVarsPerChannel", FakeQuantVars}});

}  // namespace x2ir
