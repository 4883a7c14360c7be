// Handlers and lowerings of quantization: text in, text out.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/rows_util.h"
#include "tests/ops/text_eval_util.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(QuantizeHandlers, BothWays) {
  constexpr std::string_view kX = "x: float32[n,4], s: float32[], z: int8[]) -> (y)";
  constexpr std::string_view kQ = "x: int8[n,4], s: float32[], z: int8[]) -> (y)";
  constexpr std::string_view kConvAttrs =
      " { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 1, strides = [1, 1], "
      "dilations = [1, 1], pads = [1, 1, 1, 1] }";
  const std::string conv_integer = "y = conv_integer(x, w, z)" + std::string(kConvAttrs);
  const std::string qlinear_conv =
      "y = qlinear_conv(x, s, z, w, s, z, s, z)" + std::string(kConvAttrs);
  const BothWays rows[] = {
      {10, kX, "y = onnx.QuantizeLinear(x, s, z)",
       "y = quantize_linear(x, s, z) { block_size = 0, saturate = 1 }"},
      {10, "x: float32[n,4], s: float32[...]) -> (y)", "y = onnx.QuantizeLinear(x, s)",
       "y = quantize_linear(x, s) { block_size = 0, saturate = 1 }"},
      {13, kX, "y = onnx.QuantizeLinear(x, s, z) { axis = 0 }",
       "y = quantize_linear(x, s, z) { axis = 0, block_size = 0, saturate = 1 }"},
      {19, kX, "y = onnx.QuantizeLinear(x, s, z) { saturate = 0 }",
       "y = quantize_linear(x, s, z) { axis = 1, block_size = 0, saturate = 0 }"},
      {21, "x: float32[n,4], s: float32[n,2]) -> (y)",
       "y = onnx.QuantizeLinear(x, s) { block_size = 2, output_dtype = 22 }",
       "y = quantize_linear(x, s) { axis = 1, block_size = 2, saturate = 1, "
       "output_dtype = \"int4\" }"},
      {23, "x: float32[n,4], s: float16[]) -> (y)",
       "y = onnx.QuantizeLinear(x, s) { output_dtype = 3, precision = 1 }",
       "y = quantize_linear(x, s) { axis = 1, block_size = 0, saturate = 1, "
       "output_dtype = \"int8\", precision = \"float32\" }"},
      {25, "x: float32[n,4], s: float8e8m0[]) -> (y)",
       "y = onnx.QuantizeLinear(x, s) { output_dtype = 26 }",
       "y = quantize_linear(x, s) { axis = 1, block_size = 0, saturate = 1, "
       "output_dtype = \"int2\" }"},
      {10, kQ, "y = onnx.DequantizeLinear(x, s, z)",
       "y = dequantize_linear(x, s, z) { block_size = 0 }"},
      {13, kQ, "y = onnx.DequantizeLinear(x, s, z) { axis = 0 }",
       "y = dequantize_linear(x, s, z) { axis = 0, block_size = 0 }"},
      {21, "x: int4[n,4], s: float16[n,2]) -> (y)",
       "y = onnx.DequantizeLinear(x, s) { block_size = 2 }",
       "y = dequantize_linear(x, s) { axis = 1, block_size = 2 }"},
      {24, "x: float4e2m1[n,4], s: float8e8m0[n,2]) -> (y)",
       "y = onnx.DequantizeLinear(x, s) { block_size = 2, output_dtype = 16 }",
       "y = dequantize_linear(x, s) { axis = 1, block_size = 2, output_dtype = \"bfloat16\" }"},
      {11, "x: float32[n]) -> (y, s, z)", "y, s, z = onnx.DynamicQuantizeLinear(x)",
       "y, s, z = dynamic_quantize_linear(x)"},
      {10, "a: uint8[n,3], b: int8[3,k], z: int8[k]) -> (y)", "y = onnx.MatMulInteger(a, b, _, z)",
       "y = matmul_integer(a, b, _, z)"},
      {10, "a: uint8[n,3], s: float32[], z: uint8[], b: uint8[3,k]) -> (y)",
       "y = onnx.QLinearMatMul(a, s, z, b, s, z, s, z)",
       "y = qlinear_matmul(a, s, z, b, s, z, s, z)"},
      {10, "x: uint8[n,3,8,8], w: uint8[4,3,3,3], z: uint8[]) -> (y)",
       "y = onnx.ConvInteger(x, w, z) { kernel_shape = [3, 3], pads = [1, 1, 1, 1] }",
       conv_integer},
      {10, "x: uint8[n,3,8,8], w: uint8[4,3,3,3], s: float32[], z: uint8[]) -> (y)",
       "y = onnx.QLinearConv(x, s, z, w, s, z, s, z) "
       "{ kernel_shape = [3, 3], pads = [1, 1, 1, 1] }",
       qlinear_conv},
  };
  for (const BothWays& row : rows) ExpectBothWays(row);
}

