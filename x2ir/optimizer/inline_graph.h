// Inlining of nested graphs: copies the nodes of one to another place.
#ifndef X2IR_OPTIMIZER_INLINE_GRAPH_H_
#define X2IR_OPTIMIZER_INLINE_GRAPH_H_

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// Appends copies of the nodes and constants of `from`, with `inputs` in place of its inputs;
// returns its outputs. Outer values that it uses stay the same values.
Values InlineGraph(Builder& b, const Graph& from, const Values& inputs);

// The branch that an `if` takes in every run; null where the condition is not known.
const Graph* KnownBranch(const Node& node);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_INLINE_GRAPH_H_
