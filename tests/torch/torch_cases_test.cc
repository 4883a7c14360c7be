// Programs of torch.export with what PyTorch made of their inputs: torch-op-cases.tar.xz of
// tests/data/cases (PyTorch's own samples of its operators), torch-programs.tar.xz (what these
// lack) and the models of ../shared/models. Each is imported and evaluated, exported at the opsets
// of a table, and run by ONNX Runtime where that is installed. What cannot be converted must be
// refused by name; what is wrong is a failure.
//
//   X2IR_CASES=REGEX       only the cases whose names match, with details of each that is not right
//   X2IR_TORCH_CASES=DIR   a folder of cases (NAME/model.pt2, NAME/io.safetensors) instead
//   X2IR_OPSETS=18,20      the opsets to export at
//   X2IR_NO_ORT=1          without ONNX Runtime
//   X2IR_UPDATE_GOLDEN=1   writes docs/torch_ops.md
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/golden/golden_util.h"
#include "tests/torch/torch_cases_util.h"
#include "x2ir/cli/libonnx_check.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// --- Comparing ------------------------------------------------------------------------------

struct Tolerance {
  double rtol = 0, atol = 0;
};
Tolerance ToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {4e-3, 1e-3};
    case DType::kBFloat16: return {3e-2, 1e-2};
    case DType::kFloat32: return {1e-3, 1e-5};
    case DType::kFloat64: return {1e-5, 1e-7};
    default: return {};  // everything else is exact
  }
}

// Results of float32 in which large numbers cancel have PyTorch's own rounding errors: this much,
// by the largest element. (Two versions of it differ by as much.)
double NoiseOf(std::string_view name, const std::vector<Tensor>& outputs) {
  double share = 0;
  if (name.find("matrix_exp") != name.npos) share = 1e-8;
  // Networks; quantized ones may round a step away.
  if (name.substr(0, 5) == "net__") share = name.substr(0, 7) == "net__q_" ? 0.02 : 1e-4;
  if (share == 0) return 0;
  double largest = 0;
  for (const Tensor& t : outputs) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      largest = std::max(largest, std::abs(t.AsDouble(i)));
    }
  }
  return share * std::max(largest, share > 1e-8 ? 1.0 : 0.0);
}

// "" when they agree; else where they first do not.
std::string Difference(const Tensor& got, const Tensor& want, double noise = 0) {
  if (got.type() != want.type()) {
    return StrCat("expected ", want.type().ToString(), ", got ", got.type().ToString());
  }
  if (got == want) return "";
  Tolerance tolerance = ToleranceOf(want.dtype());
  tolerance.atol += noise;
  int64_t wrong = 0;
  std::string first;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    if (!IsFloating(want.dtype())) {
      if (got.AsInt(i) == want.AsInt(i)) continue;
      if (wrong++ == 0) first = StrCat("expected ", want.AsInt(i), ", got ", got.AsInt(i));
      continue;
    }
    const double g = got.AsDouble(i), w = want.AsDouble(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double allowed = tolerance.atol + tolerance.rtol * std::abs(w);
    if (std::isfinite(w) && std::abs(g - w) <= allowed) continue;
    if (wrong++ == 0) first = StrCat("element ", i, ": expected ", w, ", got ", g);
  }
  return wrong == 0 ? "" : StrCat(first, " (", wrong, " of ", want.num_elements(), " differ)");
}

std::string Evaluate(std::string_view name, const Graph& graph,
                     const std::vector<TorchDataSet>& sets) {
  for (const TorchDataSet& set : sets) {
    std::vector<Datum> inputs(set.inputs.begin(), set.inputs.end());
    inputs.resize(graph.inputs().size());
    const auto outputs = RunGraph(graph, std::move(inputs));
    if (!outputs.ok()) return StrCat("evaluation: ", outputs.status().ToString());
    if (outputs->size() != set.outputs.size()) {
      return StrCat("expected ", set.outputs.size(), " outputs, got ", outputs->size());
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      const Tensor* got = (*outputs)[i].tensor();
      const std::string difference =
          got ? Difference(*got, set.outputs[i], NoiseOf(name, set.outputs))
              : std::string("no tensor");
      if (!difference.empty()) return StrCat("output ", i, ": ", difference);
    }
  }
  return "";
}

