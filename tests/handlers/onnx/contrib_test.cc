// ONNX Runtime's own domain: how its ops are read, and what is refused. What they compute is
// compared with ONNX Runtime itself in tests/conformance/oracle_test.cc.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Converted(std::string_view inputs, std::string body, int version = 1, int opset = 17) {
  for (size_t at; (at = body.find("ms.")) != body.npos;) {
    body.replace(at, 3, "onnx.com.microsoft::");
  }
  ConvertTextOptions options;
  if (version) options.extra_opsets = {{"com.microsoft", version}};
  return Body(ToIrText(StrCat("graph g(", inputs, ") -> (y) { ", body, " }"), opset, options));
}

TEST(Contrib, OperatorsAreRead) {
  const struct {
    std::string_view inputs, body, ir;
  } rows[] = {
      {"x: float32[2]", "y = ms.Gelu(x)", "y = gelu(x) { approximate = \"none\" }\n"},
      {"x: float32[2]", "y = ms.QuickGelu(x)", "y = swish(x) { alpha = 1.702 }\n"},
      {"x: float16[2]", "y = ms.QuickGelu(x) { alpha = 1.0 }", "y = swish(x) { alpha = 1.0 }\n"},
      {"x: float32[2,3], b: float32[3]", "y = ms.FastGelu(x, b)",
       "y_add = add(x, b)\ny = gelu(y_add) { approximate = \"tanh\" }\n"},
      {"a: float32[2,3], b: float32[3,4]", "y = ms.FusedMatMul(a, b)", "y = matmul(a, b)\n"},
      {"x: float32[2,3], g: float32[3]", "y = onnx.SimplifiedLayerNormalization(x, g)",
       "y = rms_normalization(x, g) { axis = -1, epsilon = 1e-05, stash_type = \"float32\" }\n"},
      {"x: float32[b,s,8], k: float32[b,t,8], v: float32[b,t,8]",
       "y = ms.MultiHeadAttention(x, k, v) { num_heads = 2 }",
       "y = attention(x, k, v) { is_causal = 0, kv_num_heads = 2, left_window_size = -1, "
       "q_num_heads = 2, qk_matmul_output_mode = 0, right_window_size = -1, softcap = 0.0 }\n"},
      {"x: float32[4,4]", "y = ms.Trilu(x) { upper = 0 }", "y = trilu(x) { upper = 0 }\n"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.body);
    EXPECT_EQ(Converted(row.inputs, std::string(row.body)), row.ir);
  }
}

