// TensorFlow's integers that stand for floats: what its documentation says, rounding included.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

void Expect(absl::Span<const ConstantRow> rows) { ExpectConstantRows(rows); }

TEST(TfQuantize, Quantized) {
  Expect(std::vector<ConstantRow>{
      // 42.5 steps to one.
      {"x = float32[5]{0,3,6,-1,7}\n a = float32[]{0}\n b = float32[]{6}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint8[...]) }",
       "y, l, g", "uint8[5]{0, 128, 255, 0, 255}; float32[]{0}; float32[]{6}"},
      {"x = float32[5]{0,3,6,-1,7}\n a = float32[]{0}\n b = float32[]{6}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(int8[...]) }",
       "y", "int8[5]{-128, -1, 127, -128, 127}"},
      // The lower end is -127.5 steps from zero, which round to -128.
      {"x = float32[5]{-1,0,0.5,1,-9}\n a = float32[1]{-1}\n b = float32[1]{1}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint8[...]), mode = \"MIN_FIRST\" }",
       "y, l, g", "uint8[5]{0, 128, 192, 255, 0}; float32[]{-1}; float32[]{1}"},
      {"x = float32[3]{-1,0,1e30}\n a = float32[]{-1}\n b = float32[]{1}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(int32[...]), mode = \"MIN_FIRST\" }",
       "y", "int32[3]{-2147483648, 0, 2147483520}"},
      // 128 steps to one, as the lower end wants it; 2.5 steps are 3 or 2.
      {"x = float32[4]{0.5,-0.01953125,0.01953125,1}\n a = float32[]{-1}\n b = float32[]{0.5}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(int8[...]), mode = \"SCALED\" }",
       "y, l, g", "int8[4]{64, -3, 3, 127}; float32[]{-1}; float32[]{0.9921875}"},
      {"x = float32[4]{0.5,-0.01953125,0.01953125,1}\n a = float32[]{-1}\n b = float32[]{0.5}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(int8[...]), mode = \"SCALED\", "
       "round_mode = \"HALF_TO_EVEN\" }",
       "y", "int8[4]{64, -2, 2, 127}"},
      {"x = float32[2]{-127,1}\n a = float32[]{-127}\n b = float32[]{100}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(int8[...]), mode = \"SCALED\", "
       "narrow_range = 1 }",
       "y, l, g", "int8[2]{-127, 1}; float32[]{-127}; float32[]{127}"},
      // The range has zero in it, and some width.
      {"x = float32[2]{0,3}\n a = float32[]{1}\n b = float32[]{3}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint8[...]) }",
       "y, l, g", "uint8[2]{0, 255}; float32[]{0}; float32[]{3}"},
      {"x = float32[2]{0,3}\n a = float32[]{0}\n b = float32[]{0}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint8[...]), ensure_minimum_range = 0.5 }",
       "y, l, g", "uint8[2]{0, 255}; float32[]{0}; float32[]{0.5}"},
      {"x = float32[2]{-200,3}\n a = float32[]{-200}\n b = float32[]{-199}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint8[...]), ensure_minimum_range = 0.5 }",
       "y, l, g", "uint8[2]{0, 255}; float32[]{-200}; float32[]{0}"},
      // Ranges of an axis.
      {"x = float32[2,2]{1,1,0.5,3}\n a = float32[2]{0,0}\n b = float32[2]{1,2}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint8[...]), axis = 1 }",
       "y, l, g", "uint8[2,2]{255, 128, 128, 255}; float32[2]{0, 0}; float32[2]{1, 2}"},
      {"x = float32[2,1]{1,1}\n a = float32[2]{0,0}\n b = float32[2]{1,2}\n "
       "y, l, g = tf.QuantizeV2(x, a, b) { T = type(uint16[...]), axis = 0, mode = \"SCALED\" }",
       "y, l, g", "uint16[2,1]{65535, 32768}; float32[2]{0, 0}; float32[2]{1, 2}"},
      {"x = float32[2]{1,2}\n a = float32[]{0}\n y, l, g = tf.QuantizeV2(x, a, a) { "
       "T = type(uint8[...]), round_mode = \"HALF_TO_EVEN\" }",
       "y", "error HALF_TO_EVEN with mode MIN_COMBINED"},
      {"x = float32[2]{1,2}\n a = float32[2]{0,0}\n y, l, g = tf.QuantizeV2(x, a, a) { "
       "T = type(uint8[...]), axis = 0, mode = \"MIN_FIRST\" }",
       "y", "error an axis with mode MIN_FIRST"},
      {"x = float32[2]{1,2}\n a = float32[]{0}\n y, l, g = tf.QuantizeV2(x, a, a) { "
       "T = type(int64[...]) }",
       "y", "error represent no floats"},
  });
}

