// Networks in the operations that JAX and flax lower them to, with NumPy's outputs
// (tests/data/cases/README.md): they compute the same as they are read, and from ONNX
// (framework_util.h). Each comes with the ONNX nodes that its layers are; what becomes of both has
// about as many nodes.
//
//   X2IR_CASES=REGEX   only the networks whose names match
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

fs::path JaxCases() { return Unpacked("jax-cases.tar.xz", "jax-cases") / "jax-cases"; }

// The nodes of a file at that opset, by op.
absl::StatusOr<std::map<std::string, int64_t>> NodesAt(const fs::path& model, int opset) {
  X2IR_ASSIGN_OR_RETURN(Model ir, Import(model.string()));
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "jax";
  fs::create_directories(dir);
  const std::string name = model.parent_path().filename().string();
  Report report;
  X2IR_RETURN_IF_ERROR(Export(
      std::move(ir), (dir / StrCat(name, model.extension().string(), ".", opset, ".onnx")).string(),
      {.opset = opset}, &report));
  return report.ops_written;
}

int64_t TotalOf(const std::map<std::string, int64_t>& ops) {
  int64_t total = 0;
  for (const auto& [op, count] : ops) total += count;
  return total;
}

struct LayersRow {
  const char* name;
  int opset;
  // Nodes beyond 15 % more than the layers have, and what they are.
  int64_t more;
  std::map<std::string, int64_t> ops;  // that must be there, so many
};
const std::vector<LayersRow>& LayersRows() {
  static const auto* const rows = new std::vector<LayersRow>{
      {"mlp", 17, 0, {{"onnx.Gemm", 3}, {"onnx.Relu", 1}, {"onnx.Softmax", 1}}},
      {"mlp", 23, 0, {{"onnx.Gelu", 1}}},
      {"lenet",
       17,
       0,
       {{"onnx.Conv", 2},
        {"onnx.AveragePool", 1},
        {"onnx.MaxPool", 1},
        {"onnx.Relu", 3},
        {"onnx.LogSoftmax", 1}}},
      {"resnet", 17, 0, {{"onnx.Conv", 6}, {"onnx.Relu", 5}, {"onnx.BatchNormalization", 0}}},
      {"mobilenet", 17, 0, {{"onnx.Conv", 6}, {"onnx.Clip", 4}, {"onnx.AveragePool", 1}}},
      {"encoder", 17, 0, {{"onnx.LayerNormalization", 7}, {"onnx.Softmax", 3}, {"onnx.Erf", 3}}},
      {"encoder", 23, 0, {{"onnx.LayerNormalization", 7}, {"onnx.Attention", 3}, {"onnx.Gelu", 3}}},
      {"decoder_flax", 17, 0, {{"onnx.LayerNormalization", 5}, {"onnx.Softmax", 2}}},
      {"decoder_flax", 23, 0, {{"onnx.Attention", 2}, {"onnx.Gelu", 2}}},
      {"decoder_jax", 17, 0, {{"onnx.LayerNormalization", 5}, {"onnx.Softmax", 2}}},
      {"decoder_jax", 23, 0, {{"onnx.Attention", 2}, {"onnx.Gelu", 2}}},
      {"vit", 17, 0, {{"onnx.LayerNormalization", 5}, {"onnx.Softmax", 2}}},
      {"vit", 23, 0, {{"onnx.Attention", 2}, {"onnx.Gelu", 2}}},
      {"llama", 17, 0, {{"onnx.Softmax", 2}}},
      {"llama",
       23,
       0,
       {{"onnx.Attention", 2}, {"onnx.RotaryEmbedding", 4}, {"onnx.RMSNormalization", 5}}},
      {"gemma", 17, 0, {{"onnx.Softmax", 2}}},
      // jnp.take checks each label.
      {"gemma",
       23,
       2,
       {{"onnx.Attention", 2}, {"onnx.RotaryEmbedding", 4}, {"onnx.RMSNormalization", 5}}},
      // OneHot counts negative labels from the end, which comparisons do not.
      {"labels", 17, 2, {{"onnx.Equal", 1}}},
      {"lstm", 17, 0, {{"onnx.LSTM", 1}, {"onnx.Loop", 0}, {"onnx.ArgMax", 1}}},
  };
  return *rows;
}

TEST(JaxNetworks, ConvertAndAgree) {
  std::vector<FrameworkCase> cases;
  for (FrameworkCase& each : CasesOfFolders(JaxCases())) {
    each.model /= "network.mlir";
    cases.push_back(std::move(each));
  }
  ASSERT_GE(cases.size(), 12U);
  CheckFramework({.name = "jax"}, cases);
}

TEST(JaxNetworks, LayersComeBackAsLayers) {
  const fs::path root = JaxCases();
  for (const LayersRow& row : LayersRows()) {
    if (!IsWantedCase(row.name)) continue;
    SCOPED_TRACE(StrCat(row.name, " at opset ", row.opset));
    const auto got = NodesAt(root / row.name / "network.mlir", row.opset);
    const auto layers = NodesAt(root / row.name / "network.onnxtxt", row.opset);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(layers.ok()) << layers.status();
    const int64_t nodes = TotalOf(*got), by_layer = TotalOf(*layers);
    std::printf("%-14s opset %d: %3d nodes, by layer %3d\n", row.name, row.opset,
                static_cast<int>(nodes), static_cast<int>(by_layer));
    EXPECT_LE(nodes * 100, by_layer * 115 + row.more * 100);
    for (const auto& [op, count] : row.ops) {
      const auto found = got->find(op);
      EXPECT_EQ(found == got->end() ? 0 : found->second, count) << op;
    }
  }
}

// What the layers say is what the networks compute.
TEST(JaxNetworks, LayersAgree) {
  for (const FrameworkCase& each : CasesOfFolders(JaxCases())) {
    if (!IsWantedCase(each.name)) continue;
    SCOPED_TRACE(each.name);
    const absl::StatusOr<Model> model = Import((each.model / "network.onnxtxt").string());
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status same = AgreesWithIo(*model, each.ios[0]);
    EXPECT_TRUE(same.ok()) << same;
  }
}

}  // namespace
}  // namespace x2ir
