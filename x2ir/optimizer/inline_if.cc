// inline_if: puts the branch that an `if` always takes in its place.
//  1. The condition is a constant, or shape arithmetic that inference resolved.
//  2. Copies of the branch's nodes stand where the `if` stood; outputs of the graph keep their
//     names.
#include <string>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/optimizer/inline_graph.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

void InlineInPlace(Graph& graph, Node* node, const Graph& branch) {
  Builder b(graph, node);
  std::string hint;
  for (const Value* output : node->outputs()) {
    if (output && hint.empty()) hint = output->name();
  }
  b.set_name_hint(hint);
  const Values results = InlineGraph(b, branch, {});
  for (Node* made : b.made()) graph.NameValues(made, StrCat(hint, "_", made->op().str()));
  for (size_t i = 0; i < node->num_outputs(); ++i) {
    if (node->output(i)) graph.ReplaceAllUsesKeepingOutputNames(node->output(i), results[i]);
  }
  graph.EraseUnused(node);
}

absl::StatusOr<int64_t> InlineIfs(Graph& graph, const PassContext& context) {
  int64_t changes = 0;
  for (Node* node : graph.nodes()) {
    if (const Graph* branch = node->Is("if") ? KnownBranch(*node) : nullptr) {
      InlineInPlace(graph, node, *branch);
      ++changes;
      continue;
    }
    for (Graph* inner : node->subgraphs()) {
      X2IR_ASSIGN_OR_RETURN(const int64_t made, InlineIfs(*inner, context));
      changes += made;
    }
  }
  return changes;
}

X2IR_PASS(inline_if, "Puts the branch that an if always takes in its place.", InlineIfs);

}  // namespace
}  // namespace x2ir