TEST(TfQuantize, Dequantized) {
  Expect(std::vector<ConstantRow>{
      {"x = uint8[3]{0,128,255}\n a = float32[]{0}\n b = float32[]{510}\n "
       "y = tf.Dequantize(x, a, b)",
       "y", "float32[3]{0, 256, 510}"},
      {"x = int8[3]{-128,0,127}\n a = float32[]{-10}\n b = float32[]{245}\n "
       "y = tf.Dequantize(x, a, b)",
       "y", "float32[3]{-10, 118, 245}"},
      {"x = int16[2]{-32768,32767}\n a = float32[]{0}\n b = float32[]{65535}\n "
       "y = tf.Dequantize(x, a, b) { dtype = type(bfloat16[...]) }",
       "y", "bfloat16[2]{0, 65536}"},
      {"x = int32[2]{-2147483648,0}\n a = float32[]{-1}\n b = float32[]{1}\n "
       "y = tf.Dequantize(x, a, b)",
       "y", "float32[2]{-1, 0}"},
      // Zero is a whole step from the lower end: -1.4 becomes -1.
      {"x = uint8[3]{0,1,255}\n a = float32[]{-1.4}\n b = float32[]{253.6}\n "
       "y = tf.Dequantize(x, a, b) { mode = \"MIN_FIRST\" }",
       "y", "float32[3]{-1, 0, 254}"},
      {"x = int8[3]{-128,0,127}\n a = float32[]{5}\n b = float32[]{5}\n "
       "y = tf.Dequantize(x, a, b) { mode = \"MIN_FIRST\" }",
       "y", "float32[3]{5, 5, 5}"},
      {"x = int8[3]{-128,1,127}\n a = float32[]{-64}\n b = float32[]{1}\n "
       "y = tf.Dequantize(x, a, b) { mode = \"SCALED\" }",
       "y", "float32[3]{-64, 0.5, 63.5}"},
      {"x = int8[2]{-127,1}\n a = float32[]{-63.5}\n b = float32[]{1}\n "
       "y = tf.Dequantize(x, a, b) { mode = \"SCALED\", narrow_range = 1 }",
       "y", "float32[2]{-63.5, 0.5}"},
      {"x = uint8[2]{0,2}\n a = float32[]{-9}\n b = float32[]{127.5}\n "
       "y = tf.Dequantize(x, a, b) { mode = \"SCALED\" }",
       "y", "float32[2]{0, 1}"},
      {"x = uint8[2,2]{1,1,2,2}\n a = float32[2]{0,10}\n b = float32[2]{255,520}\n "
       "y = tf.Dequantize(x, a, b) { axis = 1 }",
       "y", "float32[2,2]{1, 12, 2, 14}"},
      {"x = uint8[2]{0,2}\n a = float32[]{0}\n y = tf.Dequantize(x, a, a) { mode = \"MAX\" }", "y",
       "error mode"},
      {"x = uint8[2]{0,2}\n a = float32[]{0}\n y = tf.Dequantize(x, a, a) { axis = 1 }", "y",
       "error axis = 1"},
      {"x = float32[2]{0,2}\n a = float32[]{0}\n y = tf.Dequantize(x, a, a)", "y",
       "error represent no floats"},
  });
}

