// Quantization of PyTorch: what its own operators give (2.14), for tensors that come in and for
// constants, which are quantized at conversion; and the ops that stand for it in the IR.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/torch/calls_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct QuantizedRow {
  std::string_view x, lines, results, expected;
};

void ExpectQuantized(const QuantizedRow& row) {
  const std::string_view type = row.x.substr(0, row.x.find('{'));
  EXPECT_EQ(EvalCallOf(StrCat("x: ", type), row.x, row.lines, row.results), row.expected)
      << row.lines;
  EXPECT_EQ(EvalCall(StrCat("x = ", row.x), row.lines, row.results), row.expected)
      << "of a constant: " << row.lines;
}

// Halves of steps, numbers in and out of range, and a zero with a sign.
constexpr std::string_view kX = "float32[2,4]{-2, -0.25, 0.25, 0.75, 1.25, 63.5, 200, -0}";

TEST(TorchQuantized, Integers) {
  const QuantizedRow rows[] = {
      {kX,
       "y: uint8[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 3, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "y", "tensor(uint8[2,4]{0, 3, 3, 5, 5, 130, 255, 3})"},
      {kX,
       "y: uint8[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 3, quant_min = 0, quant_max = 127, dtype = "
       "type(uint8[]) }",
       "y", "tensor(uint8[2,4]{0, 3, 3, 5, 5, 127, 127, 3})"},
      {kX,
       "y: int8[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = -3, quant_min = -128, quant_max = 127, dtype = "
       "type(int8[]) }",
       "y", "tensor(int8[2,4]{-7, -3, -3, -1, -1, 124, 127, -3})"},
      {kX,
       "y: int8[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 0, quant_min = -127, quant_max = 100, dtype = "
       "type(int8[]) }",
       "y", "tensor(int8[2,4]{-4, 0, 0, 2, 2, 100, 100, 0})"},
      {kX,
       "y: uint8[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 300, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "y", "tensor(uint8[2,4]{255, 255, 255, 255, 255, 255, 255, 255})"},
      {kX,
       "y: int16[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 3, quant_min = -32768, quant_max = 32767, dtype = "
       "type(int16[]) }",
       "y", "tensor(int16[2,4]{-1, 3, 3, 5, 5, 130, 403, 3})"},
      {kX,
       "y: int32[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 3, quant_min = -2147483648, quant_max = "
       "2147483647, dtype = type(int32[]) }",
       "y", "tensor(int32[2,4]{-1, 3, 3, 5, 5, 130, 403, 3})"},
      {"float16[2,4]{-2, -0.25, 0.25, 0.75, 1.25, 63.5, 200, -0}",
       "y: uint8[2,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.5d, zero_point = 3, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "y", "tensor(uint8[2,4]{0, 3, 3, 5, 5, 130, 255, 3})"},
      {kX,
       "s = float64[1]{0.5}\n o = int64[1]{7}\n y: uint8[2,4] = "
       "torch.quantized_decomposed::quantize_per_tensor.tensor(x, s, o) { operands = [\"input\", "
       "\"scale\", \"zero_point\"], quant_min = 0, quant_max = 100, dtype = type(uint8[]) }",
       "y", "tensor(uint8[2,4]{3, 7, 7, 9, 9, 100, 100, 7})"},
      {kX,
       "s = float64[1]{0.5}\n o = int64[1]{7}\n l = int64[]{0}\n h = int64[]{100}\n y: uint8[2,4] "
       "= torch.quantized_decomposed::quantize_per_tensor.tensor2(x, s, o, l, h) { operands = "
       "[\"input\", \"scale\", \"zero_point\", \"quant_min\", \"quant_max\"], dtype = "
       "type(uint8[]) }",
       "y", "tensor(uint8[2,4]{3, 7, 7, 9, 9, 100, 100, 7})"},
      {"uint8[2,3]{0, 3, 255, 128, 4, 2}",
       "y: float32[2,3] = torch.quantized_decomposed::dequantize_per_tensor.default(x) { operands "
       "= [\"input\"], scale = 0.25d, zero_point = 3, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "y", "tensor(float32[2,3]{-0.75, 0, 63, 31.25, 0.25, -0.25})"},
      {"uint8[2,3]{0, 3, 255, 128, 4, 2}",
       "y: float16[2,3] = torch.quantized_decomposed::dequantize_per_tensor.default(x) { operands "
       "= [\"input\"], scale = 0.25d, zero_point = 3, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]), out_dtype = type(float16[]) }",
       "y", "tensor(float16[2,3]{-0.75, 0, 63, 31.25, 0.25, -0.25})"},
      {"int32[3]{-70000, 5, 16777216}",
       "y: float32[3] = torch.quantized_decomposed::dequantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.25d, zero_point = 0, quant_min = 0, quant_max = 255, dtype = "
       "type(int32[]) }",
       "y", "tensor(float32[3]{-17500, 1.25, 4194304})"},
      {"int32[3]{-70000, 5, 16777216}",
       "y: float32[3] = torch.quantized_decomposed::dequantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.25d, zero_point = 3, quant_min = 0, quant_max = 255, dtype = "
       "type(int32[]) }",
       "y", "tensor(float32[3]{-17500.75, 0.5, 4194303.2})"},
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = int64[2]{0, -5}\n y: int8[2,4] = "
       "torch.quantized_decomposed::quantize_per_channel.default(x, s, o) { operands = [\"input\", "
       "\"scales\", \"zero_points\"], axis = 0, quant_min = -128, quant_max = 127, dtype = "
       "type(int8[]) }",
       "y", "tensor(int8[2,4]{-4, 0, 0, 2, 0, 127, 127, -5})"},
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = float32[2]{0.5, -0.75}\n y: int8[2,4] = "
       "torch.quantized_decomposed::quantize_per_channel.default(x, s, o) { operands = [\"input\", "
       "\"scales\", \"zero_points\"], axis = -2, quant_min = -100, quant_max = 127, dtype = "
       "type(int8[]) }",
       "y", "tensor(int8[2,4]{-3, 0, 0, 2, 4, 127, 127, 0})"},
      {"int8[2,3]{-128, 0, 127, 1, -5, 7}",
       "s = float32[2]{0.5, 0.25}\n o = int64[2]{0, -5}\n y: float32[2,3] = "
       "torch.quantized_decomposed::dequantize_per_channel.default(x, s, o) { operands = "
       "[\"input\", \"scales\", \"zero_points\"], axis = 0, quant_min = -128, quant_max = 127, "
       "dtype = type(int8[]) }",
       "y", "tensor(float32[2,3]{-64, 0, 63.5, 1.5, 0, 3})"},
      {"int8[2,3]{-128, 0, 127, 1, -5, 7}",
       "s = float32[2]{0.5, 0.25}\n y: float32[2,3] = "
       "torch.quantized_decomposed::dequantize_per_channel.default(x, s) { operands = [\"input\", "
       "\"scales\"], axis = 0, quant_min = -128, quant_max = 127, dtype = type(int8[]) }",
       "y", "tensor(float32[2,3]{-64, 0, 63.5, 0.25, -1.25, 1.75})"},
      {kX,
       "s = float32[2,1]{0.5, 0.25}\n o = int64[2,1]{1, -2}\n y: int8[2,4] = "
       "torch.quantized_decomposed::quantize_per_token.default(x, s, o) { operands = [\"input\", "
       "\"scales\", \"zero_points\"], quant_min = -128, quant_max = 127, dtype = type(int8[]) }",
       "y", "tensor(int8[2,4]{-3, 0, 2, 2, 3, 127, 127, -2})"},
      {"int8[2,3]{-128, 0, 127, 1, -5, 7}",
       "s = float32[2,1]{0.5, 0.25}\n o = int64[2,1]{1, -2}\n y: float32[2,3] = "
       "torch.quantized_decomposed::dequantize_per_token.default(x, s, o) { operands = [\"input\", "
       "\"scales\", \"zero_points\"], quant_min = -128, quant_max = 127, dtype = type(int8[]), "
       "output_dtype = type(float32[]) }",
       "y", "tensor(float32[2,3]{-64.5, -0.5, 63, 0.75, -0.75, 2.25})"},
      {"float32[1,3]{1, -2, 0.5}",
       "b = int8[2,3]{-128, 0, 127, 1, -5, 7}\n s = float32[2]{0.5, 0.25}\n y: float32[1,2] = "
       "torch.aten::_weight_int8pack_mm.default(x, b, s) { operands = [\"self\", \"mat2\", "
       "\"scales\"] }",
       "y", "tensor(float32[1,2]{-32.25, 3.625})"},
      {kX,
       "s = float32[2,2]{0.5, 0.25, 1, 2}\n o = int64[2,2]{1, 0, -2, 3}\n y: int8[2,4] = "
       "torch.quantized_decomposed::quantize_per_channel_group.default(x, s, o) { operands = "
       "[\"input\", \"scales\", \"zero_points\"], quant_min = -8, quant_max = 7, dtype = "
       "type(int8[]), group_size = 2 }",
       "y", "tensor(int8[2,4]{-3, 0, 1, 3, -1, 7, 7, 3})"},
      {"int8[2,4]{-8, 7, 0, 1, 3, -4, 5, -6}",
       "s = float32[2,2]{0.5, 0.25, 1, 2}\n o = int64[2,2]{1, 0, -2, 3}\n y: float32[2,4] = "
       "torch.quantized_decomposed::dequantize_per_channel_group.default(x, s, o) { operands = "
       "[\"w_int8\", \"scales\", \"zero_points\"], quant_min = -8, quant_max = 7, dtype = "
       "type(int8[]), group_size = 2, output_dtype = type(float32[]) }",
       "y", "tensor(float32[2,4]{-4.5, 3, 0, 0.25, 5, -2, 4, -18})"},
      {kX,
       "y: float16[2,4] = torch.quantized_decomposed::convert_element_type.no_fuse(x) { operands = "
       "[\"input\"], dtype = type(float16[]) }",
       "y", "tensor(float16[2,4]{-2, -0.25, 0.25, 0.75, 1.25, 63.5, 200, -0})"},
  };
  for (const QuantizedRow& row : rows) ExpectQuantized(row);
}

TEST(TorchQuantized, Parameters) {
  const QuantizedRow rows[] = {
      {"float32[4]{-3, 0, 7, 2}",
       "y, z: float64[1], int64[1] = torch.quantized_decomposed::choose_qparams.tensor(x) { "
       "operands = [\"input\"], quant_min = 0, quant_max = 5, eps = 0.001d, dtype = type(uint8[]) "
       "}",
       "y, z", "tensor(float64[1]{2}); tensor(int64[1]{2})"},
      {"float32[4]{-0, 0, 0, 0}",
       "y, z: float64[1], int64[1] = torch.quantized_decomposed::choose_qparams.tensor(x) { "
       "operands = [\"input\"], quant_min = -128, quant_max = 127, eps = 0.5d, dtype = "
       "type(int8[]) }",
       "y, z", "tensor(float64[1]{0.5}); tensor(int64[1]{-128})"},
      {"float32[4]{-3, 0, 7, 2}",
       "y, z: float64[1], int64[1] = "
       "torch.quantized_decomposed::choose_qparams_symmetric.tensor(x) { operands = [\"input\"], "
       "quant_min = 0, quant_max = 7, eps = 0.001d, dtype = type(uint8[]) }",
       "y, z", "tensor(float64[1]{2}); tensor(int64[1]{128})"},
      {"float32[2,3]{-63.75, 0, 63.75, 0, 0, 127.5}",
       "y, z: float64[2,1], int64[2,1] = "
       "torch.quantized_decomposed::choose_qparams_per_token_asymmetric.default(x) { operands = "
       "[\"input\"], dtype = type(int8[]) }",
       "y, z", "tensor(float64[2,1]{0.5, 0.5}); tensor(int64[2,1]{0, -128})"},
      {"float32[2,3]{-63.5, 0, 6, 0, 31.75, 1}",
       "y, z: float64[2,1], int64[2,1] = "
       "torch.quantized_decomposed::choose_qparams_per_token.default(x) { operands = [\"input\"], "
       "dtype = type(int8[]) }",
       "y, z", "tensor(float64[2,1]{0.5, 0.25}); tensor(int64[2,1]{0, 0})"},
  };
  for (const QuantizedRow& row : rows) ExpectQuantized(row);
}

TEST(TorchQuantized, Fake) {
  const QuantizedRow rows[] = {
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = int64[2]{0, -5}\n y: float32[2,4] = "
       "torch.quantized_decomposed::fake_quant_per_channel.default(x, s, o) { operands = "
       "[\"input\", \"scales\", \"zero_points\"], axis = 0, quant_min = -20, quant_max = 120 }",
       "y", "tensor(float32[2,4]{-2, 0, 0, 1, 1.25, 31.25, 31.25, 0})"},
      {"float32[8]{nan, inf, -inf, 1000000, -0.75, 0.25, 0.75, 1.25}",
       "y: float32[8] = torch.aten::fake_quantize_per_tensor_affine.default(x) { operands = "
       "[\"self\"], scale = 0.5d, zero_point = 3, quant_min = 0, quant_max = 255 }",
       "y", "tensor(float32[8]{-1.5, 126, -1.5, 126, -1, 0, 1, 1})"},
      {"float32[8]{nan, inf, -inf, 1000000, -0.75, 0.25, 0.75, 1.25}",
       "y: float32[8] = torch.aten::fake_quantize_per_tensor_affine.default(x) { operands = "
       "[\"self\"], scale = 0.5d, zero_point = -3, quant_min = -100, quant_max = 100 }",
       "y", "tensor(float32[8]{-48.5, 51.5, -48.5, 51.5, -1, 0, 1, 1})"},
      {"float32[8]{nan, inf, -inf, 1000000, -0.75, 0.25, 0.75, 1.25}",
       "y: float32[8] = torch.aten::fake_quantize_per_tensor_affine.default(x) { operands = "
       "[\"self\"], scale = 0.5d, zero_point = 3, quant_min = -40000, quant_max = 40000 }",
       "y", "tensor(float32[8]{-20001.5, 19998.5, -20001.5, 19998.5, -1, 0, 1, 1})"},
      {"float32[8]{nan, inf, -inf, 1000000, -0.75, 0.25, 0.75, 1.25}",
       "y, z: float32[8], bool[8] = "
       "torch.aten::fake_quantize_per_tensor_affine_cachemask.default(x) { operands = [\"self\"], "
       "scale = 0.5d, zero_point = 3, quant_min = 2, quant_max = 5 }",
       "y, z",
       "tensor(float32[8]{-0.5, 1, -0.5, 1, -0.5, 0, 1, 1}); tensor(bool[8]{false, false, false, "
       "false, false, true, true, true})"},
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = int32[2]{0, -5}\n y: float32[2,4] = "
       "torch.aten::fake_quantize_per_channel_affine.default(x, s, o) { operands = [\"self\", "
       "\"scale\", \"zero_point\"], axis = 0, quant_min = -10, quant_max = 100 }",
       "y", "tensor(float32[2,4]{-2, 0, 0, 1, 1.25, 26.25, 26.25, 0})"},
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = float32[2]{0.5, -0.75}\n y: float32[2,4] = "
       "torch.aten::fake_quantize_per_channel_affine.default(x, s, o) { operands = [\"self\", "
       "\"scale\", \"zero_point\"], axis = 0, quant_min = -10, quant_max = 100 }",
       "y", "tensor(float32[2,4]{-2.25, -0.25, 0.25, 0.75, 1.1875, 25.1875, 25.1875, -0.0625})"},
      {kX,
       "s = float32[1]{0.5}\n o = float32[1]{2.6}\n y: float32[2,4] = "
       "torch.aten::_fake_quantize_learnable_per_tensor_affine.default(x, s, o) { operands = "
       "[\"self\", \"scale\", \"zero_point\"], quant_min = 0, quant_max = 100, grad_factor = 1d }",
       "y", "tensor(float32[2,4]{-1.5, 0, 0, 1, 1, 48.5, 48.5, 0})"},
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = float32[2]{2.5, -300}\n y: float32[2,4] = "
       "torch.aten::_fake_quantize_learnable_per_channel_affine.default(x, s, o) { operands = "
       "[\"self\", \"scale\", \"zero_point\"], axis = 0, quant_min = -10, quant_max = 100 }",
       "y", "tensor(float32[2,4]{-2, 0, 0, 1, 1.25, 27.5, 27.5, 0})"},
  };
  for (const QuantizedRow& row : rows) ExpectQuantized(row);
}

