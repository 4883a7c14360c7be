// An index over the nodes of a graph: which nodes have a given op, and which ops produce their
// operands. It is built by one walk over the graph and kept from pass to pass until the graph
// changes, so that a pass that looks for, say, a reshape of a transpose need not visit every node
// of a large graph.
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

// A list of IR ops; a node is wanted if one of its operands is produced by one of them. Empty: the
// node is wanted whatever produces its operands.
using ProducerOps = std::vector<Symbol>;
// In such a list, instead of an op: an operand that is a constant, or whose elements inference
// knows.
inline constexpr std::string_view kKnownOperand = "(known)";

class NodeIndex {
 public:
  // The wanted IR nodes of the graph and of its nested graphs, in graph order (a node before those
  // in its nested graphs). `wants` gives the list for an op, or null if no node of that op is
  // wanted. Some unwanted nodes may be among them, since ops share bits (OpBits). Walks over the
  // graph if Forget was called since the last Find, and over one array else.
  std::vector<Node*> Find(Graph& root, const std::function<const ProducerOps*(Symbol op)>& wants);
  // All nodes that the last walk saw, of any dialect.
  size_t num_nodes() const { return num_nodes_; }
  // Must be called before the next Find when nodes were added, erased, or got another op or
  // operand.
  void Forget() { made_ = false; }

 private:
  using OpBits = uint64_t;  // a bit an op; several ops share a bit where there are more than 64
  void Add(Graph& graph);
  uint32_t PositionOf(Symbol op);
  OpBits OperandsOf(const Node& node);
  OpBits Wanted(const ProducerOps* producer_ops) const;
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
