// Special functions that others are made of, in float64.
#ifndef X2IR_HANDLERS_TORCH_SPECIAL_H_
#define X2IR_HANDLERS_TORCH_SPECIAL_H_

#include "x2ir/handlers/torch/calc.h"
#include "x2ir/ops/expression.h"

namespace X2IR_API x2ir {

// Formulas that other dialects have too.
template <Expr (*kFunction)(const Expr&)>
Num Of(const Num& x) {
  return x.m().Of(kFunction(Expr(x.m().b(), x.v())).value());
}
template <Expr (*kFunction)(const Expr&, const Expr&)>
Num Of(const Num& x, const Num& y) {
  Builder& b = x.m().b();
  return x.m().Of(kFunction(Expr(b, x.v()), Expr(b, y.v())).value());
}

Num LogGamma(const Num& x);
Num Digamma(const Num& x);
Num XLogY(const Num& x, const Num& y);  // 0 where x is, unless y is NaN

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_SPECIAL_H_
