// ONNX's own backend cases: small models with inputs and expected outputs. Each is imported and
// evaluated, as it is and after the default passes, exported at its own opset and at all others of
// the table below, and what was exported is checked by libonnx where that knows the opset, imported
// and evaluated again, and run by ONNX Runtime where that can.
//
//   X2IR_CASES=REGEX    only the cases whose names match, with details of each failure
//   X2IR_OPSETS=11,17   the other opsets to export at, instead of those of the table
//   X2IR_NO_ORT=1       without ONNX Runtime
//   X2IR_OPTIMIZE=1     what is exported is optimized before
//   X2IR_NODE_TESTS=DIR a folder of more cases (NAME/model.onnx, NAME/test_data_set_0/...)
//
// What fails and may fail stands in tests/golden/onnx_exclusions.txt with its reason: NAME for
// every way of a case, NAME@17 for the export at 17, newer:NAME for the case in the archive of
// newer ones alone, ort:NAME where ONNX Runtime alone differs. Where the reason starts with
// "random" results may have other values, but no other type or shape, and the case does not count
// in the shares.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/host_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/cli/libonnx_check.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// --- Comparing ------------------------------------------------------------------------------

struct Tolerance {
  double rtol = 0, atol = 0;
};

// ONNX's own runner takes 1e-3 and 1e-7. Types that cannot do that: two units in the last place.
Tolerance ToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {2e-3, 1e-4};
    case DType::kBFloat16: return {1.6e-2, 1e-3};
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex64:
    case DType::kComplex128: return {1e-3, 1e-7};
    default: return {};  // everything else is exact
  }
}

// "" when they agree; else where they first do not.
std::string Difference(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype()) {
    return StrCat("expected ", Name(want.dtype()), ", got ", Name(got.dtype()));
  }
  if (got.dims() != want.dims()) {
    return StrCat("expected ", want.type().ToString(), ", got ", got.type().ToString());
  }
  if (got.is_string()) {
    for (int64_t i = 0; i < want.num_elements(); ++i) {
      if (got.strings()[i] == want.strings()[i]) continue;
      return StrCat("element ", i, ": expected \"", want.strings()[i], "\", got \"",
                    got.strings()[i], "\"");
    }
    return "";
  }
  const DType dtype = want.dtype();
  if (got == want) return "";
  const Tolerance tolerance = ToleranceOf(dtype);
  if (tolerance.rtol == 0 && !IsFloating(dtype)) {
    for (int64_t i = 0; i < want.num_elements(); ++i) {
      if (got.AsInt(i) == want.AsInt(i)) continue;
      return StrCat("element ", i, ": expected ", want.AsInt(i), ", got ", got.AsInt(i));
    }
    return "";
  }
  if (IsComplex(dtype)) {
    // As twice as many real numbers.
    auto parts = [](const Tensor& t) {
      return t.dtype() == DType::kComplex64
                 ? *Tensor::View(DType::kFloat32, {2 * t.num_elements()}, t.bytes(), nullptr)
                 : *Tensor::View(DType::kFloat64, {2 * t.num_elements()}, t.bytes(), nullptr);
    };
    return Difference(parts(got).AlignedCopyIfNeeded(), parts(want).AlignedCopyIfNeeded());
  }
  int64_t wrong = 0;
  std::string first;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double g = got.AsDouble(i), w = want.AsDouble(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (std::abs(g - w) <= tolerance.atol + tolerance.rtol * std::abs(w) && std::isfinite(w)) {
      continue;
    }
    if (wrong++ == 0) first = StrCat("element ", i, ": expected ", w, ", got ", g);
  }
  return wrong == 0 ? "" : StrCat(first, " (", wrong, " of ", want.num_elements(), " differ)");
}

// The same for random numbers: of these type and shape are known.
std::string TypeDifference(const Tensor& got, const Tensor& want) {
  return got.type() == want.type() ? "" : Difference(got, want);
}

// --- Cases ----------------------------------------------------------------------------------

struct Case {
  std::string name;
  fs::path folder;
};

