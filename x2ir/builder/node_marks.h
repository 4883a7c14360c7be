// What is known of a node that its op of the IR does not say: mostly what the framework guarantees
// that it comes from. A mark is an annotation: it survives rewriting, and nodes that replace the
// node have it, too.
#ifndef X2IR_BUILDER_NODE_MARKS_H_
#define X2IR_BUILDER_NODE_MARKS_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

enum class NodeMark : uint8_t {
  kFromTheFront,     // negative indices, which count from the end in the IR, are errors
  kOwnCondition,     // a loop's condition is one of what its rounds carry (core/loop_as_while.h)
  kScalarCondition,  // the condition of a branch or loop is of rank 0, whatever is known of its
                     // type
};

// `ops` of a dialect, in nested graphs too.
void MarkNodes(Graph& graph, Symbol dialect, absl::Span<const std::string_view> ops, NodeMark mark);
void MarkNode(Node& node, NodeMark mark, bool marked = true);
bool IsMarked(const Node& node, NodeMark mark);

}  // namespace x2ir

#endif  // X2IR_BUILDER_NODE_MARKS_H_
