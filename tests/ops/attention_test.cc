// attention, rotary_embedding, tensor_scatter, swiglu, linear_attention, causal_conv_with_state:
// values checked by hand, inference with symbols.
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

// One head, one number: queries 0, so that every key counts the same.
#define X2IR_QKV                                                                 \
  "q = float32[1,1,2,1]{0, 0}\n k = float32[1,1,2,1]{1, 1}\n v = float32[1,1,2," \
  "1]{2, 4}\n "

TEST(Attention, Eval) {
  const EvalRow rows[] = {
      {X2IR_QKV "y = attention(q, k, v)", "float32[1,1,2,1]{3, 3}"},
      {X2IR_QKV "y = attention(q, k, v) { is_causal = 1 }", "float32[1,1,2,1]{2, 3}"},
      {X2IR_QKV "m = bool[2,2]{false, true, false, false}\n y = attention(q, k, v, m)",
       "float32[1,1,2,1]{4, 0}"},
      {X2IR_QKV "m = bool[2,1]{true, false}\n y = attention(q, k, v, m)", "float32[1,1,2,1]{2, 0}"},
      {X2IR_QKV "m = float32[2]{0, -inf}\n y = attention(q, k, v, m)", "float32[1,1,2,1]{2, 2}"},
      {X2IR_QKV "m = float32[3]{0, 0, 0}\n y = attention(q, k, v, m)", "error broadcast"},
      {X2IR_QKV "y = attention(q, k, v) { left_window_size = 0 }", "float32[1,1,2,1]{3, 4}"},
      {X2IR_QKV "y = attention(q, k, v) { left_window_size = 0, right_window_size = 0 }",
       "float32[1,1,2,1]{2, 4}"},
      {X2IR_QKV "y = attention(q, k, v) { right_window_size = -2 }", "error right_window_size"},
      {X2IR_QKV "n = int64[1]{1}\n y = attention(q, k, v, _, _, _, n)", "float32[1,1,2,1]{2, 2}"},
      {X2IR_QKV "n = int64[1]{1}\n y = attention(q, k, v, _, _, _, n) { is_causal = 1 }",
       "float32[1,1,2,1]{0, 2}"},
      {X2IR_QKV "n = int64[1]{3}\n y = attention(q, k, v, _, _, _, n)", "error nonpad_kv_seqlen"},
      {X2IR_QKV "pk = float32[1,1,1,1]{1}\n pv = float32[1,1,1,1]{6}\n "
                "y, a, b, s = attention(q, k, v, _, pk, pv) "
                "{ is_causal = 1, qk_matmul_output_mode = 3 }",
       "float32[1,1,2,1]{4, 4}; float32[1,1,3,1]{1, 1, 1}; float32[1,1,3,1]{6, 2, 4}; "
       "float32[1,1,2,3]{0.5, 0.5, 0, 0.33333334, 0.33333334, 0.33333334}",
       "y, a, b, s"},
      // The stages of the scores: as they are, softcapped, with the bias.
      {"q = float32[1,1,1]{4}\n k = float32[1,1,1]{4}\n v = float32[1,1,1]{1}\n "
       "y, _, _, s = attention(q, k, v) { q_num_heads = 1, kv_num_heads = 1, scale = 0.25, "
       "softcap = 1.0 }",
       "float32[1,1,1]{1}; float32[1,1,1,1]{4}", "y, s"},
      {"q = float32[1,1,1]{400}\n k = float32[1,1,1]{4}\n v = float32[1,1,1]{1}\n "
       "m = float32[1]{3}\n "
       "_, _, _, s = attention(q, k, v, m) { q_num_heads = 1, kv_num_heads = 1, softcap = 2.0, "
       "qk_matmul_output_mode = 1 }",
       "float32[1,1,1,1]{2}", "s"},
      {"q = float32[1,1,1]{400}\n k = float32[1,1,1]{4}\n v = float32[1,1,1]{1}\n "
       "m = float32[1]{3}\n "
       "_, _, _, s = attention(q, k, v, m) { q_num_heads = 1, kv_num_heads = 1, softcap = 2.0, "
       "qk_matmul_output_mode = 2 }",
       "float32[1,1,1,1]{5}", "s"},
      // Two heads share one; positions before heads.
      {"q = float64[1,1,2]{0, 0}\n k = float64[1,2,1]{1, 1}\n v = float64[1,2,1]{2, 4}\n "
       "y = attention(q, k, v) { q_num_heads = 2, kv_num_heads = 1 }",
       "float64[1,1,2]{3, 3}"},
      {"q = float16[1,2,1,1]{0, 0}\n k = float16[1,2,1,1]{1, 1}\n v = float16[1,2,1,2]{1, 2, 3, 4}"
       "\n y = attention(q, k, v) { softmax_precision = \"float32\" }",
       "float16[1,2,1,2]{1, 2, 3, 4}"},
      {"q = float32[1,3,1,1]{0, 0, 0}\n k = float32[1,2,1,1]{1, 1}\n y = attention(q, k, k)",
       "error heads"},
      {"q = float32[1,1,1]{4}\n y = attention(q, q, q)", "error q_num_heads"},
      {"q = float32[0,1,2,1]{}\n y = attention(q, q, q)", "float32[0,1,2,1]{}"},
      {"q = float32[1,1,1,1]{0}\n k = float32[1,1,0,1]{}\n y = attention(q, k, k)",
       "float32[1,1,1,1]{0}"},
  };
  ExpectRows(rows);
}

