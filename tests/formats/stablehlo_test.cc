// Text of MLIR and graphs of StableHLO: forms of operations, what is refused, what is written.
#include "x2ir/formats/stablehlo/stablehlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

std::string Data(const char* name) {
  return ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/stablehlo/", name));
}

// The graph as text, or "error: ...".
std::string GraphText(const std::string& text) {
  const auto module = mlir::ParseText(text);
  if (!module.ok()) return StrCat("error: ", std::string(module.status().message()));
  const auto model = stablehlo::GraphOf(*module, {});
  if (!model.ok()) return StrCat("error: ", std::string(model.status().message()));
  std::string graphs = ToText(*model->graph);
  for (const auto& function : model->functions) graphs += ToText(*function->body);
  return graphs;
}

std::string Written(const mlir::Module& module, bool resources = false) {
  std::string bytes;
  const absl::Status s =
      mlir::WriteText(module, {.resources = resources}, Sink::To(&bytes, "x.mlir"));
  EXPECT_TRUE(s.ok()) << s;
  return bytes;
}

std::string InMain(std::string_view lines) {
  return StrCat("func.func @main(%x: tensor<2x4xf32>, %i: tensor<3xi32>) -> tensor<2x4xf32> {\n",
                lines, "\nreturn %x : tensor<2x4xf32>\n}");
}

TEST(MlirText, FormsOfOperations) {
  const std::string graph = GraphText(Data("forms.mlir"));
  for (const char* part :
       {"graph main(x: float32[2,4], n: int32[])", "sum: float32[2]", "inf = float32[]{-inf}",
        "r = float32[2]{1, 2}", "i = int32[2]{1, 2}", "w = float32[4,1]{1, 2, 3, 4}", "strides",
        "lhs_contracting_dimensions = [1]", "stablehlo.func::twice(v)",
        "graph twice(arg0: float32[2])"}) {
    EXPECT_THAT(graph, HasSubstr(part));
  }
}

// A graph that is written and read again is the same, and written to the same text.
TEST(MlirText, WrittenAndReadAgain) {
  for (const char* file : {"forms.mlir", "windows.mlir"}) {
    const auto module = mlir::ParseText(Data(file));
    ASSERT_TRUE(module.ok()) << module.status();
    for (const bool resources : {false, true}) {
      const auto model = stablehlo::GraphOf(*module, {.entry = "", .checks = true});
      ASSERT_TRUE(model.ok()) << model.status();
      const auto text = [&](const Model& of) {
        auto made = stablehlo::ModuleOf(of);
        EXPECT_TRUE(made.ok()) << made.status();
        EXPECT_TRUE(stablehlo::WithStructs(*made).ok());
        return Written(*made, resources);
      };
      const std::string written = text(*model);
      const auto parsed = mlir::ParseText(written);
      ASSERT_TRUE(parsed.ok()) << parsed.status() << written;
      const auto again = stablehlo::GraphOf(*parsed, {});
      ASSERT_TRUE(again.ok()) << again.status() << written;
      EXPECT_EQ(text(*again), written);
      EXPECT_EQ(again->graph->TotalNodes(), model->graph->TotalNodes());
    }
  }
}

