// Ops of TensorFlow in place of several that are written: Pack, Unpack, Rsqrt, SquaredDifference,
// IsFinite and TensorScatterSub, matrix products that turn their operands, slices of one element
// without its axis, transposes that cancel each other and those of what is computed of constants.
#ifndef X2IR_HANDLERS_TF_FUSE_H_
#define X2IR_HANDLERS_TF_FUSE_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// In graphs whose nodes are TensorFlow's, nested ones too. `check`: what the target does not allow
// of a node; a node with problems is not made.
void FuseTfOps(Graph& graph, std::vector<std::string> (*check)(const Node&));

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_FUSE_H_