TEST(Attention, Infer) {
  const InferRow rows[] = {
      {"q: float32[b,8,s,64], k: float32[b,2,s,64], v: float32[b,2,s,32], p: float32[b,2,t,64], "
       "w: float32[b,2,t,32]",
       "y, a, c, m = attention(q, k, v, _, p, w)",
       "float32[b,8,s,32]; float32[b,2,s+t,64]; float32[b,2,s+t,32]; float32[b,8,s,s+t]",
       "y, a, c, m"},
      {"q: float16[b,s,512], k: float16[b,t,128], v: float16[b,t,64]",
       "y, a = attention(q, k, v) { q_num_heads = 8, kv_num_heads = 2 }",
       "float16[b,s,256]; float16[b,2,t,64]", "y, a"},
      {"q: float32[b,8,s,64], k: float32[b,3,s,64]", "y = attention(q, k, k)", "error share"},
      {"q: float32[?,?,?,?], k: float32[...], v: float32[...]", "y = attention(q, k, v)",
       "float32[?,?,?,?]"},
  };
  ExpectRows(rows);
}

TEST(RotaryEmbedding, Eval) {
  // Position 0 turns by nothing, position 1 by a quarter.
#define X2IR_CACHES "c = float32[2,1]{1, 0}\n s = float32[2,1]{0, 1}\n "
  const EvalRow rows[] = {
      {X2IR_CACHES "x = float32[1,1,2,2]{1, 2, 3, 4}\n p = int64[1,2]{0, 1}\n "
                   "y = rotary_embedding(x, c, s, p)",
       "float32[1,1,2,2]{1, 2, -4, 3}"},
      {X2IR_CACHES "x = float32[1,1,6]{1, 2, 3, 4, 5, 6}\n p = int64[1,1]{1}\n "
                   "y = rotary_embedding(x, c, s, p) { num_heads = 2, rotary_embedding_dim = 2 }",
       "float32[1,1,6]{-2, 1, 3, -5, 4, 6}"},
      {"c = float32[1,1,2]{0, 1}\n s = float32[1,1,2]{1, 0}\n x = float32[1,1,1,4]{1, 2, 3, 4}\n "
       "y = rotary_embedding(x, c, s)",
       "float32[1,1,1,4]{-3, 2, 1, 4}"},
      {"c = float32[1,1,2]{0, 1}\n s = float32[1,1,2]{1, 0}\n x = float32[1,1,1,4]{1, 2, 3, 4}\n "
       "y = rotary_embedding(x, c, s) { interleaved = 1 }",
       "float32[1,1,1,4]{-2, 1, 3, 4}"},
      {X2IR_CACHES "x = float32[1,1,1,2]{1, 2}\n p = int64[1,1]{2}\n "
                   "y = rotary_embedding(x, c, s, p)",
       "error out of range"},
      {X2IR_CACHES "x = float32[1,1,1,3]{1, 2, 3}\n p = int64[1,1]{0}\n "
                   "y = rotary_embedding(x, c, s, p)",
       "error cannot turn"},
      {X2IR_CACHES "x = float32[1,1,2]{1, 2}\n p = int64[1,1]{0}\n "
                   "y = rotary_embedding(x, c, s, p)",
       "error num_heads"},
  };
  ExpectRows(rows);
  EXPECT_EQ(InferText("x: float32[b,h,n,64], c: float32[b,n,32], s: float32[b,n,32]",
                      "y = rotary_embedding(x, c, s)"),
            "float32[b,h,n,64]");
}

TEST(TensorScatter, Eval) {
#define X2IR_CACHE "x = int8[2,3,1]{1, 2, 3, 4, 5, 6}\n u = int8[2,2,1]{7, 8, 9, 10}\n "
  const EvalRow rows[] = {
      {X2IR_CACHE "y = tensor_scatter(x, u)", "int8[2,3,1]{7, 8, 3, 9, 10, 6}"},
      {X2IR_CACHE "i = int64[2]{1, 0}\n y = tensor_scatter(x, u, i)",
       "int8[2,3,1]{1, 7, 8, 9, 10, 6}"},
      {X2IR_CACHE "i = int64[2]{2, 0}\n y = tensor_scatter(x, u, i)", "error positions"},
      {X2IR_CACHE "i = int64[2]{2, 4}\n y = tensor_scatter(x, u, i) { mode = \"circular\" }",
       "int8[2,3,1]{8, 2, 7, 4, 9, 10}"},
      {"x = string[1,2]{\"a\", \"b\"}\n u = string[1,1]{\"c\"}\n i = int64[1]{1}\n "
       "y = tensor_scatter(x, u, i) { axis = 1 }",
       "string[1,2]{\"a\", \"c\"}"},
      {X2IR_CACHE "y = tensor_scatter(x, u) { axis = 0 }", "error batch"},
      {X2IR_CACHE "y = tensor_scatter(u, x)", "error positions"},
      {"x = int4[1,0,2]{}\n y = tensor_scatter(x, x)", "int4[1,0,2]{}"},
  };
  ExpectRows(rows);
}

