// Quantization: values worked out by hand, every granularity and kind of type; inference.
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

void ExpectRows(const EvalRow* begin, const EvalRow* end) {
  for (const EvalRow* row = begin; row != end; ++row) {
    ExpectText(EvalText(row->lines, row->outputs), row->want, row->lines);
  }
}

TEST(QuantizeLinear, Eval) {
  const EvalRow rows[] = {
      // Ties to even before the zero point is added; clamped; NaN and infinities.
      {"x = float32[5]{1, 3, 5, -1, 1000}\n s = float32[]{2}\n z = uint8[]{1}\n "
       "y = quantize_linear(x, s, z)",
       "uint8[5]{1, 3, 3, 1, 255}"},
      {"x = float32[3]{nan, inf, -inf}\n s = float32[]{2}\n z = int8[]{1}\n "
       "y = quantize_linear(x, s, z)",
       "int8[3]{-128, 127, -128}"},
      {"x = float32[2]{7, -7}\n s = float32[1]{2}\n y = quantize_linear(x, s)", "uint8[2]{4, 0}"},
      {"x = float32[]{7}\n s = float32[1]{2}\n z = int8[]{1}\n y = quantize_linear(x, s, z)",
       "int8[]{5}"},
      {"x = int32[3]{7, -7, 100000}\n s = float32[]{2}\n z = int16[]{-1}\n "
       "y = quantize_linear(x, s, z)",
       "int16[3]{3, -5, 32767}"},
      {"x = int32[2]{2147483647, 5}\n s = int32[]{2}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"uint16\" }",
       "uint16[2]{65535, 2}"},
      {"x = float32[4]{-9, 9, 2.5, -1}\n s = float32[]{1}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"int4\" }",
       "int4[4]{-8, 7, 2, -1}"},
      {"x = float32[3]{-9, 99, 2.5}\n s = float32[]{1}\n z = uint4[]{1}\n "
       "y = quantize_linear(x, s, z)",
       "uint4[3]{0, 15, 3}"},
      {"x = float32[3]{-9, 9, -1}\n s = float32[]{1}\n z = int2[]{0}\n "
       "y = quantize_linear(x, s, z)",
       "int2[3]{-2, 1, -1}"},
      {"x = float32[3]{-9, 9, 1}\n s = float32[]{1}\n z = uint2[]{1}\n "
       "y = quantize_linear(x, s, z)",
       "uint2[3]{0, 3, 2}"},
      // One for each index of an axis; axis counted from either end.
      {"x = float32[2,2]{1, 2, 3, 4}\n s = float32[2]{1, 2}\n z = int8[2]{0, 1}\n "
       "y = quantize_linear(x, s, z) { axis = 1 }",
       "int8[2,2]{1, 2, 3, 3}"},
      {"x = float32[2,2]{1, 2, 3, 4}\n s = float32[2]{1, 2}\n y = quantize_linear(x, s) "
       "{ axis = -2 }",
       "uint8[2,2]{1, 2, 2, 2}"},
      {"x = float32[2,2]{1, 2, 3, 4}\n s = float32[2]{1, 2}\n y = quantize_linear(x, s)",
       "error no axis"},
      {"x = float32[2,3]{1, 2, 3, 4, 5, 6}\n s = float32[2]{1, 2}\n y = quantize_linear(x, s) "
       "{ axis = 1 }",
       "error does not fit"},
      {"x = float32[2]{1, 2}\n s = float32[2]{1, 2}\n y = quantize_linear(x, s) { axis = 1 }",
       "error axis"},
      // Blocks, the last of them short.
      {"x = float32[1,5]{2, 4, 6, 8, 10}\n s = float32[1,3]{1, 2, 5}\n z = uint8[1,3]{0, 1, 2}\n "
       "y = quantize_linear(x, s, z) { axis = 1, block_size = 2 }",
       "uint8[1,5]{2, 4, 4, 5, 4}"},
      {"x = float32[3,2]{2, 4, 6, 8, 10, 12}\n s = float32[2,2]{1, 2, 5, 4}\n "
       "y = quantize_linear(x, s) { axis = 0, block_size = 2 }",
       "uint8[3,2]{2, 2, 6, 4, 2, 3}"},
      {"x = float32[1,5]{2, 4, 6, 8, 10}\n s = float32[1,2]{1, 2}\n y = quantize_linear(x, s) "
       "{ axis = 1, block_size = 2 }",
       "error does not fit"},
      {"x = float32[0,2]{}\n s = float32[0,1]{}\n y = quantize_linear(x, s) "
       "{ axis = 1, block_size = 2 }",
       "uint8[0,2]{}"},
      {"x = float32[1]{2}\n s = float32[]{1}\n y = quantize_linear(x, s) { block_size = -1 }",
       "error block_size"},
      // Small floats: saturated or not.
      {"x = float32[3]{1000, 3, -0.5}\n s = float32[]{2}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"float8e4m3fn\" }",
       "float8e4m3fn[3]{448, 1.5, -0.25}"},
      {"x = float32[2]{1000, 3}\n s = float32[]{2}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"float8e4m3fn\", saturate = 0 }",
       "float8e4m3fn[2]{nan, 1.5}"},
      {"x = float32[2]{1000000, 3}\n s = float32[]{2}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"float8e5m2\", saturate = 0 }",
       "float8e5m2[2]{inf, 1.5}"},
      {"x = float32[3]{100, 3, -3}\n s = float32[]{2}\n z = float4e2m1[]{0}\n "
       "y = quantize_linear(x, s, z)",
       "float4e2m1[3]{6, 1.5, -1.5}"},
      // The division's type: 2049 is no float16, so that it becomes 2048.
      {"x = float32[1]{2049}\n s = float16[]{1}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"int16\" }",
       "int16[1]{2048}"},
      {"x = float32[1]{2049}\n s = float16[]{1}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"int16\", precision = \"float32\" }",
       "int16[1]{2049}"},
      {"x = float32[1]{259}\n s = float32[]{1}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"int16\", precision = \"bfloat16\" }",
       "int16[1]{260}"},
      {"x = float32[1]{2049}\n s = float8e8m0[]{2}\n y = quantize_linear(x, s) "
       "{ output_dtype = \"int16\" }",
       "int16[1]{1024}"},
      {"x = float32[1]{1}\n s = float32[]{1}\n z = int8[]{0}\n y = quantize_linear(x, s, z) "
       "{ output_dtype = \"uint8\" }",
       "error expected output_dtype"},
      {"x = float32[1]{1}\n s = float32[]{1}\n z = int32[]{0}\n y = quantize_linear(x, s, z)",
       "error quantized type"},
      {"x = float64[1]{1}\n s = float32[]{1}\n y = quantize_linear(x, s)", "error x: expected"},
  };
  ExpectRows(std::begin(rows), std::end(rows));
}

