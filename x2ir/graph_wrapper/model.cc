// Opset look-ups of a Model, and what it is mapped from.
#include "x2ir/graph_wrapper/model.h"

#include "absl/container/flat_hash_set.h"

namespace x2ir {

namespace {

std::shared_ptr<Function> CloneOf(const Function& function) {
  auto copy = std::make_shared<Function>();
  copy->domain = function.domain;
  copy->name = function.name;
  copy->overload = function.overload;
  copy->attributes = function.attributes;
  copy->attribute_defaults = function.attribute_defaults;
  for (auto& [name, attr] : copy->attribute_defaults) {
    if (auto* inner = attr.get<Attribute::GraphPtr>(); inner && *inner) attr = (*inner)->Clone();
  }
  copy->opset_imports = function.opset_imports;
  if (function.body) copy->body = function.body->Clone();
  copy->annotations.CopyFrom(function.annotations);
  return copy;
}

}  // namespace

Model Model::Clone() const {
  Model copy;
  copy.graph = graph->Clone();
  copy.source_dialect = source_dialect;
  copy.ir_version = ir_version;
  copy.opset_imports = opset_imports;
  copy.producer_name = producer_name;
  copy.producer_version = producer_version;
  copy.domain = domain;
  copy.model_version = model_version;
  for (const auto& function : functions) copy.functions.push_back(CloneOf(*function));
  copy.weights = weights;
  copy.program = program;
  copy.annotations.CopyFrom(annotations);
  return copy;
}

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

namespace {

struct FileList {
  std::vector<std::shared_ptr<const MappedFile>> files;
  absl::flat_hash_set<const MappedFile*> seen;

  void AddFileOf(const Tensor* tensor) {
    if (tensor == nullptr) return;
    if (tensor->is_sparse()) {
      AddFileOf(&tensor->sparse().values);
      AddFileOf(&tensor->sparse().indices);
    } else if (const auto range = tensor->file_range()) {
      if (seen.insert(range->file.get()).second) files.push_back(range->file);
    }
  }
  void AddFilesOf(const Attribute& attr) {
    AddFileOf(attr.get<Tensor>());
    if (const auto* tensors = attr.get<std::vector<Tensor>>()) {
      for (const Tensor& tensor : *tensors) AddFileOf(&tensor);
    }
  }
};

}  // namespace

std::vector<std::shared_ptr<const MappedFile>> MappedFiles(const Model& model) {
  FileList list;
  std::vector<const Graph*> todo = {model.graph.get()};
  for (const auto& function : model.functions) {
    if (function->body) todo.push_back(function->body.get());
    for (const auto& [name, attr] : function->attribute_defaults) list.AddFilesOf(attr);
  }
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    for (const Value* input : graph->inputs()) list.AddFileOf(input->constant());
    for (const Value* constant : graph->constants()) list.AddFileOf(constant->constant());
    for (const Node* node : graph->nodes()) {
      for (const auto& [name, attr] : node->attrs()) list.AddFilesOf(attr);
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
    }
  }
  return std::move(list.files);
}

}  // namespace x2ir
