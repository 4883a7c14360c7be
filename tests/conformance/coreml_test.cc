// Small models in Core ML's files whose layers are compared with what they are by the comments of
// Core ML's schema, in NumPy and PyTorch (tests/data/cases/README.md): each is read, converted and
// evaluated, and exported to ONNX at opsets 13 and 18, where ONNX Runtime runs it to the same
// numbers.
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

constexpr double kCoremlRtol = 1e-3, kCoremlAtol = 1e-4;

std::vector<fs::path> CoremlCases(const fs::path& root) {
  std::vector<fs::path> models;
  const std::string only = Env("X2IR_CASES");
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".mlmodel") continue;
    if (only.empty() || std::regex_search(path.stem().string(), std::regex(only))) {
      models.push_back(path);
    }
  }
  std::sort(models.begin(), models.end());
  return models;
}

absl::Status CoremlAgrees(const Model& ir, const std::string& io) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io, *ir.graph));
  if (cases.empty()) return Internal("no outputs to compare with");
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, each, nullptr));
    size_t compared = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (!each.outputs[i]) continue;  // labels that are text
      ++compared;
      if (!got[i].tensor()) return Internal("output ", i, " is missing");
      const Tensor &x = *got[i].tensor(), &y = *each.outputs[i];
      if (x.dtype() != y.dtype() || x.dims() != y.dims()) {
        return Internal("output ", i, ": ", x.type().ToString(), ", expected ",
                        y.type().ToString());
      }
      for (int64_t k = 0; k < x.num_elements(); ++k) {
        const double a = x.AsDouble(k), b = y.AsDouble(k);
        if (!(std::fabs(a - b) <= kCoremlAtol + kCoremlRtol * std::fabs(b))) {
          return Internal("output ", i, ", element ", k, ": ", a, ", expected ", b);
        }
      }
    }
    if (compared == 0) return Internal("no output was compared");
  }
  return absl::OkStatus();
}

TEST(CoremlModels, ConvertAndAgree) {
  const fs::path archive = Unpacked("coreml-cases.tar.xz", "coreml-cases");
  ASSERT_FALSE(archive.empty());
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "coreml";
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  std::vector<std::string> asked;
  int total = 0, evaluated = 0;
  for (const fs::path& path : CoremlCases(archive / "coreml-cases")) {
    const std::string name = path.stem().string(), io = path.string() + ".io.safetensors";
    SCOPED_TRACE(name);
    const absl::StatusOr<Model> model = Import(path.string());
    EXPECT_TRUE(model.ok()) << model.status();
    ++total;
    if (!model.ok()) continue;
    const absl::Status same = CoremlAgrees(*model, io);
    EXPECT_TRUE(same.ok()) << same;
    evaluated += same.ok();
    for (const int opset : {13, 18}) {
      const fs::path out = dir / StrCat(name, ".", opset, ".onnx");
      const absl::Status exported =
          Export(model->Clone(), out.string(), {.opset = opset, .check = true});
      EXPECT_TRUE(exported.ok()) << opset << exported;
      if (!exported.ok() || !ort) continue;
      asked.push_back(StrCat(name, "@", opset));
      ort->Ask({out.string(), io, kCoremlRtol, kCoremlAtol});
    }
  }
  EXPECT_GT(total, 0);
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
  std::printf("%d models, %d agree; %d of %d files agree in ONNX Runtime\n", total, evaluated, ran,
              static_cast<int>(asked.size()));
}

}  // namespace
}  // namespace x2ir
