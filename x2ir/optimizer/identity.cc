// identity: removes `identity` nodes.
//  1. Uses of the result become uses of the operand.
//  2. A result that is an output of the graph hands its name to the operand where the
//     operand is a node's output in the same graph and no output itself; else the node stays.
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

absl::StatusOr<int64_t> RemoveIdentities(Graph& graph) {
  int64_t changes = 0;
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) {
      X2IR_ASSIGN_OR_RETURN(const int64_t made, RemoveIdentities(*inner));
      changes += made;
    }
    if (!node->Is("identity")) continue;
    Value* from = node->output(0);
    Value* to = node->input(0);
    if (from->is_graph_output() &&
        (!to->producer() || to->graph() != &graph || to->is_graph_output())) {
      continue;
    }
    graph.ReplaceAllUsesKeepingOutputNames(from, to);
    graph.EraseUnused(node);
    ++changes;
  }
  return changes;
}

X2IR_PASS(identity, "Removes identity nodes.", RemoveIdentities);

}  // namespace
}  // namespace x2ir
