// Random numbers and dropout in ONNX, both ways, and what older opsets say instead.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/rows_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(RandomHandlers, BothWays) {
  const struct {
    int opset;
    std::string_view inputs, onnx, ir;
  } rows[] = {
      {7, "", "y = onnx.RandomUniform() { shape = [2, 3] }",
       "y_shape = int64[2]{2, 3}\n "
       "y = random_uniform(y_shape) { low = 0.0, high = 1.0, dtype = \"float32\" }"},
      {22, "",
       "y = onnx.RandomUniform() { dtype = 11, high = 2.0, low = -2.0, seed = 3.0, shape = [2] }",
       "y_shape = int64[1]{2}\n y = random_uniform(y_shape) "
       "{ low = -2.0, high = 2.0, dtype = \"float64\", seed = 3.0 }"},
      {7, "", "y = onnx.RandomNormal() { mean = 1.0, scale = 0.5, shape = [2] }",
       "y_shape = int64[1]{2}\n "
       "y = random_normal(y_shape) { mean = 1.0, scale = 0.5, dtype = \"float32\" }"},
      {7, "x: int32[n]", "y = onnx.RandomUniformLike(x) { dtype = 1 }",
       "y = random_uniform_like(x) { low = 0.0, high = 1.0, dtype = \"float32\" }"},
      {7, "x: float16[n]", "y = onnx.RandomNormalLike(x) { seed = 1.5 }",
       "y = random_normal_like(x) { mean = 0.0, scale = 1.0, seed = 1.5 }"},
      {15, "x: float32[n]", "y = onnx.Bernoulli(x) { dtype = 9, seed = 1.0 }",
       "y = bernoulli(x) { dtype = \"bool\", seed = 1.0 }"},
      {7, "x: float32[n,5]", "y = onnx.Multinomial(x) { sample_size = 2 }",
       "y = multinomial(x) { dtype = \"int32\", sample_size = 2 }"},
      {12, "x: float32[n], r: float32[], t: bool[]", "y = onnx.Dropout(x, r, t) { seed = 7 }",
       "y = dropout(x, r, t) { seed = 7 }"},
      {7, "x: float32[1,1,4,4], r: float32[n,5]",
       "y = onnx.MaxRoiPool(x, r) { pooled_shape = [2, 2], spatial_scale = 0.5 }",
       "y = max_roi_pool(x, r) { pooled_shape = [2, 2], spatial_scale = 0.5 }"},
      {20, "x: string[n]", "y = onnx.RegexFullMatch(x) { pattern = \"a+\" }",
       "y = regex_full_match(x) { pattern = \"a+\" }"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.onnx);
    const std::string header = StrCat(row.inputs, ") -> (y)");
    const std::string onnx = GraphText(header, row.onnx), ir = GraphText(header, row.ir);
    EXPECT_EQ(Body(ToIrText(onnx, row.opset)), Body(Canonical(ir)));
    EXPECT_EQ(Body(FromIrText(ir, row.opset)), Body(Canonical(onnx)));
  }
}

TEST(RandomHandlers, Export) {
  const struct {
    int opset;
    std::string_view inputs, ir, has;
  } rows[] = {
      // A computed shape: the numbers are made like a tensor of it.
      {13, "s: int64[2]",
       "y = random_normal(s) { mean = 0.0, scale = 1.0, dtype = \"float64\", seed = 2.0 }",
       "onnx.RandomNormalLike(y_constant_of_shape) { dtype = 11, seed = 2.0 }"},
      {13, "s: int64[2]", "y = random_uniform(s) { low = 0.0, high = 1.0, dtype = \"float32\" }",
       "onnx.ConstantOfShape(s)"},
      {7, "s: int64[2]", "y = random_uniform(s) { low = 0.0, high = 1.0, dtype = \"float32\" }",
       "error: FAILED_PRECONDITION"},
      {14, "x: float16[n]", "y = bernoulli(x) { dtype = \"int32\", seed = 2.0 }",
       "onnx.RandomUniformLike(y_cast) { dtype = 1, seed = 2.0 }"},
      {11, "x: float32[n]", "t = bool[]{true}\n y = dropout(x, _, t)", "training mode"},
      // Training is spelled out where no opset 14 has it.
      {13, "x: float32[n,c], s: float32[c]",
       "y = batch_normalization(x, s, s, s, s) { layout = \"channels_first\", epsilon = 1e-05, "
       "momentum = 0.9, training_mode = 1 }",
       "onnx.Reshape(s"},
      {21, "x: bfloat16[n]", "y = random_normal_like(x) { mean = 0.0, scale = 1.0 }",
       "opset 22 allows it"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(FromIrText(GraphText(StrCat(row.inputs, ") -> (y)"), row.ir), row.opset),
                HasSubstr(row.has))
        << row.ir;
  }
}

}  // namespace
}  // namespace x2ir
