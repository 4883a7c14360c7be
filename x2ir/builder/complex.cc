#include "x2ir/builder/complex.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

using std::numbers::pi;

// In float64, rounded once at the end.
Complex Widely(const Complex& z, const std::function<Complex(const Complex&)>& f) {
  return f(z.To(DType::kFloat64)).To(z.dtype());
}

Expr CopySignOf(const Expr& size, const Expr& sign) { return Where(SignBit(sign), -size, size); }

// log|z| of float64.
Expr LogAbs(const Complex& z) {
  const Expr a = Abs(z.re), b = Abs(z.im);
  const Expr large = Max(a, b), small = Min(a, b), size = Hypot(z.re, z.im);
  // Near 1 the logarithm is as small as what rounding takes from |z|.
  const Expr near = (size > 0.5) & (size < 2);
  const Expr apart = Where(near, (large - 1) * (large + 1) + small * small, 0);
  return Where(near, 0.5 * Log1p(apart), Log(size));
}

}  // namespace

DType PartType(DType complex) {
  return complex == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32;
}
DType ComplexType(DType part) {
  return part == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

Expr Hypot(const Expr& a, const Expr& b) {
  const Expr x = Abs(a), y = Abs(b);
  const Expr large = Max(x, y), small = Min(x, y);
  const Expr inf = IsInf(a) | IsInf(b);
  const Expr zero = large == 0;
  const Expr ratio = small / Where(zero, 1, large);
  return Where(inf, kInf, large * Sqrt(1 + ratio * ratio));
}

// The arc tangent of the smaller by the larger, put into its octant.
Expr Atan2(const Expr& y, const Expr& x) {
  const Expr a = Abs(y), b = Abs(x);
  const Expr large = Max(a, b), small = Min(a, b);
  const Expr ratio = Where(IsInf(small), 1, small / Where(large == 0, 1, large));
  Expr angle = ratio.Op("atan");
  angle = Where(a > b, pi / 2 - angle, angle);
  angle = Where(SignBit(x), pi - angle, angle);
  return Where(SignBit(y), -angle, angle);
}

Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Both are scaled so that the divisor is about 1. Division by 0 is that of the parts by 0.
Complex operator/(const Complex& a, const Complex& b) {
  const Expr size = Max(Abs(b.re), Abs(b.im));
  const Expr zero = size == 0;
  const Expr x = a.re / size, y = a.im / size, c = b.re / size, d = b.im / size;
  const Expr square = c * c + d * d;
  return {Where(zero, x, (x * c + y * d) / square), Where(zero, y, (y * c - x * d) / square)};
}

Complex Reciprocal(const Complex& z) {
  const Expr size = Max(Abs(z.re), Abs(z.im));
  const Expr c = z.re / size, d = z.im / size;
  const Expr square = z.re * c + z.im * d;
  return {c / square, -d / square};
}

// Squares of float32s overflow no float64.
Expr Abs(const Complex& z) {
  if (z.dtype() != DType::kFloat32) return Hypot(z.re, z.im);
  const Expr u = z.re.To(DType::kFloat64), v = z.im.To(DType::kFloat64);
  const Expr size = Sqrt(u * u + v * v).To(DType::kFloat32);
  return Where(IsInf(z.re) | IsInf(z.im), kInf, size);
}

Expr Angle(const Complex& z) { return Atan2(z.im, z.re); }

Complex Polar(const Expr& size, const Expr& angle) {
  return {size * Cos(angle), size * Sin(angle)};
}

Complex Sign(const Complex& z) {
  const Expr size = Abs(z), zero = size == 0;
  return {Where(zero, 0, z.re / size), Where(zero, 0, z.im / size)};
}

Complex Exp(const Complex& z) { return Polar(Exp(z.re), z.im); }

Complex Log(const Complex& z) {
  const DType t = z.dtype();
  return {LogAbs(z.To(DType::kFloat64)).To(t), Angle(z)};
}

// Half of |z| + |re| has no cancellation; the other part follows from it.
Complex Sqrt(const Complex& z) {
  return Widely(z, [](const Complex& w) -> Complex {
    const Expr size = Hypot(w.re, w.im);
    const Expr root = Sqrt(0.5 * Abs(w.re) + 0.5 * size);
    const Expr zero = root == 0;
    const Expr other = Where(zero, 0, 0.5 * Abs(w.im) / root);
    const Expr left = SignBit(w.re), inf = IsInf(w.im);
    const Expr re = Where(left, other, root), im = Where(left, root, other);
    return {Where(inf, kInf, re), CopySignOf(Where(inf, kInf, im), w.im)};
  });
}

Complex Sin(const Complex& z) { return {Sin(z.re) * z.im.Op("cosh"), Cos(z.re) * z.im.Op("sinh")}; }
Complex Cos(const Complex& z) {
  return {Cos(z.re) * z.im.Op("cosh"), -(Sin(z.re) * z.im.Op("sinh"))};
}
Complex Sinh(const Complex& z) {
  return {z.re.Op("sinh") * Cos(z.im), z.re.Op("cosh") * Sin(z.im)};
}
Complex Cosh(const Complex& z) {
  return {z.re.Op("cosh") * Cos(z.im), z.re.Op("sinh") * Sin(z.im)};
}

namespace {

// From two real functions that every runtime has in float64: exp(x) - 1 and log(1 + x).
Expr SinhByExp(const Expr& x) {
  const Expr e = Expm1(Abs(x));
  return CopySignOf(0.5 * (e + e / (1 + e)), x);
}
Expr AsinhByLog(const Expr& x) {
  const Expr size = Abs(x), large = size > 1e150;
  const Expr s = Where(large, 1, size);
  const Expr y = Log1p(s + s * s / (1 + Sqrt(1 + s * s)));
  return CopySignOf(Where(large, Log(size) + std::numbers::ln2, y), x);
}

}  // namespace

// Kahan's formulas (Branch Cuts for Complex Elementary Functions, 1987): no part loses digits, and
// the signs of zeros choose the side of a cut.
Complex Tanh(const Complex& z) {
  return Widely(z, [](const Complex& w) -> Complex {
    const Expr t = Sin(w.im) / Cos(w.im), s = SinhByExp(w.re), beta = 1 + t * t;
    const Expr below = 1 + beta * s * s;
    // Far out there is no more than the first term.
    const Expr far = Abs(w.re) > 20, rest = Exp(-2 * Abs(w.re));
    const Expr one = CopySignOf(w.re.Number(1), w.re);
    return {Where(far, one, beta * Sqrt(1 + s * s) * s / below),
            Where(far, 4 * Sin(w.im) * Cos(w.im) * rest, t / below)};
  });
}
Complex Tan(const Complex& z) {
  const Complex w = Tanh({-z.im, z.re});
  return {w.im, -w.re};
}

namespace {

// sqrt(1 - z) and sqrt(1 + z), of float64.
std::pair<Complex, Complex> RootsAround(const Complex& z) {
  return {Sqrt({1 - z.re, -z.im}), Sqrt({1 + z.re, z.im})};
}

}  // namespace

Complex Asin(const Complex& z) {
  const DType t = z.dtype();
  const auto [minus, plus] = RootsAround(z.To(DType::kFloat64));
  const Expr im = AsinhByLog((Conj(minus) * plus).im);
  return {Atan2(z.re, (minus * plus).re.To(t)), im.To(t)};
}
Complex Acos(const Complex& z) {
  const DType t = z.dtype();
  const auto [minus, plus] = RootsAround(z.To(DType::kFloat64));
  const Expr im = AsinhByLog((Conj(plus) * minus).im);
  return {2 * Atan2(minus.re.To(t), plus.re.To(t)), im.To(t)};
}
Complex Acosh(const Complex& z) {
  const DType t = z.dtype();
  const Complex w = z.To(DType::kFloat64);
  const Complex minus = Sqrt({w.re - 1, w.im}), plus = Sqrt({w.re + 1, w.im});
  const Expr re = AsinhByLog((Conj(minus) * plus).re);
  return {re.To(t), 2 * Atan2(minus.im.To(t), plus.re.To(t))};
}
Complex Atanh(const Complex& z) {
  const DType t = z.dtype();
  const Complex w = z.To(DType::kFloat64);
  const Expr x = Abs(w.re), square = w.im * w.im;
  const Expr re = 0.25 * Log1p(4 * x / ((1 - x) * (1 - x) + square));
  const Expr along = (1 - w.re) * (1 + w.re) - square;
  return {CopySignOf(re, w.re).To(t), 0.5 * Atan2(z.im, (0.5 * along).To(t))};
}
Complex Asinh(const Complex& z) {
  const Complex w = Asin({-z.im, z.re});
  return {w.im, -w.re};
}
Complex Atan(const Complex& z) {
  const Complex w = Atanh({-z.im, z.re});
  return {w.im, -w.re};
}

Complex Exp2(const Complex& z) {
  return Widely(z, [](const Complex& w) { return Exp(w * w.re.Number(std::numbers::ln2)); });
}
Complex Expm1(const Complex& z) {
  return Widely(z, [](const Complex& w) -> Complex {
    const Expr half = Sin(0.5 * w.im);
    return {Expm1(w.re) * Cos(w.im) - 2 * half * half, Exp(w.re) * Sin(w.im)};
  });
}
Complex Log1p(const Complex& z) {
  return Widely(z, [](const Complex& w) -> Complex {
    const Expr x = w.re + 1, near = (Abs(w.re) < 0.5) & (Abs(w.im) < 0.5);
    const Expr small = Where(near, w.re, 0);
    const Expr apart = small * (2 + small) + w.im * w.im;
    return {Where(near, 0.5 * Log1p(apart), LogAbs({x, w.im})), Atan2(w.im, x)};
  });
}

// By exponentials that do not overflow.
Complex SwishOf(const Complex& z) {
  return Widely(z, [](const Complex& w) -> Complex {
    const Expr left = w.re < 0;
    const auto choose = [&](const Complex& a, const Complex& b) -> Complex {
      return {Where(left, a.re, b.re), Where(left, a.im, b.im)};
    };
    const Complex e = Exp(choose(w, -w));
    return choose(w * e, w) / Complex{e.re + 1, e.im};
  });
}

Complex LogAddExp(const Complex& a, const Complex& b) {
  const DType wide = DType::kFloat64;
  const Complex x = a.To(wide), y = b.To(wide);
  const Expr above = x.re < y.re;
  const auto choose = [](const Expr& test, const Complex& p, const Complex& q) -> Complex {
    return {Where(test, p.re, q.re), Where(test, p.im, q.im)};
  };
  const Complex most = choose(above, y, x), least = choose(above, x, y), apart = least - most;
  const Expr far = IsInf(apart.re);  // exp(-inf) is 0 whatever the angle
  const Complex e = Exp(apart);
  const Complex added = Log1p({Where(far, 0, e.re), Where(far, 0, e.im)});
  // Of two infinities: the one below, or the direction of the sum of both above.
  const auto direction = [](const Complex& z) -> Complex {
    const Expr im = Where(z.im == 0, 0, kInf * Sin(z.im));
    return {kInf * Cos(z.im), im};
  };
  const Complex both = direction(x) + direction(y);
  const Expr same = IsInf(x.re) & (x.re == y.re);
  Complex z = most + added;
  z = choose(same & (x.re < 0), y, z);
  z = choose(same & (x.re > 0), {x.re, Atan2(both.im, both.re)}, z);
  const Expr nan = IsNan(x) | IsNan(y), number = x.re.Number(std::nan(""));
  return choose(nan, {number, number}, z).To(a.dtype());
}

Complex Sigmoid(const Complex& z) {
  const Complex e = Exp(-z);
  return Reciprocal({e.re + 1, e.im});
}

// exp(w log z). Of z = 0: 1 where w is 0, 0 where its real part is above 0, else no number.
Complex Pow(const Complex& z, const Complex& w) {
  const DType wide = DType::kFloat64;
  const Expr zero = (z.re == 0) & (z.im == 0);
  const Complex safe{Where(zero, 1, z.re), z.im};
  const Complex log{LogAbs(safe.To(wide)), Angle(safe).To(wide)};
  const Complex power = Exp((w.To(wide) * log).To(z.dtype()));
  const Expr one = (w.re == 0) & (w.im == 0);
  const Expr nan = w.re.Number(std::nan("")), none = w.re.Number(0);
  const Expr of_zero = Where(one, 1, Where(w.re > 0, none, Where(w.re < 0, kInf, nan)));
  const Expr im_of_zero = Where(one | (w.re > 0), none, nan);
  return {Where(zero, of_zero, power.re), Where(zero, im_of_zero, power.im)};
}

Complex Pow(const Complex& z, std::complex<double> exponent) {
  constexpr int kLimit = 4;
  const double n = exponent.real();
  if (exponent.imag() == 0 && std::abs(n) == 0.5) {
    const Complex root = Sqrt(z);
    return n > 0 ? root : Reciprocal(root);
  }
  if (exponent.imag() == 0 && n == std::floor(n) && n != 0 && std::abs(n) <= kLimit) {
    Complex power = z;
    for (int k = 1; k < std::abs(n); ++k) power = power * z;
    if (n > 0) return power;
    const Expr one = z.re.Number(1), zero = z.re.Number(0);
    return Complex{one, zero} / power;
  }
  return Pow(z, Complex{z.re.Number(exponent.real()), z.re.Number(exponent.imag())});
}

Expr IsNan(const Complex& z) { return IsNan(z.re) | IsNan(z.im); }
Expr IsInf(const Complex& z) { return IsInf(z.re) | IsInf(z.im); }

}  // namespace x2ir
