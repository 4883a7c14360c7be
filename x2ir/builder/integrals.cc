#include "x2ir/builder/integrals.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "x2ir/builder/series.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

using std::numbers::egamma;
using std::numbers::pi;

// The value right of zero, with the sign of x.
Expr Odd(const Expr& x, const Expr& right) { return Where(x < 0.0, -right, right); }

// --- Fresnel's integrals --------------------------------------------------------------------

constexpr double kNear = 1;     // Maclaurin's series up to here
constexpr double kFar = 36974;  // TensorFlow has 1/2 from here on
constexpr int kPoles = 12;

// The integrals from x on, for x >= kNear: the midpoint rule on their representation as an integral
// along the real axis, and what it leaves out, the residue of the pole that it passes.
struct Rest {
  Expr cos, sin;
};
Rest FresnelRest(const Expr& x) {
  const double width = std::sqrt((kPoles + 0.5) * pi);
  std::vector<double> fourths, weights, square_weights;
  for (int k = 1; k <= kPoles; ++k) {
    const double t = (k - 0.5) * pi / width, t2 = t * t;
    fourths.push_back(t2 * t2);
    weights.push_back(portable::exp(-t2));
    square_weights.push_back(t2 * portable::exp(-t2));
  }
  const Expr y = x * std::sqrt(pi / 2), y2 = y * y;
  const Expr over = 1.0 / (Beside(y2 * y2) + Doubles(x.builder(), fourths));
  const Expr even = y2 * Weigh(over, weights), odd = Weigh(over, square_weights);
  const Expr angle = y2 + pi / 4;
  const Expr c = Cos(angle), s = Sin(angle);
  const Expr p = y * (std::sqrt(2) * width), e = Exp(-p);
  const Expr residue = e / (1.0 + 2.0 * e * Cos(p) + e * e);
  const Expr scale = y / width;
  const Expr real = residue * (Cos(p) + e) + scale * (c * even + s * odd);
  const Expr imaginary = residue * Sin(p) + scale * (s * even - c * odd);
  return {real - imaginary, real + imaginary};
}

// The series in x^4 whose term k is (-1)^k (pi/2)^m / (m! (2m + 1)), m = 2k + first.
std::vector<double> FresnelSeries(int first) {
  std::vector<double> c;
  double factor = first == 0 ? 1 : pi / 2;
  for (int m = first; m < 26; m += 2) {
    c.push_back(factor / (2 * m + 1));
    factor *= -(pi / 2) * (pi / 2) / ((m + 1.0) * (m + 2.0));
  }
  return c;
}

Expr Fresnel(const Expr& x, bool sine) {
  const Expr size = Abs(x), near = size < kNear;
  const Expr small = Where(near, size, 0.0), square = small * small;
  const Expr inner = Polynomial(square * square, FresnelSeries(sine ? 1 : 0)) * small;
  const Rest rest = FresnelRest(Min(Where(near, kNear, size), kFar));
  const Expr outer = Where(size > kFar, 0.5, 0.5 - (sine ? rest.sin : rest.cos));
  return Where(IsNan(x), x, Odd(x, Where(near, sine ? inner * square : inner, outer)));
}

// From 1/2 to 2: Debye's series in the logarithm.
Expr SpenceNearOne(const Expr& x) {
  // Bernoulli's numbers over factorials: B(2k) / (2k + 1)!.
  const std::vector<double> series = {1.0 / 36,
                                      -1.0 / 3600,
                                      1.0 / 211680,
                                      -1.0 / 10886400,
                                      1.0 / 526901760,
                                      -691.0 / 2730 / 6227020800,
                                      7.0 / 6 / 1307674368000,
                                      -3617.0 / 510 / 355687428096000};
  const Expr u = -Log(x), square = u * u;
  return u - square * 0.25 + u * square * Polynomial(square, series);
}

}  // namespace

Expr FresnelCos(const Expr& x) { return Fresnel(x, false); }
Expr FresnelSin(const Expr& x) { return Fresnel(x, true); }

Expr Spence(const Expr& x) {
  // Right of 2 from 1/x, left of 1/2 from 1 - x.
  const Expr inverted = x > 2.0;
  const Expr y = Where(inverted, 1.0 / x, x);
  const Expr mirrored = y < 0.5;
  const Expr part = SpenceNearOne(Where(mirrored, 1.0 - y, y));
  const Expr logs = Where(y == 0.0, 0.0, Log(y) * Log(1.0 - Where(mirrored, y, 0.0)));
  const Expr value = Where(mirrored, pi * pi / 6 - logs - part, part);
  const Expr log = Log(Where(inverted, x, 1.0));
  const Expr result = Where(inverted, -0.5 * (log * log) - value, value);
  return Where(x < 0.0, kNaN, result);
}

Expr ExponentialIntegral(const Expr& x) {
  constexpr double kEdge = 40;
  const Expr near = x < kEdge;
  // The integral of (exp(x t) - 1) / t over [0, 1], and the asymptotic series.
  constexpr int kNodes = 24;
  std::vector<double> weights;
  for (int i = 0; i < kNodes; ++i)
    weights.push_back(GaussWeights(kNodes)[i] / GaussNodes(kNodes)[i]);
  const Expr small = Where(near, x, 1.0);
  const Expr inner =
      Log(small) + egamma + Weigh(Exp(Spread(small, GaussNodes(kNodes))) - 1.0, weights);
  std::vector<double> factorials = {1};
  for (int k = 1; k < 38; ++k) factorials.push_back(factorials.back() * k);
  const Expr large = Where(near, kEdge, x), over = 1.0 / large;
  const Expr outer = Exp(large) * over * Polynomial(over, factorials);
  return Where(x < 0.0, kNaN, Where(near, inner, outer));
}

// Rybicki's sum over odd multiples of a step, those around an even one near x.
Expr Dawson(const Expr& x) {
  constexpr double kStep = 0.25, kSmall = 0.3, kLarge = 1e9;
  constexpr int kTerms = 28;
  const Expr size = Abs(x), small = size<kSmall, large = size> kLarge;
  const Expr y = Where(small | large, 1.0, size);
  const Expr even = Round(y * (0.5 / kStep)) * 2.0;
  std::vector<double> odds, ones(kTerms, 1 / std::sqrt(pi));
  for (int k = 0; k < kTerms; ++k) odds.push_back(2 * k - kTerms + 1);
  const Expr n = Doubles(x.builder(), odds);
  const Expr distance = Beside(y - even * kStep) - n * kStep;
  const Expr sum = Weigh(Exp(-(distance * distance)) / (Beside(even) + n), ones);
  std::vector<double> series = {1};
  for (int k = 1; k < 14; ++k) series.push_back(series.back() * -2 / (2 * k + 1));
  const Expr inside = Where(small, size, 0.0);
  const Expr far = 0.5 / Where(large, size, 1.0);
  const Expr right =
      Where(small, inside * Polynomial(inside * inside, series), Where(large, far, sum));
  return Where(IsNan(x), x, Odd(x, right));
}

}  // namespace x2ir
