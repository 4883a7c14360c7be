// Arithmetic of integers by other arithmetic: greatest and least, powers, bitwise operations.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "x2ir/builder/loop.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

// --- max, min -------------------------------------------------------------------------------

// Integers have no NaN, so a comparison tells all. No float holds those of 64 bits.
absl::StatusOr<Values> ChooseBy(Rewrite& r, Symbol comparison) {
  if (!IsInteger(r.dtype(0))) return CannotExpress("as where, it is for integers");
  Value* best = r.in(0);
  if (r.node.num_inputs() == 1) return Values{r.b.Op("identity", {best})};
  for (size_t i = 1; i < r.node.num_inputs(); ++i) {
    best = r.b.Op("where", {r.b.Op(comparison, {best, r.in(i)}), best, r.in(i)});
  }
  return Values{best};
}

absl::StatusOr<Values> MaxAsWhere(Rewrite& r) { return ChooseBy(r, "greater"); }
absl::StatusOr<Values> MinAsWhere(Rewrite& r) { return ChooseBy(r, "less"); }
X2IR_LOWERING(max, MaxAsWhere);
X2IR_LOWERING(min, MinAsWhere);

// --- pow ------------------------------------------------------------------------------------

// Products, by squaring: they wrap as the power does.
absl::StatusOr<Values> PowAsProducts(Rewrite& r) {
  const auto exponents = r.ConstInts(1);
  if (!IsInteger(r.dtype(0)) || !exponents || exponents->size() != 1 || (*exponents)[0] < 1 ||
      r.rank(1) > std::max<int64_t>(r.rank(0), 0)) {
    return CannotExpress("as products, it is for integers and one constant exponent from 1");
  }
  Value *power = nullptr, *square = r.in(0);
  for (auto e = static_cast<uint64_t>((*exponents)[0]); e != 0; e >>= 1) {
    if (e & 1) power = power ? r.b.Op("mul", {power, square}) : square;
    if (e > 1) square = r.b.Op("mul", {square, square});
  }
  return Values{(*exponents)[0] == 1 ? r.b.Op("identity", {power}) : power};
}

// Where a float takes part the power is a float64, of numbers that were made such.
absl::StatusOr<Values> PowInFloat64(Rewrite& r) {
  const DType base = r.dtype(0), exponent = r.dtype(1);
  const auto real = [](DType t) { return IsFloating(t) || IsInteger(t); };
  if (!real(base) || !real(exponent) || base == exponent ||
      (!IsFloating(base) && !IsFloating(exponent))) {
    return CannotExpress("in float64, it is for a base and an exponent of two types, one a float");
  }
  Value* power = r.b.Op(
      "pow", {Expr(r.b, r.in(0)).To(DType::kFloat64), Expr(r.b, r.in(1)).To(DType::kFloat64)});
  return Values{Expr(r.b, power).To(base)};
}

// Integers: the powers of the base by 1, 2, 4, .. and of these the product of those that the
// exponent's digits choose, a round each. Products wrap as the power does. A negative exponent
// leaves 1, -1 or 0, towards zero.
absl::StatusOr<Values> PowByDigits(Rewrite& r) {
  const DType t = r.dtype(0), given = r.dtype(1);
  if ((t != DType::kInt32 && t != DType::kInt64) || !IsInteger(given)) {
    return CannotExpress("by digits, it is for int32 and int64 to the power of integers");
  }
  const bool is_signed = given != DType::kUInt64;
  const DType wide = given == t || !is_signed ? given : DType::kInt64;
  Builder& b = r.b;
  const Expr base(b, r.in(0)), exponent = Expr(b, r.in(1)).To(wide);
  const Expr two(b, b.Scalar(wide, 2, "two"));
  const auto is_odd = [&](const Expr& v) { return (v - v / two * two).To(DType::kBool); };
  const Expr one(b, b.Scalar(t, 1, "one"));
  const Expr ones = base * 0.0 + exponent.To(t) * 0.0 + 1.0;  // of the shape of the result
  const Expr digits(b, b.Int(BitWidth(wide) - is_signed, "digits"));
  const std::vector<Expr> powers =
      Rounds(digits, {ones, base, exponent}, [&](const Expr&, const std::vector<Expr>& of) {
        const Expr factor = Where(is_odd(of[2]), of[1], one);
        return std::vector<Expr>{of[0] * factor, of[1] * of[1], of[2] / two};
      });
  if (!is_signed) return Values{powers[0]};
  const Expr zero(b, b.Scalar(t, 0, "zero")), minus_one(b, b.Scalar(t, -1, "minus_one"));
  const Expr sign = Where(is_odd(exponent), minus_one, one);
  const Expr inverse =
      Where(base.Op("equal", {one}), one, Where(base.Op("equal", {minus_one}), sign, zero));
  const Expr negative = exponent.Op("less", {Expr(b, b.Scalar(wide, 0, "zero"))});
  return Values{Where(negative, inverse, powers[0])};
}

