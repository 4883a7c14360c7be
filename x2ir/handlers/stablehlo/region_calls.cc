// Regions that are run on whole tensors (regions.h) hold no calls: before nodes are converted, the
// functions that such a region calls are put in their places.
#include <string>
#include <vector>

#include "x2ir/core/functions.h"
#include "x2ir/handlers/stablehlo/prepare.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

bool HasBodyByElement(const Node& node) {
  static constexpr std::string_view kOps[] = {"all_reduce",         "map",           "reduce",
                                              "reduce_scatter",     "reduce_window", "scatter",
                                              "select_and_scatter", "sort"};
  if (node.dialect() != Symbol(StablehloDialect::kName)) return false;
  for (const std::string_view op : kOps) {
    if (node.op() == Symbol(op)) return true;
  }
  return false;
}

class RegionCalls {
 public:
  explicit RegionCalls(const Model& model) : functions_(model) {}

  absl::Status Check() const { return functions_.Check(); }
  // `inside`: the graph is such a region, or in one.
  absl::Status Inline(Graph& graph, bool inside, int depth = 0) {
    constexpr int kMaxDepth = 200;
    if (depth > kMaxDepth) return Invalid("regions are nested more than ", kMaxDepth, " deep");
    for (Node* node : graph.nodes()) X2IR_RETURN_IF_ERROR(Visit(node, inside, depth));
    return absl::OkStatus();
  }

 private:
  absl::Status Visit(Node* node, bool inside, int depth) {
    const Function* function = inside ? functions_.Called(*node) : nullptr;
    if (!function) {
      const bool is_region = inside || HasBodyByElement(*node);
      for (Graph* inner : node->subgraphs()) {
        X2IR_RETURN_IF_ERROR(Inline(*inner, is_region, depth + 1));
      }
      return absl::OkStatus();
    }
    const std::string prefix = node->output(0) ? node->output(0)->name() : function->name;
    X2IR_ASSIGN_OR_RETURN(const std::vector<Node*> made,
                          functions_.Inline(*function, node, prefix));
    for (Node* each : made) X2IR_RETURN_IF_ERROR(Visit(each, inside, depth));
    return absl::OkStatus();
  }

  Functions functions_;
};

}  // namespace

absl::Status InlineCallsInRegions(Model& model) {
  if (model.functions.empty()) return absl::OkStatus();
  RegionCalls calls(model);
  X2IR_RETURN_IF_ERROR(calls.Check());
  for (const auto& function : model.functions) {
    X2IR_RETURN_IF_ERROR(calls.Inline(*function->body, false));
  }
  return calls.Inline(*model.graph, false);
}

}  // namespace x2ir
