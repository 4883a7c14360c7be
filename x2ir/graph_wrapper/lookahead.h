// Large graphs do not fit into caches: a walk that does little at each node waits for memory most
// of the time, for the node, the values that it uses and makes, and what makes those. Data that
// will be needed soon can be prefetched.
#ifndef X2IR_GRAPH_WRAPPER_LOOKAHEAD_H_
#define X2IR_GRAPH_WRAPPER_LOOKAHEAD_H_

#include <cstddef>
#include <cstdint>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Null is allowed.
template <typename T>
void PrefetchWhole(const T* object) {
  constexpr size_t kLine = 64;
  if (object == nullptr) return;
  const char* bytes = reinterpret_cast<const char*>(object);
  for (size_t at = 0; at < sizeof(T); at += kLine) __builtin_prefetch(bytes + at);
}
inline void Prefetch(const Node* node) { PrefetchWhole(node); }
// What most passes ask: its producer, uses and type.
inline void Prefetch(const Value* value) { __builtin_prefetch(value); }

inline void PrefetchOperands(const Node& node) {
  for (size_t i = 0; i < node.num_inputs(); ++i) Prefetch(node.input(i));
}

inline void PrefetchProducers(const Node& node) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* value = node.input(i);
    if (value && value->producer()) Prefetch(value->producer());
  }
}

// Goes before a walk in graph order that looks at types and uses, and takes a step with each node:
//   Lookahead ahead(graph);
//   for (Node* node : graph.nodes()) {
//     ahead.Step();
// Or before one from the end to the begin:
//   Lookahead ahead(graph, Lookahead::kBackward);
// Or before one that looks at names as well:
//   Lookahead ahead(graph, Lookahead::kNames);
// The walk may change the graph as a NodeIterator allows; no other one may erase nodes meanwhile.
class Lookahead {
 public:
  enum Walk { kForward, kBackward, kNames };
  explicit Lookahead(const Graph& graph, Walk walk = kForward)
      : walk_(walk),
        node_(walk == kBackward ? graph.last() : graph.first()),
        named_(walk == kNames ? node_ : nullptr) {
    for (int i = 0; i < kNodes; ++i) Fetch();
    for (int i = 0; i < kNodes / 2; ++i) FetchNames();
  }
  void Step() {
    Fetch();
    FetchNames();
  }

 private:
  static constexpr int kNodes = 6;

  void Fetch() {
    if (!node_) return;
    for (size_t i = 0; i < node_->num_inputs(); ++i) Fetch(node_->input(i));
    for (const Value* value : node_->outputs()) Fetch(value);
    node_ = Next(*node_);
    if (!node_) return;
    Prefetch(Next(*node_));
    if (walk_ == kBackward) {
      // As PrefetchAfter does for forward walks (graph.cc): nodes mostly have this order in memory.
      constexpr uintptr_t kFar = 24 * sizeof(Node);
      Prefetch(reinterpret_cast<const Node*>(reinterpret_cast<uintptr_t>(node_) - kFar));
    }
  }
  void Fetch(const Value* value) const { walk_ == kNames ? PrefetchWhole(value) : Prefetch(value); }
  // The address of a text is known only when its owner has been loaded, so texts are prefetched
  // later, for fewer nodes.
  void FetchNames() {
    if (!named_) return;
    __builtin_prefetch(named_->name().data());
    for (size_t i = 0; i < named_->num_inputs(); ++i) FetchName(named_->input(i));
    for (const Value* value : named_->outputs()) FetchName(value);
    named_ = named_->next();
  }
  static void FetchName(const Value* value) {
    if (value) __builtin_prefetch(value->name().data());
  }
  const Node* Next(const Node& node) const {
    return walk_ == kBackward ? node.prev() : node.next();
  }

  Walk walk_;
  const Node* node_;
  const Node* named_;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_LOOKAHEAD_H_
