// The table of kernels that ONNX Runtime does not have: every row is about an operator and types
// that there are, and is found at its opsets alone.
#include "x2ir/handlers/onnx/kernels.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/kernels.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

TEST(OnnxKernels, RowsAreOfTheSchemas) {
  std::ifstream facts(X2IR_SOURCE_DIR "/facts/onnxruntime-kernels.txt");
  const Dialect* onnx = FindDialect("onnx");
  ASSERT_NE(onnx, nullptr);
  int rows = 0;
  for (std::string line; std::getline(facts, line);) {
    if (line[0] == '#') continue;
    SCOPED_TRACE(line);
    ++rows;
    std::istringstream words(line);
    std::string op, last, type;
    int first = 0;
    size_t operand = 0;
    words >> op >> first >> last >> operand;
    const int end = last == "-" ? onnx->latest_opset : std::stoi(last);
    for (const int opset : {first, end}) {
      const OpSchema* schema = onnx->schema(Symbol(op), opset);
      ASSERT_NE(schema, nullptr);
      ASSERT_LT(operand, schema->inputs.size());
    }
    const OpSchema* schema = onnx->schema(Symbol(op), first);
    while (words >> type) {
      const auto dtype = ParseDType(type);
      ASSERT_TRUE(dtype.has_value()) << type;
      EXPECT_TRUE(schema->inputs[operand].dtypes >> static_cast<int>(*dtype) & 1) << type;
      EXPECT_TRUE(LacksOnnxRuntimeKernel(Symbol(op), first, operand, *dtype)) << type;
      EXPECT_TRUE(LacksOnnxRuntimeKernel(Symbol(op), end, operand, *dtype)) << type;
    }
  }
  EXPECT_GE(rows, 250);
}

// Passes and export are told of types that they can do something about.
TEST(OnnxKernels, WhatPassesAreTold) {
  const struct {
    const char* op;
    int opset;
    size_t operand;
    DType type;
    bool lacks, told;
  } rows[] = {
      {"Where", 16, 1, DType::kInt8, true, true},
      {"Where", 16, 1, DType::kUInt8, false, false},
      {"Where", 16, 0, DType::kBool, false, false},
      {"Unsqueeze", 21, 0, DType::kInt4, true, true},
      {"HardSwish", 17, 0, DType::kFloat64, true, true},
      {"Add", 14, 0, DType::kBFloat16, true, false},
      {"Pad", 21, 0, DType::kFloat8E5M2, true, false},
      {"Transpose", 21, 0, DType::kBFloat16, false, false},
      {"Add", 14, 0, DType::kInt8, false, false},
      {"MatMul", 13, 0, DType::kFloat16, false, false},
      {"NoSuchOp", 13, 0, DType::kInt8, false, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    const Symbol op(row.op);
    EXPECT_EQ(LacksOnnxRuntimeKernel(op, row.opset, row.operand, row.type), row.lacks);
    EXPECT_EQ(LacksKernel("onnx", op, row.opset, row.operand, row.type), row.told);
  }
}

// A model that was ONNX keeps an op that there is no kernel of; others are written by ops that
// runtimes have.
TEST(OnnxKernels, OpsOfTheModelsOwnStay) {
  for (const char* source : {"onnx", "torch", ""}) {
    SCOPED_TRACE(source);
    Model model;
    model.graph = *ParseGraph("graph g(x: float64[2]) -> (y) { y = asinh(x) }");
    model.source_dialect = source;
    model.opset_imports = {{"", 18}};
    ASSERT_TRUE(FromIr(model, "onnx").ok());
    const std::string text = ToText(*model.graph);
    EXPECT_EQ(text.find("onnx.Asinh") != text.npos, source == std::string("onnx")) << text;
  }
}

}  // namespace
}  // namespace x2ir
