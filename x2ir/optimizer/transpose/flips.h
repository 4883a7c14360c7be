// The flips that the pass `transposes` may make: those that the ops' own rules allow (ops/axes.h),
// unless the target has the flipped op between transposes only; and matmuls that become convs.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_FLIPS_H_
#define X2IR_OPTIMIZER_TRANSPOSE_FLIPS_H_

#include <optional>

#include "x2ir/ops/axes.h"
#include "x2ir/optimizer/pass.h"

namespace X2IR_API x2ir {

// The flip of an IR node if that operand or result has order p; nullopt if the op does not support
// this order.
std::optional<Flip> FlipOf(const Node& node, Slot slot, const Perm& p, const PassContext& context);

// Changes the attributes, and those operands that name axes, of a node that will be flipped.
void ChangeFlipped(Node& node, const Flip& flip);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_FLIPS_H_
