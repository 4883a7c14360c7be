// Integrals without a closed form as graphs of elementary functions, in float64.
#ifndef X2IR_BUILDER_INTEGRALS_H_
#define X2IR_BUILDER_INTEGRALS_H_

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// Operands and results are float64; what lies outside of a function's domain is NaN.
Expr Dawson(const Expr& x);               // exp(-x^2) times the integral of exp(t^2) from 0 to x
Expr ExponentialIntegral(const Expr& x);  // of exp(t) / t up to x, for x > 0
Expr FresnelCos(const Expr& x);           // of cos(pi t^2 / 2) from 0 to x
Expr FresnelSin(const Expr& x);           // of sin(pi t^2 / 2) from 0 to x
Expr Spence(const Expr& x);               // of log(t) / (1 - t) from 1 to x, for x >= 0

}  // namespace x2ir

#endif  // X2IR_BUILDER_INTEGRALS_H_
