// What graphs of the IR become where TensorFlow's kernels for a CPU lack something: rows of a graph
// and the ops that are written, or a part of the error.
#include "x2ir/handlers/tf/kernels.h"

#include <map>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

struct KernelRow {
  std::string_view inputs, node;
  std::map<std::string, int> ops;  // among those that are written
  std::string_view error = "";
};

TEST(TfKernels, WrittenNodesHaveThem) {
  constexpr std::string_view kImage = "x: float32[1,8,8,2]";
  const KernelRow rows[] = {
      // Types.
      {"x: float32[2]", "relu(x)", {{"Relu", 1}, {"Cast", 0}}},
      {"x: uint16[2,3], w: uint16[3,2]", "matmul(x, w)", {{"Cast", 3}}},
      {"x: uint32[2]", "div(x, x)", {{"TruncateDiv", 1}, {"Cast", 3}}},
      {"x: float64[2]", "sign(x)", {{"Sign", 1}, {"Cast", 0}}},
      {"x: uint64[2]", "div(x, x)", {}, "no kernel for uint64"},
      {"x: bool[2]", "bit_cast(x) { to = \"uint8\" }", {}, "no kernel for bool"},
      {"x: uint8[2]", "bit_cast(x) { to = \"bool\" }", {}, "bits as bools"},
      {"x: float16[1,4,4,4,2]",
       "max_pool(x) { layout = \"channels_last\", auto_pad = \"VALID\", ceil_mode = 0, "
       "storage_order = 0, kernel_shape = [2, 2, 2] }",
       {{"MaxPool3D", 1}, {"Cast", 2}}},
      {"x: float64[1,4,4,4,2]",
       "average_pool(x) { layout = \"channels_last\", auto_pad = \"VALID\", ceil_mode = 0, "
       "count_include_pad = 0, kernel_shape = [2, 2, 2] }",
       {{"AvgPool3D", 0}}},
      // Axes and places.
      {"x: float32[1,1,2,2,2,2,2], p: int64[14]",
       "pad(x, p) { mode = \"constant\" }",
       {{"PadV2", 0}}},
      {"x: float32[1,2,1,1,1,2], n: int64[2]",
       "reverse_sequence(x, n) { batch_axis = 1, time_axis = 0 }",
       {{"ReverseSequence", 0}}},
      {"x: float32[1,1,1,1,1,1,1,2], p: int64[3,8]",
       "gather_nd(x, p) { batch_dims = 0 }",
       {{"GatherNd", 0}}},
      // Windows.
      {"x: float32[1,8,8,2], w: float32[2,1,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2, strides = [2, 2] "
       "}",
       {{"DepthwiseConv2dNative", 1}, {"Conv2D", 0}}},
      {"x: float32[1,8,8,2], w: float32[2,1,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2, strides = [2, 1] "
       "}",
       {{"DepthwiseConv2dNative", 1}, {"StridedSlice", 1}, {"Conv2D", 0}}},
      {"x: float32[1,8,8,2], w: float32[2,1,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2, dilations = [2, "
       "2] }",
       {{"DepthwiseConv2dNative", 1}, {"Conv2D", 0}}},
      {"x: float32[1,8,1,2], w: float32[2,1,3,1]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2, strides = [2, 1] "
       "}",
       {{"DepthwiseConv2dNative", 1}, {"StridedSlice", 0}}},
      // TensorFlow makes one node of a Conv2D and what follows, whose kernel has no groups.
      {"x: float32[1,8,8,4], w: float32[2,2,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2 }",
       {{"DepthwiseConv2dNative", 0}, {"Conv2D", 2}, {"ConcatV2", 1}}},
      {"x: float32[1,8,8,2], w: float32[2,1,3,3]",
       "conv_transpose(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2 }",
       {{"Conv2DBackpropInput", 2}, {"ConcatV2", 1}}},
      {"x: float32[1,8,8,8,2], w: float32[2,1,3,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 2 }",
       {{"Conv3D", 2}, {"ConcatV2", 1}}},
      {"x: float32[1,8,8,8,2], w: float32[1,2,3,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 1, dilations = [2, "
       "2, 2] }",
       {{"Conv3D", 1}, {"SpaceToBatchND", 1}, {"BatchToSpaceND", 1}, {"Transpose", 1}}},
      {"x: float32[1,8,h,8,2], w: float32[1,2,3,3,3]",
       "conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 1, dilations = [2, "
       "2, 2] }",
       {},
       "dilations"},
      {kImage,
       "max_pool(x) { layout = \"channels_last\", ceil_mode = 0, storage_order = 0, kernel_shape = "
       "[3, 3], auto_pad = "
       "\"SAME_LOWER\", strides = [2, 2] }",
       {{"PadV2", 1}, {"MaxPool", 1}}},
  };
  for (const KernelRow& row : rows) {
    SCOPED_TRACE(row.node);
    auto graph = ParseGraph(StrCat("graph g(", row.inputs, ") -> (y) {\n y = ", row.node, "\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    Model model;
    model.graph = *std::move(graph);
    const absl::Status s = FromIr(model, "tf", {});
    if (!row.error.empty()) {
      EXPECT_THAT(std::string(s.message()), ::testing::HasSubstr(std::string(row.error)));
      continue;
    }
    EXPECT_TRUE(s.ok()) << s;
    if (!s.ok()) continue;
    std::map<std::string, int> found;
    for (const Node* node : model.graph->nodes()) ++found[std::string(node->op().view())];
    for (const auto& [op, count] : row.ops) {
      EXPECT_EQ(found[op], count) << op << "\n" << ToText(*model.graph);
    }
  }
}

}  // namespace
}  // namespace x2ir
