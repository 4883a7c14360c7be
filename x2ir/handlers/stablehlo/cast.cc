// StableHLO: one element type for another, by number or by bits.
#include <cmath>
#include <limits>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/elementwise.h"

namespace x2ir {
namespace {

Expr CastTo(const Expr& x, DType to) {
  AttributeMap attrs{{"to", Name(to)}};
  // Overflow gives infinity, or NaN where the type has none.
  if (IsFloating(to) && BitWidth(to) == 8) attrs.Set("saturate", int64_t{0});
  return x.Op("cast", {}, std::move(attrs));
}

// Bounds of the integers are powers of two, which every float type that reaches so far has.
Expr Saturated(const Expr& x, DType to) {
  const auto bits = static_cast<int>(BitWidth(to));
  const bool is_signed = IsSignedInt(to);
  const double above = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const double below = is_signed ? -above : 0;
  const ValueBounds bounds = BoundsOf(x);
  if (bounds.low > below - 1 && bounds.high < above) return CastTo(x, to);
  Builder& b = x.builder();
  // 16-bit floats may not reach the bounds.
  const Expr wide = x.To(AtLeastFloat32(x.dtype()));
  const Expr high = wide >= above, low = wide <= below;
  const Expr inside = Where(high | low | IsNan(wide), 0, wide);
  return Where(high, Extreme(b, to, true), Where(low, Extreme(b, to, false), CastTo(inside, to)));
}

Value* Convert(StablehloArgs& a) {
  const DType to = a.out_dtype();
  a.Require(to != DType::kUndefined, "a result of no type");
  return Converted(a.in(0), to);
}

// --- Bits ----------------------------------------------------------------------------------------

// Whatever is as wide as an integer as that integer, without a sign.
Expr BitsOfElement(StablehloArgs& a, const Expr& x) {
  const DType t = x.dtype();
  a.Require(IsFloating(t) || IsInteger(t), StrCat("the bits of ", Name(t)));
  if (IsInteger(t) && BitWidth(t) < 8) {
    return x.To(DType::kInt8)
        .Op("bit_cast", {}, {{"to", "uint8"}})
        .Op("bitwise_and", {IntegerOf(a.b(), DType::kUInt8, (int64_t{1} << BitWidth(t)) - 1)});
  }
  a.Require(BitWidth(t) >= 8, StrCat("the bits of ", Name(t)));
  return BitsAs(x, UnsignedOf(BitWidth(t)));
}
Expr ElementOfBits(StablehloArgs& a, const Expr& bits, DType to) {
  if (IsInteger(to) && BitWidth(to) < 8) return bits.To(to);
  a.Require(IsFloating(to) || IsInteger(to), StrCat("the bits of ", Name(to)));
  a.Require(BitWidth(to) >= 8, StrCat("the bits of ", Name(to)));
  return BitsAs(bits, to);
}

// Narrower elements are along a new last axis, the lowest bits first; a last axis of them becomes
// one wider element.
Value* BitcastConvert(StablehloArgs& a) {
  const Expr x = a.in(0);
  const DType from = x.dtype(), to = a.out_dtype();
  if (from == to) return a.Op("identity", {x});
  if (IsComplex(from) && to == PartType(from)) {
    return Concat(a, {Unsqueeze(x.Op("real"), {-1}), Unsqueeze(x.Op("imag"), {-1})}, -1);
  }
  if (IsComplex(to) && from == PartType(to)) {
    return Gather(x, a.b().Int(0), -1).Op("complex", {Gather(x, a.b().Int(1), -1)});
  }
  const int64_t wide = BitWidth(from), narrow = BitWidth(to);
  const Expr bits = BitsOfElement(a, x);
  if (wide == narrow) return ElementOfBits(a, bits, to);
  const int64_t part = std::min(wide, narrow), count = std::max(wide, narrow) / part;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i * part);
  if (wide > narrow) {
    const Expr by = CastNow(Ints(a, places), bits.dtype());
    const Expr shifted = Unsqueeze(bits, {-1}).Op("bit_shift", {by}, {{"direction", "RIGHT"}});
    // A cast to fewer bits takes the lower ones.
    return ElementOfBits(a, shifted.To(UnsignedOf(narrow)), to);
  }
  const DType whole = UnsignedOf(narrow);
  const Expr by = CastNow(Ints(a, places), whole);
  const Expr shifted = bits.To(whole).Op("bit_shift", {by}, {{"direction", "LEFT"}});
  const int64_t last = a.RankOf() - 1;
  Expr sum = Gather(shifted, a.b().Int(0), last);
  for (int64_t i = 1; i < count; ++i) {
    sum = sum.Op("bitwise_or", {Gather(shifted, a.b().Int(i), last)});
  }
  return ElementOfBits(a, sum, to);
}

// --- Precision -----------------------------------------------------------------------------------

struct FloatFormat {
  int64_t exponent, mantissa;  // bits
};
FloatFormat FormatOf(DType t) {
  switch (t) {
    case DType::kFloat16: return {5, 10};
    case DType::kBFloat16: return {8, 7};
    case DType::kFloat32: return {8, 23};
    case DType::kFloat64: return {11, 52};
    case DType::kFloat8E5M2: return {5, 2};
    default: return {0, 0};
  }
}

// Numbers that no more bits of the mantissa are left of, halves to even; by integers, but for the
// mantissas that are of a type.
Expr RoundedTo(const Expr& x, int64_t mantissa) {
  const DType t = x.dtype();
  const int64_t cut = FormatOf(t).mantissa - mantissa;
  if (cut <= 0) return x;
  if (t == DType::kFloat32 && mantissa == 7) return x.To(DType::kBFloat16).To(t);
  Builder& b = x.builder();
  const DType u = UnsignedOf(BitWidth(t));
  const Expr bits = BitsAs(x, u);
  const auto number = [&](uint64_t n) { return IntegerOf(b, u, static_cast<int64_t>(n)); };
  const uint64_t last = uint64_t{1} << cut;
  const Expr odd =
      bits.Op("bit_shift", {number(static_cast<uint64_t>(cut))}, {{"direction", "RIGHT"}})
          .Op("bitwise_and", {number(1)});
  const Expr rounded =
      (bits + (number((last >> 1) - 1) + odd)).Op("bitwise_and", {number(~(last - 1))});
  return BitsAs(rounded, t);
}

Value* ReducePrecision(StablehloArgs& a) {
  const Expr x = a.in(0);
  const DType t = x.dtype();
  const FloatFormat format = FormatOf(t);
  const int64_t exponent = a.Int("exponent_bits", 0), mantissa = a.Int("mantissa_bits", -1);
  if (exponent < 1 || mantissa < 0) {
    return a.Fail(Invalid("exponent_bits = ", exponent, " and mantissa_bits = ", mantissa))[0];
  }
  a.Require(format.exponent != 0, StrCat("the precision of ", Name(t)));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Expr y = RoundedTo(x, mantissa);
  if (exponent < format.exponent) {
    // What has a larger exponent is infinite, what has a smaller one 0.
    const auto bias = static_cast<int>((int64_t{1} << (exponent - 1)) - 1);
    const Expr size = Abs(y);
    const Expr large = size >= std::ldexp(1.0, bias + 1), small = size < std::ldexp(1.0, 1 - bias);
    y = Where(large, WithSignOf(Expand(y.Number(kInfinity), ShapeOf(x)), x), y);
    y = Where(small, WithSignOf(Expand(y.Number(0), ShapeOf(x)), x), y);
  }
  const Expr nan = mantissa > 0 ? x : x.Number(kInfinity);
  return Where(IsNan(x), nan, y);
}

// --- Writing -------------------------------------------------------------------------------------

// Overflow of floats of 8 bits is the largest number where the IR says so.
absl::StatusOr<Value*> ToConvert(StablehloWriter& w) {
  const DType from = w.dtype(), to = w.DTypeAttr("to");
  if (from == DType::kString || to == DType::kString) return CannotExpress("strings");
  if (to == DType::kFloat8E8M0 && w.String("round_mode") != "nearest") {
    return CannotExpress("rounding of float8e8m0 but to the nearest number");
  }
  Expr x = X(w);
  if (IsFloating(from) && IsFloating(to) && BitWidth(to) == 8 && BitWidth(from) > 8 &&
      w.Int("saturate") != 0) {
    x = Clip(x, CastNow(FiniteExtreme(w, to, false), from),
             CastNow(FiniteExtreme(w, to, true), from));
  }
  return w.Hlo("convert", {x});
}

absl::StatusOr<Value*> ToBitcast(StablehloWriter& w) {
  if (w.dtype() == DType::kBool || w.DTypeAttr("to") == DType::kBool) {
    return CannotExpress("the bits of bools");
  }
  return w.Hlo("bitcast_convert", {w.in(0)});
}

}  // namespace

Expr Converted(const Expr& x, DType to) {
  const DType from = x.dtype();
  if (from == to) return x.Op("identity");
  if (IsComplex(from) && !IsComplex(to)) {
    const Expr re = x.Op("real");
    return re.dtype() == to ? re : Converted(re, to);
  }
  return IsFloating(from) && IsInteger(to) ? Saturated(x, to) : CastTo(x, to);
}

X2IR_STABLEHLO(cast)
    .From({{"convert", Convert}, {"reduce_precision", ReducePrecision}})
    .To("convert", ToConvert);
X2IR_STABLEHLO(bit_cast).From("bitcast_convert", BitcastConvert).To("bitcast_convert", ToBitcast);

}  // namespace x2ir
