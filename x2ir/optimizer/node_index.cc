#include "x2ir/optimizer/node_index.h"

namespace x2ir {

std::vector<Node*> NodeIndex::Find(Graph& root, const std::function<bool(Symbol op)>& wants) {
  if (!made_) {
    num_nodes_ = 0;
    ops_.clear();
    position_.clear();
    nodes_.clear();
    op_of_.clear();
    Add(root);
    made_ = true;
  }
  std::vector<bool> wanted;
  bool any = false;
  for (const Symbol op : ops_) {
    wanted.push_back(wants(op));
    any = any || wanted.back();
  }
  std::vector<Node*> found;
  for (size_t i = 0; any && i < nodes_.size(); ++i) {
    if (wanted[op_of_[i]]) found.push_back(nodes_[i]);
  }
  return found;
}

void NodeIndex::Add(Graph& graph) {
  for (Node* node : graph.nodes()) {
    ++num_nodes_;
    if (node->is_ir()) {
      const auto [it, fresh] = position_.try_emplace(node->op(), ops_.size());
      if (fresh) ops_.push_back(node->op());
      nodes_.push_back(node);
      op_of_.push_back(it->second);
    }
    for (Graph* inner : node->subgraphs()) Add(*inner);
  }
}

}  // namespace x2ir
