// ONNX Runtime's own fused ops, written with the option "contrib": which nodes become one, which
// stay, and that what is read again computes the same. What the ops compute is compared with ONNX
// Runtime in tests/conformance.
#include "x2ir/handlers/onnx/contrib_fusions.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

std::string OpsOf(const Graph& graph) {
  std::string ops;
  for (const Node* node : graph.nodes()) StrAppend(&ops, ops.empty() ? "" : " ", node->op().view());
  return ops;
}

absl::StatusOr<std::vector<Datum>> ResultsOf(const Graph& graph, const Graph& like) {
  X2IR_ASSIGN_OR_RETURN(const IoCase io, RandomCase(like, 5, nullptr));
  return RunCase(graph, io);
}

void ExpectClose(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    EXPECT_NEAR(a.AsDouble(i), b.AsDouble(i), 1e-5) << i;
  }
}

TEST(ContribFusions, AreWrittenAndReadAgain) {
  const std::string constants =
      "g = float32[4]{1, 2, 0.5, 4} h = float32[4]{0.5, 0.25, 2, 1} c = float32[4]{3, 1, 2, 8} "
      "alpha = float32[]{1.75} ";
  const std::string norm = "y = layer_normalization(s, g, h) { axis = -1, epsilon = 0.001 }";
  const std::string rms = "y = rms_normalization(s, g) { axis = -1, epsilon = 0.001 }";
  const std::string ms = "com.microsoft::";
  const std::string fours =
      "w = uint4[2,32]{0, 7, 14, 5, 12, 4, 11, 2, 9, 0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, "
      "14, 5, 12, 4, 11, 2, 9, 0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, 14, 5, 12, 4, 11, 2, 9, "
      "0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, 14, 5} s = float32[2,2]{0.5, 0.25, 1, 2} ";
  const std::string minima =
      "d = dequantize_linear(w, s) { axis = 1, block_size = 16 } i = int64[3]{2, 2, 16} "
      "r = reshape(d, i) m = float32[2,2,1]{1, 0.5, -2, 4} u = sub(r, m) j = int64[2]{2, 32} "
      "v = reshape(u, j) ";
  const std::string kWithSizes =
      "Shape Squeeze Add Range Reshape Reshape Transpose Reshape Transpose Reshape Transpose "
      "Reshape "
      "Shape Squeeze Add Shape Squeeze Sub "
      "Reshape Cast Shape Squeeze Unsqueeze Expand Cast com.microsoft::GroupQueryAttention Reshape "
      "Transpose";
  const struct {
    const char *inputs, *outputs;
    std::string lines, ops;
    int opset = 23;
  } rows[] = {
      {"x: float32[2,3,4], z: float32[2,3,4]", "y", "s = add(x, z) " + norm,
       ms + "SkipLayerNormalization", 17},
      {"x: float32[2,3,4], z: float32[2,3,4]", "y", "s = add(x, z) " + rms,
       ms + "SkipSimplifiedLayerNormalization"},
      // The sum is an output, or used behind the norm.
      {"x: float32[2,3,4], z: float32[2,3,4]", "y, s", "s = add(x, z) " + norm,
       ms + "SkipLayerNormalization", 17},
      {"x: float32[2,3,4], z: float32[2,3,4]", "w", "s = add(x, z) " + rms + " w = mul(s, y)",
       ms + "SkipSimplifiedLayerNormalization Mul"},
      // With a bias on either side.
      {"x: float32[2,3,4], z: float32[2,3,4]", "y", "a = add(x, c) s = add(a, z) " + norm,
       ms + "SkipLayerNormalization", 17},
      {"x: float32[2,3,4], z: float32[2,3,4]", "y", "a = add(c, x) s = add(z, a) " + rms,
       ms + "SkipSimplifiedLayerNormalization"},
      {"s: float32[2,3,4]", "y", rms, "SimplifiedLayerNormalization"},
      {"n: float32[2,3,4]", "y", "y = gelu(n) { approximate = \"tanh\" }", ms + "FastGelu"},
      {"n: float32[2,3,4]", "y", "a = add(n, c) y = gelu(a) { approximate = \"tanh\" }",
       ms + "FastGelu"},
      {"n: float32[2,3,4]", "y", "a = add(n, c) y = gelu(a) { approximate = \"none\" }",
       ms + "BiasGelu"},
      {"n: float32[2,3,4]", "y", "a = sigmoid(n) y = mul(n, a)", ms + "QuickGelu", 17},
      {"n: float32[2,3,4]", "y", "b = mul(n, alpha) a = sigmoid(b) y = mul(a, n)", ms + "QuickGelu",
       17},
      {"n: float32[3,32]", "y",
       "w = uint4[2,32]{0, 7, 14, 5, 12, 4, 11, 2, 9, 0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, "
       "14, 5, 12, 4, 11, 2, 9, 0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, 14, 5, 12, 4, 11, 2, 9, "
       "0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, 14, 5} s = float32[2,2]{0.5, 0.25, 1, 2} z = "
       "uint4[2,2]{1, 7, 8, 15} "
       "d = dequantize_linear(w, s, z) { axis = 1, block_size = 16 } "
       "t = transpose(d) { perm = [1, 0] } y = matmul(n, t)",
       ms + "MatMulNBits"},
      {"n: float32[3,16]", "y",
       "w = int4[16,4]{-8, -1, 6, -3, 4, -4, 3, -6, 1, -8, 0, 7, -2, 5, -4, 4, -5, 2, -7, 0, -8, "
       "-1, 6, -3, 4, -4, 3, -6, 1, -8, 0, 7, -2, 5, -4, 4, -5, 2, -7, 0, -8, -1, 6, -3, 4, -4, 3, "
       "-6, 1, -8, 0, 7, -2, 5, -4, 4, -5, 2, -7, 0, -8, -1, 6, -3} s = float32[1,4]{0.5, 0.25, 1, "
       "2} "
       "d = dequantize_linear(w, s) { axis = 0, block_size = 16 } y = matmul(n, d)",
       ms + "MatMulNBits"},
      {"n: float32[2,3,32]", "y",
       "w = uint4[32,2]{0, 7, 14, 5, 12, 4, 11, 2, 9, 0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, "
       "14, 5, 12, 4, 11, 2, 9, 0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, 14, 5, 12, 4, 11, 2, 9, "
       "0, 8, 15, 6, 13, 4, 12, 3, 10, 1, 8, 0, 7, 14, 5} s = float32[2,2]{0.5, 0.25, 1, 2} "
       "d = dequantize_linear(w, s) { axis = 0, block_size = 16 } y = matmul(n, d)",
       ms + "MatMulNBits"},
      // One scale for each row, or each column, of four bits; of eight bits it stays.
      {"n: float32[3,32]", "y",
       "w = uint4[2,32]{10, 10, 5, 5, 2, 2, 1, 9, 0, 4, 0, 2, 0, 1, 8, 8, 12, 4, 14, 2, 15, 9, 15, "
       "12, 7, 6, 12, 3, 6, 9, 3, 4, 1, 10, 8, 13, 12, 6, 14, 3, 7, 1, 11, 0, 5, 8, 11, 12, 5, 6, "
       "10, 11, 13, 13, 14, 6, 15, 11, 15, 13, 0, 15, 8, 7} s = float32[2]{0.5, 2} z = uint4[2]{3, "
       "12} "
       "d = dequantize_linear(w, s, z) { axis = 0 } y = gemm(n, d) { transB = 1 }",
       ms + "MatMulNBits"},
      {"n: float32[3,32]", "y",
       "w = int4[32,2]{2, 2, -3, -3, -6, -6, -7, 1, -8, -4, -8, -6, -8, -7, 0, 0, 4, -4, 6, -6, 7, "
       "1, 7, 4, -1, -2, 4, -5, -2, 1, -5, -4, -7, 2, 0, 5, 4, -2, 6, -5, -1, -7, 3, -8, -3, 0, 3, "
       "4, -3, -2, 2, 3, 5, 5, 6, -2, 7, 3, 7, 5, -8, 7, 0, -1} s = float32[2]{0.5, 2} "
       "d = dequantize_linear(w, s) { axis = 1 } y = matmul(n, d)",
       ms + "MatMulNBits"},
      {"n: float32[3,16]", "y",
       "w = int8[2,16]{-64, 0, -37, -5, -72, -56, -41, -33, -74, -70, -42, -40, -26, -25, -18, "
       "-66, -14, -38, -12, -24, -11, -17, -59, -62, -83, -36, 2, -23, -4, -65, -7, -86} s = "
       "float32[2]{0.5, 2} "
       "d = dequantize_linear(w, s) { axis = 0 } y = gemm(n, d) { transB = 1 }",
       "DequantizeLinear Gemm"},
      // The same by gemm, with a bias; of eight bits; and less a number for each block.
      {"n: float32[3,32]", "y",
       fours + "d = dequantize_linear(w, s) { axis = 1, block_size = 16 } "
               "c2 = float32[2]{1, -2} y = gemm(n, d, c2) { transB = 1 }",
       ms + "MatMulNBits Add"},
      {"n: float32[3,16]", "y",
       "w = int8[2,16]{0, 1, 2, -3, 4, 5, 6, 127, -128, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, "
       "20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, -31} s = float32[2,1]{0.5, 0.25} "
       "d = dequantize_linear(w, s) { axis = 1, block_size = 16 } y = gemm(n, d) { transB = 1 }",
       ms + "MatMulNBits"},
      {"n: float32[3,32]", "y", fours + minima + "y = gemm(n, v) { transB = 1 }",
       ms + "MatMulNBits Reshape ReduceSum MatMul Sub"},
      {"n: float32[2,3,32]", "y",
       fours + minima + "t = transpose(v) { perm = [1, 0] } y = matmul(n, t)",
       ms + "MatMulNBits Reshape ReduceSum MatMul Sub"},
      // Not all of the product.
      {"n: float32[3,32]", "y",
       fours + "d = dequantize_linear(w, s) { axis = 1, block_size = 16 } "
               "y = gemm(n, d) { transB = 1, alpha = 2.0 }",
       "DequantizeLinear Gemm"},
      {"q: float32[2,3,8], k: float32[2,5,8], v: float32[2,5,8]", "y",
       "y = attention(q, k, v) { q_num_heads = 2, kv_num_heads = 2 }", ms + "MultiHeadAttention"},
      {"q: float32[2,3,8], k: float32[2,3,8], v: float32[2,3,8]", "y",
       "y = attention(q, k, v) { q_num_heads = 2, kv_num_heads = 2, is_causal = 1, scale = 0.5 }",
       ms + "MultiHeadAttention"},
      {"q: float32[2,3,8], k: float32[2,5,8], v: float32[2,5,8], m: float32[1,2,3,5]", "y",
       "y = attention(q, k, v, m) { q_num_heads = 2, kv_num_heads = 2 }",
       ms + "MultiHeadAttention"},
      // A query that may look at nothing gives zeros; of a constant mask that is known.
      {"q: float32[2,3,8], k: float32[2,5,8], v: float32[2,5,8], m: bool[2,1,3,5]", "y, z",
       "y = attention(q, k, v, m) { q_num_heads = 2, kv_num_heads = 2 } "
       "z = attention(q, k, v, m) { q_num_heads = 4, kv_num_heads = 4 }",
       "Where ReduceMax Transpose " + ms + "MultiHeadAttention Where " + ms +
           "MultiHeadAttention Where"},
      {"q: float32[2,2,8], k: float32[2,2,8], v: float32[2,2,8]", "y",
       "m = bool[1,1,2,2]{true, false, false, true} "
       "y = attention(q, k, v, m) { q_num_heads = 2, kv_num_heads = 2 }",
       "Where " + ms + "MultiHeadAttention"},
      {"q: float32[2,2,8], k: float32[2,2,8], v: float32[2,2,8]", "y",
       "m = bool[1,1,2,2]{true, false, false, false} "
       "y = attention(q, k, v, m) { q_num_heads = 2, kv_num_heads = 2 }",
       "Where ReduceMax Transpose " + ms + "MultiHeadAttention Where"},
      // Heads that share keys.
      {"q: float32[2,3,16], k: float32[2,3,8], v: float32[2,3,8]", "y",
       "y = attention(q, k, v) { q_num_heads = 4, kv_num_heads = 2, is_causal = 1 }",
       ms + "GroupQueryAttention"},
      // By head, where that was made of rows.
      {"q: float32[2,3,16], k: float32[2,3,8], v: float32[2,3,8]", "y",
       "n = int64[4]{0, 0, 4, 4} o = int64[4]{0, 0, 2, 4} "
       "q1 = reshape(q, n) q2 = transpose(q1) { perm = [0, 2, 1, 3] } "
       "k1 = reshape(k, o) k2 = transpose(k1) { perm = [0, 2, 1, 3] } "
       "v1 = reshape(v, o) v2 = transpose(v1) { perm = [0, 2, 1, 3] } "
       "a = attention(q2, k2, v2) { is_causal = 1 } y = transpose(a) { perm = [0, 2, 1, 3] }",
       ms + "GroupQueryAttention Reshape"},
      // Below the opset that has attention, too.
      {"q: float32[2,3,8], k: float32[2,5,8], v: float32[2,5,8]", "y",
       "y = attention(q, k, v) { q_num_heads = 2, kv_num_heads = 2 }", ms + "MultiHeadAttention",
       13},
      {"q: float32[2,2,3,4], k: float32[2,2,5,4], v: float32[2,2,5,4], m: float32[1,1,1,5]", "y",
       "y = attention(q, k, v, m)",
       "Transpose Reshape Transpose Reshape Transpose Reshape Expand " + ms +
           "MultiHeadAttention Reshape Transpose",
       17},
      {"s: float32[2,3,4]", "y", rms, "SimplifiedLayerNormalization", 13},
      {"n: float32[2,3,4]", "y", "y = gelu(n) { approximate = \"none\" }", ms + "Gelu", 17},
      // A cache that grows: of one word nothing is hidden, of several what comes later is.
      {"q: float32[2,4,1,4], k: float32[2,2,1,4], v: float32[2,2,1,4], p: float32[2,2,3,4], "
       "r: float32[2,2,3,4]",
       "y, a, b",
       "a = concat(p, k) { axis = 2 } b = concat(r, v) { axis = -2 } y = attention(q, a, b)",
       "Transpose Reshape Transpose Reshape Transpose Reshape " + ms +
           "GroupQueryAttention Reshape Transpose",
       17},
      {"q: float32[2,1,16], k: float32[2,1,8], v: float32[2,1,8], p: float32[2,2,3,4], "
       "r: float32[2,2,3,4]",
       "y, a, b",
       "n = int64[4]{0, 4, 1, 4} o = int64[4]{0, 2, 1, 4} w = int64[3]{0, 1, 16} "
       "q1 = reshape(q, n) k1 = reshape(k, o) v1 = reshape(v, o) m = bool[1,4]{true, true, true, "
       "true} "
       "a = concat(p, k1) { axis = 2 } b = concat(r, v1) { axis = 2 } cc = attention(q1, a, b, m) "
       "y = reshape(cc, w)",
       ms + "GroupQueryAttention Reshape Transpose Reshape"},
      {"q: float32[1,2,2,4], k: float32[1,2,2,4], v: float32[1,2,2,4], p: float32[1,2,1,4], "
       "r: float32[1,2,1,4]",
       "y, a, b",
       "m = bool[2,3]{true, true, false, true, true, true} "
       "a = concat(p, k) { axis = 2 } b = concat(r, v) { axis = 2 } y = attention(q, a, b, m)",
       "Transpose Reshape Transpose Reshape Transpose Reshape " + ms +
           "GroupQueryAttention Reshape Transpose",
       17},
      // A computed mask: as many keys as there are from 0 on, up to the place of the query.
      {"q: float32[n,2,1,4], k: float32[n,2,1,4], v: float32[n,2,1,4], p: float32[n,2,t,4], "
       "r: float32[n,2,t,4]",
       "y, a, b",
       "z = int64[]{0} e = int64[]{1} f = int64[1]{0} gg = int64[4]{1, 1, 1, -1} "
       "s = shape(p) { start = 2, end = 3 } u = squeeze(s, f) w = add(u, e) cc = range(z, w, e) "
       "d = reshape(cc, gg) hh = reshape(s, gg) i = less_or_equal(d, hh) "
       "a = concat(p, k) { axis = 2 } b = concat(r, v) { axis = 2 } y = attention(q, a, b, i)",
       kWithSizes, 17},
      // A cache whose mask hides something else, of several sequences with several words, or that
      // others read: none of that is for the kernel.
      {"q: float32[1,2,2,4], k: float32[1,2,2,4], v: float32[1,2,2,4], p: float32[1,2,1,4], "
       "r: float32[1,2,1,4]",
       "y, a, b",
       "m = bool[2,3]{true, true, true, true, true, true} "
       "a = concat(p, k) { axis = 2 } b = concat(r, v) { axis = 2 } y = attention(q, a, b, m)",
       "Concat Concat Attention"},
      {"q: float32[2,2,2,4], k: float32[2,2,2,4], v: float32[2,2,2,4], p: float32[2,2,1,4], "
       "r: float32[2,2,1,4]",
       "y, a, b",
       "m = bool[2,3]{true, true, false, true, true, true} "
       "a = concat(p, k) { axis = 2 } b = concat(r, v) { axis = 2 } y = attention(q, a, b, m)",
       "Concat Concat Attention"},
      {"q: float32[2,2,1,4], k: float32[2,2,1,4], v: float32[2,2,1,4], p: float32[2,2,3,4], "
       "r: float32[2,2,3,4]",
       "y, z",
       "a = concat(p, k) { axis = 2 } b = concat(r, v) { axis = 2 } y = attention(q, a, b) "
       "z = neg(a)",
       "Concat Concat Attention Neg"},
      {"x: float32[2,2,3,4]", "y",
       "i = int64[2,3]{0, 1, 2, 2, 1, 0} a = float32[3,2]{1, 0.5, 0.25, 0.5, 0, 1} "
       "b = float32[3,2]{0, 0.5, 0.75, 0.25, 1, 0} y = rotary_embedding(x, a, b, i)",
       ms + "RotaryEmbedding"},
      {"q: float32[2,3,16], k: float32[2,5,8], v: float32[2,5,8]", "y",
       "y = attention(q, k, v) { q_num_heads = 4, kv_num_heads = 2 }", "Attention"},
      {"q: float32[2,2,3,4], k: float32[2,2,3,4], v: float32[2,2,3,4]", "y",
       "y = attention(q, k, v)", "Attention"},
      // What stays: the kernels have no such ranks, types or broadcasts.
      {"x: float32[2,3,4], z: float32[1,3,4]", "y", "s = add(x, z) " + norm,
       "Add LayerNormalization", 17},
      {"x: float32[2,2,3,4], z: float32[2,2,3,4]", "y", "s = add(x, z) " + norm,
       "Add LayerNormalization", 17},
      {"n: float32[2,3,4]", "y", "y = gelu(n) { approximate = \"none\" }", "Gelu"},
      {"n: float32[2,3,4], m: float32[2,3,4]", "y", "a = sigmoid(m) y = mul(n, a)", "Sigmoid Mul",
       17},
      {"n: float64[2,3,4]", "y", "a = sigmoid(n) y = mul(n, a)", "Sigmoid Mul", 17},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.lines);
    auto graph = ParseIr(row.inputs, constants + row.lines, row.outputs);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const std::shared_ptr<Graph> before = (*graph)->Clone();
    for (const bool contrib : {true, false}) {
      Model model;
      model.graph = before->Clone();
      ExportOptions options{.opset = row.opset, .optimize = false, .check = true};
      if (contrib) options.format_options.Set("contrib", true);
      auto onnx = FromIr(std::move(model), "onnx", options);
      ASSERT_TRUE(onnx.ok()) << onnx.status();
      const std::string ops = OpsOf(*std::as_const(*onnx).graph);
      if (!contrib) {
        EXPECT_EQ(ops.find("com.microsoft"), ops.npos) << "not unasked";
        continue;
      }
      EXPECT_EQ(ops, row.ops);
      EXPECT_EQ(onnx->Opset("com.microsoft"), ops.find(ms) == ops.npos ? 0 : 1);
      for (const Node* node : std::as_const(*onnx).graph->nodes()) {
        const Annotations* notes = node->annotations().get();
        EXPECT_TRUE(!notes || !notes->extra.contains(kMadeForTarget)) << "a note of the way";
      }
      EXPECT_TRUE(onnx->graph->Validate().empty());
      const auto back = ToIr(*std::move(onnx));
      ASSERT_TRUE(back.ok()) << back.status();
      const auto want = ResultsOf(*before, *before), got = ResultsOf(*back->graph, *before);
      ASSERT_TRUE(want.ok()) << want.status();
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(want->size(), got->size());
      for (size_t i = 0; i < want->size(); ++i) {
        ExpectClose(*(*got)[i].tensor(), *(*want)[i].tensor());
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
