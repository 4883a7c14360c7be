// Operators of LiteRT that are several of the IR, found again; and what is left over when the IR's
// operands have been written as TFLite's.
#ifndef X2IR_HANDLERS_TFLITE_FUSE_H_
#define X2IR_HANDLERS_TFLITE_FUSE_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// A node and those that only it uses become one operator that gives the same: RSQRT,
// SQUARED_DIFFERENCE, PACK, UNPACK, places of int32 where they were cast to it, one TRANSPOSE or
// none of two. False: none of these. Nodes in front of it may go, and nodes behind it.
bool FuseLite(Graph& graph, Node* node);

// Nodes whose results nobody uses go, those that do more than compute left out.
void EraseDeadNodes(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_FUSE_H_
