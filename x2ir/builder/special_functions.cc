#include "x2ir/builder/special_functions.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "x2ir/builder/loop.h"
#include "x2ir/builder/series.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Keeps continued fractions off division by zero.
constexpr double kTiny = 1e-300;
// Rounds that a series or fraction may take.
constexpr int64_t kRounds = 10000;

Expr Wide(const Expr& x) { return x.To(DType::kFloat64); }

// Operands broadcast to one shape, as what a loop carries must not change its type.
Expr Broadcast(const Expr& x, const Expr& all) { return Expand(x, ShapeOf(all)); }

// Lanczos' approximation with g = 7 of log gamma, from 0.5 on.
Expr LgammaFromHalf(const Expr& x) {
  constexpr double kCoefficients[] = {
      676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
      12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  const Expr z = x - 1.0;
  Expr sum = x.Number(0.99999999999980993);
  double k = 1;
  for (const double c : kCoefficients) sum = sum + c / (z + k++);
  const Expr t = z + 7.5;
  const Expr log_gamma = (z + 0.5) * Log(t) - t + 0.5 * portable::log(2 * kPi) + Log(sum);
  return Where(IsInf(x), kInf, log_gamma);
}

Expr Lgamma64(const Expr& x) {
  const Expr reflected = x < 0.5;
  const Expr from_half = LgammaFromHalf(Where(reflected, 1.0 - x, x));
  // log(pi / |sin(pi x)|) - log gamma(1 - x); only the fraction of x matters to the sine.
  const Expr fraction = x - Floor(x);
  const Expr sine = Sin(Min(fraction, 1.0 - fraction) * kPi);
  const Expr reflection = portable::log(kPi) - Log(sine) - from_half;
  const Expr result = Where(reflected, reflection, from_half);
  return Where(IsInf(x), kInf, result);
}

Expr Digamma64(const Expr& x) {
  const Expr reflected = x < 0.5;
  const Expr y = Where(reflected, 1.0 - x, x);
  // digamma(y) = digamma(y + 10) - 1/y - 1/(y+1) - ...; there the asymptotic series is exact.
  constexpr int kShift = 10;
  Expr sum = 1.0 / y;
  for (int k = 1; k < kShift; ++k) sum = sum + 1.0 / (y + k);
  const Expr z = y + kShift;
  const Expr w = 1.0 / (z * z);
  // B(2k) / (2k)
  constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                1.0 / 132, -691.0 / 32760, 1.0 / 12};
  Expr tail = w.Number(0);
  for (size_t i = std::size(kSeries); i-- > 0;) tail = (tail + kSeries[i]) * w;
  const Expr positive = Log(z) - 0.5 / z - tail - sum;
  const Expr fraction = x - Floor(x);
  // Runtimes know the sine of float64 but not the tangent.
  const Expr cotangent = Sin((0.5 - fraction) * kPi) / Sin(fraction * kPi);
  const Expr result = Where(reflected, positive - kPi * cotangent, positive);
  return Where((x <= 0.0) & (fraction == 0.0), kNaN, result);
}

Expr NotTiny(const Expr& x) { return Where(Abs(x) < kTiny, kTiny, x); }

// The lower or the upper share of the incomplete gamma function, of a and x above 0 and finite.
// Below kLarge the series (x < a + 1) or the continued fraction by Lentz's method; above it an
// integral.
Expr GammaShare(const Expr& a, const Expr& x, bool upper) {
  constexpr double kLarge = 100;
  constexpr int64_t kLimit = 130;  // rounds that are enough below kLarge
  constexpr int kNodes = 32;
  Builder& b = x.builder();
  const Expr large = a >= kLarge, by_series = x < a + 1.0;
  // Elements of another kind go along with numbers that converge at once.
  const Expr in_series = by_series & Not(large), in_fraction = Not(by_series | large);
  const Expr sa = Where(large, 1, a), sx = Where(in_series, x, 1e-20);
  const Expr fa = Where(in_fraction, a, 1), fx = Where(in_fraction, x, 100);
  const Expr one = x * 0.0 + 1.0, b0 = fx + 1.0 - fa;
  const Step step = [&](const Expr& round, const std::vector<Expr>& s) -> Stepped {
    const Expr n = round.To(DType::kFloat64) + 1.0;
    const Expr term = s[0] * sx / (sa + n);
    const Expr sum = s[1] + term;
    const Expr an = n * (fa - n);
    const Expr bn = b0 + 2.0 * n;
    const Expr d = 1.0 / NotTiny(an * s[3] + bn);
    const Expr c = NotTiny(bn + an / s[2]);
    const Expr change = d * c;
    return {{term, sum, c, d, s[4] * change}, (term > sum * kEps) | (Abs(change - 1.0) > kEps)};
  };
  const std::vector<Expr> state =
      Iterate(Int(b, kLimit), {one / sa, one / sa, one / kTiny, one / b0, one / b0}, step);
  const Expr scale = Exp(a * Log(x) - x - Lgamma64(a));
  const Expr p = state[1] * scale, q = state[4] * scale;
  // Gauss and Legendre between x and where nothing is left.
  const Expr a1 = Where(large, a, kLarge) - 1.0;
  const Expr root = Sqrt(a1);
  const Expr above = x > a1;
  const Expr end = Where(above, Max(a1 + 11.5 * root, x + 6.0 * root),
                         Max(Min(a1 - 7.5 * root, x - 5.0 * root), 0.0));
  const Expr width = end - x;
  const Expr t = Beside(x) + Spread(width, GaussNodes(kNodes));
  const Expr a1s = Beside(a1);
  const Expr inner = Exp(a1s - t + a1s * (Log(t) - Log(a1s)));
  const Expr integral =
      Weigh(inner, GaussWeights(kNodes)) * width * Exp(a1 * (Log(a1) - 1.0) - Lgamma64(a1 + 1.0));
  if (upper) {
    return Where(large, Where(above, integral, 1.0 + integral), Where(by_series, 1.0 - p, q));
  }
  return Where(large, Where(above, 1.0 - integral, -integral), Where(by_series, p, 1.0 - q));
}