TEST(DequantizeLinear, Eval) {
  const EvalRow rows[] = {
      {"x = uint8[3]{0, 128, 255}\n s = float32[]{2}\n z = uint8[]{128}\n "
       "y = dequantize_linear(x, s, z)",
       "float32[3]{-256, 0, 254}"},
      {"x = int32[2]{-3, 7}\n s = float32[]{0.5}\n y = dequantize_linear(x, s)",
       "float32[2]{-1.5, 3.5}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n s = float16[2]{1, 2}\n z = int8[2]{0, 1}\n "
       "y = dequantize_linear(x, s, z) { axis = 1 }",
       "float16[2,2]{1, 2, 3, 6}"},
      {"x = int4[1,3]{-8, 7, 1}\n s = float32[1,2]{1, 2}\n "
       "y = dequantize_linear(x, s) { axis = 1, block_size = 2 }",
       "float32[1,3]{-8, 7, 2}"},
      {"x = uint2[3]{0, 3, 1}\n s = float32[]{2}\n z = uint2[]{1}\n "
       "y = dequantize_linear(x, s, z)",
       "float32[3]{-2, 4, 0}"},
      {"x = uint16[1]{65535}\n s = float32[]{2}\n z = uint16[]{1}\n "
       "y = dequantize_linear(x, s, z)",
       "float32[1]{131068}"},
      {"x = float8e5m2[3]{1.5, nan, -inf}\n s = bfloat16[]{2}\n y = dequantize_linear(x, s)",
       "bfloat16[3]{3, nan, -inf}"},
      {"x = float4e2m1[2]{1.5, -6}\n s = float8e8m0[]{2}\n "
       "y = dequantize_linear(x, s) { output_dtype = \"float16\" }",
       "float16[2]{3, -12}"},
      {"x = float4e2m1[2]{1.5, -6}\n s = float8e8m0[]{2}\n y = dequantize_linear(x, s)",
       "error output_dtype"},
      {"x = int8[1]{1}\n s = float32[]{2}\n z = uint8[]{1}\n y = dequantize_linear(x, s, z)",
       "error expected int8"},
      {"x = int8[2]{1, 2}\n s = float32[]{2}\n z = int8[2]{1, 2}\n "
       "y = dequantize_linear(x, s, z)",
       "error zero point"},
  };
  ExpectRows(std::begin(rows), std::end(rows));
}

