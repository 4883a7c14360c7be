// dead_code: removes what is not used.
//  1. A node without used outputs is removed, and then the values that only it used (one sweep from
//     the end of the graph does both). Nested graphs are swept first, since they use outer
//     values.
//  2. An unused constant is removed.
//  3. An unused output that the op may leave out is left out.
// Inputs and outputs of the graph stay, used or not.
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

int64_t Sweep(Graph& graph) {
  int64_t changes = 0;
  Lookahead ahead(graph, Lookahead::kBackward);
  for (Node* node = graph.last(); node;) {
    ahead.Step();
    Node* previous = node->prev();
    bool used = node->num_outputs() == 0;  // a node for its effect alone
    for (const Value* output : node->outputs()) used |= output && !output->is_unused();
    if (!used) {
      graph.EraseUnused(node);
      ++changes;
      node = previous;
      continue;
    }
    if (node->has_subgraphs()) {
      for (Graph* inner : node->subgraphs()) changes += Sweep(*inner);
    }
    // The only output of a node that is used is used.
    const OpDef* def = node->is_ir() && node->num_outputs() > 1 ? FindOp(node->op()) : nullptr;
    for (size_t i = 0; def && i < node->num_outputs(); ++i) {
      const OperandDef* output = def->OutputDef(i);
      if (output && output->arity == Arity::kOptional && node->output(i) &&
          node->output(i)->is_unused()) {
        graph.RemoveUnusedOutput(node, i);
        ++changes;
      }
    }
    node = previous;
  }
  for (Value* constant : graph.constants()) {
    if (constant->is_unused()) {
      graph.RemoveConstant(constant);
      ++changes;
    }
  }
  return changes;
}

absl::StatusOr<int64_t> DeadCode(Graph& graph, const PassContext&) { return Sweep(graph); }

X2IR_PASS(dead_code, "Removes unused nodes and constants.", DeadCode);

}  // namespace
}  // namespace x2ir
