// The nodes of a graph by their ops and by what makes their operands, in one piece of memory: the
// passes that look for such nodes do not walk through a large graph, each anew, to find them.
#ifndef X2IR_OPTIMIZER_NODE_INDEX_H_
#define X2IR_OPTIMIZER_NODE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace X2IR_API x2ir {

// Of the IR ops that may make an operand, one of which does. Empty: whatever makes them.
using Behind = std::vector<Symbol>;
// Stands for no op: an operand that is a constant, or whose elements inference knows.
inline constexpr std::string_view kKnownOperand = "(known)";

class NodeIndex {
 public:
  // The IR nodes of the graph and of its nested ones whose op `wants`, in graph order (a node
  // before those in its graphs): null, or behind what. A few that stand behind something else may
  // be among them. Takes a walk through the graph if it was forgotten since, else about nothing.
  std::vector<Node*> Find(Graph& root, const std::function<const Behind*(Symbol op)>& wants);
  // Of any dialect.
  size_t num_nodes() const { return num_nodes_; }
  // Goes before the next Find when nodes came, went, became other ops or got other operands.
  void Forget() { made_ = false; }

 private:
  using OpBits = uint64_t;  // one for each op, or for several where there are many
  void Add(Graph& graph);
  uint32_t PositionOf(Symbol op);
  OpBits OperandsOf(const Node& node);
  OpBits Wanted(const Behind* behind) const;
  bool made_ = false;
  size_t num_nodes_ = 0;
  std::vector<Symbol> ops_;  // that occur, each once
  absl::flat_hash_map<Symbol, uint32_t> position_;
  std::vector<Node*> nodes_;
  std::vector<uint32_t> op_of_;   // of nodes_[i]: a position in ops_
  std::vector<OpBits> operands_;  // of nodes_[i]: what makes them
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_NODE_INDEX_H_
