// Special functions as graphs of elementary ones, for handlers of dialects that have them as ops.
// All but Log1p compute in float64 and give the type of their operand; what lies outside of a
// function's domain is NaN.
#ifndef X2IR_OPS_SPECIAL_FUNCTIONS_H_
#define X2IR_OPS_SPECIAL_FUNCTIONS_H_

#include <functional>
#include <vector>

#include "x2ir/ops/expression.h"

namespace X2IR_API x2ir {

Expr Log1p(const Expr& x);    // log(1 + x) with every digit near 0
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

// Takes `step` as often as it says that there is more to do, `limit` times at most. A step sees
// the number of the round (int64) and the state, whose types stay as they are.
struct Stepped {
  std::vector<Expr> state;
  Expr more;  // bool of any shape: whether any is true
};
using Step = std::function<Stepped(const Expr& round, const std::vector<Expr>& state)>;
std::vector<Expr> Iterate(Builder& b, Value* limit, const std::vector<Expr>& state,
                          const Step& step);

}  // namespace x2ir

#endif  // X2IR_OPS_SPECIAL_FUNCTIONS_H_
