// TensorFlow's frozen graphs against TensorFlow's own outputs: each is imported and evaluated, as
// it is and after the default passes, and exported at opsets 13 and 18, optimized and not, for
// ONNX Runtime to run. What is refused is refused with an error; what runs must be right.
//
//   X2IR_TF_CASES=REGEX  only the cases whose names match, with details
//   X2IR_NO_ORT=1        without ONNX Runtime
//   X2IR_TF_TABLE=FILE   writes the table of ops there (docs/tf_cases.md)
//
// What may differ stands in tests/golden/tf_exclusions.txt with its reason: NAME for every way of a
// case, NAME@13 for an export, ort:NAME where ONNX Runtime alone differs. Where the reason starts
// with "random", types and shapes must still be right.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/core/host_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/cli/libonnx_check.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr int kOpsets[] = {13, 18};
// What must be reached, in percent of the cases that are not random.
constexpr double kRequired = 99;

class Exclusions {
 public:
  bool Has(const std::string& key) {
    if (!reasons_.contains(key)) return false;
    used_.insert(key);
    return true;
  }
  bool IsRandom(const std::string& name) {
    const auto it = reasons_.find(name);
    if (it == reasons_.end() || !it->second.starts_with("random")) return false;
    used_.insert(name);
    return true;
  }
  std::vector<std::string> Unused() const {
    std::vector<std::string> keys;
    for (const auto& [key, reason] : reasons_) {
      if (!used_.contains(key)) keys.push_back(key);
    }
    return keys;
  }

 private:
  const Reasons reasons_ = ReadReasons("tests/golden/tf_exclusions.txt");
  std::set<std::string> used_;
};

enum class Verdict { kRight, kWrong, kRefused };

struct OpTally {
  int cases = 0, right = 0, wrong = 0, refused = 0;
};

