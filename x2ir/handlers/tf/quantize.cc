// TensorFlow: integers that represent floats of a range. They come with the range's ends, float32;
// each step below is in the element type that TensorFlow computes it in, since results are rounded.
#include "x2ir/handlers/tf/quantize.h"

#include <limits>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir {
namespace {

constexpr DType kRealType = DType::kFloat32, kDouble = DType::kFloat64;

void ExpectFloats(TfArgs& a, size_t least, size_t greatest) {
  a.Require(a.in(least)->dtype() == kRealType && a.in(greatest)->dtype() == kRealType,
            "ranges of other types than float32");
}
}  // namespace

QuantizedRange RangeAt(TfArgs& a, size_t least, size_t greatest) {
  ExpectFloats(a, least, greatest);
  return {Expr(a.b(), ReshapeTo(a.in(least), Ints(a, {}))),
          Expr(a.b(), ReshapeTo(a.in(greatest), Ints(a, {})))};
}

QuantizedLimits LimitsOf(TfArgs& a, DType t) {
  const bool is_signed = IsSignedInt(t);
  if (!IsInteger(t) || BitWidth(t) < 8 || BitWidth(t) > 32 || t == DType::kUInt32) {
    a.b().Fail(Invalid("integers of ", Name(t), " represent no floats"));
    return {0, 255};
  }
  const auto count = static_cast<double>(int64_t{1} << BitWidth(t));
  return is_signed ? QuantizedLimits{-count / 2, count / 2 - 1} : QuantizedLimits{0, count - 1};
}

namespace {

// Halves away from zero.
Expr Rounded(const Expr& x) { return x.Op("sign") * RoundHalfUp(Abs(x)); }

// Rounded floats as integers: the greatest float32 that an int32 reaches is less than its own.
Expr ToIntegers(const Expr& x, DType t) {
  return (t == DType::kInt32 ? Min(x, 2147483520.0) : x).To(t);
}

}  // namespace

// --- MIN_FIRST: the range's lower end is a whole step from zero ------------------------------

Expr QuantizedMinFirst(const Expr& x, const QuantizedRange& range, const QuantizedLimits& limits,
                       DType t) {
  const Expr width = range.greatest - range.least;
  const Expr scale =
      Where(width == 0.0, 0.0, ((limits.steps() - 1) / width.To(kDouble)).To(kRealType));
  const Expr least = Rounded(range.least * scale) - limits.least;
  const Expr steps = Max(Rounded(x * scale) - least, limits.least);
  return ToIntegers(Min(steps, limits.greatest), t);
}

Expr DequantizedMinFirst(const Expr& q, const QuantizedRange& range,
                         const QuantizedLimits& limits) {
  const Expr width = range.greatest - range.least;
  const Expr scale = (width.To(kDouble) / (limits.steps() - 1)).To(kRealType);
  const Expr least = Where(width == 0.0, range.least, Rounded(range.least / scale) * scale);
  return (least - scale * limits.least) + q.To(kRealType) * scale;
}

namespace {

// The same of single numbers, in float64.
Expr DequantizedNumber(const Expr& q, const QuantizedRange& range, const QuantizedLimits& limits) {
  const double adjust = limits.steps() / (limits.steps() - 1);
  const Expr width = range.greatest - range.least;
  const Expr scale = width.To(kDouble) * adjust / limits.steps();
  const Expr step = scale.To(kRealType);
  const Expr least = Rounded(range.least / step) * step;
  const Expr result = least.To(kDouble) + (q.To(kDouble) - limits.least) * scale;
  return Where(width == 0.0, range.least, result.To(kRealType));
}
}  // namespace

Expr QuantizedNumber(double number, const QuantizedRange& range, const QuantizedLimits& limits) {
  const double adjust = limits.steps() / (limits.steps() - 1);
  const Expr width = range.greatest - range.least;
  const Expr scale = limits.steps() / (width.To(kDouble) * adjust);
  const Expr result =
      Rounded(scale * number) - Rounded(range.least.To(kDouble) * scale) + limits.least;
  return Where(width == 0.0, limits.least, result);
}

