// Each function is written once for a type of numbers N: of float in double, of double in the sum
// of two doubles. The operand is reduced to a nearby point of a table and a small rest, for which a
// few terms of the function's series are sufficient; terms that are small enough are computed in
// double also where N is Two. The tables are made by the compiler.
#include "x2ir/graph_wrapper/portable_math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "x2ir/graph_wrapper/two_doubles_internal.h"

namespace x2ir::portable {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr Two kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr Two kOneByLn2{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr Two kOneByLn10{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
constexpr Two kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
constexpr Two kHalfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr Two kTwoPi{0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};
constexpr Two kHalfLogTwoPi{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
constexpr double kOneBySqrtPi = 0x1.20dd750429b6dp-1;

// --- Numbers of either type -----------------------------------------------------------------

constexpr double Near(double x) { return x; }
constexpr double Near(Two x) { return x.hi; }
constexpr double Normal(double x) { return x; }
constexpr Two Normal(Two x) { return ExactSumOfOrdered(x.hi, x.lo); }  // x.hi is the nearest again
constexpr double Rounded(double x) { return x; }
constexpr double Rounded(Two x) { return x.hi + x.lo; }

template <typename N>
constexpr N Of(Two x) {
  if constexpr (std::is_same_v<N, Two>) {
    return x;
  } else {
    return x.hi;
  }
}
template <typename N>
constexpr N SumOf(double a, double b) {
  if constexpr (std::is_same_v<N, Two>) {
    return ExactSum(a, b);
  } else {
    return a + b;
  }
}
template <typename N>
constexpr N ProductOf(double a, double b) {
  if constexpr (std::is_same_v<N, Two>) {
    return ExactProduct(a, b);
  } else {
    return a * b;
  }
}
double Sqrt(double x) { return std::sqrt(x); }

// To an integer; halves to the even one; |x| below 2^51.
constexpr double Nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// c0 + c1 x + c2 x^2 + ...
template <size_t n>
constexpr double Series(const double (&c)[n], double x) {
  double sum = c[n - 1];
  for (size_t i = n - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// The first terms of it, as many as N needs: `few` of them for float.
template <typename N, size_t few, size_t n>
constexpr double SeriesFor(const double (&c)[n], double x) {
  static_assert(few <= n);
  double sum = 0;
  for (size_t i = std::is_same_v<N, Two> ? n : few; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// x to a multiple of unit, so that products of such numbers are exact; |x| below 2^51 units.
constexpr double Top(double x, double unit) { return (x + 0x1.8p52 * unit) - 0x1.8p52 * unit; }

// 2^k, of normal numbers.
double PowerOf2(int64_t k) { return std::bit_cast<double>(static_cast<uint64_t>(k + 1023) << 52); }

// x * 2^k, rounded once where x is a double.
double Scaled(double x, int64_t k) {
  if (k < -1021) {
    // First to what is exact, then to the subnormal number.
    return k < -1100 ? x * 0x1p-1000 * 0x1p-1000 : x * PowerOf2(k + 1000) * 0x1p-1000;
  }
  return k > 1023 ? x * PowerOf2(1023) * PowerOf2(k - 1023 > 100 ? 100 : k - 1023)
                  : x * PowerOf2(k);
}

// A constant as terms, of which products with integers of some bits are exact, and a rest.
struct Terms {
  double a, b, c, rest;
};
// x - n * terms.
constexpr double Reduced(double x, double n, const Terms& t) {
  return x - n * t.a - n * t.b - n * t.c;
}
constexpr Two Reduced(Two x, double n, const Terms& t) {
  return ExactSum(x.hi, -(n * t.a)) + -(n * t.b) + -(n * t.c) + (x.lo - n * t.rest);
}

// --- Tables ---------------------------------------------------------------------------------

// The series sum of x^(first + k step) / (weight of the k-th) of a small x, for tables.
template <typename Next>
constexpr Two TableSeries(Two term, Next next) {
  Two sum = 0.0;
  for (int k = 1; k < 40; ++k) {
    sum = sum + term;
    term = next(term, k);
  }
  return sum;
}

constexpr int kExpSteps = 128;  // 2^(i / 128), of which the first part has 26 bits
constexpr auto kExpTable = [] {
  std::array<Two, kExpSteps> table;
  for (int i = 0; i < kExpSteps; ++i) {
    const Two x = kLn2 * (i / double{kExpSteps});
    const Two y =
        TableSeries(1.0, [&](Two term, int k) { return term * x / Two(static_cast<double>(k)); });
    const double top = Top(y.hi, 0x1p-25);
    table[static_cast<size_t>(i)] = {top, (y.hi - top) + y.lo};
  }
  return table;
}();

constexpr auto kExpNearTable = [] {
  std::array<double, kExpSteps> table;
  for (size_t i = 0; i < kExpSteps; ++i) table[i] = kExpTable[i].hi + kExpTable[i].lo;
  return table;
}();

// log((1 + u) / (1 - u)) / 2; atan(u) with a sign of -1.
constexpr Two OddSeries(Two u, double sign) {
  const Two square = u * u * sign;
  return TableSeries(
      u, [&](Two term, int k) { return term * square * (2.0 * k - 1) / Two(2.0 * k + 1); });
}

// For m from 0.7 to 1.42 the point i = 128 m: 1 / point in 11 bits, and the negative logarithm of
// that, whose first part is a multiple of kLogUnit, as are multiples of that of log(2).
constexpr int kLogFirst = 90, kLogLast = 182;
constexpr double kLogUnit = 0x1p-42;
constexpr Two kLn2InUnits{0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};
struct LogPoint {
  double inverse;
  Two log;
};
constexpr auto kLogTable = [] {
  std::array<LogPoint, kLogLast - kLogFirst + 1> table;
  for (int i = kLogFirst; i <= kLogLast; ++i) {
    const double inverse = Nearest(1024 * 128.0 / i) / 1024;
    const Two u = Two(1 - inverse) / Two(1 + inverse);
    const Two log = OddSeries(u, 1) * 2.0;
    const double top = Top(log.hi, kLogUnit);
    table[static_cast<size_t>(i - kLogFirst)] = {inverse, {top, (log.hi - top) + log.lo}};
  }
  return table;
}();

constexpr int kQuarter = 64;  // sin(i pi / 128) of five quarters of a turn, for sin and cos
constexpr auto kSinTable = [] {
  std::array<Two, 5 * kQuarter> table;
  for (int i = 0; i < 5 * kQuarter; ++i) {
    const int half = i & 127, quarter = half <= kQuarter ? half : 128 - half;
    const Two x = kPi * (quarter / 128.0), square = x * x;
    const Two y = TableSeries(
        x, [&](Two term, int k) { return -(term * square / Two(2.0 * k * (2.0 * k + 1))); });
    table[static_cast<size_t>(i)] = i & 128 ? -y : y;
  }
  return table;
}();

constexpr auto kAtanTable = [] {  // atan(i / 64)
  std::array<Two, 65> table;
  table[0] = 0.0;
  for (int i = 1; i <= 64; ++i) {
    const Two step = Two(1 / 64.0) / Two(1 + i * (i - 1) / 4096.0);
    table[static_cast<size_t>(i)] = table[static_cast<size_t>(i - 1)] + OddSeries(step, -1);
  }
  return table;
}();

// --- Exponentials ---------------------------------------------------------------------------

// e^x as 2^exponent * base * (1 + more), |more| below 2^-8; of |x| below 2^10.
template <typename N>
struct Power {
  N base, more;
  int64_t exponent;
};
constexpr Terms kLn2By128{0x1.62e42fef8p-8, 0x1.1cf79abc8p-43, 0x1.e3b398038p-79,
                          0x1.cbdabd03cd0cap-113};
// The nearest integer to x * 128 / log(2), also as bits.
struct Steps {
  explicit Steps(double x) : shifted(x * (kExpSteps * 0x1.71547652b82fep+0) + 0x1.8p52) {}
  double shifted;
  double number() const { return shifted - 0x1.8p52; }
  // The last digits of 1.5 * 2^52 are zeros, so that those of the sum are the number.
  int64_t bits() const {
    return static_cast<int32_t>(static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted)));
  }
  size_t index() const { return static_cast<size_t>(bits() & (kExpSteps - 1)); }
  int64_t exponent() const { return bits() >> 7; }
};
Power<Two> PowerOfE(Two x) {
  const Steps steps(x.hi);
  const double n = steps.number();
  constexpr double kRest[] = {0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};
  Two r = ExactSum(x.hi - n * kLn2By128.a, -(n * kLn2By128.b));
  r.lo += x.lo - n * kLn2By128.c;
  r.lo += r.hi * r.hi * Series(kRest, r.hi) + r.hi * r.lo;
  return {kExpTable[steps.index()], r, steps.exponent()};
}
// Of float: 2^-45 off.
Power<double> PowerOfE(double x) {
  const Steps steps(x);
  const double r = x - steps.number() * (kLn2By128.a + kLn2By128.b);
  const double more = r + r * r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24)));
  return {kExpNearTable[steps.index()], more, steps.exponent()};
}
// base * (1 + more)
double Product(const Power<double>& p) { return p.base + p.base * p.more; }
Two Product(const Power<Two>& p) {
  const double top = Top(p.more.hi, 0x1p-34);
  const double rest = (p.more.hi - top) + p.more.lo;
  const Two sum = ExactSumOfOrdered(p.base.hi, p.base.hi * top);
  return {sum.hi, sum.lo + (p.base.lo + (p.base.lo * (p.more.hi + p.more.lo) + p.base.hi * rest))};
}

double Exp(Two x) {
  if (!(x.hi < 710)) return x.hi != x.hi ? kNaN : kInf;
  if (x.hi < -750) return 0;
  const Power<Two> p = PowerOfE(x);
  return Scaled(Rounded(Product(p)), p.exponent);
}
// The same for float: infinite or 0 where that is.
double Exp(double x) {
  if (!(std::fabs(x) < 110)) return x != x ? kNaN : x > 0 ? kInf : 0;
  const Power<double> p = PowerOfE(x);
  // The exponent is added to the one of a number that is near 1.
  return std::bit_cast<double>(std::bit_cast<int64_t>(Product(p)) +
                               p.exponent * (int64_t{1} << 52));
}

// e^x - 1 of |x| below 700.
template <typename N>
N LessOne(N x) {
  const Power<N> p = PowerOfE(x);
  const double scale = PowerOf2(p.exponent);
  const N base = Normal(p.base) * scale;
  return (base + -1.0) + base * Normal(p.more);
}
// e^x of |x| below 700.
template <typename N>
N FullExp(N x) {
  const Power<N> p = PowerOfE(x);
  return Normal(Product(p)) * PowerOf2(p.exponent);
}

template <typename N>
double Expm1(double x) {
  if (!(x < 700)) return Exp(N(x));
  if (x < -50) return -1;
  return x == 0 || std::fabs(x) < 0x1p-300 ? x : Rounded(LessOne(N(x)));
}

template <typename N>
double Exp2(double x) {
  if (!(x < 1025)) return x != x ? kNaN : kInf;
  if (x < -1080) return 0;
  const double whole = Nearest(x);
  const Power<N> p = PowerOfE(Of<N>(kLn2) * (x - whole));
  return Scaled(Rounded(Product(p)), p.exponent + static_cast<int64_t>(whole));
}

template <typename N>
double Sinh(double x) {
  const double a = std::fabs(x);
  if (a < 0x1p-300 || x != x) return x != x ? kNaN : x;
  double y;
  if (a > 690) {
    const Power<N> p = PowerOfE(N(a > 720 ? 720 : a));
    y = Scaled(Rounded(Product(p)), p.exponent - 1);
  } else {
    const N e = LessOne(N(a));
    y = Rounded((e + e / (e + 1.0)) * 0.5);
  }
  return std::copysign(y, x);
}
template <typename N>
double Cosh(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x);
  if (a > 690) return Sinh<N>(a);
  const N e = FullExp(N(a));
  return Rounded((e + N(1.0) / e) * 0.5);
}
template <typename N>
double Tanh(double x) {
  const double a = std::fabs(x);
  if (a < 0x1p-300 || x != x) return x != x ? kNaN : x;
  if (a > 25) return std::copysign(1, x);
  const N e = LessOne(N(2 * a));
  return std::copysign(Rounded(e / (e + 2.0)), x);
}

// --- Logarithms -----------------------------------------------------------------------------

// log(1 + r) of |r| below 2^-7.
template <typename N>
N LogNearOne(N r) {
  constexpr double kRest[] = {1.0 / 3,  -1.0 / 4, 1.0 / 5,   -1.0 / 6, 1.0 / 7,
                              -1.0 / 8, 1.0 / 9,  -1.0 / 10, 1.0 / 11};
  const double h = Near(r), rest = h * h * h * SeriesFor<N, 4>(kRest, h);
  if constexpr (std::is_same_v<N, Two>) {
    // r^2 / 2, of which the square of the first digits is exact.
    const double top = Top(h, 0x1p-33), low = (h - top) + r.lo;
    const Two sum = ExactSumOfOrdered(h, -0.5 * top * top);
    return ExactSumOfOrdered(sum.hi, sum.lo + (r.lo + (rest - (top + 0.5 * low) * low)));
  } else {
    return r + (rest - 0.5 * r * r);
  }
}

// log(x) of positive finite x.
template <typename N>
N LogOf(N x) {
  double h = Near(x);
  int64_t exponent = 0;
  if (h < 0x1p-1022) {
    x = x * 0x1p100;
    h = Near(x);
    exponent = -100;
  }
  // m from sqrt(1/2) to sqrt(2).
  constexpr auto kLeast = std::bit_cast<int64_t>(0x1.6a09e667f3bcdp-1);
  const auto bits = std::bit_cast<int64_t>(h);
  const int64_t of_h = (bits - kLeast) >> 52;
  exponent += of_h;
  const auto m = std::bit_cast<double>(bits - of_h * (int64_t{1} << 52));
  const LogPoint& point = kLogTable[static_cast<size_t>(Nearest(m * 128)) - kLogFirst];
  const double top = Top(m, 0x1p-26), low = m - top;
  N r = SumOf<N>(top * point.inverse - 1, low * point.inverse);
  if constexpr (std::is_same_v<N, Two>) {
    if (x.lo != 0) r = r + Scaled(x.lo, -exponent) * point.inverse;
  }
  const N near = LogNearOne(r);
  const auto n = static_cast<double>(exponent);
  const double whole = n * kLn2InUnits.hi + point.log.hi, rest = n * kLn2InUnits.lo + point.log.lo;
  if constexpr (std::is_same_v<N, Two>) {
    const Two sum = ExactSumOfOrdered(whole, near.hi);
    return ExactSumOfOrdered(sum.hi, sum.lo + (near.lo + rest));
  } else {
    return whole + (near + rest);
  }
}

// log(1 + u), u above -1.
template <typename N>
N LogOfOneAnd(N u) {
  return std::fabs(Near(u)) < 0x1p-8 ? LogNearOne(u) : LogOf(u + 1.0);
}

// What no logarithm has: NaN, 0, negative numbers, infinity.
bool IsOrdinary(double x) { return x > 0 && x < kInf; }
double LogOfOther(double x) { return x == 0 ? -kInf : x > 0 ? x : kNaN; }

template <typename N>
double Log(double x, Two by = 1.0) {
  if (!IsOrdinary(x)) return LogOfOther(x);
  return Rounded(by.hi == 1 ? LogOf(N(x)) : LogOf(N(x)) * Of<N>(by));
}
template <typename N>
double Log1p(double x) {
  if (!(x > -1 && x < kInf)) return LogOfOther(x + 1);
  return std::fabs(x) < 0x1p-300 ? x : x > 0x1p60 ? Log<N>(x) : Rounded(LogOfOneAnd(N(x)));
}

template <typename N>
double Asinh(double x) {
  const double a = std::fabs(x);
  if (a < 0x1p-300 || !(a < kInf)) return x != x ? kNaN : x;
  N y = 0.0;
  if (a > 0x1p60) {
    y = LogOf(N(a)) + Of<N>(kLn2);
  } else {
    const N square = ProductOf<N>(a, a);
    y = LogOfOneAnd(square / (Sqrt(square + 1.0) + 1.0) + a);
  }
  return std::copysign(Rounded(y), x);
}
template <typename N>
double Acosh(double x) {
  if (!(x >= 1)) return kNaN;
  if (x == kInf) return x;
  if (x > 0x1p60) return Rounded(LogOf(N(x)) + Of<N>(kLn2));
  const N less = SumOf<N>(x, -1);
  return Rounded(LogOfOneAnd(less + Sqrt(less * SumOf<N>(x, 1))));
}
template <typename N>
double Atanh(double x) {
  const double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(kInf, x) : kNaN;
  if (a < 0x1p-300) return x;
  return std::copysign(Rounded(LogOfOneAnd(N(2 * a) / SumOf<N>(1, -a)) * 0.5), x);
}

template <typename N>
double Pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNaN;
  const double a = std::fabs(x);
  bool whole = true;
  double sign = 1;
  if (std::signbit(x)) {
    whole = std::floor(y) == y;
    if (whole && std::fabs(std::fmod(y, 2)) == 1) sign = -1;
  }
  if (std::fabs(y) == kInf) return a == 1 ? 1 : (a > 1) == (y > 0) ? kInf : 0;
  if (a == 0 || a == kInf) return sign * ((a == 0) == (y < 0) ? kInf : 0);
  if (!whole) return kNaN;
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (a == 1) return sign;
  // Results of |y| above 2^64 are 0 or infinite, as are those of what is cut off here.
  const N log = LogOf(N(a));
  const double near = Near(log) * (std::fabs(y) > 0x1p64 ? std::copysign(0x1p64, y) : y);
  if (near > 711) return sign * kInf;
  if (near < -750) return sign * 0.0;
  return sign * (std::fabs(near) < 0x1p-60 ? 1 + near : Exp(log * y));
}

// --- Angles ---------------------------------------------------------------------------------

// x = (steps + ...) pi / 128 + rest, steps modulo 256.
template <typename N>
struct Angle {
  uint32_t steps;
  N rest;
};
constexpr Terms kPiBy128{0x1.921fb5p-6, 0x1.110b46p-32, 0x1.1a6263p-60, 0x1.8a2e03707344ap-87};

// 1 / (2 pi) in binary digits, after 64 zeros.
constexpr uint32_t kOneByTwoPi[] = {
    0,          0,          0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566,
    0x4f10e410, 0x7f9458ea, 0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487,
    0x3f877ac7, 0x2c4a69cf, 0xba208d7d, 0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e,
    0x60d4ce7d, 0x272117e2, 0xef7e4a0e, 0xc7fe25ff, 0xf7816603, 0xfbcbc462, 0xd6829b47,
    0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b, 0x5d49eeb1, 0xfaf97c5e, 0xcf41ce7d,
    0xe294a4ba, 0x9afed7ec, 0x47e35742, 0x1580cc11, 0xbf1edaea, 0xfc33ef08, 0x26bd0d87};

// Of |x| from 2^12 on: those digits of x / (2 pi) that are no whole turns, by multiplication of
// integers (Payne and Hanek, 1983).
Angle<Two> AngleOfLarge(double x) {
  constexpr int kWords = 8;
  const auto bits = std::bit_cast<uint64_t>(std::fabs(x));
  const uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFu) | 0x10000000000000u;
  const int first = static_cast<int>(bits >> 52) - 1075 + 64;  // digits before it give whole turns
  const int word = first / 32, shift = first % 32;
  uint32_t product[kWords];
  uint64_t low = 0, high = 0;  // carries of the products with both halves of the mantissa
  uint64_t before = 0;
  for (int i = kWords - 1; i >= 0; --i) {
    const uint64_t pair = uint64_t{kOneByTwoPi[word + i]} << 32 | kOneByTwoPi[word + i + 1];
    const auto digits = static_cast<uint32_t>(pair >> (32 - shift));
    low += (mantissa & 0xFFFFFFFF) * digits;
    high += (mantissa >> 32) * before;
    const uint64_t sum = (low & 0xFFFFFFFF) + (high & 0xFFFFFFFF);
    product[i] = static_cast<uint32_t>(sum);
    low = (low >> 32) + (sum >> 32);
    high >>= 32;
    before = digits;
  }
  // To the nearest 256th of a turn; what is left may be negative.
  const uint32_t steps = (product[0] + 0x800000u) >> 24;
  product[0] -= steps << 24;
  const bool negative = product[0] >> 31;
  Two rest = 0.0;
  double scale = 0x1p-32;
  for (int i = 0; i < kWords; ++i, scale *= 0x1p-32) {
    const uint32_t digits = negative ? ~product[i] : product[i];
    rest = rest + digits * scale;
  }
  rest = rest * kTwoPi;
  const bool turned = negative != (x < 0);
  return {(x < 0 ? 0u - steps : steps) & 255, turned ? -rest : rest};
}

