#include "x2ir/handlers/stablehlo/complex.h"

#include <limits>
#include <numbers>

#include "x2ir/handlers/stablehlo/elementwise.h"

namespace x2ir {
namespace {

using std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity();

// Beyond it only the first term of a function is left.
constexpr double kFar = 1e100;

using ComplexFormula = Complex (*)(const Complex&);

Complex Choose(const Expr& test, const Complex& x, const Complex& y) {
  return {Where(test, x.re, y.re), Where(test, x.im, y.im)};
}

Complex WithLimit(const Complex& z, ComplexFormula near, ComplexFormula far) {
  const Complex w = z.To(DType::kFloat64);
  const Expr is_far = Max(Abs(w.re), Abs(w.im)) > kFar;
  const Complex inside{Where(is_far, 1, w.re), Where(is_far, 1, w.im)};
  return Choose(is_far, far(w), near(inside)).To(z.dtype());
}

// log |z|, of numbers whose size overflows too.
Expr LogOfSize(const Complex& z) {
  return Log(Hypot(z.re * 0.25, z.im * 0.25)) + 2 * std::numbers::ln2;
}
Expr LogOfTwice(const Complex& z) { return LogOfSize(z) + std::numbers::ln2; }

Complex FarAcosh(const Complex& z) { return {LogOfTwice(z), Atan2(z.im, z.re)}; }
Complex FarAsinh(const Complex& z) {
  return {WithSignOf(LogOfTwice(z), z.re), Atan2(z.im, Abs(z.re))};
}
Complex FarAsin(const Complex& z) {
  return {Atan2(z.re, Abs(z.im)), WithSignOf(LogOfTwice(z), z.im)};
}
Complex FarAcos(const Complex& z) {
  return {Atan2(Abs(z.im), z.re), WithSignOf(-LogOfTwice(z), z.im)};
}
// 1 / z, and a right angle.
Complex FarAtanh(const Complex& z) {
  const Expr size = Max(Abs(z.re), Abs(z.im)), infinite = size == kInf;
  const Expr safe = Where(infinite, 1, size);
  const Expr x = z.re / safe, y = z.im / safe;
  const Expr re = Where(infinite, 0, Abs(x) / (x * x + y * y) / safe);
  return {WithSignOf(re, z.re), WithSignOf(Where(infinite, pi / 2, re * 0 + pi / 2), z.im)};
}
Complex FarLog(const Complex& z) { return {LogOfSize(z), Atan2(z.im, z.re)}; }

}  // namespace

Complex PartsOfNumber(const Expr& z) { return {z.Op("real"), z.Op("imag")}; }
Expr NumberOfParts(const Complex& z) { return z.re.Op("complex", {z.im}); }

Complex AcosOf(const Complex& z) { return WithLimit(z, Acos, FarAcos); }
Complex AcoshOf(const Complex& z) { return WithLimit(z, Acosh, FarAcosh); }
Complex AsinOf(const Complex& z) { return WithLimit(z, Asin, FarAsin); }
Complex AsinhOf(const Complex& z) { return WithLimit(z, Asinh, FarAsinh); }
Complex AtanhOf(const Complex& z) { return WithLimit(z, Atanh, FarAtanh); }
Complex AtanOf(const Complex& z) {
  const Complex w = AtanhOf({-z.im, z.re});
  return {w.im, -w.re};
}
Complex Log1pOf(const Complex& z) { return WithLimit(z, Log1p, FarLog); }

// No squares of parts, which overflow before the number does.
Complex SquareOf(const Complex& z) {
  const Expr zero = (Abs(z.re) == Abs(z.im)) & (Abs(z.re) < kInf);
  return {Where(zero, 0, (z.re - z.im) * (z.re + z.im)), 2 * (z.re * z.im)};
}

Complex SignOf(const Complex& z) {
  const Complex sign = InDoubleParts<Sign>(z);
  const Expr number = z.re.Number(std::numeric_limits<double>::quiet_NaN());
  return Choose(IsNan(z), {number, number}, sign);
}
Complex CubeRootOf(const Complex& z) {
  const Complex w = z.To(DType::kFloat64);
  return Polar(Pow(Abs(w), 1.0 / 3), Angle(w) / 3).To(z.dtype());
}
Complex Atan2Of(const Complex& y0, const Complex& x0) {
  const Complex y = y0.To(DType::kFloat64), x = x0.To(DType::kFloat64);
  const Complex turned{x.re - y.im, x.im + y.re};  // x + iy
  const Complex log = Log(turned / Sqrt(x * x + y * y));
  return Complex{log.im, -log.re}.To(y0.dtype());
}

}  // namespace x2ir