// Computed with PyTorch from torchao's formulas.
TEST(TorchQuantized, Affine) {
  const QuantizedRow rows[] = {
      {kX,
       "s = float32[]{0.5}\n o = int64[]{3}\n y: int8[2,4] = "
       "torch.torchao::quantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [2, 4], output_dtype = type(int8[]), quant_min = -100, "
       "quant_max = 120 }",
       "y", "tensor(int8[2,4]{-1, 3, 3, 5, 5, 120, 120, 3})"},
      {"int8[2,4]{-8, 7, 0, 1, 3, -4, 5, -6}",
       "s = float32[]{0.5}\n o = int64[]{3}\n y: float32[2,4] = "
       "torch.torchao::dequantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [2, 4], input_dtype = type(int8[]), output_dtype = "
       "type(float32[]) }",
       "y", "tensor(float32[2,4]{-5.5, 2, -1.5, -1, 0, -3.5, 1, -4.5})"},
      {kX,
       "s = float32[2]{0.5, 0.25}\n o = int64[2]{0, -5}\n y: int8[2,4] = "
       "torch.torchao::quantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [1, 4], output_dtype = type(int8[]), quant_min = -100, "
       "quant_max = 120 }",
       "y", "tensor(int8[2,4]{-4, 0, 0, 2, 0, 120, 120, -5})"},
      {"int8[2,4]{-8, 7, 0, 1, 3, -4, 5, -6}",
       "s = float32[2]{0.5, 0.25}\n o = int64[2]{0, -5}\n y: float32[2,4] = "
       "torch.torchao::dequantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [1, 4], input_dtype = type(int8[]), output_dtype = "
       "type(float32[]) }",
       "y", "tensor(float32[2,4]{-4, 3.5, 0, 0.5, 2, 0.25, 2.5, -0.25})"},
      {kX,
       "s = float32[2,2]{0.5, 0.25, 1, 2}\n o = int64[2,2]{1, 0, -2, 3}\n y: int8[2,4] = "
       "torch.torchao::quantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [1, 2], output_dtype = type(int8[]), quant_min = -100, "
       "quant_max = 120 }",
       "y", "tensor(int8[2,4]{-3, 1, 1, 3, -1, 62, 103, 3})"},
      {"int8[2,4]{-8, 7, 0, 1, 3, -4, 5, -6}",
       "s = float32[2,2]{0.5, 0.25, 1, 2}\n o = int64[2,2]{1, 0, -2, 3}\n y: float32[2,4] = "
       "torch.torchao::dequantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [1, 2], input_dtype = type(int8[]), output_dtype = "
       "type(float32[]) }",
       "y", "tensor(float32[2,4]{-4.5, 3, 0, 0.25, 5, -2, 4, -18})"},
      {kX,
       "s = float32[1,2]{0.5, 0.25}\n o = int64[1,2]{0, -2}\n y: int8[2,4] = "
       "torch.torchao::quantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [2, 2], output_dtype = type(int8[]), quant_min = -100, "
       "quant_max = 120 }",
       "y", "tensor(int8[2,4]{-4, 0, -1, 1, 2, 120, 120, -2})"},
      {"int8[2,4]{-8, 7, 0, 1, 3, -4, 5, -6}",
       "s = float32[1,2]{0.5, 0.25}\n o = int64[1,2]{0, -2}\n y: float32[2,4] = "
       "torch.torchao::dequantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [2, 2], input_dtype = type(int8[]), output_dtype = "
       "type(float32[]) }",
       "y", "tensor(float32[2,4]{-4, 3.5, 0.5, 0.75, 1.5, -2, 1.75, -1})"},
      {kX,
       "s = float32[4]{0.5, 0.25, 1, 2}\n o = int64[4]{1, 2, 3, 4}\n y: int8[2,4] = "
       "torch.torchao::quantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [2, 1], output_dtype = type(int8[]), quant_min = -100, "
       "quant_max = 120 }",
       "y", "tensor(int8[2,4]{-3, 1, 3, 4, 3, 120, 120, 4})"},
      {"int8[2,4]{-8, 7, 0, 1, 3, -4, 5, -6}",
       "s = float32[4]{0.5, 0.25, 1, 2}\n o = int64[4]{1, 2, 3, 4}\n y: float32[2,4] = "
       "torch.torchao::dequantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [2, 1], input_dtype = type(int8[]), output_dtype = "
       "type(float32[]) }",
       "y", "tensor(float32[2,4]{-4.5, 1.25, -3, -6, 1, -1.5, 2, -20})"},
      {"bfloat16[2,4]{-2, -0.25, 0.25, 0.75, 1.25, 63.5, 200, -0}",
       "s = bfloat16[2]{0.30078125, 0.69921875}\n o = int64[2]{0, -5}\n y: int8[2,4] = "
       "torch.torchao::quantize_affine.default(x, s, o) { operands = [\"input\", \"scale\", "
       "\"zero_point\"], block_size = [1, 4], output_dtype = type(int8[]) }",
       "y", "tensor(int8[2,4]{-7, -1, 1, 2, -3, 86, 127, -5})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[2], int32[2] = torch.torchao::choose_qparams_affine.default(x) { operands = "
       "[\"input\"], mapping_type = \"SYMMETRIC\", block_size = [1, 4], target_dtype = "
       "type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype = "
       "type(int32[]) }",
       "y, z", "tensor(float32[2]{0.93333334, 0.8}); tensor(int32[2]{0, 0})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[2,2], int32[2,2] = torch.torchao::choose_qparams_affine.default(x) { "
       "operands = [\"input\"], mapping_type = \"SYMMETRIC\", block_size = [1, 2], target_dtype = "
       "type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype = "
       "type(int32[]) }",
       "y, z",
       "tensor(float32[2,2]{0.53333336, 0.93333334, 0.8, 0.6666667}); tensor(int32[2,2]{0, 0, 0, "
       "0})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[], int32[] = torch.torchao::choose_qparams_affine.default(x) { operands = "
       "[\"input\"], mapping_type = \"SYMMETRIC\", block_size = [2, 4], target_dtype = "
       "type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype = "
       "type(int32[]) }",
       "y, z", "tensor(float32[]{0.93333334}); tensor(int32[]{0})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[2], int32[2] = torch.torchao::choose_qparams_affine.default(x) { operands = "
       "[\"input\"], mapping_type = \"ASYMMETRIC\", block_size = [1, 4], target_dtype = "
       "type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype = "
       "type(int32[]) }",
       "y, z", "tensor(float32[2]{0.73333335, 0.4}); tensor(int32[2]{-3, -8})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[2,2], int32[2,2] = torch.torchao::choose_qparams_affine.default(x) { "
       "operands = [\"input\"], mapping_type = \"ASYMMETRIC\", block_size = [1, 2], target_dtype = "
       "type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype = "
       "type(int32[]) }",
       "y, z",
       "tensor(float32[2,2]{0.46666667, 0.46666667, 0.4, 0.33333334}); tensor(int32[2,2]{1, -8, "
       "-8, -8})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[], int32[] = torch.torchao::choose_qparams_affine.default(x) { operands = "
       "[\"input\"], mapping_type = \"ASYMMETRIC\", block_size = [2, 4], target_dtype = "
       "type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype = "
       "type(int32[]) }",
       "y, z", "tensor(float32[]{0.73333335}); tensor(int32[]{-3})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[2], int32[2] = torch.torchao::choose_qparams_affine.default(x) { operands = "
       "[\"input\"], mapping_type = \"SYMMETRIC_NO_CLIPPING_ERR\", block_size = [1, 4], "
       "target_dtype = type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype "
       "= type(int32[]) }",
       "y, z", "tensor(float32[2]{1, 0.85714287}); tensor(int32[2]{0, 0})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[2,2], int32[2,2] = torch.torchao::choose_qparams_affine.default(x) { "
       "operands = [\"input\"], mapping_type = \"SYMMETRIC_NO_CLIPPING_ERR\", block_size = [1, 2], "
       "target_dtype = type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype "
       "= type(int32[]) }",
       "y, z",
       "tensor(float32[2,2]{0.5, 1, 0.85714287, 0.71428573}); tensor(int32[2,2]{0, 0, 0, 0})"},
      {"float32[2,4]{-4, 3, 7, 1, 2, 6, 1, 5}",
       "y, z: float32[], int32[] = torch.torchao::choose_qparams_affine.default(x) { operands = "
       "[\"input\"], mapping_type = \"SYMMETRIC_NO_CLIPPING_ERR\", block_size = [2, 4], "
       "target_dtype = type(int8[]), quant_min = -8, quant_max = 7, eps = 0.001d, zero_point_dtype "
       "= type(int32[]) }",
       "y, z", "tensor(float32[]{1}); tensor(int32[]{0})"},
  };
  for (const QuantizedRow& row : rows) ExpectQuantized(row);
}