// TensorFlow's sums in fixed point, written out once more.
uint8_t Byte(int32_t value, float least, float greatest, float new_least, float new_greatest) {
  const float width = greatest - least, new_width = new_greatest - new_least;
  const float inverse = new_width == 0 ? 0.0f : static_cast<float>(255.0 / new_width);
  const auto middle = static_cast<float>((least + greatest) / 2.0);
  const int64_t scale =
      new_width == 0 ? 0 : static_cast<int64_t>(255.0 * 65536 * width / new_width);
  const auto offset = static_cast<int64_t>(middle * inverse * 65536);
  const int64_t new_offset =
      new_width == 0 ? 0 : static_cast<int64_t>(65536 * (new_least * 255.0) / new_width);
  const int64_t result = (((int64_t{value} * scale) >> 32) + offset - new_offset + 32768) >> 16;
  return static_cast<uint8_t>(result < 0 ? 0 : result > 255 ? 255 : result);
}

TEST(TfQuantize, Requantized) {
  const std::vector<int32_t> values = {-2147483647 - 1, -1234567890, -1000000,   -1,        0, 1,
                                       77777777,        1073741824,  2000000000, 2147483647};
  struct Ranges {
    float least, greatest, new_least, new_greatest;
  };
  for (const Ranges& r : {Ranges{-1, 1, -0.5, 0.5}, Ranges{-3, 7, -3, 7}, Ranges{-100, 100, 0, 6},
                          Ranges{-1, 1, 0, 0}}) {
    std::string numbers, want;
    for (const int32_t v : values) {
      StrAppend(&numbers, numbers.empty() ? "" : ",", v);
      StrAppend(&want, want.empty() ? "" : ", ",
                int{Byte(v, r.least, r.greatest, r.new_least, r.new_greatest)});
    }
    const std::string lines =
        StrCat("x = int32[10]{", numbers, "}\n a = float32[]{", r.least, "}\n b = float32[]{",
               r.greatest, "}\n c = float32[]{", r.new_least, "}\n d = float32[]{", r.new_greatest,
               "}\n y, l, g = tf.Requantize(x, a, b, c, d) { out_type = type(uint8[...]) }");
    const auto got = ResultsOfConstants(lines, "y");
    EXPECT_EQ(got.ok() ? *got : got.status().ToString(), StrCat("uint8[10]{", want, "}")) << lines;
  }
  Expect(std::vector<ConstantRow>{
      {"x = int32[3]{-2147483648,0,1073741824}\n a = float32[]{-1}\n b = float32[]{1}\n "
       "c = float32[]{-1}\n y, l, g = tf.Requantize(x, a, b, c, b) { out_type = type(int8[...]) }",
       "y, l, g", "int8[3]{-128, 0, 64}; float32[]{-1}; float32[]{1}"},
      {"x = int32[3]{-2147483648,0,1073741824}\n a = float32[]{-1}\n b = float32[]{1}\n "
       "l, g = tf.RequantizationRange(x, a, b)",
       "l, g", "float32[]{-1}; float32[]{0.5}"},
      // Zero is in the range that shrinks.
      {"x = int32[2]{536870912,1073741824}\n a = float32[]{-1}\n b = float32[]{1}\n "
       "y, l, g = tf.QuantizeDownAndShrinkRange(x, a, b) { out_type = type(uint8[...]) }",
       "y, l, g", "uint8[2]{128, 255}; float32[]{0}; float32[]{0.5}"},
  });
}

TEST(TfQuantize, Uniform) {
  Expect(std::vector<ConstantRow>{
      {"x = float32[6]{-1,0,0.25,0.75,-1e38,1e38}\n s = float32[]{0.5}\n z = int32[]{-3}\n "
       "y = tf.UniformQuantize(x, s, z) { Tout = type(int8[...]), quantization_min_val = -127, "
       "quantization_max_val = 127 }\n w = tf.UniformDequantize(y, s, z) { "
       "quantization_min_val = -127, quantization_max_val = 127, Tout = type(float32[...]) }",
       "y, w", "int8[6]{-5, -3, -2, -1, -127, 127}; float32[6]{-1, 0, 0.5, 1, -62, 65}"},
      {"x = float32[2,2]{1,1,2,2}\n s = float32[2]{0.5,2}\n z = int32[2]{0,1}\n "
       "y = tf.UniformQuantize(x, s, z) { Tout = type(int32[...]), quantization_axis = 0, "
       "quantization_min_val = -2147483648, quantization_max_val = 2147483647 }",
       "y", "int32[2,2]{2, 2, 2, 2}"},
      {"x = float32[1]{1}\n s = float32[]{1}\n z = int32[]{0}\n "
       "y = tf.UniformQuantize(x, s, z) { Tout = type(int8[...]), quantization_min_val = -129, "
       "quantization_max_val = 127 }",
       "y", "error steps from -129"},
  });
}

