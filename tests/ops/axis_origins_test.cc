// Which axes of its operands an axis of a result is: "operand.axis" for each axis of the first
// result, from what the ops compute (docs/ir_ops.md).
#include "x2ir/ops/axis_origins.h"

#include "gtest/gtest.h"
#include "tests/ops/text_graph_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// "0.0 1.0, -, 0.2": axis 0 of the result is axis 0 of both operands, axis 1 is none.
std::string Origins(const std::string& graph_text) {
  const auto graph = InferredGraph(graph_text);
  const Node& node = *graph->last();
  std::string text;
  for (int64_t axis = 0; axis < ResultOf(node)->shape()->rank(); ++axis) {
    if (axis > 0) text += ", ";
    std::string places;
    for (const AxisPlace& place : AxisOrigins(node, axis)) {
      StrAppend(&places, places.empty() ? "" : " ", place.operand, ".", place.axis);
    }
    text += places.empty() ? "-" : places;
  }
  return text;
}

TEST(AxisOriginsTest, OfOps) {
  struct Row {
    const char *inputs, *node, *origins;
  };
  const Row rows[] = {
      {"x: float32[2,3], y: float32[3]", "add(x, y)", "0.0, 0.1 1.0"},
      {"x: float32[2,3,4]", "softmax(x) { axis = -1 }", "0.0, 0.1, -"},
      // Along another axis than the last, too, an element is computed from all along it.
      {"x: float32[2,3,4]", "softmax(x) { axis = 1 }", "0.0, -, 0.2"},
      {"x: float32[2,3,4]", "log_softmax(x) { axis = 0 }", "-, 0.1, 0.2"},
      {"x: float32[2,3,4], s: float32[3,4]", "layer_normalization(x, s) { axis = 1 }", "0.0, -, -"},
      {"x: float32[2,3,4]", "transpose(x) { perm = [2, 0, 1] }", "0.2, 0.0, 0.1"},
      {"x: float32[2,5,4], y: float32[2,4,3]", "matmul(x, y)", "0.0 1.0, 0.1, 1.2"},
      {"x: float32[2,3], y: float32[2,3]", "concat(x, y) { axis = 1 }", "0.0 1.0, -"},
      {"x: float32[5,4], i: int64[2,3]", "gather(x, i) { axis = 0 }", "1.0, 1.1, 0.1"},
      {"x: float32[5,4], i: int64[5,2]", "gather_elements(x, i) { axis = 1 }", "0.0 1.0, 1.1"},
      {"x: float32[2,3,8,8], w: float32[4,3,3,3]", "conv(x, w)", "0.0, -, -, -"},
      {"x: float32[2,3,8,8]", "global_average_pool(x)", "0.0, -, -, -"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Origins(StrCat("graph g(", row.inputs, ") -> (r) { r = ", row.node, " }")),
              row.origins)
        << row.node;
  }
}

}  // namespace
}  // namespace x2ir
