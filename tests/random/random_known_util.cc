// See random_known_util.h.
#include "tests/random/random_known_util.h"

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

constexpr const char* kOrt = "ONNX Runtime";

constexpr KnownDifference kKnown[] = {
    {kOrt, "", "", 0, 1000, "Could not find an implementation", "no kernel of that type"},
    {kOrt, "", "", 0, 1000, "NOT_IMPLEMENTED", "no kernel of that type"},
    {kOrt, "", "", 0, 1000, "data type is not supported with Scatter",
     "no kernel that reduces float16"},
    {kOrt, "", "", 0, 1000, "ai.onnx.preview.training", "a build for inference has no training"},
    {kOrt, "lrn", "", 0, 1000, "LRN", "LRN of an even size, of beta 0 or of rank other than 4"},
    {kOrt, "mean_variance_normalization", "", 0, 1000, "", "a variance by squares, which rounds"},
    {kOrt, "instance_normalization", "rank2", 0, 1000, "number of dimensions is less than 3",
     "images without spatial axes"},
    {kOrt, "global_average_pool", "rank2", 0, 1000, "cannot be less than 3",
     "images without spatial axes"},
    {kOrt, "global_max_pool", "rank2", 0, 1000, "cannot be less than 3",
     "images without spatial axes"},
    {kOrt, "global_lp_pool", "rank2", 0, 1000, "cannot be less than 3",
     "images without spatial axes"},
    {kOrt, "conv_transpose", "same", 0, 1000, "", "ConvTranspose SAME with long steps"},
    {kOrt, "resize", "corners", 0, 1000, "", "corners of sizes that are rounded"},
    {kOrt, "resize", "", 0, 1000, "ScalesValidation", "resize of other ranks"},
    {kOrt, "split", "", 18, 1000, "Invalid num_outputs value", "more parts than elements"},
    {kOrt, "einsum", "", 0, 1000, "Cannot parse the diagonal", "a diagonal that broadcasts"},
};

bool Holds(const Node& node, std::string_view condition) {
  const Value* x = node.input(0);
  if (condition == "rank2") return x && x->shape() && x->shape()->rank() < 3;
  if (condition == "same") return node.attrs().String("auto_pad").starts_with("SAME");
  if (condition == "corners") return !CornersFollowSizes(node);
  return condition.empty();
}

bool AnyFits(const Graph& graph, const KnownDifference& row) {
  for (const Node* node : graph.nodes()) {
    if ((!*row.op || node->op().view() == row.op) && Holds(*node, row.condition)) return true;
    for (const Graph* inner : node->subgraphs()) {
      if (AnyFits(*inner, row)) return true;
    }
  }
  return false;
}

}  // namespace

const KnownDifference* FindKnown(const Graph& graph, std::string_view runtime, int opset,
                                 const std::string& error) {
  for (const KnownDifference& row : kKnown) {
    if (runtime != row.runtime || (opset && (opset < row.first || opset > row.last))) continue;
    if (error.find(row.error) == std::string::npos) continue;
    if (AnyFits(graph, row)) return &row;
  }
  return nullptr;
}

}  // namespace x2ir