TEST(TfQuantize, Layers) {
  Expect(std::vector<ConstantRow>{
      // 100 stands for 0 in both, with steps of 1; what lies outside is 0.
      {"x = uint8[1,2,2,1]{101,102,103,104}\n k = uint8[2,2,1,2]{101,99,100,100,100,100,102,100}\n "
       "a = float32[]{-100}\n b = float32[]{155}\n y, l, g = tf.QuantizedConv2D(x, k, a, b, a, b) "
       "{ "
       "strides = [1,1,1,1], padding = \"SAME\" }",
       "y, l, g",
       "int32[1,2,2,2]{9, -1, 2, -2, 3, -3, 4, -4}; float32[]{-2147483648}; float32[]{2147483648}"},
      {"x = uint8[1,2,3,1]{1,2,3,4,5,8}\n a = float32[]{0}\n b = float32[]{6}\n "
       "y, l, g = tf.QuantizedAvgPool(x, a, b) { ksize = [1,2,2,1], strides = [1,2,2,1], padding = "
       "\"SAME\" }",
       "y, g", "uint8[1,1,2,1]{3, 5}; float32[]{6}"},
  });
}

// TensorFlow's sums in float32, whose steps of 2^31 are 256 wide, written out once more.
int32_t InSumRange(int q, float least, float greatest, float most) {
  const auto step = static_cast<float>((greatest - least) / 255.0);
  const float x = std::round(least / step) * step - 0 * step + static_cast<float>(q) * step;
  const auto scale = static_cast<float>(4294967295.0 / (most - -most));
  const float steps = std::round(x * scale) - (std::round(-most * scale) + 2147483648.0f);
  return static_cast<int32_t>(std::min(std::max(steps, -2147483648.0f), 2147483520.0f));
}

TEST(TfQuantize, BiasAdd) {
  struct Ranges {
    float least, greatest, bias_least, bias_greatest;
  };
  for (const Ranges& r : {Ranges{0, 255, 0, 255}, Ranges{-1, 1, -3, 0.5}, Ranges{0, 6, -1, 1}}) {
    const float most = std::max({r.greatest, -r.least, r.bias_greatest, -r.bias_least}) * (1 << 17);
    std::string want;
    for (const int q : {0, 100, 255, 7}) {
      const int bias = q == 0 || q == 255 ? 10 : 20;
      const int64_t sum = int64_t{InSumRange(q, r.least, r.greatest, most)} +
                          InSumRange(bias, r.bias_least, r.bias_greatest, most);
      StrAppend(&want, want.empty() ? "" : ", ", sum);
    }
    const std::string lines = StrCat(
        "x = uint8[2,2]{0,100,255,7}\n b = uint8[2]{10,20}\n l = float32[]{", r.least,
        "}\n h = float32[]{", r.greatest, "}\n m = float32[]{", r.bias_least, "}\n n = float32[]{",
        r.bias_greatest, "}\n y, a, c = tf.QuantizedBiasAdd(x, b, l, h, m, n)");
    const auto got = ResultsOfConstants(lines, "y");
    EXPECT_EQ(got.ok() ? *got : got.status().ToString(), StrCat("int32[2,2]{", want, "}")) << lines;
  }
}

