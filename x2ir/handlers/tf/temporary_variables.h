// ScatterDiv and others change a variable. TensorFlow has no such operator for tensors, or one that
// needs more nodes around it.
#ifndef X2IR_HANDLERS_TF_TEMPORARY_VARIABLES_H_
#define X2IR_HANDLERS_TF_TEMPORARY_VARIABLES_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Whether the node is such an operator that can stay: its first operand is a tensor of a known
// shape, which a variable can hold.
bool MayChangeTemporaryVariable(const Node& node);

// Those that stayed get their first operand in a variable that only this step of the session has:
// TemporaryVariable and Assign. A frozen graph has a constant and Assign there, which TensorFlow
// refuses: Assign takes a reference.
void UseTemporaryVariables(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_TEMPORARY_VARIABLES_H_
