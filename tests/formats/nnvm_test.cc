// Graphs of NNVM and their parameters: read, written, refused.
#include "x2ir/formats/nnvm/nnvm.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/symbol_files_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using namespace symbol_files;
using ::testing::HasSubstr;

using Nnvm = TempDirTest;

std::string Dense(const std::string& attrs) {
  return SymbolJson(
      {{"null", "x"},
       {"null", "w"},
       {"dense", "y", {{0, 0, 0}, {1, 0, 0}}, R"({"units": "2", "use_bias": "False"})"},
       {"relu", "z", {{2, 0, 0}}}},
      "[[3, 0, 0]]", attrs);
}
std::string Weights() { return TvmList({{"w", Floats({2, 2}, {1, 2, 3, -4})}}); }

std::string Lists(const std::string& bytes) {
  const auto list = nnvm::ReadParamList(Blob::InMemory(
      absl::Span<const std::byte>(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()),
      nullptr, "list"));
  if (!list.ok()) return std::string(list.status().message());
  std::string text;
  for (const auto& entry : *list) {
    StrAppend(&text, text.empty() ? "" : "; ", entry.name, " ", TensorText(entry.tensor));
  }
  return text;
}

TEST_F(Nnvm, Parameters) {
  EXPECT_EQ(Lists(TvmList({{"a", Floats({1, 2}, {1, 2})},
                           {"b", {{2}, std::string("\1\377", 2), 0, 0, 8}},
                           {"c", {{1}, std::string("\1", 1), 0, 1, 1}}})),
            "a float32[1,2]{1, 2}; b int8[2]{1, -1}; c bool[1]{true}");
  EXPECT_THAT(Lists(TvmList({{"a", {{1}, "xy", 0, 9, 16}}})), HasSubstr("type code 9"));
  EXPECT_THAT(Lists(TvmList({{"a", {{2}, "xyz", 0, 0, 8}}})), HasSubstr("array 'a'"));
  const std::string list = Weights();
  for (size_t size = 0; size < list.size(); ++size) {
    EXPECT_FALSE(Lists(list.substr(0, size)).starts_with("w ")) << size;
  }
}

TEST_F(Nnvm, IsReadByAnyOfItsNames) {
  const std::string types =
      R"({"shape": ["list_shape", [[1, 2], [2, 2], [1, 2], [1, 2]]],)"
      R"( "dltype": ["list_str", ["float32", "float32", "float32", "float32"]]})";
  const std::string graph = Put("deploy_graph.json", Dense(types));
  const std::string params = Put("deploy_param.params", Weights());
  for (const std::string& name : {graph, params, folder_.string()}) {
    ASSERT_EQ(*DetectFormat(name), "nnvm") << name;
    const auto model = Import(name);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->graph->inputs()[0]->type().ToString(), "float32[1,2]");
    const auto results = RunGraph(*model->graph, {Datum(Tensor::Of<float>({1, 2}, {1, 1}))});
    ASSERT_TRUE(results.ok());
    EXPECT_EQ(TensorText(*(*results)[0].tensor()), "float32[1,2]{3, 0}");
  }
  std::filesystem::remove(params);
  // Without its parameters the weight is an input.
  EXPECT_EQ(Load(graph)->graph->inputs().size(), 2u);
}

TEST_F(Nnvm, CompiledGraphsAreRefusedByName) {
  const std::string graph =
      Put("g.json",
          SymbolJson(
              {{"null", "x"},
               {"tvm_op", "a", {{0, 0, 0}}, R"({"func_name": "fused_nn_relu", "num_inputs": "1"})"},
               {"tvm_op", "b", {{1, 0, 0}}, R"({"func_name": "fused_add", "num_inputs": "1"})"}},
              "[[2, 0, 0]]", ""));
  const absl::Status status = Import(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(),
              HasSubstr("2 nodes 'tvm_op' call functions (fused_add, fused_nn_relu)"));
}

TEST_F(Nnvm, IsWrittenAsItWasRead) {
  const auto model = ModelFromText(
      "graph g(x: float32[1,2]) -> (s) {\n w = float32[2,2]{1, 2, 3, -4}\n b = float32[2]{1, 0}\n"
      " y = gemm(x, w, b) { alpha = 1.0, beta = 1.0, transA = 0, transB = 1 }\n z = relu(y)\n"
      " c = concat(z, x) { axis = 1 }\n s = softmax(c) { axis = -1 }\n}",
      "", 0);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::string path = Path("net.json");
  ASSERT_TRUE(Export(model->Clone(), path, {.format = "nnvm"}).ok());
  const std::string json = ReadFile(path);
  EXPECT_THAT(
      json,
      HasSubstr(R"("op": "dense", "name": "y", "attrs": {"units": "2", "use_bias": "True"})"));
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("shape": ["list_shape", [[1, 2], [2, 2], [2], [1, 2], [1, 2], [1, 4], [1, 4]]])"));
  auto again = Import(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->graph->outputs()[0]->name(), "s");
  ASSERT_TRUE(Export(*std::move(again), Path("again.json"), {.format = "nnvm"}).ok());
  EXPECT_EQ(json, ReadFile(Path("again.json")));
  EXPECT_EQ(ReadFile(Path("net.params")), ReadFile(Path("again.params")));
  // Parameters of somebody else are not replaced.
  Put("other.params", Weights());
  const absl::Status other = Export(model->Clone(), Path("other.json"), {.format = "nnvm"});
  EXPECT_EQ(other.code(), absl::StatusCode::kAlreadyExists) << other;
  EXPECT_TRUE(Export(model->Clone(), path, {.format = "nnvm"}).ok());
}

// Sizes that vary are said by the variable alone.
TEST_F(Nnvm, SizesThatVary) {
  const auto model = ModelFromText("graph g(x: int32[n,2]) -> (y) {\n y = identity(x)\n}", "", 0);
  ASSERT_TRUE(model.ok());
  const std::string path = Path("net.json");
  ASSERT_TRUE(Export(model->Clone(), path, {.format = "nnvm", .optimize = false}).ok());
  EXPECT_THAT(ReadFile(path), HasSubstr(R"j("__shape__": "(0, 2)", "__dtype__": "int32")j"));
  EXPECT_EQ(Load(path, "nnvm")->graph->inputs()[0]->type().ToString(), "int32[x_0,2]");
}

TEST_F(Nnvm, WhatCannotBeSaid) {
  const auto model = ModelFromText(
      "graph g(x: float32[1,2]) -> (y, z) {\n y = erf(x)\n z = non_zero(x)\n}", "", 0);
  ASSERT_TRUE(model.ok());
  const absl::Status status = Export(model->Clone(), Path("net.json"), {.format = "nnvm"});
  EXPECT_THAT(status.message(), HasSubstr("2 ops (2 nodes)"));
  EXPECT_FALSE(std::filesystem::exists(Path("net.json")));
}

}  // namespace
}  // namespace x2ir