TEST(Swiglu, Eval) {
  const EvalRow rows[] = {
      {"a = float32[4]{0, 100, -1000, inf}\n b = float32[4]{5, 2, 3, 1}\n y = swiglu(a, b)",
       "float32[4]{0, 200, -0, inf}"},
      {"a = float64[1]{3}\n b = float64[1]{2}\n y = swiglu(a, b) { alpha = 0.0 }", "float64[1]{3}"},
      {"a = float32[1]{3}\n b = float32[2]{2, 2}\n y = swiglu(a, b)", "error must be equal"},
  };
  ExpectRows(rows);
}

TEST(LinearAttention, Eval) {
#define X2IR_LINEAR                                                                  \
  "q = float32[1,2,1]{1, 2}\n k = float32[1,2,1]{1, 2}\n v = float32[1,2,1]{3, 4}\n" \
  " b = float32[1,2,1]{1, 0.5}\n d = float32[1,2,1]{0, 0}\n "
#define X2IR_ONE_HEAD " q_num_heads = 1, kv_num_heads = 1, "
  const EvalRow rows[] = {
      {X2IR_LINEAR "y, s = linear_attention(q, k, v) {" X2IR_ONE_HEAD "update_rule = \"linear\" }",
       "float32[1,2,1]{3, 22}; float32[1,1,1,1]{11}", "y, s"},
      {X2IR_LINEAR "y, s = linear_attention(q, k, v, _, _, b) {" X2IR_ONE_HEAD
                   "update_rule = \"delta\" }",
       "float32[1,2,1]{3, 2}; float32[1,1,1,1]{1}", "y, s"},
      {X2IR_LINEAR "p = float16[1,1,1,1]{1}\n y, s = linear_attention(q, k, v, p, d) "
                   "{" X2IR_ONE_HEAD "update_rule = \"gated\", scale = 2.0 }",
       "float32[1,2,1]{8, 48}; float16[1,1,1,1]{12}", "y, s"},
      {X2IR_LINEAR "y, s = linear_attention(q, k, v, _, d, b) {" X2IR_ONE_HEAD "scale = 1.0 }",
       "float32[1,2,1]{3, 2}; float32[1,1,1,1]{1}", "y, s"},
      {X2IR_LINEAR "y, s = linear_attention(q, k, v) {" X2IR_ONE_HEAD "scale = 1.0 }",
       "error needs decay", "y"},
      {"q = float32[1,1,2]{1, 2}\n k = float32[1,1,1]{1}\n y, s = linear_attention(q, k, k) "
       "{ q_num_heads = 2, kv_num_heads = 1, update_rule = \"linear\" }",
       "float32[1,1,2]{1, 2}", "y"},
  };
  ExpectRows(rows);
  EXPECT_EQ(InferText("q: float32[b,t,64], k: float32[b,t,32], v: float32[b,t,16]",
                      "y, s = linear_attention(q, k, v) "
                      "{ q_num_heads = 4, kv_num_heads = 2, update_rule = \"linear\" }",
                      "y, s"),
            "float32[b,t,32]; float32[b,2,16,8]");
}

TEST(CausalConvWithState, Eval) {
#define X2IR_CONV "x = float32[1,1,3]{1, 2, 3}\n w = float32[1,1,2]{10, 1}\n "
  const EvalRow rows[] = {
      {X2IR_CONV "y, s = causal_conv_with_state(x, w)",
       "float32[1,1,3]{1, 12, 23}; float32[1,1,1]{3}", "y, s"},
      {X2IR_CONV "b = float32[1]{5}\n p = float32[1,1,1]{4}\n "
                 "y, s = causal_conv_with_state(x, w, b, p)",
       "float32[1,1,3]{46, 17, 28}; float32[1,1,1]{3}", "y, s"},
      {"x = float32[1,1,1]{100}\n w = float32[1,1,1]{1}\n "
       "y, s = causal_conv_with_state(x, w) { activation = \"silu\" }",
       "float32[1,1,1]{100}; float32[1,1,0]{}", "y, s"},
      {"x = float32[1,1,1]{1}\n w = float32[1,1,4]{1, 1, 1, 1}\n "
       "y, s = causal_conv_with_state(x, w)",
       "float32[1,1,1]{1}; float32[1,1,3]{0, 0, 1}", "y, s"},
      {X2IR_CONV "y, s = causal_conv_with_state(x, w) { activation = \"relu\" }",
       "error activation"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
