#include "x2ir/graph_wrapper/constant_order.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"

namespace x2ir {

absl::flat_hash_map<const Graph*, std::vector<const Value*>> ConstantsByUse(const Graph& graph) {
  absl::flat_hash_map<const Graph*, std::vector<const Value*>> order;
  absl::flat_hash_set<const Value*> seen;
  const auto use = [&](const Value* value) {
    if (!value || !value->constant() || value->is_input() || !seen.insert(value).second) return;
    order[value->graph()].push_back(value);
  };
  std::vector<const Graph*> graphs;
  const auto walk = [&](const Graph& at, const auto& self) -> void {
    graphs.push_back(&at);
    for (const Node* node = at.first(); node; node = node->next()) {
      for (size_t i = 0; i < node->num_inputs(); ++i) use(node->input(i));
      if (!node->has_subgraphs()) continue;
      for (const Graph* inner : node->subgraphs()) self(*inner, self);
    }
    for (const Value* output : at.outputs()) use(output);
  };
  walk(graph, walk);
  for (const Graph* each : graphs) {
    std::vector<const Value*>& used = order[each];
    if (used.size() == each->num_constants()) continue;
    const auto first_unused = static_cast<std::ptrdiff_t>(used.size());
    for (const Value* value : each->constants()) {
      if (!seen.contains(value)) used.push_back(value);
    }
    std::sort(used.begin() + first_unused, used.end(),
              [](const Value* a, const Value* b) { return a->name() < b->name(); });
  }
  return order;
}

std::shared_ptr<Graph> MadeAnew(Graph& graph) {
  for (auto& [key, constants] : ConstantsByUse(graph)) {
    for (const Value* each : constants) {
      auto* value = const_cast<Value*>(each);  // the graph may be changed
      Graph& own = *value->graph();
      // The last to come is the last in order.
      Value* last = own.AddConstant("", *value->constant());
      if (last->type() != value->type()) last->set_type(value->type());
      last->annotations().CopyFrom(value->annotations());
      const std::string name = value->name();
      own.ReplaceAllUses(value, last);
      own.RemoveConstant(value);
      own.Rename(last, name);
    }
  }
  return graph.Clone();
}

}  // namespace x2ir
