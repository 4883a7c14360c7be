// Replaces a node by the result of a rewrite.
#ifndef X2IR_OPS_SPLICE_H_
#define X2IR_OPS_SPLICE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// Unique names of nodes, which runtimes require over a whole model. Reads the graph at the first
// use.
class NodeNames {
 public:
  explicit NodeNames(const Graph& root) : root_(root) {}
  // `base`, or base_2, base_3, ...; taken from then on.
  std::string Unique(const std::string& base);
  // Names a node that was made for another one, where that one has a name: <name>/<op>.
  void NameMade(Node& made, const Node& node);

 private:
  void Collect(const Graph& graph);
  const Graph& root_;
  std::optional<StringSet> names_;
  StringMap<int> next_;  // the next suffix to try for a base
};

// Replaces the node's outputs by `results` (values that `b` made, or older ones), which get their
// names and annotations. New nodes and values get names that are derived from the node's, nodes its
// metadata; they are put in the order of their use. Erases the node, and the constants that only it
// used. Entries of `results` for outputs that the node leaves out are ignored. Gives the values
// that have the outputs' places now.
Values Splice(Node* node, const Values& results, Builder& b, NodeNames& names);

// A node that replaces another one gets its metadata: its place in the source, for example.
void CopyMetadata(const Node& from, Node& to);

// Replaces all uses of a value by an older value that is equal to it in every run. Outputs of the
// graph keep their names and declared types; the older value gets what is known of either type.
void ReplaceUsesByOlder(Graph& graph, Value* from, Value* to);

// After that: a name that was made of the name of `from` gives way to it ("y_relu" to "y").
void TakeShorterName(Value& from, Value& to);

// Erases a node that is no longer used (CHECK), and the constants that only it used.
void EraseWithConstants(Node* node);

// Erases those of the nodes that nothing uses, then those that only they used, and so on, where
// `may_erase` says so. Null is passed over.
void EraseUnusedMakers(std::vector<Node*> nodes, absl::FunctionRef<bool(const Node&)> may_erase);

// The name of the first output that the node has; "" when it has none.
std::string HintOf(const Node& node);

// What a node of that op is called that was made in the place of another with this hint: hint_op.
// A hint that ends so ("y_loop", "y_loop_2") stays: names do not grow with each conversion.
std::string MadeName(std::string_view hint, std::string_view op);

}  // namespace x2ir

#endif  // X2IR_OPS_SPLICE_H_
