// Quantized programs of StableHLO: what their integers become.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

absl::StatusOr<std::string> ResultsOf(std::string_view program) {
  X2IR_ASSIGN_OR_RETURN(const Model model,
                        Import(Source::Bytes(std::string(program), {}, "x.mlir")));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(*model.graph, {}));
  std::string text;
  for (const Datum& result : results) {
    StrAppend(&text, text.empty() ? "" : "; ", TensorText(*result.tensor()));
  }
  return text;
}

// A function without arguments with these lines, which gives %y as that type.
std::string Program(std::string_view lines, std::string_view type) {
  return StrCat("func.func @main() -> ", type, " {\n", lines, "\n  return %y : ", type, "\n}\n");
}

TEST(StablehloQuantized, Programs) {
  const std::string q = "!quant.uniform<i8:f32, 0.5:-10>", other = "!quant.uniform<i8:f32, 2.0>";
  const auto tensor = [](std::string_view dims, std::string_view element) {
    return StrCat("tensor<", dims, "x", element, ">");
  };
  const std::string t4 = tensor("4", q), f4 = "tensor<4xf32>";
  const std::string x =
      StrCat("  %f = stablehlo.constant dense<[1.0, -2.25, 100.0, -100.0]> : ", f4,
             "\n  %x = stablehlo.uniform_quantize %f : (", f4, ") -> ", t4, "\n");
  const struct {
    std::string lines, type, want;
  } rows[] = {
      {x + StrCat("  %y = stablehlo.bitcast_convert %x : (", t4, ") -> tensor<4xi8>"),
       "tensor<4xi8>", "int8[4]{-8, -14, 127, -128}"},
      {x + StrCat("  %y = stablehlo.uniform_dequantize %x : (", t4, ") -> ", f4), f4,
       "float32[4]{1, -2, 68.5, -59}"},
      // Another scale.
      {x + StrCat("  %z = stablehlo.uniform_quantize %x : (", t4, ") -> ", tensor("4", other),
                  "\n  %y = stablehlo.bitcast_convert %z : (", tensor("4", other),
                  ") -> tensor<4xi8>"),
       "tensor<4xi8>", "int8[4]{0, -1, 34, -30}"},
      // Integers of one kind are moved as they are; others are numbers in between.
      {x + StrCat("  %z = stablehlo.reverse %x, dims = [0] : ", t4,
                  "\n  %y = stablehlo.bitcast_convert %z : (", t4, ") -> tensor<4xi8>"),
       "tensor<4xi8>", "int8[4]{-128, 127, -14, -8}"},
      {x + StrCat("  %z = \"stablehlo.add\"(%x, %x) : (", t4, ", ", t4, ") -> ", t4,
                  "\n  %y = stablehlo.bitcast_convert %z : (", t4, ") -> tensor<4xi8>"),
       "tensor<4xi8>", "int8[4]{-6, -18, 127, -128}"},
      {x + StrCat("  %y = stablehlo.compare GT, %x, %x, FLOAT : (", t4, ", ", t4,
                  ") -> tensor<4xi1>"),
       "tensor<4xi1>", "bool[4]{false, false, false, false}"},
      // The least and greatest integers may be less than those of the type.
      {StrCat("  %f = stablehlo.constant dense<[100.0, -100.0]> : tensor<2xf32>\n"
              "  %x = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> "
              "tensor<2x!quant.uniform<i8<-7:7>:f32, 1.0>>\n"
              "  %y = stablehlo.bitcast_convert %x : (tensor<2x!quant.uniform<i8<-7:7>:f32, "
              "1.0>>) -> tensor<2xi8>"),
       "tensor<2xi8>", "int8[2]{7, -7}"},
      // Weights with a scale for each output, and floats.
      {"  %f = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>\n"
       "  %g = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>\n"
       "  %w = stablehlo.uniform_quantize %g : (tensor<2x2xf32>) -> "
       "tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 4.0}>>\n"
       "  %y = stablehlo.dot_general %f, %w, contracting_dims = [1] x [0] : (tensor<1x2xf32>, "
       "tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 4.0}>>) -> tensor<1x2xf32>",
       "tensor<1x2xf32>", "float32[1,2]{7, 8}"},
      // Integers of 32 bits.
      {"  %f = stablehlo.constant dense<[1.0, 2000000.0]> : tensor<2xf32>\n"
       "  %x = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> "
       "tensor<2x!quant.uniform<i32:f32, 0.25>>\n"
       "  %y = stablehlo.bitcast_convert %x : (tensor<2x!quant.uniform<i32:f32, 0.25>>) -> "
       "tensor<2xi32>",
       "tensor<2xi32>", "int32[2]{4, 8000000}"},
      // A reduction computes with numbers.
      {x + StrCat("  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                  "  %i = stablehlo.uniform_quantize %c : (tensor<f32>) -> tensor<",
                  q,
                  ">\n"
                  "  %z = \"stablehlo.reduce\"(%x, %i) ({\n  ^bb0(%a: tensor<",
                  q, ">, %b: tensor<", q, ">):\n    %s = \"stablehlo.add\"(%a, %b) : (tensor<", q,
                  ">, tensor<", q, ">) -> tensor<", q, ">\n    \"stablehlo.return\"(%s) : (tensor<",
                  q, ">) -> ()\n  }) {dimensions = array<i64: 0>} : (", t4, ", tensor<", q,
                  ">) -> tensor<", q,
                  ">\n"
                  "  %y = stablehlo.uniform_dequantize %z : (tensor<",
                  q, ">) -> tensor<f32>"),
       "tensor<f32>", "float32[]{8.5}"},
  };
  for (const auto& row : rows) {
    const std::string program = Program(row.lines, row.type);
    const auto got = ResultsOf(program);
    EXPECT_EQ(got.ok() ? *got : got.status().ToString(), row.want) << program;
  }
}

TEST(StablehloQuantized, Mistakes) {
  EXPECT_THAT(ResultsOf(Program("  %f = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
                                "  %x = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> "
                                "tensor<2x!quant.uniform<i8:f32:3, {0.5, 4.0}>>\n"
                                "  %y = stablehlo.uniform_dequantize %x : "
                                "(tensor<2x!quant.uniform<i8:f32:3, {0.5, 4.0}>>) -> tensor<2xf32>",
                                "tensor<2xf32>"))
                  .status()
                  .ToString(),
              ::testing::HasSubstr("axis"));
}

}  // namespace
}  // namespace x2ir
