// Activations that other operators have inside.
#ifndef X2IR_HANDLERS_PADDLE_ACTIVATION_H_
#define X2IR_HANDLERS_PADDLE_ACTIVATION_H_

#include "x2ir/handlers/paddle/paddle.h"

namespace X2IR_API x2ir {

// x through the activation of that name; "": none. Fails for others.
Expr Activated(PaddleArgs& a, const Expr& x, std::string_view name, double alpha = 0,
               double beta = 0);
// The same by the attributes fuse_activation, fuse_alpha, fuse_beta and fuse_relu.
Expr FusedActivation(PaddleArgs& a, const Expr& x);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_PADDLE_ACTIVATION_H_
