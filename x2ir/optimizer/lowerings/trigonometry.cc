// Functions of angles by arithmetic, for types in which runtimes do not compute them.
#include <cmath>
#include <numbers>

#include "x2ir/builder/expr.h"
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

}  // namespace
}  // namespace x2ir
