// Finds operators of LiteRT that are several nodes of the IR; and removes the nodes that are no
// longer needed after the IR's operands have been written as TFLite's.
#ifndef X2IR_HANDLERS_TFLITE_FUSE_H_
#define X2IR_HANDLERS_TFLITE_FUSE_H_

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// A node and those that only it uses become one operator that gives the same: RSQRT,
// SQUARED_DIFFERENCE, PACK, UNPACK, int32 indices without a cast, one TRANSPOSE or
// none for two. False: none of these. Nodes before and after it may be erased.
bool FuseLite(Graph& graph, Node* node);

// Users of a RESHAPE that equals an earlier one use the earlier one. LiteRT lets
// reshapes share the memory of their operand, but does not see that several of them do: an
// operator that works in place then changes the others.
bool ShareReshape(Graph& graph, Node* node, const absl::flat_hash_set<const Node*>& before);

// Erases nodes whose results have no uses, except nodes that do more than compute.
void EraseDeadNodes(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_FUSE_H_