class Runner {
 public:
  explicit Runner(const std::string& filter) : verbose_(!filter.empty()) {
    if (Env("X2IR_NO_ORT").empty()) ort_ = OrtJudge::Start();
    folder_ = fs::path(X2IR_BUILD_DIR) / "conformance" / "tf";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void Run(const TfCase& c) {
    ++cases_;
    Report report;
    std::set<std::string> ops;
    const Verdict verdict = Import(c, &report, &ops);
    random_ += exclusions_.IsRandom(c.name);
    ++verdicts_[verdict];
    std::set<std::string> refused;
    for (const Failure& failure : report.failures) refused.insert(failure.op);
    for (const std::string& op : ops) {
      OpTally& tally = by_op_[op];
      ++tally.cases;
      tally.right += verdict == Verdict::kRight;
      tally.wrong += verdict == Verdict::kWrong;
      tally.refused += refused.contains(op);
    }
    for (const std::string& op : refused) ++refused_by_[op];
  }

  void Finish(bool all) {
    HearOrt();
    const int counted = cases_ - random_;
    const double right =
        counted == 0 ? 100 : 100.0 * (verdicts_[Verdict::kRight] - random_right_) / counted;
    std::printf("tf: %d cases, %d random; right %d, wrong %d, refused %d (%.1f %% right)\n", cases_,
                random_, verdicts_[Verdict::kRight], verdicts_[Verdict::kWrong],
                verdicts_[Verdict::kRefused], right);
    if (!ort_) std::printf("*** ORACLE NOT RUN: ONNX Runtime is not installed, or not wanted\n");
    for (const auto& [way, tally] : exports_) {
      std::printf(
          "  export %-12s written %d, refused %d; ONNX Runtime agrees %d, differs %d, "
          "cannot run %d\n",
          way.c_str(), tally.written, tally.refused, tally.agrees, tally.differs, tally.cannot_run);
    }
    std::vector<std::pair<int, std::string>> most;
    for (const auto& [op, count] : refused_by_) most.emplace_back(-count, op);
    std::sort(most.begin(), most.end());
    for (const auto& [count, op] : most) std::printf("  refused by %s (%d)\n", op.c_str(), -count);
    std::fflush(stdout);
    std::string text;
    for (const std::string& failure : failures_) StrAppend(&text, failure, "\n");
    EXPECT_TRUE(failures_.empty()) << text;
    if (all) {
      EXPECT_GE(right, kRequired);
      if (ort_) {
        for (const std::string& key : exclusions_.Unused()) {
          ADD_FAILURE() << "tf_exclusions.txt: " << key << " did not fail";
        }
      }
      if (const std::string table = Env("X2IR_TF_TABLE"); !table.empty()) WriteTable(table);
    }
    if (failures_.empty()) fs::remove_all(folder_);
  }

 private:
  struct ExportTally {
    int written = 0, refused = 0, agrees = 0, differs = 0, cannot_run = 0;
  };

  void Fail(const TfCase& c, const std::string& key, const std::string& what) {
    if (exclusions_.Has(c.name) || exclusions_.Has(key)) return;
    failures_.push_back(StrCat(key, ": ", what));
  }

  Verdict Import(const TfCase& c, Report* report, std::set<std::string>* ops) {
    const ImportOptions options = TfImportOptions(c);
    absl::StatusOr<Model> model = Load(c.model, options.format, options.Loading());
    if (absl::IsUnimplemented(model.status())) return Verdict::kRefused;
    if (!model.ok()) {
      Fail(c, c.name, StrCat("reading: ", model.status().ToString()));
      return Verdict::kWrong;
    }
    for (const Node* node : model->graph->nodes()) {
      ops->insert(StrCat(node->dialect().view(), ".", node->op().view()));
    }
    if (verbose_) std::printf("%s\n%s\n", c.name.c_str(), ToText(*model->graph).c_str());
    if (const absl::Status s = ToIr(*model, options, report); !s.ok()) {
      if (verbose_) std::printf("%s\n", s.ToString().c_str());
      // A refusal must say that we cannot, not that TensorFlow's file is wrong.
      for (const Failure& failure : report->failures) {
        if (failure.code == absl::StatusCode::kInvalidArgument ||
            failure.code == absl::StatusCode::kInternal) {
          Fail(c, c.name, StrCat(failure.op, " '", failure.nodes[0], "': ", failure.reason));
          return Verdict::kWrong;
        }
      }
      if (report->failures.empty() && !absl::IsFailedPrecondition(s)) {
        Fail(c, c.name, s.ToString());
        return Verdict::kWrong;
      }
      return Verdict::kRefused;
    }
    if (verbose_) std::printf("%s\n", ToText(*model->graph).c_str());
    const auto io = ReadTfIo(c, *model->graph);
    if (!io.ok()) {
      Fail(c, c.name, io.status().ToString());
      return Verdict::kWrong;
    }
    std::vector<Tensor> inputs, outputs;
    for (const auto& tensor : io->inputs) inputs.push_back(*tensor);
    for (const auto& tensor : io->outputs) outputs.push_back(*tensor);
    const bool random = exclusions_.IsRandom(c.name);
    std::string difference = Evaluate(*model->graph, inputs, outputs, random);
    if (!difference.empty()) {
      Fail(c, c.name, difference);
      return Verdict::kWrong;
    }
    random_right_ += random;
    Model optimized;
    optimized.graph = model->graph->Clone();
    const auto passes = RunPasses(*optimized.graph, DefaultPasses());
    difference = passes.ok() ? Evaluate(*optimized.graph, inputs, outputs, random)
                             : passes.status().ToString();
    if (!difference.empty()) {
      Fail(c, c.name, StrCat("optimized: ", difference));
      return Verdict::kWrong;
    }
    for (const int opset : kOpsets) {
      for (const bool optimize : {false, true}) {
        Export(c, *model, opset, optimize, inputs, outputs, random);
      }
    }
    return Verdict::kRight;
  }

  static std::string Evaluate(const Graph& graph, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& outputs, bool random) {
    std::vector<Datum> in(inputs.begin(), inputs.end());
    const auto got = RunGraph(graph, std::move(in));
    if (!got.ok()) return StrCat("evaluation: ", got.status().ToString());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor* tensor = (*got)[i].tensor();
      if (!tensor) return StrCat("output ", i, " is no tensor");
      const std::string difference =
          random && tensor->type() == outputs[i].type() ? "" : TfDifference(*tensor, outputs[i]);
      if (!difference.empty()) {
        return StrCat("output '", graph.outputs()[i]->name(), "': ", difference);
      }
    }
    return "";
  }

