// What is said of nodes that are wrong: which operand, and what would be right.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

TEST(Messages, SayWhichOperandAndWhatIsAllowed) {
  const struct {
    std::string_view inputs, node, message;
    int opset = 18;
  } rows[] = {
      {"x: float32[2,3], w: float32[3]", "Gemm(x, w)", "operand 'b': expected rank 2, got 1"},
      {"x: float32[1,3,2], w: float32[3,1]", "InstanceNormalization(x, w, w)",
       "operand 'scale': expected shape [3]"},
      {"x: float32[2,3], k: int64[2]", "CumSum(x, k)", "operand 'axis': expected one number"},
      {"x: float32[2], k: float32[]", "Range(x, k, k)", "operand 'start': expected one number"},
      {"x: int64[3], d: int64[2], v: float32[2]", "OneHot(x, d, v)",
       "operand 'depth': expected one number"},
      {"x: float32[2,3]", "Gelu(x) { approximate = \"erf\" }",
       "approximate: expected none or tanh, got 'erf'", 20},
      {"x: float32[2,3], p: int64[4]", "Pad(x, p) { mode = \"wrap\" }",
       "'mode' = \"wrap\" does not exist at opset 18; expected constant, reflect, edge"},
      {"x: float32[2,3]", "LeakyRelu(x) { slope = 0.5 }",
       "unknown attribute 'slope'; known are alpha"},
      {"x: float32[2,3]", "Relu(x) { slope = 0.5 }", "unknown attribute 'slope'; the op has none"},
      {"x: float32[2,3], i: float32[1]", "Gather(x, i)",
       "operand 'indices' may not be float32; expected one of int32, int64"},
      {"x: float32[2,3,4], w: float32[1,8,4], r: float32[1,8,2]",
       "LSTM(x, w, r) { activations = [\"Foo\", \"Tanh\", \"Tanh\"] }",
       "activations: unknown name 'Foo'; expected one of "},
      {"x: float32[2,3,4], w: float32[1,8,4], r: float32[1,8,2]", "LSTM(x, w, r) { layout = 2 }",
       "expected 0 or 1, got 2"},
  };
  for (const auto& row : rows) {
    const std::string graph =
        StrCat("graph g(", row.inputs, ") -> (y) { y = onnx.", row.node, " }");
    EXPECT_THAT(ToIrText(graph, row.opset), ::testing::HasSubstr(std::string(row.message)));
  }
}

}  // namespace
}  // namespace x2ir
