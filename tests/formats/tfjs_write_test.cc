// Graph models of TensorFlow.js as they are written: what model.json says, the bytes of weights,
// and the files that others have beside it. tests/oracle/tfjs_cases.mjs runs models there.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tfjs/tfjs.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using WrittenJson = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string BytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TfjsWrite : public TempDirTest {
 protected:
  absl::Status Write(const std::string& text, const std::string& name, FormatOptions options = {}) {
    absl::StatusOr<Model> model = ModelFromText(text, "", 0);
    EXPECT_TRUE(model.ok()) << model.status();
    options.Set("force", OptionValue(options.Flag("force")));
    return Export(*std::move(model), Path(name), {.format = "tfjs", .format_options = options});
  }
  WrittenJson Json(const std::string& name) { return WrittenJson::parse(BytesOf(Path(name))); }
  std::set<std::string> Names(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(Path(folder))) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
};

TEST_F(TfjsWrite, AModel) {
  ASSERT_TRUE(Write(R"(graph g(x: float32[n,2], i: int64[]) -> (y, j) {
      w = float32[2,2]{1, 2, 3, -4}
      y = matmul(x, w)
      j = identity(i) })",
                    "m")
                  .ok());
  EXPECT_THAT(Names("m"), ElementsAre("group1-shard1of1.bin", "model.json"));
  const WrittenJson json = Json("m/model.json");
  EXPECT_EQ(json["format"], "graph-model");
  EXPECT_TRUE(json["convertedBy"].is_null());
  EXPECT_EQ(json["signature"], WrittenJson::parse(R"({
      "inputs": {"x": {"name": "x:0", "dtype": "DT_FLOAT",
                       "tensorShape": {"dim": [{"size": "-1"}, {"size": "2"}]}},
                 "i": {"name": "i:0", "dtype": "DT_INT64", "tensorShape": {"dim": []}}},
      "outputs": {"y": {"name": "y:0", "dtype": "DT_FLOAT",
                        "tensorShape": {"dim": [{"size": "-1"}, {"size": "2"}]}},
                  "j": {"name": "j:0", "dtype": "DT_INT64", "tensorShape": {"dim": []}}}})"));
  std::vector<std::string> ops;
  for (const WrittenJson& node : json["modelTopology"]["node"]) ops.push_back(node["op"]);
  EXPECT_THAT(ops, ::testing::UnorderedElementsAre("Placeholder", "Placeholder", "Const", "MatMul",
                                                   "Identity"));
  for (const WrittenJson& node : json["modelTopology"]["node"]) {
    if (node["op"] != "MatMul") continue;
    EXPECT_EQ(node["input"], WrittenJson::parse(R"(["x", "w"])"));
    EXPECT_EQ(node["attr"]["T"], WrittenJson::parse(R"({"type": "DT_FLOAT"})"));
  }
  EXPECT_EQ(json["weightsManifest"], WrittenJson::parse(R"([{"paths": ["group1-shard1of1.bin"],
      "weights": [{"name": "w", "shape": [2, 2], "dtype": "float32"}]}])"));
  const float numbers[] = {1, 2, 3, -4};
  EXPECT_EQ(BytesOf(Path("m/group1-shard1of1.bin")),
            std::string(reinterpret_cast<const char*>(numbers), sizeof(numbers)));
}

TEST_F(TfjsWrite, FilesBesideAFileAreCalledLikeIt) {
  const std::string text = "graph g(x: float32[2]) -> (y) { w = float32[2]{1, 2}\n y = add(x, w) }";
  ASSERT_TRUE(Write(text, "a.tfjs.json").ok());
  ASSERT_TRUE(Write(text, "b.tfjs.json").ok());
  EXPECT_THAT(Names("."), ElementsAre("a.group1-shard1of1.bin", "a.tfjs.json",
                                      "b.group1-shard1of1.bin", "b.tfjs.json"));
  ASSERT_TRUE(Write(text, "model.json").ok());
  EXPECT_TRUE(fs::exists(Path("group1-shard1of1.bin")));
}