void AddCase(const fs::path& model, std::vector<Case>& cases) {
  if (model.filename() != "model.onnx") return;
  cases.push_back({model.parent_path().filename().string(), model.parent_path()});
}

// The cases of the distribution's package, as the package manager lists them.
std::vector<Case> PackagedCases() {
  std::vector<Case> cases;
  if (FILE* list = popen("dpkg -L libonnx-testdata 2>/dev/null", "r")) {
    char line[4096];
    while (fgets(line, sizeof line, list)) {
      std::string path = line;
      path.resize(path.find_last_not_of("\r\n") + 1);
      AddCase(path, cases);
    }
    pclose(list);
  }
  return cases;
}

std::vector<Case> CasesUnder(const fs::path& root) {
  std::vector<Case> cases;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    AddCase(entry.path(), cases);
  }
  return cases;
}

std::vector<Case> ArchivedCases(const std::string& archive) {
  const fs::path folder = Unpacked(archive, "onnx-node-tests");
  return folder.empty() ? std::vector<Case>() : CasesUnder(folder);
}

// --- Running --------------------------------------------------------------------------------

struct DataSet {
  std::vector<Datum> inputs, outputs;
  bool random = false;  // only types and shapes are those of the outputs
};

absl::StatusOr<std::vector<DataSet>> ReadDataSets(const fs::path& folder, const Graph& graph) {
  std::vector<DataSet> sets;
  for (int i = 0;; ++i) {
    const fs::path at = folder / StrCat("test_data_set_", i);
    if (!fs::exists(at)) return sets;
    DataSet set;
    X2IR_ASSIGN_OR_RETURN(set.inputs, ReadDatums(at.string(), "input", graph.inputs()));
    X2IR_ASSIGN_OR_RETURN(set.outputs, ReadDatums(at.string(), "output", graph.outputs()));
    sets.push_back(std::move(set));
  }
}

// "" when the graph gives every data set's outputs.
std::string Evaluate(const Graph& graph, const std::vector<DataSet>& sets) {
  for (const DataSet& set : sets) {
    std::vector<Datum> inputs = set.inputs;
    inputs.resize(graph.inputs().size());
    const auto outputs = RunGraph(graph, std::move(inputs));
    if (!outputs.ok()) return StrCat("evaluation: ", outputs.status().ToString());
    if (outputs->size() != set.outputs.size()) {
      return StrCat("expected ", set.outputs.size(), " outputs, got ", outputs->size());
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      const std::string& name = graph.outputs()[i]->name();
      const std::string difference =
          DatumDifference((*outputs)[i], set.outputs[i], set.random ? TypeDifference : Difference);
      if (!difference.empty()) return StrCat("output '", name, "': ", difference);
      // What inference said must be true of what came out.
      const Type& type = graph.outputs()[i]->type();
      if (const std::string other = NotOfType((*outputs)[i], type); !other.empty()) {
        return StrCat("output '", name, "' was inferred to be ", type.ToString(), ", and is ",
                      other);
      }
    }
  }
  return "";
}

Model Copy(const Model& model) {
  Model copy;
  copy.graph = model.graph->Clone();
  copy.source_dialect = model.source_dialect;
  copy.ir_version = model.ir_version;
  copy.opset_imports = model.opset_imports;
  copy.functions = model.functions;
  return copy;
}

enum class Verdict { kPassed, kFailed, kUnmapped, kCannotExpress };

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string what;               // of a failure
  std::set<std::string> missing;  // ops without a mapping
  std::string details;            // graphs as text, for X2IR_CASES
  std::string bytes;              // of the exported file
};

std::string SignatureOf(const Graph& graph) {
  std::string text;
  for (const Value* input : graph.inputs()) StrAppend(&text, input->name(), ", ");
  StrAppend(&text, "->");
  for (const Value* output : graph.outputs()) StrAppend(&text, " ", output->name());
  return text;
}

