// Networks of Caffe, Darknet, ncnn and Caffe2 with outputs of others (tests/data/cases/README.md):
// each is read, converted and evaluated, and exported to ONNX at opsets 13 and 18, where ONNX
// Runtime runs it to the same numbers. The two public networks of ncnn and Caffe2 are in ../shared.
//
//   X2IR_CASES=REGEX    only the cases whose names match
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr double kRtol = 1e-3, kAtol = 1e-4;

absl::Status AgreesWith(const Model& ir, const fs::path& io, double atol = kAtol) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io.string(), *ir.graph));
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, each, nullptr));
    for (size_t i = 0; i < got.size(); ++i) {
      if (!each.outputs[i] || !got[i].tensor()) return Internal("output ", i, " is missing");
      const Tensor &x = *got[i].tensor(), &y = *each.outputs[i];
      if (x.dtype() != y.dtype() || x.dims() != y.dims()) {
        return Internal("output ", i, ": ", x.type().ToString(), ", expected ",
                        y.type().ToString());
      }
      for (int64_t k = 0; k < x.num_elements(); ++k) {
        const double a = x.AsDouble(k), b = y.AsDouble(k);
        if (!(std::fabs(a - b) <= atol + kRtol * std::fabs(b))) {
          return Internal("output ", i, ", element ", k, ": ", a, ", expected ", b);
        }
      }
    }
  }
  return absl::OkStatus();
}

// Every folder of `root` is a case of that world. Says how many of them agree.
void CheckWorld(const std::string& world, const fs::path& root) {
  ASSERT_TRUE(fs::exists(root)) << root;
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / world;
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  const std::string only = Env("X2IR_CASES");
  std::vector<std::string> names, asked;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (only.empty() || std::regex_search(name, std::regex(only))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  int evaluated = 0;
  for (const std::string& name : names) {
    SCOPED_TRACE(StrCat(world, "/", name));
    const fs::path io = root / name / "io.safetensors";
    ImportOptions options;
    if (world == "darknet") options.format_options = {{"decode_heads", true}};
    const absl::StatusOr<Model> model = Import((root / name).string(), options);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(*DetectFormat((root / name).string()), world);
    const absl::Status same = AgreesWith(*model, io);
    EXPECT_TRUE(same.ok()) << same;
    evaluated += same.ok();
    for (const int opset : {13, 18}) {
      const fs::path out = dir / StrCat(name, ".", opset, ".onnx");
      const absl::Status exported =
          Export(model->Clone(), out.string(), {.opset = opset, .check = true});
      EXPECT_TRUE(exported.ok()) << opset << ": " << exported;
      if (!exported.ok() || !ort) continue;
      asked.push_back(StrCat(name, "@", opset));
      ort->Ask({out.string(), io.string(), kRtol, kAtol});
    }
  }
  int ran = 0;
  if (ort) {
    const std::vector<OrtJudge::Answer>& answers = ort->Answers();
    ASSERT_EQ(answers.size(), asked.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      ran += answers[i].agrees;
      EXPECT_TRUE(answers[i].agrees)
          << asked[i] << ": ONNX Runtime (" << answers[i].stage << "): " << answers[i].error;
    }
  }
  std::printf("%s: %d cases, %d agree; %d of %d files agree in ONNX Runtime\n", world.c_str(),
              static_cast<int>(names.size()), evaluated, ran, static_cast<int>(asked.size()));
}

class CaffeWorlds : public ::testing::TestWithParam<std::string> {};

TEST_P(CaffeWorlds, ConvertAndAgree) {
  const fs::path archive = Unpacked("caffe-cases.tar.xz", "caffe-cases");
  ASSERT_FALSE(archive.empty());
  CheckWorld(GetParam(), archive / GetParam());
}
// Public networks that are not a part of this project: their second outputs may come first there.
TEST(CaffeWorldsShared, PublicNetworksAgree) {
  const fs::path shared = fs::path(X2IR_SHARED_DIR) / "formats";
  if (!fs::exists(shared / "ncnn")) GTEST_SKIP() << "no ../shared/formats";
  for (const auto& [folder, turned] :
       {std::pair("caffe2/superres", false), std::pair("ncnn/face_slim320", true)}) {
    SCOPED_TRACE(folder);
    absl::StatusOr<Model> model = Import((shared / folder).string());
    ASSERT_TRUE(model.ok()) << model.status();
    if (turned) {
      Graph& graph = *model->graph;
      ASSERT_EQ(graph.outputs().size(), 2u);
      Value* const first = graph.outputs()[0];
      graph.SetOutput(0, graph.outputs()[1]);
      graph.SetOutput(1, first);
    }
    const absl::Status same = AgreesWith(*model, shared / folder / "io.safetensors", 1e-3);
    EXPECT_TRUE(same.ok()) << same;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CaffeWorlds,
                         ::testing::Values("caffe", "darknet", "ncnn", "caffe2"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace x2ir
