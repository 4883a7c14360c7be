// Functions of numbers that take more than one IR op: near 0, near infinity, of signs and bits.
#include <cmath>
#include <limits>
#include <numbers>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/pieces.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

using std::numbers::ln2;
using std::numbers::pi;

// Handlers whose operands are of the result's type, computed in float32 where that is a half.
using Formula1 = Num (*)(const Num&);
using Formula2 = Num (*)(const Num&, const Num&);
TorchHandler Of(Formula1 f) {
  return [f](TorchCall& c) -> Values {
    Calc m(c);
    const DType t = c.out_dtype();
    if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
    return {m.Out(f(m.In("self", ComputeTypeOfTorch(t))), t)};
  };
}
TorchHandler Of(Formula2 f) {
  return [f](TorchCall& c) -> Values {
    Calc m(c);
    const DType t = c.out_dtype(), computed = ComputeTypeOfTorch(t);
    if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
    return {m.Out(f(m.In("self", computed), m.In("other", computed)), t)};
  };
}

Num Hypot(const Num& a, const Num& b) {
  const Num x = Abs(a), y = Abs(b);
  const Num large = Max(x, y), small = Min(x, y);
  const Num inf = IsInf(a) | IsInf(b);
  const Num zero = large == 0;
  const Num ratio = small / If(zero, 1, large);
  return If(inf, kInf, large * Sqrt(1 + ratio * ratio));
}
// The larger one and what the other one adds; of equal infinities themselves.
Num LogAdd(const Num& a, const Num& b, double base) {
  const Num apart = -Abs(a - b) * std::log(base);
  const Num sum = Max(a, b) + Log1p(Exp(apart)) * (1 / std::log(base));
  return If((a == b) & IsInf(a), a, sum);
}
Num LogAddExp(const Num& a, const Num& b) { return LogAdd(a, b, std::numbers::e); }
Num LogAddExp2(const Num& a, const Num& b) { return LogAdd(a, b, 2); }
Num CopySign(const Num& a, const Num& b) { return If(Negative(b), -Abs(a), Abs(a)); }
Num Exp2(const Num& x) { return Pow(x.N(2), x); }
Num Deg2Rad(const Num& x) { return x * (pi / 180); }
Num Rad2Deg(const Num& x) { return x * (180 / pi); }
Num AngleOf(const Num& x) { return If(IsNaN(x), x, If(x < 0, x.N(pi), x.N(0))); }

// The arc tangent of the smaller by the larger, put into its octant.
Num Atan2(const Num& y, const Num& x) {
  const Num a = Abs(y), b = Abs(x);
  const Num large = Max(a, b), small = Min(a, b);
  const Num ratio = If(IsInf(small), 1, small / If(large == 0, 1, large));
  Num angle = ratio.Op("atan");
  angle = If(a > b, pi / 2 - angle, angle);
  angle = If(Negative(x), pi - angle, angle);
  return If(Negative(y), -angle, angle);
}

// 2^e of integers in a float type, in halves so that no factor is out of reach.
Num Scaled(const Num& x, const Num& e) {
  const Num half = Floor(e * 0.5);
  return x * Pow(x.N(2), half) * Pow(x.N(2), e - half);
}
// x = m 2^e, 0.5 <= |m| < 1; 0, infinities and NaN are themselves, e being 0.
std::pair<Num, Num> Frexp(const Num& x) {
  const Num odd = (x == 0) | IsInf(x) | IsNaN(x);
  const Num safe = If(odd, 1, x);
  Num e = Floor(Log(Abs(safe)) * (1 / ln2)) + 1;
  Num m = Scaled(safe, -e);
  // The logarithm is rounded: the exponent may be off by one.
  const Num over = Abs(m) >= 1, under = Abs(m) < 0.5;
  e = If(over, e + 1, If(under, e - 1, e));
  m = If(over, m * 0.5, If(under, m * 2, m));
  return {If(odd, x, m), If(odd, 0, e)};
}
Values FrexpOf(TorchCall& c) {
  Calc m(c);
  const auto [mantissa, exponent] = Frexp(m.In("self", DType::kFloat64));
  return {m.Out(mantissa, c.out_dtype()), m.Out(exponent, DType::kInt32)};
}

