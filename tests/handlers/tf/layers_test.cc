// TensorFlow's layers, images and special functions: graphs as text, converted to IR and run.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/tf/numbers_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Row = TfNumbersRow;
void Expect(const std::vector<Row>& rows) { ExpectTfNumbers(rows); }

TEST(TfLayers, Rearranged) {
  const std::string x = "x = int32[2,3]{1, 2, 3, 4, 5, 6}\n";
  Expect({
      {x + "a = int32[1]{-1}\n y = tf.ReverseV2(x, a)", "int32[2,3]", {3, 2, 1, 6, 5, 4}, ""},
      {x + "a = int32[0]{}\n y = tf.ReverseV2(x, a)", "int32[2,3]", {1, 2, 3, 4, 5, 6}, ""},
      {x + "a = int32[1]{2}\n y = tf.ReverseV2(x, a)", "", {}, "INVALID_ARGUMENT"},
      {x + "a = bool[2]{true, false}\n y = tf.Reverse(x, a)", "", {4, 5, 6, 1, 2, 3}, ""},
      // Shifts of one axis add up; a shift may be longer than the axis.
      {x + "s = int32[3]{1, -8, 1}\n a = int32[3]{0, 1, 1}\n y = tf.Roll(x, s, a)",
       "int32[2,3]",
       {5, 6, 4, 2, 3, 1},
       ""},
      {x + "s = int32[2]{1, 1}\n a = int32[1]{0}\n y = tf.Roll(x, s, a)", "", {}, "2 shifts"},
      // The batch is the last axis.
      {x + "l = int32[3]{2, 1, 0}\n y = tf.ReverseSequence(x, l) { seq_dim = 0, batch_dim = 1 }",
       "",
       {4, 2, 3, 1, 5, 6},
       ""},
      {"x = int32[1,2,3]{1, 2, 3, 4, 5, 6}\n l = int32[2]{2, 3}\n y = tf.ReverseSequence(x, l) "
       "{ seq_dim = 2, batch_dim = 1 }",
       "",
       {2, 1, 3, 6, 5, 4},
       ""},
      {"x = int32[1,2,2,1]{1, 2, 3, 4}\n b = int32[2]{2, 2}\n p = int32[2,2]{0, 0, 2, 0}\n"
       "y = tf.SpaceToBatchND(x, b, p)",
       "int32[4,1,2,1]",
       {0, 1, 0, 2, 0, 3, 0, 4},
       ""},
      {"x = int32[4,1,2,1]{0, 1, 0, 2, 0, 3, 0, 4}\n b = int32[2]{2, 2}\n"
       "p = int32[2,2]{0, 0, 2, 0}\n y = tf.BatchToSpaceND(x, b, p)",
       "int32[1,2,2,1]",
       {1, 2, 3, 4},
       ""},
      {"x = int32[1,3,2,1]{1, 2, 3, 4, 5, 6}\n p = int32[2,2]{0, 0, 0, 0}\n"
       "y = tf.SpaceToBatch(x, p) { block_size = 2 }",
       "",
       {},
       "INVALID_ARGUMENT"},
      {"x = float32[1,1,1,4]{1, 2, 3, 4}\n y = tf.DepthToSpace(x) { block_size = 2 }",
       "float32[1,2,2,1]",
       {1, 2, 3, 4},
       ""},
  });
}

