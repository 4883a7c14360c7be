// Orthogonal polynomials of any degree, which may differ by element: their recurrences, a round a
// degree, of which each element takes its own.
#include <limits>

#include "x2ir/handlers/torch/calc.h"

namespace x2ir {
namespace {

// p(k + 1) = next(k, x, p(k), p(k - 1)), p(0) = 1, and p(1) = slope x + shift.
struct Family {
  std::string_view op;
  double slope, shift;
  Num (*next)(const Num& k, const Num& x, const Num& p, const Num& before);
  bool shifted = false;  // of 2 x - 1
  bool limited = false;  // PyTorch gives NaN for degrees that float32 and float64 cannot hold
};

Num Chebyshev(const Num& /*k*/, const Num& x, const Num& p, const Num& before) {
  return 2 * x * p - before;
}
Num HermiteH(const Num& k, const Num& x, const Num& p, const Num& before) {
  return 2 * (x * p - k * before);
}
Num HermiteHe(const Num& k, const Num& x, const Num& p, const Num& before) {
  return x * p - k * before;
}
Num Laguerre(const Num& k, const Num& x, const Num& p, const Num& before) {
  return ((2 * k + 1 - x) * p - k * before) / (k + 1);
}
Num Legendre(const Num& k, const Num& x, const Num& p, const Num& before) {
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
  Calc m(c);
  constexpr DType kDouble = DType::kFloat64;
  const DType t = c.out_dtype();
  Num x = m.In("x", kDouble);
  if (family.shifted) x = 2 * x - 1;
  // Degrees are cut to integers; those past any float's reach are not counted up to.
  const Num degree = m.In("n", kDouble);
  const Num n = Min(Max(degree, -1), 1e6).As(DType::kInt64);
  const Num flat = n.Op("reshape", {m.Ints({-1})}, {{"allowzero", 0}});
  const Num most =
      flat.Op("concat", {m.Ints({0})}, {{"axis", 0}}).Op("reduce_max", {}, {{"keepdims", 0}});
  const Num shape = ShapeOf((n == 0) | (x == 0));
  const auto filled = [&](double value) { return ExpandTo(x.N(value), shape); };
  const Num first = ExpandTo(family.slope * x + family.shift, shape);
  const std::vector<Num> done =
      m.Rounds(most, {If(n == 0, x.N(1), filled(0)), filled(1), first},
               [&](const Num& i, const std::vector<Num>& s) -> std::vector<Num> {
                 const Num k = i + 1;
                 const Num next = family.next(k.As(kDouble), x, s[2], s[1]);
                 return {If(n == k, s[2], s[0]), s[2], next};
               });
  Num y = done[0];
  if (family.limited) {
    const double limit = t == kDouble ? 512 : 128;
    y = If(degree >= limit + 1, std::numeric_limits<double>::quiet_NaN(), y);
  }
  return {m.Out(y, t)};
}

[[maybe_unused]] const bool kPolynomialRows = [] {
  for (const Family& family : kFamilies) {
    for (const std::string_view overload : {"default", "n_scalar", "x_scalar"}) {
      TorchSpec("loop").Is(StrCat("aten::special_", family.op, ".", overload),
                           [&family](TorchCall& c) { return Evaluated(c, family); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace x2ir
