#include "x2ir/builder/error_function.h"

#include <cmath>
#include <numbers>

#include "x2ir/builder/series.h"

namespace x2ir {
namespace {

// For x >= 0: 2 / sqrt(pi) times the integral of exp(-t^2 - 2 x t) over t > 0; with t = u / (1 + x)
// nothing is left of it from u = 19 on, whatever x is.
Expr ErfcxRight(const Expr& x) {
  constexpr double kEnd = 19;
  constexpr int kNodes = 48;
  const Expr scale = 1.0 / (1.0 + x);
  const Expr t = Spread(scale, GaussNodes(kNodes)) * kEnd;
  const Expr y = Exp(-(t * (t + 2.0 * Beside(x))));
  return Weigh(y, GaussWeights(kNodes)) * scale * (kEnd * 2 / std::sqrt(std::numbers::pi));
}

}  // namespace

Expr Erfcx(const Expr& x) {
  constexpr double kFarRight = 1e15;  // 1 / (x sqrt(pi)) has every digit
  const Expr size = Abs(x);
  const Expr y = Where(size < kFarRight, ErfcxRight(Min(size, kFarRight)),
                       1.0 / (size * std::sqrt(std::numbers::pi)));
  return Where(x < 0.0, 2.0 * Exp(x * x) - y, y);
}

Expr Erfc(const Expr& x) {
  const Expr y = Exp(-(x * x)) * Erfcx(Abs(x));
  return Where(x < 0.0, 2.0 - y, y);
}

}  // namespace x2ir
