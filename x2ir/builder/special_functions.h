// Special functions as graphs of elementary ones, for handlers of dialects that have them as ops.
// They compute in float64 and give the type of their operand; what lies outside of a
// function's domain is NaN.
#ifndef X2IR_BUILDER_SPECIAL_FUNCTIONS_H_
#define X2IR_BUILDER_SPECIAL_FUNCTIONS_H_

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

Expr Lgamma(const Expr& x);   // log |gamma(x)|
Expr Digamma(const Expr& x);  // its derivative; NaN at 0 and negative integers
Expr Ndtri(const Expr& p);    // where the normal distribution reaches p
Expr Erfinv(const Expr& x);   // the inverse of erf
// Operands broadcast.
Expr Zeta(const Expr& s, const Expr& q);           // sum of 1 / (q + k)^s
Expr Polygamma(const Expr& n, const Expr& x);      // the n-th derivative of digamma
Expr Igamma(const Expr& a, const Expr& x);         // lower incomplete gamma function over gamma
Expr Igammac(const Expr& a, const Expr& x);        // 1 minus it
Expr IgammaInverse(const Expr& a, const Expr& p);  // where Igamma(a, x) is p; both float64
Expr Betainc(const Expr& a, const Expr& b, const Expr& x);

}  // namespace x2ir

#endif  // X2IR_BUILDER_SPECIAL_FUNCTIONS_H_