TEST(Contrib, FormsThatAreRefused) {
  const struct {
    std::string_view inputs, body, error;
  } rows[] = {
      // What is not known at all is foreign, as in any other domain.
      {"x: float32[2]", "y = ms.NoSuchOp(x)",
       "com.microsoft::NoSuchOp (1 node): no mapping to IR; option 'foreign' com.microsoft keeps "
       "it"},
      // Operands and attributes are checked: ONNX has no schema that does.
      {"x: float32[2]", "y = ms.BiasGelu(x)", "too few operands"},
      {"x: float32[2]", "y = ms.Gelu(x, x)", "too many operands"},
      {"x: int32[2]", "y = ms.Gelu(x)", "INVALID_ARGUMENT"},
      {"x: float32[2]", "y = ms.Gelu(x) { alpha = 1.0 }", "unknown attribute 'alpha'"},
      {"x: float32[2]", "y = ms.QuickGelu(x) { alpha = 1 }", "'alpha'"},
      {"x: float32[2,3,8]", "y = ms.MultiHeadAttention(x, x, x)", "num_heads"},
      // Forms that ONNX's ops do not say.
      {"x: float32[2,3,8], g: float32[8]", "y, m = ms.SkipSimplifiedLayerNormalization(x, x, g)",
       "an output of the mean"},
      {"x: float32[2,3,8], g: float32[3,8]",
       "y, m = onnx.SimplifiedLayerNormalization(x, g) { axis = 1 }",
       "inv_std_var: an output of another axis"},
      {"a: float32[2,33], m: float32[11], w: uint8[83]",
       "y = ms.MatMulBnb4(a, w, m) { K = 33, N = 5, block_size = 16, quant_type = 2 }",
       "quant_type: expected 0 or 1, got 2"},
      {"x: float32[2,3,8], w: float32[8,24]",
       "y = ms.Attention(x, w) { num_heads = 2, do_rotary = 1 }", "do_rotary"},
      {"x: float32[2,3,8], w: float32[8,24]", "y = ms.Attention(x, w) { num_heads = 3 }",
       "a width of 8 for 3 heads"},
      {"x: float32[2,3,8], w: float32[8,24]", "y = ms.Attention(x, w) { num_heads = 0 }",
       "expected 1 or more"},
      {"x: float32[2,3,8], w: float32[8,24], m: int32[7]",
       "y = ms.Attention(x, w, _, m) { num_heads = 2 }", "a mask of 7 numbers for a batch of 2"},
      {"x: float32[2,3,8], w: float32[8,24], m: int32[2,1,1,9,9]",
       "y = ms.Attention(x, w, _, m) { num_heads = 2 }", "mask: expected rank 1 to 4, got 5"},
      {"x: float32[2,3,8], w: float32[24]", "y = ms.Attention(x, w) { num_heads = 2 }",
       "weights: expected rank 2, got 1"},
      {"x: float32[2,3,2,4,4]", "y = ms.MultiHeadAttention(x) { num_heads = 2 }",
       "query: without a value, expected [batch, length, 2, 3, size]"},
      {"x: float32[2,3,8], k: float32[2,5,8]",
       "y = ms.MultiHeadAttention(x, k, k) { num_heads = 2, unidirectional = 1 }",
       "other lengths of queries (3) and keys (5)"},
      {"x: float32[2,3,16], p: int64[2,3], c: float32[9,4]",
       "y = ms.RotaryEmbedding(x, p, c, c) { rotary_embedding_dim = 8 }",
       "num_heads must be given with rotary_embedding_dim"},
      {"x: float32[2,3,16], p: int64[2,3], c: float32[9,2]",
       "y = ms.RotaryEmbedding(x, p, c, c) { num_heads = 2 }",
       "cos_cache: expected rows of 4 numbers, got 2"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1]",
       "y, z, w = ms.GroupQueryAttention(x, x, x, _, _, l, t) { num_heads = 2, kv_num_heads = 2, "
       "k_quant_type = \"PER_TENSOR\" }",
       "k_quant_type 'PER_TENSOR': a quantized cache"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1], o: int8[2,2,3,8]",
       "y, z, w = ms.GroupQueryAttention(x, x, x, o, o, l, t) { num_heads = 2, kv_num_heads = 2 }",
       "past_key of int8: a quantized cache"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1]",
       "y, z, w = ms.GroupQueryAttention(x, x, x, _, _, l, t) { num_heads = 2, kv_num_heads = 2, "
       "sliding_window_cache = 1 }",
       "sliding_window_cache"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1]",
       "y, z, w = ms.GroupQueryAttention(x, x, x, _, _, l, t) { num_heads = 3, kv_num_heads = 2 }",
       "num_heads: 3 heads cannot share kv_num_heads 2"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1]",
       "y, z, w = ms.GroupQueryAttention(x, x, _, _, _, l, t) { num_heads = 2, kv_num_heads = 2 }",
       "key and value go together"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1]",
       "y, z, w = ms.GroupQueryAttention(x, _, _, _, _, l, t) { num_heads = 2, kv_num_heads = 2 }",
       "query: 16 numbers are not the heads"},
      {"x: float32[2,1,16], l: int32[2], t: int32[1]",
       "y, z, w = ms.GroupQueryAttention(x, x, x, _, _, l, t) { num_heads = 2, kv_num_heads = 2, "
       "do_rotary = 1 }",
       "do_rotary needs cos_cache and sin_cache"},
      {"x: float32[3,8], r: float32[3,4], a: float32[4,16,8], c: float32[4,8,16]",
       "y = ms.MoE(x, r, a, _, c) { use_sparse_mixer = 1 }", "use_sparse_mixer"},
      {"x: float32[3,8], r: float32[3,4], a: float32[4,16,8], c: float32[4,8,16]",
       "y = ms.MoE(x, r, a, _, c) { k = 5 }", "k: 5 of 4 experts"},
      {"x: float32[3,8], r: float32[3,4], a: float32[4,16,8], c: float32[4,8,16]",
       "y = ms.MoE(x, r, a, _, c) { activation_type = \"tanh\" }", "activation_type 'tanh'"},
      {"x: float32[3,8], r: float32[3,4], a: float32[4,16,8], c: float32[4,8,16]",
       "y = ms.MoE(x, r, a, _, c) { activation_type = \"swiglu\" }", "fc3_experts_weights"},
      {"x: float32[3,8], r: float32[3,4], a: uint8[4,16,4], c: uint8[4,8,8], s: float32[4,16]",
       "y = ms.QMoE(x, r, a, s, _, c, s) { k = 2 }", "weights that are computed"},
      {"x: float32[3,8], r: float32[3,4], a: uint8[4,16,4], c: uint8[4,8,8], s: float32[4,16]",
       "y = ms.QMoE(x, r, a, s, _, c, s) { quant_type = \"fp4\" }", "quant_type 'fp4'"},
      {"a: float32[2,4], b: float32[4,3]", "y = ms.FusedGemm(a, b) { activation = \"Swish\" }",
       "activation 'Swish'"},
      {"x: float32[2]", "y = ms.BiasGelu(_, x)", "operand"},
      {"x: float32[2,3,8]", "y = ms.Attention(x, _) { num_heads = 2 }", "operand"},
      {"a: float32[2,4], b: float32[...]", "y = ms.FusedMatMul(a, b) { transB = 1 }",
       "a transposed operand of unknown rank"},
      {"a: float32[2,16], s: int32[3], b: uint8[3,1,8]",
       "y = ms.MatMulNBits(a, b, s) { K = 16, N = 3, block_size = 16 }",
       "'scales' may not be int32"},
      {"a: float32[2,16], s: float32[3]",
       "b = uint8[2]{1, 2} y = ms.MatMulNBits(a, b, s) { K = 16, N = 3, block_size = 16 }",
       "B: expected 24 bytes, got 2"},
      {"a: float32[2,16], s: float32[3]",
       "b = uint8[2]{1, 2} y = ms.MatMulNBits(a, b, s) { K = 9223372036854775807, N = 3, "
       "block_size "
       "= 16 }",
       "K = 9223372036854775807"},
      {"a: float32[2,16], s: float32[3]",
       "b = uint8[2]{1, 2} y = ms.MatMulNBits(a, b, s) { K = 16, N = 3, block_size = 0 }",
       "block_size"},
      {"a: float32[2,16], s: float32[3]",
       "b = uint8[2]{1, 2} y = ms.MatMulNBits(a, b, s) { K = 16, N = 3, bits = 3, block_size = 16 "
       "}",
       "numbers of 3 bits"},
      {"x: float32[1,1,4,4], g: float32[1,2,2,2]",
       "y = ms.GridSample(x, g) { mode = \"bicubic\", padding_mode = \"border\" }", "bicubic"},
      {"a: float32[2,3]", "y = ms.CDist(a, a) { metric = \"cosine\" }", "metric"},
      {"a: uint8[2,4], s: float32[], z: uint8[]", "y = ms.QLinearConcat(s, z, a, s) { axis = 0 }",
       "a scale and a zero point"},
      {"a: float32[2,3], b: int16[3,2]", "y = ms.MatMulInteger16(a, b)", "expected int16"},
      // These are not read.
      {"x: float32[1,2,16], o: float32[1,1,4,8], r: int32[n,3], c: int32[n,3], l: int32[1]",
       "y, u, v = ms.SparseAttention(x, x, x, o, o, r, c, l, l) { num_heads = 2, kv_num_heads = 1, "
       "sparse_block_size = 2 }",
       "n layouts for 2 heads"},
      {"x: float32[2]", "y = ms.DecoderMaskedSelfAttention(x)", "no mapping to IR"},
      {"x: float32[2,1,2], w: uint8[1,2,4], s: float32[], z: uint8[1]",
       "y = ms.DynamicQuantizeLSTM(x, w, w, _, _, _, _, _, s, z, s, z) { hidden_size = 1 }",
       "operand 8: expected rank 1 or 2, got 0"},
      {"x: float32[2]", "y = ms.NhwcConv(x, x)", "no mapping to IR"},
      {"x: float32[2]", "y = ms.QLinearReduceMean(x)", "no mapping to IR"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.body);
    const std::string got = Converted(row.inputs, std::string(row.body));
    EXPECT_THAT(got, HasSubstr("error: "));
    EXPECT_THAT(got, HasSubstr(std::string(row.error)));
  }
}

