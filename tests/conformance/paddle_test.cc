// Models of PaddlePaddle with outputs (tests/data/cases/README.md): each is read, converted and
// evaluated, and exported to ONNX at opsets 13 and 18, where ONNX Runtime runs it to the same
// numbers.
//
//   X2IR_CASES=REGEX    only the cases whose names match
//   X2IR_PADDLE=FOLDER  those of another folder
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
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

// Cases that give other numbers, and why.
const std::map<std::string, std::string>& PaddleDifferences() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"win_json_lcnet1_doc_ori_dropout_0",
       "downgrade_in_infer scales by 1 - p at inference; the stored numbers are unscaled"},
      {"win_json_lcnet1_doc_ori_matmul_0", "the same dropout"},
  };
  return *known;
}

std::vector<fs::path> PaddleCases() {
  std::string root = Env("X2IR_PADDLE");
  if (root.empty()) {
    const fs::path unpacked = Unpacked("paddle-cases.tar.xz", "paddle-cases");
    if (unpacked.empty()) return {};
    root = (unpacked / "paddle-cases").string();
  }
  const std::string only = Env("X2IR_CASES");
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || !fs::exists(entry.path() / "io.safetensors")) continue;
    if (only.empty() || std::regex_search(name, std::regex(only))) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

absl::Status EvaluatePaddle(const fs::path& io, const Model& ir) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io.string(), *ir.graph));
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, each, nullptr));
    for (size_t i = 0; i < got.size(); ++i) {
      if (!each.outputs[i]) continue;
      const Tensor *g = got[i].tensor(), &w = *each.outputs[i];
      if (!g || g->dtype() != w.dtype() || g->dims() != w.dims()) {
        return Internal("output ", i, " is ", g ? g->type().ToString() : "no tensor", ", expected ",
                        w.type().ToString());
      }
      for (int64_t k = 0; k < w.num_elements(); ++k) {
        const double a = g->AsDouble(k), b = w.AsDouble(k);
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        if (!(std::abs(a - b) <= kAtol + kRtol * std::abs(b))) {
          return Internal("output ", i, ", element ", k, ": ", a, ", expected ", b);
        }
      }
    }
  }
  return absl::OkStatus();
}

TEST(Paddle, ConvertAndAgree) {
  const std::vector<fs::path> cases = PaddleCases();
  ASSERT_FALSE(cases.empty());
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "paddle";
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  std::vector<std::string> asked;
  int evaluated = 0;
  for (const fs::path& path : cases) {
    const std::string name = path.filename().string();
    SCOPED_TRACE(name);
    const bool known = PaddleDifferences().contains(name);
    const absl::StatusOr<Model> model = Import(path.string());
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) continue;
    const absl::Status same = EvaluatePaddle(path / "io.safetensors", *model);
    EXPECT_EQ(same.ok(), !known) << same;
    evaluated += same.ok();
    for (const int opset : {13, 18}) {
      const fs::path out = dir / StrCat(name, "_", opset, ".onnx");
      const absl::Status exported =
          Export(model->Clone(), out.string(), {.opset = opset, .check = true});
      EXPECT_TRUE(exported.ok()) << "opset " << opset << ": " << exported;
      if (!exported.ok() || !ort || known) continue;
      asked.push_back(StrCat(name, " at opset ", opset));
      ort->Ask({out.string(), (path / "io.safetensors").string(), kRtol, kAtol, 0});
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
  std::printf("%zu models, %d agree, %d files in ONNX Runtime\n", cases.size(), evaluated, ran);
}

}  // namespace
}  // namespace x2ir