Model Copy(const Model& model) {
  Model copy;
  copy.graph = model.graph->Clone();
  copy.source_dialect = model.source_dialect;
  copy.opset_imports = model.opset_imports;
  return copy;
}

// --- Verdicts -------------------------------------------------------------------------------

enum Verdict { kRight, kRefused, kWrong, kNotRun };

struct Outcome {
  Verdict verdict = kNotRun;
  std::string what;
};

bool IsRefusal(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsNotFound(status) ||
         absl::IsFailedPrecondition(status);
}
Outcome FromStatus(std::string_view when, const absl::Status& status) {
  return {IsRefusal(status) ? kRefused : kWrong, StrCat(when, ": ", status.ToString())};
}

class Runner {
 public:
  explicit Runner(std::vector<int> opsets) : opsets_(std::move(opsets)) {
    if (Env("X2IR_NO_ORT").empty()) judge_ = OrtJudge::Start();
    fs::create_directories(Folder());
    details_ = !Env("X2IR_CASES").empty();
  }

  void Run(const TorchCase& test) {
    const auto sets = ReadTorchData(test.io);
    ASSERT_TRUE(sets.ok()) << test.name << ": " << sets.status();
    // TorchScript says no types: the samples have them.
    ImportOptions options;
    if (test.model.extension() != ".pt2") options.example = test.io.string();
    absl::StatusOr<Model> ir = Import(test.model.string(), options);
    if (!ir.ok()) {
      Note(test, 0, FromStatus("import", ir.status()));
      for (size_t i = 0; i < opsets_.size(); ++i) {
        Note(test, static_cast<int>(i) + 1, FromStatus("import", ir.status()), /*again=*/true);
      }
      return;
    }
    std::string difference = Evaluate(test.name, *ir->graph, *sets);
    if (!difference.empty() && details_) StrAppend(&difference, "\n", ToText(*ir->graph));
    Note(test, 0, {difference.empty() ? kRight : kWrong, difference});
    for (size_t i = 0; i < opsets_.size(); ++i) {
      Export(test, *ir, *sets, static_cast<int>(i) + 1, opsets_[i]);
    }
  }

  // Waits for ONNX Runtime, then prints.
  void Finish(std::string_view title) {
    if (judge_) {
      const auto& answers = judge_->Answers();
      for (const Asked& asked : asked_) {
        const OrtJudge::Answer& answer = answers[asked.number];
        Outcome outcome{kRight, ""};
        if (!answer.agrees) {
          outcome = {answer.cannot_run() ? kNotRun : kWrong,
                     StrCat("ONNX Runtime: ", answer.stage, ": ", answer.error)};
        }
        Note(asked.test, asked.column, outcome);
      }
    }
    std::printf("%s\n%-12s %6s %8s %6s %8s\n", std::string(title).c_str(), "", "right", "refused",
                "wrong", "not run");
    for (size_t i = 0; i <= opsets_.size(); ++i) {
      auto& count = columns_[static_cast<int>(i)];
      std::printf("%-12s %6d %8d %6d %8d\n", Title(static_cast<int>(i)).c_str(), count[kRight],
                  count[kRefused], count[kWrong], count[kNotRun]);
    }
    if (!judge_) std::printf("(without ONNX Runtime: exported models were not run)\n");
  }

  int Count(int column, Verdict verdict) { return columns_[column][verdict]; }
  // Why programs were not converted, by their names.
  const std::map<std::string, std::string>& refused() const { return refused_; }
  double ShareRight(int column) {
    int all = 0;
    for (const auto& [verdict, count] : columns_[column]) all += count;
    return all == 0 ? 1 : static_cast<double>(columns_[column][kRight]) / all;
  }

  // A row an operator: how many of its cases are right, refused, wrong.
  std::string Table() const {
    std::string text = StrCat(ReadGolden("tests/golden/torch_ops_head.md"),
                              "\n| operator | right | refused |\n|---|---|---|\n");
    for (const auto& [name, count] : by_operator_) {
      const auto of = [&, c = &count](Verdict v) { return c->contains(v) ? c->at(v) : 0; };
      StrAppend(&text, "| ", name, " | ", of(kRight), " | ", of(kRefused), " |\n");
    }
    return text;
  }

 private:
  struct Asked {
    TorchCase test;
    int column;
    size_t number;
  };