// Other integers: the lower bits of a power of wider ones.
absl::StatusOr<Values> PowOfWiderIntegers(Rewrite& r) {
  const DType t = r.dtype(0), exponent = r.dtype(1);
  // To a power below 0, the largest of uint64 would be -1.
  const bool wraps = t == DType::kUInt64 && exponent != DType::kUInt64;
  if (!IsInteger(t) || BitWidth(t) < 8 || t == DType::kInt32 || t == DType::kInt64 || wraps) {
    return NothingToDo();
  }
  const DType wide = BitWidth(t) < 32 ? DType::kInt32 : DType::kInt64;
  const Expr base = Expr(r.b, r.in(0)).To(wide);
  return Values{Expr(r.b, r.b.Op("pow", {base, r.in(1)})).To(t)};
}
X2IR_LOWERING(pow, PowAsProducts);
X2IR_LOWERING(pow, PowInFloat64);
X2IR_LOWERING(pow, PowByDigits);
X2IR_LOWERING(pow, PowOfWiderIntegers);

// --- Bitwise operations ---------------------------------------------------------------------

// In two's complement -1 - x; without a sign the largest number less x, which wraps to the same.
absl::StatusOr<Values> BitwiseNotAsSub(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t)) return CannotExpress("the element type is not a known integer");
  X2IR_ASSIGN_OR_RETURN(Tensor ones, CastTensor(Tensor::Scalar<int64_t>(-1), t));
  return Values{r.b.Op("sub", {r.b.Constant(std::move(ones), "ones"), r.in(0)})};
}
X2IR_LOWERING(bitwise_not, BitwiseNotAsSub);

// Digits of 16: a table of what two of them give has 256 rows.
constexpr uint64_t kDigit = 16;

// A type in which the type's numbers are not negative, and that most runtimes divide in.
DType TypeForDigits(DType t) {
  return BitWidth(t) <= 16 ? DType::kInt32 : BitWidth(t) == 32 ? DType::kInt64 : DType::kUInt64;
}

// The digits of an operand along a new last axis, the lowest first.
Expr Digits(Builder& b, Value* x, Value* powers, DType wide) {
  const DType t = x->dtype();
  Expr v = Expr(b, x).To(wide);
  // What is negative counts from 2^width: the digits below are those of two's complement.
  if (IsSignedInt(t) && BitWidth(t) < 64) v = v + std::ldexp(1.0, BitWidth(t));
  v = v.Op("unsqueeze", {b.Ints({x->shape()->rank()}, "axes")});
  return Mod(v.Op("div", {powers}), static_cast<double>(kDigit));
}

// Both operands as digits, pairs of which are looked up, and put together again. By a product of
// matrices where the target has it: ONNX Runtime has no ReduceSum of unsigned integers, and sums
// up int64 in float64.
absl::StatusOr<Values> ByDigits(Rewrite& r, uint64_t (*combine)(uint64_t x, uint64_t y)) {
  const DType t = r.dtype(0);
  if (!IsInteger(t) || BitWidth(t) < 8 || r.dtype(1) != t) {
    return CannotExpress("the element type is not a known integer of 8 bits or more");
  }
  if (r.rank(0) < 0 || r.rank(1) < 0) return CannotExpress("the ranks are not known");
  Builder& b = r.b;
  const DType wide = TypeForDigits(t);
  const int64_t n = BitWidth(t) / 4;
  std::vector<uint64_t> values(n), pairs(kDigit * kDigit);
  for (int64_t i = 0; i < n; ++i) values[i] = uint64_t{1} << (4 * i);
  for (uint64_t i = 0; i < pairs.size(); ++i) pairs[i] = combine(i / kDigit, i % kDigit);
  X2IR_ASSIGN_OR_RETURN(Tensor power,
                        CastTensor(Tensor::Of<uint64_t>({n}, absl::MakeConstSpan(values)), wide));
  X2IR_ASSIGN_OR_RETURN(
      Tensor table,
      CastTensor(Tensor::Of<uint64_t>({static_cast<int64_t>(pairs.size())}, pairs), wide));
  Tensor column = power.Reshaped({n, 1});
  Value* powers = b.Constant(std::move(power), "powers");
  const Expr high = Digits(b, r.in(0), powers, wide) * static_cast<double>(kDigit);
  const Expr pair = high + Digits(b, r.in(1), powers, wide);
  Value* index = wide == DType::kUInt64 ? pair.To(DType::kInt64) : pair;
  const Expr digits = {
      b, b.Op("gather", {b.Constant(std::move(table), "table"), index}, {{"axis", 0}})};
  const int64_t rank = std::max(r.rank(0), r.rank(1));
  if (r.target.Takes("matmul", 0, wide)) {
    // A column, since ONNX Runtime does not multiply what has no elements by a vector.
    const Expr sum = digits.Op("matmul", {b.Constant(std::move(column), "column")});
    return Values{Squeeze(sum, {rank}).To(t)};
  }
  const Expr sum =
      digits.Op("mul", {powers}).Op("reduce_sum", {b.Ints({rank}, "axes")}, {{"keepdims", 0}});
  return Values{sum.To(t)};
}

absl::StatusOr<Values> AndByDigits(Rewrite& r) {
  return ByDigits(r, [](uint64_t x, uint64_t y) { return x & y; });
}
absl::StatusOr<Values> OrByDigits(Rewrite& r) {
  return ByDigits(r, [](uint64_t x, uint64_t y) { return x | y; });
}
absl::StatusOr<Values> XorByDigits(Rewrite& r) {
  return ByDigits(r, [](uint64_t x, uint64_t y) { return x ^ y; });
}
X2IR_LOWERING(bitwise_and, AndByDigits);
X2IR_LOWERING(bitwise_or, OrByDigits);
X2IR_LOWERING(bitwise_xor, XorByDigits);

}  // namespace
}  // namespace x2ir