// Runs the default passes over a copy, and evaluates that.
Outcome OptimizeAndEvaluate(const Model& ir, const std::vector<DataSet>& sets) {
  const Model model = Copy(ir);
  Graph& graph = *model.graph;
  const auto failed = [&](std::string what) {
    return Outcome{Verdict::kFailed,
                   StrCat("optimized: ", what),
                   {},
                   StrCat("optimized:\n", ToText(graph)),
                   ""};
  };
  if (const auto results = RunPasses(graph, DefaultPasses()); !results.ok()) {
    return failed(results.status().ToString());
  }
  if (const auto problems = graph.Validate(); !problems.empty()) return failed(problems[0]);
  if (SignatureOf(graph) != SignatureOf(*ir.graph)) return failed(SignatureOf(graph));
  const std::string difference = Evaluate(graph, sets);
  return difference.empty() ? Outcome() : failed(difference);
}

// Exports at an opset, imports what came out, evaluates. With X2IR_OPTIMIZE set, the default
// passes run before.
Outcome ThereAndBack(const Model& ir, int opset, bool own_opset, const std::vector<DataSet>& sets) {
  Model model = Copy(ir);
  ExportOptions options;
  options.opset = opset;
  options.check = true;
  options.optimize = !Env("X2IR_OPTIMIZE").empty();
  Report report;
  const absl::Status exported = FromIr(model, "onnx", options, &report);
  if (!exported.ok()) {
    const bool may = !own_opset && (absl::IsFailedPrecondition(exported) ||
                                    absl::IsNotFound(exported) || absl::IsUnimplemented(exported));
    return {may ? Verdict::kCannotExpress : Verdict::kFailed,
            StrCat("export: ", exported.ToString()),
            {},
            "",
            ""};
  }
  const std::string text = ToText(*model.graph);
  auto failed = [&](std::string what) {
    return Outcome{Verdict::kFailed, std::move(what), {}, StrCat("exported:\n", text), ""};
  };
#ifdef X2IR_TEST_CLI
  if (const auto checked = cli::CheckWithLibonnx(model); !checked.ok()) {
    return failed(checked.status().ToString());
  }
#endif
  auto bytes = SerializeOnnx(model);
  if (!bytes.ok()) return failed(StrCat("writing: ", bytes.status().ToString()));
  auto again = ParseOnnx(*bytes);
  if (!again.ok()) return failed(StrCat("reading back: ", again.status().ToString()));
  again->source_dialect = "onnx";
  if (absl::Status s = ToIr(*again); !s.ok()) return failed(StrCat("import: ", s.ToString()));
  const std::string difference = Evaluate(*again->graph, sets);
  if (!difference.empty()) return failed(difference);
  Outcome outcome;
  outcome.details = StrCat("exported:\n", text);
  outcome.bytes = *std::move(bytes);
  return outcome;
}

constexpr int kOldestWritten = 7;  // opsets before this one are read only

struct Totals {
  std::map<Verdict, int> count;
  int excluded = 0;
  int by_ort = 0;  // of those that passed
  std::map<std::string, int> missing;
  std::vector<std::string> failures;

  void Print(std::string_view title) const {
    auto of = [&](Verdict verdict) {
      auto it = count.find(verdict);
      return it == count.end() ? 0 : it->second;
    };
    std::printf(
        "%-12s passed %4d (ONNX Runtime agrees: %4d)  failed %4d  excluded %4d  unmapped %4d  "
        "  cannot be expressed %4d\n",
        std::string(title).c_str(), of(Verdict::kPassed), by_ort, of(Verdict::kFailed), excluded,
        of(Verdict::kUnmapped), of(Verdict::kCannotExpress));
  }
};

