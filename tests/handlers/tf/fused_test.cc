// TensorFlow's fused layers, their gradients, and images that are scaled and moved.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/handlers/tf/numbers_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Row = TfNumbersRow;
void Expect(const std::vector<Row>& rows) { ExpectTfNumbers(rows); }

// One node of several.
TEST(TfFused, Fused) {
  const std::string x =
      "x = float32[1,1,2,2]{1, 2, -3, 4}\n k = float32[1,1,2,2]{1, 0, 0, 1}\n "
      "b = float32[2]{-1, 3}\n ";
  const std::string conv = "{ strides = [1,1,1,1], padding = \"VALID\", fused_ops = ";
  Expect({
      {x + "y = tf._FusedConv2D(x, k, b) " + conv + "[\"BiasAdd\", \"Relu6\"], num_args = 1 }",
       "float32[1,1,2,2]",
       {0, 5, 0, 6},
       ""},
      {x + "y = tf._FusedConv2D(x, k, b) " + conv +
           "[\"BiasAdd\", \"LeakyRelu\"], num_args = 1, leakyrelu_alpha = 0.5 }",
       "",
       {0, 5, -2, 7},
       ""},
      {"x = float32[1,2,1,2]{1, -3, 2, 4}\n k = float32[1,1,2,2]{1, 0, 0, 1}\n "
       "b = float32[2]{-1, 3}\n y = tf._FusedConv2D(x, k, b) " +
           conv + "[\"BiasAdd\"], num_args = 1, data_format = \"NCHW\" }",
       "float32[1,2,1,2]",
       {0, -4, 5, 7},
       ""},
      {x +
           "v = float32[2]{4, 9}\n z = float32[2]{0, 0}\n w = float32[2]{2, 3}\n "
           "y = tf._FusedConv2D(x, k, w, b, z, v) " +
           conv + "[\"FusedBatchNorm\"], num_args = 4, epsilon = 0.0 }",
       "",
       {0, 5, -4, 7},
       ""},
      {x + "d = float32[1,1,2,1]{2, 3}\n y = tf._FusedDepthwiseConv2dNative(x, d, b) " + conv +
           "[\"BiasAdd\", \"Relu\"] }",
       "",
       {1, 9, 0, 15},
       ""},
      {"x = float32[1,2]{1, -2}\n k = float32[2,2]{1, 3, 2, 4}\n b = float32[2]{3, -1}\n "
       "y = tf._FusedMatMul(x, k, b) { transpose_b = 1, fused_ops = [\"BiasAdd\", \"Relu\"] }",
       "float32[1,2]",
       {0, 0},
       ""},
      {"x = float32[1,2]{1, -2}\n k = float32[2,2]{1, 3, 2, 4}\n b = float32[2]{9, -1}\n "
       "y = tf._FusedMatMul(x, k, b, b) { fused_ops = [\"BiasAdd\", \"Add\"] }",
       "",
       {15, -7},
       ""},
      {x + "y = tf._FusedConv2D(x, k, b) " + conv + "[\"Softmax\"] }", "", {}, "op Softmax"},
      {x + "y = tf._FusedConv2D(x, k, b) " + conv + "[\"Relu\"] }", "", {}, "3 operands"},
      {"x = float32[1,1,2,2]{1, 2, -3, 4}\n s = float32[2]{1, 1}\n z = float32[2]{0, 1}\n "
       "y = tf._FusedBatchNormEx(x, s, z, z, s, x) { is_training = 0, epsilon = "
       "0.0, "
       "num_side_inputs = 1, activation_mode = \"Relu\" }",
       "",
       {2, 4, 0, 8},
       ""},
  });
}

