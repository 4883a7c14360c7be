// Functions of numbers that take more than one IR op: near 0, near infinity, of signs and bits.
#include <cmath>
#include <limits>
#include <numbers>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/builder/loop.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/ops/constants.h"

namespace x2ir {

TorchHandler InDoubles(Expr (*f)(const Expr&), std::string_view operand) {
  return [f, name = std::string(operand)](TorchCall& c) -> Values {
    return {f(c.Operand(name, DType::kFloat64)).To(c.out_dtype())};
  };
}
TorchHandler InDoubles2(Expr (*f)(const Expr&, const Expr&), std::string_view first,
                        std::string_view second) {
  return [f, a = std::string(first), b = std::string(second)](TorchCall& c) -> Values {
    return {f(c.Operand(a, DType::kFloat64), c.Operand(b, DType::kFloat64)).To(c.out_dtype())};
  };
}
TorchHandler Refused(std::string_view why) {
  return [text = std::string(why)](TorchCall& c) { return c.Fail(Unimplemented(text)); };
}

namespace {

using std::numbers::ln2;
using std::numbers::pi;

// Handlers whose operands are of the result's type, computed in float32 where that is a half.
using Formula1 = Expr (*)(const Expr&);
using Formula2 = Expr (*)(const Expr&, const Expr&);
TorchHandler Of(Formula1 f) {
  return [f](TorchCall& c) -> Values {
    const DType t = c.out_dtype();
    if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
    return {f(c.Operand("self", AtLeastFloat32(t))).To(t)};
  };
}
TorchHandler Of(Formula2 f) {
  return [f](TorchCall& c) -> Values {
    const DType t = c.out_dtype(), computed = AtLeastFloat32(t);
    if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
    return {f(c.Operand("self", computed), c.Operand("other", computed)).To(t)};
  };
}

// The same, and what is computed of complex numbers.
TorchHandler Of(Formula1 f, Complex (*of_complex)(const Complex&)) {
  return [real = Of(f), of_complex](TorchCall& c) -> Values {
    const DType t = c.out_dtype();
    if (!IsComplex(t)) return real(c);
    return {ComplexOf(of_complex(PartsOf(c.Operand("self", t))))};
  };
}
TorchHandler Of(Formula2 f, Complex (*of_complex)(const Complex&, const Complex&)) {
  return [real = Of(f), of_complex](TorchCall& c) -> Values {
    const DType t = c.out_dtype();
    if (!IsComplex(t)) return real(c);
    return {ComplexOf(of_complex(PartsOf(c.Operand("self", t)), PartsOf(c.Operand("other", t))))};
  };
}

// The larger one and what the other one adds; of equal infinities themselves.
Expr LogAdd(const Expr& a, const Expr& b, double base) {
  const Expr apart = -Abs(a - b) * portable::log(base);
  const Expr sum = Max(a, b) + Log1p(Exp(apart)) * (1 / portable::log(base));
  return Where((a == b) & IsInf(a), a, sum);
}
Expr LogAddExp(const Expr& a, const Expr& b) { return LogAdd(a, b, std::numbers::e); }
Expr LogAddExp2(const Expr& a, const Expr& b) { return LogAdd(a, b, 2); }
Expr CopySign(const Expr& a, const Expr& b) { return Where(SignBit(b), -Abs(a), Abs(a)); }
Expr Exp2(const Expr& x) { return Pow(x.Number(2), x); }
Expr Deg2Rad(const Expr& x) { return x * (pi / 180); }
Expr Rad2Deg(const Expr& x) { return x * (180 / pi); }

// x 2^e of integers in a float type, in halves so that no factor is out of reach.
Expr TimesTwoTo(const Expr& x, const Expr& e) {
  const Expr half = Floor(e * 0.5);
  return x * Pow(x.Number(2), half) * Pow(x.Number(2), e - half);
}
// x = m 2^e, 0.5 <= |m| < 1; 0, infinities and NaN are themselves, e being 0.
std::pair<Expr, Expr> Frexp(const Expr& x) {
  const Expr odd = (x == 0) | IsInf(x) | IsNan(x);
  const Expr safe = Where(odd, 1, x);
  Expr e = Floor(Log(Abs(safe)) * (1 / ln2)) + 1;
  Expr m = TimesTwoTo(safe, -e);
  // The logarithm is rounded: the exponent may be off by one.
  const Expr over = Abs(m) >= 1, under = Abs(m) < 0.5;
  e = Where(over, e + 1, Where(under, e - 1, e));
  m = Where(over, m * 0.5, Where(under, m * 2, m));
  return {Where(odd, x, m), Where(odd, 0, e)};
}
Values FrexpOf(TorchCall& c) {
  const auto [mantissa, exponent] = Frexp(c.Operand("self", DType::kFloat64));
  return {mantissa.To(c.out_dtype()), exponent.To(DType::kInt32)};
}

// One step of a type's last digit, in float64, which has all of float32.
Values NextAfter(TorchCall& c) {
  const DType t = c.out_dtype();
  if (t != DType::kFloat32 && t != DType::kFloat64) {
    return c.Fail(Unimplemented("nextafter of ", Name(t)));
  }
  const int digits = t == DType::kFloat64 ? 53 : 24, least = t == DType::kFloat64 ? -1074 : -149;
  const Expr x = c.Operand("self", DType::kFloat64), y = c.Operand("other", DType::kFloat64);
  const auto [mantissa, exponent] = Frexp(x);
  const Expr up = x < y;
  // Towards 0 from a power of two the step is half as long.
  const Expr inwards = (up ^ (x > 0)) & (Abs(mantissa) == 0.5);
  Expr e = exponent - digits;
  e = Max(Where(inwards, e - 1, e), least);
  const Expr step = TimesTwoTo(x * 0 + 1, e);
  const Expr tiny = x.Number(std::ldexp(1.0, least));
  const Expr limit = x.Number(t == DType::kFloat64 ? std::numeric_limits<double>::max()
                                                   : std::numeric_limits<float>::max());
  Expr next = Where(up, x + step, x - step);
  next = Where(IsInf(x), Sign(x) * limit, Where(x == 0, Sign(y) * tiny, next));
  next = Where(x == y, y, next);
  // -0 is what comes after the least negative number.
  next = Where((next == 0) & (x < 0) & Not(x == y), x.Number(-0.0), next);
  return {Where(IsNan(x), x, Where(IsNan(y), y, next)).To(t)};
}

Values SignBitCall(TorchCall& c) {
  const Expr x = c.Tensor("self");
  if (x.dtype() == DType::kBool) return {(x & Not(x)).value()};
  return {(IsFloating(x.dtype()) ? SignBit(x) : x < 0).value()};
}

Values Heaviside(TorchCall& c) {
  const DType t = c.out_dtype(), wide = WideType(t);
  const Expr x = c.Operand("self", wide), at_zero = c.Operand("values", wide);
  const Expr step = (x > 0).To(wide);
  return {Where(x == 0, at_zero, step).To(t)};
}

Values FloatPower(TorchCall& c) {
  if (IsComplex(c.out_dtype())) return c.Fail(Unimplemented("of complex numbers"));
  return {Pow(c.Operand("self", DType::kFloat64), c.Operand("exponent", DType::kFloat64)).value()};
}

// self 2^other, the power being rounded to its own type first.
Values Ldexp(TorchCall& c) {
  const DType t = c.out_dtype(), other = c.Tensor("other")->dtype();
  if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
  const DType of_power = other == DType::kFloat64 ? other : DType::kFloat32;
  const Expr e = c.Operand("other", of_power);
  return {(c.Operand("self", t) * Pow(e.Number(2), e).To(t)).To(t)};
}

// Euclid's algorithm: as many rounds as the worst of that width, Fibonacci's numbers, take.
Expr Gcd(const Expr& a, const Expr& b, int width) {
  const Expr zero = a.Number(0) * (a + b);
  const int rounds = width * 3 / 2;
  return Abs(Rounds(Int(a.builder(), rounds), {Abs(a) + zero, Abs(b) + zero},
                    [](const Expr&, const std::vector<Expr>& s) -> std::vector<Expr> {
                      const Expr done = s[1] == 0;
                      const Expr rest = Mod(s[0], Where(done, 1, s[1]));
                      return {Where(done, s[0], s[1]), Where(done, 0, rest)};
                    })[0]);
}
Values GcdLcm(TorchCall& c, bool lcm) {
  const DType t = c.out_dtype();
  if (!IsInteger(t)) return c.Fail(Unimplemented("of ", Name(t)));
  const Expr a = c.Operand("self", t).To(DType::kInt64),
             b = c.Operand("other", t).To(DType::kInt64);
  const Expr gcd = Gcd(a, b, BitWidth(t));
  if (!lcm) return {gcd.To(t)};
  return {Where(gcd == 0, 0, Abs(a / Where(gcd == 0, 1, gcd) * b)).To(t)};
}

// In 64 bits. Shifts by a negative count, or past the width, leave the sign alone or nothing.
Values Shift(TorchCall& c, bool left) {
  const DType t = c.out_dtype();
  if (!IsInteger(t) || t == DType::kUInt64) return c.Fail(Unimplemented("shifts of ", Name(t)));
  const int width = BitWidth(t);
  const Expr a = c.Operand("self", t).To(DType::kInt64),
             b = c.Operand("other", t).To(DType::kInt64);
  std::vector<int64_t> powers;
  for (int i = 0; i < 63; ++i) powers.push_back(int64_t{1} << i);
  powers.push_back(std::numeric_limits<int64_t>::min());
  const Expr inside = (b >= 0) & (b < width);
  const Expr count = Where(inside, b, 0);
  if (left) {
    const Expr shifted = a * Gather(Ints(c, powers), count, 0);
    return {Where(inside, shifted, 0).To(t)};
  }
  const Expr few = inside & (b < 63);
  const Expr power = Gather(Ints(c, powers), Where(few, b, 0), 0);
  const Expr quotient = (a - Mod(a, power)) / power;  // Mod has the sign of the power
  return {Where(few, quotient, Where(a < 0, a.Number(-1), a.Number(0))).To(t)};
}

Values Logit(TorchCall& c) {
  const DType t = c.out_dtype();
  Expr x = c.Operand("self", AtLeastFloat32(t));
  if (const auto eps = c.OptFloat("eps")) {
    const Expr low = x<*eps, high = x> 1 - *eps;
    x = Where(low, *eps, Where(high, 1 - *eps, x));
  }
  return {Log(x / (1 - x)).To(t)};
}

X2IR_TORCH(sqrt).From("aten::hypot.default", Of(Hypot));
X2IR_TORCH(log)
    .From("aten::logaddexp.default", Of(LogAddExp, x2ir::LogAddExp))
    .From("aten::logaddexp2.default", Of(LogAddExp2))
    .From({"aten::log1p.default", "aten::special_log1p.default"}, Of(Log1p, x2ir::Log1p))
    .From({"aten::logit.default", "aten::special_logit.default"}, Logit);
X2IR_TORCH(exp)
    .From({"aten::expm1.default", "aten::special_expm1.default"}, Of(Expm1, x2ir::Expm1))
    .From({"aten::exp2.default", "aten::special_exp2.default"}, Of(Exp2, x2ir::Exp2));
X2IR_TORCH(atan).From({"aten::atan2.default", "aten::arctan2.default"}, Of(Atan2));
X2IR_TORCH(mul)
    .From("aten::deg2rad.default", Of(Deg2Rad))
    .From("aten::rad2deg.default", Of(Rad2Deg))
    .From("aten::ldexp.Tensor", Ldexp);
X2IR_TORCH(where)
    .From({"aten::copysign.Tensor", "aten::copysign.Scalar"}, Of(CopySign))
    .From("aten::heaviside.default", Heaviside)
    .From("aten::nextafter.default", NextAfter);
X2IR_TORCH(less).From("aten::signbit.default", SignBitCall);
X2IR_TORCH(pow)
    .From("aten::frexp.Tensor", FrexpOf)
    .From({"aten::float_power.Tensor_Tensor", "aten::float_power.Tensor_Scalar",
           "aten::float_power.Scalar"},
          FloatPower);
X2IR_TORCH(loop)
    .From("aten::gcd.default", [](TorchCall& c) { return GcdLcm(c, false); })
    .From("aten::lcm.default", [](TorchCall& c) { return GcdLcm(c, true); });
X2IR_TORCH(bit_shift)
    .From({"aten::bitwise_left_shift.Tensor", "aten::bitwise_left_shift.Tensor_Scalar",
           "aten::bitwise_left_shift.Scalar_Tensor", "aten::__lshift__.Tensor",
           "aten::__lshift__.Scalar"},
          [](TorchCall& c) { return Shift(c, true); })
    .From({"aten::bitwise_right_shift.Tensor", "aten::bitwise_right_shift.Tensor_Scalar",
           "aten::bitwise_right_shift.Scalar_Tensor", "aten::__rshift__.Tensor",
           "aten::__rshift__.Scalar"},
          [](TorchCall& c) { return Shift(c, false); });

}  // namespace
}  // namespace x2ir