// How each element type is stored, and that it is read back as it was.
TEST_F(TfjsWrite, ElementTypes) {
  struct Row {
    std::string type, elements, dtype;
    size_t nbytes;
  };
  const Row rows[] = {
      {"float32", "{1.5, -2}", "float32", 8}, {"float16", "{1.5, -2}", "float32", 4},
      {"int32", "{7, -8}", "int32", 8},       {"int64", "{7, -8}", "int32", 8},
      {"int8", "{127, -128}", "int32", 2},    {"uint8", "{0, 255}", "int32", 2},
      {"bool", "{true, false}", "bool", 2},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.type);
    const std::string text =
        StrCat("graph g(c: bool[2], x: ", row.type, "[2]) -> (y) { w = ", row.type, "[2]",
               row.elements, "\n y = where(c, x, w) }");
    ASSERT_TRUE(Write(text, row.type).ok());
    const WrittenJson weight = Json(row.type + "/model.json")["weightsManifest"][0]["weights"][0];
    EXPECT_EQ(weight["dtype"], row.dtype);
    EXPECT_EQ(BytesOf(Path(row.type + "/group1-shard1of1.bin")).size(), row.nbytes);
    const absl::StatusOr<Model> back = Import(Path(row.type));
    ASSERT_TRUE(back.ok()) << back.status();
    const absl::StatusOr<Model> source = ModelFromText(text, "", 0);
    ASSERT_EQ(back->graph->constants().size(), 1u);
    EXPECT_EQ(*back->graph->constants()[0]->constant(), *source->graph->constants()[0]->constant());
    EXPECT_EQ(back->graph->inputs()[1]->type(), source->graph->inputs()[1]->type());
  }
}

TEST_F(TfjsWrite, Quantized) {
  struct Row {
    std::string type, elements;
    double scale, min;
    std::vector<int> stored;
  };
  const Row rows[] = {
      // 0 is in the range and stays 0: 255 steps of 0.1.
      {"uint8", "{-5.1, 0, 20.4}", 0.1, -5.1, {0, 51, 255}},
      {"uint8", "{2, 2, 2}", 1, 2, {0, 0, 0}},
      {"uint8", "{1, 2, 256}", 1, 1, {0, 1, 255}},
      {"uint16", "{-0.5, 0, 65534.5}", 1, 0, {0, 0, 65534}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.type, row.elements));
    ASSERT_TRUE(Write(StrCat("graph g(x: float32[3]) -> (y) { w = float32[3]", row.elements,
                             "\n y = add(x, w) }"),
                      "q", {{"quantize", row.type}})
                    .ok());
    const WrittenJson weight = Json("q/model.json")["weightsManifest"][0]["weights"][0];
    EXPECT_EQ(weight["dtype"], "float32");
    const WrittenJson how = weight["quantization"];
    EXPECT_EQ(how["dtype"], row.type);
    EXPECT_NEAR(how["scale"].get<double>(), row.scale, 1e-6);
    EXPECT_NEAR(how["min"].get<double>(), row.min, 1e-6);
    const std::string bytes = BytesOf(Path("q/group1-shard1of1.bin"));
    const size_t width = row.type == "uint8" ? 1 : 2;
    ASSERT_EQ(bytes.size(), 3 * width);
    const absl::StatusOr<Model> back = Import(Path("q"));
    ASSERT_TRUE(back.ok()) << back.status();
    const Tensor& read = *back->graph->constants()[0]->constant();
    for (size_t i = 0; i < 3; ++i) {
      uint16_t stored = 0;
      std::memcpy(&stored, bytes.data() + i * width, width);
      EXPECT_EQ(stored, row.stored[i]) << i;
      EXPECT_EQ(read.span<float>()[i],
                static_cast<float>(stored * how["scale"].get<double>() + how["min"].get<double>()));
    }
  }
}

TEST_F(TfjsWrite, WhatIsNotFiniteIsNotQuantized) {
  ASSERT_TRUE(Write("graph g(x: float32[2]) -> (y) { w = float32[2]{1, -inf}\n y = add(x, w) }",
                    "q", {{"quantize", "uint8"}})
                  .ok());
  EXPECT_FALSE(Json("q/model.json")["weightsManifest"][0]["weights"][0].contains("quantization"));
  EXPECT_EQ(BytesOf(Path("q/group1-shard1of1.bin")).size(), 8u);
}