TEST(TfQuantize, Others) {
  Expect(std::vector<ConstantRow>{
      {"x = uint8[4]{1,2,3,4}\n s = int32[2]{2,2}\n a = float32[]{0}\n b = float32[]{6}\n "
       "y, l, g = tf.QuantizedReshape(x, s, a, b)",
       "y, l, g", "uint8[2,2]{1, 2, 3, 4}; float32[]{0}; float32[]{6}"},
      // 128 stands for 0, and 17 steps for one.
      {"x = uint8[3]{0,130,255}\n a = float32[]{-1}\n b = float32[]{1}\n "
       "y, l, g = tf.QuantizedRelu(x, a, b)",
       "y, l, g", "uint8[3]{128, 130, 255}; float32[]{-1}; float32[]{1}"},
      {"x = uint8[3]{0,101,255}\n a = float32[]{0}\n b = float32[]{15}\n "
       "y, l, g = tf.QuantizedRelu6(x, a, b)",
       "y", "uint8[3]{0, 101, 102}"},
      {"x = uint8[1,2,2,1]{1,4,3,2}\n a = float32[]{0}\n b = float32[]{15}\n "
       "y, l, g = tf.QuantizedMaxPool(x, a, b) { ksize = [1,2,2,1], strides = [1,1,1,1], padding = "
       "\"VALID\" }",
       "y, g", "uint8[1,1,1,1]{4}; float32[]{15}"},
      {"n = int32[]{0}\n x = uint8[2]{100,200}\n z = uint8[1]{77}\n a = float32[]{0}\n "
       "b = float32[]{1}\n c = float32[]{2}\n y, l, g = tf.QuantizedConcat(n, x, z, a, a, b, c)",
       "y, l, g", "uint8[3]{50, 100, 77}; float32[]{0}; float32[]{2}"},
      {"n = int32[]{0}\n x = int32[1]{1073741824}\n z = int32[1]{7}\n a = float32[]{0}\n "
       "b = float32[]{-2}\n c = float32[]{1}\n y, l, g = tf.QuantizedConcat(n, z, x, b, a, a, c)",
       "l, g", "float32[]{-2}; float32[]{2}"},
      {"n = int32[]{0}\n x = uint8[1]{1}\n y, l, g = tf.QuantizedConcat(n, x, x)", "y",
       "error operands"},
      {"x = uint8[1,2]{1,2}\n z = uint8[1,2]{3,4}\n a = float32[]{0}\n b = float32[]{255}\n "
       "y, l, g = tf.QuantizedMatMul(x, z, a, b, a, b) { transpose_b = 1 }",
       "y, l, g", "int32[1,1]{11}; float32[]{-2147483648}; float32[]{2147483648}"},
      {"x = uint8[1,2]{0,255}\n z = uint8[2,1]{1,1}\n a = float32[]{-128}\n b = float32[]{127}\n "
       "c = float32[]{0}\n d = float32[]{510}\n y, l, g = tf.QuantizedMatMul(x, z, a, b, c, d)",
       "y, l", "int32[1,1]{-1}; float32[]{-4294967296}"},
      {"x = float32[4]{-2,0,0.25,5}\n y = tf.QuantizeAndDequantize(x) { num_bits = 3, "
       "range_given = 1, input_min = -1.0, input_max = 1.5 }",
       "y", "float32[4]{-2, 0, 0, 1.5}"},
      {"x = float32[4]{-2,0,0.25,5}\n a = float32[]{-1}\n b = float32[]{1.5}\n n = int32[]{3}\n "
       "y = tf.QuantizeAndDequantizeV3(x, a, b, n)",
       "y", "float32[4]{-2, 0, 0, 1.5}"},
  });
}

// What TensorFlow's kernel computes, number by number in float32: bounds that are moved, halves up.
class FakeKernel {
 public:
  FakeKernel(float least, float greatest, int bits, bool narrow) {
    const float first = narrow ? 1 : 0, last = std::ldexp(1.0f, bits) - 1;
    scale_ = (greatest - least) / (last - first);
    const float from_least = first - least / scale_;
    const float zero = std::floor(std::clamp(from_least, first, last) + 0.5f);
    least_ = (first - zero) * scale_;
    greatest_ = (last - zero) * scale_;
  }
  float scale() const { return scale_; }
  // The number of steps before it is rounded down.
  float Steps(float x) const {
    const float inverse = 1.0f / scale_, zero = std::floor(-least_ * inverse + 0.5f);
    return (std::max(std::min(x, greatest_), least_) - least_) * inverse - zero + 0.5f;
  }

 private:
  float scale_ = 0, least_ = 0, greatest_ = 0;
};

