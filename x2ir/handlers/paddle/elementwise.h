// Functions of two operands that others have inside.
#ifndef X2IR_HANDLERS_PADDLE_ELEMENTWISE_H_
#define X2IR_HANDLERS_PADDLE_ELEMENTWISE_H_

#include "x2ir/handlers/paddle/paddle.h"

namespace X2IR_API x2ir {

// y with axes of size 1 after its own, so that its first axis is axis `axis` of x; -1: the last
// axes of both are aligned.
Expr AlignedAt(PaddleArgs& a, const Expr& x, const Expr& y, int64_t axis);

// Two operands of one type, aligned as the attribute `axis` says.
struct Pair {
  Expr x, y;
};
Pair Operands(PaddleArgs& a, std::string_view first, std::string_view second);

Expr FloorDivided(const Expr& x, const Expr& y);    // towards minus infinity
Expr FloorRemainder(const Expr& x, const Expr& y);  // with the sign of y

}  // namespace x2ir

#endif  // X2IR_HANDLERS_PADDLE_ELEMENTWISE_H_
