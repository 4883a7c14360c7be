// Graphs of the IR written for TensorFlow and TensorFlow.js, through their files, and read again:
// forms that are put together of other ops must compute the same as the op.
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/tf/written_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

TEST(TfWritten, ConvolutionsWithGroupsAndDilations) {
  const std::vector<Tensor> image = {Numbered({2, 7, 9, 4})};
  const std::string last = "{ layout = \"channels_last\", ";
  for (const char* x : {"x: float32[2,7,9,4]", "x: float32[n,7,9,4]", "x: float32[n,h,w,4]"}) {
    const bool known = std::string_view(x).find("h,w") == std::string_view::npos;
    // In each group: two channels; one, from which one or two come.
    for (const char* kernel :
         {"w = float32[6,2,3,2]", "w = float32[4,1,3,2]", "w = float32[8,1,3,2]"}) {
      const bool depthwise = std::string_view(kernel).find(",1,") != std::string_view::npos;
      const int count = depthwise ? (kernel[12] == '4' ? 24 : 48) : 72;
      std::string weights = StrCat(kernel, "{");
      for (int i = 0; i < count; ++i) StrAppend(&weights, i ? ", " : "", i * 5 % 7 - 3);
      weights += "}\n";
      const std::string group = depthwise ? "group = 4" : "group = 2";
      for (const char* window :
           {"", ", pads = [1, 0, 2, 3]", ", auto_pad = \"SAME_UPPER\"", ", strides = [2, 2]",
            ", strides = [2, 1], pads = [1, 1, 1, 1]", ", strides = [4, 6]",
            ", strides = [3, 2], auto_pad = \"SAME_LOWER\"", ", dilations = [2, 3]",
            ", dilations = [3, 1], pads = [2, 1, 1, 2]",
            ", dilations = [2, 2], auto_pad = \"SAME_UPPER\"",
            ", strides = [2, 2], dilations = [2, 1]"}) {
        SCOPED_TRACE(StrCat(x, " ", kernel, window));
        const bool same = std::string_view(window).find("SAME_LOWER") != std::string_view::npos;
        ExpectComesBack({x,
                         StrCat(weights, "y = conv(x, w) ", last, group, window, " }"),
                         {image},
                         same && !known ? "SAME" : ""});
      }
    }
  }
}

TEST(TfWritten, OtherConvolutions) {
  const WrittenRow rows[] = {
      // Channels first, one and three axes, a bias, a computed kernel.
      {"x: float32[n,4,l], w: float32[4,2,3], b: float32[4]",
       "y = conv(x, w, b) { group = 2, strides = [2], pads = [1, 1] }",
       {{Numbered({2, 4, 6}), Numbered({4, 2, 3}, 3), Numbered({4}, 5)}}},
      {"x: float32[n,4,l], w: float32[4,1,3]",
       "y = conv(x, w) { group = 4, strides = [2] }",
       {{Numbered({2, 4, 6}), Numbered({4, 1, 3}, 3)}}},
      {"x: float32[n,2,5,6,7], w: float32[4,1,2,2,3], b: float32[4]",
       "y = conv(x, w, b) { group = 2, dilations = [2, 1, 3], pads = [0, 1, 2, 2, 1, 0] }",
       {{Numbered({2, 2, 5, 6, 7}), Numbered({4, 1, 2, 2, 3}, 3), Numbered({4}, 5)}}},
      {"x: float32[n,4,h,w], k: float32[4,1,3,3]",
       "y = conv(x, k) { group = 4, dilations = [2, 2] }",
       {{Numbered({2, 4, 9, 8}), Numbered({4, 1, 3, 3}, 3)}},
       "dilations"},
      {"x: float32[n,4,h,w], k: float32[2,4,?,3]",
       "y = conv(x, k) { auto_pad = \"SAME_LOWER\" }",
       {},
       "SAME_LOWER of a kernel of unknown size"},
      {"x: float32[n,?,h,w], k: float32[2,?,?,3]",
       "y = conv(x, k) { auto_pad = \"SAME_UPPER\" }",
       {{Numbered({2, 4, 5, 4}), Numbered({2, 4, 2, 3}, 3)}}},
      {"x: float32[n,512,h,w], k: float32[512,2,1,1]",
       "y = conv(x, k) { group = 256 }",
       {{Numbered({1, 512, 2, 2}), Numbered({512, 2, 1, 1}, 3)}}},
      {"x: float32[n,600,h,w], k: float32[600,2,1,1]",
       "y = conv(x, k) { group = 300 }",
       {},
       "300 groups"},
  };
  for (const WrittenRow& row : rows) ExpectComesBack(row);
}

