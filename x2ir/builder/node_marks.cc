// See node_marks.h.
#include "x2ir/builder/node_marks.h"

#include <algorithm>
#include <string>

namespace x2ir {
namespace {

std::string KeyOf(NodeMark mark) {
  switch (mark) {
    case NodeMark::kFromTheFront: return "x2ir.from_the_front";
    case NodeMark::kOwnCondition: return "x2ir.own_condition";
    case NodeMark::kScalarCondition: return "x2ir.scalar_condition";
  }
  return "";
}

}  // namespace

void MarkNode(Node& node, NodeMark mark, bool marked) {
  if (!marked) {
    if (IsMarked(node, mark)) node.annotations().GetOrMake().extra.erase(KeyOf(mark));
    return;
  }
  node.annotations().GetOrMake().extra.emplace(KeyOf(mark), std::string(1, '1'));
}

void MarkNodes(Graph& graph, Symbol dialect, absl::Span<const std::string_view> ops,
               NodeMark mark) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) MarkNodes(*inner, dialect, ops, mark);
    if (node->dialect() != dialect) continue;
    if (std::find(ops.begin(), ops.end(), node->op().view()) != ops.end()) MarkNode(*node, mark);
  }
}

bool IsMarked(const Node& node, NodeMark mark) {
  const Annotations* notes = node.annotations().get();
  return notes && notes->extra.contains(KeyOf(mark));
}

}  // namespace x2ir
