// Near 0 the trapezoidal rule on their integrals, which are periodic and so converge at once; far
// out the asymptotic series.
#include "x2ir/builder/bessel.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "x2ir/builder/series.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

using std::numbers::egamma;
using std::numbers::pi;

// a(0), a(1), ... of Hankel's expansions of order nu.
std::vector<double> Hankel(int nu, int count) {
  std::vector<double> a = {1};
  for (int k = 1; k < count; ++k) {
    a.push_back(a.back() * (4.0 * nu * nu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k));
  }
  return a;
}
// Every second of them from `first` on, with signs that alternate.
std::vector<double> EverySecond(const std::vector<double>& a, size_t first) {
  std::vector<double> some;
  for (size_t k = first; k < a.size(); k += 2) some.push_back(some.size() % 2 ? -a[k] : a[k]);
  return some;
}

// --- J and Y ----------------------------------------------------------------------------------

constexpr int kNodes = 36;      // of a quarter period
constexpr double kFarOut = 25;  // where the series begin
double Angle(int j) { return pi * (j + 0.5) / (2 * kNodes); }
// The weights that give the sum over k of c(k) times J of order k; k all even or all odd.
std::vector<double> OrderWeights(const std::vector<std::pair<int, double>>& orders) {
  std::vector<double> w;
  for (int j = 0; j < kNodes; ++j) {
    double sum = 0;
    for (const auto& [k, c] : orders) {
      sum += c * (k % 2 == 0 ? portable::cos(k * Angle(j)) : portable::sin(k * Angle(j)));
    }
    w.push_back(sum / kNodes);
  }
  return w;
}
std::vector<double> Sines() {
  std::vector<double> nodes;
  for (int j = 0; j < kNodes; ++j) nodes.push_back(portable::sin(Angle(j)));
  return nodes;
}

// Order nu (0 or 1) of the first kind, or the second, at x >= 0.
Expr BesselRight(int nu, bool second, const Expr& x) {
  const Expr near = x <= kFarOut;
  const Expr small = Where(near, x, 1);
  const Expr angles = Spread(small, Sines());
  const Expr waves = nu == 0 ? Cos(angles) : Sin(angles);
  Expr inner = Weigh(waves, OrderWeights({{nu, 1}}));
  if (second) {
    // Neumann's series: Y from J of all orders.
    std::vector<std::pair<int, double>> orders;
    for (int k = 1; k <= 34; ++k) {
      const double sign = k % 2 == 0 ? 1 : -1;
      orders.emplace_back(nu + 2 * k, -2 / pi * sign * (nu + 2.0 * k) / (k * (nu + 1.0 * k)));
    }
    const Expr log_part = Log(small * 0.5) + (nu == 0 ? egamma : egamma - 1);
    const Expr series = Weigh(waves, OrderWeights(orders));
    Expr y = log_part * inner * (2 / pi) + series;
    if (nu == 1) {
      const Expr j0 = Weigh(Cos(angles), OrderWeights({{0, 1}}));
      y = y - (2 / pi) * j0 / small;
    }
    inner = y;
  }
  const Expr large = Where(near, kFarOut, x);
  const Expr over = 1 / large, over2 = over * over;
  const std::vector<double> a = Hankel(nu, 20);
  const Expr p = Polynomial(over2, EverySecond(a, 0));
  const Expr q = Polynomial(over2, EverySecond(a, 1)) * over;
  // cos and sin of x - (nu / 2 + 1 / 4) pi, times sqrt(2).
  const Expr s = Sin(large), t = Cos(large);
  const Expr cosine = nu == 0 ? t + s : s - t;
  const Expr sine = nu == 0 ? s - t : -(s + t);
  const Expr outer =
      (second ? p * sine + q * cosine : p * cosine - q * sine) * Sqrt(over * (1 / pi));
  return Where(near, inner, outer);
}

}  // namespace

Expr BesselJ0(const Expr& x) { return BesselRight(0, false, Abs(x)); }
Expr BesselJ1(const Expr& x) {
  const Expr y = BesselRight(1, false, Abs(x));
  return Where(x < 0, -y, y);
}

namespace {
// A function of the right half with these values at 0 and to the left.
Expr RightHalf(const Expr& x, const Expr& y, double at_zero) {
  return Where(IsNan(x), x, Where(x > 0, y, Where(x == 0, x.Number(at_zero), x.Number(kNaN))));
}
}  // namespace

Expr BesselY0(const Expr& x) {
  return RightHalf(x, BesselRight(0, true, Where(x > 0, x, 1)), -kInf);
}
Expr BesselY1(const Expr& x) {
  return RightHalf(x, BesselRight(1, true, Where(x > 0, x, 1)), -kInf);
}

// --- I and K ----------------------------------------------------------------------------------

namespace {

// exp(-x) times I of order nu, x >= 0.
constexpr int kHalf = 32;
double HalfAngle(int j) { return pi * (j + 0.5) / kHalf; }
Expr ScaledI(int nu, const Expr& x) {
  constexpr double kFar = 40;
  const Expr near = x <= kFar;
  std::vector<double> nodes, weights;
  for (int j = 0; j < kHalf; ++j) {
    nodes.push_back(portable::cos(HalfAngle(j)) - 1);
    weights.push_back(portable::cos(nu * HalfAngle(j)) / kHalf);
  }
  Expr inner = Weigh(Exp(Spread(Where(near, x, 1), nodes)), weights);
  if (nu == 1) {
    // Near 0 the sum cancels; there Maclaurin's series.
    std::vector<double> c = {0.5};
    for (int k = 1; k < 10; ++k) c.push_back(c.back() / (4.0 * k * (k + 1)));
    const Expr close = x < 1, small = Where(close, x, 0);
    inner = Where(close, Exp(-small) * small * Polynomial(small * small, c), inner);
  }
  const Expr over = 1 / Where(near, kFar, x);
  std::vector<double> a = Hankel(nu, 16);
  for (size_t k = 1; k < a.size(); k += 2) a[k] = -a[k];
  return Where(near, inner, Polynomial(over, a) * Sqrt(over * (0.5 / pi)));
}
}  // namespace