// NAME or NAME@OPSET, then the reason.
class Exclusions {
 public:
  // `set` names the cases: a name "SET:NAME" is for those of one set alone.
  explicit Exclusions(const std::string& set) {
    for (const auto& [key, reason] : ReadReasons("tests/golden/onnx_exclusions.txt")) {
      std::string name = key;
      if (const size_t colon = name.find(':'); colon != std::string::npos) {
        if (name.substr(0, colon) != set) continue;
        name.erase(0, colon + 1);
      }
      names_.insert(name);
      if (reason.starts_with("random")) random_.insert(name);
    }
  }
  bool IsRandom(const std::string& name) {
    if (!random_.contains(name)) return false;
    used_.insert(name);
    return true;
  }
  bool Has(const std::string& name, int opset) {
    for (const std::string& key : {name, StrCat(name, "@", opset)}) {
      if (!names_.contains(key)) continue;
      used_.insert(key);
      return true;
    }
    return false;
  }
  // Those of the given cases that were never needed.
  std::vector<std::string> Stale(const std::vector<Case>& cases) const {
    std::set<std::string> known;
    for (const Case& c : cases) known.insert(c.name);
    std::vector<std::string> stale;
    for (const std::string& name : names_) {
      if (!used_.contains(name) && known.contains(name.substr(0, name.find('@')))) {
        stale.push_back(name);
      }
    }
    return stale;
  }

 private:
  std::set<std::string> names_, used_, random_;
};

// What must be reached of all cases, random ones aside, in percent: the exported file is valid and
// gives the expected outputs.
struct Required {
  int opset;
  double percent;
};
constexpr Required kRequired[] = {{9, 48},  {11, 60}, {13, 69}, {15, 77}, {17, 81},  {18, 83},
                                  {20, 90}, {22, 93}, {24, 96}, {26, 98}, {28, 99.5}};

constexpr double kRequiredOfOwnOpset = 99;

std::vector<int> Opsets() {
  std::vector<int> opsets;
  std::stringstream stream(Env("X2IR_OPSETS"));
  for (std::string part; std::getline(stream, part, ',');) opsets.push_back(std::stoi(part));
  if (opsets.empty()) {
    for (const Required& required : kRequired) opsets.push_back(required.opset);
  }
  return opsets;
}

// Over all sets of cases.
struct Tally {
  int cases = 0, evaluated = 0, own_opset = 0;
  std::map<int, int> right;  // by opset
};

class Runner {
 public:
  Runner(const std::string& set, Tally& tally)
      : set_(set), exclusions_(set), opsets_(Opsets()), tally_(tally) {
    if (Env("X2IR_NO_ORT").empty()) ort_ = OrtJudge::Start();
    folder_ = fs::path(X2IR_BUILD_DIR) / "conformance" / set;
    fs::remove_all(folder_);
  }

  void RunAll(const std::vector<Case>& cases) {
    const std::string filter = Env("X2IR_CASES");
    const std::regex wanted(filter.empty() ? ".*" : filter);
    verbose_ = !filter.empty();
    for (const Case& c : cases) {
      if (std::regex_search(c.name, wanted)) Run(c);
    }
    HearOrt();
    for (const Result& result : results_) Count(result);
    std::printf("--- %s\n", set_.c_str());
    if (!ort_) std::printf("*** ORACLE NOT RUN: ONNX Runtime is not installed, or not wanted\n");
    own_.Print("own opset");
    for (const auto& [opset, totals] : other_) totals.Print(StrCat("opset ", opset));
    for (const auto& [op, count] : own_.missing)
      std::printf("unmapped: %s (%d)\n", op.c_str(), count);
    std::fflush(stdout);
    std::string failures;
    for (const std::string& f : own_.failures) StrAppend(&failures, f, "\n");
    for (const auto& [opset, totals] : other_) {
      for (const std::string& f : totals.failures) StrAppend(&failures, f, "\n");
    }
    EXPECT_TRUE(failures.empty()) << failures;
    if (filter.empty() && ort_) {
      for (const std::string& name : exclusions_.Stale(cases)) {
        ADD_FAILURE() << "onnx_exclusions.txt: " << name << " did not fail";
      }
    }
    if (failures.empty()) fs::remove_all(folder_);
  }

 private:
  // One case at one opset.
  struct Result {
    const Case* of;
    int opset;
    bool own;
    Outcome outcome;
    std::optional<size_t> question;  // to ONNX Runtime
    bool by_ort = false;
  };

