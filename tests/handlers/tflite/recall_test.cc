// Operators of TFLite that are several nodes of the IR are written back as they were, if these
// nodes are still the same.
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using Change = std::function<void(Graph& graph)>;

// What is written of a graph of TFLite, which is changed as IR.
std::string WrittenBack(const std::string& text, const Change& before = nullptr,
                        const Change& change = nullptr) {
  absl::StatusOr<Model> model = ModelFromText(text, "tflite", 1);
  if (!model.ok()) return std::string(model.status().message());
  if (before) before(*model->graph);
  if (const absl::Status s = ToIr(*model); !s.ok()) return std::string(s.message());
  if (change) change(*model->graph);
  if (const absl::Status s = FromIr(*model, "tflite"); !s.ok()) return std::string(s.message());
  std::string ops;
  for (const Node* node : model->graph->nodes()) {
    StrAppend(&ops, ops.empty() ? "" : " ", ToText(*node, {.types = false}));
  }
  return ops;
}

TEST(TfliteRecall, Operators) {
  const std::pair<std::string, std::string> rows[] = {
      {"float32[2,3]", "tflite.ATAN2(a, b)"},
      {"float32[2,3]", "tflite.FLOOR_MOD(a, b)"},
      {"float32[1,3,3,2]",
       "tflite.L2_POOL_2D(i) { padding = \"SAME\", stride_w = 2, stride_h = 2, filter_width = 3, "
       "filter_height = 3, fused_activation_function = \"RELU\" }"},
      {"float32[2,3]", "tflite.ZEROS_LIKE(a)"},
      {"float32[2,3,3]", "tflite.MATRIX_DIAG(a)"},
      {"float32[2,1]", "tflite.GATHER(a, n) { axis = 1, batch_dims = 1 }"},
      {"float32[4,2,3]",
       "tflite.UNIDIRECTIONAL_SEQUENCE_RNN(s, w, w, v, h) { time_major = 1, "
       "fused_activation_function = \"RELU6\" }"},
  };
  for (const auto& [type, call] : rows) {
    SCOPED_TRACE(call);
    EXPECT_EQ(WrittenBack("graph g(a: float32[2,3], b: float32[2,3], i: float32[1,6,6,2], "
                          "n: int32[2,1], s: float32[4,2,3]) -> (y) { "
                          "w = float32[3,3]{1, 0, 2, 0, 1, 0, 3, 0, 1} v = float32[3]{1, 2, 3} "
                          "h = float32[2,3]{0, 0, 0, 0, 0, 0} y: " +
                          type + " = " + call + " }"),
              "y = " + call);
  }
}

// Whoever changed one of the nodes gets what they say now.
TEST(TfliteRecall, ChangedNodes) {
  const std::string text =
      "graph g(a: float32[2,3], b: float32[2,3]) -> (y) { "
      "y: float32[2,3] = tflite.FLOOR_MOD(a, b) }";
  EXPECT_EQ(WrittenBack(text), "y = tflite.FLOOR_MOD(a, b)");
  int changed = 0;
  const std::string other = WrittenBack(text, nullptr, [&](Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (size_t i = 0; i < node->num_inputs(); ++i) {
        if (changed++ == 0) node->SetInput(i, graph.Find("b"));
      }
    }
  });
  EXPECT_GT(changed, 0);
  EXPECT_EQ(other.find("FLOOR_MOD(a, b)"), other.npos) << other;
}

// Notes of files from strangers: what is none is left alone, and no room is made for its weights.
TEST(TfliteRecall, ForeignNotesAreIgnored) {
  const std::string text =
      "graph g(a: float32[2,3], b: float32[2,3]) -> (y) { "
      "y: float32[2,3] = tflite.ATAN2(a, b) }";
  const std::string_view notes[] = {
      "",
      "no graph",
      "graph operator(a: float32[2,3]) -> (a) { }",
      "graph operator(a: float32[2,3], b: float32[2,3]) -> (y) { w: float32[30000,30000] "
      "y: float32 = tflite.ATAN2(a, b) }",
      "graph operator(a: float32, b: float32) -> (y) { y: float32 = tflite.POW(a, b) }",
      "graph operator(a: float32, b: float32) -> (y) { y: float32 = tflite.ATAN2(b, a) }",
      "graph operator(a: float32, c: float32) -> (y) { y: float32 = tflite.ATAN2(a, c) }"};
  for (const std::string_view note : notes) {
    const std::string ops = WrittenBack(text, nullptr, [&](Graph& graph) {
      auto& own = graph.Find("y")->annotations().GetOrMake().extra;
      ASSERT_TRUE(own.contains("tflite.operator"));
      own["tflite.operator"] = note;
    });
    EXPECT_EQ(ops.find("tflite.ATAN2(a"), ops.npos) << note;
    EXPECT_EQ(ops.find("tflite.POW"), ops.npos) << note;
  }
}

// Steps of integers, and states, come back with the operator.
TEST(TfliteRecall, Quantization) {
  const auto scaled = [](Graph& graph) {
    tflite::SetQuantization(*graph.Find("a"), {{0.5f}, {3}});
    tflite::SetQuantization(*graph.Find("b"), {{0.25f}, {-7}});
  };
  const std::string text =
      "graph g(a: int8[2,3], b: int8[2,3]) -> (y) { "
      "y: bool[2,3] = tflite.LESS(a, b) }";
  absl::StatusOr<Model> model = ModelFromText(text, "tflite", 1);
  ASSERT_TRUE(model.ok()) << model.status();
  scaled(*model->graph);
  ASSERT_TRUE(ToIr(*model).ok());
  EXPECT_FALSE(tflite::IsQuantized(*model->graph->Find("a")));
  const absl::Status written = FromIr(*model, "tflite");
  ASSERT_TRUE(written.ok()) << written;
  ASSERT_EQ(model->graph->num_nodes(), 1u);
  const auto q = tflite::QuantizationOf(*model->graph->Find("b"));
  ASSERT_TRUE(q.ok() && *q);
  EXPECT_EQ(**q, (tflite::Quantization{{0.25f}, {-7}}));
}

TEST(TfliteRecall, States) {
  absl::StatusOr<Model> model = ModelFromText(
      "graph g(x: float32[2,3]) -> (y) { w = float32[3,3]{1, 0, 2, 0, 1, 0, 3, 0, 1} "
      "v = float32[3]{1, 2, 3} h = float32[2,3]{0, 0, 0, 0, 0, 0} "
      "y: float32[2,3] = tflite.RNN(x, w, w, v, h) { fused_activation_function = \"TANH\" } }",
      "tflite", 1);
  ASSERT_TRUE(model.ok()) << model.status();
  model->graph->Find("h")->annotations().GetOrMake().extra[tflite::kVariable] = "1";
  ASSERT_TRUE(ToIr(*model).ok());
  ASSERT_TRUE(FromIr(*model, "tflite").ok());
  ASSERT_EQ(model->graph->num_nodes(), 1u);
  std::string bytes;
  ASSERT_TRUE(WriteTflite(*model, Sink::To(&bytes)).ok());
  const absl::StatusOr<Model> again = ReadTflite(Source::Bytes(bytes));
  ASSERT_TRUE(again.ok()) << again.status();
  const Node* node = again->graph->first();
  ASSERT_EQ(node->op().view(), "RNN");
  const Annotations* notes = node->input(4)->annotations().get();
  EXPECT_TRUE(notes && notes->extra.contains(tflite::kVariable));
}

}  // namespace
}  // namespace x2ir
