#include "x2ir/optimizer/node_index.h"

#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

constexpr uint64_t kEvery = uint64_t{1} << 63;  // of every node
constexpr uint64_t kKnown = uint64_t{1} << 62;
uint64_t BitOf(uint32_t position) { return uint64_t{1} << (position % 62); }

}  // namespace

std::vector<Node*> NodeIndex::Find(Graph& root,
                                   const std::function<const ProducerOps*(Symbol op)>& wants) {
  if (!made_) {
    num_nodes_ = 0;
    ops_.clear();
    position_.clear();
    nodes_.clear();
    op_of_.clear();
    operands_.clear();
    Add(root);
    made_ = true;
  }
  std::vector<OpBits> wanted;
  OpBits any = 0;
  for (const Symbol op : ops_) {
    wanted.push_back(Wanted(wants(op)));
    any |= wanted.back();
  }
  std::vector<Node*> found;
  for (size_t i = 0; any != 0 && i < nodes_.size(); ++i) {
    if ((wanted[op_of_[i]] & operands_[i]) != 0) found.push_back(nodes_[i]);
  }
  return found;
}

NodeIndex::OpBits NodeIndex::Wanted(const ProducerOps* producer_ops) const {
  if (!producer_ops) return 0;
  if (producer_ops->empty()) return kEvery;
  OpBits bits = 0;
  for (const Symbol op : *producer_ops) {
    if (op == kKnownOperand) bits |= kKnown;
    const auto it = position_.find(op);
    if (it != position_.end()) bits |= BitOf(it->second);
  }
  return bits;
}

uint32_t NodeIndex::PositionOf(Symbol op) {
  const auto [it, fresh] = position_.try_emplace(op, ops_.size());
  if (fresh) ops_.push_back(op);
  return it->second;
}

NodeIndex::OpBits NodeIndex::OperandsOf(const Node& node) {
  OpBits bits = kEvery;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* value = node.input(i);
    if (!value) continue;
    if (MayBeKnown(*value)) bits |= kKnown;
    const Node* producer = value->producer();
    if (producer && producer->is_ir()) bits |= BitOf(PositionOf(producer->op()));
  }
  return bits;
}

void NodeIndex::Add(Graph& graph) {
  Lookahead ahead(graph);
  for (Node* node : graph.nodes()) {
    ahead.Step();
    ++num_nodes_;
    if (node->is_ir()) {
      nodes_.push_back(node);
      op_of_.push_back(PositionOf(node->op()));
      operands_.push_back(OperandsOf(*node));
    }
    for (Graph* inner : node->subgraphs()) Add(*inner);
  }
}

}  // namespace x2ir