TEST(DynamicQuantizeLinear, Eval) {
  const EvalRow rows[] = {
      {"x = float32[3]{0, 2, -1}\n y, s, z = dynamic_quantize_linear(x)",
       "uint8[3]{85, 255, 0}; uint8[]{85}", "y, z"},
      {"x = float32[2]{255, 51}\n y, s, z = dynamic_quantize_linear(x)",
       "uint8[2]{255, 51}; float32[]{1}; uint8[]{0}", "y, s, z"},
      {"x = float32[1]{-255}\n y, s, z = dynamic_quantize_linear(x)",
       "uint8[1]{0}; float32[]{1}; uint8[]{255}", "y, s, z"},
      {"x = float32[0]{}\n y, s, z = dynamic_quantize_linear(x)",
       "uint8[0]{}; float32[]{0}; uint8[]{0}", "y, s, z"},
      {"x = float32[1]{0}\n y, s, z = dynamic_quantize_linear(x)",
       "uint8[1]{0}; float32[]{0}; uint8[]{0}", "y, s, z"},
  };
  ExpectRows(std::begin(rows), std::end(rows));
}

TEST(QuantizedProducts, Eval) {
  const EvalRow rows[] = {
      {"a = uint8[2,2]{1, 2, 3, 255}\n b = int8[2,1]{-128, 1}\n y = matmul_integer(a, b)",
       "int32[2,1]{-126, -129}"},
      {"a = uint8[2,2]{1, 2, 3, 4}\n b = int8[2,2]{1, 2, 3, 4}\n z = uint8[]{1}\n "
       "w = int8[2]{1, 2}\n y = matmul_integer(a, b, z, w)",
       "int32[2,2]{2, 2, 6, 6}"},
      {"a = uint8[2,2]{1, 2, 3, 4}\n b = int8[2,1]{1, 1}\n z = uint8[2]{1, 3}\n "
       "y = matmul_integer(a, b, z)",
       "int32[2,1]{1, 1}"},
      {"a = uint8[2,1,2]{1, 2, 3, 4}\n b = int8[2]{1, 1}\n z = uint8[2,1,1]{1, 3}\n "
       "y = matmul_integer(a, b, z)",
       "int32[2,1]{1, 1}"},
      {"a = uint8[0,2]{}\n b = int8[2,1]{1, 1}\n y = matmul_integer(a, b)", "int32[0,1]{}"},
      {"a = uint8[2,2]{1, 2, 3, 4}\n b = int8[2,1]{1, 1}\n z = uint8[1,2]{1, 3}\n "
       "y = matmul_integer(a, b, z)",
       "error differs along"},
      {"a = uint8[2,2]{1, 2, 3, 4}\n b = int8[2,1]{1, 1}\n z = uint8[3]{1, 3, 1}\n "
       "y = matmul_integer(a, b, z)",
       "error does not fit"},
      {"a = uint8[1,2]{1, 2}\n b = int32[2,1]{1, 1}\n y = matmul_integer(a, b)",
       "error not allowed"},
      // 5 * 0.5 is rounded to 2 before the zero point is added.
      {"a = uint8[1,1]{6}\n b = int8[1,2]{5, -100}\n s = float32[]{1}\n t = float32[]{0.1}\n "
       "u = float32[]{0.2}\n z = uint8[]{5}\n o = int8[]{0}\n w = uint8[]{1}\n "
       "y = qlinear_matmul(a, s, z, b, t, o, u, w)",
       "uint8[1,2]{3, 0}"},
      {"a = int8[2,1]{2, 4}\n b = int8[1,2]{3, 5}\n s = float16[2]{1, 2}\n t = float16[2]{1, 4}\n "
       "u = float16[1]{2}\n z = int8[]{0}\n o = int8[2]{0, 1}\n w = int8[1]{-1}\n "
       "y = qlinear_matmul(a, s, z, b, t, o, u, w)",
       "int8[2,2]{2, 15, 11, 63}"},
      {"a = float8e4m3fn[1,2]{1, 2}\n b = float8e5m2[2,1]{2, 3}\n s = float32[]{1}\n "
       "u = float32[]{2}\n z = float8e4m3fn[]{0}\n o = float8e5m2[]{0}\n "
       "y = qlinear_matmul(a, s, z, b, s, o, u, z)",
       "float8e4m3fn[1,1]{4}"},
      {"x = uint8[1,1,3]{2, 3, 4}\n w = int8[2,1,2]{1, 1, 1, -1}\n z = uint8[]{1}\n "
       "o = int8[2]{0, 1}\n y = conv_integer(x, w, z, o)",
       "int32[1,2,2]{3, 5, -4, -6}"},
      // Padding is zero after the zero point is taken off.
      {"x = uint8[1,1,1]{2}\n w = uint8[1,1,3]{1, 1, 1}\n z = uint8[1]{1}\n "
       "y = conv_integer(x, w, z) { pads = [1, 1] }",
       "int32[1,1,1]{1}"},
      {"x = uint8[1,1,1]{2}\n w = uint8[1,1,3]{1, 1, 1}\n z = uint8[2]{1, 1}\n "
       "y = conv_integer(x, w, z) { pads = [1, 1] }",
       "error one number"},
      {"x = uint8[1,1,2]{2, 3}\n w = int8[2,1,1]{1, 2}\n s = float32[]{1}\n "
       "t = float32[2]{1, 0.5}\n u = float32[]{2}\n z = uint8[]{1}\n o = int8[]{0}\n "
       "v = int8[]{10}\n b = int32[2]{3, -100}\n y = qlinear_conv(x, s, z, w, t, o, u, v, b)",
       "int8[1,2,2]{12, 12, -14, -14}"},
      {"x = uint8[1,2,1]{2, 3}\n w = int8[2,1,1]{1, 2}\n s = float32[]{1}\n "
       "t = float32[2]{1, 0.5}\n z = uint8[]{1}\n o = int8[]{0}\n v = int8[]{10}\n "
       "y = qlinear_conv(x, s, z, w, t, o, s, v) { layout = \"channels_last\" }",
       "int8[1,2,2]{11, 11, 12, 12}"},
  };
  ExpectRows(std::begin(rows), std::end(rows));
}

