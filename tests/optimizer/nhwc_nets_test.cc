// Whole networks of naive exporters through export: what is left of them, and what they compute.
#include <filesystem>

#include "gtest/gtest.h"
#include "tests/core/shared_util.h"
#include "tests/optimizer/nhwc_nets_util.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

std::string What(const NhwcStyle& style, const NhwcNet& net, const char* batch) {
  return StrCat(net.name, ", ", style.name, ", batch ", batch);
}

TEST(NhwcNets, FewestNodesAndTheSameNumbers) {
  for (const NhwcStyle& style : kNhwcStyles) {
    for (const NhwcNet& net : NhwcNets(style)) {
      for (const char* batch : {"2", "N"}) {
        SCOPED_TRACE(What(style, net, batch));
        const auto before = NhwcModel(net, batch);
        ASSERT_TRUE(before.ok()) << before.status().message();
        Model after;
        after.graph = before->graph->Clone();
        const absl::Status exported = FromIr(after, "onnx", {.opset = 13});
        ASSERT_TRUE(exported.ok()) << exported.message();
        const auto nodes = static_cast<int>(after.graph->num_nodes());
        EXPECT_EQ(nodes, net.nodes);
        ASSERT_TRUE(ToIr(after).ok());
        EXPECT_EQ(CountOps(*after.graph, "transpose"), net.transposes);
        const auto io = RandomCase(*before->graph, 1, nullptr);
        ASSERT_TRUE(io.ok());
        const auto verification = VerifyModels(*before, after, {*io});
        ASSERT_TRUE(verification.ok()) << verification.status().message();
        EXPECT_TRUE(verification->agrees()) << verification->ToText();
      }
    }
  }
}

// The input's transpose goes where the input has channels first.
TEST(NhwcNets, InputsAsNchw) {
  for (const NhwcStyle& style : kNhwcStyles) {
    for (const NhwcNet& net : NhwcNets(style)) {
      for (const char* batch : {"2", "N"}) {
        auto model = NhwcModel(net, batch);
        ASSERT_TRUE(model.ok()) << model.status().message();
        ASSERT_TRUE(FromIr(*model, "onnx", {.opset = 13, .inputs_as_nchw = {"x"}}).ok());
        ASSERT_TRUE(ToIr(*model).ok());
        EXPECT_EQ(CountOps(*model->graph, "transpose"), net.transposes_nchw)
            << What(style, net, batch);
      }
    }
  }
}

// Files of such exporters, with the batch that they say and any other.
TEST(NhwcNets, SharedModels) {
  struct Row {
    const char* name;
    Shape input;
    int nodes, transposes, transposes_nchw;
  };
  const Row rows[] = {{"nhwc_mbv2", {Dim::Symbol("N"), 224, 224, 3}, 101, 1, 0},
                      {"nhwc_ssd", {Dim::Symbol("N"), 64, 64, 3}, 22, 5, 4},
                      {"nhwc_elu_split", {Dim::Symbol("N"), 56, 56, 3}, 40, 2, 1}};
  for (const Row& row : rows) {
    const std::string path = Shared(StrCat("models/", row.name, "/model.13.onnx"));
    if (path.empty()) GTEST_SKIP() << kNotShared;
    for (const bool symbolic : {false, true}) {
      for (const bool nchw : {false, true}) {
        ImportOptions options;
        if (symbolic) options.shapes.emplace_back("x", row.input);
        auto model = Import(path, options);
        ASSERT_TRUE(model.ok()) << model.status().message();
        ExportOptions out;
        if (nchw) out.inputs_as_nchw = {"x"};
        const absl::Status exported = FromIr(*model, "onnx", out);
        ASSERT_TRUE(exported.ok()) << exported.message();
        const auto nodes = static_cast<int>(model->graph->num_nodes());
        const int fewer = nchw ? row.transposes - row.transposes_nchw : 0;
        EXPECT_EQ(nodes, row.nodes - fewer) << row.name << symbolic;
        ASSERT_TRUE(ToIr(*model).ok());
        EXPECT_EQ(CountOps(*model->graph, "transpose"), row.transposes - fewer)
            << row.name << symbolic;
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
