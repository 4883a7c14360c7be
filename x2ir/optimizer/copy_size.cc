#include "x2ir/optimizer/copy_size.h"

#include <string>
#include <vector>

namespace x2ir {
namespace {

int64_t CopySize(const AnnotationsPtr& annotations) {
  if (!annotations.get()) return 0;
  int64_t size = 64 + static_cast<int64_t>(annotations.get()->doc_string.size());
  for (const auto& [key, text] : annotations.get()->metadata) size += 64 + key.size() + text.size();
  for (const auto& [key, text] : annotations.get()->extra) size += 64 + key.size() + text.size();
  return size;
}

int64_t CopySize(const Value& value) {
  const Shape* shape = value.shape();
  return 128 + value.name().size() + (shape ? 32 * shape->rank() : 0) +
         CopySize(value.annotations());
}

}  // namespace

std::vector<Graph*> GraphsIn(const Attribute& attr) {
  std::vector<Graph*> graphs;
  if (const auto* graph = attr.get<Attribute::GraphPtr>(); graph && *graph) {
    graphs.push_back(graph->get());
  } else if (const auto* list = attr.get<std::vector<Attribute::GraphPtr>>()) {
    for (const auto& g : *list) {
      if (g) graphs.push_back(g.get());
    }
  }
  return graphs;
}

int64_t BytesOfCopy(const Attribute& attr) {
  int64_t size = 64;
  for (const Graph* graph : GraphsIn(attr)) size += BytesOfCopy(*graph);
  if (const auto* text = attr.get<std::string>()) size += text->size();
  if (const auto* ints = attr.get<Attribute::Ints>()) size += 8 * ints->size();
  if (const auto* floats = attr.get<Attribute::Floats>()) size += 4 * floats->size();
  if (const auto* texts = attr.get<Attribute::Strings>()) {
    for (const std::string& text : *texts) size += 32 + text.size();
  }
  // Elements of tensors are shared by their copies.
  if (const auto* tensors = attr.get<std::vector<Tensor>>()) size += 128 * tensors->size();
  if (const auto* types = attr.get<std::vector<Type>>()) size += 64 * types->size();
  return size;
}

int64_t BytesOfCopy(const Graph& graph) {
  int64_t size = 128;
  for (const Value* value : graph.inputs()) size += CopySize(*value);
  for (const Value* value : graph.constants()) size += CopySize(*value);
  for (const Node* node = graph.first(); node; node = node->next()) {
    size += 128 + node->name().size() + 16 * node->num_inputs() + CopySize(node->annotations());
    for (const Value* value : node->outputs()) size += value ? CopySize(*value) : 8;
    for (const auto& [name, attr] : node->attrs()) size += BytesOfCopy(attr);
  }
  return size;
}

}  // namespace x2ir