Expr IncompleteGamma(const Expr& a0, const Expr& x0, bool upper) {
  const Expr all = Wide(a0) + Wide(x0);
  const Expr a = Broadcast(Wide(a0), all), x = Broadcast(Wide(x0), all);
  const Expr inside = ((a > 0.0) & (x > 0.0)) & (Not(IsInf(a) | IsInf(x)));
  const Expr finite = (a > 0.0) & Not(IsInf(a));
  Expr result = GammaShare(Where(inside, a, 1.0), Where(inside, x, 1.0), upper);
  result = Where(inside, result, kNaN);
  result = Where(finite & (x == 0.0), upper ? 1 : 0, result);
  result = Where(finite & (x == kInf), upper ? 0 : 1, result);
  return result.To(x0.dtype());
}

// Lentz's method for the continued fraction of the incomplete beta function.
Expr BetaFraction(const Expr& p, const Expr& q, const Expr& y) {
  const Expr one = y * 0.0 + 1.0;
  const Expr d0 = 1.0 / NotTiny(1.0 - (p + q) * y / (p + 1.0));
  const Step step = [&](const Expr& round, const std::vector<Expr>& s) -> Stepped {
    const Expr a = p, b = q, x = y;
    const Expr m = round.To(DType::kFloat64) + 1.0;
    const Expr a2m = a + m * 2.0;
    const auto half = [&](const Expr& numerator, const Expr& c, const Expr& d) {
      const Expr d1 = 1.0 / NotTiny(1.0 + numerator * d);
      return std::pair(NotTiny(1.0 + numerator / c), d1);
    };
    const auto [c1, d1] = half(m * (b - m) * x / ((a2m - 1.0) * a2m), s[0], s[1]);
    const auto [c2, d2] = half(-((a + m) * (a + b + m)) * x / (a2m * (a2m + 1.0)), c1, d1);
    const Expr change = d2 * c2;
    return {{c2, d2, s[2] * (d1 * c1) * change}, Abs(change - 1.0) > kEps};
  };
  Builder& builder = y.builder();
  return Iterate(Int(builder, kRounds), {one, d0, d0}, step)[2];
}

// Sum of 1 / (q + k)^s for s > 1 and q > 0: ten terms, then Euler and Maclaurin.
Expr ZetaRight(const Expr& s, const Expr& q) {
  constexpr int kTerms = 10;
  // B(2k) / (2k)!
  constexpr double kFactors[] = {1.0 / 12,         -1.0 / 720,     1.0 / 30240,
                                 -1.0 / 1209600,   1.0 / 47900160, -691.0 / 1307674368000,
                                 1.0 / 74724249600};
  Expr sum = Pow(q, -s);
  for (int k = 1; k < kTerms; ++k) sum = sum + Pow(q + k, -s);
  const Expr from = q + kTerms, power = Pow(from, -s);
  sum = sum + power * from / (s - 1.0) + 0.5 * power;
  Expr term = power * s / from;
  double k = 1;
  for (const double factor : kFactors) {
    sum = sum + factor * term;
    term = term * ((s + k) / from) * ((s + (k + 1)) / from);
    k += 2;
  }
  return sum;
}

// A polynomial whose coefficients begin with that of the highest power.
template <size_t kCount>
Expr FromHighest(const Expr& x, const double (&coefficients)[kCount]) {
  Expr y = x.Number(coefficients[0]);
  for (size_t i = 1; i < kCount; ++i) y = y * x + coefficients[i];
  return y;
}

