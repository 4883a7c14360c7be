// Reduce of random_graphs_util.h.
#include "tests/random/random_graphs_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

RandomGraph CopyOf(const RandomGraph& graph) { return {graph.graph->Clone(), graph.values}; }

// The value becomes an input of the graph that holds what the value held.
void MakeInput(RandomGraph& made, Value* value) {
  const std::string name = made.graph->UniqueName("in");
  const Tensor& tensor = *made.values[value->name()].tensor();
  Value* input = made.graph->AddInput(name, value->type());
  made.values[name] = tensor;
  made.graph->ReplaceAllUses(value, input);
}

}  // namespace

RandomGraph Reduce(const RandomGraph& graph, const std::function<bool(const RandomGraph&)>& fails) {
  RandomGraph best = CopyOf(graph);
  const auto attempt = [&](const std::function<bool(RandomGraph&)>& change) {
    RandomGraph trial = CopyOf(best);
    if (!change(trial) || !InferGraph(*trial.graph).ok() || !fails(trial)) return false;
    best = std::move(trial);
    return true;
  };
  for (size_t i = best.graph->outputs().size(); i-- > 0;) {
    attempt([&](RandomGraph& trial) {
      const std::vector<Value*> outputs = trial.graph->outputs();
      if (outputs.size() < 2) return false;
      trial.graph->ClearOutputs();
      for (size_t k = 0; k < outputs.size(); ++k) {
        if (k != i) trial.graph->AddOutput(outputs[k]);
      }
      return true;
    });
  }
  for (size_t i = best.graph->num_nodes(); i-- > 0;) {
    attempt([&](RandomGraph& trial) {
      Node* node = trial.graph->first();
      for (size_t k = 0; k < i && node; ++k) node = node->next();
      if (!node) return false;
      for (Value* output : node->outputs()) {
        if (!output) continue;
        if (output->is_graph_output() || !trial.values[output->name()].tensor()) return false;
        if (!output->uses().empty()) MakeInput(trial, output);
      }
      trial.graph->EraseUnused(node);
      return true;
    });
  }
  for (Value* constant : best.graph->constants()) {
    if (constant->is_unused()) best.graph->RemoveConstant(constant);
  }
  return best;
}

}  // namespace x2ir