TEST(TfLayers, Windows) {
  const std::string x = "x = float32[1,3,3,1]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n";
  const std::string window = "strides = [1, 2, 2, 1], ksize = [1, 2, 2, 1], padding = ";
  Expect({
      {x + "y = tf.ExtractImagePatches(x) { ksizes = [1, 2, 2, 1], strides = [1, 2, 2, 1], rates = "
           "[1, 1, 1, 1], padding = \"SAME\" }",
       "float32[1,2,2,4]",
       {1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0},
       ""},
      {x + "f = float32[2,2,1]{0, 0, 0, 10}\n y = tf.Dilation2D(x, f) { strides = [1, 2, 2, 1], "
           "rates = [1, 1, 1, 1], padding = \"SAME\" }",
       "float32[1,2,2,1]",
       {15, 6, 8, 9},
       ""},
      {x + "y, i = tf.MaxPoolWithArgmax(x) { " + window + "\"SAME\" }", "", {5, 6, 8, 9}, ""},
      {"x = float32[2,1,2,2]{1, 9, 3, 4, 5, 6, 7, 1}\n m, y = tf.MaxPoolWithArgmax(x) { " + window +
           "\"SAME\", include_batch_in_index = 1, Targmax = type(int32[...]) }",
       "int32[2,1,1,2]",
       {2, 1, 6, 5},
       ""},
      {"x = float32[2,1,2,2]{1, 9, 3, 4, 5, 6, 7, 1}\n m, y = tf.MaxPoolWithArgmax(x) { " + window +
           "\"SAME\" }",
       "int64[2,1,1,2]",
       {2, 1, 2, 1},
       ""},
      {x + "k = int32[4]{1, 3, 3, 1}\n y = tf.MaxPoolV2(x, k, k) { padding = \"VALID\" }",
       "",
       {9},
       ""},
      {x + "k = int32[4]{2, 3, 3, 1}\n y = tf.MaxPoolV2(x, k, k) { padding = \"VALID\" }",
       "",
       {},
       "of the batch or the channels"},
      // The last row and column that no window reached are zeros.
      {"x = float32[1,1,1,1]{3}\n k = float32[1,1,1,1]{2}\n s = int32[4]{1, 2, 2, 1}\n"
       "y = tf.Conv2DBackpropInput(s, k, x) { strides = [1, 2, 2, 1], padding = \"VALID\" }",
       "float32[1,2,2,1]",
       {6, 0, 0, 0},
       ""},
      {"x = float32[1,1,1,1]{3}\n k = float32[1,1,1,1]{2}\n s = int32[4]{1, 3, 2, 1}\n"
       "y = tf.Conv2DBackpropInput(s, k, x) { strides = [1, 2, 2, 1], padding = \"VALID\" }",
       "",
       {},
       "a convolution does not make 1 elements of 3"},
      {"x = float32[1,1,1,3]{1, 2, 3}\n y = tf.LRN(x) { depth_radius = 1, bias = 1.0, alpha = 2.0, "
       "beta = 1.0 }",
       "",
       {1.0 / 11, 2.0 / 29, 3.0 / 27},
       ""},
      {x + "y = tf.FractionalMaxPool(x)", "", {}, "no mapping to IR"},
  });
}