template <typename N>
Angle<N> AngleOf(N x) {
  const double h = Near(x);
  if (std::fabs(h) > 0x1p19) {
    const Angle<Two> angle = AngleOfLarge(h);
    return {angle.steps, Of<N>(angle.rest)};
  }
  const double n = Nearest(h * (128 / 0x1.921fb54442d18p+1));
  return {static_cast<uint32_t>(static_cast<int64_t>(n)) & 255, Reduced(x, n, kPiBy128)};
}

template <typename N>
struct SinCos {
  N sin, cos;
};
template <typename N>
SinCos<N> SinAndCos(N x) {
  const Angle<N> angle = AngleOf(x);
  const N s = Of<N>(kSinTable[angle.steps]), c = Of<N>(kSinTable[angle.steps + kQuarter]);
  const double h = Near(angle.rest), h2 = h * h;
  constexpr double kSin[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
  constexpr double kCos[] = {1.0 / 24, -1.0 / 720, 1.0 / 40320};
  const N sin = angle.rest + h * h2 * SeriesFor<N, 2>(kSin, h2);
  const double less = h2 * -0.5 + h2 * h2 * SeriesFor<N, 1>(kCos, h2);
  return {s + (c * sin + s * less), c + (c * less - s * sin)};
}

template <typename N>
double Sin(double x) {
  if (!(std::fabs(x) < kInf)) return kNaN;
  return std::fabs(x) < 0x1p-300 ? x : Rounded(SinAndCos(N(x)).sin);
}
template <typename N>
double Cos(double x) {
  return std::fabs(x) < kInf ? Rounded(SinAndCos(N(x)).cos) : kNaN;
}
template <typename N>
double Tan(double x) {
  if (!(std::fabs(x) < kInf)) return kNaN;
  if (std::fabs(x) < 0x1p-300) return x;
  const SinCos<N> both = SinAndCos(N(x));
  return Rounded(both.sin / both.cos);
}

// atan(y / x) of y and x from 0 on that are not both 0.
template <typename N>
N AtanOfRatio(N y, N x) {
  if (Near(y) > Near(x)) return Of<N>(kHalfPi) - AtanOfRatio(x, y);
  const double i = Nearest(64 * (Near(y) / Near(x))), point = i / 64;
  const N u = i == 0 ? y / x : (y - x * point) / (x + y * point);
  const double h = Near(u), h2 = h * h;
  constexpr double kRest[] = {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11};
  return Of<N>(kAtanTable[static_cast<size_t>(i)]) + (u + h * h2 * Series(kRest, h2));
}

template <typename N>
double Atan(double x) {
  const double a = std::fabs(x);
  if (a < 0x1p-300 || x != x) return x != x ? kNaN : x;
  return std::copysign(a > 0x1p100 ? kHalfPi.hi : Rounded(AtanOfRatio(N(a), N(1.0))), x);
}
// sqrt(1 - x^2)
template <typename N>
N Across(double x) {
  return Sqrt(SumOf<N>(1, -x) * SumOf<N>(1, x));
}
template <typename N>
double Asin(double x) {
  const double a = std::fabs(x);
  if (!(a <= 1)) return kNaN;
  return a < 0x1p-300 ? x : std::copysign(Rounded(AtanOfRatio(N(a), Across<N>(a))), x);
}
template <typename N>
double Acos(double x) {
  const double a = std::fabs(x);
  if (!(a <= 1)) return kNaN;
  const N angle = AtanOfRatio(Across<N>(a), N(a));
  return Rounded(x < 0 ? Of<N>(kPi) - angle : angle);
}

// --- The error function ---------------------------------------------------------------------

// erf(x) / x as a polynomial of x^2, |x| up to 1/2; for float of fewer terms.
constexpr double kErf[] = {0x1.20dd750429b6dp+0,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042bep-4,
                           -0x1.b82ce312889f2p-6,  0x1.565bcd0e5f5ap-8,    -0x1.c02db3f9d6c71p-11,
                           0x1.f9a324a327ab3p-14,  -0x1.f4d1cff2cac2fp-17, 0x1.b9d19f664b4c1p-20,
                           -0x1.5d7686c510032p-23, 0x1.c60ae6747e9bcp-27};
constexpr double kErfOfFloat[] = {0x1.20dd75041b4eap+0, -0x1.8127466f5b8a1p-2,
                                  0x1.ce2ef239ee029p-4, -0x1.b8203032a45abp-6,
                                  0x1.54d076df271bdp-8, -0x1.936a4a7830bd8p-11};
// (1 + 2x) e^(x^2) erfc(x) as a polynomial of (x - 3) / (x + 3), x from 1/2 on.
constexpr double kErfc[] = {
    0x1.40c522d7e4987p+0,  -0x1.15c084bb9e8f3p-3,  -0x1.85a15c58aa60bp-5,  0x1.098366a5b46fdp-3,
    -0x1.e88b803a4891p-4,  0x1.17ca2877efa6ap-4,   -0x1.8574c40c1dc7bp-6,  0x1.4b884e47ffa84p-9,
    0x1.ef1bdd94c480ap-10, -0x1.98db51d93e4f4p-11, -0x1.b9129f3dfe00cp-14, 0x1.065a4fd15385cp-13,
    0x1.4c33558ea55afp-18, -0x1.513f528f1490ap-16, -0x1.89e51836121bbp-21, 0x1.d276424a67578p-19,
    0x1.83be0ef7d15eep-22, -0x1.4e821f2d9ab0cp-21, -0x1.3a6fd835a79f1p-23, 0x1.db5de85d5104bp-24,
    0x1.7a5e87961c27fp-25, -0x1.5cc93ecfe612ep-26, -0x1.0ac3e15df823bp-27, 0x1.d43a188a25d43p-29};
constexpr double kErfcOfFloat[] = {
    0x1.40c522d7bd5ccp+0,  -0x1.15c084a762f8p-3,  -0x1.85a15998d4a4ap-5,  0x1.0983631b5fc36p-3,
    -0x1.e88b9f2ae8bb1p-4, 0x1.17ca88e95aefep-4,  -0x1.8570d76183c0ep-6,  0x1.4b3d180d0364ap-9,
    0x1.ee356aa666bf2p-10, -0x1.9507502ca4dep-11, -0x1.a03b4406c8468p-14, 0x1.d7ea6ad79da53p-14,
    0x1.8f96ce86b0bd9p-21, -0x1.4093de07a7e65p-17};

template <typename N>
double ErfOfSmall(double x) {
  if constexpr (std::is_same_v<N, Two>) {
    return x * Series(kErf, x * x);
  } else {
    return x * Series(kErfOfFloat, x * x);
  }
}
// erfc(x), x from 1/2 to 28.
template <typename N>
double ErfcOfLarge(double x) {
  const double t = (x - 3) / (x + 3);
  double y = 0;
  if constexpr (std::is_same_v<N, Two>) {
    y = Series(kErfc, t);
  } else {
    y = Series(kErfcOfFloat, t);
  }
  const Power<N> p = PowerOfE(-ProductOf<N>(x, x));
  return Scaled(Rounded(Product(p)) * y / (1 + 2 * x), p.exponent);
}

template <typename N>
double Erf(double x) {
  const double a = std::fabs(x);
  if (a < 0.5) return ErfOfSmall<N>(x);
  if (x != x) return kNaN;
  return std::copysign(a > 6 ? 1 : 1 - ErfcOfLarge<N>(a), x);
}
template <typename N>
double Erfc(double x) {
  if (x != x) return kNaN;
  if (std::fabs(x) < 0.5) return 1 - ErfOfSmall<N>(x);
  if (x < 0) return x < -6 ? 2 : 2 - ErfcOfLarge<N>(-x);
  return x > 28 ? 0 : ErfcOfLarge<N>(x);
}

// --- The gamma function ---------------------------------------------------------------------

// log(gamma(x)) of x from 24 on, by Stirling's series.
Two LogGammaOfLarge(Two x) {
  constexpr double kTerms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  const Two inverse = Two(1.0) / x;
  const double square = inverse.hi * inverse.hi;
  Two sum = (x + -0.5) * LogOf(x) - x + kHalfLogTwoPi;
  return sum +
         (inverse * (Two(1.0) / Two(12.0)) + inverse.hi * (Series(kTerms, square) - kTerms[0]));
}
// (x, factor): gamma(x before) = gamma(x) / factor.
Two Raised(Two& x) {
  Two factor = 1.0;
  for (; x.hi < 24; x = x + 1.0) factor = factor * x;
  return factor;
}
// sin(pi x), without the sign of whole turns.
Two SinOfTurns(double x) { return SinAndCos(kPi * (x - 2 * std::round(x / 2))).sin; }

double Gamma(double x) {
  if (x == 0) return std::copysign(kInf, x);
  if (x != x || (x < 0 && std::floor(x) == x)) return kNaN;
  if (x > 172) return kInf;
  if (std::fabs(x) < 0x1p-60) return 1 / x;
  if (x < 0.5) {
    if (x < -190) return std::fmod(std::floor(x), 2) == 0 ? 0.0 : -0.0;
    // pi / (sin(pi x) gamma(1 - x)), in two factors, since gamma(1 - x) may be too large.
    Two up = ExactSum(1, -x);
    const Two factor = Raised(up);
    const Power<Two> p = PowerOfE(LogGammaOfLarge(up));
    return Scaled(Rounded(kPi * factor / SinOfTurns(x) / Normal(Product(p))), -p.exponent);
  }
  Two up = x;
  const Two factor = Raised(up);
  const Power<Two> p = PowerOfE(LogGammaOfLarge(up));
  return Scaled(Rounded(Normal(Product(p)) / factor), p.exponent);
}
double LogGamma(double x) {
  if (x != x) return kNaN;
  if (std::fabs(x) == kInf || (x <= 0 && std::floor(x) == x)) return kInf;
  if (std::fabs(x) < 0x1p-60) return -Log<Two>(std::fabs(x));
  if (x == 1 || x == 2) return 0;
  if (x > 0x1p100) return x > 0x1p1015 ? kInf : Rounded((LogOf(Two(x)) + -1.0) * x);
  Two up = x < 0.5 ? ExactSum(1, -x) : Two(x);
  const Two factor = Raised(up), log = LogGammaOfLarge(up) - LogOf(factor);
  if (x >= 0.5) return Rounded(log);
  const Two sin = SinOfTurns(x);
  return Rounded(LogOf(kPi) - LogOf(sin.hi < 0 ? -sin : sin) - log);
}

}  // namespace