// Sizes that are known, related to the operand's, and unknown; all paddings.
TEST(TfWritten, TransposedConvolutions) {
  for (const char* layout : {"channels_first", "channels_last"}) {
    const bool last = std::string_view(layout) == "channels_last";
    const Tensor image = last ? Numbered({2, 4, 3, 4}) : Numbered({2, 4, 4, 3});
    for (const std::string sizes : {"4,3", "h,w", "?,?"}) {
      const std::string dims = last ? StrCat("n,", sizes, ",4") : StrCat("n,4,", sizes);
      for (const std::string group : {"group = 1", "group = 2"}) {
        for (const char* window :
             {"", ", strides = [2, 3]", ", strides = [2, 3], pads = [1, 0, 0, 1]",
              ", strides = [2, 3], output_padding = [1, 2]",
              ", strides = [3, 2], output_padding = [1, 1], pads = [2, 1, 0, 2]",
              ", strides = [1, 2], output_padding = [2, 3], pads = [0, 1, 1, 1]",
              ", strides = [2, 2], auto_pad = \"SAME_UPPER\"",
              ", strides = [2, 1], auto_pad = \"SAME_LOWER\"",
              ", strides = [4, 5], auto_pad = \"SAME_UPPER\"",
              ", strides = [2, 3], auto_pad = \"VALID\", output_padding = [1, 0]",
              ", strides = [2, 3], output_shape = [7, 6]",
              ", strides = [2, 3], auto_pad = \"SAME_UPPER\", output_shape = [8, 7], "
              "output_padding = [1, 1]",
              ", strides = [2, 2], output_shape = [14, 9]",
              ", dilations = [2, 2], strides = [1, 2], output_padding = [1, 1]"}) {
          SCOPED_TRACE(StrCat(layout, " ", sizes, " ", group, window));
          const bool shaped = std::string_view(window).find("shape") != std::string_view::npos;
          std::string weights;
          for (int i = 0; i < 48; ++i) StrAppend(&weights, i ? ", " : "", i * 5 % 7 - 3);
          ExpectComesBack(
              {StrCat("x: float32[", dims, "], b: float32[", group.back() == '1' ? 2 : 4, "]"),
               StrCat("w = float32[4,2,3,2]{", weights,
                      "}\ny = conv_transpose(x, w, b) { layout = \"", layout, "\", ", group, window,
                      " }"),
               {{image, Numbered({group.back() == '1' ? 2 : 4}, 3)}},
               shaped && sizes != "4,3" ? "output_shape" : ""});
        }
      }
    }
  }
  const WrittenRow rows[] = {
      {"x: float32[n,2,l], w: float32[2,3,4]",
       "y = conv_transpose(x, w) { strides = [3], pads = [1, 2], output_padding = [1] }",
       {{Numbered({2, 2, 5}), Numbered({2, 3, 4}, 3)}}},
      {"x: float32[n,2,5], w: float32[2,3,4]",
       "y = conv_transpose(x, w) { strides = [3], output_shape = [15] }",
       {{Numbered({2, 2, 5}), Numbered({2, 3, 4}, 3)}}},
      {"x: float32[n,?,l], w: float32[2,?,4]",
       "y = conv_transpose(x, w) { strides = [3] }",
       {},
       "a kernel of unknown size"},
      {"x: float32[n,2,a,b,c], w: float32[2,3,2,3,2], b: float32[3]",
       "y = conv_transpose(x, w, b) { strides = [2, 1, 3], pads = [1, 0, 0, 1, 2, 1], "
       "output_padding = [1, 0, 4] }",
       {{Numbered({1, 2, 3, 4, 2}), Numbered({2, 3, 2, 3, 2}, 3), Numbered({3}, 5)}},
       "",
       "tf"},
  };
  for (const WrittenRow& row : rows) ExpectComesBack(row);
}

