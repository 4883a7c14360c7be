// StableHLO: quotients, remainders and bits of integers.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/division.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/elementwise.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Quotients -----------------------------------------------------------------------------------

// Whether a divisor is known, and none of its elements is `number`.
bool HasNo(const Value* divisor, double number) {
  const std::optional<Tensor> known = KnownTensor(*divisor);
  if (!known || known->is_sparse() || known->num_elements() > 4096) return false;
  for (int64_t i = 0; i < known->num_elements(); ++i) {
    if (known->AsDouble(i) == number) return false;
  }
  return true;
}

// What may be divided by: other numbers in place of 0, and of -1, by which the least number has no
// quotient.
struct Divisor {
  Expr safe;
  Expr zero = nullptr, minus_one = nullptr;  // null: it never is
};
Divisor SafeDivisor(const Expr& y) {
  Divisor divisor{y};
  if (!HasNo(y, 0)) {
    divisor.zero = y == 0;
    divisor.safe = Where(divisor.zero, 1, divisor.safe);
  }
  if (IsSignedInt(y.dtype()) && !HasNo(y, -1)) {
    divisor.minus_one = y == -1;
    divisor.safe = Where(divisor.minus_one, 1, divisor.safe);
  }
  return divisor;
}

// By 0 all bits are set.
Value* Quotient(StablehloArgs& a) {
  const Expr x = a.in(0), y = a.in(1);
  a.Require(x.dtype() != DType::kBool, "quotients of bools");
  if (!IsInteger(x.dtype())) return x / y;
  const Divisor divisor = SafeDivisor(y);
  Expr quotient = x / divisor.safe;
  if (divisor.minus_one.value()) quotient = Where(divisor.minus_one, -x, quotient);
  if (divisor.zero.value()) {
    quotient = Where(divisor.zero, IntegerOf(a.b(), x.dtype(), -1), quotient);
  }
  return quotient;
}

// With the sign of the dividend. By 0 it is the dividend.
Value* Remainder(StablehloArgs& a) {
  const Expr x = a.in(0), y = a.in(1);
  a.Require(IsFloating(x.dtype()) || IsInteger(x.dtype()), "remainders of such numbers");
  if (!IsInteger(x.dtype())) return TruncatedMod(x, y);
  const Divisor divisor = SafeDivisor(y);
  const Expr rest = TruncatedMod(x, divisor.safe);
  return divisor.zero.value() ? Where(divisor.zero, x, rest) : rest;
}

// --- Bits ----------------------------------------------------------------------------------------

// The bits of an integer as an unsigned one, the upper ones 0. Runtimes shift no numbers of 16
// bits.
Expr Unsigned(const Expr& x) {
  const int64_t bits = BitWidth(x.dtype());
  if (bits == 16) return BitsAs(x, DType::kUInt16).To(DType::kUInt32);
  if (bits >= 8) return BitsAs(x, UnsignedOf(bits));
  const Expr wide = BitsAs(x.To(DType::kInt8), DType::kUInt8);
  return wide.Op("bitwise_and", {IntegerOf(x.builder(), DType::kUInt8, (1 << bits) - 1)});
}
// The lower bits of such a number as an integer of that type.
Expr FromUnsigned(const Expr& bits, DType to) {
  if (BitWidth(to) < 8) return bits.To(to);
  return BitsAs(BitWidth(to) == 16 ? bits.To(DType::kUInt16) : bits, to);
}
// Shifts by the width and more, or by negative numbers, leave nothing. ONNX does not say what they
// are, and ONNX Runtime 1.23 takes such a number modulo the width.
Expr ShiftedBits(const Expr& bits, const Expr& by, std::string_view direction) {
  const int64_t width = BitWidth(bits.dtype());
  const Expr shifted = bits.Op("bit_shift", {by}, {{"direction", direction}});
  const std::optional<std::vector<int64_t>> known = KnownInts(by.value());
  const bool fits = known && std::all_of(known->begin(), known->end(),
                                         [&](int64_t n) { return n >= 0 && n < width; });
  if (fits) return shifted;
  const Expr within = by.Op("less", {IntegerOf(bits.builder(), by.dtype(), width)});
  return shifted * within.To(bits.dtype());
}
Expr ShiftedBy(const Expr& bits, int64_t by, std::string_view direction) {
  return ShiftedBits(bits, IntegerOf(bits.builder(), bits.dtype(), by), direction);
}

