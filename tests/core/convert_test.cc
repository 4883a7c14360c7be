// The front door beyond single nodes: cutting, declared outputs, sparse constants, file versions.
#include "x2ir/core/convert.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Model OnnxModel(std::string_view text, int opset = 17) {
  absl::StatusOr<Model> model = ModelFromText(text, "onnx", opset);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

TEST(Cut, AtAValueWhoseTypeTheFileDoesNotSay) {
  Model model = OnnxModel(
      "graph g(x: float32[n,3]) -> (y) {"
      "  a = onnx.Relu(x)  b = onnx.Transpose(a) { perm = [1, 0] }  y = onnx.Neg(b) }");
  ImportOptions options;
  options.inputs = {"b"};
  ASSERT_TRUE(ToIr(model, options).ok());
  EXPECT_EQ(ToText(*model.graph),
            "graph g(b: float32[3,n]) -> (y: float32[3,n]) {\n"
            "  y: float32[3,n] = neg(b)\n"
            "}\n");
}

TEST(Cut, NeedsAnElementType) {
  // What com.acme::Foo gives nobody knows.
  constexpr std::string_view kText =
      "graph g(x: float32[n,3]) -> (y) { a = onnx.com.acme::Foo(x)  y = onnx.Neg(a) }";
  ImportOptions options;
  options.inputs = {"a"};
  Model model = OnnxModel(kText);
  EXPECT_THAT(std::string(ToIr(model, options).message()),
              HasSubstr("the element type of input 'a' is not known"));
  options.dtypes = {{"a", DType::kFloat16}};
  model = OnnxModel(kText);
  ASSERT_TRUE(ToIr(model, options).ok());
  EXPECT_EQ(model.graph->outputs()[0]->dtype(), DType::kFloat16);
}

TEST(DeclaredOutputs, OfAnotherElementTypeAreErrors) {
  constexpr std::string_view kWhat = "output 'y' is declared as int64";
  Model onnx = OnnxModel("graph g(x: float32[2]) -> (y: int64[2]) { y = onnx.Relu(x) }");
  EXPECT_THAT(std::string(ToIr(onnx).message()),
              HasSubstr("'Y' is int64 and 'X' is float32; they must be of one type"));
  constexpr std::string_view kIr = "graph g(x: float32[2]) -> (y: int64[2]) { y = relu(x) }";
  EXPECT_THAT(FromIrText(kIr, 17), HasSubstr(std::string(kWhat)));
  absl::StatusOr<Model> ir = ModelFromText(kIr, "", 0);
  ASSERT_TRUE(ir.ok());
  EXPECT_THAT(std::string(ToIr(*ir).message()), HasSubstr(std::string(kWhat)));
}

TEST(DeclaredOutputs, OfAnotherShapeAreWarnings) {
  Model model = OnnxModel("graph g(x: float32[2,3]) -> (y: float32[2,4]) { y = onnx.Relu(x) }");
  Report report;
  ASSERT_TRUE(ToIr(model, {}, &report).ok());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("declared as float32[2,4]")));
  // Names of dims are the file's to choose.
  model = OnnxModel("graph g(x: float32[n,3]) -> (y: float32[batch,3]) { y = onnx.Relu(x) }");
  Report quiet;
  ASSERT_TRUE(ToIr(model, {}, &quiet).ok());
  EXPECT_THAT(quiet.warnings, IsEmpty());
  EXPECT_EQ(model.graph->outputs()[0]->type().ToString(), "float32[batch,3]");
}

TEST(Sparse, ConstantsAreDenseToWhatUsesThem) {
  Model model = OnnxModel("graph g(x: float32[2,2]) -> (y) { y = onnx.Neg(x) }");
  Graph& graph = *model.graph;
  Value* sparse = graph.AddConstant(
      "s", Tensor::Sparse({2, 2}, Tensor::Of<float>({1}, {5}), Tensor::Of<int64_t>({1}, {3})));
  EXPECT_EQ(sparse->type().ToString(), "float32[2,2]");
  Node* node = graph.AppendNode("onnx", "Add", {graph.inputs()[0], sparse});
  graph.AddOutput(graph.AddNodeOutput(node, "sum"));
  graph.AddOutput(sparse);
  ASSERT_TRUE(ToIr(model).ok());
  auto results = RunGraph(graph, {Tensor::Of<float>({2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT((*results)[1].tensor()->span<float>(), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT((*results)[2].tensor()->span<float>(), ElementsAre(0, 0, 0, 5));
}

TEST(FileVersion, IsTheModelsOwnOrTheOldestThatWillDo) {
  struct Row {
    int64_t own;
    int opset;  // 0: the model's own, which is 9
    bool function, metadata;
    int64_t want;
  };
  const Row rows[] = {
      {3, 0, false, false, 3},   // its own, however old
      {8, 0, false, false, 8},   // its own, however new
      {8, 11, false, false, 6},  // the oldest that has opset 11
      {8, 11, true, false, 8},   // functions came with 8
      {8, 11, false, true, 10},  // metadata of nodes with 10
      {8, 21, false, true, 10}, {8, 24, true, true, 12},
  };
  for (const Row& row : rows) {
    Model model = OnnxModel("graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }", 9);
    model.ir_version = row.own;
    ASSERT_TRUE(ToIr(model).ok());
    if (row.function) {
      model.functions.push_back(std::make_shared<Function>());
      model.functions.back()->body = std::make_shared<Graph>();
    }
    if (row.metadata) {
      model.graph->first()->annotations().GetOrMake().metadata = {{"key", "value"}};
    }
    ExportOptions options;
    if (row.opset != 0) options.opset = row.opset;
    ASSERT_TRUE(FromIr(model, "onnx", options).ok());
    EXPECT_EQ(model.ir_version, row.want) << row.own << " at " << row.opset;
  }
}

}  // namespace
}  // namespace x2ir
