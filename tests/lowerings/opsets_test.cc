// Lowerings, one row an op: the same numbers at every opset that can have them.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/lowerings/lowering_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(Lowerings, Integers) {
  const LoweredRow rows[] = {
      {"x = int64[3]{9223372036854775807, -5, 0} z = int64[1]{-4} w = int64[3]{1, -9, 7}",
       "y = max(x, z, w)",
       {9, 11, 12}},
      {"x = uint64[2]{18446744073709551615, 5} z = uint64[1]{9223372036854775808}",
       "y = min(x, z)",
       {9, 11, 12}},
      {"x = int64[2]{3, -5}", "y = max(x)", {9, 11, 12}},
      {"x = int32[4]{3, -5, 65536, 0}", "k = int32[]{5} y = pow(x, k)", {7, 11, 12}},
      {"x = int64[2]{3, -5}", "k = int64[]{1} y = pow(x, k)", {7, 11, 12}},
      {"x = int32[9]{3, -5, 0, 1, -1, -1, 2, 0, 7} z = int32[9]{20, 3, 0, -2, -3, -4, -1, -1, 0}",
       "y = pow(x, z)",
       {9, 11, 12}},
      {"x = int64[3]{3, -5, -1} z = int64[3]{100, 9223372036854775807, -9223372036854775808}",
       "y = pow(x, z)",
       {9, 11, 12}},
      {"x = int32[2,1]{3, -1} z = int64[3]{2, 4294967296, -1}", "y = pow(x, z)", {9, 11, 12, 15}},
      {"x = int64[2]{3, 7} z = uint64[2]{40, 9223372036854775807}", "y = pow(x, z)", {9, 12, 15}},
      {"x = int64[1]{3} z = int32[2]{40, 39}", "y = pow(x, z)", {9, 12, 15}},
      {"x = int32[4]{3, -5, 7, 0} z = float32[4]{2, 3, 0.5, -1}", "y = pow(x, z)", {7, 11, 12}},
      {"x = float32[4]{3.5, -5, nan, 0.0} z = int64[4]{2, 3, 0, -1}", "y = pow(x, z)", {7, 11, 12}},
      {"x = float32[2]{1.5, inf} z = uint64[2]{18446744073709551615, 1}",
       "y = pow(x, z)",
       {7, 11, 12}},
      {"x = int64[2]{-3, 2} z = int16[2]{3, 62}", "y = pow(x, z)", {9, 11, 12}},
      {"x = int8[4]{-128, 127, 0, -1}", "y = bitwise_not(x)", {7, 13, 17, 18}},
      {"x = uint64[2]{18446744073709551615, 5}", "y = bitwise_not(x)", {7, 17, 18}},
      {"x = uint8[2,2]{255, 170, 0, 7} z = uint8[2]{85, 15}", "y = bitwise_and(x, z)", {7, 17, 18}},
      {"x = int8[4]{-128, 127, -1, 7} z = int8[1]{-86}", "y = bitwise_or(x, z)", {7, 17, 18}},
      {"x = int32[4]{-2147483648, 2147483647, -1, 7} z = int32[]{-1431655766}",
       "y = bitwise_xor(x, z)",
       {7, 11, 17, 18}},
      {"x = int64[3]{-9223372036854775808, -1, 7} z = int64[1]{-9223372036854775807}",
       "y = bitwise_and(x, z)",
       {7, 13, 17, 18}},
      {"x = int64[2,1]{-9223372036854775808, 81985529216486895} z = int64[2]{-2, 5}",
       "y = bitwise_or(x, z)",
       {7, 13, 17, 18}},
      {"x = uint32[2]{4294967295, 2147483648} z = uint32[]{2863311530}",
       "y = bitwise_and(x, z)",
       {7, 13, 17, 18}},
      {"x = int64[3]{-9223372036854775808, -1, 7} z = int64[3]{-1, 9223372036854775807, 12}",
       "y = bitwise_xor(x, z)",
       {7, 13, 17, 18}},
      {"x = uint64[2]{18446744073709551615, 5} z = uint64[2]{9223372036854775809, 12}",
       "y = bitwise_or(x, z)",
       {7, 17, 18}},
      {"x = int16[0]{} z = int16[1]{3}", "y = bitwise_and(x, z)", {9, 17, 18}},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

// A polynomial of float64, for which runtimes have no kernel: all digits but the last.
TEST(Lowerings, AtanOfFloat64) {
  ExpectSameNumbers(
      {"x = float64[18]{0, -0.0, 1e-320, -1e-9, 0.1, 0.4142135623730950, 0.4142135623730951, -0.5, "
       "1, -1, 2.414213562373095, 2.4142135623730954, 3.5, -1e8, 1e308, inf, -inf, nan}",
       "y = atan(x)",
       {7, 9, 13, 17, 24},
       4.5e-16});
  ExpectSameNumbers({"x = float32[2]{0.1, -3}", "y = atan(x)", {7, 17}});
  // 1 / x tells the zeros apart.
  ExpectSameNumbers({"x = float64[2]{0, -0.0}", "a = atan(x) y = reciprocal(a)", {7, 17}});
}

// Functions of float64 by those that runtimes have kernels of; the C library's numbers but for a
// few units in the last place, at zeros, limits and poles, too.
TEST(Lowerings, FunctionsOfFloat64) {
  const std::string all =
      "x = float64[32]{0, -0.0, 1e-320, -1e-300, 1e-9, -1e-5, 0.001, -0.1, 0.3, 0.5, -0.5, 0.7071, "
      "0.9, -0.99, 0.999999999, 1, -1, 1.0000000001, 1.2, -1.57, 1.5707963267948966, 2, -3.5, 5.9, "
      "7, 30, -1000.5, 268435457, -1e18, 1e308, inf, nan}";
  for (const char* op : {"acos", "asin", "asinh", "atanh", "erf", "acosh"}) {
    for (const int opset : {9, 13, 18, 21}) {
      ExpectSameNumbers({all, StrCat("y = ", op, "(x)"), {opset}, 4e-15});
      const std::string text = LoweredText("x: float64[2]", StrCat("y = ", op, "(x)"), opset);
      EXPECT_EQ(text.find(StrCat(op, "(")), text.npos) << text;
    }
    ExpectSameNumbers({"x = float32[2]{0.1, 1}", StrCat("y = ", op, "(x)"), {9, 18}});
  }
  // 1 / x tells the zeros apart.
  for (const char* op : {"asin", "asinh", "atanh", "erf"}) {
    ExpectSameNumbers(
        {"x = float64[2]{0, -0.0}", StrCat("a = ", op, "(x) y = reciprocal(a)"), {9, 18}});
  }
}

// Computed in float32 and rounded once, so equal to the last bit but for float32's own rounding.
TEST(Lowerings, ActivationsOf16Bits) {
  constexpr const char* kX = "x = float16[6]{-3.3, -0.7, 0.0, 0.3, 2.9, nan}";
  constexpr const char* kB = "x = bfloat16[6]{-3.3, -0.7, 0.0, 0.3, 2.9, inf}";
  for (const char* op : {"gelu(x)", "gelu(x) { approximate = \"tanh\" }", "mish(x)",
                         "swish(x) { alpha = 1.7 }", "hard_swish(x)", "celu(x) { alpha = 1.7 }"}) {
    const std::string line = std::string("y = ") + op;
    ExpectSameNumbers({kX, line, {9, 11, 13, 17}});
    ExpectSameNumbers({kB, line, {13, 17}});
  }
}

TEST(Lowerings, Where) {
  const LoweredRow rows[] = {
      {"c = bool[2,1]{true, false} x = float32[3]{1, nan, inf} z = float32[]{-inf}",
       "y = where(c, x, z)",
       {7, 8, 9}},
      {"c = bool[2]{true, false} x = float16[2]{1, nan} z = float16[2]{nan, 3}",
       "y = where(c, x, z)",
       {7, 8, 9}},
      {"c = bool[]{false} x = string[]{\"a\"} z = string[]{\"b\"}", "y = where(c, x, z)", {7, 9}},
      {"x = float32[6]{-3, -0.5, 0.0, 0.5, 2, nan}",
       "y = shrink(x) { lambd = 0.5, bias = 1.5 }",
       {7, 8, 9}},
      // float16 has no 0.7, but a number just above.
      {"x = float16[3]{0.7, -0.7, nan}", "y = shrink(x) { lambd = 0.7, bias = 0.1 }", {7, 8, 9}},
      {"x = float64[5]{-3, -0.5, -0.0, 2, nan}", "y = leaky_relu(x) { alpha = 0.3 }", {9, 16, 22}},
      {"x = float64[2,2]{-3, -0.5, 2, nan} s = float64[2]{0.1, -2}",
       "y = prelu(x, s)",
       {9, 16, 22}},
      {"x = float64[5]{-9, -0.5, 0.7, 9, nan}", "y = hard_sigmoid(x)", {9, 16, 22}},
      {"x = float64[5]{-9, -0.5, 0.7, 9, nan}", "y = softsign(x)", {9, 16, 22}},
      {"x = float64[3]{-9, 0.7, 9}", "y = thresholded_relu(x) { alpha = 0.7 }", {9, 16, 22}},
      {"x = float64[2]{1, 2} z = float64[2]{3, 0.1}", "y = mean(x, z)", {9, 16, 22}},
      {"x = float16[2]{0.7, nan}", "y = thresholded_relu(x) { alpha = 0.7 }", {7, 9, 10}},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Lowerings, Dropout) {
  const LoweredRow rows[] = {
      {"x = float32[2]{1, nan}",
       "r = float32[]{0.5} y, m = dropout(x, r) { seed = 7 }",
       {8, 10, 11, 12},
       0,
       "",
       "y, m"},
      {"x = float32[2]{1, nan}",
       "r = float32[]{0.0} t = bool[]{true} y = dropout(x, r, t) { seed = 7 }",
       {7, 9, 12}},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
  EXPECT_THAT(LoweredText("x: float32[2]", "t = bool[]{true} y = dropout(x, _, t)", 11),
              HasSubstr("training mode"));
}

TEST(Lowerings, LinearAttention) {
  constexpr double kClose = 1e-5;
  constexpr const char* kQkv =
      "q = float32[1,2,4]{1, 2, 3, 4, -1, 0.5, 2, 1}\n k = float32[1,2,2]{0.5, 1, 2, -1}\n "
      "v = float32[1,2,3]{1, 2, 3, 4, 5, 6}\n s = float32[1,1,2,3]{1, 0, 2, -1, 3, 1}\n "
      "d = float32[1,2,1]{-0.5, 0.25}\n e = float32[1,2,2]{-0.5, 0.25, -1, 0}\n "
      "b = float32[1,2,1]{0.5, 0.75}";
  const LoweredRow rows[] = {
      {kQkv,
       "y, t = linear_attention(q, k, v) { q_num_heads = 2, kv_num_heads = 1, "
       "update_rule = \"linear\" }",
       {9, 13, 26, 27},
       kClose,
       "",
       "y, t"},
      {kQkv,
       "y, t = linear_attention(q, k, v, s, d) { q_num_heads = 2, kv_num_heads = 1, "
       "update_rule = \"gated\", scale = 2.0 }",
       {9, 26},
       kClose,
       "",
       "y, t"},
      {kQkv,
       "y, t = linear_attention(q, k, v, s, e, b) { q_num_heads = 2, kv_num_heads = 1 }",
       {9, 18, 26},
       kClose,
       "",
       "y, t"},
      // Without a state yet, of any number of sequences; an infinite decay of nothing is NaN.
      {"q = float32[2,1,1]{1, 2}\n k = float32[2,1,1]{3, 4}\n v = float32[2,1,1]{5, 6}\n "
       "d = float32[2,1,1]{1000, 0}",
       "y, t = linear_attention(q, k, v, _, d) { q_num_heads = 1, kv_num_heads = 1, "
       "update_rule = \"gated\" }",
       {9, 26},
       kClose,
       "q: float32[n,1,1], k: float32[n,1,1], v: float32[n,1,1], d: float32[n,1,1]",
       "y, t"},
      {"q = float16[1,1,1]{0.3}\n k = float16[1,1,1]{3}\n v = float16[1,1,1]{0.7}\n "
       "b = float16[1,1,1]{0.9}",
       "y, t = linear_attention(q, k, v, _, _, b) { q_num_heads = 1, kv_num_heads = 1, "
       "update_rule = \"delta\" }",
       {9, 26},
       1e-3,
       "",
       "y, t"},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
  EXPECT_THAT(LoweredText("q: float32[1,n,1]",
                          "y, t = linear_attention(q, q, q) { q_num_heads = 1, kv_num_heads = 1, "
                          "update_rule = \"linear\" }",
                          26, "y, t"),
              HasSubstr("needs known sizes"));
}

TEST(Lowerings, GridSample) {
  constexpr double kClose = 2e-6;
  constexpr const char* kImage =
      "x = float32[1,2,2,3]{1, 2, 3, 4, 5, 6, -1, 0.5, inf, 7, 8, 9}\n "
      "g = float32[1,2,5,2]{-1, -1, 1, 1, 0, 0, 0.3, -0.7, -1.2, 0.4, 1.9, -3.5, nan, 0, inf, 1, "
      "-inf, 0.5, 7.77, -100.25}";
  std::vector<LoweredRow> rows;
  std::vector<std::string> lines;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const char* align : {"0", "1"}) {
        lines.push_back(std::string("y = grid_sample(x, g) { mode = \"") + mode +
                        "\", padding_mode = \"" + padding + "\", align_corners = " + align + " }");
      }
    }
  }
  for (const std::string& line : lines) {
    rows.push_back({kImage, line, {9, 11, 15}, kClose});
    rows.push_back({kImage, line, {13, 15}, kClose, "x: float32[a,b,c,d], g: float32[a,e,f,2]"});
  }
  const LoweredRow more[] = {
      // A single pixel along an axis; integers are cut off; three axes; a batch; nothing at all.
      {"x = int32[1,1,1,3]{7, -3, 10}\n g = float32[1,1,3,2]{0.3, 0, -0.3, 0, 0.9, 0}",
       "y = grid_sample(x, g) { align_corners = 1, padding_mode = \"reflection\" }",
       {9, 15}},
      {"x = bool[1,1,2,2]{true, false, true, true}\n g = float32[1,1,2,2]{0.4, 0.9, 9, 9}",
       "y = grid_sample(x, g) { mode = \"nearest\" }",
       {9, 15}},
      {"x = float64[2,1,1,2,2]{1, 2, 3, 4, 5, 6, 7, 8}\n "
       "g = float64[2,1,1,2,3]{0.1, 0.2, 0, -0.3, 0.5, 0.4, -1, 1, 0, 0.25, 0.5, 0}",
       "y = grid_sample(x, g)",
       {9, 16, 19, 20},
       1e-12},
      {"x = float32[1,1,2,2]{1, 2, 3, 4}\n g = float32[1,0,2,2]{}", "y = grid_sample(x, g)", {9}},
      {"x = float16[1,1,2,2]{1, 2, 3, 4}\n g = float16[1,1,1,2]{0.33, -0.7}",
       "y = grid_sample(x, g)",
       {9, 15},
       1e-3},
  };
  rows.insert(rows.end(), std::begin(more), std::end(more));
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Lowerings, Signal) {
  constexpr double kClose = 1e-6;
  constexpr const char* kReal = "x = float32[1,5,2,1]{1, 2, 3, 4, -5, 6, 7, 0.5, 9, 1}";
  constexpr const char* kComplex = "x = float64[3,2,2]{1, 2, 3, 4, -5, 6, 7, 0.5, 9, 1, 0, 2}";
  const LoweredRow rows[] = {
      {kReal, "a = int64[]{1} y = dft(x, _, a)", {9, 13, 16, 17, 20}, kClose},
      {kReal, "a = int64[]{-3} y = dft(x, _, a) { onesided = 1 }", {9, 16, 17}, kClose},
      {kReal, "n = int64[]{8} a = int64[]{1} y = dft(x, n, a)", {9, 16, 17}, kClose},
      {kReal, "n = int64[]{3} a = int64[]{1} y = dft(x, n, a) { onesided = 1 }", {9, 17}, kClose},
      {kComplex, "y = dft(x) { inverse = 1 }", {9, 16, 17}, 1e-12},
      {"x = float32[4,1]{1, 2, 3, 5}", "y = dft(x) { onesided = 1 }", {11, 17, 20}, kClose},
      {"x = float32[2,2]{4, 0, -2, 1}", "y = dft(x) { inverse = 1 }", {11, 17, 20}, kClose},
      {kComplex,
       "a = int64[]{0} y = dft(x, _, a) { inverse = 1, onesided = 1 }",
       {9, 17, 19, 20, 22},
       1e-12},
      {kComplex,
       "n = int64[]{2} a = int64[]{0} y = dft(x, n, a) { inverse = 1, onesided = 1 }",
       {9, 17, 19, 20, 22},
       1e-12},
      {kComplex,
       "n = int64[]{3} a = int64[]{0} y = dft(x, n, a) { inverse = 1, onesided = 1 }",
       {9, 17, 20},
       1e-12},
      {"x = float32[2,2,1]{1, 2, 3, 4} a = int64[]{-3}", "y = dft(x, _, a)", {11, 17, 19}, kClose},
      {"x = float32[2,3,1]{1, 2, 3, 4, 5, 6} a = int64[]{0}",
       "y = dft(x, _, a) { onesided = 1 }",
       {11, 17, 19},
       kClose,
       "",
       "y: float32[2,3,2]"},
      {"x = float32[1,7,1]{1, 2, 3, 4, 5, -6, 7}\n w = float32[3]{0.5, 1, 0.25}",
       "s = int64[]{2} y = stft(x, s, w)",
       {9, 16, 17},
       kClose},
      {"x = float32[1,7,1]{1, 2, 3, 4, 5, -6, 7}\n s = int64[]{3}",
       "n = int64[]{4} y = stft(x, s, _, n) { onesided = 0 }",
       {11, 16, 17},
       kClose},
      {"n = int32[]{6}", "y = hann_window(n)", {11, 16, 17}, kClose},
      {"n = int64[]{6}",
       "y = hamming_window(n) { periodic = 0, dtype = \"float64\" }",
       {11, 17},
       1e-12},
      {"n = int64[]{0}", "y = blackman_window(n)", {11, 17}, kClose},
      {"n = int64[]{5}", "y = blackman_window(n)", {11, 17}, kClose},
      {"t = float32[1]{2}", "n = int64[]{5} w = hann_window(n) y = mul(w, t)", {7, 16, 17}, kClose},
      {"t = float32[1]{2}",
       "m = int64[]{4} n = int64[]{16} r = int64[]{8192} a = float32[]{0.0} b = float32[]{4000} "
       "w = mel_weight_matrix(m, n, r, a, b) y = mul(w, t)",
       {7, 16, 17},
       kClose},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Lowerings, Pools) {
  constexpr double kClose = 1e-6;
  constexpr const char* kX =
      "x = float32[1,1,3,5]{1, 2, 3, 4, -5, 6, 7, inf, 9, 1, 0, 2, -3, 8, nan}";
  const LoweredRow rows[] = {
      {kX, "y = max_pool(x) { kernel_shape = [2, 2], dilations = [2, 3] }", {7, 9, 10}},
      {kX,
       "y = max_pool(x) { kernel_shape = [2, 3], dilations = [1, 2], pads = [1, 1, 0, 1], "
       "strides = [1, 2], ceil_mode = 1 }",
       {7, 9, 10}},
      {"x = int8[1,4,1]{-128, -127, 3, -5}",
       "y = max_pool(x) { kernel_shape = [2], dilations = [2], layout = \"channels_last\" }",
       {9, 12, 13}},
      {kX,
       "y = average_pool(x) { kernel_shape = [2, 2], dilations = [2, 3] }",
       {7, 18, 19},
       kClose},
      {kX,
       "y = average_pool(x) { kernel_shape = [3, 2], dilations = [1, 2], pads = [1, 1, 1, 1], "
       "count_include_pad = 1 }",
       {9, 18, 19},
       kClose},
      // The last window along the last axis would begin in the padding.
      {"x = float32[1,1,2,5]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}",
       "y = average_pool(x) { kernel_shape = [1, 3], strides = [1, 3], pads = [0, 1, 0, 2], "
       "ceil_mode = 1 }",
       {10, 18, 19},
       kClose},
      {kX,
       "y = average_pool(x) { kernel_shape = [2, 2], strides = [2, 2], pads = [0, 1, 0, 0], "
       "ceil_mode = 1, count_include_pad = 1 }",
       {9, 18, 19},
       kClose},
      {kX,
       "y = average_pool(x) { kernel_shape = [2, 3], strides = [2, 3], pads = [0, 1, 1, 1], "
       "ceil_mode = 1, count_include_pad = 1 }",
       {9, 10, 18, 19},
       kClose},
      {"x = float32[1,3,5,1]{1, 2, 3, 4, -5, 6, 7, 0.5, 9, 1, 0, 2, -3, 8, 4}",
       "y = average_pool(x) { kernel_shape = [2, 3], strides = [3, 2], pads = [0, 0, 1, 1], "
       "ceil_mode = 1, count_include_pad = 1, layout = \"channels_last\" }",
       {10, 18, 19},
       kClose},
      {kX,
       "y = max_pool(x) { kernel_shape = [2, 2], dilations = [1, 2], strides = [1, 2], "
       "auto_pad = \"SAME_LOWER\" }",
       {10, 12, 22}},
      {kX,
       "y = average_pool(x) { kernel_shape = [2, 3], pads = [1, 0, 1, 0], count_include_pad = 1 }",
       {18, 19, 22},
       kClose},
      // As much padding as the kernel has.
      {kX,
       "y = max_pool(x) { kernel_shape = [2, 2], dilations = [1, 3], pads = [0, 2, 1, 1] }",
       {12}},
      {kX,
       "y = average_pool(x) { kernel_shape = [1, 2], dilations = [1, 3], pads = [0, 2, 0, 1], "
       "count_include_pad = 1 }",
       {18, 19},
       kClose},
      {kX,
       "y = average_pool(x) { kernel_shape = [1, 2], dilations = [1, 3], pads = [0, 2, 0, 1] }",
       {18, 19},
       kClose},
      {kX,
       "y = lp_pool(x) { kernel_shape = [1, 2], dilations = [1, 3], pads = [0, 2, 0, 1], p = 2 }",
       {17, 18},
       kClose},
      {kX,
       "y = average_pool(x) { kernel_shape = [2, 2], dilations = [2, 2], "
       "auto_pad = \"SAME_UPPER\" }",
       {9, 18, 19},
       kClose},
      {kX,
       "y = lp_pool(x) { kernel_shape = [2, 2], dilations = [1, 2], pads = [1, 1, 0, 0], p = 2 }",
       {9, 17, 18},
       kClose},
      {kX,
       "y = lp_pool(x) { kernel_shape = [3, 2], strides = [2, 2], ceil_mode = 1, p = 1 }",
       {9, 17, 18},
       kClose},
      {kX,
       "y = lp_pool(x) { kernel_shape = [2, 2], dilations = [2, 1], p = 3 }",
       {9, 17, 18},
       kClose},
      // A sum that float32 does not hold.
      {"x = float32[1,1,3]{3e38, 0, 3e38}",
       "y = average_pool(x) { kernel_shape = [2], dilations = [2] }",
       {9, 18}},
      {"x = float16[1,3,2]{1, 2, 3, 4, 5, 7}",
       "y = average_pool(x) { kernel_shape = [2], dilations = [2], layout = \"channels_last\" }",
       {9, 18},
       1e-3},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
  EXPECT_THAT(LoweredText("x: float32[1,1,n]",
                          "y = average_pool(x) { kernel_shape = [2], dilations = [2] }", 18),
              HasSubstr("unknown size"));
}

TEST(Lowerings, Resize) {
  constexpr double kClose = 2e-6;
  constexpr const char* kX = "x = float32[1,1,2,4]{1, 2, 3, 4, -5, inf, 7, 8}";
  std::vector<LoweredRow> rows;
  std::vector<std::string> lines;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric",
          "tf_half_pixel_for_nn"}) {
      for (const char* to : {"s = float32[4]{1, 1, 1.75, 0.6} y = resize(x, _, s)",
                             "s = int64[4]{1, 1, 5, 3} y = resize(x, _, _, s)"}) {
        lines.push_back(std::string(to) + " { mode = \"" + mode +
                        "\", coordinate_transformation_mode = \"" + coordinates + "\" }");
      }
    }
  }
  for (const std::string& line : lines) rows.push_back({kX, line, {9, 10, 11, 17, 19}, kClose});
  const LoweredRow more[] = {
      {kX,
       "s = float32[2]{0.5, 3} y = resize(x, _, s) { mode = \"linear\", antialias = 1, "
       "axes = [-1, 2] }",
       {9, 11, 17, 18},
       kClose},
      {kX,
       "s = int64[2]{7, 4} y = resize(x, _, _, s) { mode = \"cubic\", exclude_outside = 1, "
       "cubic_coeff_a = -0.5, axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\" }",
       {9, 13, 18},
       kClose},
      {kX,
       "r = float32[8]{0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7} s = int64[4]{1, 1, 3, 3} "
       "y = resize(x, r, _, s) { mode = \"linear\", extrapolation_value = 10.0, "
       "coordinate_transformation_mode = \"tf_crop_and_resize\" }",
       {9, 11},
       kClose},
      {"x = uint8[1,1,1,4]{1, 255, 3, 40}",
       "s = float32[4]{1, 1, 1, 1.6} y = resize(x, _, s) { mode = \"linear\" }",
       {9, 11}},
      {"x = int8[1,1,1,4]{1, -128, 3, 127}",
       "s = int64[4]{1, 1, 1, 9} y = resize(x, _, _, s) { mode = \"cubic\" }",
       {9, 10}},
      {"x = float32[2,4]{1, 2, 3, 4, 5, 6, 7, 8}",
       "s = float32[2]{1, 0.6} y = resize(x, _, s) { mode = \"linear\" }",
       {9, 10},
       kClose,
       "x: float32[n,4]"},
  };
  rows.insert(rows.end(), std::begin(more), std::end(more));
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

// Places and weights that depend on the operands.
TEST(Lowerings, ResizeComputed) {
  constexpr double kClose = 2e-6;
  constexpr const char* kScales =
      "x = float32[1,1,2,4]{1, 2, 3, 4, -5, inf, 7, 8}\n s = float32[4]{1, 1, 1.75, 0.6}";
  constexpr const char* kSizes =
      "x = float32[1,1,2,4]{1, 2, 3, 4, -5, inf, 7, 8}\n s = int64[2]{5, 3}";
  std::vector<std::string> lines;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric",
          "tf_half_pixel_for_nn"}) {
      lines.push_back(std::string(" { mode = \"") + mode +
                      "\", coordinate_transformation_mode = \"" + coordinates + "\"");
    }
  }
  for (const std::string& attrs : lines) {
    const std::string scales = "y = resize(x, _, s)" + attrs + " }";
    const std::string sizes = "y = resize(x, _, _, s)" + attrs + ", axes = [2, -1] }";
    ExpectSameNumbers({kScales, scales, {11, 13, 18, 19}, kClose});
    ExpectSameNumbers({kScales, scales, {9, 10}, kClose, "", "y: float32[1,1,3,2]"});
    ExpectSameNumbers({kSizes, sizes, {11, 13, 17, 18}, kClose});
    ExpectSameNumbers({kSizes, sizes, {9, 10}, kClose, "", "y: float32[1,1,5,3]"});
  }
  const LoweredRow rows[] = {
      {"x = float32[1,1,2,4]{1, 2, 3, 4, -5, 6, 7, 8}\n s = float32[2]{2.5, 0.6}",
       "y = resize(x, _, s) { mode = \"cubic\", exclude_outside = 1, axes = [2, 3], "
       "coordinate_transformation_mode = \"half_pixel_symmetric\" }",
       {11, 17, 18},
       kClose},
      {"x = float32[1,1,2,4]{1, 2, 3, 4, -5, 6, 7, 8}\n r = float32[4]{0.4, 0.6, 1.2, 1.7}",
       "s = int64[2]{3, 3} y = resize(x, r, _, s) { mode = \"linear\", axes = [2, 3], "
       "coordinate_transformation_mode = \"tf_crop_and_resize\", extrapolation_value = 10.0 }",
       {9, 11},
       kClose},
      {"x = float32[1,4]{1, 2, 3, 4}\n r = float32[4]{0, 0.2, 1, 0.8}\n s = float32[2]{1, 1.5}",
       "y = resize(x, r, s) { coordinate_transformation_mode = \"tf_crop_and_resize\" }",
       {9, 10, 11},
       kClose,
       "",
       "y: float32[1,3]"},
      {"x = uint8[1,4]{1, 255, 3, 40}\n s = float32[2]{1, 1.6}",
       "y = resize(x, _, s) { mode = \"cubic\" }",
       {9, 10},
       0,
       "",
       "y: uint8[1,6]"},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Lowerings, RoiAlign) {
  constexpr double kClose = 1e-6;
  constexpr const char* kX =
      "x = float32[2,2,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 0.5, 3, 2, 8, 1, 0, -4, 2, 9, 8, 7, 6, "
      "5, 4, 3, 2, 1, 1, 1, 2, 3, 5, 8, 13, 21, 34}\n "
      "r = float32[4,4]{0, 0, 2, 2, 0.3, -0.7, 1.9, 5, 1, 1, 1.1, 1.2, -9, -9, -8, 40}\n "
      "b = int64[4]{0, 1, 1, 0}";
  std::vector<std::string> lines;
  for (const char* mode : {"avg", "max"}) {
    for (const char* coordinates : {"half_pixel", "output_half_pixel"}) {
      lines.push_back(std::string("y = roi_align(x, r, b) { output_height = 2, output_width = 3, "
                                  "sampling_ratio = 2, spatial_scale = 0.75, mode = \"") +
                      mode + "\", coordinate_transformation_mode = \"" + coordinates + "\" }");
    }
  }
  for (const std::string& line : lines) {
    ExpectSameNumbers({kX, line, {9, 10, 15, 16}, kClose});
    ExpectSameNumbers(
        {kX, line, {9, 15}, kClose, "x: float32[n,2,h,w], r: float32[k,4], b: int64[k]"});
  }
  EXPECT_THAT(LoweredText("x: float32[1,1,2,2], r: float32[1,4], b: int64[1]",
                          "y = roi_align(x, r, b)", 15),
              HasSubstr("depends on the regions"));
}