Expr BesselI0e(const Expr& x) { return ScaledI(0, Abs(x)); }
Expr BesselI1e(const Expr& x) {
  const Expr y = ScaledI(1, Abs(x));
  return Where(x < 0, -y, y);
}
Expr BesselI0(const Expr& x) { return Exp(Abs(x)) * BesselI0e(x); }
Expr BesselI1(const Expr& x) { return Exp(Abs(x)) * BesselI1e(x); }

namespace {

// exp(x) times K of order nu, x >= 1.5: the integral of exp(-x (cosh t - 1)) cosh(nu t), in steps
// of t that go with the width of its peak.
Expr ScaledKByIntegral(double nu, const Expr& x) {
  constexpr double kStep = 0.25;
  std::vector<double> nodes, weights;
  for (int j = 0; j <= 40; ++j) {
    nodes.push_back(j * kStep);
    weights.push_back(j == 0 ? kStep / 2 : kStep);
  }
  const Expr root = 1 / Sqrt(x);
  const Expr t = Spread(root, nodes);
  const Expr h = Exp(t * 0.5);
  const Expr sinh = (h - 1 / h) * 0.5;
  Expr y = Exp(-2 * Beside(x) * sinh * sinh);
  if (nu != 0) {
    const Expr e = Exp(t * nu);
    y = y * (e + 1 / e) * 0.5;
  }
  return Weigh(y, weights) * root;
}

// exp(x) times K of order nu (0 or 1), x > 0.
Expr ScaledK(int nu, const Expr& x) {
  constexpr double kNear = 2;
  const Expr near = x <= kNear;
  const Expr small = Where(near, x, 1);
  const Expr i0 = ScaledI(0, small);
  // Neumann's series for K of order 0, Wronski's determinant for order 1.
  std::vector<double> nodes, weights;
  for (int j = 0; j < kHalf; ++j) {
    nodes.push_back(portable::cos(HalfAngle(j)) - 1);
    double sum = 0;
    for (int k = 1; k <= 14; ++k) sum += portable::cos(2 * k * HalfAngle(j)) / k;
    weights.push_back(2 * sum / kHalf);
  }
  const Expr series = Weigh(Exp(Spread(small, nodes)), weights);
  Expr inner = series - (Log(small * 0.5) + egamma) * i0;  // times exp(-x)
  const Expr grow = Exp(2 * small);
  if (nu == 1) {
    inner = (1 / (small * grow) - ScaledI(1, small) * inner) / i0;
    // exp(-2 x) / x: the two factors exp(-x) of the products.
  }
  return Where(near, inner * grow, ScaledKByIntegral(nu, Where(near, kNear, x)));
}
Expr K(int nu, bool scaled, const Expr& x) {
  const Expr safe = Where((x > 0.0) & Not(IsInf(x)), x, 1);
  Expr y = ScaledK(nu, safe);
  if (!scaled) y = y * Exp(-safe);
  return RightHalf(x, Where(IsInf(x), 0, y), kInf);
}
}  // namespace

Expr BesselK0(const Expr& x) { return K(0, false, x); }
Expr BesselK1(const Expr& x) { return K(1, false, x); }
Expr BesselK0e(const Expr& x) { return K(0, true, x); }
Expr BesselK1e(const Expr& x) { return K(1, true, x); }

// --- Others -----------------------------------------------------------------------------------

Expr AiryAi(const Expr& x) {
  constexpr double kLeft = -8, kRight = 2;
  // From K of order 1/3.
  const Expr right = Where(x > kRight, x, kRight);
  const Expr zeta = right * Sqrt(right) * (2.0 / 3);
  const Expr decays = Sqrt(right / 3) * ScaledKByIntegral(1.0 / 3, zeta) * Exp(-zeta) * (1 / pi);
  // Maclaurin's series.
  std::vector<double> f = {1}, g = {1};
  for (int k = 1; k < 34; ++k) {
    f.push_back(f.back() / ((3.0 * k - 1) * (3.0 * k)));
    g.push_back(g.back() / ((3.0 * k) * (3.0 * k + 1)));
  }
  const Expr inside = Min(Max(x, kLeft), kRight);
  const Expr cube = inside * inside * inside;
  const double at_zero = portable::pow(3, -2.0 / 3) / portable::tgamma(2.0 / 3);
  const double slope = portable::pow(3, -1.0 / 3) / portable::tgamma(1.0 / 3);
  const Expr series = at_zero * Polynomial(cube, f) - slope * inside * Polynomial(cube, g);
  // Waves.
  const Expr y = Where(x < kLeft, -x, -kLeft);
  const Expr phase = y * Sqrt(y) * (2.0 / 3);
  std::vector<double> u = {1};
  for (int k = 1; k < 14; ++k) {
    u.push_back(u.back() * (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) /
                (216.0 * k * (2.0 * k - 1)));
  }
  const Expr over = 1 / phase, over2 = over * over;
  const Expr p = Polynomial(over2, EverySecond(u, 0));
  const Expr q = Polynomial(over2, EverySecond(u, 1)) * over;
  const Expr s = Sin(phase), t = Cos(phase);
  const Expr waves = ((t + s) * p + (s - t) * q) / (Sqrt(Sqrt(y)) * std::sqrt(2 * pi));
  return Where(IsInf(x), kNaN, Where(x > kRight, decays, Where(x < kLeft, waves, series)));
}

}  // namespace x2ir
