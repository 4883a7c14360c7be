// Operators of TensorFlow that stay as they are where TensorFlow is written again, and those that
// become ops of the IR. tests/conformance/tf_back_test.cc checks the numbers.
#include "x2ir/core/composites.h"

#include <set>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

bool HoldsOp(const Graph& graph, std::string_view op) {
  for (const Node* node : graph.nodes()) {
    if (node->op().view() == op) return true;
  }
  return false;
}

struct CompositeRow {
  std::string_view op;  // that stays, or not
  std::string_view inputs, nodes;
  bool stays = true;
};

TEST(TfComposites, Stay) {
  const CompositeRow rows[] = {
      {"AdjustContrastv2", "x: float32[2,3,3], f: float32[]",
       "y = tf.AdjustContrastv2(x, f) { T = type(float32[...]) }"},
      {"Betainc", "x: float32[2]", "y = tf.Betainc(x, x, x) { T = type(float32[...]) }"},
      {"L2Loss", "x: float32[2]", "y = tf.L2Loss(x) { T = type(float32[...]) }"},
      {"MirrorPad", "x: float32[5]",
       "p = int32[1,2]{1, 1} y = tf.MirrorPad(x, p) { mode = \"SYMMETRIC\" }"},
      // The IR has one op for it.
      {"MirrorPad", "x: float32[5]",
       "p = int32[1,2]{1, 1} y = tf.MirrorPad(x, p) { mode = \"REFLECT\" }", false},
      // With channels first, but not with channels last.
      {"AvgPool", "x: float32[1,2,4,4]",
       "y = tf.AvgPool(x) { ksize = [1, 1, 2, 2], strides = [1, 1, 2, 2], padding = \"VALID\", "
       "data_format = \"NCHW\" }"},
      {"AvgPool", "x: float32[1,4,4,2]",
       "y = tf.AvgPool(x) { ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = \"VALID\", "
       "data_format = \"NHWC\" }",
       false},
      // What follows needs the sizes that it computes.
      {"ReverseV2", "x: float32[2,n]",
       "a = int32[1]{0} s = tf.Shape(x) { out_type = type(int32[...]) } r = tf.ReverseV2(s, a) "
       "y = tf.Reshape(x, r)",
       false},
      // With batches.
      {"GatherV2", "x: float32[2,3,4], i: int32[2,5]",
       "a = int32[]{1} y = tf.GatherV2(x, i, a) { batch_dims = 1 }"},
      {"GatherV2", "x: float32[2,3,4], i: int32[2,5]",
       "a = int32[]{1} y = tf.GatherV2(x, i, a) { batch_dims = 0 }", false},
      {"FloorDiv", "x: int32[2], z: int32[2]", "y = tf.FloorDiv(x, z)"},
      {"FloorDiv", "x: float32[2], z: float32[2]", "y = tf.FloorDiv(x, z)"},
      {"RightShift", "x: int32[2], z: int32[2]", "y = tf.RightShift(x, z)"},
      {"Bitcast", "x: float32[2]", "y = tf.Bitcast(x) { type = type(int8[...]) }"},
      {"Bitcast", "x: float32[2]", "y = tf.Bitcast(x) { type = type(int32[...]) }", false},
      {"Div", "x: int8[2], z: int8[2]", "y = tf.Div(x, z)"},
      {"ScatterNd", "i: int32[2,1], u: float32[2], s: int32[1]", "y = tf.ScatterNd(i, u, s)"},
      // Of what is computed.
      {"Fill", "s: int32[3], x: float32[]", "y = tf.Fill(s, x)"},
      {"Slice", "x: float32[2,3], b: int32[2], s: int32[2]", "y = tf.Slice(x, b, s)"},
      {"Slice", "x: float32[2,3]", "b = int32[2]{0, 1} s = int32[2]{2, -1} y = tf.Slice(x, b, s)",
       false},
      {"PadV2", "x: float32[2,3], p: int32[2,2], c: float32[]", "y = tf.PadV2(x, p, c)"},
      {"PadV2", "x: float32[2,3], c: float32[]", "p = int32[2,2]{0, 1, 2, 0} y = tf.PadV2(x, p, c)",
       false},
      // Two are one sum.
      {"AddN", "x: float32[2]", "y = tf.AddN(x, x, x)"},
      {"AddN", "x: float32[2]", "y = tf.AddN(x, x)", false},
      {"Lu", "x: float32[2,2]", "y, p = tf.Lu(x) { output_idx_type = type(int64[...]) }"},
      {"Lu", "x: float32[2,2]", "y, p = tf.Lu(x) { output_idx_type = type(int32[...]) }"},
      // They have a state, or draw numbers.
      {"ScatterSub", "x: float32[2]",
       "v = float32[2]{1, 2} i = int32[2]{0, 1} y = tf.ScatterSub(v, i, x)", false},
      {"RandomGamma", "x: float32[2]", "n = int32[1]{3} y = tf.RandomGamma(n, x)", false},
  };
  for (const CompositeRow& row : rows) {
    SCOPED_TRACE(row.nodes);
    for (const std::string_view target : {"tf", "onnx", ""}) {
      const auto graph =
          ParseGraph(StrCat("graph g(", row.inputs, ") -> (y) {\n", row.nodes, "\n}"));
      ASSERT_TRUE(graph.ok()) << graph.status();
      Model model;
      model.source_dialect = "tf";
      model.SetOpset("", 1);
      model.graph = *graph;
      ImportOptions options;
      options.foreign.target = std::string(target);
      const absl::Status read = ToIr(model, options);
      const bool stays = row.stays && target == "tf";
      ASSERT_TRUE(read.ok()) << read;
      EXPECT_EQ(HoldsOp(*model.graph, row.op), stays) << ToText(*model.graph);
      if (!stays) continue;
      EXPECT_TRUE(model.graph->outputs()[0]->shape());
      const absl::Status written = FromIr(model, "tf");
      ASSERT_TRUE(written.ok()) << written;
      EXPECT_EQ(model.graph->num_nodes(), 1u) << ToText(*model.graph);
    }
  }
}

