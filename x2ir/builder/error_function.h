// The complementary error function, accurate where it is near 0, as a graph of elementary
// functions.
#ifndef X2IR_BUILDER_ERROR_FUNCTION_H_
#define X2IR_BUILDER_ERROR_FUNCTION_H_

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// Operands and results are float64.
Expr Erfcx(const Expr& x);  // exp(x^2) erfc(x)
Expr Erfc(const Expr& x);

}  // namespace x2ir

#endif  // X2IR_BUILDER_ERROR_FUNCTION_H_