  void Run(const Case& c) {
    Model ir;
    std::vector<DataSet> sets;
    int opset = 0;
    Outcome outcome = ImportAndEvaluate(c, ir, sets, opset);
    const bool evaluated = outcome.verdict == Verdict::kPassed;
    if (!exclusions_.IsRandom(c.name)) {
      ++tally_.cases;
      tally_.evaluated += evaluated;
    }
    opset = std::max(opset, kOldestWritten);
    if (evaluated) {
      const Outcome optimized = OptimizeAndEvaluate(ir, sets);
      outcome =
          optimized.verdict == Verdict::kPassed ? ThereAndBack(ir, opset, true, sets) : optimized;
    }
    const bool ask = evaluated && ort_ && !exclusions_.IsRandom(c.name);
    const std::string io = ask ? WriteIo(c, sets) : "";
    Add(c, opset, true, std::move(outcome), io, sets);
    if (!evaluated) return;
    for (int other : opsets_) {
      if (other == opset) continue;
      Add(c, other, false, ThereAndBack(ir, other, false, sets), io, sets);
    }
  }

  // The first data set as a file for ONNX Runtime; "" where it cannot be one.
  std::string WriteIo(const Case& c, const std::vector<DataSet>& sets) {
    if (sets.empty()) return "";
    std::vector<NamedTensor> tensors;
    auto add = [&](std::string name, const Tensor* tensor) {
      if (!tensor || tensor->is_string() || tensor->is_sparse()) return false;
      tensors.push_back({std::move(name), *tensor});
      return true;
    };
    for (size_t i = 0; i < sets[0].inputs.size(); ++i) {
      if (!add(StrCat("in_", i), sets[0].inputs[i].tensor())) return "";
    }
    for (size_t i = 0; i < sets[0].outputs.size(); ++i) {
      if (!add(StrCat("out_", i), sets[0].outputs[i].tensor())) return "";
    }
    fs::create_directories(folder_ / c.name);
    const std::string path = (folder_ / c.name / "io.safetensors").string();
    return WriteSafetensors(path, tensors).ok() ? path : "";
  }

  void Add(const Case& c, int opset, bool own, Outcome outcome, const std::string& io,
           const std::vector<DataSet>& sets) {
    Result result{&c, opset, own, std::move(outcome), std::nullopt};
    if (result.outcome.verdict == Verdict::kPassed && !io.empty()) {
      const std::string path = (folder_ / c.name / StrCat(opset, ".onnx")).string();
      std::ofstream(path, std::ios::binary) << result.outcome.bytes;
      result.question = ort_->Ask(Question(path, io, sets));
    }
    result.outcome.bytes.clear();
    if (!verbose_) result.outcome.details.clear();
    results_.push_back(std::move(result));
  }

  static OrtJudge::Question Question(const std::string& model, const std::string& io,
                                     const std::vector<DataSet>& sets) {
    OrtJudge::Question question{model, io};
    for (const Datum& output : sets[0].outputs) {
      const Tolerance t = ToleranceOf(output.tensor()->dtype());
      question.rtol = std::max(question.rtol, t.rtol);
      question.atol = std::max(question.atol, t.atol);
    }
    return question;
  }

  // Where ONNX Runtime does not agree on an exported file, but is no better with the file that it
  // came from, it says nothing about the export.
  void HearOrt() {
    if (!ort_) return;
    std::map<const Case*, size_t> originals;
    std::vector<OrtJudge::Answer> answers = ort_->Answers();
    for (const Result& r : results_) {
      if (!r.question || answers[*r.question].agrees || answers[*r.question].cannot_run()) continue;
      if (originals.contains(r.of)) continue;
      const fs::path copy = folder_ / r.of->name / "original.onnx";
      fs::copy_file(r.of->folder / "model.onnx", copy);
      const Tolerance t = ToleranceOf(DType::kFloat32);
      originals[r.of] = ort_->Ask(
          {copy.string(), (folder_ / r.of->name / "io.safetensors").string(), t.rtol, t.atol});
    }
    answers = ort_->Answers();
    for (Result& r : results_) {
      if (!r.question) continue;
      const OrtJudge::Answer& answer = answers[*r.question];
      r.by_ort = answer.agrees;
      if (answer.agrees || answer.cannot_run()) continue;
      if (!answers[originals[r.of]].agrees) continue;
      if (exclusions_.Has(StrCat("ort:", r.of->name), r.opset)) continue;
      r.outcome.verdict = Verdict::kFailed;
      r.outcome.what = StrCat("ONNX Runtime (", answer.stage, "): ", answer.error);
    }
  }

