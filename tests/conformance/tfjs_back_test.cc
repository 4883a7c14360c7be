// TensorFlow's frozen graphs as graph models of TensorFlow.js, run there: TensorFlow's own outputs.
// Each is written twice: as it is, where most inputs are constants, so that TensorFlow.js computes
// all of it; and after the default passes, with the constants of floats that the graphs call in_0,
// in_1, ... as inputs.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes tfjs_graphs_refused.txt
//
// What is not written stands in tests/golden/tfjs_graphs_refused.txt with the reason. Cases of
// tests/golden/tf_exclusions.txt, whose numbers may differ, must run and give the same types.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

bool HasTensorFlowJs() {
  const std::string given = Env("X2IR_ORACLE");
  const fs::path oracle = given.empty() ? fs::path(X2IR_BUILD_DIR) / "oracle" : fs::path(given);
  return fs::exists(oracle / "node_modules/@tensorflow/tfjs-core");
}

// The oracle hands over no strings and no bfloat16.
bool CanBeFed(const IoCase& io) {
  const auto fits = [](const auto& tensor) {
    return !tensor->is_string() && tensor->dtype() != DType::kBFloat16;
  };
  return std::all_of(io.inputs.begin(), io.inputs.end(), fits) &&
         std::all_of(io.outputs.begin(), io.outputs.end(), fits);
}

class TfjsGraphs {
 public:
  void Add(const TfCase& c, Model ir, IoCase io, bool fed, bool may_differ) {
    const std::string name = StrCat(c.name, fed ? ", fed" : "");
    if (fed) {
      const size_t before = io.inputs.size();
      if (!FeedTfConstants(*ir.graph, &io).ok() || io.inputs.size() == before) return;
    }
    ++tried_;
    const std::string base = dir_.Path(StrCat("case_", tried_));
    OrtJudge::Question question{base + ".tfjs.json", base + ".safetensors"};
    // What TensorFlow.js computes as float32 is given as that.
    for (std::optional<Tensor>& tensor : io.outputs) {
      if (tensor->is_string()) continue;
      TfTolerance tolerance = TfToleranceOf(tensor->dtype());
      if (tensor->dtype() == DType::kFloat64) tolerance = TfToleranceOf(DType::kFloat32);
      if (IsFloating(tensor->dtype())) tensor = *CastTensor(*tensor, DType::kFloat32);
      question.rtol = std::max(question.rtol, may_differ ? kAnything : tolerance.rtol);
      question.atol = std::max(question.atol, may_differ ? kAnything : tolerance.atol);
    }
    const bool can_be_fed = CanBeFed(io) && WriteIoFile(question.io, {io}, *ir.graph).ok();
    ExportOptions options;
    options.optimize = fed;
    options.format_options.Set("float64_as_float32", true);
    if (const absl::Status s = Export(std::move(ir), question.model, options); !s.ok()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(s)) << name << ": " << s;
      refused_[name] = RefusalOf(s);
    } else if (!can_be_fed) {
      ++not_fed_;
    } else {
      judge_->Ask(std::move(question));
      asked_.push_back(name);
    }
  }

  void Finish(bool all) {
    const int right = ExpectAgreement(*judge_, asked_);
    std::printf(
        "tfjs: %zu of %zu graphs are written; TensorFlow.js runs %zu, %d right, %zu cannot be "
        "handed over\n",
        tried_ - refused_.size(), tried_, asked_.size(), right, not_fed_);
    if (all) {
      ExpectReasons("tests/golden/tfjs_graphs_refused.txt", "Graphs that are not written.",
                    refused_);
      return;
    }
    for (const auto& [name, reason] : refused_) {
      std::printf("not written: %s: %s\n", name.c_str(), reason.c_str());
    }
  }

 private:
  static constexpr double kAnything = 1e30;

  const TempDir dir_;
  std::unique_ptr<OrtJudge> judge_ = OrtJudge::Start("tfjs.mjs");
  size_t tried_ = 0, not_fed_ = 0;
  Reasons refused_;
  std::vector<std::string> asked_;
};

TEST(TfjsBackTest, FrozenGraphsRunInTensorFlowJs) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  if (!HasTensorFlowJs()) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const Reasons exclusions = ReadReasons("tests/golden/tf_exclusions.txt");
  const std::string filter = Env("X2IR_TF_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  TfjsGraphs graphs;
  for (const TfCase& c : cases) {
    if (!std::regex_search(c.name, wanted)) continue;
    const absl::StatusOr<Model> ir = Import(c.model, TfImportOptions(c));
    if (!ir.ok()) continue;  // told by tf_test.cc
    const absl::StatusOr<IoCase> io = ReadTfIo(c, *ir->graph);
    if (!io.ok()) continue;
    const bool may_differ = exclusions.contains(c.name);  // random numbers, or another order
    for (const bool fed : {false, true}) graphs.Add(c, ir->Clone(), *io, fed, may_differ);
  }
  graphs.Finish(filter.empty());
}

}  // namespace
}  // namespace x2ir
