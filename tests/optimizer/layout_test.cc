// The pass `layout`, both ways, and what export does with channels last.
#include <filesystem>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/core/shared_util.h"
#include "tests/optimizer/nhwc_nets_util.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

constexpr const char* kFirst = "channels_first";
constexpr const char* kLast = "channels_last";

// Every op that has a layout; $ stands for it.
struct Row {
  std::string_view op, inputs, lines;
  std::string_view outputs = "y";
  int transposes = 2;
};
const Row kRows[] = {
    {"conv", "x: float32[2,6,6,6]",
     "w: float32[4,3,3,1] b: float32[4] y = conv(x, w, b) { layout = \"$\", group = 2, pads = [1, "
     "0, 0, 2], strides = [2, 1] }"},
    {"conv", "x: float32[N,4,4]", "w: float32[5,4,2] y = conv(x, w) { layout = \"$\" }"},
    {"conv", "x: float32[1,4,4,4,4]",
     "w: float32[2,4,2,1,3] y = conv(x, w) { layout = \"$\", auto_pad = \"SAME_LOWER\" }"},
    {"conv_transpose", "x: float32[2,4,4,4]",
     "w: float32[4,3,3,2] y = conv_transpose(x, w) { layout = \"$\", strides = [2, 3], "
     "output_padding = [1, 0] }"},
    {"conv_integer", "x: uint8[2,3,3,3]",
     "w = int8[1,3,2,1]{1, 2, 3, -4, 5, 6} y = conv_integer(x, w) { layout = \"$\" }"},
    {"qlinear_conv", "x: uint8[2,3,4,3]",
     "a = float32[]{0.1} z = uint8[]{3} w = int8[2,3,1,1]{1, 2, 3, -4, 5, 6} s = float32[2]{0.5, "
     "0.25} v = int8[2]{0, 0} b = float32[]{0.5} "
     "y = qlinear_conv(x, a, z, w, s, v, b, z) { layout = \"$\" }"},
    {"max_pool", "x: float32[2,5,5,5]",
     "y, i = max_pool(x) { layout = \"$\", kernel_shape = [2, 3], strides = [2, 1] }", "y, i", 3},
    {"average_pool", "x: float32[2,5,5,5]",
     "y = average_pool(x) { layout = \"$\", kernel_shape = [2, 3], pads = [1, 1, 0, 1] }"},
    {"lp_pool", "x: float32[2,5,5,5]", "y = lp_pool(x) { layout = \"$\", kernel_shape = [2, 3] }"},
    {"global_average_pool", "x: float32[2,3,4,5]", "y = global_average_pool(x) { layout = \"$\" }"},
    {"global_max_pool", "x: float32[2,3,4,5]", "y = global_max_pool(x) { layout = \"$\" }"},
    {"global_lp_pool", "x: float32[2,3,4,5]", "y = global_lp_pool(x) { layout = \"$\" }"},
    {"batch_normalization", "x: float32[N,3,4,3]",
     "s: float32[3] b: float32[3] m: float32[3] v: float32[3] "
     "y = batch_normalization(x, s, b, m, v) { layout = \"$\" }"},
    {"batch_normalization", "x: float32[2,3,4,3]",
     "s: float32[3] b: float32[3] m: float32[3] v: float32[3] "
     "y, p, q = batch_normalization(x, s, b, m, v) { layout = \"$\", training_mode = 1 }",
     "y, p, q"},
    {"batch_normalization", "x: float32[4,3]",
     "s: float32[3] b: float32[3] m: float32[3] v: float32[3] "
     "y = batch_normalization(x, s, b, m, v) { layout = \"$\" }",
     "y", 0},
    {"instance_normalization", "x: float32[2,3,4,3]",
     "s: float32[3] b: float32[3] y = instance_normalization(x, s, b) { layout = \"$\" }"},
    {"group_normalization", "x: float32[2,4,3,4]",
     "s: float32[4] b: float32[4] y = group_normalization(x, s, b) { layout = \"$\", num_groups = "
     "2 }"},
    {"lrn", "x: float32[2,5,4,5]", "y = lrn(x) { layout = \"$\", size = 3 }"},
    {"depth_to_space", "x: float32[2,8,3,8]",
     "y = depth_to_space(x) { layout = \"$\", blocksize = 2, mode = \"CRD\" }"},
    {"space_to_depth", "x: float32[2,4,6,4]",
     "y = space_to_depth(x) { layout = \"$\", blocksize = 2 }"},
};

std::string In(std::string_view lines, std::string_view layout) {
  std::string text(lines);
  return text.replace(text.find('$'), 1, layout);
}

int64_t CountOfLayout(const Graph& graph, std::string_view layout) {
  int64_t count = 0;
  for (const Node* node : graph.nodes()) {
    count +=
        node->is_ir() && node->attrs().Has("layout") && node->attrs().String("layout") == layout;
    for (const Graph* inner : node->subgraphs()) count += CountOfLayout(*inner, layout);
  }
  return count;
}

// What differs between what the two compute; "" where nothing does.
std::string Difference(const Model& before, const Model& after) {
  if (const auto problems = after.graph->Validate(); !problems.empty()) return problems[0];
  const auto io = RandomCase(*before.graph, 1, nullptr);
  if (!io.ok()) return std::string(io.status().message());
  const auto verification = VerifyModels(before, after, {*io});
  if (!verification.ok()) return std::string(verification.status().message());
  return verification->agrees() ? "" : verification->ToText();
}

