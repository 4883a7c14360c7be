// Large graphs do not fit into caches: a walk that does little at each node waits for memory most
// of the time, for the node, the values that it uses and makes, and what makes those. What is
// looked at soon can be on its way before.
#ifndef X2IR_GRAPH_WRAPPER_LOOKAHEAD_H_
#define X2IR_GRAPH_WRAPPER_LOOKAHEAD_H_

#include <cstddef>
#include <cstdint>

#include "x2ir/graph_wrapper/graph.h"

namespace x2ir {

// Null is allowed.
template <typename T>
void Prefetch(const T* object) {
  constexpr size_t kLine = 64;
  if (object == nullptr) return;
  const char* bytes = reinterpret_cast<const char*>(object);
  for (size_t at = 0; at < sizeof(T); at += kLine) __builtin_prefetch(bytes + at);
}

inline void PrefetchOperands(const Node& node) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (const Value* value = node.input(i)) Prefetch(value);
  }
}

inline void PrefetchProducers(const Node& node) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* value = node.input(i);
    if (value && value->producer()) Prefetch(value->producer());
  }
}

// Goes before a walk in graph order, which takes a step with each node:
//   Lookahead ahead(graph);
//   for (Node* node : graph.nodes()) {
//     ahead.Step();
// Or before one from the end to the begin:
//   Lookahead ahead(graph, Lookahead::kBackward);
// The walk may change the graph as a NodeIterator allows; no other one may erase nodes meanwhile.
class Lookahead {
 public:
  enum Direction { kForward, kBackward };
  explicit Lookahead(const Graph& graph, Direction direction = kForward)
      : direction_(direction), node_(direction == kForward ? graph.first() : graph.last()) {
    for (int i = 0; i < kNodes; ++i) Step();
  }
  void Step() {
    if (!node_) return;
    PrefetchOperands(*node_);
    for (const Value* value : node_->outputs()) {
      if (value) Prefetch(value);
    }
    node_ = Next(*node_);
    if (node_) Prefetch(Next(*node_));
  }

 private:
  static constexpr int kNodes = 6;
  const Node* Next(const Node& node) const {
    return direction_ == kForward ? node.next() : node.prev();
  }
  Direction direction_;
  const Node* node_;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_LOOKAHEAD_H_
