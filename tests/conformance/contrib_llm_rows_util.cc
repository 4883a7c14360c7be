// Models of the ops that files of language models are made of. `ms.` stands for the domain.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/conformance/contrib_rows_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// Bytes in no order.
std::string Bytes(int n, int seed) {
  std::string text;
  for (int i = 0; i < n; ++i) StrAppend(&text, i ? ", " : "", (i * 73 + i / 7 + seed) % 256);
  return text;
}

// A call of GroupQueryAttention: 4 heads of queries, 2 of keys and values.
struct GroupQuery {
  int batch, length;
  std::string lengths, total;  // seqlens_k and total_sequence_length
  int past = 0;                // how long the buffer is; -1: there is none
  std::string attrs{};         // ", NAME = VALUE..."
  std::string bias{}, sink{};  // types
  std::string positions{};     // numbers
  bool packed = false;
  int turned = 0;  // how many numbers of a head are turned; 0: do_rotary is not set
  int size = 16;   // of a head
  int scores = 0;  // qk_output
};

ContribRow RowOf(const GroupQuery& g) {
  const auto type = [&](int width) {
    return StrCat("float32[", g.batch, ",", g.length, ",", width, "]");
  };
  ContribRow row;
  row.inputs = StrCat("q: ", type((g.packed ? 8 : 4) * g.size));
  if (!g.packed) StrAppend(&row.inputs, ", k: ", type(2 * g.size), ", v: ", type(2 * g.size));
  std::string operands = g.packed ? "q, _, _" : "q, k, v";
  if (g.past >= 0) {
    const std::string cache = StrCat("float32[", g.batch, ",2,", g.past, ",", g.size, "]");
    StrAppend(&row.inputs, ", o: ", cache, ", p: ", cache);
  }
  StrAppend(&operands, g.past >= 0 ? ", o, p" : ", _, _", ", l, t");
  row.body = StrCat("l = int32[", g.batch, "]{", g.lengths, "} t = int32[1]{", g.total, "} ");
  std::string attrs = StrCat("num_heads = 4, kv_num_heads = 2", g.attrs);
  if (g.turned > 0) {
    const std::string cache = StrCat("float32[32,", g.turned / 2, "]");
    StrAppend(&row.inputs, ", c: ", cache, ", s: ", cache);
    StrAppend(&attrs, ", do_rotary = 1");
  }
  StrAppend(&operands, g.turned > 0 ? ", c, s" : ", _, _");
  if (!g.positions.empty()) {
    StrAppend(&row.body, "i = int64[", g.batch, ",", g.length, "]{", g.positions, "} ");
  }
  StrAppend(&operands, g.positions.empty() ? ", _" : ", i");
  if (!g.bias.empty()) StrAppend(&row.inputs, ", b: ", g.bias);
  StrAppend(&operands, g.bias.empty() ? ", _" : ", b");
  if (!g.sink.empty()) StrAppend(&row.inputs, ", h: ", g.sink);
  StrAppend(&operands, g.sink.empty() ? "" : ", h");
  while (operands.ends_with(", _")) operands.resize(operands.size() - 3);
  row.outputs = g.scores ? "y, z, w, x" : "y, z, w";
  if (g.scores) StrAppend(&attrs, ", qk_output = ", g.scores);
  StrAppend(&row.body, row.outputs, " = onnx.com.microsoft::GroupQueryAttention(", operands, ") { ",
            attrs, " }");
  return row;
}

}  // namespace