TEST(Lowerings, DeformConv) {
  constexpr double kClose = 1e-6;
  const LoweredRow rows[] = {
      {"x = float32[1,1,3,3]{1, 2, 3, 4, inf, 6, 7, 8, 9}\n "
       "w = float32[1,1,2,2]{1, -1, 0.5, 2}\n b = float32[1]{0.5}\n "
       "o = float32[1,8,2,2]{0.5, 0, 0, 0, 0, -0.1, 0, 0, 0, 0, 0, 0, 0, 0, nan, 0, 0, -5, 0, 0, "
       "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.25}",
       "y = deform_conv(x, w, o, b)",
       {9, 18, 19},
       kClose},
      {"x = float64[2,4,3]{1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, 0, 1, "
       "5}\n w = float64[4,2,2]{1, 2, 3, 4, -1, 0, 2, 1, 5, 6, 7, 8, 0.5, 1, 1, 2}\n "
       "o = float64[2,4,2]{0.5, -0.5, 0, 0.1, 2, -2, 0, 0, 0.25, 1, 0, 0, 0, -1, 0.75, 0}\n "
       "m = float64[2,4,2]{1, 2, 0.5, 1, 1, 1, 0, 1, 1, 1, 2, 2, 1, 1, 1, 3}",
       "y = deform_conv(x, w, o, _, m) { group = 2, offset_group = 2, strides = [2], "
       "pads = [1, 1], dilations = [2] }",
       {9, 13, 18, 19},
       1e-12},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Lowerings, Col2Im) {
  const LoweredRow rows[] = {
      {"x = float32[1,4,4]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, inf, 16}",
       "i = int64[2]{3, 3} b = int64[2]{2, 2} y = col2im(x, i, b)",
       {9, 17, 18},
       0,
       "x: float32[n,4,l]"},
      {"x = int32[2,6,2]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2147483647, "
       "2147483647, 5, 4, 3, 2, 1, 0}",
       "i = int64[1]{5} b = int64[1]{3} y = col2im(x, i, b) { strides = [3], dilations = [2], "
       "pads = [2, 1] }",
       {9, 17, 18}},
      {"x = uint8[1,2,3]{255, 200, 100, 90, 80, 70}",
       "i = int64[1]{4} b = int64[1]{2} y = col2im(x, i, b)",
       {9, 13, 17, 18}},
      {"x = float16[1,2,3]{1, 2, 3, 4, 5, 6}",
       "i = int64[1]{4} b = int64[1]{2} y = col2im(x, i, b)",
       {9, 17, 18}},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Lowerings, Det) {
  ExpectSameNumbers(
      {"x = float32[2,2,2]{1, 2, 3, 4, 0, 5, inf, 1}", "y = det(x)", {7, 10, 11}, 1e-6});
  ExpectSameNumbers({"x = float16[2,1,1]{1, nan}", "y = det(x)", {7, 10, 11}});
  EXPECT_THAT(LoweredText("x: float32[3,3]", "y = det(x)", 10), HasSubstr("only matrices of 1"));
}

// Shapes may say anything: what would take for ever, or all memory, is refused.
TEST(Lowerings, Bounded) {
  struct Row {
    int opset;
    const char *inputs, *lines;
  };
  const Row rows[] = {
      {15, "x: float32[1099511627776,1,2,2], g: float32[1099511627776,1,1,2]",
       "y = grid_sample(x, g)"},
      {9, "x: float32[1,1,1099511627776,2], g: float32[1,1,1,2]", "y = grid_sample(x, g)"},
      {9, "x: float32[1,1,8]",
       "y = max_pool(x) { kernel_shape = [4611686018427387904], dilations = [1], "
       "pads = [4611686018427387904, 1] }"},
      {9, "x: float32[1,1,8]",
       "y = average_pool(x) { kernel_shape = [2], dilations = [2], "
       "pads = [1099511627776, 1099511627776] }"},
      {9, "x: float32[1,1099511627776,1]", "y = dft(x)"},
      {9, "x: float32[1,4611686018427387904,2]", "y = dft(x) { inverse = 1, onesided = 1 }"},
      {9, "x: float32[1,1099511627776,1], s: int64[]",
       "n = int64[]{67108864} y = stft(x, s, _, n)"},
      {9, "x: float32[1,1,1099511627776]",
       "s = float32[3]{1, 1, 0.0001} y = resize(x, _, s) { mode = \"cubic\", antialias = 1 }"},
      {9, "x: float32[1,1,1048576]",
       "s = float32[3]{1, 1, 1e-5} y = resize(x, _, s) { mode = \"linear\", antialias = 1 }"},
      {9, "x: float32[1,1,4]",
       "s = float32[3]{1, 1, 1e12} y = resize(x, _, s) { mode = \"cubic\" }"},
      {18, "x: float32[4611686018427387904,4,2,2], w: float32[1,4,1,1], o: float32[n,2,2,2]",
       "y = deform_conv(x, w, o)"},
      {17, "x: float32[1,4,l]",
       "i = int64[2]{1099511627776, 1099511627776} b = int64[2]{2, 2} y = col2im(x, i, b)"},
      {15, "x: float32[1,1,2,2], r: float32[1,4], b: int64[1]",
       "y = roi_align(x, r, b) { output_height = 4611686018427387904, sampling_ratio = 4 }"},
      {19, "t: float32[1,2,3]",
       "s = int64[4]{1, 1, 1099511627776, 1099511627776} y = affine_grid(t, s)"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(LoweredText(row.inputs, row.lines, row.opset), HasSubstr("error: ")) << row.lines;
  }
}

// What the specification cannot say there: the message says what is missing, and who has it.
TEST(Lowerings, WhatOldOpsetsCannotSay) {
  ExpectRefused(13, "x: float32[1,8,1], n: int64[]", "a = int64[]{1} y = dft(x, n, a)",
                "opset 17 has it");
  ExpectRefused(13, "x: float32[2], s: float32[], z: float8e4m3fn[]",
                "y = quantize_linear(x, s, z)", "opset 19 allows it");
  ExpectRefused(18, "x: float32[2]", "y = cast(x) { to = \"float8e5m2\" }", "opset 19 allows it");
  ExpectRefused(17, "x: float32[1,5,5], i: int64[2]", "b = int64[2]{1, 5} y = col2im(x, i, b)",
                "opset 18 has it");
}

// Rounds gather their slices along any axis, from either end.
TEST(Lowerings, Scans) {
  const auto scan = [](std::string_view axes, std::string_view backwards) {
    return StrCat(
        "y, z = scan(h, x, v) { body = graph b(s: float32[2], e: float32[2], f: float32[2]) -> (t, "
        "o) { m = mul(e, f) t = add(s, m) o = neg(t) }, num_scan_inputs = 2, scan_input_axes = ",
        axes, ", scan_input_directions = ", backwards,
        ", scan_output_axes = [-1], scan_output_directions = [1] }");
  };
  for (const std::string_view axes : {"[1, 0]", "[-1, 0]", "[1, -2]"}) {
    for (const std::string_view backwards : {"[0, 0]", "[1, 0]", "[1, 1]"}) {
      const std::string lines = scan(axes, backwards);
      ExpectSameNumbers(
          {"h = float32[2]{0.5, -1} x = float32[2,3]{1, 2, 3, 4, 5, 6} "
           "v = float32[3,2]{1, -1, 2, 0, 3, 7}",
           lines,
           {7},
           0,
           "",
           "y, z"});
    }
  }
}

TEST(Lowerings, AffineGrid) {
  const LoweredRow rows[] = {
      {"t = float32[2,2,3]{1, 0, 0.5, 0.25, 2, -1, 0, 1, 0, -1, 0.5, 3}",
       "s = int64[4]{2, 1, 3, 2} y = affine_grid(t, s)",
       {7, 11, 19, 20},
       1e-6},
      {"t = float64[1,3,4]{1, 0, 0.5, 0.25, 2, -1, 0, 1, 0, -1, 0.5, 3}\n "
       "s = int64[5]{1, 1, 1, 2, 3}",
       "y = affine_grid(t, s) { align_corners = 1 }",
       {11, 19, 20},
       1e-12},
      {"z = float32[1]{1}",
       "t = float32[1,2,3]{1, 0, 0.5, 0.25, 2, -1} s = int64[4]{1, 1, 0, 2} "
       "g = affine_grid(t, s) y = mul(g, z)",
       {7, 19},
       1e-6},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

}  // namespace
}  // namespace x2ir