TEST(TfLayers, Images) {
  const std::string x = "x = float32[1,1,4,1]{0, 1, 2, 4}\n s = int32[2]{1, 3}\n";
  const std::string boxes =
      "b = float32[3,4]{0, 0, 1, 1, 0, 0, 1, 0.5, 0, 2, 1, 3}\n s = float32[3]{0.9, 0.8, 0.7}\n"
      "m = int32[]{3}\n t = float32[]{0.4}\n l = float32[]{0.1}\n";
  Expect({
      {x + "y = tf.ResizeBilinear(x, s)", "float32[1,1,3,1]", {0, 4.0 / 3, 8.0 / 3 + 2.0 / 3}, ""},
      {x + "y = tf.ResizeBilinear(x, s) { align_corners = 1 }", "", {0, 1.5, 4}, ""},
      {x + "y = tf.ResizeNearestNeighbor(x, s)", "", {0, 1, 2}, ""},
      {x + "y = tf.ResizeNearestNeighbor(x, s) { align_corners = 1 }", "", {0, 2, 4}, ""},
      {x + "y = tf.ResizeArea(x, s)", "", {0.25, 1.5, 3.5}, ""},
      {x + "y = tf.ResizeArea(x, s) { half_pixel_centers = 1 }", "", {}, "half_pixel_centers"},
      // A pixel that is hit stays as it is.
      {x + "z = int32[2]{1, 7}\n y = tf.ResizeBicubic(x, z) { align_corners = 1 }",
       "",
       {0, 0.5 - 0.09375, 1, 1.6875 - 0.28125, 2, 3 + 0.0, 4},
       "",
       0.4},
      // Half of the second box is in the first.
      {boxes + "y = tf.NonMaxSuppressionV3(b, s, m, t, l)", "int32[2]", {0, 2}, ""},
      {boxes + "y = tf.NonMaxSuppressionV2(b, s, m, l)", "int32[2]", {0, 2}, ""},
      {boxes + "y, v = tf.NonMaxSuppressionV4(b, s, m, t, l) { pad_to_max_output_size = 1 }",
       "int32[3]",
       {0, 2, 0},
       ""},
      {boxes + "g = float32[]{0.5}\n i, y, v = tf.NonMaxSuppressionV5(b, s, m, t, l, g)",
       "float32[3]",
       {0.9, 0.7, 0.8 * std::exp(-0.25)},
       ""},
      {boxes + "g = float32[]{0.5}\n n = float32[]{0.65}\n"
               "i, s5, y = tf.NonMaxSuppressionV5(b, s, m, t, n, g)",
       "int32[]",
       {2},
       ""},
      // An overlap of 0.4 is not over a threshold that is rounded to 0.4 as well.
      {"b = float16[2,4]{0, 0, 1, 1, 0, 0, 1, 0.4}\n s = float16[2]{0.9, 0.8}\n m = int32[]{2}\n"
       "t = float16[]{0.4}\n l = float16[]{0.1}\n y = tf.NonMaxSuppressionV3(b, s, m, t, l)",
       "int32[2]",
       {0, 1},
       ""},
      {boxes + "o = float32[3,3]{1, 0.5, 0, 0.5, 1, 0.3, 0, 0.3, 1}\n"
               "y = tf.NonMaxSuppressionWithOverlaps(o, s, m, t, l)",
       "int32[2]",
       {0, 2},
       ""},
      {"x = float32[1,2,2,1]{1, 2, 3, 4}\n b = float32[1,4]{0, 0, 1, 2}\n i = int32[1]{0}\n"
       "c = int32[2]{2, 3}\n y = tf.CropAndResize(x, b, i, c) { extrapolation_value = 9.0 }",
       "float32[1,2,3,1]",
       {1, 2, 9, 3, 4, 9},
       ""},
      {"x = float32[1,2,2,1]{1, 2, 3, 4}\n b = float32[1,4]{0, 0, 1, 1}\n i = int32[1]{0}\n"
       "c = int32[2]{1, 1}\n y = tf.CropAndResize(x, b, i, c)",
       "",
       {2.5},
       ""},
      {"x = float32[1,2,2,1]{1, 2, 3, 4}\n b = float32[1,4]{0, 0, 1, 1}\n i = int32[1]{0}\n"
       "c = int32[2]{1, 1}\n y = tf.CropAndResize(x, b, i, c) { method = \"nearest\" }",
       "",
       {4},
       ""},
      {"x = float32[2,3]{0.5, 0.25, 0.25, 0, 0, 0}\n y = tf.RGBToHSV(x)",
       "",
       {0, 0.5, 0.5, 0, 0, 0},
       ""},
      {"x = float64[1,3]{0.5, 1, 0.5}\n y = tf.HSVToRGB(x)", "float64[1,3]", {0, 0.5, 0.5}, ""},
      {"x = float32[1,1,3]{1, 0.5, 0}\n d = float32[]{0.5}\n y = tf.AdjustHue(x, d)",
       "",
       {0, 0.5, 1},
       ""},
      {"x = float32[1,1,3]{1, 0.5, 0.5}\n d = float32[]{5}\n y = tf.AdjustSaturation(x, d)",
       "",
       {1, 0, 0},
       ""},
      {"x = float32[1,2,1]{1, 3}\n d = float32[]{2}\n y = tf.AdjustContrastv2(x, d)",
       "",
       {0, 4},
       ""},
  });
}