TEST(QuantizeHandlers, Import) {
  const OneWay rows[] = {
      {25, "x: float32[n], s: float32[]) -> (y)",
       "y = onnx.QuantizeLinear(x, s) { output_dtype = 0, precision = 0 }",
       "y = quantize_linear(x, s) { axis = 1, block_size = 0, saturate = 1 }"},
      {25, "x: float32[n], s: float32[]) -> (y)",
       "y = onnx.QuantizeLinear(x, s) { output_dtype = 99 }", "error no element type"},
      {25, "x: float32[n], s: float32[]) -> (y)",
       "y = onnx.QuantizeLinear(x, s) { output_dtype = 1 }", "error quantized type"},
      {10, "x: float32[n,4], s: float32[4]) -> (y)", "y = onnx.QuantizeLinear(x, s)",
       "error one number"},
      {10, "x: uint8[n,3,8,8], w: uint8[4,3,3,3]) -> (y)",
       "y = onnx.ConvInteger(x, w) { kernel_shape = [3, 2] }", "error but w has"},
  };
  for (const OneWay& row : rows) {
    ExpectOneWay(ToIrText(GraphText(row.header, row.from), row.opset), row);
  }
}

TEST(QuantizeHandlers, Export) {
  const OneWay rows[] = {
      // An axis says nothing where there is one scale.
      {10, "x: float32[n], s: float32[1]) -> (y)",
       "y = quantize_linear(x, s) { axis = 0, block_size = 0, saturate = 1 }",
       "y = onnx.QuantizeLinear(x, s)"},
      // The zero point says the type.
      {13, "x: float32[n], s: float32[1]) -> (y)",
       "y = quantize_linear(x, s) { axis = 0, output_dtype = \"int8\", block_size = 0, saturate = "
       "1 }",
       "y_zero_point = int8[1]{0}\n y = onnx.QuantizeLinear(x, s, y_zero_point) { axis = 0 }"},
      {13, "x: float32[n], s: float32[], z: int8[]) -> (y)",
       "y = quantize_linear(x, s, z) { axis = 0, output_dtype = \"int8\", block_size = 0, saturate "
       "= 1 }",
       "y = onnx.QuantizeLinear(x, s, z) { axis = 0 }"},
      // One type for x and its scale.
      {21, "x: float32[n], s: float16[]) -> (y)",
       "y = quantize_linear(x, s) { precision = \"float32\", block_size = 0, saturate = 1 }",
       "y_cast = onnx.Cast(s) { to = 1 }\n y = onnx.QuantizeLinear(x, y_cast)"},
      {20, "x: float32[n], s: float32[]) -> (y)",
       "y = quantize_linear(x, s) { output_dtype = \"int4\", block_size = 0, saturate = 1 }",
       "error int4"},
      {13, "x: float32[4,n], s: float32[4,k]) -> (y)",
       "y = quantize_linear(x, s) { axis = 1, block_size = 2, saturate = 1 }",
       "error blocks of an axis"},
      {20, "x: int8[n,3], s: float32[n,2]) -> (y)",
       "y = dequantize_linear(x, s) { axis = -1, block_size = 2 }",
       "y_blocks = int64[3]{0, 0, 1}\n y_cast = onnx.Cast(x) { to = 1 }\n "
       "y_gather = onnx.Gather(s, y_blocks) { axis = 1 }\n y = onnx.Mul(y_cast, y_gather)"},
      {21, "x: int8[n], s: float16[]) -> (y)",
       "y = dequantize_linear(x, s) { output_dtype = \"float16\", block_size = 0 }",
       "y_cast = onnx.Cast(s) { to = 1 }\n y_dequantize_linear = onnx.DequantizeLinear(x, "
       "y_cast)\n "
       "y = onnx.Cast(y_dequantize_linear) { to = 10 }"},
      {9, "x: int8[n,4], s: float32[4], z: int8[4]) -> (y)",
       "y = dequantize_linear(x, s, z) { axis = 1, block_size = 0 }",
       "y_const = int64[2]{1, 4}\n y_const_1 = int64[2]{1, 4}\n"
       "y_cast = onnx.Cast(x) { to = 1 }\n y_reshape = onnx.Reshape(z, y_const)\n "
       "y_cast_1 = onnx.Cast(y_reshape) { to = 1 }\n y_sub = onnx.Sub(y_cast, y_cast_1)\n "
       "y_reshape_1 = onnx.Reshape(s, y_const_1)\n y = onnx.Mul(y_sub, y_reshape_1)"},
      {9, "x: int32[n], s: float32[], z: int32[]) -> (y)",
       "y = dequantize_linear(x, s, z) { block_size = 0 }", "error int32 with a zero point"},
      {9, "x: uint8[n,3,8], w: uint8[k,3,3]) -> (y)",
       "y = conv_integer(x, w) { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 1 }",
       "y_cast = onnx.Cast(x) { to = 1 }\n y_cast_1 = onnx.Cast(w) { to = 1 }\n y_conv = "
       "onnx.Conv(y_cast, y_cast_1) { kernel_shape = [3] }\n "
       "y = onnx.Cast(y_conv) { to = 6 }"},
      {9, "x: uint8[n,k,8], w: uint8[m,k,3]) -> (y)",
       "y = conv_integer(x, w) { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 1 }",
       "error may not fit int32"},
  };
  for (const OneWay& row : rows) {
    ExpectOneWay(FromIrText(GraphText(row.header, row.from), row.opset), row);
  }
}

