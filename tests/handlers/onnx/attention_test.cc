// Handlers and lowerings of attention, its surroundings, and ops on text: text in, text out.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/rows_util.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kQ = "q: float32[b,2,n,8], m: bool[n,n], c: int64[b]) -> (y)";
constexpr std::string_view kDefaults =
    "is_causal = 0, left_window_size = -1, qk_matmul_output_mode = 0, right_window_size = -1, "
    "softcap = 0.0 }";

TEST(AttentionHandlers, BothWays) {
  struct Row {
    int opset;
    std::string_view header, onnx;
    std::string ir;
  };
  const Row rows[] = {
      {23, kQ, "y = onnx.Attention(q, q, q)", "y = attention(q, q, q) { " + std::string(kDefaults)},
      {24, kQ, "y = onnx.Attention(q, q, q, m, _, _, c) { softmax_precision = 1 }",
       "y = attention(q, q, q, m, _, _, c) { softmax_precision = \"float32\", " +
           std::string(kDefaults)},
      {25, kQ, "y = onnx.Attention(q, q, q) { left_window_size = 4 }",
       "y = attention(q, q, q) { is_causal = 0, left_window_size = 4, "
       "qk_matmul_output_mode = 0, right_window_size = -1, softcap = 0.0 }"},
      {23, "x: float32[b,n,8], c: float32[b,n,2], s: float32[b,n,2]) -> (y)",
       "y = onnx.RotaryEmbedding(x, c, s) { num_heads = 2 }",
       "y = rotary_embedding(x, c, s) "
       "{ interleaved = 0, num_heads = 2, rotary_embedding_dim = 0 }"},
      {24, "x: float32[b,n,8], u: float32[b,2,8], i: int64[b]) -> (y)",
       "y = onnx.TensorScatter(x, u, i) { mode = \"circular\" }",
       "y = tensor_scatter(x, u, i) { axis = -2, mode = \"circular\" }"},
      {28, "x: float32[n]) -> (y)", "y = onnx.SwiGLU(x, x)", "y = swiglu(x, x) { alpha = 1.0 }"},
      {27, "x: float32[b,n,8]) -> (y, s)",
       "y, s = onnx.LinearAttention(x, x, x) "
       "{ kv_num_heads = 2, q_num_heads = 2, update_rule = \"linear\" }",
       "y, s = linear_attention(x, x, x) { chunk_size = 64, kv_num_heads = 2, q_num_heads = 2, "
       "scale = 0.0, update_rule = \"linear\" }"},
      {27, "x: float32[b,8,n], w: float32[8,1,4]) -> (y, s)",
       "y, s = onnx.CausalConvWithState(x, w)",
       "y, s = causal_conv_with_state(x, w) { activation = \"none\" }"},
      {20, "x: string[n]) -> (y)", "y = onnx.StringConcat(x, x)", "y = string_concat(x, x)"},
      {20, "x: string[n]) -> (y, z)", "y, z = onnx.StringSplit(x)",
       "y, z = string_split(x) { delimiter = \"\", maxsplit = -1 }"},
      {10, "x: string[n]) -> (y)", "y = onnx.StringNormalizer(x) { stopwords = [\"a\"] }",
       "y = string_normalizer(x) { case_change_action = \"NONE\", is_case_sensitive = 0, "
       "stopwords = [\"a\"] }"},
  };
  for (const Row& row : rows) {
    const std::string onnx = GraphText(row.header, row.onnx), ir = GraphText(row.header, row.ir);
    // Attributes may come in any order: there and back is what counts.
    EXPECT_EQ(FromIrText(ir, row.opset), Canonical(onnx)) << row.opset << " " << row.ir;
    EXPECT_EQ(FromIrText(ToIrText(onnx, row.opset), row.opset), Canonical(onnx)) << row.onnx;
  }
}

TEST(AttentionHandlers, Export) {
  struct Row {
    int opset;
    std::string_view header, ir, want;  // a part of the result or of the error
  };
  const Row rows[] = {
      {22, kQ, "y = attention(q, q, q)", "onnx.Softmax"},
      {24, "q: float32[1,2,3,8]) -> (y)", "y = attention(q, q, q) { left_window_size = 1 }",
       "onnx.Where"},
      {22, kQ, "y = attention(q, q, q) { is_causal = 1 }", "queries and keys"},
      {23, "q: float32[1,2,3,8], m: bool[3,1]) -> (y)", "y = attention(q, q, q, m)", "onnx.Pad"},
      {24, "x: float32[n]) -> (y)", "y = swiglu(x, x) { alpha = 1.0 }", "onnx.Swish"},
      {22, "x: float32[b,n,8], u: float32[b,m,8]) -> (y)",
       "y = tensor_scatter(x, u) { axis = -2, mode = \"linear\" }", "opset 24 has it"},
  };
  for (const Row& row : rows) {
    std::string ir(row.ir);
    if (ir.find("attention") != std::string::npos) {
      const size_t at = ir.find(" {");
      const bool causal = ir.find("is_causal") != std::string::npos;
      const bool window = ir.find("left_window") != std::string::npos;
      ir = ir.substr(0, at) + " { is_causal = " + (causal ? "1" : "0") +
           ", left_window_size = " + (window ? "1" : "-1") +
           ", qk_matmul_output_mode = 0, right_window_size = -1, softcap = 0.0 }";
    }
    EXPECT_THAT(FromIrText(GraphText(row.header, ir), row.opset), HasSubstr(std::string(row.want)))
        << row.opset << " " << row.ir;
  }
}

}  // namespace
}  // namespace x2ir
