// Opset look-ups of a Model, and what it is mapped from.
#include "x2ir/graph_wrapper/model.h"

#include "absl/container/flat_hash_set.h"

namespace x2ir {

int64_t Model::Opset(std::string_view domain) const {
  for (const OpsetImport& import : opset_imports) {
    if (import.domain == domain) return import.version;
  }
  return 0;
}

void Model::SetOpset(std::string_view domain, int64_t version) {
  for (OpsetImport& import : opset_imports) {
    if (import.domain == domain) {
      import.version = version;
      return;
    }
  }
  opset_imports.push_back({std::string(domain), version});
}

std::vector<std::shared_ptr<const MappedFile>> MappedFiles(const Model& model) {
  std::vector<std::shared_ptr<const MappedFile>> files;
  absl::flat_hash_set<const MappedFile*> seen;
  const auto add = [&](const Tensor* tensor) {
    const auto range = tensor ? tensor->file_range() : std::nullopt;
    if (range && seen.insert(range->file.get()).second) files.push_back(range->file);
  };
  std::vector<const Graph*> todo = {model.graph.get()};
  for (const auto& function : model.functions) {
    if (function->body) todo.push_back(function->body.get());
  }
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    for (const Value* input : graph->inputs()) add(input->constant());
    for (const Value* constant : graph->constants()) add(constant->constant());
    for (const Node* node : graph->nodes()) {
      for (const auto& [name, attr] : node->attrs()) add(attr.get<Tensor>());
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
    }
  }
  return files;
}

}  // namespace x2ir