// One step of a type's last digit, in float64, which has all of float32.
Values NextAfter(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype();
  if (t != DType::kFloat32 && t != DType::kFloat64) {
    return c.Fail(Unimplemented("nextafter of ", Name(t)));
  }
  const int digits = t == DType::kFloat64 ? 53 : 24, least = t == DType::kFloat64 ? -1074 : -149;
  const Num x = m.In("self", DType::kFloat64), y = m.In("other", DType::kFloat64);
  const auto [mantissa, exponent] = Frexp(x);
  const Num up = x < y;
  // Towards 0 from a power of two the step is half as long.
  const Num inwards = (up ^ (x > 0)) & (Abs(mantissa) == 0.5);
  Num e = exponent - digits;
  e = Max(If(inwards, e - 1, e), least);
  const Num step = Scaled(x * 0 + 1, e);
  const Num tiny = x.N(std::ldexp(1.0, least));
  const Num limit = x.N(t == DType::kFloat64 ? std::numeric_limits<double>::max()
                                             : std::numeric_limits<float>::max());
  Num next = If(up, x + step, x - step);
  next = If(IsInf(x), Sign(x) * limit, If(x == 0, Sign(y) * tiny, next));
  next = If(x == y, y, next);
  // -0 is what comes after the least negative number.
  next = If((next == 0) & (x < 0) & !(x == y), x.N(-0.0), next);
  return {m.Out(If(IsNaN(x), x, If(IsNaN(y), y, next)), t)};
}

Values SignBit(TorchCall& c) {
  Calc m(c);
  const Num x = m.In("self");
  if (x.dtype() == DType::kBool) return {(x & !x).v()};
  return {(IsFloating(x.dtype()) ? Negative(x) : x < 0).v()};
}

Values Heaviside(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype(), wide = WideType(t);
  const Num x = m.In("self", wide), at_zero = m.In("values", wide);
  const Num step = (x > 0).As(wide);
  return {m.Out(If(x == 0, at_zero, step), t)};
}

Values FloatPower(TorchCall& c) {
  Calc m(c);
  if (IsComplex(c.out_dtype())) return c.Fail(Unimplemented("of complex numbers"));
  return {Pow(m.In("self", DType::kFloat64), m.In("exponent", DType::kFloat64)).v()};
}

// self 2^other, the power being rounded to its own type first.
Values Ldexp(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype(), other = c.Tensor("other")->dtype();
  if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
  const DType of_power = other == DType::kFloat64 ? other : DType::kFloat32;
  const Num e = m.In("other", of_power);
  return {m.Out(m.In("self", t) * Pow(e.N(2), e).As(t), t)};
}

// Euclid's algorithm: as many rounds as the worst of that width, Fibonacci's numbers, take.
Num Gcd(const Num& a, const Num& b, int width) {
  const Num zero = a.N(0) * (a + b);
  Calc& m = a.m();
  const int rounds = width * 3 / 2;
  return Abs(m.Rounds(m.Int(rounds), {Abs(a) + zero, Abs(b) + zero},
                      [](const Num&, const std::vector<Num>& s) -> std::vector<Num> {
                        const Num done = s[1] == 0;
                        const Num rest = Mod(s[0], If(done, 1, s[1]));
                        return {If(done, s[0], s[1]), If(done, 0, rest)};
                      })[0]);
}
Values GcdLcm(TorchCall& c, bool lcm) {
  Calc m(c);
  const DType t = c.out_dtype();
  if (!IsInteger(t)) return c.Fail(Unimplemented("of ", Name(t)));
  const Num a = m.In("self", t).As(DType::kInt64), b = m.In("other", t).As(DType::kInt64);
  const Num gcd = Gcd(a, b, BitWidth(t));
  if (!lcm) return {m.Out(gcd, t)};
  return {m.Out(If(gcd == 0, 0, Abs(a / If(gcd == 0, 1, gcd) * b)), t)};
}