// Forms that ONNX Runtime has no CPU kernel for say what others say.
TEST(Contrib, FormsWithoutACpuKernel) {
  const auto numbers = [](int n) {
    std::string text = "{";
    for (int i = 0; i < n; ++i) StrAppend(&text, i ? ", " : "", (i * 37 + i / 5) % 23 - 11, ".25");
    return text + "}";
  };
  const std::string packed = StrCat("x = float32[1,3,2,3,2]", numbers(36), " ");
  const std::string pair =
      StrCat("q = float32[1,2,4]", numbers(8), " x = float32[1,3,2,2,2]", numbers(24), " ");
  const std::string attention =
      StrCat("x = float32[1,3,4]", numbers(12), " w = float32[4,12]", numbers(48),
             " m = int32[1,1,4,4]{1,0,0,1, 1,1,0,0, 0,1,1,1, 1,1,1,1} ");
  const auto part = [](int i, const char* name) {
    return StrCat("i", i, " = int64[]{", i, "} g", i, " = onnx.Gather(x, i", i, ") { axis = 3 } s",
                  i, " = int64[3]{0, 0, 4} ", name, " = onnx.Reshape(g", i, ", s", i, ") ");
  };
  const std::string rows = StrCat("a = float32[4,4]", numbers(16), " w = float32[4,12]",
                                  numbers(48), " d = float32[12]", numbers(12),
                                  " o = int32[2,3]{0, 1, 2, 3, 4, 5} e = int32[3]{0, 3, 4} "
                                  "f = float32[1,1,3,3]",
                                  numbers(9), " ");
  const std::string padded =
      "i = int64[2,3]{0,1,2, 3,4,4} n0 = float32[1,4]{0,0,0,0} q0 = onnx.Concat(a, n0) { axis = 0 "
      "} "
      "p = onnx.Gather(q0, i) m = int32[2,3]{1,1,1, 1,0,0} ";
  const std::string taken =
      "s0 = int64[2]{6, 4} z0 = onnx.Reshape(z, s0) j0 = int64[4]{0,1,2,3} y = onnx.Gather(z0, j0)";
  const std::string image = StrCat("x = float32[1,4,2,2]", numbers(16),
                                   " g = float32[4]{1,2,3,4} h = float32[4]{0,1,-1,2} ");
  const std::string experts = StrCat(
      "x = float32[3,2]", numbers(6), " r = float32[3,2]{1,2, 3,1, 0,0.5} a = float32[2,4,2]",
      numbers(16), " d = float32[2,4]", numbers(8), " c = float32[2,2,2]", numbers(8), " ");
  // The rows of experts' first layers by turns, and one after another.
  const std::string halves =
      "i = int64[4]{0, 2, 1, 3} e = onnx.Gather(a, i) { axis = 1 } g = onnx.Gather(d, i) { axis = "
      "1 "
      "} ";
  const std::string apart =
      "n = int64[1]{0} m = int64[1]{2} z = int64[1]{4} o = int64[1]{1} "
      "e = onnx.Slice(a, n, z, o, m) f = onnx.Slice(a, o, z, o, m) "
      "g = onnx.Slice(d, n, z, o, m) h = onnx.Slice(d, o, z, o, m) ";
  const char* const swiglu =
      ") { k = 2, activation_type = \"swiglu\", activation_alpha = 0.5, activation_beta = 1.0, "
      "swiglu_limit = 3.0, swiglu_fusion = ";
  const std::string turned = StrCat("e = float32[1,2,4]", numbers(8), " q = float16[1,1,2,4]",
                                    numbers(8), " k = float16[1,1,2,4]{1,2,3,4,5,6,7,8} ");
  const std::string normed = StrCat("x = float32[1,4,2]", numbers(8), " ");
  // Two sequences of 4 heads, 2 of keys and values; rooms of 6 keys, blocks of 2. Heads see all
  // blocks and those on the diagonal alone, by turns.
  const auto sparse = [&](int length, const char* lengths, int total) {
    return StrCat("q = float32[2,", length, ",16]", numbers(32 * length), " k = float32[2,", length,
                  ",8]", numbers(16 * length), " o = float32[2,2,6,4]", numbers(96),
                  " l = int32[2]{", lengths, "} t = int32[1]{", total,
                  "} r = int32[2,4]{0,1,3,6, 0,1,2,3} "
                  "d = int32[2,6]{0, 0,1, 0,1,2, 0, 1, 2, -1,-1,-1} c = float32[8,2]",
                  numbers(16), " s = float32[8,2]", numbers(16), " ");
  };
  const auto layout = [](int length, const char* heads_of_layout) {
    return StrCat("b = float32[2,4,", length, ",", "6]", heads_of_layout, " ");
  };
  const char* const lstm =
      "x = float32[3,1,2]{1,-1, 0.5,2, -2,1} w = uint8[2,2,4]{130,120,125,140, 110,128,129,131, "
      "127,126,124,133, 122,119,135,144} u = int8[2,1,4]{1,-2,3,-4, 5,6,-7,8} "
      "s = float32[2]{0.05, 0.1} z = uint8[2]{128, 126} e = float32[2,4]{0.1,0.2,0.3,0.4, "
      "0.05,0.06,0.07,0.08} f = int8[2,4]{0,0,0,0,0,0,0,0} ";
  const struct {
    std::string constants, a, b;
    int opset = 17;
  } cases[] = {
      {packed, "y = ms.MultiHeadAttention(x) { num_heads = 2 }",
       StrCat(part(0, "q"), part(1, "k"), part(2, "v"),
              "y = ms.MultiHeadAttention(q, k, v) { num_heads = 2 }")},
      {pair, "y = ms.MultiHeadAttention(q, x) { num_heads = 2 }",
       StrCat(part(0, "k"), part(1, "v"), "y = ms.MultiHeadAttention(q, k, v) { num_heads = 2 }")},
      {attention, "y = ms.Attention(x, w, _, m) { num_heads = 2 }",
       "n = int32[1,3,3]{1,0,0, 1,1,0, 0,1,1} y = ms.Attention(x, w, _, n) { num_heads = 2 }"},
      {experts, StrCat("y = ms.MoE(x, r, a, d, c", swiglu, "1 }"),
       StrCat(halves, "y = ms.MoE(x, r, e, g, c", swiglu, "2 }")},
      {experts, StrCat("y = ms.MoE(x, r, a, d, c", swiglu, "1 }"),
       StrCat(apart, "y = ms.MoE(x, r, e, g, c, _, f, h", swiglu, "0 }")},
      {turned, "y, z = ms.GemmaRotaryEmbedding(e, q, k, k, q)",
       "s = onnx.Sin(e) c = onnx.Cos(e) t = onnx.Cast(s) { to = 10 } d = onnx.Cast(c) { to = 10 } "
       "u = onnx.Mul(q, d) v = onnx.Mul(k, t) y = onnx.Add(u, v)"},
      // Groups along k pick zero points, too.
      {"a = "
       "float32[1,32]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
       "16} w = uint8[1,2,8]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16} ",
       "s = float32[1,2]{0.5, 2} z = uint8[1,1]{33} g = "
       "int32[32]{1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0} "
       "y = ms.MatMulNBits(a, w, s, z, g) { K = 32, N = 1, block_size = 16 }",
       "s = float32[1,2]{2, 0.5} z = uint8[1,1]{18} "
       "y = ms.MatMulNBits(a, w, s, z) { K = 32, N = 1, block_size = 16 }"},
      // Two sequences, of 3 words and of 1: without padding, and with it.
      {rows, "y = ms.PackedMultiHeadAttention(a, a, a, d, o, e, f) { num_heads = 2 }",
       StrCat(padded,
              "z = ms.MultiHeadAttention(p, p, p, d, m, f) { num_heads = 2, "
              "mask_filter_value = -1e30 } ",
              taken)},
      {rows,
       StrCat("s = int64[4]{4, 2, 1, 2} b = onnx.Reshape(a, s) c = onnx.Concat(b, b, b) { "
              "axis = 2 } y = ms.PackedMultiHeadAttention(c, _, _, d, o, e) { num_heads = 2 "
              "}"),
       "y = ms.PackedMultiHeadAttention(a, a, a, d, o, e) { num_heads = 2 }"},
      {rows, "y = ms.PackedAttention(a, w, d, o, e) { num_heads = 2 }",
       StrCat(padded, "z = ms.Attention(p, w, d, m) { num_heads = 2, mask_filter_value = -1e30 } ",
              taken)},
      {rows, "y = ms.RestorePadding(a, o)",
       StrCat(padded, "k = float32[2,3,1]{1,1,1, 1,0,0} y = onnx.Mul(p, k)")},
      {rows, StrCat(padded, "n = int32[2]{3, 1} y, u, v, t = ms.RemovePadding(p, n)"),
       "y = onnx.Identity(a)"},
      {rows, StrCat(padded, "n = int32[2]{3, 1} u, y, v, t = ms.RemovePadding(p, n)"),
       "y = onnx.Identity(o)"},
      {rows, StrCat(padded, "n = int32[2]{3, 1} u, v, y, t = ms.RemovePadding(p, n)"),
       "y = onnx.Identity(e)"},
      {rows, StrCat(padded, "n = int32[2]{3, 1} u, v, t, y = ms.RemovePadding(p, n)"),
       "t = int32[1]{3} y = onnx.Identity(t)"},
      // Networks of images.
      {image, "y = ms.GroupNorm(x, g, h) { groups = 2, activation = 0, channels_last = 0 }",
       "y = onnx.GroupNormalization(x, g, h) { num_groups = 2 }", 21},
      {image,
       "t = onnx.Transpose(x) { perm = [0, 2, 3, 1] } u = ms.GroupNorm(t, g, h) { "
       "groups = 2, activation = 1 } y = onnx.Transpose(u) { perm = [0, 3, 1, 2] }",
       "u = onnx.GroupNormalization(x, g, h) { num_groups = 2 } s = onnx.Sigmoid(u) "
       "y = onnx.Mul(u, s)",
       21},
      {image,
       "s = float32[1,4]{1, -2, 3, 0.5} t = onnx.Transpose(x) { perm = [0, 2, 3, 1] } "
       "u, v = ms.SkipGroupNorm(t, g, h, s, g) { groups = 2, activation = 0 } "
       "w = onnx.Add(u, v) y = onnx.Transpose(w) { perm = [0, 3, 1, 2] }",
       "s = float32[1,4,1,1]{1, -2, 3, 0.5} n = int64[2]{1, 2} k = onnx.Unsqueeze(g, n) "
       "t = onnx.Add(x, s) v = onnx.Add(t, k) u = onnx.GroupNormalization(v, g, h) { "
       "num_groups = 2 } y = onnx.Add(u, v)",
       21},
      {image, "b = float32[2]{1, -1} y = ms.BiasSplitGelu(x, b)",
       "b = float32[2]{1, -1} t = onnx.Add(x, b) l, r = onnx.Split(t) { axis = -1, num_outputs = 2 "
       "} "
       "m = onnx.Gelu(r) y = onnx.Mul(l, m)",
       21},
      {image, "y = ms.BiasAdd(x, x, x)", "t = onnx.Add(x, x) y = onnx.Add(t, x)"},
      {rows, "y = ms.GemmFastGelu(a, w, d)",
       "t = onnx.MatMul(a, w) u = onnx.Add(t, d) y = ms.FastGelu(u)"},
      {rows,
       "y = ms.FusedMatMulActivation(a, a) { transB = 1, alpha = 0.5, activation = \"Relu\" }",
       "t = ms.FusedMatMul(a, a) { transB = 1, alpha = 0.5 } y = onnx.Relu(t)"},
      {lstm,
       "y, h, c = ms.DynamicQuantizeLSTM(x, w, u, _, _, _, _, _, s, z, e, f) { hidden_size = 1, "
       "direction = \"bidirectional\" }",
       "a0 = onnx.Cast(w) { to = 1 } a1 = float32[2,1,1]{128, 126} a2 = onnx.Sub(a0, a1) "
       "a3 = float32[2,1,1]{0.05, 0.1} a4 = onnx.Mul(a2, a3) "
       "a = onnx.Transpose(a4) { perm = [0, 2, 1] } b0 = onnx.Cast(u) { to = 1 } "
       "b1 = int64[1]{1} b2 = onnx.Unsqueeze(e, b1) b3 = onnx.Mul(b0, b2) "
       "b = onnx.Transpose(b3) { perm = [0, 2, 1] } "
       "y, h, c = onnx.LSTM(x, a, b) { hidden_size = 1, direction = \"bidirectional\" }"},
      // Dense where every block is seen, as grouped attention.
      {sparse(1, "4, 6", 6),
       "y, u, v = ms.SparseAttention(q, k, k, o, o, r, d, t, l) { num_heads = 4, kv_num_heads = 2, "
       "sparse_block_size = 2 }",
       StrCat(layout(1,
                     "{0,0,0,0,0,0, -1e30,-1e30,0,0,0,0, 0,0,0,0,0,0, -1e30,-1e30,0,0,0,0, "
                     "0,0,0,0,0,0, -1e30,-1e30,-1e30,-1e30,0,0, 0,0,0,0,0,0, "
                     "-1e30,-1e30,-1e30,-1e30,0,0}"),
              "i = int32[2]{3, 5} y, u, v = ms.GroupQueryAttention(q, k, k, o, o, i, t, _, _, _, "
              "b) { num_heads = 4, kv_num_heads = 2 }")},
      {sparse(1, "4, 6", 6),
       "y, u, v = ms.SparseAttention(q, k, k, o, o, r, d, t, l, c, s) { num_heads = 4, "
       "kv_num_heads = 2, sparse_block_size = 2, do_rotary = 1, scale = 0.25, "
       "rotary_interleaved = 1 }",
       StrCat(layout(1,
                     "{0,0,0,0,0,0, -1e30,-1e30,0,0,0,0, 0,0,0,0,0,0, -1e30,-1e30,0,0,0,0, "
                     "0,0,0,0,0,0, -1e30,-1e30,-1e30,-1e30,0,0, 0,0,0,0,0,0, "
                     "-1e30,-1e30,-1e30,-1e30,0,0}"),
              "i = int32[2]{3, 5} y, u, v = ms.GroupQueryAttention(q, k, k, o, o, i, t, c, s, _, "
              "b) { num_heads = 4, kv_num_heads = 2, do_rotary = 1, scale = 0.25, "
              "rotary_interleaved = 1 }")},
      // What is in the buffer behind the new key stays there.
      {sparse(1, "4, 6", 6),
       "u, y, v = ms.SparseAttention(q, k, k, o, o, r, d, t, l) { num_heads = 4, kv_num_heads = 2, "
       "sparse_block_size = 2 }",
       "m = int64[2]{3, 5} j = int64[2,2,1,4]{3,3,3,3, 3,3,3,3, 5,5,5,5, 5,5,5,5} "
       "h = int64[4]{2,1,2,4} k0 = onnx.Reshape(k, h) "
       "k1 = onnx.Transpose(k0) { perm = [0, 2, 1, 3] } "
       "y = onnx.ScatterElements(o, j, k1) { axis = 2 }"},
      // A prompt.
      {sparse(4, "4, 4", 4),
       "y, u, v = ms.SparseAttention(q, k, k, o, o, r, d, t, l) { num_heads = 4, kv_num_heads = 2, "
       "sparse_block_size = 2 }",
       "g = float32[1,4,4,4]{0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,0, "
       "0,0,0,0, 0,0,0,0, -1e30,-1e30,0,0, -1e30,-1e30,0,0, "
       "0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,0, "
       "0,0,0,0, 0,0,0,0, -1e30,-1e30,0,0, -1e30,-1e30,0,0} i = int32[2]{3, 3} "
       "y, u, v = ms.GroupQueryAttention(q, k, k, _, _, i, t, _, _, _, g) { num_heads = 4, "
       "kv_num_heads = 2 }"},
      // The length of the past is read of a shared buffer alone.
      {attention, "p = int32[1]{7} y = ms.Attention(x, w, _, m, _, _, p) { num_heads = 2 }",
       "y = ms.Attention(x, w, _, m) { num_heads = 2 }"},
      {normed, "s = float32[4]{1,1,3,3} y = onnx.GroupNormalization(x, s, s) { num_groups = 2 }",
       "s = float32[2]{1,3} y = onnx.GroupNormalization(x, s, s) { num_groups = 2 }", 18},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.a);
    const std::string a = Converted("", row.constants + row.a, 1, row.opset);
    const std::string b = Converted("", row.constants + row.b, 1, row.opset);
    const std::string want = EvalText(b, "y");
    EXPECT_THAT(want, Not(HasSubstr("error: "))) << b;
    EXPECT_EQ(EvalText(a, "y"), want) << a;
  }
}

