#include "gtest/gtest.h"
#include "tests/optimizer/pass_util.h"

namespace x2ir {
namespace {

constexpr std::string_view kQ = "q: int8[2,3,4]";
constexpr std::string_view kX = "x: float32[2,3,4]";
constexpr std::string_view kScale = "s = float32[]{0.1}\n z = int8[]{3}\n";

std::string With(std::string_view head, std::string_view lines) {
  return std::string(head) + std::string(lines);
}

TEST(QuantizedUnits, Pairs) {
  const std::string pair = With(
      kScale,
      "d = dequantize_linear(q, s, z)\n p = quantize_linear(d, s, z)\n y = dequantize_linear(p, "
      "s, z)");
  const std::string no_pair = With(kScale, "y = dequantize_linear(q, s, z)");
  const std::string equal =
      With(kScale,
           "t = float32[1]{0.1}\n u = int8[1]{3}\n d = dequantize_linear(q, s, z)\n"
           "p = quantize_linear(d, t, u)\n y = dequantize_linear(p, s, z)");
  const std::string other_zero =
      With(kScale, "u = int8[]{4}\n d = dequantize_linear(q, s, z)\n y = quantize_linear(d, s, u)");
  const std::string other_scale = With(
      kScale, "t = float32[]{0.2}\n d = dequantize_linear(q, s, z)\n y = quantize_linear(d, t, z)");
  const std::string other_type =
      "s = float32[]{0.1}\n z = uint8[]{0}\n d = dequantize_linear(q, s)\n"
      "y = quantize_linear(d, s, z)";
  const std::string rounds =
      With(kScale, "p = quantize_linear(x, s, z)\n y = dequantize_linear(p, s, z)");
  const std::string axes =
      "s = float32[3]{1, 2, 3}\n d = dequantize_linear(q, s) { axis = 1 }\n"
      "p = quantize_linear(d, s) { axis = 1, output_dtype = \"int8\" }\n"
      "y = dequantize_linear(p, s) { axis = 1 }";
  const std::string other_axes =
      "s = float32[3]{1, 2, 3}\n d = dequantize_linear(q, s) { axis = 1 }\n"
      "y = quantize_linear(d, s) { axis = 0, output_dtype = \"int8\" }";
  const PassRow rows[] = {
      {kQ, pair, no_pair},
      {kQ, equal, no_pair},
      {kQ, axes, "s = float32[3]{1, 2, 3}\n y = dequantize_linear(q, s) { axis = 1 }"},
      {"q: int8[3,3]", other_axes, ""},
      {kQ, other_zero, ""},
      {kQ, other_scale, ""},
      {kQ, other_type, ""},
      // The other way round numbers are rounded.
      {kX, rounds, ""},
      // 200 times this is no number; 0 / 0 neither.
      {kQ,
       "s = float32[]{1e38}\n d = dequantize_linear(q, s)\n"
       "y = quantize_linear(d, s) { output_dtype = \"int8\" }",
       ""},
      {kQ,
       "s = float32[]{0}\n d = dequantize_linear(q, s)\n"
       "y = quantize_linear(d, s) { output_dtype = \"int8\" }",
       ""},
      // Digits get lost on the way.
      {"q: int16[n]",
       "s = float16[]{0.1}\n d = dequantize_linear(q, s)\n"
       "y = quantize_linear(d, s) { output_dtype = \"int16\" }",
       ""},
      {"q: int8[n], s: float32[]",
       "d = dequantize_linear(q, s)\n y = quantize_linear(d, s) { output_dtype = \"int8\" }", ""},
  };
  for (const PassRow& row : rows) ExpectPass(row, {"quantized_units", "dead_code"});
}

TEST(QuantizedUnits, Moves) {
  const std::string reshape =
      With(kScale,
           "n = int64[2]{6, 4}\n p = quantize_linear(x, s, z)\n d = dequantize_linear(p, s, z)\n"
           "r = reshape(d, n)\n y = relu(r)");
  const std::string reshaped =
      With(kScale,
           "n = int64[2]{6, 4}\n p = quantize_linear(x, s, z)\n r = reshape(p, n)\n"
           "d = dequantize_linear(r, s, z)\n y = relu(d)");
  const std::string behind =
      With(kScale,
           "n = int64[2]{6, 4}\n a = relu(x)\n r = reshape(a, n)\n y = quantize_linear(r, s, z)");
  const std::string is_behind =
      With(kScale,
           "n = int64[2]{6, 4}\n a = relu(x)\n q = quantize_linear(a, s, z)\n y = reshape(q, n)");
  const std::string unit =
      With(kScale,
           "d = dequantize_linear(q, s, z)\n t = transpose(d) { perm = [2, 0, 1] }\n"
           "y = quantize_linear(t, s, z)");
  const std::string shared =
      With(kScale,
           "n = int64[2]{6, 4}\n d = dequantize_linear(q, s, z)\n y = relu(d)\n v = reshape(d, n)");
  const std::string taken =
      With(kScale, "i = int64[]{1}\n a = gather(x, i)\n y = quantize_linear(a, s, z)");
  const PassRow rows[] = {
      {kX, reshape, reshaped},
      {kX, behind, is_behind},
      {kQ, unit, "y = transpose(q) { perm = [2, 0, 1] }"},
      {kQ, shared, "", "y, v"},
      {kX, taken, ""},
      {"q: int8[2,3,4], i: int64[2]",
       "s = float32[]{0.1}\n d = dequantize_linear(q, s)\n y = gather(d, i)",
       "s = float32[]{0.1}\n d = gather(q, i)\n y = dequantize_linear(d, s)"},
      // Scales along an axis.
      {kQ,
       "s = float32[3]{1, 2, 3}\n d = dequantize_linear(q, s) { axis = 1 }\n"
       "y = transpose(d) { perm = [1, 2, 0] }",
       "s = float32[3]{1, 2, 3}\n t = transpose(q) { perm = [1, 2, 0] }\n"
       "y = dequantize_linear(t, s) { axis = 0 }"},
      {kX,
       "s = float32[3]{1, 2, 3}\n z = int8[3]{0, 0, 0}\n t = transpose(x) { perm = [1, 2, 0] }\n"
       "y = quantize_linear(t, s, z) { axis = 0 }",
       "s = float32[3]{1, 2, 3}\n z = int8[3]{0, 0, 0}\n t = quantize_linear(x, s, z) { axis = 1 "
       "}\n"
       "y = transpose(t) { perm = [1, 2, 0] }"},
      {kQ,
       "s = float32[3]{1, 2, 3}\n n = int64[2]{6, 4}\n d = dequantize_linear(q, s) { axis = 1 }\n"
       "y = reshape(d, n)",
       ""},
      {kQ,
       "s = float32[2,3,2]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
       "d = dequantize_linear(q, s) { axis = 2, block_size = 2 }\n"
       "y = transpose(d) { perm = [1, 2, 0] }",
       ""},
      // Not every target moves these.
      {"q: int16[2,3]",
       "s = float32[]{0.1}\n d = dequantize_linear(q, s)\n y = transpose(d) {\n"
       "perm = [1, 0] }",
       ""},
  };
  for (const PassRow& row : rows) ExpectPass(row, {"quantized_units", "dead_code"});
}

// All passes: weights stay integers, each op keeps a dequantize_linear of its own, and what follows
// a quantized convolution does not go into its weights.
TEST(QuantizedUnits, AllPassesKeepUnits) {
  const std::string unit =
      "w = int8[3,3,1,1]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n s = float32[]{0.1}\n f = float32[3,1,1]{1, "
      "2, "
      "3}\n e = dequantize_linear(w, s)\n c = conv(x, e)\n m = mul(c, f)\n d = "
      "dequantize_linear(w, "
      "s)\n y = conv(m, d)";
  const std::string floats =
      "w = float32[3,3,1,1]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n s = float32[]{1}\n"
      "q = quantize_linear(w, s) { output_dtype = \"int8\" }\n d = dequantize_linear(q, s)\n"
      "y = conv(x, d)";
  const PassRow rows[] = {
      {"x: float32[n,3,4,4]", unit, ""},
      {"x: float32[n,3,4,4]", floats,
       "s = float32[]{1}\n q = int8[3,3,1,1]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n"
       "d = dequantize_linear(q, s)\n y = conv(x, d)"},
  };
  for (const PassRow& row : rows) {
    ExpectPass(row, {"simplify", "fold_constants", "common_subexpressions", "transposes",
                     "quantized_units", "fold_affine", "gemm", "dead_code"});
  }
}

}  // namespace
}  // namespace x2ir
