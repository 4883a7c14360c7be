// Networks of MXNet with PyTorch's outputs (tests/data/cases/README.md): each is read, converted
// and evaluated, and exported to ONNX at opsets 13 and 18, where ONNX Runtime runs it to the same
// numbers. What NNVM can say is written as its graph and read again.
//
//   X2IR_CASES=REGEX    only the cases whose names match
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
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

// What an opset cannot say.
const std::map<std::string, std::string>& Refused() {
  static const auto* const refused = new std::map<std::string, std::string>{
      {"regions@13",
       "regions with half pixels and as many samples as they are large: from opset 16"}};
  return *refused;
}
// Those that NNVM's operators can say.
const std::set<std::string>& InNnvm() {
  static const auto* const all =
      new std::set<std::string>{"resnet_0_8", "resnet_0_9_5",  "resnet_1_7", "mobilenet_blocks",
                                "mtcnn",      "squeezenet1_1", "unet"};
  return *all;
}

std::vector<std::string> MxnetCases(const fs::path& root) {
  std::vector<std::string> names;
  const std::string only = Env("X2IR_CASES");
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (only.empty() || std::regex_search(name, std::regex(only))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status Agrees(const Model& ir, const fs::path& io) {
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
        if (!(std::fabs(a - b) <= kAtol + kRtol * std::fabs(b))) {
          return Internal("output ", i, ", element ", k, ": ", a, ", expected ", b);
        }
      }
    }
  }
  return absl::OkStatus();
}

TEST(MxnetNetworks, ConvertAndAgree) {
  const fs::path archive = Unpacked("mxnet-cases.tar.xz", "mxnet-cases");
  ASSERT_FALSE(archive.empty());
  const fs::path root = archive / "mxnet-cases",
                 dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "mxnet";
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  std::vector<std::string> asked;
  int total = 0, evaluated = 0;
  for (const std::string& name : MxnetCases(root)) {
    SCOPED_TRACE(name);
    ++total;
    const fs::path io = root / name / "io.safetensors";
    const absl::StatusOr<Model> model = Import((root / name).string());
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status same = Agrees(*model, io);
    EXPECT_TRUE(same.ok()) << same;
    evaluated += same.ok();
    for (const int opset : {13, 18}) {
      const std::string label = StrCat(name, "@", opset);
      const fs::path out = dir / StrCat(name, ".", opset, ".onnx");
      const absl::Status exported =
          Export(model->Clone(), out.string(), {.opset = opset, .check = true});
      EXPECT_EQ(exported.ok(), !Refused().contains(label)) << label << exported;
      if (!exported.ok() || !ort) continue;
      asked.push_back(label);
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
  std::printf("%d networks, %d agree; %d of %d files agree in ONNX Runtime\n", total, evaluated,
              ran, static_cast<int>(asked.size()));
}

// Written as NNVM's files and read again they compute the same; the second writing is the first,
// byte by byte.
TEST(MxnetNetworks, ThereAndBackAsNnvm) {
  const fs::path archive = Unpacked("mxnet-cases.tar.xz", "mxnet-cases");
  ASSERT_FALSE(archive.empty());
  const fs::path root = archive / "mxnet-cases",
                 dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "mxnet";
  fs::create_directories(dir);
  for (const std::string& name : MxnetCases(root)) {
    SCOPED_TRACE(name);
    absl::StatusOr<Model> model = Import((root / name).string());
    ASSERT_TRUE(model.ok()) << model.status();
    const std::string path = (dir / (name + ".json")).string();
    const auto to_nnvm = [](Model ir, const std::string& to) {
      return Export(std::move(ir), to, {.format = "nnvm", .format_options = {{"force", true}}});
    };
    const absl::Status written = to_nnvm(*std::move(model), path);
    EXPECT_EQ(written.ok(), InNnvm().contains(name)) << written;
    if (!written.ok()) continue;
    absl::StatusOr<Model> again = Import(path);
    ASSERT_TRUE(again.ok()) << again.status();
    const absl::Status same = Agrees(*again, root / name / "io.safetensors");
    EXPECT_TRUE(same.ok()) << same;
    const std::string second = (dir / (name + ".again.json")).string();
    ASSERT_TRUE(to_nnvm(*std::move(again), second).ok());
    EXPECT_EQ(ReadFile(path), ReadFile(second));
    EXPECT_EQ(ReadFile(dir / (name + ".params")), ReadFile(dir / (name + ".again.params")));
  }
}

}  // namespace
}  // namespace x2ir
