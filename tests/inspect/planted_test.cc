// A difference is put into a real network at a node that is known, and comparing must find that
// node: one weight, one attribute, one operand; beside the same ONNX file, beside the .pt2 file
// that another exporter made the ONNX file of, or we ourselves. Skipped plainly without the
// networks, which lie in ../shared.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/compare.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct Network {
  const char* folder;
  const char* onnx;  // null: our own export of the .pt2 file
};

constexpr Network kNetworks[] = {
    {"models/bert_tiny", "model.17.onnx"},
    {"models/bert_tiny_dyn", "model.17.onnx"},
    {"models/convnext_dyn", "model.17.onnx"},
    {"models/convnext_tiny_2stage", "model.11.onnx"},
    {"models/distilbert_tiny", "model.20.onnx"},
    {"models/mobilenet_v2", "model.17.onnx"},
    {"models/mobilenet_v3_small", "model.11.onnx"},
    {"models/shufflenet_v2_x0_5", "model.17.onnx"},
    {"models/squeezenet1_1", "model.11.onnx"},
    {"models/unet_tiny", "model.17.onnx"},
    {"models/vit_tiny", "model.17.onnx"},
    {"models/gpt2_tiny", nullptr},
    {"zoo/bert_cls", nullptr},
    {"zoo/bloom", nullptr},
    {"zoo/deit", nullptr},
    {"zoo/dinov2_reg", nullptr},
    {"zoo/falcon_alibi", nullptr},
    {"zoo/focalnet_decomp", nullptr},
    {"zoo/gpt_neox", nullptr},
    {"zoo/granite", nullptr},
    {"zoo/mpt_decomp", nullptr},
    {"zoo/olmo", nullptr},
    {"zoo/smollm3", nullptr},
    {"zoo/squeezebert", nullptr},
    {"zoo/xglm", nullptr},
};
void PrintTo(const Network& network, std::ostream* out) { *out << network.folder; }

// --- Planting: each gives whether the node suits, and changes it if so. --------------------------

bool PlantWeight(Graph& graph, Node& node) {
  const bool linear = node.Is("conv") || node.Is("matmul") || node.Is("gemm");
  if (!linear && !node.Is("mul") && !node.Is("add")) return false;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    Value* value = node.input(i);
    const Tensor* tensor = value ? value->fixed_constant() : nullptr;
    if (!tensor || tensor->dtype() != DType::kFloat32 || tensor->num_elements() < 4) continue;
    Tensor changed = *tensor;
    const auto numbers = changed.mutable_span<float>();
    float most = 0;
    for (const float v : numbers) most = std::max(most, std::fabs(v));
    if (!(most < 1e3F)) continue;  // a mask
    numbers[numbers.size() / 2] += 2 * most + 0.1F;
    node.SetInput(i, graph.AddConstant(graph.UniqueName("planted"), std::move(changed)));
    return true;
  }
  return false;
}

bool PlantAttribute(Graph&, Node& node) {
  const auto number = [&](const char* name, auto change) {
    const Attribute* attr = node.attrs().Find(name);
    if (!attr) return false;
    if (const auto* f = attr->get<float>()) {
      node.SetAttr(name, static_cast<float>(change(*f)));
    } else if (const auto* d = attr->get<double>()) {
      node.SetAttr(name, change(*d));
    } else {
      return false;
    }
    return true;
  };
  if (node.Is("layer_normalization") || node.Is("rms_normalization") ||
      node.Is("batch_normalization")) {
    return number("epsilon", [](double v) { return v + 0.5; });
  }
  if (node.Is("gemm")) return number("alpha", [](double v) { return 2 * v; });
  if (node.Is("leaky_relu") || node.Is("elu") || node.Is("hard_sigmoid")) {
    return number("alpha", [](double v) { return v + 0.5; });
  }
  if (node.Is("conv")) {
    const Attribute* attr = node.attrs().Find("pads");
    const auto* pads = attr ? attr->get<Attribute::Ints>() : nullptr;
    if (!pads || pads->size() != 4 || (*pads)[0] != (*pads)[2] || (*pads)[0] == 0) return false;
    node.SetAttr("pads", Attribute::Ints{0, (*pads)[1], 2 * (*pads)[0], (*pads)[3]});
    return true;
  }
  if (node.Is("softmax")) {
    const Shape* shape = node.input(0)->shape();
    if (!shape || shape->rank() < 2) return false;
    node.SetAttr("axis", shape->rank() - 2);
    return true;
  }
  return false;
}

// Operands in the other order where that matters; else another value of the same type, the one
// before.
bool PlantOperand(Graph& graph, Node& node) {
  const auto computed = [](const Value* v) { return v && v->producer() && IsFloating(v->dtype()); };
  if ((node.Is("sub") || node.Is("div") || node.Is("concat")) && computed(node.input(0)) &&
      computed(node.input(1)) && node.input(0)->type() == node.input(1)->type() &&
      node.input(0) != node.input(1)) {
    Value* first = node.input(0);
    node.SetInput(0, node.input(1));
    node.SetInput(1, first);
    return true;
  }
  if (!node.Is("add") && !node.Is("mul") && !node.Is("matmul")) return false;
  if (!computed(node.input(0)) || !computed(node.input(1))) return false;
  const Shape* shape = node.input(1)->shape();
  if (!shape || !shape->is_static() || shape->NumElements().value() < 8) return false;
  Value* found = nullptr;
  for (const Node* each = graph.first(); each != &node; each = each->next()) {
    Value* value = each->output(0);
    if (value && value != node.input(0) && value != node.input(1) && computed(value) &&
        value->type() == node.input(1)->type() && !each->Is("identity") && !each->Is("cast")) {
      found = value;
    }
  }
  if (!found) return false;
  node.SetInput(1, found);
  return true;
}