Expr IntegerIn(StablehloArgs& a, size_t i) {
  a.Require(IsInteger(a.dtype(i)), StrCat("the bits of ", Name(a.dtype(i))));
  return a.in(i);
}
template <bool kLeft>
Value* ShiftOf(StablehloArgs& a) {
  const Expr x = IntegerIn(a, 0), bits = Unsigned(x), by = Unsigned(IntegerIn(a, 1));
  return FromUnsigned(ShiftedBits(bits, by, kLeft ? "LEFT" : "RIGHT"), x.dtype());
}

// Of negative numbers it is the shift of the inverted bits, inverted; so that nothing is left of
// them but the sign.
Value* ArithmeticShift(StablehloArgs& a) {
  const Expr x = IntegerIn(a, 0);
  const int64_t width = BitWidth(x.dtype());
  Expr by = Unsigned(IntegerIn(a, 1));
  Expr bits = Unsigned(x);
  // Nothing but the number's own bits is inverted.
  const Expr own = IntegerOf(a.b(), bits.dtype(), width == 64 ? -1 : (int64_t{1} << width) - 1);
  const Expr sign = ShiftedBy(bits, width - 1, "RIGHT") == 1;
  const Expr mask = Where(sign, own, IntegerOf(a.b(), bits.dtype(), 0));
  bits = ShiftedBits(bits.Op("bitwise_xor", {mask}), by, "RIGHT").Op("bitwise_xor", {mask});
  return FromUnsigned(bits, x.dtype());
}

// How many bits are set: sums of neighbors, of neighboring pairs, ...
Expr CountBits(Expr bits) {
  Builder& b = bits.builder();
  const DType t = bits.dtype();
  const int64_t width = BitWidth(t);
  for (int64_t step = 1; step < width; step *= 2) {
    uint64_t mask = 0;
    for (int64_t at = 0; at < width; ++at) {
      if (at / step % 2 == 0) mask |= uint64_t{1} << at;
    }
    const Expr lower = IntegerOf(b, t, static_cast<int64_t>(mask));
    bits =
        bits.Op("bitwise_and", {lower}) + ShiftedBy(bits, step, "RIGHT").Op("bitwise_and", {lower});
  }
  return bits;
}

Value* PopulationCount(StablehloArgs& a) {
  const Expr x = IntegerIn(a, 0);
  return FromUnsigned(CountBits(Unsigned(x)), x.dtype());
}

// Every bit below the highest one is set, and then the others are counted.
Value* LeadingZeros(StablehloArgs& a) {
  const Expr x = IntegerIn(a, 0);
  Expr bits = Unsigned(x);
  for (int64_t step = 1; step < BitWidth(bits.dtype()); step *= 2) {
    bits = bits.Op("bitwise_or", {ShiftedBy(bits, step, "RIGHT")});
  }
  const Expr width = IntegerOf(a.b(), bits.dtype(), BitWidth(x.dtype()));
  return FromUnsigned(width - CountBits(bits), x.dtype());
}

// The upper half of a product. Of 64 bits it is put together of products of halves.
Value* UpperProduct(StablehloArgs& a) {
  const Expr x = a.in(0), y = a.in(1);
  const DType t = x.dtype();
  const int64_t width = BitWidth(t);
  a.Require(IsInteger(t), "the upper half of a product of such numbers");
  if (width <= 32) {
    const DType wide = IsSignedInt(t) ? DType::kInt64 : DType::kUInt64;
    const Expr product = BitsAs(x.To(wide) * y.To(wide), DType::kUInt64);
    return BitsAs(ShiftedBy(product, width, "RIGHT"), DType::kUInt64).To(t);
  }
  const DType u = DType::kUInt64;
  const Expr p = BitsAs(x, u), q = BitsAs(y, u);
  const Expr low = IntegerOf(a.b(), u, 0xffffffff);
  const auto lower = [&](const Expr& n) { return n.Op("bitwise_and", {low}); };
  const auto upper = [&](const Expr& n) { return ShiftedBy(n, 32, "RIGHT"); };
  const Expr p0 = lower(p), p1 = upper(p), q0 = lower(q), q1 = upper(q);
  const Expr middle = p1 * q0 + upper(p0 * q0);
  const Expr cross = p0 * q1 + lower(middle);
  Expr high = p1 * q1 + upper(middle) + upper(cross);
  if (IsSignedInt(t)) {
    const Expr none = IntegerOf(a.b(), u, 0);
    high = high - Where(x < 0, q, none) - Where(y < 0, p, none);
  }
  return BitsAs(high, t);
}