#define X2IR_PORTABLE_FUNCTION_(name, of_float, of_double)     \
  float name(float x) { return static_cast<float>(of_float); } \
  double name(double x) { return of_double; }

X2IR_PORTABLE_FUNCTION_(acos, Acos<double>(x), Acos<Two>(x))
X2IR_PORTABLE_FUNCTION_(acosh, Acosh<double>(x), Acosh<Two>(x))
X2IR_PORTABLE_FUNCTION_(asin, Asin<double>(x), Asin<Two>(x))
X2IR_PORTABLE_FUNCTION_(asinh, Asinh<double>(x), Asinh<Two>(x))
X2IR_PORTABLE_FUNCTION_(atan, Atan<double>(x), Atan<Two>(x))
X2IR_PORTABLE_FUNCTION_(atanh, Atanh<double>(x), Atanh<Two>(x))
X2IR_PORTABLE_FUNCTION_(cos, Cos<double>(x), Cos<Two>(x))
X2IR_PORTABLE_FUNCTION_(cosh, Cosh<double>(x), Cosh<Two>(x))
X2IR_PORTABLE_FUNCTION_(erf, Erf<double>(x), Erf<Two>(x))
X2IR_PORTABLE_FUNCTION_(erfc, Erfc<double>(x), Erfc<Two>(x))
X2IR_PORTABLE_FUNCTION_(exp, Exp(double{x}), Exp(Two(x)))
X2IR_PORTABLE_FUNCTION_(exp2, Exp2<double>(x), Exp2<Two>(x))
X2IR_PORTABLE_FUNCTION_(expm1, Expm1<double>(x), Expm1<Two>(x))
X2IR_PORTABLE_FUNCTION_(lgamma, LogGamma(x), LogGamma(x))
X2IR_PORTABLE_FUNCTION_(log, Log<double>(x), Log<Two>(x))
X2IR_PORTABLE_FUNCTION_(log10, Log<double>(x, kOneByLn10), Log<Two>(x, kOneByLn10))
X2IR_PORTABLE_FUNCTION_(log1p, Log1p<double>(x), Log1p<Two>(x))
X2IR_PORTABLE_FUNCTION_(log2, Log<double>(x, kOneByLn2), Log<Two>(x, kOneByLn2))
X2IR_PORTABLE_FUNCTION_(sin, Sin<double>(x), Sin<Two>(x))
X2IR_PORTABLE_FUNCTION_(sinh, Sinh<double>(x), Sinh<Two>(x))
X2IR_PORTABLE_FUNCTION_(tan, Tan<double>(x), Tan<Two>(x))
X2IR_PORTABLE_FUNCTION_(tanh, Tanh<double>(x), Tanh<Two>(x))
X2IR_PORTABLE_FUNCTION_(tgamma, Gamma(x), Gamma(x))
#undef X2IR_PORTABLE_FUNCTION_

float pow(float x, float y) { return static_cast<float>(Pow<double>(x, y)); }
double pow(double x, double y) { return Pow<Two>(x, y); }

}  // namespace x2ir::portable
