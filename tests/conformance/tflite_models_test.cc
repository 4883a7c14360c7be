// Whole networks as TFLite files: LiteRT gives the outputs that PyTorch or ONNX Runtime gave for
// them, at every size that the case has, and so does the file when it is read again. How many
// operators there are, and how many transposes among them.
//
//   X2IR_CASES=REGEX    only the networks whose names match; all of them are printed
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int operators, transposes;
  bool operator==(const Counts&) const = default;
};

// Networks whose operators are counted. A transpose is left where an input or output that is kept
// has its channels first; none is inside.
const std::map<std::string, Counts>& KnownCounts() {
  static const auto* const known = new std::map<std::string, Counts>{
      {"efficientnet_b0/model.17.onnx", {244, 1}}, {"mobilenet_v2/model.17.onnx", {70, 1}},
      {"mobilenet_v2/model.pt2", {70, 1}},         {"nhwc_elu_split/model.13.onnx", {38, 0}},
      {"nhwc_mbv2/model.13.onnx", {65, 0}},        {"nhwc_ssd/model.13.onnx", {13, 0}},
      {"unet_dyn/model.17.onnx", {36, 2}},         {"unet_dyn/model.pt2", {36, 2}},
      {"unet_tiny/model.17.onnx", {24, 2}},        {"unet_tiny/model.pt2", {24, 2}},
  };
  return *known;
}

std::vector<std::string> Networks(const fs::path& root) {
  const std::string filter = Env("X2IR_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".onnx" && path.extension() != ".pt2") continue;
    const std::string name = fs::relative(path, root).string();
    if (std::regex_search(name, wanted)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Counts CountOperators(const Graph& graph) {
  Counts counts{0, 0};
  for (const Node* node : graph.nodes()) {
    ++counts.operators;
    counts.transposes += node->op() == "TRANSPOSE" || node->op() == "Transpose" ||
                         node->op() == "aten.permute.default" || node->op() == "aten.transpose.int";
  }
  return counts;
}

// By how much of the range of what is expected results differ.
absl::StatusOr<double> DifferenceInEvaluation(const std::string& file, const std::string& io) {
  X2IR_ASSIGN_OR_RETURN(const Model model, Import(file));
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io, *model.graph));
  double worst = 0;
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*model.graph, each, nullptr));
    for (size_t i = 0; i < got.size(); ++i) {
      const Tensor *g = got[i].tensor(), *want = each.outputs[i] ? &*each.outputs[i] : nullptr;
      if (!g || !want || g->dims() != want->dims() || g->dtype() != want->dtype()) {
        return Internal("output ", static_cast<int64_t>(i), " is of another type");
      }
      double range = 0, apart = 0;
      for (int64_t k = 0; k < want->num_elements(); ++k) {
        range = std::max(range, std::fabs(want->AsDouble(k)));
        apart = std::max(apart, std::fabs(want->AsDouble(k) - g->AsDouble(k)));
      }
      worst = std::max(worst, range == 0 ? apart : apart / range);
    }
  }
  return worst;
}

TEST(TfliteNetworks, RunInLiteRt) {
  const fs::path root = Shared("models");
  if (root.empty()) GTEST_SKIP() << kNotShared;
  const std::vector<std::string> names = Networks(root);
  const auto judge = OrtJudge::Start("litert.mjs");
  const TempDir dir;
  std::vector<std::string> asked;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string io = (root / name).parent_path() / "io.safetensors";
    const std::string out = dir.Path(std::to_string(asked.size()) + ".tflite");
    const absl::StatusOr<Model> source = Load((root / name).string());
    ASSERT_TRUE(source.ok()) << source.status();
    const Counts before = CountOperators(*source->graph);
    absl::StatusOr<Model> model = Import((root / name).string());
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status written = Export(*std::move(model), out);
    EXPECT_TRUE(written.ok()) << written;
    if (!written.ok()) continue;
    const absl::StatusOr<Model> file = Load(out);
    ASSERT_TRUE(file.ok()) << file.status();
    const Counts counts = CountOperators(*file->graph);
    if (const auto row = KnownCounts().find(name); row != KnownCounts().end()) {
      EXPECT_EQ(counts.operators, row->second.operators);
      EXPECT_EQ(counts.transposes, row->second.transposes);
    }
    const absl::StatusOr<double> difference = DifferenceInEvaluation(out, io);
    EXPECT_TRUE(difference.ok()) << difference.status();
    EXPECT_LE(difference.value_or(INFINITY), 1e-3);
    std::printf("%-36s nodes/transposes %4d/%-2d -> %4d/%-2d  differs by %.2g of the range\n",
                name.c_str(), before.operators, before.transposes, counts.operators,
                counts.transposes, difference.value_or(-1));
    std::fflush(stdout);
    if (judge) judge->Ask({out, io, 1e-3, 1e-3});
    asked.push_back(name);
  }
  if (!judge) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const int right = ExpectAgreement(*judge, asked);
  std::printf("%zu networks, %zu written, %d right in LiteRT\n", names.size(), asked.size(), right);
}

// What is written is read and written again: the same outputs in LiteRT, and no larger file.
TEST(TfliteNetworks, WrittenAgain) {
  const fs::path root = Shared("models");
  if (root.empty()) GTEST_SKIP() << kNotShared;
  const auto judge = OrtJudge::Start("litert.mjs");
  const TempDir dir;
  int count = 0;
  for (const char* name : {"mobilenet_v2", "shufflenet_v2_x0_5", "unet_tiny", "bert_tiny"}) {
    const fs::path network = root / name / "model.17.onnx";
    if (!fs::exists(network)) continue;
    for (const char* option : {"", "float16", "dynamic_range"}) {
      SCOPED_TRACE(std::string(name) + " " + option);
      const std::string base = dir.Path(std::to_string(count++));
      ExportOptions to;
      if (*option) to.format_options = {{option, true}};
      absl::StatusOr<Model> model = Import(network.string());
      ASSERT_TRUE(model.ok()) << model.status();
      absl::Status written = Export(*std::move(model), base + ".tflite", to);
      ASSERT_TRUE(written.ok()) << written;
      model = Import(base + ".tflite");
      ASSERT_TRUE(model.ok()) << model.status();
      written = Export(*std::move(model), base + "_again.tflite");
      ASSERT_TRUE(written.ok()) << written;
      EXPECT_LE(static_cast<double>(fs::file_size(base + "_again.tflite")),
                1.02 * static_cast<double>(fs::file_size(base + ".tflite")));
      const std::string io = root / name / "io.safetensors";
      if (judge) judge->Ask({base + "_again.tflite", io, 1e-5, 1e-5, 0, base + ".tflite"});
    }
  }
  if (!judge) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  for (const OrtJudge::Answer& answer : judge->Answers()) {
    EXPECT_TRUE(answer.agrees) << answer.stage << ": " << answer.error;
  }
}

}  // namespace
}  // namespace x2ir
