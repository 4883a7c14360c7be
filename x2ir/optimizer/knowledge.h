// What inference knows of values, and inferring nodes again when something around them became
// known: a constant in the place of a computed shape tells sizes further down, of nested graphs
// too.
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

// Whether inference may find out more of an output of the node than what it knows: a size or an
// element that is no number. Of a sequence, and of a node with graphs, always.
bool MayKnowMore(const Node& node);

// Infers the node again; whether that says more of one of its outputs, or of a value in one of its
// graphs. The outputs of which it says something else are added to `changed`. A node that cannot be
// inferred stays as it is.
bool InferAgain(Node& node, std::vector<const Value*>* changed = nullptr);

// Infers every node again of which more may be known, in the order of the graph (which must be
// sorted), nested graphs included; whether more is known.
bool InferWhatIsUnknown(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_KNOWLEDGE_H_
