// Models as files want them: unique names of nodes, and names of results that an operator always
// has.
#include "x2ir/core/completion.h"

#include <set>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Model Exported(std::string_view text, int opset) {
  auto model = ModelFromText(text, "", 0);
  EXPECT_TRUE(model.ok()) << model.status();
  ExportOptions options;
  options.opset = opset;
  const absl::Status status = FromIr(*model, "onnx", options);
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(model);
}

// Outputs of nodes that have no name, and names that two nodes have.
struct Faults {
  int unnamed = 0, twice = 0;
};
Faults FaultsOf(const Graph& root) {
  Faults faults;
  std::set<std::string> names;
  const auto visit = [&](const auto& self, const Graph& graph) -> void {
    for (const auto* node : graph.nodes()) {
      if (!node->name().empty() && !names.insert(node->name()).second) ++faults.twice;
      for (const Value* output : node->outputs()) faults.unnamed += !output;
      for (const Graph* inner : node->subgraphs()) self(self, *inner);
    }
  };
  visit(visit, root);
  return faults;
}

TEST(Completion, ResultsThatAnOperatorAlwaysHasAreNamed) {
  struct Row {
    std::string_view text;
    int opset;
  };
  const Row rows[] = {
      // Parts that nobody uses, by number and by sizes.
      {"graph g(x: float32[4]) -> (y) { _, b = split(x) { axis = 0, num_outputs = 2 } y = neg(b) }",
       13},
      {"graph g(x: float32[4]) -> (y) { _, b = split(x) { axis = 0, num_outputs = 2 } y = neg(b) }",
       18},
      {"graph g(x: float32[5]) -> (y) { s = int64[3]{1, 2, 2} "
       "_, b, _ = split(x, s) { axis = 0 } y = neg(b) }",
       11},
      // In training all statistics are there.
      {"graph g(x: float32[2,3,4], s: float32[3], b: float32[3], m: float32[3], v: float32[3]) -> "
       "(y) { y = batch_normalization(x, s, b, m, v) { layout = \"channels_first\", "
       "epsilon = 1e-05, momentum = 0.9, training_mode = 1 } }",
       15},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const Model model = Exported(row.text, row.opset);
    EXPECT_EQ(FaultsOf(*model.graph).unnamed, 0) << ToText(*model.graph);
    EXPECT_THAT(CheckAgainstSchemas(model, *FindDialect("onnx")), IsEmpty());
  }
  const Model trained = Exported(rows[3].text, 15);
  EXPECT_EQ(trained.graph->first()->num_outputs(), 3);
}

TEST(Completion, NodesHaveNamesOfTheirOwn) {
  auto model =
      ModelFromText("graph g(x: float32[4]) -> (y) { a = relu(x) b = neg(a) y = exp(b) }", "", 0);
  ASSERT_TRUE(model.ok());
  for (auto* node : model->graph->nodes()) node->set_name("layer");
  ASSERT_TRUE(FromIr(*model, "onnx").ok());
  EXPECT_EQ(FaultsOf(*model->graph).twice, 0) << ToText(*model->graph);
  EXPECT_EQ(model->graph->first()->name(), "layer");
}

TEST(Completion, TheCheckSeesWhatIsMissing) {
  auto model = ModelFromText(
      "graph g(x: float32[4]) -> (y) { _, b = onnx.Split(x) { axis = 0 } y = onnx.Neg(b) }", "onnx",
      13);
  ASSERT_TRUE(model.ok());
  for (auto* node : model->graph->nodes()) node->set_name("layer");
  const auto problems = CheckAgainstSchemas(*model, *FindDialect("onnx"));
  EXPECT_THAT(problems, Contains(HasSubstr("output 0 of 'outputs' is left out")));
  EXPECT_THAT(problems, Contains(HasSubstr("another node has the same name")));
  CompleteForFiles(*model, FindDialect("onnx"));
  EXPECT_THAT(CheckAgainstSchemas(*model, *FindDialect("onnx")), IsEmpty());
}

// The schema calls the running statistics optional; runtimes and onnx.checker want them in
// training.
TEST(Completion, TrainingWithoutStatisticsFailsTheCheck) {
  constexpr const char* kInputs =
      "graph g(x: float32[2,3], s: float32[3], b: float32[3], m: float32[3], v: float32[3]) -> (y) "
      "{";
  const auto problems = [&](const char* line) {
    auto model = ModelFromText(StrCat(kInputs, line, "}"), "onnx", 15);
    EXPECT_TRUE(model.ok()) << model.status();
    return CheckAgainstSchemas(*model, *FindDialect("onnx"));
  };
  EXPECT_THAT(problems("y = onnx.BatchNormalization(x, s, b, m, v) { training_mode = 1 }"),
              ElementsAre(HasSubstr("asks for three outputs; output 1 is left out")));
  EXPECT_THAT(problems("y, p, q = onnx.BatchNormalization(x, s, b, m, v) { training_mode = 1 }"),
              IsEmpty());
  EXPECT_THAT(problems("y = onnx.BatchNormalization(x, s, b, m, v)"), IsEmpty());
}

}  // namespace
}  // namespace x2ir