  static fs::path Folder() { return fs::path(X2IR_BUILD_DIR) / "torch-exported"; }
  std::string Title(int column) const {
    return column == 0 ? "IR" : StrCat("opset ", opsets_[static_cast<size_t>(column) - 1]);
  }

  void Export(const TorchCase& test, const Model& ir, const std::vector<TorchDataSet>& sets,
              int column, int opset) {
    Model model = Copy(ir);
    ExportOptions options;
    options.opset = opset;
    options.check = true;
    if (absl::Status s = FromIr(model, "onnx", options); !s.ok()) {
      return Note(test, column, FromStatus("export", s));
    }
#ifdef X2IR_TEST_CLI
    if (const auto checked = cli::CheckWithLibonnx(model); !checked.ok()) {
      return Note(test, column, {kWrong, checked.status().ToString()});
    }
#endif
    if (!judge_) return Note(test, column, {kNotRun, ""});
    for (const TorchDataSet& set : sets) {
      const std::string stem = StrCat(test.name, ".", set.prefix, opset);
      const fs::path file = Folder() / StrCat(stem, ".onnx");
      OnnxWriteOptions write;
      write.external = OnnxWriteOptions::External::kNever;
      if (absl::Status s = WriteOnnx(model, file.string(), write); !s.ok()) {
        return Note(test, column, {kWrong, s.ToString()});
      }
      fs::path io = test.io;
      if (!set.prefix.empty()) {
        io = Folder() / StrCat(stem, ".safetensors");
        std::vector<NamedTensor> tensors;
        for (size_t i = 0; i < set.inputs.size(); ++i) {
          tensors.push_back({StrCat("in_", i), set.inputs[i]});
        }
        for (size_t i = 0; i < set.outputs.size(); ++i) {
          tensors.push_back({StrCat("out_", i), set.outputs[i]});
        }
        ASSERT_TRUE(WriteSafetensors(io.string(), tensors).ok());
      }
      Tolerance tolerance{1e-3, 1e-4};
      tolerance.atol += NoiseOf(test.name, set.outputs);
      for (const Tensor& t : set.outputs) {
        const Tolerance own = ToleranceOf(t.dtype());
        tolerance.rtol = std::max(tolerance.rtol, own.rtol);
        tolerance.atol = std::max(tolerance.atol, own.atol);
      }
      const size_t number =
          judge_->Ask({file.string(), io.string(), tolerance.rtol, tolerance.atol});
      asked_.push_back({test, column, number});
    }
  }

  static std::string OperatorOf(const std::string& name) {
    const size_t end = name.rfind("__");
    return end == std::string::npos || end == 0 ? name : name.substr(0, end);
  }

  void Note(const TorchCase& test, int column, const Outcome& outcome, bool again = false) {
    ++columns_[column][outcome.verdict];
    if (column == 0) ++by_operator_[OperatorOf(test.name)][outcome.verdict];
    if (column == 0 && outcome.verdict == kRefused) refused_[test.name] = outcome.what;
    if (again || outcome.verdict == kRight) return;
    if (outcome.verdict == kWrong) {
      ADD_FAILURE() << test.name << " (" << Title(column) << "): " << outcome.what;
    } else if (details_) {
      std::printf("%s (%s): %s\n", test.name.c_str(), Title(column).c_str(), outcome.what.c_str());
    }
  }

  const std::vector<int> opsets_;
  std::unique_ptr<OrtJudge> judge_;
  std::vector<Asked> asked_;
  std::map<int, std::map<Verdict, int>> columns_;
  std::map<std::string, std::map<Verdict, int>> by_operator_;
  std::map<std::string, std::string> refused_;
  bool details_ = false;
};

std::vector<int> OpsetsToTry() {
  std::vector<int> opsets;
  const std::string given = Env("X2IR_OPSETS");
  std::stringstream list(given.empty() ? "13,18,20" : given);
  for (std::string item; std::getline(list, item, ',');) opsets.push_back(std::atoi(item.c_str()));
  return opsets;
}

void RunCases(Runner& runner, const std::vector<TorchCase>& cases) {
  const std::regex wanted(Env("X2IR_CASES").empty() ? ".*" : Env("X2IR_CASES"));
  for (const TorchCase& test : cases) {
    if (std::regex_search(test.name, wanted)) runner.Run(test);
  }
}

