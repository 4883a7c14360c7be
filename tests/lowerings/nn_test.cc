// Lowerings of normalizations, attention and resampling, on empty operands above all.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/lowerings/lowering_util.h"

namespace x2ir {
namespace {

TEST(Lowerings, EmptyOperandsOfNetworks) {
  const LoweringRow rows[] = {
      {{9, 13, 17, 20},
       "x: float32[n,4,3], s: float32[4]",
       "y = group_normalization(x, s, s) { num_groups = 2 }",
       {"float32[0,4,3]{}; float32[4]{1, 2, 3, 4}",
        "float32[1,4,3]{1,2,3,4,5,6,7,8,9,10,11,13}; float32[4]{1, 2, 3, 4}"}},
      {{9, 13, 17, 20},
       "x: float32[2,4,0], s: float32[4]",
       "y = group_normalization(x, s, s) { num_groups = 2 }",
       {"float32[2,4,0]{}; float32[4]{1, 2, 3, 4}"}},
      {{9, 17, 22},
       "q: float32[b,m,4], k: float32[b,2,2]",
       "y = attention(q, k, k) { q_num_heads = 4, kv_num_heads = 2 }",
       {"float32[0,1,4]{}; float32[0,2,2]{}", "float32[1,0,4]{}; float32[1,2,2]{1, 2, 3, 4}",
        "float32[1,1,4]{1, 2, 3, 4}; float32[1,2,2]{1, 2, 3, 4}"}},
      {{9, 17, 22},
       "q: float32[1,1,2], k: float32[1,0,1], p: float32[1,1,2,1]",
       "y = attention(q, k, k, _, p, p) { q_num_heads = 2, kv_num_heads = 1 }",
       {"float32[1,1,2]{1, 2}; float32[1,0,1]{}; float32[1,1,2,1]{3, 4}"}},
      {{9, 17, 22},
       "x: float32[b,1,4], c: float32[1,1,1]",
       "y = rotary_embedding(x, c, c) { num_heads = 2 }",
       {"float32[0,1,4]{}; float32[1,1,1]{0.5}",
        "float32[1,1,4]{1, 2, 3, 4}; float32[1,1,1]{0.5}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
}

// An axis that keeps its size keeps its elements, whatever the mode says of places.
TEST(Lowerings, ResizeOfKeptAxes) {
  for (const char* mode : {"linear", "nearest"}) {
    const std::string lines = std::string("y = resize(x, _, _, z) { mode = \"") + mode +
                              "\", coordinate_transformation_mode = \"tf_half_pixel_for_nn\" }";
    ExpectSameResults({{11, 13, 18},
                       "x: int32[2,2], z: int64[2]",
                       lines,
                       {"int32[2,2]{10, 20, 30, 70}; int64[2]{2, 3}",
                        "int32[2,2]{10, 20, 30, 70}; int64[2]{3, 2}"}});
  }
}

// PyTorch's former rule of coordinates is half_pixel, unless an axis of several elements becomes
// one: targets have an operator for it.
TEST(Lowerings, ResizeByPytorchHalfPixel) {
  const struct {
    const char *dialect, *op;
  } targets[] = {{"torch", "aten::upsample_bilinear2d"},
                 {"tf", "ResizeBilinear"},
                 {"tflite", "RESIZE_BILINEAR"},
                 {"coreml", "resize_bilinear"},
                 {"oneflow", "upsample_bilinear_2d"}};
  const struct {
    const char *x, *sizes;
    bool plain;
  } rows[] = {{"1,1,3,5", "7, 4", true},
              {"1,1,3,5", "1, 4", false},
              {"1,1,3,5", "2, 1", false},
              {"1,1,1,5", "1, 4", true}};
  for (const auto& target : targets) {
    for (const auto& row : rows) {
      const std::string graph =
          std::string("graph g(x: float32[") + row.x + "]) -> (y) { s = int64[2]{" + row.sizes +
          "} y = resize(x, _, _, s) { antialias = 0, axes = [2, 3], "
          "coordinate_transformation_mode = \"pytorch_half_pixel\", cubic_coeff_a = -0.75, "
          "exclude_outside = 0, extrapolation_value = 0.0, "
          "keep_aspect_ratio_policy = \"stretch\", mode = \"linear\", "
          "nearest_mode = \"round_prefer_floor\" } }";
      SCOPED_TRACE(std::string(target.dialect) + ": " + graph);
      ConvertTextOptions options;
      options.dialect = target.dialect;
      const std::string written = FromIrText(graph, 0, options);
      EXPECT_THAT(written, testing::Not(testing::HasSubstr("error: ")));
      EXPECT_EQ(written.find(target.op) != std::string::npos, row.plain) << written;
    }
  }
}

}  // namespace
}  // namespace x2ir
