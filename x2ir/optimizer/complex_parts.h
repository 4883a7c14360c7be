// Complex numbers as real ones: no target computes with complex tensors. A complex value of a graph
// becomes two real ones of its shape, its real and its imaginary parts; ops that only move or add
// elements are applied to each part, the others become formulas (builder/complex.h). For complex
// inputs and outputs of a model the parts are side by side, as a last axis of 2 (docs/adr/0021).
#ifndef X2IR_OPTIMIZER_COMPLEX_PARTS_H_
#define X2IR_OPTIMIZER_COMPLEX_PARTS_H_

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Whether nodes of that IR op may take or give complex tensors.
bool TakesComplexNumbers(Symbol ir_op);

// Rewrites a sorted IR graph that composes or decomposes complex numbers, so that none of its
// values is complex. Other graphs do not change, nor do those whose own inputs or outputs are
// complex. Unimplemented, with the node's name, for ops without a formula.
absl::Status SplitComplexNumbers(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_COMPLEX_PARTS_H_