// Without an import version 1 is meant, which is said; so it is of what stays as it is. Of ops that
// ONNX Runtime has at any opset an attribute that nobody knows goes, which is said, too.
// Ops that search run graphs whose inputs and outputs they know by name. The graphs are converted.
TEST(Contrib, GraphsOfForeignOps) {
  auto model = ModelFromText(
      "graph g(ids: int32[1,3], n: int32[1]) -> (s) {"
      "  s = onnx.com.microsoft::GreedySearch(ids, n) { decoder ="
      "    graph d(ids: int32[b,t], past: float32[2,b,4]) -> (logits: float32[b,t,4],"
      "            present: float32[2,b,4]) {"
      "      e = float32[1,4]{1, 2, 3, 4} v = onnx.Gather(e, ids) u = onnx.Unsqueeze(v) { axes = "
      "[0] }"
      "      logits = onnx.ReduceSum(u) { axes = [0], keepdims = 0 }"
      "      present = onnx.Identity(past) } } }",
      "onnx", 12, {});
  if (!model.ok()) GTEST_FAIL() << model.status();
  model->SetOpset("com.microsoft", 1);
  ImportOptions import;
  import.foreign.domains = {"com.microsoft"};
  Report report;
  ASSERT_TRUE(ToIr(*model, import, &report).ok());
  ExportOptions options;
  options.opset = 18;
  const absl::Status status = FromIr(*model, "onnx", options, &report);
  ASSERT_TRUE(status.ok()) << status;
  const Graph& graph = *model->graph->first()->subgraphs()[0];
  std::vector<std::string> names;
  for (const Value* input : graph.inputs()) names.push_back(input->name());
  for (const Value* output : graph.outputs()) names.push_back(output->name());
  EXPECT_EQ(names, (std::vector<std::string>{"ids", "past", "logits", "present"}));
  for (const Node* node : graph.nodes()) {
    EXPECT_EQ(node->dialect(), Symbol("onnx"));
    EXPECT_FALSE(node->attrs().Has("axes")) << node->op().str();
  }
  EXPECT_THAT(report.warnings, ::testing::Contains(HasSubstr("com.microsoft::GreedySearch")));
}