// 4 MiB each; the second weight begins in one file and ends in the next.
TEST_F(TfjsWrite, Shards) {
  absl::StatusOr<Model> model = ModelFromText(
      "graph g(x: float32[1]) -> (y, z) { y = identity(x)\n z = identity(x) }", "", 0);
  ASSERT_TRUE(model.ok());
  Tensor large = Tensor::Zeros(DType::kFloat32, {1200000});
  for (size_t i = 0; i < 1200000; ++i) large.mutable_span<float>()[i] = static_cast<float>(i % 997);
  Graph& graph = *model->graph;
  Node* const nodes[] = {graph.outputs()[0]->producer(), graph.outputs()[1]->producer()};
  for (int i = 0; i < 2; ++i) {
    nodes[i]->SetInput(0, graph.AddConstant(StrCat("w", i), large));
    nodes[i]->output(0)->set_type(large.type());
  }
  const ExportOptions plain{.format = "tfjs", .optimize = false};
  ASSERT_TRUE(Export(*std::move(model), Path("s"), plain).ok());
  EXPECT_THAT(Names("s"), ElementsAre("group1-shard1of3.bin", "group1-shard2of3.bin",
                                      "group1-shard3of3.bin", "model.json"));
  EXPECT_EQ(fs::file_size(Path("s/group1-shard1of3.bin")), 4u << 20);
  EXPECT_EQ(fs::file_size(Path("s/group1-shard3of3.bin")), 9600000u - (8u << 20));
  const absl::StatusOr<Model> back = Import(Path("s"));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->graph->outputs().size(), 2u);
  for (const Value* constant : back->graph->constants()) EXPECT_EQ(*constant->constant(), large);
  // Files of a model that was there before are gone.
  ASSERT_TRUE(
      Write("graph g(x: float32[2]) -> (y) { w = float32[2]{1, 2}\n y = add(x, w) }", "s").ok());
  EXPECT_THAT(Names("s"), ElementsAre("group1-shard1of1.bin", "model.json"));
}

TEST_F(TfjsWrite, FilesOfOthersStay) {
  const std::string text = "graph g(x: float32[2]) -> (y) { w = float32[2]{1, 2}\n y = add(x, w) }";
  Put("a.group1-shard1of1.bin", "mine");
  EXPECT_EQ(Write(text, "a.tfjs.json").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(BytesOf(Path("a.group1-shard1of1.bin")), "mine");
  EXPECT_FALSE(fs::exists(Path("a.tfjs.json")));
  Put("folder/notes.txt", "mine");
  EXPECT_EQ(Write(text, "folder").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Names("folder"), ElementsAre("notes.txt"));
  EXPECT_TRUE(Write(text, "a.tfjs.json", {{"force", true}}).ok());
  EXPECT_TRUE(Write(text, "folder", {{"force", true}}).ok());
}

TEST_F(TfjsWrite, WhatIsRefused) {
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {"graph g(x: int64[1]) -> (y) { w = int64[1]{5000000000}\n y = add(x, w) }",
       "constant 'w' has 5000000000, which no int32 is"},
      {"graph g(x: float64[1]) -> (y) { y = relu(x) }", "'x' is an input or output of float64"},
      {"graph g(x: uint32[1]) -> (y) { y = add(x, x) }", "TensorFlow.js has no uint32"},
      {"graph g(x: bfloat16[4]) -> (y) { y = identity(x) }", "TensorFlow.js has no bfloat16"},
  };
  for (const Row& row : rows) {
    const absl::Status status = Write(row.text, "m");
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
    EXPECT_FALSE(fs::exists(Path("m"))) << row.text;
  }
}

TEST_F(TfjsWrite, InputsThatNothingUsesStay) {
  ASSERT_TRUE(
      Write("graph g(a: int64[n,2], x: float32[2], b: bool[]) -> (y) { y = relu(x) }", "m").ok());
  const absl::StatusOr<Model> back = Import(Path("m"));
  ASSERT_TRUE(back.ok()) << back.status();
  std::vector<std::string> inputs;
  for (const Value* input : back->graph->inputs()) {
    inputs.push_back(StrCat(input->name(), ": ", input->type().ToString()));
  }
  EXPECT_THAT(inputs, ElementsAre("a: int64[?,2]", "x: float32[2]", "b: bool[]"));
}

// Integers that are not in the range of int32, but only bounds of a slice.
TEST_F(TfjsWrite, BoundsOfSlices) {
  ASSERT_TRUE(Write(R"(graph g(x: float32[n], s: int64[1]) -> (y) {
      e = int64[1]{9223372036854775807}
      a = int64[1]{0}
      y = slice(x, s, e, a) })",
                    "m")
                  .ok());
}

}  // namespace
}  // namespace x2ir