TEST(TfLayers, Losses) {
  const std::string x = "x = float32[2,2]{0, 0, 0, 100}\n";
  const double log2 = std::log(2);
  Expect({
      {x + "l = float32[2,2]{1, 1, 0, 1}\n y, g = tf.SoftmaxCrossEntropyWithLogits(x, l)",
       "float32[2]",
       {2 * log2, 0},
       ""},
      {x + "l = float32[1,2]{1, 0}\n g, y = tf.SoftmaxCrossEntropyWithLogits(x, l)",
       "float32[2,2]",
       {-0.5, 0.5, -1, 1},
       ""},
      {x + "l = int32[2]{1, 0}\n y, g = tf.SparseSoftmaxCrossEntropyWithLogits(x, l)",
       "float32[2]",
       {log2, 100},
       ""},
      {x + "l = int64[2]{1, 0}\n g, y = tf.SparseSoftmaxCrossEntropyWithLogits(x, l)",
       "float32[2,2]",
       {0.5, -0.5, -1, 1},
       ""},
  });
}

// Steps of 1/255 of [-0.501, 0.499] become such that zero is one of them.
TEST(TfLayers, FakeQuantized) {
  const std::string x = "x = float32[4]{-1, 0, 0.1, 1}\n";
  const double step = 1.0 / 255, zero = 128;
  Expect({
      {x + "y = tf.FakeQuantWithMinMaxArgs(x) { min = -0.501, max = 0.499 }",
       "float32[4]",
       {-zero * step, 0, std::round(0.1 / step) * step, (255 - zero) * step},
       ""},
      {x + "a = float32[]{0}\n y = tf.FakeQuantWithMinMaxVars(x, a, a)", "", {0, 0, 0, 0}, ""},
      {x + "a = float32[4]{-1, -1, -1, -3}\n b = float32[4]{1, 1, 1, 3}\n"
           "y = tf.FakeQuantWithMinMaxVarsPerChannel(x, a, b) { num_bits = 2, narrow_range = 1 }",
       "",
       {-1, 0, 0, 0},
       ""},
      {"x = float32[4]{-2, 0, 0.3, 1}\n a = float32[]{0}\n"
       "y = tf.QuantizeAndDequantizeV2(x, a, a) { num_bits = 3 }",
       "float32[4]",
       {-2, 0, 0.5, 1},
       ""},
      {"x = float32[4]{-2, 0, 0.25, 5}\n a = float32[]{-1}\n b = float32[]{1.5}\n n = int32[]{3}\n"
       "y = tf.QuantizeAndDequantizeV3(x, a, b, n) { range_given = 1 }",
       "float32[4]",
       {-2, 0, 0, 1.5},
       ""},
      {"x = float32[2,2]{-2, 0.25, 1, 1.5}\n a = float32[2]{-2, -1}\n b = float32[2]{1, 1.5}\n"
       "y = tf.QuantizeAndDequantizeV4(x, a, b) { range_given = 1, num_bits = 3, axis = 1, "
       "round_mode = \"HALF_UP\" }",
       "float32[2,2]",
       {-2, 0.5, 1, 1.5},
       ""},
      {"x = float32[3]{0, 0.5, 3}\n a = float32[]{0}\n"
       "y = tf.QuantizeAndDequantizeV2(x, a, a) { num_bits = 1, signed_input = 0 }",
       "float32[3]",
       {0, 0, 3},
       ""},
      {x + "y = tf.FakeQuantWithMinMaxArgs(x) { num_bits = 17 }", "", {}, "num_bits = 17"},
  });
}

