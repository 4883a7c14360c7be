// Foldings that a transpose prevents: of an add of constants into the convolution before it, and of
// a pad into the convolution or pool after it.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_FOLDS_H_
#define X2IR_OPTIMIZER_TRANSPOSE_FOLDS_H_

#include "x2ir/optimizer/transpose/flips.h"
#include "x2ir/optimizer/transpose/transpose_set.h"

namespace X2IR_API x2ir {

// How the number of nodes that remain after folding changes when the node is flipped: -1 if a
// transpose is now between the two nodes and then is not, 1 where it is the other way round, else
// 0.
int NodesLeftBy(const Node& node, const Flip& flip, const TransposeSet& transposes);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_FOLDS_H_
