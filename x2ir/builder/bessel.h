// Bessel's functions and Airy's as graphs of elementary ones, in float64.
#ifndef X2IR_BUILDER_BESSEL_H_
#define X2IR_BUILDER_BESSEL_H_

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// Operands and results are float64; what lies outside of a function's domain is NaN.
Expr BesselJ0(const Expr& x);
Expr BesselJ1(const Expr& x);
Expr BesselY0(const Expr& x);  // -inf at 0
Expr BesselY1(const Expr& x);
Expr BesselI0(const Expr& x);
Expr BesselI1(const Expr& x);
Expr BesselI0e(const Expr& x);  // times exp(-|x|)
Expr BesselI1e(const Expr& x);
Expr BesselK0(const Expr& x);  // inf at 0
Expr BesselK1(const Expr& x);
Expr BesselK0e(const Expr& x);  // times exp(x)
Expr BesselK1e(const Expr& x);
Expr AiryAi(const Expr& x);

}  // namespace x2ir

#endif  // X2IR_BUILDER_BESSEL_H_