namespace {

// --- QuantizeV2, Dequantize -------------------------------------------------------------------

struct AskedQuantization {
  std::string mode;
  bool narrow;
  int64_t axis;
};
absl::StatusOr<AskedQuantization> TakeMode(TfArgs& a) {
  const AskedQuantization q{a.String("mode", "MIN_COMBINED"), a.Bool("narrow_range", false),
                            a.Int("axis", -1)};
  if (q.mode != "MIN_COMBINED" && q.mode != "MIN_FIRST" && q.mode != "SCALED") {
    return Invalid("mode '", q.mode, "'");
  }
  if (q.axis < -1) return Invalid("axis = ", q.axis);
  ExpectFloats(a, 1, 2);
  if (q.axis >= 0 && q.mode == "MIN_FIRST") return Invalid("an axis with mode MIN_FIRST");
  return q;
}

// Operands 1 and 2: one number each, or one for each index of the axis.
absl::StatusOr<QuantizedRange> TakeRange(TfArgs& a, int64_t axis) {
  if (axis >= 0) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
    if (axis >= rank) return Invalid("axis = ", axis, " of a rank of ", rank);
  }
  const auto ends = [&](size_t i) {
    return Expr(a.b(),
                axis < 0 ? ReshapeTo(a.in(i), Ints(a, {})) : ReshapeTo(a.in(i), Ints(a, {-1})));
  };
  return QuantizedRange{ends(1), ends(2)};
}
// With axes of size 1 so that it broadcasts with operand 0 along `axis`.
absl::StatusOr<Expr> Beside(TfArgs& a, int64_t axis, const Expr& x) {
  if (axis < 0) return x;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  std::vector<int64_t> behind;
  for (int64_t i = axis + 1; i < rank; ++i) behind.push_back(i - axis);
  return Expr(a.b(), Unsqueeze(x, behind));
}

absl::StatusOr<Values> QuantizeV2(TfArgs& a) {
  constexpr double kNever = std::numeric_limits<float>::max();
  const DType t = a.Type("T", DType::kUndefined);
  const QuantizedLimits limits = LimitsOf(a, t);
  X2IR_ASSIGN_OR_RETURN(const AskedQuantization q, TakeMode(a));
  const std::string round_mode = a.String("round_mode", "HALF_AWAY_FROM_ZERO");
  const bool to_even = round_mode == "HALF_TO_EVEN";
  if (!to_even && round_mode != "HALF_AWAY_FROM_ZERO") {
    return Invalid("round_mode '", round_mode, "'");
  }
  if (to_even && q.mode != "SCALED") return Invalid("round_mode HALF_TO_EVEN with mode ", q.mode);
  const double apart = a.Float("ensure_minimum_range", 0.01f);
  const Expr x(a.b(), a.in(0));
  a.Require(a.Type("dtype", kRealType) == kRealType && x.dtype() == kRealType,
            "other floats than float32");
  X2IR_ASSIGN_OR_RETURN(const QuantizedRange given, TakeRange(a, q.axis));
  // Zero is in the range, and its ends are apart.
  Expr least = Min(given.least, 0.0);
  const Expr size = Max(Max(Abs(given.least), Abs(given.greatest)), 1.0);
  Expr greatest = Max(Max(given.greatest, least + size * apart), 0.0);
  if (q.mode == "MIN_FIRST") {
    const Expr y = QuantizedMinFirst(x, {least, greatest}, limits, t);
    return Values{y.value(), least.value(), greatest.value()};
  }
  Expr scale = least;
  if (q.mode == "MIN_COMBINED") {
    scale = ((limits.steps() - 1) / (greatest - least).To(kDouble)).To(kRealType);
  } else {
    const double first = limits.least + (q.narrow ? 1 : 0), last = limits.greatest;
    scale = Min(Where(least * first > 0.0, first / least, kNever),
                Where(greatest * last > 0.0, last / greatest, kNever));
    least = first / scale;
    greatest = last / scale;
  }
  X2IR_ASSIGN_OR_RETURN(const Expr from, Beside(a, q.axis, least));
  X2IR_ASSIGN_OR_RETURN(const Expr to, Beside(a, q.axis, greatest));
  X2IR_ASSIGN_OR_RETURN(const Expr by, Beside(a, q.axis, scale));
  Expr y = Max(Min(x, to), from);
  if (q.mode == "SCALED") {
    y = to_even ? (y * by).Op("round") : Rounded(y * by);
  } else {
    y = (y - from) * by;
    y = limits.is_signed() ? Rounded(y - limits.steps() / 2) : Floor(y + 0.5);
  }
  return Values{ToIntegers(y, t).value(), least.value(), greatest.value()};
}

