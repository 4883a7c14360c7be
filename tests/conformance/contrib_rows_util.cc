// The models: a row an op and a way to use it. `ms.` stands for the domain.
#include "tests/conformance/contrib_rows_util.h"

#include <string_view>
#include <utility>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

std::vector<ContribRow> ContribRows() {
  const std::string kMs = "onnx.com.microsoft::";
  std::vector<ContribRow> rows;
  const auto add = [&](ContribRow row) {
    for (size_t at; (at = row.body.find("ms.")) != std::string::npos;) row.body.replace(at, 3, kMs);
    rows.push_back(std::move(row));
  };
  // Activations.
  add({"x: float32[4,16]", "y = ms.Gelu(x)", 1e-5, 4});
  add({"x: float32[4,16]", "y = ms.QuickGelu(x)", 1e-5, 4});
  add({"x: float32[4,16]", "y = ms.QuickGelu(x) { alpha = 0.5 }", 1e-5, 4});
  add({"x: float32[4,16]", "y = ms.FastGelu(x)", 1e-5, 4});
  add({"x: float32[4,16], b: float32[16]", "y = ms.FastGelu(x, b)", 1e-5, 4});
  add({"x: float32[4,16], b: float32[16]", "y = ms.BiasGelu(x, b)", 1e-5, 4});
  // Halves, where ONNX Runtime's CPU has them.
  add({"x: float16[4,16]", "y = ms.QuickGelu(x)", 4e-3, 4});
  add({"x: float16[4,16], b: float16[16]", "y = ms.FastGelu(x, b)", 4e-3, 4});
  add({"x: float16[2,3,8], s: float16[3,8], g: float16[8], h: float16[8], b: float16[8]",
       "y, _, _, z = ms.SkipLayerNormalization(x, s, g, h, b)", 1e-2, 1, "y, z"});
  add({"x: float16[2,3,8], s: float16[3,8], g: float16[8], b: float16[8]",
       "y, _, _, z = ms.SkipSimplifiedLayerNormalization(x, s, g, b)", 1e-2, 1, "y, z"});
  add({"x: float16[2,3,8], g: float16[8]", "y = onnx.SimplifiedLayerNormalization(x, g)", 4e-3});
  add({"q: float16[2,3,8], k: float16[2,3,8], v: float16[2,3,8]",
       "y = ms.MultiHeadAttention(q, k, v) { num_heads = 2, unidirectional = 1 }", 1e-2});
  add({"x: float16[2,3,16], p: int64[2,3], c: float16[9,4], s: float16[9,4]",
       "y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 2 }", 4e-3});
  // Norms.
  for (const char* skip : {"2,3,8", "1,3,8", "3,8"}) {
    add({StrCat("x: float32[2,3,8], s: float32[", skip, "], g: float32[8]"),
         "y, _, _, z = ms.SkipSimplifiedLayerNormalization(x, s, g) { epsilon = 1e-5 }", 1e-5, 1,
         "y, z"});
    add({StrCat("x: float32[2,3,8], s: float32[", skip, "], g: float32[8]"),
         "y = ms.SkipLayerNormalization(x, s, g)"});
    add({StrCat("x: float32[2,3,8], s: float32[", skip,
                "], g: float32[8], h: float32[8], b: float32[8]"),
         "y, _, _, z = ms.SkipLayerNormalization(x, s, g, h, b) { epsilon = 0.1 }", 1e-5, 1,
         "y, z"});
  }
  add({"x: float32[2,3,8], s: float32[2,3,8], g: float32[8], b: float32[8]",
       "y, _, _, z = ms.SkipSimplifiedLayerNormalization(x, s, g, b)", 1e-5, 1, "y, z"});
  add({"x: float32[2,3,8], g: float32[8]", "y = onnx.SimplifiedLayerNormalization(x, g)"});
  add({"x: float32[2,3,8], g: float32[3,8]",
       "y = onnx.SimplifiedLayerNormalization(x, g) { axis = 1, epsilon = 0.1 }"});
  const std::string embed =
      "i: int32[2,3], w: float32[4,8], p: float32[5,8], g: float32[8], h: float32[8]";
  add({embed, "y, z = ms.EmbedLayerNormalization(i, _, w, p, _, g, h)", 1e-5, 1, "y, z"});
  add({embed + ", j: int32[2,3], s: float32[3,8], m: int32[2,3]",
       "y, z, v = ms.EmbedLayerNormalization(i, j, w, p, s, g, h, m) { epsilon = 0.1 }", 1e-5, 1,
       "y, z, v"});
  add({embed + ", j: int32[2,3], s: float32[3,8], q: int32[2,3]",
       "y, z = ms.EmbedLayerNormalization(i, j, w, p, s, g, h, _, q)", 1e-5, 1, "y, z"});
  // Products.
  add({"a: float32[3,4], b: float32[4,5]", "y = ms.FusedMatMul(a, b) { alpha = 0.5 }"});
  add({"a: float32[4,3], b: float32[5,4]", "y = ms.FusedMatMul(a, b) { transA = 1, transB = 1 }"});
  add({"a: float32[2,4,3], b: float32[2,5,4]",
       "y = ms.FusedMatMul(a, b) { transA = 1, transB = 1, alpha = 2.0 }"});
  add({"a: float32[2,4,3], b: float32[2,5,4]",
       "y = ms.TransposeMatMul(a, b) { transA = 1, transB = 1 }"});
  add({"a: float32[4], b: float32[4,5]", "y = ms.FusedMatMul(a, b) { transA = 1 }"});
  add({"a: float32[3,4], b: float32[4]", "y = ms.FusedMatMul(a, b) { transB = 1 }"});
  add({"a: float32[3,2,4], b: float32[2,4,5]", "y = ms.FusedMatMul(a, b) { transBatchA = 1 }"});
  add({"a: float32[4,2,3], b: float32[2,4,5]",
       "y = ms.FusedMatMul(a, b) { transBatchA = 1, transA = 1 }"});
  add({"a: float32[2,3,4], b: float32[4,2,5]", "y = ms.FusedMatMul(a, b) { transBatchB = 1 }"});
  add({"a: float32[3,6,2,4], b: float32[5,6,2,4]",
       "y = ms.FusedMatMul(a, b) { transBatchA = 1, transBatchB = 1, transB = 1 }"});
  for (const char* act :
       {"", ", activation = \"Relu\"", ", activation = \"Sigmoid\"", ", activation = \"Tanh\"",
        ", activation = \"LeakyRelu\", activation_alpha = 0.25",
        ", activation = \"HardSigmoid\", activation_alpha = 0.3, activation_beta = 0.4"}) {
    if (*act) {
      add({"a: float32[3,4], b: float32[4,5], c: float32[5]",
           StrCat("y = ms.FusedGemm(a, b, c) { alpha = 0.5, beta = 2.0", act, " }")});
    }
  }
  add({"a: float32[4,3], b: float32[5,4]",
       "y = ms.FusedGemm(a, b) { transA = 1, transB = 1, activation = \"Relu\" }"});
  for (const char* act :
       {"", ", activation = \"Relu\"", ", activation = \"Sigmoid\"", ", activation = \"Tanh\"",
        ", activation = \"LeakyRelu\", activation_params = [0.25]",
        ", activation = \"HardSigmoid\", activation_params = [0.3, 0.4]",
        ", activation = \"Clip\", activation_params = [-0.1, 0.2]"}) {
    add({"x: float32[1,4,6,6], w: float32[8,2,3,3], b: float32[8]",
         StrCat("y = ms.FusedConv(x, w, b) { group = 2, pads = [1, 1, 1, 1], strides = [2, 1]", act,
                " }"),
         1e-4});
  }
  add({"x: float32[1,4,6,6], w: float32[8,4,3,3], b: float32[8], z: float32[1,8,4,4]",
       "y = ms.FusedConv(x, w, b, z) { activation = \"Relu\" }", 1e-4});
  for (const char* t : {"uint8", "int8"}) {
    add({StrCat("a: uint8[3,8], b: ", t, "[8,5], s: float32[], t: float32[], u: uint8[], v: ", t,
                "[], c: float32[5]"),
         "y = ms.MatMulIntegerToFloat(a, b, s, t, u, v, c)"});
    add({StrCat("a: uint8[3,8], b: ", t, "[8,5], s: float32[], t: float32[5], u: uint8[], v: ", t,
                "[5]"),
         "y = ms.MatMulIntegerToFloat(a, b, s, t, u, v)"});
    add({StrCat("a: float32[3,8], b: ", t, "[8,5], t: float32[], v: ", t, "[], c: float32[5]"),
         "y = ms.DynamicQuantizeMatMul(a, b, t, v, c)"});
    add({StrCat("a: float32[3,8], b: ", t, "[8,5], t: float32[5]"),
         "y = ms.DynamicQuantizeMatMul(a, b, t)"});
  }
  add({"a: uint8[3,8], b: uint8[8,5], s: float32[], t: float32[]",
       "y = ms.MatMulIntegerToFloat(a, b, s, t)"});
  // Packed weights: N = 3, K = 40, blocks of 16, so 3 blocks of 8 bytes; or of 16 bytes.
  const auto bytes = [](int n, int seed) {
    std::string text;
    for (int i = 0; i < n; ++i) StrAppend(&text, i ? ", " : "", (i * 73 + seed) % 256);
    return text;
  };
  const std::string w4 = StrCat("b = uint8[3,3,8]{", bytes(72, 5), "} "),
                    z4 = StrCat("q = uint8[6]{", bytes(6, 37), "} ");
  const std::string w8 = StrCat("b = uint8[3,3,16]{", bytes(144, 5), "} "),
                    z8 = StrCat("q = uint8[9]{", bytes(9, 37), "} ");
  add({"a: float32[2,40], s: float32[9]",
       w4 + "y = ms.MatMulNBits(a, b, s) { K = 40, N = 3, bits = 4, block_size = 16 }", 1e-4});
  add({"a: float32[2,2,40], s: float32[9], c: float32[3]",
       w4 + z4 +
           "y = ms.MatMulNBits(a, b, s, q, _, c) { K = 40, N = 3, bits = 4, block_size = 16, "
           "accuracy_level = 1 }",
       1e-4});
  add({"a: float32[2,40], s: float32[3,3]",
       w8 + "y = ms.MatMulNBits(a, b, s) { K = 40, N = 3, bits = 8, block_size = 16 }", 1e-4});
  add({"a: float32[2,40], s: float32[9]",
       w8 + z8 + "y = ms.MatMulNBits(a, b, s, q) { K = 40, N = 3, bits = 8, block_size = 16 }",
       1e-4});
  // The same packing, gathered: data of 3 rows of 32 numbers, blocks of 16.
  const std::string d4 = StrCat("d = uint8[3,16]{", bytes(48, 5), "} "),
                    e4 = StrCat("e = uint8[3,1]{", bytes(3, 37), "} ");
  const std::string d8 = StrCat("d = uint8[3,32]{", bytes(96, 5), "} "),
                    e8 = StrCat("e = uint8[3,2]{", bytes(6, 37), "} ");
  const std::string in = "i: int64[2,2], s: float32[3,2]";
  const std::string gbq = " { gather_axis = 0, quantize_axis = 1, block_size = 16";
  add({in, d4 + "y = ms.GatherBlockQuantized(d, i, s)" + gbq + " }"});
  add({in, d4 + e4 + "y = ms.GatherBlockQuantized(d, i, s, e)" + gbq + " }"});
  add({in, d8 + "y = ms.GatherBlockQuantized(d, i, s)" + gbq + ", bits = 8 }"});
  add({in, d8 + e8 + "y = ms.GatherBlockQuantized(d, i, s, e)" + gbq + ", bits = 8 }"});
  for (const char* t : {"uint4", "int4"}) {
    std::string values;
    for (int i = 0; i < 96; ++i)
      StrAppend(&values, i ? ", " : "", t[0] == 'u' ? i * 7 % 16 : i * 7 % 16 - 8);
    const std::string d =
        StrCat("d = ", t, "[3,32]{", values, "} e = ", t, "[3,2]{1, 2, 3, 4, 5, 6} ");
    add({in, d + "y = ms.GatherBlockQuantized(d, i, s)" + gbq + " }"});
    add({in, d + "y = ms.GatherBlockQuantized(d, i, s, e)" + gbq + " }"});
    add({"i: int64[2,2], s: float32[1,32]",
         StrCat("d = ", t, "[3,32]{", values,
                "} y = ms.GatherBlockQuantized(d, i, s) { gather_axis = 1, quantize_axis = 0, "
                "block_size = 16 }")});
  }
  for (const char* t : {"uint8", "int8"}) {
    for (const char* k : {"0", "1"}) {
      const std::string consts =
          StrCat("s = float32[]{0.0123} t = float32[]{0.037} u = float32[]{0.41} z = ", t,
                 "[]{3} c = int32[5]{1, -200, 3, 400, 5} ");
      const std::string shapes = *k == '1' ? StrCat("a: ", t, "[8,6], b: ", t, "[5,8]")
                                           : StrCat("a: ", t, "[6,8], b: ", t, "[8,5]");
      add({shapes, StrCat(consts, "y = ms.QGemm(a, s, z, b, t, z, c) { alpha = 0.7, transA = ", k,
                          ", transB = ", k, " }")});
      add({shapes,
           StrCat(consts, "y = ms.QGemm(a, s, z, b, t, z, c, u, z) { alpha = 0.7, transA = ", k,
                  ", transB = ", k, " }")});
    }
    add({StrCat("c: bool[200,50], x: ", t, "[200,50], v: ", t, "[200,50]"),
         StrCat("s = float32[]{0.05} t = float32[]{0.02} u = float32[]{0.1} z = ", t,
                "[]{3} y = ms.QLinearWhere(c, x, s, z, v, t, z, u, z)")});
  }
  // Attention.
  const std::string att = "x: float32[2,3,8], w: float32[8,24], b: float32[24]";
  for (const char* filter : {"", ", mask_filter_value = -1.0"}) {
    for (const char* causal : {"", ", unidirectional = 1"}) {
      const std::string attrs = StrCat(" { num_heads = 2", filter, causal, " }");
      const std::string n = *causal ? "3" : "5";  // other lengths are refused
      const std::string qkv =
          StrCat("q: float32[2,3,8], k: float32[2,", n, ",8], v: float32[2,", n, ",8]");
      if (!*filter) add({att, "y = ms.Attention(x, w, b)" + attrs});
      add({att + ", m: int32[2,3]", "y = ms.Attention(x, w, b, m)" + attrs});
      add({att + ", m: int32[2,3,3]", "y = ms.Attention(x, w, b, m)" + attrs});
      add({att, "m = int32[2]{1, 3} y = ms.Attention(x, w, b, m)" + attrs});
      add({att + ", p: float32[2,2,2,4,4], m: int32[2,7]",
           "y, z = ms.Attention(x, w, b, m, p)" + attrs, 1e-5, 1, "y, z"});
      add({att + ", p: float32[2,2,2,4,4]", "y, z = ms.Attention(x, w, b, _, p)" + attrs, 1e-5, 1,
           "y, z"});
      add({StrCat(qkv, ", m: int32[2,", n, "]"),
           "y = ms.MultiHeadAttention(q, k, v, _, m)" + attrs});
      add({qkv, "m = int32[2]{1, 3} y = ms.MultiHeadAttention(q, k, v, _, m)" + attrs});
      add({StrCat(qkv, ", m: int32[2,3,", n, "]"),
           "y = ms.MultiHeadAttention(q, k, v, _, m)" + attrs});
      add({"q: float32[2,3,8], k: float32[2,3,8], v: float32[2,3,8]",
           "y = ms.MultiHeadAttention(q, k, v)" + attrs});
      if (*causal)
        add({"q: float32[2,5,8], k: float32[2,2,5,4], v: float32[2,2,5,4]",
             "y = ms.MultiHeadAttention(q, k, v)" + attrs});
      add(
          {"q: float32[2,3,8], k: float32[2,3,8], v: float32[2,3,8], o: float32[2,2,4,4], p: "
           "float32[2,2,4,4]",
           "y, z, w = ms.MultiHeadAttention(q, k, v, _, _, _, o, p)" + attrs, 1e-5, 1, "y, z, w"});
    }
  }
  add({"x: float32[2,3,8], w: float32[8,24], b: float32[24], s: float32[2,2,3,3]",
       "y = ms.Attention(x, w, b, _, _, s) { num_heads = 2, scale = 0.7 }"});
  add({"x: float32[2,3,8], w: float32[8,24], b: float32[24], s: float32[1,1,3,3]",
       "y = ms.Attention(x, w, b, _, _, s) { num_heads = 2 }"});
  add({"x: float32[2,3,8], w: float32[8,28], b: float32[28]",
       "y = ms.Attention(x, w, b) { num_heads = 2, qkv_hidden_sizes = [8, 8, 12] }"});
  add({"q: float32[2,3,8], k: float32[2,5,8], v: float32[2,5,12], c: float32[28]",
       "y = ms.MultiHeadAttention(q, k, v, c) { num_heads = 2, scale = 0.3 }"});
  add({"q: float32[2,3,8], k: float32[2,2,5,4], v: float32[2,2,5,4]",
       "y = ms.MultiHeadAttention(q, k, v) { num_heads = 2 }"});
  add({"q: float32[2,3,8], k: float32[2,5,8], v: float32[2,5,8], s: float32[1,2,3,5]",
       "y, z, w = ms.MultiHeadAttention(q, k, v, _, _, s) { num_heads = 2 }", 1e-5, 1, "y, z, w"});
  // Rotary embeddings.
  for (const char* inter : {"", ", interleaved = 1"}) {
    const std::string caches = ", c: float32[9,4], s: float32[9,4]";
    add({"x: float32[2,3,16]" + caches,
         StrCat("p = int64[1]{2} y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 0", inter,
                " }")});
    add({"x: float32[2,3,16], p: int64[2,3]" + caches,
         StrCat("y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 2", inter, " }")});
    add({"x: float32[2,2,3,8], p: int64[2,3]" + caches,
         StrCat("y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 0", inter, " }")});
    add({"x: float32[2,3,24], p: int64[2,3]" + caches,
         StrCat("y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 2, rotary_embedding_dim = 8",
                inter, " }")});
  }
  // Quantization.
  for (const std::string t : {"uint8", "int8"}) {
    const std::string zero = StrCat(t, "[]{", t == "int8" ? "-3" : "120", "}");
    add({"x: float32[64,64]",
         StrCat("s = float32[]{0.013} z = ", zero, " y = ms.QuantizeLinear(x, s, z)")});
    add({"x: float32[4,3,5]", StrCat("s = float32[3]{0.013, 0.5, 0.02} z = ", t,
                                     "[3]{1, 2, 3} y = ms.QuantizeLinear(x, s, z) { axis = 1 }")});
    add({StrCat("x: ", t, "[64]"),
         StrCat("s = float32[]{0.013} z = ", zero, " y = ms.DequantizeLinear(x, s, z)")});
    add({StrCat("x: ", t, "[4,3]"), StrCat("s = float32[3]{0.013, 0.5, 0.02} z = ", t,
                                           "[3]{1, 2, 3} y = ms.DequantizeLinear(x, s, z)")});
    for (const char* scales :
         {"0.0123, 0.037, 0.041", "0.071, 0.003, 0.0039", "0.5, 0.25, 0.125", "0.1, 0.1, 0.1"}) {
      const std::string s(scales);
      const std::string a = s.substr(0, s.find(',')), c = s.substr(s.rfind(' ') + 1);
      const std::string b = s.substr(s.find(' ') + 1, s.rfind(',') - s.find(' ') - 1);
      const std::string consts = StrCat("s = float32[]{", a, "} t = float32[]{", b,
                                        "} u = float32[]{", c, "} z = ", zero, " ");
      add({StrCat("x: ", t, "[2000]"), StrCat(consts, "y = ms.QLinearSigmoid(x, s, z, u, z)")});
      add({StrCat("x: ", t, "[2000]"),
           StrCat(consts, "y = ms.QLinearLeakyRelu(x, s, z, u, z) { alpha = 0.3 }")});
      add({StrCat("x: ", t, "[20,50], v: ", t, "[20,30]"),
           StrCat(consts, "y = ms.QLinearConcat(u, z, x, s, z, v, t, z) { axis = 1 }")});
    }
  }
  // Of scales of which no result lies between two numbers: the kernel rounds halves in another way.
  for (const char* t : {"uint8", "int8"}) {
    const std::string consts = StrCat("s = float32[]{0.5} u = float32[]{0.125} z = ", t, "[]{3} ");
    add({StrCat("x: ", t, "[2,3,9,8]"),
         StrCat(consts,
                "y = ms.QLinearAveragePool(x, s, z, u, z) { kernel_shape = [2, 2], "
                "strides = [2, 1] }")});
    add({StrCat("x: ", t, "[2,9,8,3]"),
         StrCat(consts,
                "y = ms.QLinearAveragePool(x, s, z, u, z) { kernel_shape = [2, 2], pads = "
                "[1, 0, 0, 1], count_include_pad = 1, channels_last = 1 }")});
  }
  for (const char* t : {"uint8", "int8"}) {
    add({StrCat("x: ", t, "[2,9,8,3]"),
         "y = ms.NhwcMaxPool(x) { kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1] }"});
    add({StrCat("x: ", t, "[2,9,8,3]"),
         "y = ms.NhwcMaxPool(x) { kernel_shape = [2, 2], dilations = [2, 1], auto_pad = "
         "\"VALID\" }"});
  }
  add({"a: int16[2,3,40], b: int16[40,5]", "y = ms.MatMulInteger16(a, b)"});
  // Data movement.
  add({"x: float32[2,3]", "a = int32[]{1} y = ms.ExpandDims(x, a)"});
  add({"x: float32[2,3]", "a = int32[]{-1} y = ms.ExpandDims(x, a)"});
  add({"x: float32[4,4]", "k = int64[]{1} y = ms.Trilu(x, k) { upper = 0 }"});
  add({"x: float32[4,4]", "y = ms.Trilu(x)"});
  add({"x: float32[2,3]", "p = int64[4]{1, 0, 2, 1} y = ms.Pad(x, p)"});
  add({"x: float32[2,3]", "p = int64[1,4]{1, 0, 2, 1} v = float32[1]{5} y = ms.Pad(x, p, v)"});
  add({"x: float32[3,3]", "p = int64[4]{1, 0, 2, 1} y = ms.Pad(x, p) { mode = \"reflect\" }"});
  add({"x: float32[2]", "a = float32[]{1} b = float32[]{7.5} y = ms.Range(a, b)"});
  add({"x: float32[2]", "a = int64[1]{9} b = int64[1]{1} c = int64[1]{-3} y = ms.Range(a, b, c)"});
  add({"a: float32[4,3], b: float32[5,3]", "y = ms.CDist(a, b) { metric = \"sqeuclidean\" }",
       1e-4});
  add({"a: float32[4,3], b: float32[5,3]", "y = ms.CDist(a, b) { metric = \"euclidean\" }", 1e-4});
  add({"x: float32[4,3,2]", "i = int64[2,2]{0, 1, 3, 2} y = ms.GatherND(x, i)"});
  for (const char* mode : {"bilinear", "nearest", "bicubic"}) {
    for (const char* pad : {"zeros", "border", "reflection"}) {
      if (std::string_view(mode) == "bicubic" && std::string_view(pad) == "border")
        continue;  // refused
      add({"x: float32[1,2,5,5], g: float32[1,4,4,2]",
           StrCat("y = ms.GridSample(x, g) { mode = \"", mode, "\", padding_mode = \"", pad,
                  "\" }"),
           1e-4, 1.5});
    }
  }
  add({"x: float32[2]", "a = float32[6]{2, 1, 1, 3, 4, 3} y, z, w = ms.Unique(a)", 1e-5, 1,
       "y, z, w"});
  return rows;
}

}  // namespace x2ir
