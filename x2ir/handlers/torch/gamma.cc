// The gamma function and its kin: lgamma, digamma, polygamma, Hurwitz zeta, incomplete gamma, with
// the edges that PyTorch gives them.
#include <numbers>

#include "x2ir/builder/special_functions.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/ops/constants.h"

namespace x2ir {

using std::numbers::pi;

namespace {

Expr Psi(const Expr& x) { return Where(x == 0, -1 / x, Digamma(x)); }

// At its poles it is infinite, whatever the power.
Expr HurwitzZeta(const Expr& s, const Expr& q) {
  return Where((s > 1) & (q <= 0) & (Floor(q) == q), kInf, Zeta(s, q));
}

// Its sine is taken of what the result's type makes of pi x, as PyTorch does.
Expr Trigamma(const Expr& x, DType t) {
  const Expr left = x < 0.5;
  const Expr y = HurwitzZeta(x.Number(2), Where(left, 1 - x, x));
  const Expr sine = Sin((x.To(t) * pi)).To(DType::kFloat64);
  return Where(left, pi * pi / (sine * sine) - y, y);
}

Values PolygammaCall(TorchCall& c) {
  const int64_t n = c.Int("n");
  if (n < 0) return c.Fail(Invalid("polygamma of order ", n));
  if (n > 160) return c.Fail(Unimplemented("polygamma of order ", n));
  const DType t = c.out_dtype();
  const Expr x = c.Operand("self", DType::kFloat64);
  if (n == 0) return {Psi(x).To(t)};
  if (n == 1) {
    const DType computed = t == DType::kFloat64 ? t : DType::kFloat32;
    return {Trigamma(x, computed).To(t)};
  }
  const double factor = (n % 2 == 1 ? 1 : -1) * portable::tgamma(static_cast<double>(n + 1));
  return {(factor * HurwitzZeta(x.Number(static_cast<double>(n + 1)), x)).To(t)};
}

Values MvLgamma(TorchCall& c) {
  const int64_t p = c.Int("p");
  if (p < 1 || p > 64) return c.Fail(Unimplemented("mvlgamma of dimension ", p));
  const Expr x = c.Operand("self", DType::kFloat64);
  Expr sum = Lgamma(x);
  for (int64_t j = 1; j < p; ++j) sum = sum + Lgamma(x - 0.5 * static_cast<double>(j));
  const double of_p = 0.25 * static_cast<double>(p * (p - 1)) * portable::log(pi);
  return {(sum + of_p).To(c.out_dtype())};
}

template <bool kLower>
Expr IncompleteGamma(const Expr& a, const Expr& x) {
  constexpr double kNone = kLower ? 0 : 1, kAll = 1 - kNone;
  Expr y = kLower ? Igamma(a, x) : Igammac(a, x);
  y = Where(IsInf(x), Where(IsInf(a), kNaN, y.Number(kAll)), Where(IsInf(a), kNone, y));
  y = Where(x == 0, kNone, y);
  y = Where(a == 0, Where(x > 0, y.Number(kAll), y.Number(kNaN)), y);
  return Where((x < 0) | (a < 0) | IsNan(x) | IsNan(a), kNaN, y);
}

X2IR_TORCH(log)
    .From({"aten::lgamma.default", "aten::special_gammaln.default"}, InDoubles(Lgamma))
    .From({"aten::digamma.default", "aten::special_digamma.default", "aten::special_psi.default"},
          InDoubles(Psi))
    .From({"aten::mvlgamma.default", "aten::special_multigammaln.default"}, MvLgamma);
X2IR_TORCH(pow)
    .From({"aten::special_zeta.default", "aten::special_zeta.other_scalar",
           "aten::special_zeta.self_scalar"},
          InDoubles2(HurwitzZeta))
    .From({"aten::polygamma.default", "aten::special_polygamma.default"}, PolygammaCall);
X2IR_TORCH(loop)
    .From({"aten::igamma.default", "aten::special_gammainc.default"},
          InDoubles2(IncompleteGamma<true>))
    .From({"aten::igammac.default", "aten::special_gammaincc.default"},
          InDoubles2(IncompleteGamma<false>));

}  // namespace
}  // namespace x2ir