TEST(TorchQuantized, Observed) {
  const QuantizedRow rows[] = {
      {kX,
       "o = int64[1]{0}\n f = int64[1]{0}\n a = float32[]{-1}\n c = float32[]{1.5}\n s = "
       "float32[1]{1}\n d = int32[1]{0}\n y, z, w, v, u, t: float32[2,4], bool[2,4], float32[], "
       "float32[], float32[1], int32[1] = "
       "torch.aten::_fused_moving_avg_obs_fq_helper_functional.default(x, o, f, a, c, s, d) { "
       "operands = [\"self\", \"observer_on\", \"fake_quant_on\", \"running_min\", "
       "\"running_max\", \"scale\", \"zero_point\"], averaging_const = 0.5d, quant_min = 0, "
       "quant_max = 5, ch_axis = -1 }",
       "y, z, w, v, u, t",
       "tensor(float32[2,4]{-2, -0.25, 0.25, 0.75, 1.25, 63.5, 200, -0}); tensor(bool[2,4]{true, "
       "true, true, true, true, true, true, true}); tensor(float32[]{-1}); tensor(float32[]{1.5}); "
       "tensor(float32[1]{1}); tensor(int32[1]{0})"},
      {kX,
       "o = int64[1]{0}\n f = int64[1]{1}\n a = float32[]{-1}\n c = float32[]{1.5}\n s = "
       "float32[1]{1}\n d = int32[1]{0}\n y, z, w, v, u, t: float32[2,4], bool[2,4], float32[], "
       "float32[], float32[1], int32[1] = "
       "torch.aten::_fused_moving_avg_obs_fq_helper_functional.default(x, o, f, a, c, s, d) { "
       "operands = [\"self\", \"observer_on\", \"fake_quant_on\", \"running_min\", "
       "\"running_max\", \"scale\", \"zero_point\"], averaging_const = 0.5d, quant_min = 0, "
       "quant_max = 5, ch_axis = -1 }",
       "y, z, w, v, u, t",
       "tensor(float32[2,4]{-1, 0, 0, 1, 1, 1.5, 1.5, 0}); tensor(bool[2,4]{false, true, true, "
       "true, true, false, false, true}); tensor(float32[]{-1}); tensor(float32[]{1.5}); "
       "tensor(float32[1]{0.5}); tensor(int32[1]{2})"},
      {kX,
       "o = int64[1]{1}\n f = int64[1]{0}\n a = float32[]{-1}\n c = float32[]{1.5}\n s = "
       "float32[1]{1}\n d = int32[1]{0}\n y, z, w, v, u, t: float32[2,4], bool[2,4], float32[], "
       "float32[], float32[1], int32[1] = "
       "torch.aten::_fused_moving_avg_obs_fq_helper_functional.default(x, o, f, a, c, s, d) { "
       "operands = [\"self\", \"observer_on\", \"fake_quant_on\", \"running_min\", "
       "\"running_max\", \"scale\", \"zero_point\"], averaging_const = 0.5d, quant_min = 0, "
       "quant_max = 5, ch_axis = -1 }",
       "y, z, w, v, u, t",
       "tensor(float32[2,4]{-2, -0.25, 0.25, 0.75, 1.25, 63.5, 200, -0}); tensor(bool[2,4]{true, "
       "true, true, true, true, true, true, true}); tensor(float32[]{-1.5}); "
       "tensor(float32[]{100.75}); tensor(float32[1]{1}); tensor(int32[1]{0})"},
      {kX,
       "o = int64[1]{1}\n f = int64[1]{1}\n a = float32[]{-1}\n c = float32[]{1.5}\n s = "
       "float32[1]{1}\n d = int32[1]{0}\n y, z, w, v, u, t: float32[2,4], bool[2,4], float32[], "
       "float32[], float32[1], int32[1] = "
       "torch.aten::_fused_moving_avg_obs_fq_helper_functional.default(x, o, f, a, c, s, d) { "
       "operands = [\"self\", \"observer_on\", \"fake_quant_on\", \"running_min\", "
       "\"running_max\", \"scale\", \"zero_point\"], averaging_const = 0.5d, quant_min = 0, "
       "quant_max = 5, ch_axis = -1 }",
       "y, z, w, v, u, t",
       "tensor(float32[2,4]{0, 0, 0, 0, 0, 61.350002, 102.25, 0}); tensor(bool[2,4]{true, true, "
       "true, true, true, true, false, true}); tensor(float32[]{-1.5}); tensor(float32[]{100.75}); "
       "tensor(float32[1]{20.45}); tensor(int32[1]{0})"},
      {kX,
       "o = int64[1]{1}\n f = int64[1]{1}\n a = float32[2]{inf, -1}\n c = float32[2]{-inf, 3.5}\n "
       "s = float32[2]{1, 1}\n d = int32[2]{0, 0}\n y, z, w, v, u, t: float32[2,4], bool[2,4], "
       "float32[2], float32[2], float32[2], int32[2] = "
       "torch.aten::_fused_moving_avg_obs_fq_helper_functional.default(x, o, f, a, c, s, d) { "
       "operands = [\"self\", \"observer_on\", \"fake_quant_on\", \"running_min\", "
       "\"running_max\", \"scale\", \"zero_point\"], averaging_const = 0.5d, quant_min = -4, "
       "quant_max = 3, ch_axis = 0, per_row_fake_quant = tensor(bool[]{true}), symmetric_quant = "
       "tensor(bool[]{true}) }",
       "y, z, w, v, u, t",
       "tensor(float32[2,4]{-2, 0, 0, 1, 0, 67.833336, 101.75, 0}); tensor(bool[2,4]{true, true, "
       "true, true, true, true, false, true}); tensor(float32[2]{-2, -0.5}); "
       "tensor(float32[2]{0.75, 101.75}); tensor(float32[2]{0.5, 33.916668}); tensor(int32[2]{0, "
       "0})"},
  };
  for (const QuantizedRow& row : rows) ExpectQuantized(row);
}

