// Nearest elements, written for TFLite and TensorFlow: their kernels find them by the quotient of
// the sizes in float32, which is not always where IR finds them. What is written gives the same.
#include <numeric>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct NearestRow {
  std::string_view mode, rounding;
  int64_t in, out;
};

constexpr NearestRow kNearestRows[] = {
    {"asymmetric", "floor", 4, 12},
    {"asymmetric", "floor", 6, 4},
    {"half_pixel", "round_prefer_ceil", 4, 8},
    {"align_corners", "round_prefer_ceil", 3, 9},
    // 41 times the nearest number to 1/41 is less than 1, and so on.
    {"asymmetric", "floor", 2, 82},
    {"half_pixel", "round_prefer_ceil", 2, 41},
    {"align_corners", "round_prefer_ceil", 2, 83},
    {"align_corners", "round_prefer_ceil", 167, 501},
};

Tensor CountedImage(int64_t rows) {
  Tensor image = Tensor::Zeros(DType::kFloat32, {1, 1, rows, 2});
  const auto elements = image.mutable_span<float>();
  std::iota(elements.begin(), elements.end(), 0.0f);
  return image;
}

TEST(NearestWritten, OfKnownSizes) {
  for (const NearestRow& row : kNearestRows) {
    SCOPED_TRACE(StrCat(row.mode, " ", row.in, " to ", row.out));
    auto model = ModelFromText(
        StrCat("graph g(x: float32[1,1,", row.in, ",2]) -> (y) { sizes = int64[4]{1, 1, ", row.out,
               ", 2}\ny = onnx.Resize(x, _, _, sizes) { mode = \"nearest\", nearest_mode = \"",
               row.rounding, "\", coordinate_transformation_mode = \"", row.mode, "\" } }"),
        "onnx", 19);
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status read = ToIr(*model);
    ASSERT_TRUE(read.ok()) << read;
    for (const char* dialect : {"tflite", "tf"}) {
      EXPECT_EQ(ThereAndBack(*model, dialect, {{CountedImage(row.in)}}).problem, "") << dialect;
    }
  }
}

// By whole factors of sizes that are not known: with and without a size that rounding reaches.
TEST(NearestWritten, OfUnknownSizes) {
  for (const NearestRow& row : kNearestRows) {
    if (row.out % row.in != 0) continue;
    SCOPED_TRACE(StrCat(row.mode, " ", row.in, " to ", row.out));
    auto model = ModelFromText(
        StrCat("graph g(x: float32[1,1,n,2]) -> (y) { scales = float32[4]{1, 1, ", row.out / row.in,
               ", 1}\ny = onnx.Resize(x, _, scales) { mode = \"nearest\", nearest_mode = \"",
               row.rounding, "\", coordinate_transformation_mode = \"", row.mode, "\" } }"),
        "onnx", 19);
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status read = ToIr(*model);
    ASSERT_TRUE(read.ok()) << read;
    const std::vector<std::vector<Tensor>> inputs = {{CountedImage(row.in)}, {CountedImage(5)}};
    const std::string problem = ThereAndBack(*model, "tflite", inputs).problem;
    // Where corners are, no sizes rule out that rounding reaches another element.
    if (row.mode == "align_corners") {
      EXPECT_NE(problem.find("nearest elements of align_corners"), problem.npos) << problem;
    } else {
      EXPECT_EQ(problem, "");
    }
  }
}

}  // namespace
}  // namespace x2ir
