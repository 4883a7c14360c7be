// Quotients and remainders with a floor, as Python's // and %.
#ifndef X2IR_BUILDER_DIVISION_H_
#define X2IR_BUILDER_DIVISION_H_

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// With the sign of x, as C's fmod and %.
Expr TruncatedMod(const Expr& x, const Expr& y);
// With the sign of y.
Expr FloorMod(const Expr& x, const Expr& y);
// Rounded down. Of integers, too; by zero it is what `div` gives.
Expr FloorQuotient(const Expr& x, const Expr& y);

}  // namespace x2ir

#endif  // X2IR_BUILDER_DIVISION_H_
