// Operators of TFLite that are several nodes of the IR, and are written back as the one that they
// were. Import leaves a note of each; before IR is written to TFLite, each note is read again as a
// model of its own. Where that gives exactly the nodes in the graph, the operator replaces
// them. Nodes that were changed meanwhile stay as they are.
#ifndef X2IR_HANDLERS_TFLITE_RECALL_H_
#define X2IR_HANDLERS_TFLITE_RECALL_H_

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Of a graph of dialect "tflite": the notes.
void RememberOperators(Graph& graph);
// Of a graph of IR: the operators. No note is left.
absl::Status RestoreOperators(Graph& graph);
// Whether a node of TFLite is as it was read: its kernel takes its scales.
bool IsRecalled(const Node& node);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_RECALL_H_