// Derivatives: by differences of the functions themselves.
TEST(TfFused, Gradients) {
  struct Case {
    const char* op;
    double (*f)(double);
    enum { kDyAndX, kDyAndY, kYAndDy } operands;
    const char* attrs = "";
  };
  const auto elu = [](double x) { return x < 0 ? std::exp(x) - 1 : x; };
  const Case cases[] = {
      {"ReluGrad", [](double x) { return std::max(x, 0.0); }, Case::kDyAndX},
      {"Relu6Grad", [](double x) { return std::min(std::max(x, 0.0), 6.0); }, Case::kDyAndX},
      {"LeakyReluGrad", [](double x) { return x < 0 ? x * 0.5 : x; }, Case::kDyAndX,
       " { alpha = 0.5 }"},
      {"EluGrad", elu, Case::kDyAndY},
      {"SeluGrad",
       [](double x) {
         return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * (std::exp(x) - 1) : x);
       },
       Case::kDyAndY},
      {"SigmoidGrad", [](double x) { return 1 / (1 + std::exp(-x)); }, Case::kYAndDy},
      {"TanhGrad", [](double x) { return std::tanh(x); }, Case::kYAndDy},
      {"SqrtGrad", [](double x) { return std::sqrt(std::abs(x)); }, Case::kYAndDy},
      {"RsqrtGrad", [](double x) { return 1 / std::sqrt(std::abs(x)); }, Case::kYAndDy},
      {"ReciprocalGrad", [](double x) { return 1 / x; }, Case::kYAndDy},
      {"InvGrad", [](double x) { return 1 / x; }, Case::kYAndDy},
      {"SoftplusGrad", [](double x) { return std::log(1 + std::exp(x)); }, Case::kDyAndX},
      {"SoftsignGrad", [](double x) { return x / (1 + std::abs(x)); }, Case::kDyAndX},
  };
  std::vector<Row> rows;
  for (const Case& c : cases) {
    for (const double x : {-1.25, 0.75, 7.5}) {
      const bool roots = std::string_view(c.op).find("qrt") != std::string_view::npos;
      if (roots && x < 0) continue;
      const double h = 1e-5, slope = (c.f(x + h) - c.f(x - h)) / (2 * h);
      char number[64];
      std::snprintf(number, sizeof(number), "%.17g", c.operands == Case::kDyAndX ? x : c.f(x));
      const std::string v =
          StrCat("v = float64[]{", number, "}\n d = float64[]{3}\n y = tf.", c.op);
      rows.push_back({StrCat(v, c.operands == Case::kYAndDy ? "(v, d)" : "(d, v)", c.attrs),
                      "float64[]",
                      {3 * slope},
                      ""});
    }
  }
  rows.push_back({"d = float32[1,2,2]{1,2,3,4}\n y = tf.BiasAddGrad(d)", "float32[2]", {4, 6}, ""});
  rows.push_back({"d = float32[1,2,2]{1,2,3,4}\n y = tf.BiasAddGrad(d) { data_format = \"NCHW\" }",
                  "float32[2]",
                  {3, 7},
                  ""});
  rows.push_back(
      {"d = float32[1]{inf}\n x = float32[1]{-1}\n y = tf.ReluGrad(d, x)", "", {kNaN}, ""});
  Expect(rows);
}

TEST(TfFused, ScaledAndTranslated) {
  const std::string x = "x = float32[1,1,4,1]{1, 2, 4, 8}\n t = float32[2]{0, 0}\n ";
  const auto scaled = [&](std::string_view columns, std::string_view scale, std::string_view rest) {
    return StrCat(x, "s = int32[2]{1, ", columns, "}\n f = float32[2]{1, ", scale,
                  "}\n y = tf.ScaleAndTranslate(x, s, f, t) { ", rest, " }");
  };
  // exp(-2 d^2) at distances of 1/4, 3/4, ... of two pixels.
  const double near = std::exp(-2.0 / 16), far = std::exp(-2 * 9.0 / 16),
               further = std::exp(-2 * 25.0 / 16);
  Expect({
      // Tents of two pixels to each side: 3/4 and 1/4 of two.
      {scaled("2", "0.5", "kernel_type = \"triangle\""),
       "float32[1,1,2,1]",
       {(3 * 1 + 3 * 2 + 1 * 4) / 7.0, (1 * 2 + 3 * 4 + 3 * 8) / 7.0},
       ""},
      {scaled("2", "0.5", "kernel_type = \"triangle\", antialias = 0"), "", {1.5, 6}, ""},
      {scaled("2", "0.5", "kernel_type = \"box\""), "", {1.5, 6}, ""},
      {scaled("2", "0.5", "kernel_type = \"gaussian\""),
       "",
       {(near * 1 + near * 2 + far * 4 + further * 8) / (2 * near + far + further),
        (further * 1 + far * 2 + near * 4 + near * 8) / (2 * near + far + further)},
       "",
       1e-5},
      {scaled("4", "1", "kernel_type = \"keyscubic\""), "", {1, 2, 4, 8}, ""},
      {scaled("4", "1", "kernel_type = \"lanczos3\""), "", {1, 2, 4, 8}, "", 1e-5},
      {scaled("4", "1", "kernel_type = \"mitchellcubic\""),
       "",
       {(16.0 / 18 * 1 + 1.0 / 18 * 2) / (17.0 / 18), (1 + 16 * 2 + 4) / 18.0,
        (2 + 16 * 4 + 8) / 18.0, (4 + 16 * 8) / 17.0},
       "",
       1e-5},
      // Moved by a pixel, and out of the image.
      {"x = uint8[1,1,4,1]{1, 2, 4, 8}\n t = float32[2]{0, 1}\n s = int32[2]{1, 6}\n "
       "f = float32[2]{1, 1}\n y = tf.ScaleAndTranslate(x, s, f, t) { kernel_type = \"triangle\" }",
       "float32[1,1,6,1]",
       {0, 1, 2, 4, 8, 0},
       ""},
      {scaled("2", "-1", "kernel_type = \"box\""), "", {}, "a scale of -1"},
      {scaled("2", "1", "kernel_type = \"bow\""), "", {}, "kernel_type 'bow'"},
  });
}

}  // namespace
}  // namespace x2ir