TEST(TfWritten, Scatters) {
  const auto ints = [](std::vector<int64_t> dims, std::vector<int64_t> values) {
    return Tensor::Of<int64_t>(std::move(dims), values);
  };
  const std::vector<std::vector<Tensor>> sets = {
      {Numbered({3, 4}), ints({2, 3}, {0, 2, 1, -1, 0, 0}), Numbered({2, 3}, 4)},
      {Numbered({3, 4}), ints({3, 4}, {0, 2, 1, 2, 1, 0, 2, 0, 2, 1, 0, 1}), Numbered({3, 4}, 4)},
      {Numbered({3, 4}), ints({0, 3}, {}), Numbered({0, 3})}};
  for (const char* index : {"i: int64[?,?], u: float32[?,?]", "i: int64[a,b], u: float32[a,b]"}) {
    for (const char* axis : {"axis = 0", "axis = -2"}) {
      ExpectComesBack({StrCat("x: float32[3,4], ", index),
                       StrCat("y = scatter_elements(x, i, u) { ", axis, " }"),
                       {sets[1], sets[2]}});
      ExpectComesBack({StrCat("x: float32[3,4], ", index),
                       StrCat("y = scatter_elements(x, i, u) { ", axis, ", reduction = \"add\" }"),
                       sets});
    }
  }
  const WrittenRow rows[] = {
      {"x: int64[n,2], i: int64[3,1], u: int64[3,2]",
       "y = scatter_nd(x, i, u) { reduction = \"add\" }",
       {{ints({3, 2}, {1, 2, 3, 4, 5, 6}), ints({3, 1}, {2, 0, -1}),
         ints({3, 2}, {10, 20, 30, 40, 50, 60})}}},
      {"x: int8[3]",
       "i = int64[2,1]{1, 1}\n u = int8[2]{100, 100}\n"
       "y = scatter_nd(x, i, u) { reduction = \"add\" }",
       {{Tensor::Of<int8_t>({3}, {1, 2, 3})}}},
      {"x: bool[3], u: bool[1]",
       "i = int64[1,1]{1}\n y = scatter_nd(x, i, u)",
       {{Tensor::Of<bool>({3}, {true, false, true}), Tensor::Of<bool>({1}, {true})}}},
  };
  for (const WrittenRow& row : rows) ExpectComesBack(row);
}

// TensorFlow.js leaves a tensor as it is where it should be broadcast to no elements.
TEST(TfWritten, BroadcastToNothing) {
  const auto floats = [](std::vector<int64_t> dims) { return Numbered(std::move(dims)); };
  const auto bools = [](std::vector<int64_t> dims) {
    Tensor t = Tensor::Zeros(DType::kBool, std::move(dims));
    for (size_t i = 0; i < t.mutable_span<bool>().size(); i += 2) t.mutable_span<bool>()[i] = true;
    return t;
  };
  const auto ints = [](std::vector<int64_t> values) {
    return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
  };
  const struct {
    WrittenRow row;
    std::string_view only_tf;  // an op that TensorFlow.js does not get
  } rows[] = {
      {{"c: bool[n], x: float32[n]",
        "o = float32[]{1}\n y = where(c, o, x)",
        {{bools({0}), floats({0})}, {bools({3}), floats({3})}}},
       ""},
      {{"c: bool[n,1], x: float32[1,m]",
        "o = float32[1]{-inf}\n y = where(c, o, x)",
        {{bools({0, 1}), floats({1, 2})}, {bools({2, 1}), floats({1, 3})}}},
       ""},
      {{"c: bool[1,?], x: float32[?,1], z: float32[]",
        "y = where(c, x, z)",
        {{bools({1, 0}), floats({2, 1}), floats({})}, {bools({1, 2}), floats({3, 1}), floats({})}}},
       ""},
      {{"x: float32[1,3], s: int64[2]",
        "y = expand(x, s)",
        {{floats({1, 3}), ints({0, 1})}, {floats({1, 3}), ints({2, 3})}}},
       "BroadcastTo"},
      {{"x: float32[1,3], s: int64[?]",
        "y = expand(x, s)",
        {{floats({1, 3}), ints({2, 1})},
         {floats({1, 3}), ints({2, 4, 3})},
         {floats({1, 3}), ints({})}}},
       "BroadcastTo"},
      {{"x: bool[n,1], s: int64[2]",
        "y = expand(x, s)",
        {{bools({1, 1}), ints({0, 0})}, {bools({2, 1}), ints({2, 3})}}},
       "BroadcastTo"},
      {{"x: int8[1], s: int64[1]",
        "y = expand(x, s)",
        {{Tensor::Of<int8_t>({1}, {-128}), ints({0})},
         {Tensor::Of<int8_t>({1}, {-128}), ints({2})}}},
       "BroadcastTo"},
      {{"x: float32[1,3]", "s = int64[2]{0, 3}\n y = expand(x, s)", {{floats({1, 3})}}},
       "BroadcastTo"},
      {{"x: float32[1,3]", "s = int64[2]{2, 3}\n y = expand(x, s)", {{floats({1, 3})}}}, ""},
  };
  for (const auto& [row, only_tf] : rows) {
    ExpectComesBack(row);
    if (only_tf.empty()) continue;
    for (const char* dialect : {"tf", "tfjs"}) {
      Model model;
      model.graph = *ParseIr(row.inputs, row.lines, "y");
      ASSERT_TRUE(FromIr(model, dialect).ok());
      int found = 0;
      for (const Node* node : model.graph->nodes()) found += node->op() == Symbol(only_tf);
      EXPECT_EQ(found, dialect == std::string_view("tf") ? 1 : 0) << row.lines;
    }
  }
}

