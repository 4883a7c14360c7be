// Functions of each element that symbols of MXNet and NNVM have in common.
#ifndef X2IR_HANDLERS_NNVM_ELEMENTWISE_H_
#define X2IR_HANDLERS_NNVM_ELEMENTWISE_H_

#include <functional>

#include "x2ir/handlers/nnvm/symbol.h"

namespace X2IR_API x2ir {

using UnaryFn = Expr (*)(const Expr&);
using BinaryFn = Expr (*)(const Expr&, const Expr&);

// Forms of a function of one operand; of two; of one and the attribute "scalar" (reversed: the
// scalar comes first). A result of bools becomes numbers of the operand's type.
std::function<Value*(SymbolArgs&)> Unary(UnaryFn fn);
std::function<Value*(SymbolArgs&)> Binary(BinaryFn fn);
std::function<Value*(SymbolArgs&)> WithScalar(BinaryFn fn, bool reversed = false);

namespace symbol {

Expr Plus(const Expr& a, const Expr& b);
Expr Minus(const Expr& a, const Expr& b);
Expr Times(const Expr& a, const Expr& b);
Expr Divide(const Expr& a, const Expr& b);
Expr FloorMod(const Expr& a, const Expr& b);  // with the sign of b; 0 where b is
Expr Power(const Expr& a, const Expr& b);
Expr Maximum(const Expr& a, const Expr& b);
Expr Minimum(const Expr& a, const Expr& b);
Expr Hypot(const Expr& a, const Expr& b);
Expr Equal(const Expr& a, const Expr& b);
Expr NotEqual(const Expr& a, const Expr& b);
Expr Greater(const Expr& a, const Expr& b);
Expr GreaterEqual(const Expr& a, const Expr& b);
Expr Less(const Expr& a, const Expr& b);
Expr LessEqual(const Expr& a, const Expr& b);
Expr LogicalAnd(const Expr& a, const Expr& b);
Expr LogicalOr(const Expr& a, const Expr& b);
Expr LogicalXor(const Expr& a, const Expr& b);

Expr RoundAway(const Expr& x);  // halves away from zero
Expr Trunc(const Expr& x);
Expr Cbrt(const Expr& x);
Expr Gamma(const Expr& x);
Expr LogicalNot(const Expr& x);

}  // namespace symbol

// The sum of all operands.
Value* AddAll(SymbolArgs& a);
Value* SameValue(SymbolArgs& a);  // operand 0 as it is

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNVM_ELEMENTWISE_H_
