// What is written with --keep-nchw: images with channels first stay so, and compute the same when
// they are read again.
#include "x2ir/handlers/tf/nchw.h"

#include <cmath>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

struct NchwRow {
  std::string_view inputs, nodes;  // the last node makes y
  int first = 0, transposes = 0;   // nodes with channels first, and transposes, that are written
};

constexpr std::string_view kFirstConv =
    " { layout = \"channels_first\", auto_pad = \"NOTSET\", pads = [1, 0, 2, 1], strides = [2, 1], "
    "group = 1 } ";

TEST(TfNchw, ImagesStay) {
  const std::string conv(kFirstConv);
  const std::string constants = "w = float32[3,2,2,2]{" + [] {
    std::string numbers = "1";
    for (int i = 2; i <= 24; ++i) StrAppend(&numbers, ", ", i % 7 - 3);
    return numbers;
  }() + "} b = float32[3]{1, -2, 3} ";
  const std::vector<std::pair<std::string, NchwRow>> rows = {
      {constants + "y = conv(x, w, b)" + conv, {"x: float32[2,2,6,5]", "", 2, 0}},
      {constants + "c = conv(x, w, b)" + conv +
           "r = relu(c) y = max_pool(r) { layout = \"channels_first\", auto_pad = \"VALID\", "
           "ceil_mode = 0, storage_order = 0, kernel_shape = [2, 2], strides = [2, 1] }",
       {"x: float32[2,2,6,5]", "", 3, 0}},
      {"y = average_pool(x) { layout = \"channels_first\", auto_pad = \"SAME_UPPER\", ceil_mode = "
       "0, count_include_pad = 0, kernel_shape = [3, 2] }",
       {"x: float32[1,2,5,4]", "", 1, 0}},
      {"y = conv(x, k) { layout = \"channels_first\", auto_pad = \"VALID\", group = 1 }",
       {"x: float32[1,2,4,4,4], k: float32[3,2,2,1,2]", "", 1, 1}},
      {"s = float32[2]{1, 2} b = float32[2]{3, 4} m = float32[2]{5, 6} v = float32[2]{7, 8} "
       "y = batch_normalization(x, s, b, m, v) { epsilon = 0.001, momentum = 0.9, training_mode = "
       "0, layout = \"channels_first\" }",
       {"x: float32[2,2,3,3]", "", 1, 0}},
      {"y = depth_to_space(x) { layout = \"channels_first\", blocksize = 2, mode = \"DCR\" }",
       {"x: float32[1,8,2,3]", "", 1, 0}},
      // Channels last stay, too.
      {constants +
           "y = conv(x, w, b) { layout = \"channels_last\", auto_pad = \"VALID\", group = 1 }",
       {"x: float32[2,6,5,2]", "", 0, 0}},
  };
  for (const auto& [nodes, row] : rows) {
    SCOPED_TRACE(nodes);
    auto graph = ParseGraph(StrCat("graph g(", row.inputs, ") -> (y) {\n", nodes, "\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    Model model;
    model.graph = *std::move(graph);
    const auto io = RandomCase(*model.graph, 3, nullptr);
    ASSERT_TRUE(io.ok()) << io.status();
    const auto want = RunCase(*model.graph, *io);
    ASSERT_TRUE(want.ok()) << want.status();
    ExportOptions options;
    options.format_options.Set("keep_nchw", true);
    const absl::Status written = FromIr(model, "tf", options);
    ASSERT_TRUE(written.ok()) << written;
    int first = 0, transposes = 0;
    for (const Node* node : model.graph->nodes()) {
      first += node->attrs().String("data_format", "").starts_with("NC");
      transposes += node->op().view() == "Transpose";
    }
    EXPECT_EQ(first, row.first) << ToText(*model.graph);
    EXPECT_EQ(transposes, row.transposes) << ToText(*model.graph);
    ASSERT_TRUE(ToIr(model).ok()) << ToText(*model.graph);
    const auto got = RunCase(*model.graph, *io);
    ASSERT_TRUE(got.ok()) << got.status() << ToText(*model.graph);
    const Tensor &w = *(*want)[0].tensor(), &g = *(*got)[0].tensor();
    ASSERT_EQ(w.type(), g.type());
    for (int64_t i = 0; i < w.num_elements(); ++i) {
      EXPECT_NEAR(w.AsDouble(i), g.AsDouble(i), 1e-4 * (1 + std::abs(w.AsDouble(i))));
    }
  }
}

}  // namespace
}  // namespace x2ir