// TensorFlow.js has the last axis alone.
TEST(TfWritten, OnesAmongZeros) {
  const Tensor x = Numbered({2, 3, 4});
  const Tensor index = Tensor::Of<int64_t>({2, 3}, {0, 2, -1, 1, 3, -3});
  for (const char* axis : {"-1", "0", "1", "2", "-3"}) {
    ExpectComesBack({"x: float32[2,3,4]", StrCat("y = hardmax(x) { axis = ", axis, " }"), {{x}}});
    ExpectComesBack({"i: int64[n,3], v: float32[2]",
                     StrCat("d = int64[1]{3}\n y = one_hot(i, d, v) { axis = ", axis, " }"),
                     {{index, Numbered({2})}}});
  }
}

TEST(TfWritten, LargestOfRegions) {
  const Tensor image = Numbered({2, 3, 6, 5});
  Tensor odd = Tensor::Zeros(DType::kFloat32, {2, 3, 6, 5});
  for (size_t i = 0; i < 180; ++i) {
    odd.mutable_span<float>()[i] = i % 3 == 0   ? std::numeric_limits<float>::quiet_NaN()
                                   : i % 3 == 1 ? -std::numeric_limits<float>::infinity()
                                                : -1.5f;
  }
  // Whole and broken corners, halves of both signs, outside in part and in whole, turned around.
  const Tensor regions = Tensor::Of<float>(
      {9, 5}, {0, 0,     0,     4, 5, 1, 1, 1, 3,  4,  1, 0.5f, 1.5f, 2.5f, 3.49999f,
               0, -2.5f, -0.5f, 2, 3, 1, 3, 4, 20, 30, 0, 7,    8,    9,    10,
               1, 4,     4,     1, 1, 0, 2, 2, 2,  2,  1, -9,   -9,   -3,   -3});
  for (const char* x : {"x: float32[2,3,6,5]", "x: float32[n,?,h,w]"}) {
    for (const char* attrs : {"pooled_shape = [2, 3]", "pooled_shape = [1, 1], spatial_scale = 0.5",
                              "pooled_shape = [7, 4], spatial_scale = 0.37"}) {
      SCOPED_TRACE(StrCat(x, attrs));
      ExpectComesBack({StrCat(x, ", r: float32[k,5]"),
                       StrCat("y = max_roi_pool(x, r) { ", attrs, " }"),
                       {{image, regions}, {odd, regions}, {image, Numbered({0, 5})}}});
    }
  }
  ExpectComesBack({"x: float32[1,1,2,2], r: float32[1,5]",
                   "y = max_roi_pool(x, r) { pooled_shape = [65, 1] }",
                   {},
                   "so many cells"});
}

