// Where a transpose keeps a node from the neighbour that would take it up: a bias from its
// convolution, a pad from its window.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_FOLDS_H_
#define X2IR_OPTIMIZER_TRANSPOSE_FOLDS_H_

#include "x2ir/optimizer/transpose/flips.h"
#include "x2ir/optimizer/transpose/transpose_set.h"

namespace X2IR_API x2ir {

// How many nodes more are left, once other passes have folded what they can, when the node is
// flipped: -1 where a transpose stands between the two now and will not then, 1 the other way
// round, else 0.
int NodesLeftBy(const Node& node, const Flip& flip, const TransposeSet& transposes);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_FOLDS_H_
