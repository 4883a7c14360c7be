// The inferred knowledge about values, and new inference of nodes after more became known: a
// constant that replaces a computed shape gives sizes further down, in nested graphs too.
#ifndef X2IR_OPTIMIZER_KNOWLEDGE_H_
#define X2IR_OPTIMIZER_KNOWLEDGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Type and elements, to compare them before and after.
struct Knowledge {
  Type type;
  std::optional<std::vector<Dim>> elements;
  friend bool operator==(const Knowledge& a, const Knowledge& b) {
    return a.type == b.type && a.elements == b.elements;
  }
};
Knowledge KnowledgeOf(const Value* value);  // null: nothing

// Whether new inference may add to the knowledge about an output of the node: a size or an element
// is not a number yet. Always true for sequences and for nodes with graphs.
bool MayKnowMore(const Node& node);

// Infers the node again; returns whether more is known about one of its outputs, or a value in one
// of its graphs. Outputs whose types changed are added to `changed`. A node that cannot be inferred
// does not change.
bool InferAgain(Node& node, std::vector<const Value*>* changed = nullptr);

// Infers every node again of which more may be known, in the order of the graph (which must be
// sorted), nested graphs included; whether more is known.
bool InferWhatIsUnknown(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_KNOWLEDGE_H_