// A class is drawn as often as its chance says, in rows that do not depend on each other.
TEST(TfWritten, DrawnClasses) {
  constexpr int64_t kDraws = 20000;
  const double chances[2][3] = {{0.5, 0.2, 0.3}, {0, 0.9, 0.1}};
  Tensor logits = Tensor::Zeros(DType::kFloat32, {2, 3});
  for (size_t i = 0; i < 6; ++i) {
    logits.mutable_span<float>()[i] = static_cast<float>(std::log(chances[i / 3][i % 3]) + 40);
  }
  const auto graph =
      ParseIr("x: float32[n,3]",
              StrCat("y = multinomial(x) { dtype = \"int64\", sample_size = ", kDraws, " }"), "y");
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const char* dialect : {"tf", "tfjs"}) {
    SCOPED_TRACE(dialect);
    Model model;
    model.graph = (*graph)->Clone();
    ASSERT_TRUE(FromIr(model, dialect).ok());
    absl::StatusOr<Model> read =
        dialect == std::string_view("tf") ? ThroughTf(model) : ThroughTfjs(model);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_TRUE(ToIr(*read).ok());
    const auto drawn = RunGraph(*read->graph, {logits});
    ASSERT_TRUE(drawn.ok()) << drawn.status();
    const Tensor& y = *(*drawn)[0].tensor();
    ASSERT_EQ(y.type().ToString(), StrCat("int64[2,", kDraws, "]"));
    double found[2][3] = {}, both[3][3] = {};
    for (int64_t i = 0; i < kDraws; ++i) {
      const int64_t first = y.AsInt(i), second = y.AsInt(kDraws + i);
      ASSERT_TRUE(first >= 0 && first < 3 && second > 0 && second < 3);
      found[0][first] += 1.0 / kDraws;
      found[1][second] += 1.0 / kDraws;
      both[first][second] += 1.0 / kDraws;
    }
    for (size_t i = 0; i < 3; ++i) {
      for (size_t row = 0; row < 2; ++row) EXPECT_NEAR(found[row][i], chances[row][i], 0.02);
      for (size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(both[i][j], chances[0][i] * chances[1][j], 0.02) << i << " " << j;
      }
    }
  }
}

std::string OpsOf(const Graph& graph) {
  std::string ops;
  for (const Node* node : graph.nodes()) {
    StrAppend(&ops, ops.empty() ? "" : " ", node->op().view());
  }
  return ops;
}

// What is written for negative indices and for functions that TensorFlow has is read as what it
// was.
TEST(TfWritten, IsReadAsItWas) {
  struct Row {
    std::string inputs, line, ops;
  };
  const Row rows[] = {
      {"x: float32[4,3], i: int64[2]", "y = gather(x, i)", "gather"},
      {"x: float32[4,3], i: int32[2]", "y = gather(x, i) { axis = 1 }", "cast gather"},
      {"x: float32[4,3], i: int64[2,2]", "y = gather_nd(x, i)", "gather_nd"},
      {"x: float32[4,3], i: int64[2,1], u: float32[2,3]", "y = scatter_nd(x, i, u)", "scatter_nd"},
      // What the graph itself computes with another size stays.
      {"x: float32[4,3], j: int64[2]",
       "z = int64[]{0}\n n = int64[]{3}\n less = less(j, z)\n sum = add(j, n)\n"
       "i = where(less, sum, j)\n y = gather(x, i)",
       "less add where gather"},
      {"x: float32[4]", "y = reciprocal(x)", "reciprocal"},
  };
  for (const Row& row : rows) {
    Model model;
    const auto graph = ParseIr(row.inputs, row.line, "y");
    ASSERT_TRUE(graph.ok()) << graph.status() << row.line;
    model.graph = *graph;
    ASSERT_TRUE(FromIr(model, "tf").ok()) << row.line;
    const std::string written = OpsOf(*model.graph);
    auto back = ThroughTf(model);
    ASSERT_TRUE(back.ok()) << back.status() << row.line;
    ASSERT_TRUE(ToIr(*back).ok()) << row.line;
    ASSERT_TRUE(RunPasses(*back->graph, {"dead_code"}, {}).ok()) << row.line;
    EXPECT_EQ(OpsOf(*back->graph), row.ops) << row.line;
    // Operators of TensorFlow take no negative indices; what was read from them may have some.
    ASSERT_TRUE(FromIr(*back, "tf").ok()) << row.line;
    EXPECT_EQ(OpsOf(*back->graph), written) << row.line;
  }
}

}  // namespace
}  // namespace x2ir
