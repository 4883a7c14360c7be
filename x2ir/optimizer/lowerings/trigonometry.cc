// Functions of angles and hyperbolic ones, and the error function, by arithmetic and functions that
// runtimes compute in float64. Each is off by a few units in the last place at most.
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/series.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// (atan(z) / z - 1) / z^2 as a polynomial of z^2, the constant term first, where |z| is at most
// tan(pi/8). It interpolates at Chebyshev's points; z^2 times its error is below 2e-19.
constexpr double kAtanTerms[] = {-0.3333333333333333,  0.19999999999999804,  -0.14285714285659828,
                                 0.11111111105155447,  -0.09090908753500877, 0.07692296375032141,
                                 -0.06666424885738241, 0.058789289978346364, -0.05230454270649343,
                                 0.045515932206228675, -0.03457056198134207, 0.016285756855134323};

// From tan(pi/8) on it is the angle from pi/4, from tan(3pi/8) on that from pi/2. With float64
// rounded at each step it is off by 4e-16 of the result at most.
absl::StatusOr<Values> AtanAsPolynomial(Rewrite& r) {
  if (r.dtype(0) != DType::kFloat64) return CannotExpress("as a polynomial, it is for float64");
  const Expr x = {r.b, r.in(0)};
  const Expr size = Abs(x);
  const Expr middle = size > std::numbers::sqrt2 - 1, large = size > std::numbers::sqrt2 + 1;
  const Expr sign = Where(x < 0, x.Number(-1), x.Number(1));
  const Expr z = Where(large, -1 / x, Where(middle, sign * ((size - 1) / (size + 1)), x));
  // What is added near 0 is a zero of x's sign, so that -0 stays.
  const Expr from = Where(
      middle, sign * Where(large, x.Number(std::numbers::pi / 2), x.Number(std::numbers::pi / 4)),
      x * 0);
  const Expr square = z * z;
  constexpr int kTerms = std::size(kAtanTerms);
  Expr sum = square * kAtanTerms[kTerms - 1] + kAtanTerms[kTerms - 2];
  for (int i = kTerms - 3; i >= 0; --i) sum = sum * square + kAtanTerms[i];
  return Values{from + z * (1 + square * sum)};
}
X2IR_LOWERING(atan, AtanAsPolynomial);

absl::StatusOr<Values> OfFloat64(Rewrite& r, Expr (*formula)(const Expr& x)) {
  if (r.dtype(0) != DType::kFloat64) return NothingToDo();
  return Values{formula({r.b, r.in(0)})};
}

Expr AsinOf(const Expr& x) { return (x / Sqrt((1 - x) * (1 + x))).Op("atan"); }
absl::StatusOr<Values> AsinByAtan(Rewrite& r) { return OfFloat64(r, AsinOf); }
X2IR_LOWERING(asin, AsinByAtan);

// Half of it has that quotient for the square of its tangent.
Expr AcosOf(const Expr& x) { return 2 * Sqrt((1 - x) / (1 + x)).Op("atan"); }
absl::StatusOr<Values> AcosByAtan(Rewrite& r) { return OfFloat64(r, AcosOf); }
X2IR_LOWERING(acos, AcosByAtan);

constexpr double kLarge = 1 << 28;  // x^2 + 1 is x^2 from here on, and x^2 may overflow

// `y` of the absolute value of x, where the function is odd. Zeros keep their signs, and NaN stays.
// They come last: ONNX Runtime's Where gives 0 for a -0 that its condition chooses.
Expr WithSignOf(const Expr& x, const Expr& y) { return Where(Abs(x) > 0, Where(x < 0, -y, y), x); }
Expr AsinhOf(const Expr& x) {
  const Expr size = Abs(x), square = size * size;
  const Expr y = Log1p(size + square / (1 + Sqrt(1 + square)));
  return WithSignOf(x, Where(size > kLarge, Log(size) + std::numbers::ln2, y));
}
absl::StatusOr<Values> AsinhByLog(Rewrite& r) { return OfFloat64(r, AsinhOf); }
X2IR_LOWERING(asinh, AsinhByLog);

Expr AcoshOf(const Expr& x) {
  const Expr more = x - 1;
  const Expr y = Log1p(more + Sqrt(more * (more + 2)));
  const Expr any = Where(x > kLarge, Log(x) + std::numbers::ln2, y);
  return Where(x < 1, std::numeric_limits<double>::quiet_NaN(), any);
}
absl::StatusOr<Values> AcoshByLog(Rewrite& r) { return OfFloat64(r, AcoshOf); }
X2IR_LOWERING(acosh, AcoshByLog);

Expr AtanhOf(const Expr& x) {
  const Expr size = Abs(x);
  return WithSignOf(x, 0.5 * Log1p(2 * size / (1 - size)));
}
absl::StatusOr<Values> AtanhByLog(Rewrite& r) { return OfFloat64(r, AtanhOf); }
X2IR_LOWERING(atanh, AtanhByLog);

// Up to 1 its series. From there on 1 - t exp(p(t) - x^2), where t = 2 / (2 + x) and p interpolates
// at Chebyshev's points of t for x from 1 to 6.2; nothing is left of it after that.
Expr ErfOf(const Expr& x) {
  static const std::vector<double> kSeries = {
      1.1283791670955126,      -0.37612638903183754,    0.11283791670955128,
      -0.026866170645131252,   0.005223977625442188,    -0.0008548327023450853,
      0.00012055332981789665,  -1.4925650358406252e-05, 1.6462114365889248e-06,
      -1.6365844691234924e-07, 1.480719281587922e-08,   -1.2290555301717928e-09,
      9.422759064650411e-11,   -6.711366855164111e-12,  4.4632242632864775e-13,
      -2.7835162072109218e-14, 1.6342614095367154e-15,  -9.063970842808673e-17,
      4.763348040515068e-18,   -2.3784598852774297e-19};
  static const std::vector<double> kExponent = {
      -0.7315376613460564,    0.28032697681553076,    0.01061477502320741,
      -0.0032255593474693227, -0.0004328514157962925, 0.00010126652961424118,
      1.800430601890389e-05,  -4.931512080030841e-06, -7.139841397219016e-07,
      2.894993793134404e-07,  1.9574395082599944e-08, -1.7044373379349023e-08,
      3.7916834116913304e-10, 7.806505664120763e-10,  -8.312781574204545e-11};
  constexpr double kMiddle = 0.45528455284552843, kScale = 4.730769230769231;
  const Expr size = Abs(x), square = x * x, t = 2 / (2 + size);
  const Expr far = 1 - t * Exp(Polynomial((t - kMiddle) * kScale, kExponent) - square);
  return Where(size >= 1, Where(x < 0, -far, far), x * Polynomial(square, kSeries));
}

absl::StatusOr<Values> ErfBySeries(Rewrite& r) { return OfFloat64(r, ErfOf); }
X2IR_LOWERING(erf, ErfBySeries);

}  // namespace
}  // namespace x2ir