absl::StatusOr<Value*> Dequantize(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const AskedQuantization q, TakeMode(a));
  const DType to = a.Type("dtype", kRealType);
  const Expr x(a.b(), a.in(0));
  const QuantizedLimits limits = LimitsOf(a, x.dtype());
  X2IR_ASSIGN_OR_RETURN(const QuantizedRange range, TakeRange(a, q.axis));
  if (q.mode == "MIN_FIRST") return DequantizedMinFirst(x, range, limits).To(to).value();
  if (q.mode == "SCALED") {
    const double first = limits.least + (q.narrow ? 1 : 0);
    const Expr by_greatest = range.greatest / limits.greatest;
    const Expr scale = limits.is_signed() ? Max(range.least / first, by_greatest) : by_greatest;
    X2IR_ASSIGN_OR_RETURN(const Expr by, Beside(a, q.axis, scale));
    return (x.To(kRealType) * by).To(to).value();
  }
  X2IR_ASSIGN_OR_RETURN(const Expr least, Beside(a, q.axis, range.least));
  X2IR_ASSIGN_OR_RETURN(const Expr by,
                        Beside(a, q.axis, (range.greatest - range.least) / (limits.steps() - 1)));
  const Expr above = limits.is_signed() ? x.To(kRealType) + limits.steps() / 2 : x.To(kRealType);
  return (above * by + least).To(to).value();
}

// --- Scales and zero points -------------------------------------------------------------------

struct Affine {
  Expr scale, zero;  // zero: int64
};
// Operands 1 and 2: one of each, or one for each index of the axis.
absl::StatusOr<Affine> TakeAffine(TfArgs& a) {
  const int64_t axis = a.Int("quantization_axis", -1);
  if (axis < -1) return Invalid("quantization_axis = ", axis);
  X2IR_ASSIGN_OR_RETURN(const QuantizedRange both, TakeRange(a, axis));
  X2IR_ASSIGN_OR_RETURN(const Expr scale, Beside(a, axis, both.least));
  X2IR_ASSIGN_OR_RETURN(const Expr zero, Beside(a, axis, both.greatest));
  return Affine{scale, zero.To(DType::kInt64)};
}

absl::StatusOr<Value*> UniformQuantize(TfArgs& a) {
  const DType t = a.Type("Tout", DType::kUndefined);
  const QuantizedLimits limits = LimitsOf(a, t);
  const int64_t least = a.Int("quantization_min_val", 0), most = a.Int("quantization_max_val", 0);
  if (least > most || static_cast<double>(least) < limits.least ||
      static_cast<double>(most) > limits.greatest) {
    return Invalid("steps from ", least, " to ", most);
  }
  X2IR_ASSIGN_OR_RETURN(const Affine q, TakeAffine(a));
  constexpr double kEnough = 1e10;  // steps: more than any zero point puts right
  const Expr steps = Floor(Expr(a.b(), a.in(0)) * (1.0 / q.scale) + 0.5);
  const Expr y = Max(Min(steps, kEnough), -kEnough).To(DType::kInt64) + q.zero;
  return Max(Min(y, static_cast<double>(most)), static_cast<double>(least)).To(t).value();
}

absl::StatusOr<Value*> UniformDequantize(TfArgs& a) {
  const DType t = a.Type("Tout", kRealType);
  for (const char* name : {"quantization_min_val", "quantization_max_val"}) a.Ignore(name);
  X2IR_ASSIGN_OR_RETURN(const Affine q, TakeAffine(a));
  const Expr x(a.b(), a.in(0));
  LimitsOf(a, x.dtype());
  return ((x.To(DType::kInt64) - q.zero).To(kRealType) * q.scale).To(t).value();
}