// The ops that calls become, in order, with the element type of a result where it is no float32.
std::string OpsOf(std::string_view header, std::string_view lines) {
  auto model = ModelFromText(StrCat("graph g(", header, ") {\n", lines, "\n}"), "torch", 1,
                             {{"aten", 1}, {"quantized_decomposed", 1}, {"torchao", 1}});
  if (!model.ok()) return model.status().ToString();
  if (absl::Status s = ToIr(*model, {}); !s.ok()) return s.ToString();
  std::string ops;
  for (const Node* node : model->graph->nodes()) {
    StrAppend(&ops, ops.empty() ? "" : " ", node->op().view());
    const DType t = node->output(0)->dtype();
    if (t != DType::kFloat32) StrAppend(&ops, ":", Name(t));
  }
  return ops;
}

TEST(TorchQuantized, Units) {
  const struct {
    std::string header, lines, ops;
  } rows[] = {
      {"x: float32[n,4]) -> (y: uint8[n,4]",
       "y: uint8[n,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.1d, zero_point = 3, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "quantize_linear:uint8"},
      // Bounds that are not the type's.
      {"x: float32[n,4]) -> (y: uint8[n,4]",
       "y: uint8[n,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.1d, zero_point = 3, quant_min = 0, quant_max = 127, dtype = "
       "type(uint8[]) }",
       "quantize_linear:uint8 clip:uint8"},
      // A zero point that the type does not hold, and one that may be any number.
      {"x: float32[n,4]) -> (y: uint8[n,4]",
       "y: uint8[n,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { operands = "
       "[\"input\"], scale = 0.1d, zero_point = -3, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "reciprocal:float64 cast mul round cast add greater_or_equal:bool where min cast:uint8"},
      {"x: float32[n,4], s: float32[], z: int64[]) -> (y: uint8[n,4]",
       "y: uint8[n,4] = torch.quantized_decomposed::quantize_per_tensor.tensor(x, s, z) { operands "
       "= [\"input\", \"scale\", \"zero_point\"], quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "reciprocal mul round cast add greater_or_equal:bool where min cast:uint8"},
      // One that was cut to the bounds.
      {"x: float32[n,4]) -> (y: uint8[n,4]",
       "s, z: float64[1], int64[1] = torch.quantized_decomposed::choose_qparams.tensor(x) { "
       "operands = [\"input\"], quant_min = 0, quant_max = 255, eps = 0.001d, dtype = "
       "type(uint8[]) }\n"
       "y: uint8[n,4] = torch.quantized_decomposed::quantize_per_tensor.tensor(x, s, z) { operands "
       "= [\"input\", \"scale\", \"zero_point\"], quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "reduce_max max reduce_min min sub div max cast:float64 unsqueeze:float64 div round sub "
       "clip cast:int64 unsqueeze:int64 reshape:float64 cast reshape:int64 cast:uint8 "
       "quantize_linear:uint8"},
      // Numbers in the middle of two steps: the largest one, and means of steps.
      {"x: float32[n,4]) -> (y: int8[n,4]",
       "s, z: float64[1], int64[1] = "
       "torch.quantized_decomposed::choose_qparams_symmetric.tensor(x) "
       "{ operands = [\"input\"], quant_min = -128, quant_max = 127, eps = 0.001d, dtype = "
       "type(int8[]) }\n"
       "y: int8[n,4] = torch.quantized_decomposed::quantize_per_tensor.tensor(x, s, z) { operands "
       "= [\"input\", \"scale\", \"zero_point\"], quant_min = -128, quant_max = 127, dtype = "
       "type(int8[]) }",
       "reduce_min min neg reduce_max max max div max cast:float64 unsqueeze:float64 "
       "unsqueeze:int64 reshape:float64 reciprocal:float64 cast mul round greater_or_equal:bool "
       "where min cast:int8 reshape:int64"},
      {"q: uint8[n,4]) -> (y: uint8[n]",
       "x: float32[n,4] = torch.quantized_decomposed::dequantize_per_tensor.default(q) { operands "
       "= "
       "[\"input\"], scale = 0.1d, zero_point = 0, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }\n"
       "m: float32[n] = torch.aten::mean.dim(x) { operands = [\"self\"], dim = [1] }\n"
       "y: uint8[n] = torch.quantized_decomposed::quantize_per_tensor.default(m) { operands = "
       "[\"input\"], scale = 0.1d, zero_point = 0, quant_min = 0, quant_max = 255, dtype = "
       "type(uint8[]) }",
       "dequantize_linear reduce_mean reciprocal:float64 cast mul round greater_or_equal:bool "
       "where "
       "min cast:uint8"},
      {"x: int8[n,4]) -> (y: float32[n,4]",
       "s = float32[4]{1, 2, 3, 4}\n z = int64[4]{0, 0, 1, 0}\n"
       "y: float32[n,4] = torch.quantized_decomposed::dequantize_per_channel.default(x, s, z) { "
       "operands = [\"input\", \"scales\", \"zero_points\"], axis = 1, quant_min = -128, quant_max "
       "= 127, dtype = type(int8[]) }",
       "dequantize_linear"},
      {"x: float32[n,4]) -> (y: float32[n,4]",
       "y: float32[n,4] = torch.aten::fake_quantize_per_tensor_affine.default(x) { operands = "
       "[\"self\"], scale = 0.1d, zero_point = 0, quant_min = -127, quant_max = 127 }",
       "quantize_linear:int8 clip:int8 dequantize_linear"},
      // Halves are computed with in float32.
      {"x: float16[n,4]) -> (y: float16[n,4]",
       "y: float16[n,4] = torch.aten::fake_quantize_per_tensor_affine.default(x) { operands = "
       "[\"self\"], scale = 0.1d, zero_point = 0, quant_min = 0, quant_max = 255 }",
       "cast quantize_linear:uint8 dequantize_linear cast:float16"},
      // Groups of weights that need 4 bits; 5 would be too few for the other.
      {"x: float32[n,4]) -> (y: float32[2,4]",
       "w = int8[2,4]{-8, 7, 0, 1, 2, 3, 4, 5}\n s = float32[2,2]{1, 2, 3, 4}\n"
       "y: float32[2,4] = torch.quantized_decomposed::dequantize_per_channel_group.default(w, s) { "
       "operands = [\"w_int8\", \"scales\"], quant_min = -8, quant_max = 7, dtype = type(int8[]), "
       "group_size = 2, output_dtype = type(float32[]) }",
       "reshape dequantize_linear"},
      {"w: int8[2,4]) -> (y: float32[2,4]",
       "s = float32[2,2]{1, 2, 3, 4}\n z = int32[2,2]{0, 0, 0, 1}\n"
       "y: float32[2,4] = torch.torchao::dequantize_affine.default(w, s, z) { operands = "
       "[\"input\", \"scale\", \"zero_point\"], block_size = [1, 2], input_dtype = type(int8[]), "
       "output_dtype = type(float32[]) }",
       "reshape reshape:int32 cast:int8 dequantize_linear"},
  };
  for (const auto& row : rows) EXPECT_EQ(OpsOf(row.header, row.lines), row.ops) << row.lines;
}

TEST(TorchQuantized, Refused) {
  const struct {
    std::string header, lines, error;
  } rows[] = {
      {"x: float32[n,4]) -> (y: float8e4m3fn[n,4]",
       "y: float8e4m3fn[n,4] = torch.quantized_decomposed::quantize_per_tensor.default(x) { "
       "operands = [\"input\"], scale = 0.1d, zero_point = 0, quant_min = -448, quant_max = 448, "
       "dtype = type(float8e4m3fn[]) }",
       "quantization to float8e4m3fn"},
      {"x: int8[n,4], z: int8[4]) -> (y: float32[n,4]",
       "s = float32[4]{1, 2, 3, 4}\n"
       "y: float32[n,4] = torch.quantized_decomposed::dequantize_per_channel.default(x, s, z) { "
       "operands = [\"input\", \"scales\", \"zero_points\"], axis = 1, quant_min = -128, quant_max "
       "= 127, dtype = type(int8[]) }",
       "wrap around"},
      {"x: float32[n,4], l: int64[]) -> (y: uint8[n,4]",
       "s = float32[]{1}\n z = int64[]{1}\n h = int64[]{100}\n"
       "y: uint8[n,4] = torch.quantized_decomposed::quantize_per_tensor.tensor2(x, s, z, l, h) { "
       "operands = [\"input\", \"scale\", \"zero_point\", \"quant_min\", \"quant_max\"], dtype = "
       "type(uint8[]) }",
       "'quant_min' must be known"},
      {"x: float32[n,4]) -> (y: int8[n,4]",
       "s = float32[]{1}\n z = int64[]{1}\n"
       "y: int8[n,4] = torch.torchao::quantize_affine.default(x, s, z) { operands = [\"input\", "
       "\"scale\", \"zero_point\"], block_size = [3, 4], output_dtype = type(int8[]) }",
       "axis 0, whose size is not known"},
      {"x: float32[2,4]) -> (y: int8[2,4]",
       "s = float32[]{1}\n z = int64[]{1}\n"
       "y: int8[2,4] = torch.torchao::quantize_affine.default(x, s, z) { operands = [\"input\", "
       "\"scale\", \"zero_point\"], block_size = [1, 3], output_dtype = type(int8[]) }",
       "3 does not divide 4"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(OpsOf(row.header, row.lines), ::testing::HasSubstr(row.error)) << row.lines;
  }
}

}  // namespace
}  // namespace x2ir