TEST(TfLayers, SpecialFunctions) {
  const std::string x = "x = float64[9]{0.5, 1, 1.5, 2, 30.25, 1e10, -0.5, -7.75, -3}\n";
  const double pi = 3.14159265358979323846, gamma = 0.57721566490153286;
  const double apery = 1.2020569031595942854;
  std::vector<double> lgamma;
  for (const double v : {0.5, 1.0, 1.5, 2.0, 30.25, 1e10, -0.5, -7.75}) {
    lgamma.push_back(std::lgamma(v));
  }
  lgamma.push_back(kInf);
  const auto pair = [](const char* op, const char* a, const char* b) {
    return StrCat("a = float64[]{", a, "}\n b = float64[]{", b, "}\n y = tf.", op, "(a, b)");
  };
  const auto beta = [](const char* a, const char* b, const char* v) {
    return StrCat("a = float64[]{", a, "}\n b = float64[]{", b, "}\n v = float64[]{", v,
                  "}\n y = tf.Betainc(a, b, v)");
  };
  std::vector<Row> rows = {
      {x + "y = tf.Lgamma(x)", "float64[9]", lgamma, ""},
      {"x = float32[3]{inf, -inf, nan}\n y = tf.Lgamma(x)", "float32[3]", {kInf, kInf, kNaN}, ""},
      {"x = float64[7]{1, 0.5, 10, 0.25, 0.75, -2, -0.5}\n y = tf.Digamma(x)",
       "float64[7]",
       {-gamma, -gamma - 2 * std::log(2), 2.2517525890667211, -gamma - pi / 2 - 3 * std::log(2),
        -gamma + pi / 2 - 3 * std::log(2), kNaN, 2 - gamma - 2 * std::log(2)},
       ""},
      {pair("Zeta", "2", "1"), "", {pi * pi / 6}, ""},
      {pair("Zeta", "3", "0.5"), "", {7 * apery}, ""},
      {pair("Zeta", "2", "-0.5"), "", {4 + pi * pi / 2}, ""},
      {pair("Zeta", "1", "2"), "", {kInf}, ""},
      {pair("Zeta", "0.5", "2"), "", {kNaN}, ""},
      {pair("Zeta", "2", "-3"), "", {kInf}, ""},
      {pair("Zeta", "2.5", "-3.5"), "", {kNaN}, ""},
      {pair("Polygamma", "0", "1"), "", {-gamma}, ""},
      {pair("Polygamma", "1", "1"), "", {pi * pi / 6}, ""},
      {pair("Polygamma", "2", "0.5"), "", {-14 * apery}, ""},
      {pair("Polygamma", "1.5", "2"), "", {kNaN}, ""},
      {pair("Igamma", "1", "2"), "", {1 - std::exp(-2)}, ""},
      {pair("Igamma", "0.5", "0.1"), "", {std::erf(std::sqrt(0.1))}, ""},
      {pair("Igammac", "0.5", "9"), "", {std::erfc(3)}, "", 1e-15},
      {pair("Igammac", "2", "0.5"), "", {1.5 * std::exp(-0.5)}, ""},
      {pair("Igamma", "1000", "1000"), "", {0.50420522}, "", 1e-7},
      {pair("Igamma", "2", "0"), "", {0}, ""},
      {pair("Igammac", "2", "inf"), "", {0}, ""},
      {pair("Igamma", "2", "-1"), "", {kNaN}, ""},
      {pair("Igamma", "0", "1"), "", {kNaN}, ""},
      {beta("1", "3", "0.25"), "", {1 - std::pow(0.75, 3)}, ""},
      {beta("4", "1", "0.9"), "", {std::pow(0.9, 4)}, ""},
      {beta("0.5", "0.5", "0.5"), "", {0.5}, ""},
      {beta("2", "3", "0.4"), "", {0.5248}, ""},
      {beta("2", "3", "0"), "", {0}, ""},
      {beta("2", "3", "1"), "", {1}, ""},
      {beta("2", "3", "1.5"), "", {kNaN}, ""},
      {beta("0", "3", "0.5"), "", {kNaN}, ""},
  };
  // There and back again.
  for (const double v : {-4.0, -1.0, -0.25, 1e-9, 0.5, 2.0}) {
    char number[64];
    std::snprintf(number, sizeof(number), "%.17g", std::erf(v));
    rows.push_back({StrCat("x = float64[]{", number, "}\n y = tf.Erfinv(x)"), "", {v}, ""});
    if (v < -1) rows.back().tolerance = 1e-8;  // erf is flat there
    std::snprintf(number, sizeof(number), "%.17g", 0.5 * std::erfc(-v / std::sqrt(2)));
    rows.push_back({StrCat("x = float64[]{", number, "}\n y = tf.Ndtri(x)"), "", {v}, ""});
  }
  rows.push_back({"x = float64[5]{0, 1, 1.5, 6.2209605742717841e-16, 0.5}\n y = tf.Ndtri(x)",
                  "float64[5]",
                  {-kInf, kInf, kNaN, -8, 0},
                  ""});
  rows.push_back({"x = float32[2]{1, -1.5}\n y = tf.Erfinv(x)", "float32[2]", {kInf, kNaN}, ""});
  for (Row& row : rows) {
    if (row.tolerance == 1e-6) row.tolerance = 1e-12;
  }
  Expect(rows);
}