// Shares of what is evaluated right that must not fall.
constexpr double kFloorOfCases = 0.97;

// What is written by hand behind the table.
std::string SectionsOf(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t at = text.find("\n## ");
  return at == text.npos ? "" : text.substr(at);
}

TEST(TorchCasesTest, Operators) {
  const std::string folder = Env("X2IR_TORCH_CASES");
  const std::vector<TorchCase> cases =
      folder.empty() ? ArchivedTorchCases() : TorchCasesUnder(folder);
  ASSERT_FALSE(cases.empty());
  Runner runner(OpsetsToTry());
  RunCases(runner, cases);
  runner.Finish(StrCat(cases.size(), " cases of PyTorch's operators"));
  if (!folder.empty() || !Env("X2IR_CASES").empty()) return;
  EXPECT_GE(runner.ShareRight(0), kFloorOfCases);
  if (UpdatesGolden()) {
    const std::string path = X2IR_SOURCE_DIR "/docs/torch_ops.md";
    const std::string rest = SectionsOf(path);
    std::ofstream(path) << runner.Table() << rest;
  }
}

// All are right but those of these names, which are refused for the reason given.
void ExpectAllRight(const std::vector<TorchCase>& cases, std::string_view what,
                    const std::map<std::string, std::string>& refused) {
  ASSERT_FALSE(cases.empty());
  Runner runner(OpsetsToTry());
  RunCases(runner, cases);
  runner.Finish(StrCat(cases.size(), " ", what));
  if (!Env("X2IR_CASES").empty()) return;
  for (const auto& [name, why] : runner.refused()) {
    auto it = refused.find(name);
    EXPECT_TRUE(it != refused.end() && why.find(it->second) != std::string::npos)
        << name << ": " << why;
  }
  EXPECT_EQ(runner.refused().size(), refused.size());
}

TEST(TorchCasesTest, Programs) {
  if (!Env("X2IR_TORCH_CASES").empty()) GTEST_SKIP() << "only the folder of X2IR_TORCH_CASES";
  const std::map<std::string, std::string> refused = {
      {"gmm2d2d", "groups of what is summed"},
      {"svd_0", "singular vectors, whose signs are not defined"},
      {"svd_2", "singular vectors, whose signs are not defined"},
      {"vmap_index", "call run_decompositions() on the exported program before it is saved"},
  };
  ExpectAllRight(ArchivedTorchPrograms(), "programs", refused);
}

// Traced operators, scripted functions and networks.
TEST(TorchCasesTest, TorchScript) {
  if (!Env("X2IR_TORCH_CASES").empty()) GTEST_SKIP() << "only the folder of X2IR_TORCH_CASES";
  const std::map<std::string, std::string> refused = {
      {"sc__dtype_device", "in different element types"},
  };
  ExpectAllRight(ArchivedTorchScripts(), "files of TorchScript", refused);
}

TEST(TorchCasesTest, Models) {
  if (!Env("X2IR_TORCH_CASES").empty()) GTEST_SKIP() << "only the folder of X2IR_TORCH_CASES";
  std::vector<TorchCase> cases = TorchCasesUnder(Shared("models"));
  if (cases.empty()) GTEST_SKIP() << kNotShared;
  Runner runner(OpsetsToTry());
  RunCases(runner, cases);
  runner.Finish(StrCat(cases.size(), " models of torch.export"));
}

// Programs of transformers and torchvision. All are right but two, whose recorded outputs are not
// what they compute (docs/torch_ops.md).
TEST(TorchCasesTest, Zoo) {
  if (!Env("X2IR_TORCH_CASES").empty()) GTEST_SKIP() << "only the folder of X2IR_TORCH_CASES";
  std::vector<TorchCase> cases = TorchCasesUnder(Shared("zoo"));
  if (cases.empty()) GTEST_SKIP() << kNotShared;
  std::erase_if(cases, [](const TorchCase& test) {
    return test.name == "paligemma_dyn" ||  // PyTorch's own run of it differs by 10.8
           test.name == "llama_fp16";       // halves, rounded in another order
  });
  Runner runner(OpsetsToTry());
  RunCases(runner, cases);
  runner.Finish(StrCat(cases.size(), " programs of the zoo"));
  EXPECT_TRUE(runner.refused().empty());
}

}  // namespace
}  // namespace x2ir
