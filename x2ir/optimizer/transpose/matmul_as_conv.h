// A matmul by constant weights whose columns are moved to the place of a conv's channels: it
// becomes a conv of kernel 1, which gives its results in that order. (How the axes of matmul move
// while it stays one is in its own rule, ops/matmul.cc.)
#ifndef X2IR_OPTIMIZER_TRANSPOSE_MATMUL_AS_CONV_H_
#define X2IR_OPTIMIZER_TRANSPOSE_MATMUL_AS_CONV_H_

#include <optional>

#include "x2ir/ops/axes.h"

namespace X2IR_API x2ir {

// As AxisRule::spread (ops/traits.h), of an IR matmul.
std::optional<Flip> MatMulAsConv(const Node& matmul, Slot slot, const Perm& p);
// Whether the flipped node is a matmul that becomes a conv.
bool BecomesConv(const Node& node, const Flip& flip);
// As AxisRule::change, of such a node.
void BecomeConv(Node& node, const Flip& flip, Builder& b);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_MATMUL_AS_CONV_H_