  Outcome ImportAndEvaluate(const Case& c, Model& ir, std::vector<DataSet>& sets, int& opset) {
    auto model = Load((c.folder / "model.onnx").string(), "onnx");
    if (!model.ok())
      return {Verdict::kFailed, StrCat("load: ", model.status().ToString()), {}, "", ""};
    ir = *std::move(model);
    opset = static_cast<int>(ir.Opset(""));
    const std::string text = ToText(*ir.graph);
    Report report;
    const absl::Status imported = ToIr(ir, {}, &report);
    Outcome outcome;
    for (const Failure& failure : report.failures) {
      if (failure.reason.starts_with("no mapping to IR")) outcome.missing.insert(failure.op);
    }
    outcome.details = StrCat("model:\n", text, "IR:\n", ToText(*ir.graph));
    if (!outcome.missing.empty()) {
      outcome.verdict = Verdict::kUnmapped;
    } else if (!imported.ok()) {
      outcome.verdict = Verdict::kFailed;
      outcome.what = StrCat("import: ", imported.ToString());
    } else {
      auto data = ReadDataSets(c.folder, *ir.graph);
      if (data.ok()) {
        for (DataSet& set : *data) set.random = exclusions_.IsRandom(c.name);
      }
      outcome.what = data.ok() ? Evaluate(*ir.graph, *data) : data.status().ToString();
      if (!outcome.what.empty()) outcome.verdict = Verdict::kFailed;
      // Image files need libraries that a build may lack.
      if (outcome.what.find("x2ir was built without") != std::string::npos) {
        outcome.verdict = Verdict::kCannotExpress;
      }
      if (data.ok()) sets = *std::move(data);
    }
    return outcome;
  }

  void Count(const Result& result) {
    const Outcome& outcome = result.outcome;
    const std::string& name = result.of->name;
    Totals& totals = result.own ? own_ : other_[result.opset];
    for (const std::string& op : outcome.missing) ++totals.missing[op];
    if (outcome.verdict == Verdict::kFailed && exclusions_.Has(name, result.opset)) {
      ++totals.excluded;
      return;
    }
    ++totals.count[outcome.verdict];
    totals.by_ort += result.by_ort;
    if (outcome.verdict == Verdict::kPassed && !exclusions_.IsRandom(name)) {
      tally_.own_opset += result.own;
      ++tally_.right[result.opset];
    }
    if (outcome.verdict == Verdict::kFailed) {
      totals.failures.push_back(StrCat(name, "@", result.opset, ": ", outcome.what));
      if (verbose_) {
        std::printf("FAILED %s at opset %d: %s\n%s\n", name.c_str(), result.opset,
                    outcome.what.c_str(), outcome.details.c_str());
      }
    } else if (verbose_ && !outcome.what.empty()) {
      std::printf("%s at opset %d: %s\n", name.c_str(), result.opset, outcome.what.c_str());
    }
  }

  const std::string set_;
  Exclusions exclusions_;
  const std::vector<int> opsets_;
  Tally& tally_;
  std::unique_ptr<OrtJudge> ort_;
  fs::path folder_;
  bool verbose_ = false;
  std::vector<Result> results_;
  Totals own_;
  std::map<int, Totals> other_;
};

double Percent(int part, int all) { return all == 0 ? 0 : 100.0 * part / all; }