// Sizes of the result that only a run knows give what the same sizes give as constants.
TEST(TfLayers, TransposedConvolutionsOfComputedSizes) {
  const std::string kernel = "k = float32[3,2,1,2]{1, 2, 3, -4, 5, 6, -7, 8, 9, 1, -2, 3}\n ";
  struct SizesRow {
    std::vector<int32_t> sizes;  // of a result that becomes [1,4,3,2]
    std::string attrs;
    std::string_view error = "";
  };
  const SizesRow rows[] = {
      {{1, 6, 4, 1}, "strides = [1, 1, 1, 1], padding = \"VALID\""},
      {{1, 10, 7, 1}, "strides = [1, 2, 2, 1], padding = \"VALID\""},
      {{10, 6}, "strides = [1, 2, 2, 1], padding = \"VALID\""},
      {{1, 4, 3, 1}, "strides = [1, 1, 1, 1], padding = \"SAME\""},
      {{1, 7, 6, 1},
       "strides = [1, 2, 3, 1], padding = \"EXPLICIT\", explicit_paddings = [0, 0, 1, 2, 2, 0, 0, "
       "0]"},
      {{1, 8, 6, 1}, "strides = [1, 2, 2, 1], padding = \"SAME\"", "are not known"},
      {{1, 8, 6, 1}, "strides = [1, 0, 2, 1], padding = \"VALID\"", "stride"},
      {{1, 8, 6}, "strides = [1, 2, 2, 1], padding = \"VALID\"", "3 sizes of the result"},
  };
  for (const SizesRow& row : rows) {
    const auto count = static_cast<int64_t>(row.sizes.size());
    const Tensor sizes = Tensor::Of<int32_t>({count}, row.sizes);
    const std::string s = StrCat("int32[", count, "]");
    SCOPED_TRACE(StrCat(TensorText(sizes), " ", row.attrs));
    const auto run = [&](std::string_view inputs, std::string_view lines,
                         std::vector<Datum> values) -> absl::StatusOr<Datum> {
      X2IR_ASSIGN_OR_RETURN(
          Model model,
          ModelFromText(StrCat("graph g(", inputs, ") -> (y) {\n ", kernel, lines,
                               "y = tf.Conv2DBackpropInput(s, k, x) { ", row.attrs, " } }"),
                        "tf", 1));
      X2IR_RETURN_IF_ERROR(ToIr(model));
      X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> y, RunGraph(*model.graph, std::move(values)));
      return y[0];
    };
    Tensor x = Tensor::Zeros(DType::kFloat32, {1, 4, 3, 2});
    for (size_t i = 0; i < 24; ++i) x.mutable_span<float>()[i] = static_cast<float>(i * 7 % 11) - 5;
    const auto got = run(StrCat("s: ", s, ", x: float32[?,?,?,2]"), "", {sizes, x});
    if (!row.error.empty()) {
      EXPECT_THAT(std::string(got.status().message()),
                  ::testing::HasSubstr(std::string(row.error)));
      continue;
    }
    const auto want = run("x: float32[1,4,3,2]", StrCat("s = ", TensorText(sizes), "\n "), {x});
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(want.ok()) << want.status();
    EXPECT_EQ(*got->tensor(), *want->tensor());
  }
}

}  // namespace
}  // namespace x2ir