// What a model of TensorFlow has of the graph, for target "tf" or as IR alone.
absl::StatusOr<Model> ReadAsTf(std::string_view text, std::string_view target) {
  X2IR_ASSIGN_OR_RETURN(const auto graph, ParseGraph(text));
  Model model;
  model.source_dialect = "tf";
  model.SetOpset("", 1);
  model.graph = graph;
  ImportOptions options;
  options.foreign.target = std::string(target);
  X2IR_RETURN_IF_ERROR(ToIr(model, options));
  return model;
}

// Updates of variables, and elements at indices, none of which is negative in TensorFlow.
TEST(TfComposites, IndicesOfTensorFlow) {
  struct Row {
    std::string_view node;  // makes y of a, a tensor in a variable, i and u
    std::set<std::string> ops;
  };
  const Row rows[] = {
      {"tf.ScatterAdd(a, i, u)", {"ExpandDims", "TensorScatterAdd"}},
      {"tf.ScatterSub(a, i, u)", {"ExpandDims", "TensorScatterSub"}},
      {"tf.ScatterMax(a, i, u)", {"ExpandDims", "TensorScatterMax"}},
      {"tf.ScatterMin(a, i, u)", {"ExpandDims", "TensorScatterMin"}},
      {"tf.ScatterSub(a, i, n)", {"Assign", "Identity", "ScatterSub", "TemporaryVariable"}},
      {"tf.ScatterMax(a, z, o)", {"Assign", "Identity", "ScatterMax", "TemporaryVariable"}},
      {"tf.ScatterMul(a, i, u)", {"Assign", "Identity", "ScatterMul", "TemporaryVariable"}},
      {"tf.ScatterDiv(a, i, u)", {"Assign", "Identity", "ScatterDiv", "TemporaryVariable"}},
      {"tf.GatherV2(a, i, z) { batch_dims = 0 }", {"GatherV2"}},
      {"tf.GatherNd(a, t)", {"GatherNd"}},
      {"tf.TensorScatterAdd(a, t, o)", {"TensorScatterAdd"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.node);
    const std::string text = StrCat(
        "graph g(w: float32[3,2], i: int32[2], u: float32[2,2], t: int32[2,2], o: float32[2]) -> "
        "(y) {\n z = int32[]{0} n = float32[]{3} v = float32[3,2]{0, 0, 0, 0, 0, 0} a = "
        "tf.Assign(v, w) y = ",
        row.node, "\n}");
    const absl::StatusOr<Model> ir = ReadAsTf(text, "");
    absl::StatusOr<Model> model = ReadAsTf(text, "tf");
    ASSERT_TRUE(ir.ok()) << ir.status();
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status written = FromIr(*model, "tf");
    ASSERT_TRUE(written.ok()) << written;
    std::set<std::string> ops;
    for (const Node* node : model->graph->nodes()) ops.insert(node->op().str());
    EXPECT_EQ(ops, row.ops) << ToText(*model->graph);
    model->source_dialect = "tf";
    const absl::Status read = ToIr(*model);
    ASSERT_TRUE(read.ok()) << read;
    for (const std::vector<int32_t>& places : {std::vector<int32_t>{2, 0}, {1, 1}}) {
      const std::vector<Datum> inputs = {
          Tensor::Of<float>({3, 2}, {1, -2, 3, 0.5f, 5, 6}), Tensor::Of<int32_t>({2}, places),
          Tensor::Of<float>({2, 2}, {2, 4, -8, 0.25f}), Tensor::Of<int32_t>({2, 2}, {2, 1, 0, 0}),
          Tensor::Of<float>({2}, {3, 7})};
      const auto got = RunGraph(*model->graph, inputs), want = RunGraph(*ir->graph, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_TRUE(want.ok()) << want.status();
      EXPECT_EQ(*(*got)[0].tensor(), *(*want)[0].tensor());
    }
  }
}

TEST(TfComposites, BecomeOpsWhereTheWholeModelChanges) {
  constexpr std::string_view kGraph =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
      "key: 'shape' value { shape { dim { size: 4 } } } } } node { name: 'y' op: 'L2Loss' input: "
      "'x' attr { key: 'T' value { type: DT_FLOAT } } } versions { producer: 1000 }";
  const TempDir dir;
  const std::string from = dir.Put("from.pbtxt", kGraph), to = dir.Path("to.pbtxt");
  struct Row {
    std::string_view what;
    ConvertOptions options;
    bool stays = false;
  };
  Row rows[] = {{"nothing", {}, true},
                {"decompose", {}},
                {"float16", {}},
                {"a size", {}},
                {"a size of the source", {}, true},
                {"a name of a size", {}}};
  rows[1].options.to.format_options.Set("decompose", true);
  rows[2].options.to.narrow_floats = DType::kFloat16;
  rows[3].options.to.shapes = {{"x", Shape({Dim(4)})}};
  rows[4].options.from.shapes = {{"x", Shape({Dim(7)})}};
  rows[5].options.from.dynamic = {{"x", 0, "n"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const absl::Status status = Convert(from, to, row.options);
    ASSERT_TRUE(status.ok()) << status;
    const absl::StatusOr<Model> read = Load(to);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(HoldsOp(*read->graph, "L2Loss"), row.stays);
  }
}

}  // namespace
}  // namespace x2ir
