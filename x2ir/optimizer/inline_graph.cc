// See inline_graph.h.
#include "x2ir/optimizer/inline_graph.h"

#include <memory>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/check.h"

namespace x2ir {

Values InlineGraph(Builder& b, const Graph& from, const Values& inputs) {
  X2IR_CHECK(inputs.size() == from.inputs().size(), "one value for each input");
  absl::flat_hash_map<const Value*, Value*> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[from.inputs()[i]] = inputs[i];
  for (const Value* constant : from.constants()) {
    values[constant] = b.Constant(*constant->constant(), constant->name());
  }
  // What is not there is an outer value, and not the graph's own.
  const auto mapped = [&](const Value* value) {
    auto it = values.find(value);
    return it == values.end() ? const_cast<Value*>(value) : it->second;
  };
  for (const Node* node : from.nodes()) {
    std::vector<Value*> operands;
    for (Value* operand : node->inputs()) operands.push_back(mapped(operand));
    AttributeMap attrs;
    for (const auto& [name, attr] : node->attrs()) {
      if (auto* graph = attr.get<Attribute::GraphPtr>(); graph && *graph) {
        attrs.Set(name, (*graph)->Clone(&values));
      } else if (auto* graphs = attr.get<std::vector<Attribute::GraphPtr>>()) {
        std::vector<Attribute::GraphPtr> copies;
        for (const auto& g : *graphs) copies.push_back(g ? g->Clone(&values) : nullptr);
        attrs.Set(name, std::move(copies));
      } else {
        attrs.Set(name, attr);
      }
    }
    std::vector<bool> wanted;
    for (const Value* output : node->outputs()) wanted.push_back(output != nullptr);
    const Values copies =
        b.Node(node->dialect(), node->op(), std::move(operands), std::move(attrs), wanted);
    b.made().back()->annotations().CopyFrom(node->annotations());
    for (size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i]) continue;
      const Value& original = *node->output(i);
      copies[i]->set_type(original.type());
      if (original.elements()) copies[i]->set_elements(*original.elements());
      copies[i]->annotations().CopyFrom(original.annotations());
      values[&original] = copies[i];
    }
  }
  Values outputs;
  for (const Value* output : from.outputs()) outputs.push_back(mapped(output));
  return outputs;
}

const Graph* KnownBranch(const Node& node) {
  const Value& cond = *node.input(0);
  bool taken = false;
  if (const Tensor* tensor = cond.fixed_constant()) {
    if (tensor->is_sparse() || tensor->dtype() != DType::kBool || tensor->num_elements() != 1) {
      return nullptr;
    }
    taken = tensor->AsInt(0) != 0;
  } else {
    const std::vector<Dim>* elements = cond.elements();
    if (!elements || elements->size() != 1 || !(*elements)[0].is_static()) return nullptr;
    taken = (*elements)[0].value() != 0;
  }
  return &node.attrs().SubGraph(taken ? "then_branch" : "else_branch");
}

}  // namespace x2ir