// Where the normal distribution reaches 1/2 + c, by the rational functions of Cephes. `tail` is
// 1/2 - |c|, more exactly than c has it.
Expr InverseNormal(const Expr& c, const Expr& tail) {
  constexpr double kP0[] = {-5.99633501014107895267e1, 9.80010754185999661536e1,
                            -5.66762857469070293439e1, 1.39312609387279679503e1,
                            -1.23916583867381258016e0};
  constexpr double kQ0[] = {1,
                            1.95448858338141759834e0,
                            4.67627912898881538453e0,
                            8.63602421390890590575e1,
                            -2.25462687854119370527e2,
                            2.00260212380060660359e2,
                            -8.20372256168333339912e1,
                            1.59056225126211695515e1,
                            -1.18331621121330003142e0};
  constexpr double kP1[] = {
      4.05544892305962419923e0,   3.15251094599893866154e1,   5.71628192246421288162e1,
      4.40805073893200834700e1,   1.46849561928858024014e1,   2.18663306850790267539e0,
      -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4};
  constexpr double kQ1[] = {1,
                            1.57799883256466749731e1,
                            4.53907635128879210584e1,
                            4.13172038254672030440e1,
                            1.50425385692907503408e1,
                            2.50464946208309415979e0,
                            -1.42182922854787788574e-1,
                            -3.80806407691578277194e-2,
                            -9.33259480895457427372e-4};
  constexpr double kP2[] = {
      3.23774891776946035970e0,  6.91522889068984211695e0,  3.93881025292474443415e0,
      1.33303460815807542389e0,  2.01485389549179081538e-1, 1.23716634817820021358e-2,
      3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9};
  constexpr double kQ2[] = {1,
                            6.02427039364742014255e0,
                            3.67983563856160859403e0,
                            1.37702099489081330271e0,
                            2.16236993594496635890e-1,
                            1.34204006088543189037e-2,
                            3.28014464682127739104e-4,
                            2.89247864745380683936e-6,
                            6.79019408009981274425e-9};
  const Expr square = c * c;
  const Expr near =
      (c + c * (square * FromHighest(square, kP0) / FromHighest(square, kQ0))) * std::sqrt(2 * kPi);
  const Expr x = Sqrt(-2.0 * Log(tail));
  const Expr z = 1.0 / x;
  const Expr ratio = Where(x < 8.0, FromHighest(z, kP1) / FromHighest(z, kQ1),
                           FromHighest(z, kP2) / FromHighest(z, kQ2));
  const Expr distance = Where(tail == 0.0, kInf, x - Log(x) / x - z * ratio);
  const Expr far = Where(c < 0.0, -distance, distance);
  const Expr result = Where(tail > portable::exp(-2.0), near, far);
  return Where(tail >= 0.0, result, kNaN);
}

}  // namespace

Expr Lgamma(const Expr& x) { return Lgamma64(Wide(x)).To(x.dtype()); }
Expr Digamma(const Expr& x) { return Digamma64(Wide(x)).To(x.dtype()); }

Expr Ndtri(const Expr& p) {
  const Expr q = Wide(p);
  return InverseNormal(q - 0.5, Min(q, 1.0 - q)).To(p.dtype());
}
Expr Erfinv(const Expr& x) {
  const Expr y = Wide(x);
  return (InverseNormal(y * 0.5, 0.5 - Abs(y) * 0.5) / std::sqrt(2.0)).To(x.dtype());
}

Expr Zeta(const Expr& s0, const Expr& q0) {
  const Expr s = Wide(s0), q = Wide(q0);
  const Expr right = q > 0.0, pole = (q <= 0.0) & (q == Floor(q));
  const Expr even_s = s == 2.0 * Floor(s * 0.5);
  // Left of 0 the terms are those of two sums that go to the right.
  const Expr fraction = q - Floor(q), safe = Where(s > 1.0, s, 2.0);
  const Expr ahead = ZetaRight(safe, Where(right, q, Where(fraction == 0.0, 1.0, fraction)));
  const Expr behind = ZetaRight(safe, 1.0 - fraction) - ZetaRight(safe, Where(right, 1.0, 1.0 - q));
  Expr result = Where(right, ahead, Where(even_s, ahead + behind, ahead - behind));
  // Odd powers of infinity have no sign that could be known; nor is a negative number's other
  // power.
  result = Where((q <= 0.0) & (Not(s == Floor(s))), kNaN, result);
  result = Where(pole, Where(even_s, q.Number(kInf), kNaN), result);
  result = Where(s < 1.0, kNaN, Where(s == 1.0, kInf, result));
  return Where(IsNan(s) | IsNan(q), kNaN, result).To(q0.dtype());
}

