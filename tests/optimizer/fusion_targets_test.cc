// Fusions ask the target: what an opset lacks stays spelled out.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"

namespace x2ir {
namespace {

std::string Ops(std::string_view ir_text, int opset) {
  auto model = ModelFromText(ir_text, "", 0);
  if (!model.ok()) return model.status().ToString();
  ExportOptions options;
  options.opset = opset;
  options.passes = {"fuse_activations", "fuse_normalizations", "gemm", "dead_code"};
  options.check = true;
  if (const auto status = FromIr(*model, "onnx", options); !status.ok()) return status.ToString();
  std::string ops;
  for (const Node* node : model->graph->nodes()) ops += (ops.empty() ? "" : " ") + node->op().str();
  return ops;
}

TEST(FusionTargets, OnnxOpsets) {
  struct Row {
    std::string_view text;
    int opset;
    std::string_view ops;
  };
  constexpr std::string_view kGelu =
      "graph g(x: float32[2]) -> (y) { r = float32[]{1.4142135} one = float32[]{1} "
      "h = float32[]{0.5}\n a = div(x, r)\n e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n"
      "y = mul(m, h) }";
  constexpr std::string_view kLayerNorm =
      "graph g(x: float32[2,4]) -> (y) { axes = int64[1]{-1} eps = float32[]{1e-5}\n"
      "m = reduce_mean(x, axes) { keepdims = 1, noop_with_empty_axes = 0 }\n d = sub(x, m)\n"
      "q = mul(d, d)\n v = reduce_mean(q, axes) { keepdims = 1, noop_with_empty_axes = 0 }\n"
      "e = add(v, eps)\n s = sqrt(e)\n y = div(d, s) }";
  constexpr std::string_view kSwish =
      "graph g(x: float32[2]) -> (y) { s = sigmoid(x)\n y = mul(x, s) }";
  constexpr std::string_view kHardSwish =
      "graph g(x: float32[2]) -> (y) { s = hard_sigmoid(x) { alpha = 0.16666667, beta = 0.5 }\n"
      "y = mul(x, s) }";
  constexpr std::string_view kMish =
      "graph g(x: float32[2]) -> (y) { s = softplus(x)\n t = tanh(s)\n y = mul(x, t) }";
  constexpr std::string_view kRms =
      "graph g(x: float32[2,4]) -> (y) { axes = int64[1]{-1} eps = float32[]{1e-5}\n q = mul(x, "
      "x)\n"
      "v = reduce_mean(q, axes) { keepdims = 1, noop_with_empty_axes = 0 }\n"
      "e = add(v, eps)\n s = sqrt(e)\n y = div(x, s) }";
  constexpr std::string_view kGroups =
      "graph g(x: float32[2,4,3]) -> (y) { to = int64[3]{0,2,-1} back = int64[3]{2,4,3} "
      "one = float32[2]{1,1} zero = float32[2]{0,0}\n g = reshape(x, to) { allowzero = 0 }\n"
      "i = instance_normalization(g, one, zero) { layout = \"channels_first\", epsilon = 1e-5 }\n"
      "y = reshape(i, back) { allowzero = 0 } }";
  constexpr std::string_view kGemm =
      "graph g(x: bfloat16[2,2], z: bfloat16[2,2], b: bfloat16[2]) -> (y) {\n"
      "m = matmul(x, z)\n y = add(m, b) }";
  constexpr std::string_view kMatrixForm =
      "graph g(x: float32[n,4,3]) -> (y) { f = flatten(x) { axis = 1 }\n"
      "s = log_softmax(f) { axis = 1 }\n t = shape(x) { start = 0 }\n y = reshape(s, t) { "
      "allowzero = 0 } }";
  constexpr std::string_view kUnknownRank =
      "graph g(x: float32[...]) -> (y) { f = flatten(x) { axis = 1 }\n"
      "s = softmax(f) { axis = 1 }\n t = shape(x) { start = 0 }\n y = reshape(s, t) { "
      "allowzero = 0 } }";
  constexpr std::string_view kUnknownRankOther =
      "graph g(x: float32[...], z: float32[...]) -> (y) { f = flatten(x) { axis = 1 }\n"
      "s = softmax(f) { axis = 1 }\n t = shape(z) { start = 0 }\n y = reshape(s, t) { "
      "allowzero = 0 } }";
  constexpr std::string_view kOtherShape =
      "graph g(x: float32[2,4,3]) -> (y) { to = int64[3]{2,3,4} f = flatten(x) { axis = 1 }\n"
      "s = softmax(f) { axis = 1 }\n y = reshape(s, to) { allowzero = 0 } }";
  constexpr std::string_view kMatrixUsed =
      "graph g(x: float32[2,4,3]) -> (y, s) { to = int64[3]{2,4,3} f = flatten(x) { axis = 1 }\n"
      "s = hardmax(f) { axis = 1 }\n y = reshape(s, to) { allowzero = 0 } }";
  const Row rows[] = {
      {kMatrixForm, 12, "LogSoftmax"},
      {kMatrixForm, 13, "Flatten LogSoftmax Shape Reshape"},
      {kUnknownRank, 12, "Softmax"},
      {kUnknownRank, 13, "Flatten Softmax Shape Reshape"},
      {kUnknownRankOther, 12, "Flatten Softmax Shape Reshape"},
      {kOtherShape, 12, "Flatten Softmax Reshape"},
      {kMatrixUsed, 12, "Flatten Hardmax Reshape"},
      {kGelu, 19, "Div Erf Add Mul Mul"},
      {kGelu, 20, "Gelu"},
      {kLayerNorm, 16, "ReduceMean Sub Mul ReduceMean Add Sqrt Div"},
      {kLayerNorm, 17, "LayerNormalization"},
      {kSwish, 23, "Sigmoid Mul"},
      {kSwish, 24, "Swish"},
      {kHardSwish, 13, "HardSigmoid Mul"},
      {kHardSwish, 14, "HardSwish"},
      {kMish, 17, "Softplus Tanh Mul"},
      {kMish, 18, "Mish"},
      {kRms, 22, "Mul ReduceMean Add Sqrt Div"},
      {kRms, 23, "RMSNormalization"},
      {kGroups, 18, "Reshape InstanceNormalization Reshape"},
      {kGroups, 21, "GroupNormalization"},
      {kGemm, 13, "Gemm"},
  };
  for (const Row& row : rows) EXPECT_EQ(Ops(row.text, row.opset), row.ops) << row.opset;
}

}  // namespace
}  // namespace x2ir