TEST(MlirText, Constants) {
  const struct {
    const char *value, *want;
  } rows[] = {
      {"dense<[1, -2]> : tensor<2xi8>", "int8[2]{1, -2}"},
      {"dense<255> : tensor<1xi8>", "int8[1]{-1}"},
      {"dense<[true, false]> : tensor<2xi1>", "bool[2]{true, false}"},
      {"dense<\"0x05\"> : tensor<3xi1>", "bool[3]{true, false, true}"},
      {"dense<\"0xFF\"> : tensor<3xi1>", "bool[3]{true, true, true}"},
      {"dense<\"0x0000803F\"> : tensor<3xf32>", "float32[3]{1, 1, 1}"},
      {"dense<[1, -8]> : tensor<2xi4>", "int4[2]{1, -8}"},
      {"dense<3> : tensor<3xui2>", "uint2[3]{3, 3, 3}"},
      {"dense<(1.0, -2.5)> : tensor<complex<f32>>", "complex64[]{(1, -2.5)}"},
      {"dense<0x7FC0> : tensor<bf16>", "bfloat16[]{nan}"},
      {"dense<[1.5, 448.0]> : tensor<2xf8E4M3FN>", "float8e4m3fn[2]{1.5, 448}"},
      {"dense<18446744073709551615> : tensor<ui64>", "uint64[]{18446744073709551615}"},
      {"dense<> : tensor<0x2xf32>", "float32[0,2]{}"},
      {"dense<1.0> : tensor<1xf8E3M4>",
       "error: operation 'stablehlo.constant' of line 2: its "
       "value is dense<...> of f8E3M4"},
      {"dense<[1, 2]> : tensor<3xi32>", "do not fit its type"},
      {"dense<[[1], [2, 3]]> : tensor<2x1xi32>", "differ in length"},
      {"dense<[1, [2]]> : tensor<2xi32>", "differ in depth"},
      {"dense<256> : tensor<1xi8>", "'256' is too large for int8"},
      {"dense<-1> : tensor<1xui8>", "'-1' is too large for uint8"},
      {"dense<\"0x0\"> : tensor<1xi8>", "odd number"},
      {"dense<\"0x0g\"> : tensor<1xi8>", "not a hexadecimal digit"},
      {"dense<\"0x0000\"> : tensor<3xi8>", "a tensor of 3 elements of 1 bytes has 2 bytes"},
      {"dense<1> : tensor<?xi8>", "unknown sizes"},
      {"dense<1> : tensor<4294967296x4294967296x4294967296xi8>", "too large"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(GraphText(InMain(StrCat("%c = stablehlo.constant ", row.value,
                                        "\n%u = stablehlo.optimization_barrier %c : "
                                        "tensor<i32>"))),
                HasSubstr(row.want))
        << row.value;
  }
}

// A splat of many elements stays one.
TEST(MlirText, LargeSplats) {
  const std::string text =
      GraphText(InMain("%c = stablehlo.constant dense<0.5> : tensor<1048576x1048576xf32>"));
  EXPECT_THAT(text, HasSubstr("stablehlo.constant() { value = tensor(float32[]{0.5}) }"));
}

TEST(MlirText, WhatIsWrong) {
  const struct {
    std::string text;
    const char* want;
  } rows[] = {
      {"", "no function that others can call"},
      {"func.func @main() {", "a region does not end"},
      {InMain("%0 = stablehlo.add %x, %y : tensor<2x4xf32>"),
       "'%y' is not defined before its use in line 2, column 26"},
      {InMain("%0 = foo.bar %x : tensor<2x4xf32>"),
       "'foo.bar' in line 2, column 13 is of a dialect whose printed form"},
      {InMain("%0 = interpreter.probe %x, probe_id = \"a\" : tensor<2x4xf32>"),
       "is one of StableHLO's interpreter alone"},
      {InMain("%0:2 = stablehlo.add %x, %x : tensor<2x4xf32>"), "has 1 results, not 2"},
      {InMain("%0 = \"stablehlo.add\"(%x) : () -> tensor<2x4xf32>"), "differ in number"},
      {InMain("%0 = func.call @no(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>"),
       "function '@no' is called but not defined"},
      {InMain("%0 = \"stablehlo.if\"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>"), "graph main("},
      {"func.func @a() { return }\nfunc.func @b() { return }",
       "several functions and none is main: a, b"},
      {InMain(
           "%0 = \"a.b\"(%x) {k = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]"
           "]]]]]]]]]]]]]} : (tensor<2x4xf32>) -> tensor<2x4xf32>"),
       "too deeply"},
      {InMain("%0 = \"a.b\"(%x) : (tensor<2x4xf32>) -> !a.type"), "a value of type !a.type"},
      {InMain("%0 = stablehlo.slice %x [0:1:] : (tensor<2x4xf32>) -> tensor<1x4xf32>"),
       "expected an integer"},
      {InMain("%0 = stablehlo.constant dense_resource<no> : tensor<2xf32>"),
       "the file has no resource 'no'"},
  };
  for (const auto& row : rows) EXPECT_THAT(GraphText(row.text), HasSubstr(row.want)) << row.text;
}

TEST(MlirText, Types) {
  const struct {
    const char *type, *want;
  } rows[] = {
      {"tensor<?x3xf16>", "float16[?,3]"},
      {"tensor<4x?xi32, #stablehlo.bounds<?, 8>>", "int32[4,?]"},
      {"tensor<ui4>", "uint4[]"},
      {"tensor<2x!quant.uniform<u8<1:255>:f32, 0.5:128>>", "uint8[2]"},
      {"tuple<tensor<f32>, tuple<tensor<i1>>>", "float32[], v.1: bool[]"},
      {"tensor<2xf6E2M3FN>", "tensors of f6E2M3FN are not supported"},
      {"tensor<2xsi8>", "int8[2]"},
      {"tensor<2x3>", "error"},
      {"tensor<99999999999999999999xf32>", "not a size"},
      {"tensor<4x?xi32, #stablehlo.bounds<8>>", "bounds do not fit the rank"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(GraphText(StrCat("func.func @main(%v: ", row.type, ") { return }")),
                HasSubstr(row.want))
        << row.type;
  }
}

// Names of inputs and outputs are kept, whatever characters they have.
TEST(StablehloFormat, NamesComeBack) {
  for (const char* format : {"stablehlo", "stablehlo_bytecode"}) {
    absl::StatusOr<Model> ir = ModelFromText(
        "graph g(\"my input\": float32[2,n]) -> (\"out:0\") {\n  \"out:0\" = exp(\"my input\")\n}",
        "", 0);
    ASSERT_TRUE(ir.ok()) << ir.status();
    std::string bytes;
    const absl::Status s = Export(*std::move(ir), Sink::To(&bytes, "x.mlir"), {.format = format});
    ASSERT_TRUE(s.ok()) << s;
    const auto again = Import(Source::Bytes(bytes, {}, "x.mlir"));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->graph->inputs()[0]->name(), "my input");
    EXPECT_EQ(again->graph->outputs()[0]->name(), "out:0");
  }
}

}  // namespace
}  // namespace x2ir
