// Putting what a rewrite made in the place of the node that it stands for.
#ifndef X2IR_OPS_SPLICE_H_
#define X2IR_OPS_SPLICE_H_

#include <optional>
#include <string>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// Names of nodes, which runtimes want to be unique over a whole model. Looks at the graph when it
// is first asked.
class NodeNames {
 public:
  explicit NodeNames(const Graph& root) : root_(root) {}
  // `base`, or base_2, base_3, ...; taken from then on.
  std::string Unique(const std::string& base);

 private:
  void Collect(const Graph& graph);
  const Graph& root_;
  std::optional<StringSet> names_;
};

// `results` (what `b` made, or older values) take the place of the node's outputs and keep their
// names and annotations; new nodes and values get names made from the node's; the node goes, and
// constants that only it used. Entries of `results` for outputs that the node leaves out are not
// looked at.
void Splice(Node* node, const Values& results, const Builder& b, NodeNames& names);

// All uses of a value become uses of an older one that is the same in every run. Outputs of the
// graph keep their names and what they declare; the older value is known to be of both types.
void ReplaceUsesByOlder(Graph& graph, Value* from, Value* to);

// Erases a node that nobody uses any more (CHECK), and the constants that only it used.
void EraseWithConstants(Node* node);

// The name of the first output that the node has; "" when it has none.
std::string HintOf(const Node& node);

}  // namespace x2ir

#endif  // X2IR_OPS_SPLICE_H_