TEST(Contrib, ImportsThatAreMissing) {
  const struct {
    std::string_view body, ir, warning;
    int opset = 17;
  } rows[] = {
      {"y = onnx.com.microsoft::Gelu(x)", "y = gelu(x) { approximate = \"none\" }\n",
       "imports no opset of domain 'com.microsoft'; its ops are read as of version 1"},
      {"y = onnx.ai.onnx.ml::Normalizer(x) { norm = \"MAX\" }",
       "y = ml_normalizer(x) { norm = \"MAX\" }\n", "imports no opset of domain 'ai.onnx.ml'"},
      {"y = onnx.LayerNormalization(x, g) { epsion = 0.5 }",
       "y = layer_normalization(x, g) { axis = -1, epsilon = 1e-05, stash_type = \"float32\" }\n",
       "LayerNormalization has no attribute 'epsion'", 11},
      {"y = onnx.LayerNormalization(x, g) { stash_type = 0 }",
       "y = layer_normalization(x, g) { axis = -1, epsilon = 1e-05, stash_type = \"float32\" }\n",
       "LayerNormalization does not exist at opset 12", 12},
      {"y = onnx.LayerNormalization(x, g) { stash_type = 0 }",
       "y = layer_normalization(x, g) { axis = -1, epsilon = 1e-05, stash_type = \"float32\" }\n",
       ""},
      // What ONNX had for trying.
      {"y = onnx.ScaledTanh(x) { alpha = 1.0, beta = 2.0 }",
       "y_const = float32[]{2}\ny_mul = mul(x, y_const)\ny = tanh(y_mul)\n", "", 7},
      {"w = float32[2,3]{1, 0, 0, 0, 1, 1} b = float32[2]{1, 2} y = onnx.FC(x, w, b)",
       "y = gemm(x, w, b) { alpha = 1.0, beta = 1.0, transA = 0, transB = 1 }\n", "", 1},
      {"y = onnx.SpatialBN(x, g, g, g, g) { is_test = 1, epsilon = 0.5, momentum = 0.5, "
       "consumed_inputs = [0, 0, 0, 1, 1] }",
       "y = batch_normalization(x, g, g, g, g) { layout = \"channels_first\", epsilon = 0.5, ", "",
       1},
      {"y = onnx.SpatialBN(x, g, g, g, g)", "in training", "", 6},
      {"y = onnx.ATen(x) { operator = \"cumsum\", dim = 1 }", "y = cum_sum(x, ", "", 9},
      {"y = onnx.ATen(g, g) { operator = \"where\" }",
       "these arguments of PyTorch's operator aten::where", "", 9},
      {"y = onnx.org.pytorch.aten::ATen(x) { operator = \"aten::no_such\" }",
       "PyTorch has no operator aten::no_such", "", 14},
      {"y = onnx.ThresholdedRelu(x) { alpha = 0.5 }", "y = thresholded_relu(x) { alpha = 0.5 }\n",
       "ThresholdedRelu does not exist at opset 7", 7},
      {"y = onnx.NoSuchOp(x)", "error: ", ""},
      {"y = onnx.other::Op(x)", "add an opset_import of it", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.body);
    const std::string graph =
        StrCat("graph g(x: float32[2,3], g: float32[3]) -> (y) { ", row.body, " }");
    auto model = ModelFromText(graph, "onnx", row.opset, {});
    ASSERT_TRUE(model.ok()) << model.status();
    Report report;
    const absl::Status status = ToIr(*model, {}, &report);
    const std::string text =
        status.ok() ? Body(ToIrText(graph, row.opset)) : StrCat("error: ", status.message());
    EXPECT_THAT(text, HasSubstr(std::string(row.ir)));
    std::string warnings;
    for (const std::string& warning : report.warnings) StrAppend(&warnings, warning, "\n");
    EXPECT_THAT(warnings, HasSubstr(std::string(row.warning)));
  }
}

}  // namespace
}  // namespace x2ir