// In 64 bits. Shifts by a negative count, or past the width, leave the sign alone or nothing.
Values Shift(TorchCall& c, bool left) {
  Calc m(c);
  const DType t = c.out_dtype();
  if (!IsInteger(t) || t == DType::kUInt64) return c.Fail(Unimplemented("shifts of ", Name(t)));
  const int width = BitWidth(t);
  const Num a = m.In("self", t).As(DType::kInt64), b = m.In("other", t).As(DType::kInt64);
  std::vector<int64_t> powers;
  for (int i = 0; i < 63; ++i) powers.push_back(int64_t{1} << i);
  powers.push_back(std::numeric_limits<int64_t>::min());
  const Num inside = (b >= 0) & (b < width);
  const Num count = If(inside, b, 0);
  if (left) {
    const Num shifted = a * Gather(m.Ints(powers), count, 0);
    return {m.Out(If(inside, shifted, 0), t)};
  }
  const Num few = inside & (b < 63);
  const Num power = Gather(m.Ints(powers), If(few, b, 0), 0);
  const Num quotient = (a - Mod(a, power)) / power;  // Mod has the sign of the power
  return {m.Out(If(few, quotient, If(a < 0, a.N(-1), a.N(0))), t)};
}

Values Logit(TorchCall& c) {
  Calc m(c);
  const DType t = c.out_dtype();
  Num x = m.In("self", ComputeTypeOfTorch(t));
  if (const auto eps = c.OptFloat("eps")) {
    const Num low = x<*eps, high = x> 1 - *eps;
    x = If(low, *eps, If(high, 1 - *eps, x));
  }
  return {m.Out(Log(x / (1 - x)), t)};
}

X2IR_TORCH(sqrt).Is("aten::hypot.default", Of(Hypot));
X2IR_TORCH(log)
    .Is("aten::logaddexp.default", Of(LogAddExp))
    .Is("aten::logaddexp2.default", Of(LogAddExp2))
    .Is({"aten::log1p.default", "aten::special_log1p.default"}, Of(Log1p))
    .Is({"aten::logit.default", "aten::special_logit.default"}, Logit);
X2IR_TORCH(exp)
    .Is({"aten::expm1.default", "aten::special_expm1.default"}, Of(Expm1))
    .Is({"aten::exp2.default", "aten::special_exp2.default"}, Of(Exp2));
X2IR_TORCH(atan).Is({"aten::atan2.default", "aten::arctan2.default"}, Of(Atan2));
X2IR_TORCH(mul)
    .Is("aten::deg2rad.default", Of(Deg2Rad))
    .Is("aten::rad2deg.default", Of(Rad2Deg))
    .Is("aten::ldexp.Tensor", Ldexp);
X2IR_TORCH(where)
    .Is({"aten::copysign.Tensor", "aten::copysign.Scalar"}, Of(CopySign))
    .Is("aten::angle.default", Of(AngleOf))
    .Is("aten::heaviside.default", Heaviside)
    .Is("aten::nextafter.default", NextAfter);
X2IR_TORCH(less).Is("aten::signbit.default", SignBit);
X2IR_TORCH(pow)
    .Is("aten::frexp.Tensor", FrexpOf)
    .Is({"aten::float_power.Tensor_Tensor", "aten::float_power.Tensor_Scalar",
         "aten::float_power.Scalar"},
        FloatPower);
X2IR_TORCH(loop)
    .Is("aten::gcd.default", [](TorchCall& c) { return GcdLcm(c, false); })
    .Is("aten::lcm.default", [](TorchCall& c) { return GcdLcm(c, true); });
X2IR_TORCH(bit_shift)
    .Is({"aten::bitwise_left_shift.Tensor", "aten::bitwise_left_shift.Tensor_Scalar",
         "aten::bitwise_left_shift.Scalar_Tensor", "aten::__lshift__.Tensor",
         "aten::__lshift__.Scalar"},
        [](TorchCall& c) { return Shift(c, true); })
    .Is({"aten::bitwise_right_shift.Tensor", "aten::bitwise_right_shift.Tensor_Scalar",
         "aten::bitwise_right_shift.Scalar_Tensor", "aten::__rshift__.Tensor",
         "aten::__rshift__.Scalar"},
        [](TorchCall& c) { return Shift(c, false); });

}  // namespace
}  // namespace x2ir
