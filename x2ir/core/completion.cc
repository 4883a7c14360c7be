#include "x2ir/core/completion.h"

#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

class Completion {
 public:
  Completion(Model& model, const Dialect* known)
      : model_(model), known_(known), unique_(*model.graph) {
    seen_.reserve(model.graph->TotalNodes());
  }

  void Run(Graph& graph) {
    for (Node* node : graph.nodes()) {
      // The names that are there are looked at only when one of them is a second one.
      if (!node->name().empty() && !seen_.insert(node->name()).second) {
        node->set_name(unique_.Unique(node->name()));
        seen_.insert(node->name());
      }
      FillOutputs(graph, *node);
      for (Graph* inner : node->subgraphs()) Run(*inner);
    }
  }

 private:
  void FillOutputs(Graph& graph, Node& node) {
    if (!known_ || !known_->schema) return;
    const OpSchema* schema = nullptr;
    std::string hint;
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      if (node.output(i)) continue;
      if (!schema) {
        const int64_t opset = model_.Opset(SplitOp(node.op().view()).first);
        schema = known_->schema(node.op(), static_cast<int>(opset));
        hint = HintOf(node);
      }
      if (!schema) return;
      const OperandSchema* output = schema->OutputAt(i);
      if (!output || output->arity == Arity::kOptional) continue;
      const std::string base = StrCat(hint, "_", output->name);
      graph.FillOutput(&node, i, graph.UniqueName(base));
    }
  }

  Model& model_;
  const Dialect* const known_;
  NodeNames unique_;
  absl::flat_hash_set<std::string_view> seen_;
};

}  // namespace

void CompleteForFiles(Model& model, const Dialect* known) {
  Completion(model, known).Run(*model.graph);
}

}  // namespace x2ir