TEST(Layout, OfEveryOp) {
  std::set<std::string> tested;
  for (const Row& row : kRows) {
    tested.insert(std::string(row.op));
    for (const auto& [from, to] : {std::pair(kFirst, kLast), std::pair(kLast, kFirst)}) {
      SCOPED_TRACE(StrCat(row.op, " of ", row.inputs, " to ", to));
      const auto before = IrFromText(row.inputs, In(row.lines, from), row.outputs);
      auto after = IrFromText(row.inputs, In(row.lines, from), row.outputs);
      ASSERT_TRUE(before.ok()) << before.status().message();
      Graph& graph = *after->graph;
      ASSERT_TRUE(RunPasses(graph, {"layout"}).ok());
      EXPECT_EQ(CountOfLayout(graph, from), 1) << "nobody wants another";
      ASSERT_TRUE(RunPasses(graph, {"layout"}, {.layout = to}).ok());
      EXPECT_EQ(CountOfLayout(graph, from), 0);
      EXPECT_EQ(CountOfLayout(graph, to), 1);
      EXPECT_EQ(CountOps(graph, "transpose"), row.transposes);
      EXPECT_EQ(Difference(*before, *after), "");
      // And back again.
      ASSERT_TRUE(RunPasses(graph, {"layout", "transposes", "dead_code"}, {.layout = from}).ok());
      EXPECT_EQ(CountOfLayout(graph, from), 1);
      EXPECT_EQ(CountOps(graph, "transpose"), 0);
      EXPECT_EQ(Difference(*before, *after), "");
    }
  }
  for (const OpDef* def : AllOps()) {
    for (const AttrDef& attr : def->attrs()) {
      if (attr.name == "layout") {
        EXPECT_TRUE(tested.contains(def->name().str())) << def->name().str();
      }
    }
  }
}

// ONNX has channels first alone.
TEST(Layout, ChannelsLastIsExported) {
  for (const Row& row : kRows) {
    for (const bool optimize : {false, true}) {
      SCOPED_TRACE(StrCat(row.op, " of ", row.inputs, optimize ? ", optimized" : ""));
      const auto before = IrFromText(row.inputs, In(row.lines, kLast), row.outputs);
      auto after = IrFromText(row.inputs, In(row.lines, kLast), row.outputs);
      ASSERT_TRUE(before.ok()) << before.status().message();
      const absl::Status exported = FromIr(*after, "onnx", {.opset = 21, .optimize = optimize});
      ASSERT_TRUE(exported.ok()) << exported.message();
      ASSERT_TRUE(ToIr(*after).ok());
      // Optimized, one of sizes of 1 is a reshape.
      EXPECT_GE(CountOps(*after->graph, "transpose"), row.transposes - (optimize ? 1 : 0));
      EXPECT_LE(CountOps(*after->graph, "transpose"), row.transposes);
      EXPECT_EQ(Difference(*before, *after), "");
    }
  }
}

TEST(Layout, UnknownNamesAreErrors) {
  auto model = IrFromText("x: float32[2]", "y = relu(x)", "y");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(ToIr(*model, {.layout = "nhwc"}).message(),
            "option 'layout': expected channels_first or channels_last, got 'nhwc'");
}

TEST(Layout, OfUnknownRankStays) {
  auto model =
      IrFromText("x: float32[...]", "y = lrn(x) { layout = \"channels_last\", size = 3 }", "y");
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(RunPasses(*model->graph, {"layout"}, {.layout = kFirst}).ok());
  EXPECT_EQ(CountOfLayout(*model->graph, kLast), 1);
  const absl::Status status = FromIr(*model, "onnx");
  EXPECT_NE(status.message().find("'x' is float32[...]: the input states no shape"),
            std::string::npos)
      << status.message();
}

// An NHWC network goes back to what it was; one of channels first gets transposes at its borders.
TEST(Layout, OfNetworks) {
  for (const NhwcStyle& style : kNhwcStyles) {
    for (const NhwcNet& net : NhwcNets(style)) {
      SCOPED_TRACE(StrCat(net.name, ", ", style.name));
      const auto before = NhwcModel(net, "N");
      auto after = NhwcModel(net, "N");
      ASSERT_TRUE(before.ok() && after.ok());
      ASSERT_TRUE(RunPasses(*after->graph, DefaultPasses(), {.layout = kLast}).ok());
      EXPECT_EQ(CountOfLayout(*after->graph, kFirst), 0);
      EXPECT_EQ(CountOps(*after->graph, "transpose"), net.transposes - 1);
      EXPECT_EQ(Difference(*before, *after), "");
    }
  }
}

TEST(Layout, OfSharedModels) {
  const std::pair<const char*, int64_t> rows[] = {
      {"mobilenet_v2/model.17", 1},  {"squeezenet1_1/model.11", 1}, {"unet_dyn/model.17", 6},
      {"unet_tiny/model.11", 6},     {"nhwc_mbv2/model.13", 0},     {"nhwc_ssd/model.13", 0},
      {"nhwc_elu_split/model.13", 0}};
  for (const auto& [name, transposes] : rows) {
    SCOPED_TRACE(name);
    const std::string path = Shared(StrCat("models/", name, ".onnx"));
    if (path.empty()) GTEST_SKIP() << kNotShared;
    const auto before = Import(path);
    const auto after = Import(path, {.optimize = true, .layout = kLast});
    ASSERT_TRUE(before.ok() && after.ok()) << after.status().message();
    EXPECT_EQ(CountOfLayout(*after->graph, kFirst), 0);
    EXPECT_EQ(CountOps(*after->graph, "transpose"), transposes);
    EXPECT_EQ(Difference(*before, *after), "");
  }
}

}  // namespace
}  // namespace x2ir