// What an old opset says instead gives the same numbers.
TEST(QuantizeHandlers, LoweredGivesTheSame) {
  struct Row {
    int opset;
    std::string_view constants;
    std::string op;
  };
  // As many products as take one convolution of float32, two, and four.
  const auto images = [](int channels) {
    const auto bytes = [](int n) {
      std::string text;
      for (int i = 0; i < n; ++i) StrAppend(&text, i ? ", " : "{", (i * 73 + i / 7) % 256);
      return text + "}";
    };
    return StrCat("x = uint8[1,", channels, ",4]", bytes(4 * channels), "\n w = uint8[2,", channels,
                  ",3]", bytes(6 * channels));
  };
  const std::string one = images(20), two = images(150), four = images(1500);
  constexpr std::string_view kConv =
      " { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 1, pads = [1, 1] }";
  const std::string conv_integer = "y = conv_integer(x, w, z, o)" + std::string(kConv);
  const std::string qlinear_conv =
      "y = qlinear_conv(x, s, z, w, t, o, s, v, b)" + std::string(kConv);
  const Row rows[] = {
      {7,
       "x = float32[2,3]{1, 3, 5, -1, 1000, -inf}\n s = float32[3]{2, 0.7, 3}\n "
       "z = uint8[3]{1, 2, 250}",
       "y = quantize_linear(x, s, z) { axis = -1, block_size = 0, saturate = 1 }"},
      {11,
       "x = float16[2,3]{1, 3, 5, -1, 1000, -inf}\n s = float16[2,2]{2, 0.7, 3, 0.1}\n "
       "z = int16[2,2]{1, 2, 250, -300}",
       "y = quantize_linear(x, s, z) { axis = 1, block_size = 2, saturate = 1 }"},
      {13, "x = float32[3]{2049, 3, 5}\n s = float16[]{1.5}\n z = uint8[]{7}",
       "y = quantize_linear(x, s, z) { axis = 0, block_size = 0, saturate = 1 }"},
      {12, "x = int32[3]{2049, -3, 5}\n s = float32[1]{1.5}",
       "y = quantize_linear(x, s) { axis = 0, block_size = 0, saturate = 1, "
       "output_dtype = \"int16\" }"},
      {9,
       "x = int8[3,2]{1, 2, -128, 127, 5, 6}\n s = float16[2,2]{0.1, 0.2, 3, 4}\n "
       "z = int8[2,2]{1, 2, 3, 4}",
       "y = dequantize_linear(x, s, z) { axis = 0, block_size = 2 }"},
      {18,
       "x = int4[2,4]{1, -8, 7, 0, -1, 5, 6, 2}\n s = float32[2,2]{0.1, 0.2, 3, 4}\n "
       "z = int4[2,2]{1, -2, 3, 7}",
       "y = dequantize_linear(x, s, z) { axis = 1, block_size = 2 }"},
      {13, "x = uint4[2,2]{1, 15, 7, 0}\n s = float16[2]{0.1, 0.2}",
       "y = dequantize_linear(x, s) { axis = 1, block_size = 0 }"},
      {7, "x = int32[2]{16777217, -3}\n s = float32[1]{0.3}",
       "y = dequantize_linear(x, s) { axis = 0, block_size = 0 }"},
      {9, "x = float32[2,2]{1, -2.5, 3, 7}", "y, s, z = dynamic_quantize_linear(x)"},
      {9,
       "a = uint8[2,2]{1, 2, 3, 255}\n b = int8[2,3]{-128, 1, 2, 3, 4, 5}\n "
       "z = uint8[2]{9, 200}\n o = int8[3]{1, 2, 3}",
       "y = matmul_integer(a, b, z, o)"},
      {7,
       "a = uint8[2,2]{1, 2, 3, 255}\n b = int8[2,3]{-128, 1, 2, 3, 4, 5}\n "
       "s = float32[2]{0.1, 0.02}\n z = uint8[2]{9, 200}\n t = float32[3]{1, 0.5, 2}\n "
       "o = int8[3]{1, 2, 3}\n u = float32[1]{0.3}\n v = uint8[1]{100}",
       "y = qlinear_matmul(a, s, z, b, t, o, u, v)"},
      {13, "a = int8[1,2]{1, 2}\n b = int8[2,1]{-128, 1}\n s = float16[]{0.1}\n z = int8[]{1}",
       "y = qlinear_matmul(a, s, z, b, s, z, s, z)"},
      {7,
       "x = uint8[1,1,3]{2, 3, 255}\n w = int8[2,1,2]{1, 1, -128, -1}\n z = uint8[1]{1}\n "
       "o = int8[2]{0, 1}",
       conv_integer},
      {7, one, "y = conv_integer(x, w)" + std::string(kConv)},
      {7, two, "y = conv_integer(x, w)" + std::string(kConv)},
      {7, four, "y = conv_integer(x, w)" + std::string(kConv)},
      {7,
       "x = uint8[1,1,3]{2, 3, 255}\n w = int8[2,1,2]{1, 1, -128, -1}\n z = uint8[]{1}\n "
       "o = int8[2]{0, 1}\n s = float32[]{0.7}\n t = float32[2]{0.1, 0.02}\n "
       "v = int8[]{-3}\n b = int32[2]{100, -7}",
       qlinear_conv},
  };
  ConvertTextOptions all;  // constants
  all.max_constant_elements = 1 << 16;
  for (const Row& row : rows) {
    const std::string outputs = row.op.substr(0, 2) == "y," ? "y, s, z" : "y";
    const std::string lines = std::string(row.constants) + "\n" + std::string(row.op);
    const std::string old = FromIrText(GraphText(") -> (" + outputs + ")", lines), row.opset, all);
    const std::string want = EvalText(lines, outputs);
    EXPECT_THAT(want, Not(HasSubstr("error: "))) << row.op;
    EXPECT_EQ(EvalText(Body(ToIrText(old, row.opset, all)), outputs), want) << row.op << "\n"
                                                                            << old;
  }
}

}  // namespace
}  // namespace x2ir
