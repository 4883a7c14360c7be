// The pass `transposes` by example.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/shared_util.h"
#include "tests/optimizer/nhwc_nets_util.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect_target.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/optimizer/pass.h"
#include "x2ir/optimizer/transpose/io_layout.h"

namespace x2ir {
namespace {

struct Row {
  std::string_view inputs, lines, want;
  std::string_view outputs = "y";
};

std::string Lines(std::string_view inputs, std::string_view lines, std::string_view outputs) {
  auto model = IrFromText(inputs, lines, outputs);
  if (!model.ok()) return std::string(model.status().message());
  return Body(ToText(*model->graph, {.max_constant_elements = 64, .types = false}));
}

void ExpectRows(absl::Span<const Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(TransposesText(row.inputs, row.lines, row.outputs),
              Lines(row.inputs, row.want, row.outputs))
        << row.lines;
  }
}

TEST(Transposes, OfTransposes) {
  ExpectRows({
      // Of transposes.
      {"x: float32[2,3,4]",
       "a = transpose(x) { perm = [2, 0, 1] } b = transpose(a) { perm = [1, 2, 0] } y = relu(b)",
       "y = relu(x)"},
      {"x: float32[2,3,4]",
       "a = transpose(x) { perm = [2, 0, 1] } y = transpose(a) { perm = [2, 0, 1] }",
       "y = transpose(x) { perm = [1, 2, 0] }"},
      {"x: float32[2,3]", "a = transpose(x) y = transpose(a)", "y = identity(x)"},
      // Of a constant.
      {"x: float32[3,2]", "w = float32[2,3]{1, 2, 3, 4, 5, 6} a = transpose(w) y = add(x, a)",
       "w_transposed = float32[3,2]{1, 4, 2, 5, 3, 6} y = add(x, w_transposed)"},
      // The same one twice.
      {"x: float32[2,3]",
       "a = transpose(x) b = transpose(x) { perm = [1, 0] } y = matmul(x, a) z = matmul(x, b)",
       "a = transpose(x) y = matmul(x, a) z = matmul(x, a)", "y, z"},
      // Sizes of 1 alone change places.
      {"x: float32[n,1,1,3]", "y = transpose(x) { perm = [0, 3, 1, 2] }",
       "y_shape = int64[4]{0, 3, 1, 1} y = reshape(x, y_shape)"},
      {"x: float32[n,1,m]", "y = transpose(x) { perm = [1, 0, 2] }",
       "y_shape = int64[3]{1, -1, 0} y = reshape(x, y_shape)"},
      // Nothing says both sizes.
      {"x: float32[n,m,1]", "y = transpose(x) { perm = [2, 0, 1] }",
       "y = transpose(x) { perm = [2, 0, 1] }"},
      {"x: float32[0,1,2]", "y = transpose(x) { perm = [1, 0, 2] }",
       "y = transpose(x) { perm = [1, 0, 2] }"},
  });
}

TEST(Transposes, MoveDownAndUp) {
  ExpectRows({
      // Two become one, above or below.
      {"x: float32[2,3,4], z: float32[2,3,4]",
       "a = transpose(x) { perm = [2, 0, 1] } b = transpose(z) { perm = [2, 0, 1] } y = add(a, b)",
       "y_inner = add(x, z) y = transpose(y_inner) { perm = [2, 0, 1] }"},
      {"x: float32[2,3,4]",
       "a = relu(x) y = transpose(a) { perm = [2, 0, 1] } b = exp(a) z = transpose(b) { perm = [2, "
       "0, 1] }",
       "a = relu(x) y = transpose(a) { perm = [2, 0, 1] } z = exp(y)", "y, z"},
      // A reduction takes it up; a reshape, of what is 1.
      {"x: float32[n,3,4,5]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } i = int64[2]{1, 2} y = reduce_mean(a, i) { "
       "keepdims = 0 }",
       "y_axes = int64[2]{2, 3} y = reduce_mean(x, y_axes) { keepdims = 0 }"},
      {"x: float32[n,3,4,5]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } i = int64[2]{1, 2} b = reduce_max(a, i) s = "
       "int64[2]{-1, 3} y = reshape(b, s)",
       "b_axes = int64[2]{2, 3} b = reduce_max(x, b_axes) y_shape = int64[2]{0, 3} y = reshape(b, "
       "y_shape)"},
      // Split and concat, a constant of lower rank.
      {"x: float32[n,4,5,6]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } b, c = split(a) { num_outputs = 2, axis = 3 } k = "
       "float32[2]{1, 2} "
       "d = add(b, k) e = concat(c, d) { axis = -1 } y = transpose(e) { perm = [0, 3, 1, 2] }",
       "k_transposed = float32[2,1,1]{1, 2} b, c = split(x) { num_outputs = 2, axis = 1 } d = "
       "add(b, k_transposed) "
       "y = concat(c, d) { axis = 1 }"},
      // What is computed and of lower rank gets axes.
      {"x: float32[n,4,5,6], k: float32[4]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } b = mul(a, k) y = transpose(b) { perm = [0, 3, 1, "
       "2] }",
       "k_axes = int64[2]{1, 2} k_unsqueeze = unsqueeze(k, k_axes) y = mul(x, k_unsqueeze)"},
      // Sizes are asked for in another order.
      {"x: float32[n,4,5,6]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } s = shape(a) { start = 1, end = 3 } b = relu(a) y "
       "= transpose(b) { perm = [0, 3, 1, 2] }",
       "s = shape(x) { start = 2, end = 4 } y = relu(x)", "y, s"},
      // One goes, the other moves.
      {"x: float32[2,3,4]",
       "a = transpose(x) { perm = [2, 0, 1] } b = relu(a) y = transpose(b) { perm = [1, 2, 0] } z "
       "= exp(b)",
       "y = relu(x) b_transpose = transpose(y) { perm = [2, 0, 1] } z = exp(b_transpose)", "y, z"},
      // What takes up the next node is worth going to: a convolution its bias, a window its pad.
      {"x: float32[n,2,5,5]",
       "w: float32[3,2,1,1] k = float32[3]{1, 2, 3} c = conv(x, w) a = transpose(c) { perm = [0, "
       "2, 3, 1] } b = sub(k, a) s = int64[3]{0, -1, 3} y = reshape(b, s)",
       "w: float32[3,2,1,1] k_transposed = float32[3,1,1]{1, 2, 3} s = int64[3]{0, -1, 3} c = "
       "conv(x, w) b = sub(k_transposed, c) b_transpose = transpose(b) { perm = [0, 2, 3, 1] } y "
       "= reshape(b_transpose, s)"},
      {"x: float32[n,5,5,2]",
       "w: float32[3,2,1,1] p = int64[8]{0, 1, 2, 0, 0, 0, 0, 0} a = pad(x, p) b = transpose(a) { "
       "perm = [0, 3, 1, 2] } y = conv(b, w)",
       "w: float32[3,2,1,1] a_order = int64[8]{0, 0, 1, 2, 0, 0, 0, 0} x_transpose = transpose(x) "
       "{ perm = [0, 3, 1, 2] } a = pad(x_transpose, a_order) y = conv(a, w)"},
      // Channels are shuffled where they are.
      {"x: float32[N,4,3,3]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } s = int64[5]{-1, 3, 3, 2, 2} b = reshape(a, s) "
       "c = transpose(b) { perm = [0, 1, 2, 4, 3] } t = int64[4]{-1, 3, 3, 4} d = reshape(c, t) "
       "y = transpose(d) { perm = [0, 3, 1, 2] }",
       "b_shape = int64[5]{0, 2, 2, 3, 3} d_shape = int64[4]{0, 4, 3, 3} b = reshape(x, b_shape) "
       "c_transpose = transpose(b) { perm = [0, 2, 1, 3, 4] } y = reshape(c_transpose, d_shape)"},
  });
}

// A graph that is as good as it can be stays, node by node.
TEST(Transposes, GraphsWithTheFewestStay) {
  const Row rows[] = {
      {"x: float32[2,3,4]", "a = transpose(x) { perm = [2, 0, 1] } y = relu(a)", ""},
      {"x: float32[2,3,4]", "a = relu(x) y = transpose(a) { perm = [2, 0, 1] }", ""},
      // The other branch would need one.
      {"x: float32[2,3,4], z: float32[4,2,3]",
       "a = transpose(x) { perm = [2, 0, 1] } y = add(a, z)", ""},
      // No bias, one that others do not see, a pad that the window's own goes before.
      {"x: float32[n,2,5,5]",
       "w: float32[3,2,1,1] k: float32[5,1] c = conv(x, w) a = transpose(c) { perm = [0, 2, 3, 1] "
       "} y = add(a, k)",
       ""},
      {"x: float32[n,2,5,5]",
       "w: float32[3,2,1,1] k: float32[3] c = conv(x, w) a = transpose(c) { perm = [0, 2, 3, 1] } "
       "y = add(a, k) z = exp(a)",
       "", "y, z"},
      {"x: float32[n,5,5,2]",
       "w: float32[3,2,1,1] p = int64[8]{0, 1, 2, 0, 0, 0, 0, 0} a = pad(x, p) b = transpose(a) { "
       "perm = [0, 3, 1, 2] } y = conv(b, w) { auto_pad = \"SAME_UPPER\" }",
       ""},
      // Matrices, random numbers, what counts elements in their order.
      {"x: float32[2,3,4], z: float32[2,3,5]",
       "a = transpose(x) { perm = [0, 2, 1] } y = matmul(a, z)", ""},
      {"x: float32[4,4]", "a = transpose(x) b = bernoulli(a) y = transpose(b)", ""},
      {"x: float32[4,4]", "a = transpose(x) c = bool[3]{true, false, true} y = compress(a, c)", ""},
      {"x: float32[4,4]", "a = transpose(x) y = non_zero(a)", ""},
      {"x: float32[n,3,3,2]",
       "a = transpose(x) { perm = [0, 2, 3, 1] } y = flatten(a) { axis = 1 }", ""},
      {"x: float32[n,3,3,2]",
       "a = transpose(x) { perm = [0, 3, 1, 2] } s = float32[2]{1, 2} b = float32[2]{1, 3} "
       "c = instance_normalization(a, s, b) y = transpose(c) { perm = [0, 2, 3, 1] }",
       ""},
      // Runtimes interpolate the last axes only.
      {"x: float32[1,3,3,2]",
       "a = transpose(x) { perm = [0, 3, 1, 2] } s = float32[4]{1, 1, 2, 2} b = resize(a, _, s) { "
       "mode = \"linear\" } "
       "y = transpose(b) { perm = [0, 2, 3, 1] }",
       ""},
  };
  for (const Row& row : rows) {
    if (row.lines.find("bernoulli") == std::string_view::npos) {
      EXPECT_EQ(TransposesText(row.inputs, row.lines, row.outputs),
                Lines(row.inputs, row.lines, row.outputs));
    } else {
      auto model = IrFromText(row.inputs, row.lines, row.outputs);
      ASSERT_TRUE(model.ok());
      EXPECT_EQ(RunPasses(*model->graph, {"transposes"})->at(0).changes, 0);
    }
  }
}

// Before opset 13 softmax over another axis than the last would be lowered to transposes. (0: no
// target is known.)
TEST(Transposes, KnowTheTarget) {
  for (const auto& [opset, left] : {std::pair(11, 2), {12, 2}, {13, 0}, {20, 0}, {0, 0}}) {
    auto model = IrFromText("x: float32[2,3,4]",
                            "a = transpose(x) { perm = [0, 2, 1] } b = softmax(a) "
                            "y = transpose(b) { perm = [0, 2, 1] }",
                            "y");
    ASSERT_TRUE(model.ok());
    const DialectTarget onnx("onnx", {{"", opset}});
    const PassContext context{.target = opset == 0 ? nullptr : &onnx};
    ASSERT_TRUE(RunPasses(*model->graph, {"transposes"}, context).ok());
    EXPECT_EQ(CountOps(*model->graph, "transpose"), left) << opset;
  }
}

// What a nested graph uses keeps its order; nested graphs are looked at as well.
TEST(Transposes, NestedGraphs) {
  ExpectRows({
      {"x: float32[2,3,4], c: bool[]",
       "a = transpose(x) { perm = [2, 0, 1] } b = relu(a) y = if(c) {\nthen_branch = graph t() -> "
       "(p) { p = exp(b) },"
       "\nelse_branch = graph e() -> (q) { r = transpose(b) { perm = [1, 2, 0] } s = sqrt(r) "
       "q = transpose(s) { perm = [2, 0, 1] } } } z = transpose(b) { perm = [1, 2, 0] }",
       "z = relu(x) b_transpose = transpose(z) { perm = [2, 0, 1] } "
       "y = if(c) {\nthen_branch = graph t() -> (p: float32[4,2,3]) { p = exp(b_transpose) },\n"
       "else_branch = graph e() -> (q: float32[4,2,3]) { q = sqrt(b_transpose) } }",
       "y, z"},
  });
}

// Networks of naive exporters, with a fixed and a symbolic batch.
TEST(Transposes, NhwcNets) {
  for (const NhwcNet& net : NhwcNets()) {
    for (const char* batch : {"2", "N"}) {
      const auto before = NhwcModel(net, batch);
      auto after = NhwcModel(net, batch);
      ASSERT_TRUE(before.ok()) << before.status().message();
      EXPECT_EQ(RunTransposes(*before, *after), "") << net.name;
      EXPECT_EQ(CountOps(*after->graph, "transpose"), net.transposes)
          << net.name << " had " << CountOps(*before->graph, "transpose") << "\n"
          << ToText(*after->graph);
    }
  }
}

// At most what ONNX Runtime leaves, on real files too.
TEST(Transposes, SharedModels) {
  const std::pair<const char*, int64_t> rows[] = {
      {"nhwc_mbv2/model.13", 1},
      {"nhwc_ssd/model.13", 5},
      {"nhwc_ssd/model_dyn.13", 5},
      {"nhwc_elu_split/model.13", 2},
      {"nhwc_elu_split/model_dyn.13", 2},
      {"bert_tiny/model.17", 8},
      {"bert_tiny_dyn/model.17", 8},
      {"convnext_tiny_2stage/model.11", 0},
      {"convnext_tiny_2stage/model.17", 10},
      {"convnext_dyn/model.17", 10},
      {"distilbert_tiny/model.11", 8},
      {"gru/model.20", 2},
      {"lstm/model.20", 2},
      {"shufflenet_v2_x0_5/model.17", 16},
      {"vit_tiny/model.17", 9},
  };
  for (const auto& [name, left] : rows) {
    const std::string path = Shared(StrCat("models/", name, ".onnx"));
    if (path.empty()) GTEST_SKIP() << kNotShared;
    auto model = Import(path);
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(RunPasses(*model->graph, {"transposes", "dead_code"}).ok());
    EXPECT_TRUE(model->graph->Validate().empty()) << name;
    EXPECT_EQ(CountOps(*model->graph, "transpose"), left) << name;
  }
}

// Time grows with the graph, whatever its form.
TEST(Transposes, LargeGraphs) {
  const int kBlocks = getenv("X2IR_BLOCKS") ? atoi(getenv("X2IR_BLOCKS")) : 2000;
  std::string blocks = "c_flat = int64[2]{4, -1}\n", chain, hub, wide = "y0 = relu(x)\n";
  for (int i = 0; i < kBlocks; ++i) {
    const std::string x = i == 0 ? "x" : StrCat("y", i - 1);
    StrAppend(&blocks, "w", i, ": float32[4,4]\na", i, " = matmul(", x, ", w", i, ")\nb", i,
              " = add(a", i, ", a", i, ")\nc", i, " = relu(b", i, ")\nd", i, " = transpose(c", i,
              ")\ne", i, " = sigmoid(d", i, ")\nf", i, " = transpose(e", i, ")\ng", i,
              " = reshape(f", i, ", c_flat)\ny", i, " = mul(g", i, ", b", i, ")\n");
    // A transpose that nothing takes up beside each that something does.
    StrAppend(&chain, "a", i, " = transpose(", x, ") { perm = [0, 2, 1] }\nb", i, " = exp(a", i,
              ")\nz", i, " = transpose(b", i, ") { perm = [1, 0, 2] }\ny", i, " = relu(", x, ")\n");
    StrAppend(&hub, "a", i, " = transpose(x) { perm = [1, 0] }\nb", i, " = relu(a", i, ")\ny", i,
              " = transpose(b", i, ")\n");
    if (i > 0) {
      StrAppend(&wide, "a", i, " = transpose(y", i - 1, ")\nb", i, " = tanh(a", i, ")\nc", i,
                " = transpose(b", i, ")\ny", i, " = add(c", i, ", y", i - 1, ")\n");
    }
  }
  const std::string last = StrCat("y", kBlocks - 1);
  const std::tuple<const char*, std::string, std::string, int64_t> rows[] = {
      {"x: float32[4,4]", blocks, last, 0},
      {"x: float32[4,4,4]", chain, StrCat("z", kBlocks - 1, ", ", last), 1},
      {"x: float32[4,4]", hub, last, 0},
      {"x: float32[4,4]", wide, last, 0},
  };
  for (const auto& [inputs, lines, outputs, left] : rows) {
    const auto start = std::chrono::steady_clock::now();
    auto model = IrFromText(inputs, lines, outputs);
    const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto results = RunPasses(*model->graph, {"transposes", "dead_code"});
    ASSERT_TRUE(results.ok());
    EXPECT_TRUE(model->graph->Validate().empty());
    EXPECT_EQ(CountOps(*model->graph, "transpose"), left);
    // Reading the graph is linear; a pass that is not would take hundreds of times as long here.
    EXPECT_LT((*results)[0].seconds, 40 * reading.count());
    if (getenv("X2IR_TIMES"))
      std::cout << (*results)[0].seconds / reading.count() << " x reading\n";
  }
}

// --- The layout of inputs and outputs --------------------------------------------------------

TEST(IoLayout, ChangesTypesAndKeepsNumbers) {
  constexpr std::string_view kInputs =
      "x: float32[N,4,5,3], z: float32[N,4,2], v: float32[1,2,3,4,5]";
  constexpr std::string_view kLines =
      "a = transpose(x) { perm = [0, 3, 1, 2] } b = relu(a) p = transpose(b) { perm = [0, 2, 3, 1] "
      "} "
      "q = exp(z) r = neg(v)";
  auto model = IrFromText(kInputs, kLines, "p, q, r");
  ASSERT_TRUE(model.ok());
  Graph& graph = *model->graph;
  EXPECT_EQ(InputsAsChannelsFirst(graph, {"x", "v", "z"}), absl::OkStatus());
  EXPECT_EQ(OutputsAsChannelsFirst(graph, {"p", "r", "q"}), absl::OkStatus());
  EXPECT_TRUE(graph.Validate().empty());
  ASSERT_TRUE(RunPasses(graph, {"transposes"}).ok());
  EXPECT_EQ(CountOps(graph, "transpose"), 0);
  EXPECT_EQ(ToText(graph, {.types = false}),
            "graph g(x: float32[N,3,4,5], z: float32[N,2,4], v: float32[1,5,2,3,4]) -> "
            "(p, q, r) {\n"
            "  p = relu(x)\n  q = exp(z)\n  r = neg(v)\n}\n");
}

TEST(IoLayout, Refuses) {
  const auto inputs = [](const std::vector<std::string>& names) {
    auto model = IrFromText("x: float32[N,4,5,3], m: float32[2,2], u: float32[...]",
                            "y = relu(m) z = relu(u) w = relu(x)", "y, z, w, x, w");
    return std::pair(std::string(InputsAsChannelsFirst(*model->graph, names).message()),
                     std::string(OutputsAsChannelsFirst(*model->graph, names).message()));
  };
  EXPECT_EQ(inputs({"q"}).first,
            "option 'inputs_as_nchw': the model has no input 'q'; its inputs are: x, m, u");
  EXPECT_EQ(
      inputs({"m"}).first,
      "option 'inputs_as_nchw': input 'm' is float32[2,2]; expected a tensor of rank 3, 4 or 5");
  EXPECT_EQ(
      inputs({"u"}).first,
      "option 'inputs_as_nchw': input 'u' is float32[...]; expected a tensor of rank 3, 4 or 5");
  EXPECT_EQ(inputs({"x"}).first,
            "option 'inputs_as_nchw': input 'x' is an input and an output of the model, which "
            "would have to "
            "have one layout");
  EXPECT_EQ(
      inputs({"y"}).second,
      "option 'outputs_as_nchw': output 'y' is float32[2,2]; expected a tensor of rank 3, 4 or 5");
  EXPECT_EQ(inputs({"w"}).second,
            "option 'outputs_as_nchw': output 'w' is several outputs of the model, which would "
            "have to have "
            "one layout");
}

}  // namespace
}  // namespace x2ir
