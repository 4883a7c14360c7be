// See random_known_util.h.
#include "tests/random/random_known_util.h"

#include <algorithm>

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
    {kOrt, "resize", "antialiased integers", 18, 1000, "elements of",
     "antialiased integers are rounded to nearest"},
    {kOrt, "resize", "nearest sizes", 11, 1000, "elements of",
     "places between two elements, which float32 rounds"},
    {kOrt, "reduce_l1", "nothing", 0, 1000, "expected I64 []", "norms of no integers at all"},
    {kOrt, "resize", "cubic integers", 0, 1000, "Tensor::MutableData()",
     "no kernel of cubic resize of integers"},
    {kOrt, "resize", "", 0, 1000, "ScalesValidation", "resize of other ranks"},
    {kOrt, "split", "", 18, 1000, "Invalid num_outputs value", "more parts than elements"},
    {kOrt, "global_lp_pool", "", 22, 1000, "Failed to find kernel for GlobalLpPool",
     "no kernel of GlobalLpPool of opset 22"},
    {kOrt, "reduce_prod", "integers", 0, 1000, "elements of", "products of integers that saturate"},
    {kOrt, "shrink", "integers", 0, 1000, "elements of",
     "shrink of integers that float32 rounds to more than the type holds"},
    {kOrt, "cast_like", "", 15, 1000, "InsertedPrecisionFreeCast",
     "casts of float16 that are put into the body of CastLike"},
    {kOrt, "category_mapper", "", 0, 1000, "'cats_int64s' is required",
     "categories that are left out"},
    {kOrt, "string_normalizer", "", 0, 1000, "Failed to construct locale",
     "a locale that the machine does not have"},
    {kOrt, "pad", "reflect", 0, 1000, "Pad reflect", "a reflection of more than there is"},
    {kOrt, "pad", "", 0, 1000, "zero effective input extent", "an edge or a reflection of nothing"},
    {kOrt, "reduce_log_sum_exp", "integers", 0, 1000, "elements",
     "casts of what the integers do not hold"},
    {kOrt, "average_pool", "open same", 0, 1000, "padding values must be non-negative",
     "SAME with long steps of an input of unknown size"},
    {kOrt, "max_pool", "open same", 0, 1000, "padding values must be non-negative",
     "SAME with long steps of an input of unknown size"},
    {kOrt, "pad", "wrap", 19, 1000, "elements of", "wraps of more than there is"},
    {kOrt, "arg_max", "nothing", 0, 1000, "got I64", "the largest of nothing"},
    {kOrt, "arg_min", "nothing", 0, 1000, "got I64", "the largest of nothing"},
    {kOrt, "top_k", "nothing", 0, 1000, "the runtime ended", "the largest of nothing"},
    {kOrt, "matmul", "nothing", 0, 1000, "cannot broadcast on dim", "products of no matrices"},
    {"PyTorch", "pad", "open", 0, 1000, "resulted in a negative output size",
     "sizes that are cut off to nothing"},
    {kOrt, "einsum", "", 0, 1000, "Cannot parse the diagonal", "a diagonal that broadcasts"},
    {kOrt, "unique", "unknown rank", 0, 1000, "the runtime ended", "Unique of unknown rank"},
    {kOrt, "split_to_sequence", "unused", 0, 1000, "split_size_sum",
     "sizes of parts that nobody uses"},
};

bool Holds(const Node& node, std::string_view condition) {
  const Value* x = node.input(0);
  if (condition == "rank2") return x && x->shape() && x->shape()->rank() < 3;
  if (condition == "same") return node.attrs().String("auto_pad").starts_with("SAME");
  if (condition == "open same") return Holds(node, "open") && Holds(node, "same");
  if (condition == "nothing") {
    return x && x->shape() &&
           std::any_of(x->shape()->begin(), x->shape()->end(), [](Dim d) { return d == Dim(0); });
  }
  if (condition == "nearest sizes") {
    return node.attrs().String("mode") == "nearest" && node.input(3);
  }
  if (condition == "reflect" || condition == "wrap") {
    return node.attrs().String("mode") == condition && x && x->shape() && !x->shape()->is_static();
  }
  if (condition == "open") return x && x->shape() && !x->shape()->is_static();
  if (condition == "cubic integers") {
    return x && IsInteger(x->dtype()) && node.attrs().String("mode") == "cubic";
  }
  if (condition == "antialiased integers") {
    return x && IsInteger(x->dtype()) && node.attrs().Int("antialias") != 0;
  }
  if (condition == "unknown rank") return x && !x->shape();
  if (condition == "unused") {
    const Value* y = node.output(0);
    return y && y->uses().empty() && !y->is_graph_output();
  }
  if (condition == "integers") return x && IsInteger(x->dtype());
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