// --- From one range to another ----------------------------------------------------------------

// Shifts of numbers with signs: towards minus infinity.
Expr ShiftedBits(const Expr& x, int bits) {
  const auto by = static_cast<double>(int64_t{1} << bits);
  return (x - Mod(x, by)) / by;
}

// From int32 to uint8 TensorFlow computes in fixed point, with a fraction of 16 bits.
Expr RequantizedToBytes(const Expr& q, const QuantizedRange& from, const QuantizedRange& to) {
  constexpr double kOne = 65536;
  const auto ints = [](const Expr& x) { return x.To(DType::kInt64); };
  const Expr width = (from.greatest - from.least).To(kDouble);
  const Expr new_width = (to.greatest - to.least).To(kDouble);
  const Expr none = new_width == 0.0;
  const Expr scale = ints(Where(none, 0.0, width * (255 * kOne) / new_width));
  const Expr inverse = Where(none, 0.0, 255.0 / new_width).To(kRealType);
  const Expr middle = ((from.least + from.greatest).To(kDouble) / 2.0).To(kRealType);
  const Expr offset = ints(middle * inverse * kOne);
  const Expr new_offset = ints(Where(none, 0.0, to.least.To(kDouble) * 255.0 * kOne / new_width));
  const Expr value = ShiftedBits(ints(q) * scale, 32) + (offset - new_offset + kOne / 2);
  return Min(Max(ShiftedBits(value, 16), 0.0), 255.0).To(DType::kUInt8);
}

Expr Requantized(TfArgs& a, const Expr& q, const QuantizedRange& from, const QuantizedRange& to,
                 DType t) {
  const QuantizedLimits limits = LimitsOf(a, q.dtype()), new_limits = LimitsOf(a, t);
  if (q.dtype() == DType::kInt32 && t == DType::kUInt8) return RequantizedToBytes(q, from, to);
  return QuantizedMinFirst(DequantizedMinFirst(q, from, limits), to, new_limits, t);
}

Values Requantize(TfArgs& a) {
  const QuantizedRange to = RangeAt(a, 3, 4);
  const DType t = a.Type("out_type", DType::kUndefined);
  const Expr y = Requantized(a, Expr(a.b(), a.in(0)), RangeAt(a, 1, 2), to, t);
  return {y.value(), to.least.value(), to.greatest.value()};
}

// The range of what is there, with zero in it on the lower side.
QuantizedRange RangeOfElements(TfArgs& a) {
  const Expr q(a.b(), ReshapeTo(a.in(0), Ints(a, {-1})));
  const QuantizedLimits limits = LimitsOf(a, q.dtype());
  const QuantizedRange range = RangeAt(a, 1, 2);
  const auto end = [&](Symbol op) { return DequantizedNumber(Reduce(q, op, {0}), range, limits); };
  return {Min(end("reduce_min"), 0.0), end("reduce_max")};
}
Values RequantizationRange(TfArgs& a) {
  const QuantizedRange range = RangeOfElements(a);
  return {range.least.value(), range.greatest.value()};
}
Values QuantizeDownAndShrinkRange(TfArgs& a) {
  const QuantizedRange to = RangeOfElements(a);
  const DType t = a.Type("out_type", DType::kUndefined);
  const Expr y = Requantized(a, Expr(a.b(), a.in(0)), RangeAt(a, 1, 2), to, t);
  return {y.value(), to.least.value(), to.greatest.value()};
}

}  // namespace

X2IR_TF(mul).From({{"Dequantize", Dequantize}, {"UniformDequantize", UniformDequantize}});
X2IR_TF(cast).From({{"QuantizeV2", QuantizeV2},
                    {"UniformQuantize", UniformQuantize},
                    {"Requantize", Requantize},
                    {"QuantizeDownAndShrinkRange", QuantizeDownAndShrinkRange}});
X2IR_TF(reduce_max).From("RequantizationRange", RequantizationRange);
}  // namespace x2ir
