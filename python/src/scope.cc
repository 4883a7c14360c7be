#include "scope.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "x2ir/core/dialect.h"

namespace x2ir::python {

void Scope::CheckEditable() const {
  if (read_only)
    throw std::runtime_error(
        "a handler may read its node and make new nodes, but must not change existing ones");
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

void ImportWhatNodesNeed(ModelScope& scope) {
  if (!scope.made || scope.is_ir) return;
  Model& model = scope.model;
  const Dialect* dialect = FindDialect(model.source_dialect);
  std::vector<const Graph*> todo = {model.graph.get()};
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    for (const Node* node : graph->nodes()) {
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
      const std::string_view domain = SplitOp(node->op().view()).first;
      if (node->is_ir() || model.Opset(domain) != 0) continue;
      const int version = DomainVersion(dialect, domain, static_cast<int>(model.Opset("")));
      model.SetOpset(domain, std::max(1, version));
    }
  }
}

std::shared_ptr<ModelScope> CopyOf(const ModelScope& scope) {
  auto copy = std::make_shared<ModelScope>(scope.model.Clone());
  *copy->report = *scope.report;
  copy->is_ir = scope.is_ir;
  copy->format = scope.format;
  copy->made = scope.made;
  return copy;
}

}  // namespace x2ir::python