struct FakeRow {
  std::string attributes;
  std::vector<float> least, greatest;
  int bits = 8;
  bool narrow = false;
  std::string ops;
};

// Bounds that are known make a unit of integers. Where a float is in the middle of two steps it
// goes where TensorFlow lets it go; where its own sums are rounded either is right.
TEST(TfQuantize, FakeQuantizedByOps) {
  const FakeRow rows[] = {
      {"", {-6}, {6}, 8, false, "quantize_linear dequantize_linear"},
      {"", {-0.501f}, {0.499f}, 8, false, "quantize_linear dequantize_linear"},
      {"{ narrow_range = 1 }", {-3}, {3}, 8, true, "quantize_linear clip dequantize_linear"},
      {"{ num_bits = 5 }", {0}, {6.1f}, 5, false, "quantize_linear clip dequantize_linear"},
      // A step of 1, and one of 0.75: sums are exact, so halves count.
      {"", {-100}, {155}, 8, false, "add quantize_linear dequantize_linear"},
      {"{ num_bits = 4 }", {-3}, {8.25f}, 4, false, "add quantize_linear clip dequantize_linear"},
      {"", {-6, -1, 0, -0.3f}, {6, 1, 2, 9}, 8, false, "quantize_linear dequantize_linear"},
  };
  for (const FakeRow& row : rows) {
    const bool channels = row.least.size() > 1;
    const auto bound = [&](const std::vector<float>& numbers) {
      std::string text = StrCat("float32[", channels ? StrCat(numbers.size()) : "", "]{");
      for (size_t i = 0; i < numbers.size(); ++i) {
        StrAppend(&text, i == 0 ? "" : ", ", std::to_string(numbers[i]));
      }
      return text + "}";
    };
    const std::string lines = StrCat("a = ", bound(row.least), "\n b = ", bound(row.greatest),
                                     "\n c = tf.Identity(b)\n y = tf.FakeQuantWithMinMaxVars",
                                     channels ? "PerChannel" : "", "(x, a, c) ", row.attributes);
    auto model =
        ModelFromText(StrCat("graph g(x: float32[n,4]) -> (y) {\n", lines, "\n}"), "tf", 1);
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status converted = ToIr(*model, {});
    ASSERT_TRUE(converted.ok()) << converted;
    std::string ops;
    for (const Node* node : model->graph->nodes()) {
      if (!node->Is("identity")) StrAppend(&ops, ops.empty() ? "" : " ", node->op().view());
    }
    EXPECT_EQ(ops, row.ops) << lines;

    constexpr int64_t kRows = 2000;
    Tensor x = Tensor::Zeros(DType::kFloat32, {kRows, 4});
    const absl::Span<float> points = x.mutable_span<float>();
    std::vector<FakeKernel> kernels;
    for (size_t i = 0; i < row.least.size(); ++i) {
      kernels.emplace_back(row.least[i], row.greatest[i], row.bits, row.narrow);
    }
    for (size_t i = 0; i < points.size(); ++i) {
      // Halves of steps, and what lies between.
      const float scale = kernels[i % kernels.size()].scale();
      const auto number = static_cast<float>(i) - static_cast<float>(points.size() / 2);
      points[i] = number * scale * (i < points.size() / 4 ? 0.0123f : 0.5f);
    }
    const auto out = RunGraph(*model->graph, {Datum(x)});
    ASSERT_TRUE(out.ok()) << out.status();
    for (size_t i = 0; i < points.size(); ++i) {
      const FakeKernel& kernel = kernels[i % kernels.size()];
      const float steps = kernel.Steps(points[i]), want = std::floor(steps) * kernel.scale();
      const auto got = static_cast<float>((*out)[0].tensor()->AsDouble(static_cast<int64_t>(i)));
      const bool exact =
          row.ops.starts_with("add") &&
          points[i] * 2 / kernel.scale() == std::round(points[i] * 2 / kernel.scale());
      const bool either = !exact && std::abs(steps - std::round(steps)) < 1e-4f;
      EXPECT_NEAR(got, want, (either ? 1.001f : 1e-5f) * kernel.scale())
          << lines << " " << points[i];
    }
  }
}

}  // namespace
}  // namespace x2ir
