// Operations of MIL on small constants, where models of Apple's tools (tests/conformance) say
// little: what they compute by Core ML's documentation.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// One step of one cell, whose sums are its biases and what its peepholes see: with a bias, the
// gates are i 1, f 0, o 2 and g 3, so that the cell is 3 and the result 6.
std::string LstmRow(const std::string& operands, const std::string& more = "") {
  return StrCat(R"(x = float32[1,1,1]{1}
 h = float32[1,2]{0, 0}
 c = float32[1,2]{2, 2}
 w = float32[4,1]{0, 0, 0, 0}
 b = float32[4]{1, 0, 2, 3}
 p = float32[3]{1, 0, 1}
 y, last, cell = coreml.lstm(x, h, c, )",
                operands, R"() { direction = "bidirectional", output_sequence = 1,
 recurrent_activation = "relu", cell_activation = "relu", activation = "relu")",
                more, " }");
}

// What a direction lacks is zeros, whatever the other one has.
TEST(CoremlRows, WeightsOfOneDirection) {
  const std::vector<ConstantRow> rows = {
      {LstmRow("w, w, _, _, w, w, _, _"), "y", "float32[1,1,2]{0, 0}"},
      {LstmRow("w, w, b, _, w, w, b, _"), "y", "float32[1,1,2]{6, 6}"},
      {LstmRow("w, w, b, _, w, w, _, _"), "y", "float32[1,1,2]{6, 0}"},
      {LstmRow("w, w, _, _, w, w, b, _"), "y", "float32[1,1,2]{0, 6}"},
      // i = 1 + 2, so that the cell is 9, and o = 2 + 9.
      {LstmRow("w, w, b, p, w, w, b, p"), "y", "float32[1,1,2]{99, 99}"},
      {LstmRow("w, w, b, p, w, w, b, _"), "y", "float32[1,1,2]{99, 6}"},
      {LstmRow("w, w, b, _, w, w, b, p"), "y", "float32[1,1,2]{6, 99}"},
      {LstmRow("w, w, b, _, w, w, _, p"), "last, cell", "float32[1,2]{6, 0}; float32[1,2]{3, 0}"},
      // A cell of 2.
      {LstmRow("w, w, b, _, w, w, _, _", ", clip = 2.0"), "y", "float32[1,1,2]{4, 0}"},
      {LstmRow("w, w, _, _, w, w, b, _", ", clip = 2.0"), "y", "float32[1,1,2]{0, 4}"},
  };
  ExpectConstantRows(rows, "coreml");
}

std::string GruRow(const std::string& operands, const std::string& more = "") {
  return StrCat(R"(x = float32[1,1,1]{1}
 h = float32[1,1]{5}
 w = float32[3,1]{0, 0, 0}
 b = float32[3]{2, 3, 0}
 y, last = coreml.gru(x, h, w, w, )",
                operands, R"() { recurrent_activation = "relu", activation = "relu")", more, " }");
}

// The candidate is its bias, or that of the state by the reset gate.
TEST(CoremlRows, BiasesOfGrus) {
  const std::vector<ConstantRow> rows = {
      {GruRow("_, _"), "last", "float32[1,1]{0}"},
      {GruRow("b, _"), "last", "float32[1,1]{3}"},
      {GruRow("_, b"), "last", "float32[1,1]{3}"},
      {GruRow("b, _", ", reset_after = 1"), "last", "float32[1,1]{6}"},
      {GruRow("_, b", ", reset_after = 1"), "last", "float32[1,1]{3}"},
      {GruRow("b, b", ", reset_after = 1"), "last", "float32[1,1]{15}"},
  };
  ExpectConstantRows(rows, "coreml");
}

// Factors are of the axes that the IR names, in its order; of others the images keep their sizes.
TEST(CoremlRows, ResizesByFactorsOfAxes) {
  struct Row {
    const char *x, *factors, *axes, *want;  // a part of what is written
  };
  const Row rows[] = {
      {"1,2,4,5", "float32[2]{3, 2}", "[2, 3]", "target_size_height = 12, target_size_width = 10"},
      {"1,2,4,5", "float32[2]{2, 3}", "[3, 2]", "target_size_height = 12, target_size_width = 10"},
      {"1,2,4,5", "float32[2]{2, 3}", "[-1, -2]",
       "target_size_height = 12, target_size_width = 10"},
      {"1,2,4,5", "float32[1]{1.5}", "[2]", "target_size_height = 6, target_size_width = 5"},
      {"1,2,4,5", "float32[4]{2, 1, 3, 1}", "[3, 0, 2, 1]",
       "target_size_height = 12, target_size_width = 10"},
      {"1,2,h,w", "float32[2]{2, 3}", "[3, 2]",
       "scale_factor_height = 3.0, scale_factor_width = 2.0"},
      {"1,2,h,w", "float32[1]{2}", "[3]", "scale_factor_height = 1.0, scale_factor_width = 2.0"},
      // No resize of MIL has such places: 1.25 * 5 is rounded, as are 1.25 * 2 channels.
      {"1,2,4,5", "float32[2]{1.25, 2}", "[3, 2]", "coreml.gather(x"},
      {"1,2,4,4", "float32[3]{1.25, 2, 2}", "[1, 3, 2]", "coreml.gather(x"},
      {"1,2,4,4", "float32[2]{2, 2}", "[1, 2]", "coreml.gather(x"},
      {"1,2,h,w", "float32[2]{2, 2}", "[1, 2]", "sizes that are not known"},
  };
  ConvertTextOptions options;
  options.dialect = "coreml";
  for (const Row& row : rows) {
    const std::string text =
        FromIrText(StrCat("graph g(x: float32[", row.x, "]) -> (y) { s = ", row.factors,
                          R"( y = resize(x, _, s) { mode = "linear", nearest_mode = "floor",
                   coordinate_transformation_mode = "half_pixel", cubic_coeff_a = -0.75,
                   antialias = 0, exclude_outside = 0, extrapolation_value = 0.0,
                   keep_aspect_ratio_policy = "stretch", axes = )",
                          row.axes, " } }"),
                   1, options);
    EXPECT_THAT(text, testing::HasSubstr(row.want)) << row.x << " " << row.factors << row.axes;
  }
}

}  // namespace
}  // namespace x2ir