Expr Polygamma(const Expr& n0, const Expr& x0) {
  const Expr n = Wide(n0), x = Wide(x0);
  const Expr order = n + 1.0;
  const Expr even = n == 2.0 * Floor(n * 0.5);
  const Expr size = Exp(Lgamma64(order)) * Zeta(order, x);
  const Expr derivative = Where(even, -size, size);
  const Expr result = Where(n == 0.0, Digamma64(x), derivative);
  return Where((n >= 0.0) & (n == Floor(n)), result, kNaN).To(x0.dtype());
}

Expr Igamma(const Expr& a, const Expr& x) { return IncompleteGamma(a, x, false); }
Expr Igammac(const Expr& a, const Expr& x) { return IncompleteGamma(a, x, true); }

// Halley's method from an approximation: Wilson and Hilferty's for large a, for small a the first
// term of the series, or the exponential end.
Expr IgammaInverse(const Expr& a0, const Expr& p0) {
  constexpr int64_t kLimit = 24;
  const Expr a = Broadcast(a0, a0 + p0), p = Broadcast(p0, a0 + p0);
  const Expr inside = ((p > 0.0) & (p < 1.0)) & ((a > 0.0) & Not(IsInf(a)));
  const Expr share = Where(inside, p, 0.5), shape = Where(inside, a, 1.0);
  const Expr normal = InverseNormal(share - 0.5, Min(share, 1.0 - share));
  const Expr root = 1.0 - 1.0 / (9.0 * shape) + normal / (3.0 * Sqrt(shape));
  const Expr large = Max(shape * root * root * root, 1e-3);
  const Expr bend = 1.0 - shape * (0.253 + shape * 0.12);
  const Expr below = Exp((Log(share) + Lgamma64(shape + 1.0)) / shape);
  const Expr beyond = (share >= bend) & (shape <= 1.0);
  const Expr end = 1.0 - Log(1.0 - Where(beyond, (share - bend) / (1.0 - bend), 0.0));
  const Expr start = Where(shape > 1.0, large, Where(beyond, end, below));
  const Step step = [&](const Expr&, const std::vector<Expr>& s) -> Stepped {
    const Expr x = s[0], n = shape;
    const Expr density = Exp((n - 1.0) * Log(x) - x - Lgamma64(n));
    const Expr error = (Igamma(n, x) - share) / density;
    const Expr move = error / (1.0 - 0.5 * Min(error * ((n - 1.0) / x - 1.0), 1.0));
    Expr next = Where(move >= x, x * 0.5, x - move);
    next = Where(IsNan(next) | IsInf(next), x, next);
    return {{next}, Abs(next - x) > 1e-13 * x};
  };
  Builder& b = p0.builder();
  const Expr found = Iterate(Int(b, kLimit), {start}, step)[0];
  const Expr positive = (a > 0.0) & Not(IsInf(a));
  const Expr edge = Where(positive & (p == 0.0), 0.0, Where(positive & (p == 1.0), kInf, p * kNaN));
  return Where(inside, found, edge);
}

Expr Betainc(const Expr& a0, const Expr& b0, const Expr& x0) {
  const Expr all = Wide(a0) + Wide(b0) + Wide(x0);
  const Expr inside =
      (((Wide(a0) > 0.0) & (Wide(b0) > 0.0)) & ((Wide(x0) > 0.0) & (Wide(x0) < 1.0))) &
      Not(IsInf(Wide(a0)) | IsInf(Wide(b0)));
  const auto safe = [&](const Expr& v, double else_) {
    return Where(inside, Broadcast(Wide(v), all), else_);
  };
  const Expr a = safe(a0, 1), b = safe(b0, 1), x = safe(x0, 0.5);
  // The fraction converges below the mean; above it the function is 1 minus its mirror image.
  const Expr mirrored = x > (a + 1.0) / (a + b + 2.0);
  const Expr p = Where(mirrored, b, a), q = Where(mirrored, a, b), y = Where(mirrored, 1.0 - x, x);
  const Expr log_factor = Lgamma64(p + q) - Lgamma64(p) - Lgamma64(q) + p * Log(y) +
                          q * Log(Where(mirrored, x, 1.0 - x));
  const Expr part = Exp(log_factor) * BetaFraction(p, q, y) / p;
  Expr result = Where(inside, Where(mirrored, 1.0 - part, part), kNaN);
  const Expr parameters = (Wide(a0) > 0.0) & (Wide(b0) > 0.0);
  result = Where(parameters & (Wide(x0) == 0.0), 0.0, result);
  result = Where(parameters & (Wide(x0) == 1.0), 1.0, result);
  return result.To(x0.dtype());
}

}  // namespace x2ir