constexpr struct {
  const char* what;
  bool (*plant)(Graph&, Node&);
} kPlants[] = {{"weight", PlantWeight}, {"attribute", PlantAttribute}, {"operand", PlantOperand}};

// Whether the node itself gives something else than it did: a weight may meet nothing but zeros.
double ChangeAt(const Model& before, const Model& after, const std::string& value,
                const IoCase& io) {
  const auto result_of = [&](const Model& model) {
    std::optional<Datum> result;
    RunOptions run;
    run.on_value = [&](const Value& each, const Datum& datum) {
      if (each.name() == value) result = datum;
    };
    const auto outputs = RunCaseWith(*model.graph, io, run);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return result;
  };
  const auto a = result_of(before), b = result_of(after);
  if (!a || !b || !a->tensor() || !b->tensor()) return 0;
  double most = 0;
  for (int64_t i = 0; i < a->tensor()->num_elements(); ++i) {
    most = std::max(most, std::fabs(a->tensor()->AsDouble(i)));
  }
  return Compare(*b, *a).max_abs / most;
}

struct Planted {
  Model model;
  const Node* node = nullptr;
};

// The difference at the first node that suits in the middle of the network or behind it, else
// before; one that the node's own result shows.
Planted Plant(const Model& model, bool (*plant)(Graph&, Node&), const IoCase& io) {
  const size_t count = model.graph->num_nodes();
  int tries = 0;
  for (size_t i = 0; i < count && tries < 8; ++i) {
    Planted planted{model.Clone(), nullptr};
    size_t at = (count / 2 + i) % count;
    Node* node = planted.model.graph->first();
    while (at-- > 0) node = node->next();
    if (!node->output(0) || !plant(*planted.model.graph, *node)) continue;
    ++tries;
    EXPECT_TRUE(planted.model.graph->Sort().ok());
    if (ChangeAt(model, planted.model, node->output(0)->name(), io) < 1e-3) continue;
    planted.node = node;
    return planted;
  }
  return {};
}

class PlantedDifference : public ::testing::TestWithParam<Network> {};

TEST_P(PlantedDifference, IsFoundAtItsNode) {
  const Network& network = GetParam();
  const fs::path folder = Shared(network.folder);
  if (folder.empty()) GTEST_SKIP() << kNotShared;
  auto torch = Import(folder / "model.pt2");
  ASSERT_TRUE(torch.ok()) << torch.status();
  const TempDir dir;
  std::string onnx_file;
  if (network.onnx) {
    onnx_file = folder / network.onnx;
  } else {
    onnx_file = dir.Path("planted.onnx");
    // Other passes take linear layers together and move scales through them: values on the way
    // are then no longer those of the other model.
    ConvertOptions options;
    options.to.passes = {"dead_code",           "simplify",    "fold_constants",
                         "fuse_activations",    "fold_affine", "common_subexpressions",
                         "fuse_normalizations", "gemm",        "dead_code"};
    const absl::Status status = Convert(folder / "model.pt2", onnx_file, options);
    ASSERT_TRUE(status.ok()) << status;
  }
  auto onnx = Import(onnx_file);
  ASSERT_TRUE(onnx.ok()) << onnx.status();
  auto cases = ReadIoFile(folder / "io.safetensors", *onnx->graph);
  ASSERT_TRUE(cases.ok()) << cases.status();
  cases->resize(1);
  const IoCase& io = cases->front();
  auto of_torch = ReadIoFile(folder / "io.safetensors", *torch->graph);
  ASSERT_TRUE(of_torch.ok()) << of_torch.status();
  of_torch->resize(1);

  const auto same = CompareModels(*torch, *onnx, *of_torch);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_FALSE(same->first) << same->ToText();
  int planted_ones = 0;
  for (const auto& kind : kPlants) {
    SCOPED_TRACE(kind.what);
    const Planted planted = Plant(*onnx, kind.plant, io);
    if (!planted.node) continue;
    ++planted_ones;
    const std::string where =
        StrCat(planted.node->op().str(), " '", planted.node->output(0)->name(), "'");
    const auto beside_onnx = CompareModels(*onnx, planted.model, *cases);
    ASSERT_TRUE(beside_onnx.ok()) << beside_onnx.status();
    ASSERT_TRUE(beside_onnx->first) << where << "\n" << beside_onnx->ToText();
    EXPECT_EQ(beside_onnx->first->there->producer(), planted.node) << where << "\n"
                                                                   << beside_onnx->ToText();
    const auto beside_torch = CompareModels(*torch, planted.model, *of_torch);
    ASSERT_TRUE(beside_torch.ok()) << beside_torch.status();
    ASSERT_TRUE(beside_torch->first) << where << "\n" << beside_torch->ToText();
    const auto& nodes = beside_torch->first->nodes_there;
    EXPECT_TRUE(std::find(nodes.begin(), nodes.end(), planted.node) != nodes.end())
        << where << "\n"
        << beside_torch->ToText();
    // What one model does in one op may be many nodes of the other.
    const size_t fewest = std::min(nodes.size(), beside_torch->first->nodes_here.size());
    EXPECT_LE(fewest, 3u) << where << "\n" << beside_torch->ToText();
    std::cout << network.folder << " " << kind.what << " at " << where << ": beside .pt2 "
              << beside_torch->first->nodes_here.size() << " nodes, here among " << nodes.size()
              << "\n";
  }
  EXPECT_GE(planted_ones, 2);
  if (!network.onnx) fs::remove(onnx_file);
}

INSTANTIATE_TEST_SUITE_P(Networks, PlantedDifference, ::testing::ValuesIn(kNetworks),
                         [](const auto& info) {
                           return fs::path(info.param.folder).filename().string();
                         });

}  // namespace
}  // namespace x2ir
