#include "scope.h"

namespace x2ir::python {

void Scope::CheckEditable() const {
  if (read_only)
    throw std::runtime_error("a handler looks at the node, and makes others; it changes none");
  if (readers != 0) throw std::runtime_error("another thread works on the model");
}

void Scope::ForgetGraph(Graph* graph) {
  for (Node* node : graph->nodes()) ForgetNode(node);
  for (Value* value : graph->inputs()) Forget(value);
  for (Value* value : graph->constants()) Forget(value);
  Forget(graph);
}

void Scope::ForgetNode(Node* node) {
  for (Graph* graph : node->subgraphs()) ForgetGraph(graph);
  for (Value* value : node->outputs()) {
    if (value) Forget(value);
  }
  Forget(node);
}

void Scope::ForgetAll() {
  const auto forget = [](auto& map) {
    for (auto& [thing, known] : map) {
      if (const auto handle = known.lock()) handle->it = nullptr;
    }
    map.clear();
  };
  forget(std::get<0>(maps_));
  forget(std::get<1>(maps_));
  forget(std::get<2>(maps_));
}

}  // namespace x2ir::python