TEST(Quantize, Infer) {
  const InferRow rows[] = {
      {"x: float32[n,h], s: float32[]", "y = quantize_linear(x, s)", "uint8[n,h]"},
      {"x: float32[n,h], s: float32[h], z: int8[h]", "y = quantize_linear(x, s, z) { axis = 1 }",
       "int8[n,h]"},
      {"x: float32[n,h], s: float32[h+1]", "y = quantize_linear(x, s) { axis = 1 }", "uint8[n,h]"},
      {"x: float32[n,8], s: float32[n,2]", "y = quantize_linear(x, s) { axis = 1, block_size = 4 }",
       "uint8[n,8]"},
      {"x: float32[n,8], s: float32[n,3]", "y = quantize_linear(x, s) { axis = 1, block_size = 4 }",
       "error does not fit"},
      {"x: float32[n,8], s: float32[2]", "y = quantize_linear(x, s) { axis = 1 }",
       "error does not fit"},
      {"x: float32[...], s: float32[...]", "y = quantize_linear(x, s) { output_dtype = \"int4\" }",
       "int4[...]"},
      {"x: int8[n,h], s: bfloat16[]", "y = dequantize_linear(x, s)", "bfloat16[n,h]"},
      {"x: int8[n,h], s: float32[]", "y = dequantize_linear(x, s) { output_dtype = \"float16\" }",
       "float16[n,h]"},
      {"x: float32[n,h]", "y, s, z = dynamic_quantize_linear(x)", "uint8[n,h]; float32[]; uint8[]",
       "y, s, z"},
      {"a: uint8[n,m,k], b: int8[k,h]", "y = matmul_integer(a, b)", "int32[n,m,h]"},
      {"a: uint8[2,3], b: int8[2,3]", "y = matmul_integer(a, b)", "error multiplied"},
      {"a: uint8[m,k], s: float32[], z: uint8[], b: int8[k,h], t: float32[h], o: int8[h], v: "
       "int8[]",
       "y = qlinear_matmul(a, s, z, b, t, o, s, v)", "int8[m,h]"},
      {"x: uint8[n,3,h,h], w: int8[8,3,3,3]", "y = conv_integer(x, w)", "int32[n,8,h-2,h-2]"},
      {"x: uint8[n,3,8], s: float32[], z: uint8[], w: int8[4,3,3], t: float32[4], o: int8[4], "
       "v: uint8[], b: int32[4]",
       "y = qlinear_conv(x, s, z, w, t, o, s, v, b)", "uint8[n,4,6]"},
      {"x: uint8[n,3,8], s: float32[], z: uint8[], w: int8[4,3,3], t: float32[3], o: int8[4], "
       "v: uint8[]",
       "y = qlinear_conv(x, s, z, w, t, o, s, v)", "error w_scale"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
