// The gamma function and its kin: lgamma, digamma, polygamma, Hurwitz zeta, incomplete gamma, with
// the edges that PyTorch gives them.
#include <cmath>
#include <numbers>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/ops/constants.h"
#include "x2ir/ops/special_functions.h"

namespace x2ir {

using std::numbers::pi;

Num LogGamma(const Num& x) { return Of<Lgamma>(x); }

Num Digamma(const Num& x) { return If(x == 0, -1 / x, Of<x2ir::Digamma>(x)); }

namespace {

// At its poles it is infinite, whatever the power.
Num Zeta(const Num& s, const Num& q) {
  return If((s > 1) & (q <= 0) & (Floor(q) == q), kInf, Of<x2ir::Zeta>(s, q));
}

// Its sine is taken of what the result's type makes of pi x, as PyTorch does.
Num Trigamma(const Num& x, DType t) {
  const Num left = x < 0.5;
  const Num y = Zeta(x.N(2), If(left, 1 - x, x));
  const Num sine = Sin((x.As(t) * pi)).As(DType::kFloat64);
  return If(left, pi * pi / (sine * sine) - y, y);
}

Values Polygamma(TorchCall& c) {
  Calc m(c);
  const int64_t n = c.Int("n");
  if (n < 0) return c.Fail(Invalid("polygamma of order ", n));
  if (n > 160) return c.Fail(Unimplemented("polygamma of order ", n));
  const DType t = c.out_dtype();
  const Num x = m.In("self", DType::kFloat64);
  if (n == 0) return {m.Out(Digamma(x), t)};
  if (n == 1) {
    const DType computed = t == DType::kFloat64 ? t : DType::kFloat32;
    return {m.Out(Trigamma(x, computed), t)};
  }
  const double factor = (n % 2 == 1 ? 1 : -1) * std::tgamma(static_cast<double>(n + 1));
  return {m.Out(factor * Zeta(x.N(static_cast<double>(n + 1)), x), t)};
}

Values MvLgamma(TorchCall& c) {
  Calc m(c);
  const int64_t p = c.Int("p");
  if (p < 1 || p > 64) return c.Fail(Unimplemented("mvlgamma of dimension ", p));
  const Num x = m.In("self", DType::kFloat64);
  Num sum = LogGamma(x);
  for (int64_t j = 1; j < p; ++j) sum = sum + LogGamma(x - 0.5 * static_cast<double>(j));
  const double of_p = 0.25 * static_cast<double>(p * (p - 1)) * std::log(pi);
  return {m.Out(sum + of_p, c.out_dtype())};
}

template <bool kLower>
Num IncompleteGamma(const Num& a, const Num& x) {
  constexpr double kNone = kLower ? 0 : 1, kAll = 1 - kNone;
  Num y = kLower ? Of<x2ir::Igamma>(a, x) : Of<x2ir::Igammac>(a, x);
  y = If(IsInf(x), If(IsInf(a), kNaN, y.N(kAll)), If(IsInf(a), kNone, y));
  y = If(x == 0, kNone, y);
  y = If(a == 0, If(x > 0, y.N(kAll), y.N(kNaN)), y);
  return If((x < 0) | (a < 0) | IsNaN(x) | IsNaN(a), kNaN, y);
}

X2IR_TORCH(log).Is({"aten::lgamma.default", "aten::special_gammaln.default"}, InDoubles(LogGamma));
X2IR_TORCH(log).Is({"aten::digamma.default", "aten::special_digamma.default",
                    "aten::special_psi.default"},
                   InDoubles(Digamma));
X2IR_TORCH(pow)
    .Is({"aten::special_zeta.default", "aten::special_zeta.other_scalar",
         "aten::special_zeta.self_scalar"},
        InDoubles2(Zeta))
    .Is({"aten::polygamma.default", "aten::special_polygamma.default"}, Polygamma);
X2IR_TORCH(log).Is({"aten::mvlgamma.default", "aten::special_multigammaln.default"}, MvLgamma);
X2IR_TORCH(loop)
    .Is({"aten::igamma.default", "aten::special_gammainc.default"},
        InDoubles2(IncompleteGamma<true>))
    .Is({"aten::igammac.default", "aten::special_gammaincc.default"},
        InDoubles2(IncompleteGamma<false>));

}  // namespace
}  // namespace x2ir