std::vector<ContribRow> ContribLlmRows() {
  std::vector<ContribRow> rows;
  const auto add = [&](ContribRow row) {
    for (size_t at; (at = row.body.find("ms.")) != std::string::npos;) {
      row.body.replace(at, 3, "onnx.com.microsoft::");
    }
    rows.push_back(std::move(row));
  };
  // Prompts, single words, and further words of one sequence; sequences of other lengths; buffers
  // that are longer than what they hold.
  const std::vector<GroupQuery> calls = {
      {2, 5, "4, 4", "5", -1}, {2, 5, "4, 4", "5", 0}, {2, 5, "4, 4", "5", 8},
      {2, 1, "7, 7", "8", 7},  {2, 1, "7, 3", "8", 7}, {2, 1, "7, 3", "8", 12},
      {2, 1, "0, 0", "1", 0},  {2, 1, "5, 4", "9", 7}, {1, 1, "7", "8", 7},
      {1, 3, "7", "8", 5},     {1, 3, "7", "8", 12}};
  const std::vector<std::string> ways = {
      "",
      ", scale = 0.3",
      ", softcap = 0.5",
      ", local_window_size = 2",
      ", local_window_size = 0",
      ", smooth_softmax = 1",
      ", local_window_size = 3, softcap = 0.5, smooth_softmax = 1"};
  for (const GroupQuery& call : calls) {
    for (const std::string& way : ways) {
      GroupQuery g = call;
      g.attrs = way;
      add(RowOf(g));
    }
    for (const int interleaved : {0, 1}) {
      for (const bool packed : {false, true}) {
        GroupQuery g = call;
        g.packed = packed;
        g.attrs = StrCat(", rotary_interleaved = ", interleaved);
        g.turned = 16;
        g.size = packed ? 32 : 16;  // a part of it, or all
        add(RowOf(g));
      }
    }
    GroupQuery g = call;
    g.sink = "float32[4]";
    add(RowOf(g));
    g.bias = StrCat("float32[1,4,", g.length, ",", g.total, "]");
    g.attrs = ", softcap = 0.7, local_window_size = 4";
    add(RowOf(g));
    g.sink.clear();
    g.bias = StrCat("float32[", g.batch, ",1,", g.length, ",", g.total, "]");
    add(RowOf(g));
    if (call.batch == 2 && call.lengths == "7, 3") continue;  // scores beyond a sequence's end: any
    for (const int scores : {1, 2}) {
      g.scores = scores;
      g.sink = scores == 1 ? "" : "float32[4]";
      if (g.total != "9") add(RowOf(g));
    }
  }
  add(RowOf({2, 3, "2, 2", "3", 0, "", "", "", "3, 9, 2, 7, 7, 8", false, 16}));
  add(RowOf({2, 1, "7, 4", "8", 7, "", "", "", "3, 9", true, 16}));
  add(RowOf({1, 3, "7", "8", 5, "", "", "", "3, 9, 1", true, 16}));

  // Rotary embeddings of packed batches, which may be longer than the caches.
  for (const char* type : {"float32[1,12,16]", "float32[1,2,12,8]"}) {
    add({StrCat("x: ", type, ", c: float32[9,4], s: float32[9,4]"),
         "p = int64[1,12]{0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 0, 1} "
         "y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 2, is_packed_batching = 1 }"});
  }
  add({"x: float32[2,3,16], c: float32[9,4], s: float32[9,4]",
       "p = int64[]{2} y = ms.RotaryEmbedding(x, p, c, s) { num_heads = 2, scale = 2.0 }"});

  // N = 5, K = 72 or 64, blocks of 16 or 32.
  for (const int bits : {2, 4, 8}) {
    const auto node = [&](std::string_view operands, int k, int block) {
      return StrCat("y = ms.MatMulNBits(", operands, ") { K = ", k, ", N = 5, bits = ", bits,
                    ", block_size = ", block, " }");
    };
    const int whole = 5 * 5 * 2 * bits, part = 5 * 3 * 4 * bits;  // bytes
    const std::string w = StrCat("w = uint8[5,5,", 2 * bits, "]{", Bytes(whole, 5), "} "),
                      v = StrCat("w = uint8[5,3,", 4 * bits, "]{", Bytes(part, 7), "} ");
    const int row = (5 * bits + 7) / 8;
    const std::string z = StrCat("z = uint8[5,", row, "]{", Bytes(5 * row, 37), "} ");
    add({"a: float32[2,3,72], s: float32[5,3], c: float32[5]", v + node("a, w, s, _, _, c", 72, 32),
         1e-4});
    add({"a: float32[3,72], s: float32[5,5]", w + z + node("a, w, s, z", 72, 16), 1e-4});
    add({"a: float32[3,80], s: float32[25]", w + z + node("a, w, s, z", 80, 16), 1e-4});
    add({StrCat("a: float32[3,80], s: float32[5,5], w: uint8[5,5,", 2 * bits, "], z: uint8[5,", row,
                "]"),
         node("a, w, s, z", 80, 16), 1e-4});
    // Zero points as floats, which ONNX Runtime's CPU has for 4 bits alone; and groups.
    if (bits != 4) continue;
    add({"a: float32[3,72], s: float32[5,5], z: float32[5,5]", w + node("a, w, s, z", 72, 16),
         1e-4});
    std::string groups;
    for (int i = 0; i < 72; ++i) StrAppend(&groups, i ? ", " : "", i * 7 % 5);
    add({"a: float32[3,72], s: float32[5,5]",
         w + StrCat("g = int32[72]{", groups, "} ") + node("a, w, s, _, g", 72, 16), 1e-4});
    add({"a: float32[3,72], s: float32[5,5], z: float32[5,5]",
         w + StrCat("g = int32[72]{", groups, "} ") + node("a, w, s, z, g", 72, 16), 1e-4});
  }

  for (const int type : {0, 1}) {
    const std::string attrs =
        StrCat(" { K = 33, N = 5, block_size = 16, quant_type = ", type, " }");
    add({"a: float32[2,3,33], m: float32[11]",
         StrCat("w = uint8[83]{", Bytes(83, 9), "} y = ms.MatMulBnb4(a, w, m)", attrs), 1e-4});
  }
  add({"x: float32[2,3,8], g: float32[8]", "y, z = onnx.SimplifiedLayerNormalization(x, g)", 1e-5,
       1, "y, z"});

  // Attention in other forms: scores, ends of keys, one query, a word in a shared buffer.
  const std::string qkv = "q: float32[2,3,16], k: float32[2,5,16], v: float32[2,5,16]";
  add({qkv, "y, _, _, x = ms.MultiHeadAttention(q, k, v) { num_heads = 2 }", 1e-5, 1, "y, x"});
  add({qkv + ", b: float32[1,2,3,5], m: int32[2,5]",
       "y, _, _, x = ms.MultiHeadAttention(q, k, v, _, m, b) { num_heads = 2, "
       "mask_filter_value = -5.0 }",
       1e-4, 1, "y, x"});
  add({qkv,
       "m = int32[8]{5, 3, 0, 3, 6, 0, 5, 10} y = ms.MultiHeadAttention(q, k, v, _, m) { "
       "num_heads = 2 }"});
  add({"q: float32[2,1,16], k: float32[2,5,16], v: float32[2,5,16]",
       "y = ms.MultiHeadAttention(q, k, v) { num_heads = 2, unidirectional = 1 }"});
  const std::string word = "q: float32[2,1,16], k: float32[2,1,16], v: float32[2,1,16], ";
  const std::string buffer = word + "o: float32[2,2,7,8], p: float32[2,2,7,8]";
  add({buffer + ", b: float32[1,2,1,5], c: float32[48]",
       "l = int32[1]{4} m = int32[2,5]{1,1,0,1,1, 0,1,1,1,1} y, z, w = "
       "ms.DecoderMaskedMultiHeadAttention(q, k, v, m, b, o, p, l, _, _, c) { num_heads = 2, "
       "past_present_share_buffer = 1, scale = 0.3 }",
       1e-5, 1, "y, z, w"});
  const std::string cross = "q: float32[2,1,16], k: float32[2,2,4,8], v: float32[2,2,4,8]";
  add({cross, "y = ms.DecoderMaskedMultiHeadAttention(q, k, v) { num_heads = 2 }"});
  add({cross + ", c: float32[48]",
       "m = int32[2,4]{1,1,0,1, 0,1,1,1} y, _, _, x = ms.DecoderMaskedMultiHeadAttention(q, k, v, "
       "m, _, _, _, _, _, _, c) { num_heads = 2, output_qk = 1 }",
       1e-4, 1, "y, x"});
  for (const char* type : {"uint8", "int8"}) {
    for (const char* causal : {"", ", unidirectional = 1"}) {
      const std::string in = StrCat("x: uint8[2,3,16], w: ", type, "[16,48], b: float32[48]");
      const std::string consts =
          StrCat("s = float32[]{0.02} t = float32[]{0.001} z = uint8[]{120} u = ", type, "[]{3} ");
      const std::string attrs = StrCat(" { num_heads = 2", causal, " }");
      add({in, consts + "y = ms.QAttention(x, w, b, s, t, _, z, u)" + attrs, 1e-4});
      add({in, consts + "m = int32[2]{1, 3} y = ms.QAttention(x, w, b, s, t, m)" + attrs, 1e-4});
      add({in + ", p: float32[2,2,2,2,8], r: float32[48]",
           consts + "y, h = ms.QAttention(x, w, b, s, r, _, z, _, p)" + attrs, 1e-3, 1, "y, h"});
    }
  }
  add(
      {"i: int32[2,3], j: int32[2,3], m: int32[2,3], w: uint8[4,8], p: uint8[5,8], e: uint8[3,8], "
       "g: uint8[8], h: uint8[8]",
       "a = float32[]{0.02} b = float32[]{0.03} c = float32[]{0.04} z = uint8[]{120} "
       "y, x = ms.QEmbedLayerNormalization(i, j, w, p, e, g, h, m, a, b, c, a, b, z, z, z, z, z)",
       1e-4, 1, "y, x"});

  // States that are carried on.
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    const bool gated = std::string_view(rule).starts_with("gated");
    const bool delta = std::string_view(rule).ends_with("delta");
    add({StrCat("q: float32[2,3,8], k: float32[2,3,8], v: float32[2,3,12], o: float32[2,2,4,6]",
                gated ? ", d: float32[2,3,2]" : "", delta ? ", b: float32[2,3,2]" : ""),
         StrCat("y, z = ms.LinearAttention(q, k, v, o",
                gated   ? ", d"
                : delta ? ", _"
                        : "",
                delta ? ", b" : "", ") { q_num_heads = 2, kv_num_heads = 2, update_rule = \"", rule,
                "\" }"),
         1e-4, 1, "y, z"});
  }
  for (const char* activation : {"none", "silu"}) {
    add({"x: float32[2,6,5], w: float32[6,1,4], b: float32[6], o: float32[2,6,3]",
         StrCat("y, z = ms.CausalConvWithState(x, w, b, o) { activation = \"", activation, "\" }"),
         1e-4, 1, "y, z"});
  }

  // Mixtures of 4 experts.
  for (const char* x : {"float32[3,16]", "float32[1,3,16]"}) {
    for (const char* act : {"relu", "gelu", "silu", "identity"}) {
      for (const int normalized : {0, 1}) {
        add({StrCat("x: ", x,
                    ", r: float32[3,4], a: float32[4,32,16], b: float32[4,32], "
                    "c: float32[4,16,32], d: float32[4,16]"),
             StrCat("y = ms.MoE(x, r, a, b, c, d) { k = 2, activation_type = \"", act,
                    "\", normalize_routing_weights = ", normalized, " }"),
             1e-4});
      }
    }
    for (const char* limit : {"", ", swiglu_limit = 0.3"}) {
      add({StrCat("x: ", x, ", r: float32[3,4], a: float32[4,64,16], c: float32[4,16,32]"),
           StrCat("y = ms.MoE(x, r, a, _, c) { k = 3, activation_type = \"swiglu\", "
                  "swiglu_fusion = 1, activation_alpha = 1.702, activation_beta = 1.0",
                  limit, " }"),
           1e-4});
    }
  }
  for (const int bits : {2, 4, 8}) {
    const int row = 4 * bits;  // bytes of 32 numbers
    const std::string in =
        "x: float32[3,32], r: float32[3,4], b: float32[4,64], d: float32[4,32], ";
    const std::string weights = StrCat("a = uint8[4,64,", row, "]{", Bytes(256 * row, 3),
                                       "} c = uint8[4,32,", row, "]{", Bytes(128 * row, 11), "} ");
    const std::string attrs = StrCat(
        " { k = 2, activation_type = \"swiglu\", swiglu_fusion = 1, activation_alpha = 1.702,"
        " activation_beta = 1.0, swiglu_limit = 7.0, expert_weight_bits = ",
        bits);
    add({in + "s: float32[4,64], t: float32[4,32]",
         weights + "y = ms.QMoE(x, r, a, s, b, c, t, d)" + attrs + " }", 1e-3});
    if (bits == 8) continue;  // blocks: the kernel quantizes what it multiplies
    add({in + "s: float32[4,64,2], t: float32[4,32,2]",
         weights + "y = ms.QMoE(x, r, a, s, b, c, t, d)" + attrs + ", block_size = 16 }", 1e-3});
  }
  return rows;
}

}  // namespace x2ir