// --- Writing -------------------------------------------------------------------------------------

// The operation on operands of one shape, as a value that more is made of.
absl::StatusOr<Expr> OnOneShape(StablehloWriter& w, std::string_view op, Value* x, Value* y) {
  X2IR_ASSIGN_OR_RETURN(const Values both, w.Broadcast({x, y}));
  return Expr(w, w.Hlo(op, both, {}, w.out_type()));
}

// The IR's quotient by 0 is 0.
absl::StatusOr<Value*> ToQuotient(StablehloWriter& w) {
  if (!IsInteger(w.dtype()) || HasNo(w.in(1), 0)) return ToBroadcast(w, "divide");
  const Expr y = X(w, 1), zero = y == 0;
  X2IR_ASSIGN_OR_RETURN(const Expr quotient, OnOneShape(w, "divide", w.in(0), Where(zero, 1, y)));
  return Where(zero, 0, quotient).value();
}

// Remainders have the sign of the dividend; the IR's of integers by 0 is 0.
absl::StatusOr<Value*> ToRemainder(StablehloWriter& w) {
  const bool truncated = w.Int("fmod") != 0 || IsUnsignedInt(w.dtype());
  const bool by_zero = IsInteger(w.dtype()) && !HasNo(w.in(1), 0);
  if (truncated && !by_zero) return ToBroadcast(w, "remainder");
  const Expr y = X(w, 1), zero = by_zero ? y == 0 : Expr(nullptr);
  const Expr safe = by_zero ? Where(zero, 1, y) : y;
  X2IR_ASSIGN_OR_RETURN(Expr rest, OnOneShape(w, "remainder", w.in(0), safe));
  if (!truncated) {
    rest = Where(Not(rest == 0) & ((rest < 0) ^ (safe < 0)), rest + safe, rest);
  }
  return (by_zero ? Where(zero, 0, rest) : rest).value();
}

absl::StatusOr<Value*> ToShift(StablehloWriter& w) {
  return ToBroadcast(w, w.String("direction") == "LEFT" ? "shift_left" : "shift_right_logical");
}

}  // namespace

DType UnsignedOf(int64_t bits) {
  return bits <= 8    ? DType::kUInt8
         : bits <= 16 ? DType::kUInt16
         : bits <= 32 ? DType::kUInt32
                      : DType::kUInt64;
}
DType SignedOf(int64_t bits) {
  return bits <= 8    ? DType::kInt8
         : bits <= 16 ? DType::kInt16
         : bits <= 32 ? DType::kInt32
                      : DType::kInt64;
}
Expr BitsAs(const Expr& x, DType to) {
  return x.dtype() == to ? x : x.Op("bit_cast", {}, {{"to", Name(to)}});
}

X2IR_STABLEHLO(bit_shift)
    .From({{"shift_left", ShiftOf<true>},
           {"shift_right_logical", ShiftOf<false>},
           {"shift_right_arithmetic", ArithmeticShift},
           {"popcnt", PopulationCount},
           {"count_leading_zeros", LeadingZeros},
           {"chlo.mulhi", UpperProduct}})
    .To("shift_left", ToShift);
X2IR_STABLEHLO(div).From("divide", Quotient).To("divide", ToQuotient);
X2IR_STABLEHLO(mod).From("remainder", Remainder).To("remainder", ToRemainder);

}  // namespace x2ir
