// Orthogonal polynomials of any degree, which may differ by element: their recurrences, a round a
// degree, of which each element takes its own.
#include <limits>

#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/special.h"

namespace x2ir {
namespace {

// p(k + 1) = next(k, x, p(k), p(k - 1)), p(0) = 1, and p(1) = slope x + shift.
struct Family {
  std::string_view op;
  double slope, shift;
  Expr (*next)(const Expr& k, const Expr& x, const Expr& p, const Expr& before);
  bool shifted = false;  // of 2 x - 1
  bool limited = false;  // PyTorch gives NaN for degrees that float32 and float64 cannot hold
};

Expr Chebyshev(const Expr& /*k*/, const Expr& x, const Expr& p, const Expr& before) {
  return 2 * x * p - before;
}
Expr HermiteH(const Expr& k, const Expr& x, const Expr& p, const Expr& before) {
  return 2 * (x * p - k * before);
}
Expr HermiteHe(const Expr& k, const Expr& x, const Expr& p, const Expr& before) {
  return x * p - k * before;
}
Expr Laguerre(const Expr& k, const Expr& x, const Expr& p, const Expr& before) {
  return ((2 * k + 1 - x) * p - k * before) / (k + 1);
}
Expr Legendre(const Expr& k, const Expr& x, const Expr& p, const Expr& before) {
  return ((2 * k + 1) * x * p - k * before) / (k + 1);
}

constexpr Family kFamilies[] = {
    {"chebyshev_polynomial_t", 1, 0, Chebyshev},
    {"chebyshev_polynomial_u", 2, 0, Chebyshev},
    {"chebyshev_polynomial_v", 2, -1, Chebyshev},
    {"chebyshev_polynomial_w", 2, 1, Chebyshev},
    {"shifted_chebyshev_polynomial_t", 1, 0, Chebyshev, true},
    {"shifted_chebyshev_polynomial_u", 2, 0, Chebyshev, true},
    {"shifted_chebyshev_polynomial_v", 2, -1, Chebyshev, true},
    {"shifted_chebyshev_polynomial_w", 2, 1, Chebyshev, true},
    {"hermite_polynomial_h", 2, 0, HermiteH, false, true},
    {"hermite_polynomial_he", 1, 0, HermiteHe, false, true},
    {"laguerre_polynomial_l", -1, 1, Laguerre},
    {"legendre_polynomial_p", 1, 0, Legendre},
};

Values Evaluated(TorchCall& c, const Family& family) {
  constexpr DType kDouble = DType::kFloat64;
  const DType t = c.out_dtype();
  Expr x = c.Operand("x", kDouble);
  if (family.shifted) x = 2 * x - 1;
  // Degrees are cut to integers; those past any float's reach are not counted up to.
  const Expr degree = c.Operand("n", kDouble);
  const Expr n = Min(Max(degree, -1), 1e6).To(DType::kInt64);
  const Expr flat = n.Op("reshape", {Ints(c, {-1})}, {{"allowzero", 0}});
  const Expr most =
      flat.Op("concat", {Ints(c, {0})}, {{"axis", 0}}).Op("reduce_max", {}, {{"keepdims", 0}});
  const Expr shape = ShapeOf((n == 0) | (x == 0));
  const auto filled = [&](double value) { return Expand(x.Number(value), shape); };
  const Expr first = Expand(family.slope * x + family.shift, shape);
  const std::vector<Expr> done =
      Rounds(most, {Where(n == 0, x.Number(1), filled(0)), filled(1), first},
             [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
               const Expr k = i + 1;
               const Expr next = family.next(k.To(kDouble), x, s[2], s[1]);
               return {Where(n == k, s[2], s[0]), s[2], next};
             });
  Expr y = done[0];
  if (family.limited) {
    const double limit = t == kDouble ? 512 : 128;
    y = Where(degree >= limit + 1, std::numeric_limits<double>::quiet_NaN(), y);
  }
  return {y.To(t)};
}

[[maybe_unused]] const bool kPolynomialRows = [] {
  for (const Family& family : kFamilies) {
    for (const std::string_view overload : {"default", "n_scalar", "x_scalar"}) {
      TorchSpec("loop").From(StrCat("aten::special_", family.op, ".", overload),
                             [&family](TorchCall& c) { return Evaluated(c, family); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace x2ir