  void Export(const TfCase& c, const Model& ir, int opset, bool optimize,
              const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs, bool random) {
    const std::string way = StrCat(opset, optimize ? " optimized" : "");
    ExportTally& tally = exports_[way];
    Model model;
    model.graph = ir.graph->Clone();
    ExportOptions options;
    options.opset = opset;
    options.optimize = optimize;
    options.check = true;
    const std::string key = StrCat(c.name, "@", opset);
    if (const absl::Status s = FromIr(model, "onnx", options); !s.ok()) {
      ++tally.refused;
      if (verbose_) std::printf("%s: %s\n", way.c_str(), s.ToString().c_str());
      if (!absl::IsFailedPrecondition(s) && !absl::IsNotFound(s) && !absl::IsUnimplemented(s)) {
        Fail(c, key, s.ToString());
      }
      return;
    }
    ++tally.written;
#ifdef X2IR_TEST_CLI
    // onnx's checker wants a rank of each input and output, and has none for what TensorFlow leaves
    // open.
    if (const auto checked = cli::CheckWithLibonnx(model);
        !checked.ok() && checked.status().message().find("Field 'shape'") == std::string::npos) {
      return Fail(c, key, checked.status().ToString());
    }
#endif
    const auto bytes = SerializeOnnx(model);
    if (!bytes.ok()) return Fail(c, key, bytes.status().ToString());
    if (verbose_) std::printf("%s:\n%s\n", way.c_str(), ToText(*model.graph).c_str());
    if (!ort_ || random) return;
    std::vector<NamedTensor> tensors;
    double rtol = 0, atol = 0;
    for (size_t i = 0; i < inputs.size(); ++i) tensors.push_back({StrCat("in_", i), inputs[i]});
    for (size_t i = 0; i < outputs.size(); ++i) {
      tensors.push_back({StrCat("out_", i), outputs[i]});
      const TfTolerance tolerance = TfToleranceOf(outputs[i].dtype());
      rtol = std::max(rtol, tolerance.rtol);
      atol = std::max(atol, tolerance.atol);
    }
    for (const NamedTensor& t : tensors) {
      if (t.tensor.is_string()) return;
    }
    const std::string base = StrCat(questions_.size());
    const std::string io = (folder_ / (base + ".safetensors")).string();
    const std::string path = (folder_ / (base + ".onnx")).string();
    if (!WriteSafetensors(io, tensors).ok()) return;
    std::ofstream(path, std::ios::binary) << *bytes;
    questions_.push_back({ort_->Ask({path, io, rtol, atol}), way, key, &c});
  }

  void HearOrt() {
    if (!ort_) return;
    const auto& answers = ort_->Answers();
    for (const Question& q : questions_) {
      const OrtJudge::Answer& answer = answers[q.number];
      ExportTally& tally = exports_[q.way];
      if (answer.agrees) {
        ++tally.agrees;
      } else if (answer.cannot_run()) {
        ++tally.cannot_run;
        if (verbose_) {
          std::printf("%s (%s): ONNX Runtime cannot run it: %s\n", q.key.c_str(), q.way.c_str(),
                      answer.error.c_str());
        }
      } else {
        ++tally.differs;
        if (exclusions_.Has(StrCat("ort:", q.of->name))) continue;
        Fail(*q.of, q.key,
             StrCat("ONNX Runtime (", q.way, "): ", answer.stage, ": ", answer.error));
      }
    }
  }

  void WriteTable(const std::string& path) const {
    std::ofstream file(path);
    file << "# TensorFlow's ops in the frozen graphs of tests/data/cases\n\n"
         << "<!-- Written by tests/conformance/tf_test.cc with X2IR_TF_TABLE. Do not edit. -->\n\n"
         << "Cases that have the op, those of them whose results agree with TensorFlow's, and\n"
         << "those that are refused because of it.\n\n"
         << "| op | cases | agree | refused |\n|---|---|---|---|\n";
    for (const auto& [op, tally] : by_op_) {
      if (!op.starts_with("tf.")) continue;
      file << "| " << op.substr(3) << " | " << tally.cases << " | " << tally.right << " | "
           << tally.refused << " |\n";
    }
  }

  struct Question {
    size_t number;
    std::string way, key;
    const TfCase* of;
  };
  const bool verbose_;
  std::unique_ptr<OrtJudge> ort_;
  fs::path folder_;
  Exclusions exclusions_;
  int cases_ = 0, random_ = 0, random_right_ = 0;
  std::map<Verdict, int> verdicts_;
  std::map<std::string, OpTally> by_op_;
  std::map<std::string, int> refused_by_;
  std::map<std::string, ExportTally> exports_;
  std::vector<Question> questions_;
  std::vector<std::string> failures_;
};

TEST(TensorFlowCases, AgreeWithTensorFlow) {
  const std::vector<TfCase> cases = TfCases();
  ASSERT_FALSE(cases.empty());
  const std::string filter = Env("X2IR_TF_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  Runner runner(filter);
  for (const TfCase& c : cases) {
    if (std::regex_search(c.name, wanted)) runner.Run(c);
  }
  runner.Finish(filter.empty());
}

}  // namespace
}  // namespace x2ir
