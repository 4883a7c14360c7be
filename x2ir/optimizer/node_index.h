// The nodes of a graph by their ops, in one piece of memory: the passes that look at some ops only
// do not walk through a large graph, each anew, to find them.
#ifndef X2IR_OPTIMIZER_NODE_INDEX_H_
#define X2IR_OPTIMIZER_NODE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace x2ir {

class NodeIndex {
 public:
  // The IR nodes of the graph and of its nested ones whose ops `wants`, in graph order (a node
  // before those in its graphs). Takes a walk through the graph if it was forgotten since, else
  // about nothing.
  std::vector<Node*> Find(Graph& root, const std::function<bool(Symbol op)>& wants);
  // Of any dialect.
  size_t num_nodes() const { return num_nodes_; }
  // Goes before the next Find when nodes came, went or became other ops.
  void Forget() { made_ = false; }

 private:
  void Add(Graph& graph);
  bool made_ = false;
  size_t num_nodes_ = 0;
  std::vector<Symbol> ops_;  // that occur, each once
  absl::flat_hash_map<Symbol, uint32_t> position_;
  std::vector<Node*> nodes_;
  std::vector<uint32_t> op_of_;  // of nodes_[i]: a position in ops_
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_NODE_INDEX_H_