void PrintTally(const Tally& tally) {
  std::printf("--- of %d cases, random ones aside\n", tally.cases);
  std::printf("evaluated after import: %.1f %%\n", Percent(tally.evaluated, tally.cases));
  std::printf("exported at their own opset: %.1f %%\n", Percent(tally.own_opset, tally.cases));
  std::string head = "| to opset |", rule = "|---|", reached = "| reached |",
              needed = "| required |";
  for (const Required& required : kRequired) {
    auto it = tally.right.find(required.opset);
    char text[32];
    std::snprintf(text, sizeof text, " %.1f %% |",
                  Percent(it == tally.right.end() ? 0 : it->second, tally.cases));
    reached += text;
    std::snprintf(text, sizeof text, " %g %% |", required.percent);
    needed += text;
    StrAppend(&head, " ", required.opset, " |");
    rule += "---|";
  }
  std::printf("%s\n%s\n%s\n%s\n", head.c_str(), rule.c_str(), reached.c_str(), needed.c_str());
  std::fflush(stdout);
}

TEST(Conformance, BackendCases) {
  const std::vector<Case> packaged = PackagedCases();
  const std::vector<Case> newer = ArchivedCases("onnx-node-tests-opset18plus.tar.xz");
  Tally tally;
  if (!packaged.empty()) Runner("distribution", tally).RunAll(packaged);
  if (!newer.empty()) Runner("newer", tally).RunAll(newer);
  PrintTally(tally);
  if (packaged.empty())
    GTEST_SKIP() << "*** libonnx-testdata is not installed: its cases did NOT run";
  if (!Env("X2IR_CASES").empty() || !Env("X2IR_OPSETS").empty()) return;
  EXPECT_GE(Percent(tally.evaluated, tally.cases), kRequiredOfOwnOpset);
  EXPECT_GE(Percent(tally.own_opset, tally.cases), kRequiredOfOwnOpset);
  for (const Required& required : kRequired) {
    EXPECT_GE(Percent(tally.right[required.opset], tally.cases), required.percent)
        << "to opset " << required.opset;
  }
}

TEST(Conformance, CasesOfAFolder) {
  const std::string folder = Env("X2IR_NODE_TESTS");
  if (folder.empty()) GTEST_SKIP() << "X2IR_NODE_TESTS is not set";
  Tally tally;
  Runner("folder", tally).RunAll(CasesUnder(folder));
  PrintTally(tally);
}

// The comparison itself must be able to fail.
TEST(Conformance, DifferencesAreSeen) {
  const float nan = std::nanf("");
  struct Row {
    Tensor got, want;
    bool same;
  };
  const Row rows[] = {
      {Tensor::Scalar(1.0f), Tensor::Scalar(1.0005f), true},
      {Tensor::Scalar(1.0f), Tensor::Scalar(1.002f), false},
      {Tensor::Scalar(1.0f), Tensor::Scalar(1.0), false},
      {Tensor::Of<float>({2}, {1, nan}), Tensor::Of<float>({2}, {1, nan}), true},
      {Tensor::Of<float>({2}, {1, nan}), Tensor::Of<float>({2}, {1, 2}), false},
      {Tensor::Of<float>({2}, {1, 2}), Tensor::Of<float>({2}, {1, nan}), false},
      {Tensor::Scalar(1e30f), Tensor::Scalar(INFINITY), false},
      {Tensor::Scalar(-INFINITY), Tensor::Scalar(INFINITY), false},
      {Tensor::Of<float>({2}, {1, 2}), Tensor::Of<float>({1, 2}, {1, 2}), false},
      {Tensor::Scalar<int64_t>(1), Tensor::Scalar<int64_t>(2), false},
      {Tensor::Strings({1}, {"a"}), Tensor::Strings({1}, {"b"}), false},
      {Tensor::Strings({1}, {"a"}), Tensor::Strings({1}, {"a"}), true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Difference(row.got, row.want).empty(), row.same)
        << Attribute(row.got).ToString() << " and " << Attribute(row.want).ToString();
  }
}

}  // namespace
}  // namespace x2ir
