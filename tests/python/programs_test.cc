// Programs that x2ir writes for PyTorch, as Python (.py) and as archives of torch.export (.pt2),
// run by PyTorch: networks, PyTorch's own operator cases, and ONNX's backend cases, each against
// its stored outputs. What is refused stands in tests/golden/refused_*.txt with the reason, and
// docs/pytorch_ops.md counts ONNX's cases by their ops. One process runs a suite; PyTorch from 1.13
// on runs Python (Debian: python3-torch), from 2.9 on archives. What is written for OneFlow is run
// by it too, with a stand-in that has OneFlow's names alone (standin/oneflow).
//
//   X2IR_PYTHON=python3    the interpreter, instead of the system's
//   X2IR_CASES=REGEX       only the cases whose names match
//   X2IR_UPDATE_GOLDEN=1   writes these files and docs/pytorch_ops.md
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/golden/golden_util.h"
#include "tests/torch/torch_cases_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

std::string Interpreter() {
  const std::string given = Env("X2IR_PYTHON");
  return given.empty() ? "/usr/bin/python3" : given;
}

// Whether there is a PyTorch that runs files with that extension.
bool Runs(const std::string& extension) {
  static std::map<std::string, bool> known;
  const auto [it, fresh] = known.emplace(extension, false);
  if (fresh) {
    const std::string newer =
        extension == ".pt2" ? "; import torch.export; from torch.export import pt2_archive" : "";
    it->second =
        std::system(
            StrCat(Interpreter(), " -c 'import torch", newer, "' >/dev/null 2>&1").c_str()) == 0;
  }
  return it->second;
}

fs::path Folder() {
  const fs::path folder = fs::path(X2IR_BUILD_DIR) / "python-programs";
  fs::create_directories(folder);
  return folder;
}

struct ProgramCase {
  std::string name;
  fs::path model;
  fs::path io{};         // empty: a data set of ONNX's lies beside the model
  std::string corpus{};  // which cases it is one of, where a suite has several
  std::string op{};      // of ONNX's that the case is of
  TfCase tf{};           // of TensorFlow's
};

// The op of a model of one node; of a model that spells an op out, the op's.
void FindOps(std::vector<ProgramCase>& cases) {
  std::map<std::string, std::string> ops;
  for (ProgramCase& test : cases) {
    const auto model = Load(test.model.string());
    if (!model.ok()) continue;
    std::set<std::string> names;
    for (const Node* node : model->graph->nodes()) names.insert(node->op().str());
    if (names.size() == 1) ops[test.name] = test.op = *names.begin();
  }
  for (ProgramCase& test : cases) {
    std::string base = test.name;
    for (const char* end : {"_expanded", "_ver18", "_ver13"}) {
      if (base.ends_with(end)) base.resize(base.size() - std::string_view(end).size());
    }
    if (const auto it = ops.find(base); it != ops.end()) test.op = it->second;
    if (test.op.empty()) test.op = "(several)";
  }
}

// Cases that may fail, as conformance has them: random ones, and those whose data are wrong.
std::set<std::string> Excluded(const std::string& file) {
  std::set<std::string> excluded;
  for (const auto& [name, reason] : ReadReasons(file)) {
    excluded.insert(name.substr(0, name.find('@')));
  }
  return excluded;
}

std::vector<ProgramCase> NodeCases() {
  std::vector<ProgramCase> cases;
  const std::set<std::string> excluded = Excluded("tests/golden/onnx_exclusions.txt");
  const fs::path newer = Unpacked("onnx-node-tests-opset18plus.tar.xz", "onnx-node-tests");
  for (const auto& [prefix, corpus, root] :
       {std::tuple("", "libonnx-testdata", fs::path("/usr/share/libonnx-testdata/data/node")),
        {"newer:", "newer", newer}}) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
      if (entry.path().filename() != "model.onnx") continue;
      const std::string name = entry.path().parent_path().filename().string();
      if (excluded.contains(name) || excluded.contains(prefix + name)) continue;
      cases.push_back({prefix + name, entry.path(), {}, corpus});
    }
  }
  std::sort(cases.begin(), cases.end(), [](const ProgramCase& a, const ProgramCase& b) {
    return std::pair(a.name.substr(a.name.find(':') + 1), a.name) <
           std::pair(b.name.substr(b.name.find(':') + 1), b.name);
  });
  FindOps(cases);
  return cases;
}

std::vector<ProgramCase> SharedNetworks() {
  std::vector<ProgramCase> cases;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(Shared("models"), error)) {
    for (const auto& file : fs::directory_iterator(folder, error)) {
      const std::string extension = file.path().extension().string();
      if (extension != ".onnx" && extension != ".pt2") continue;
      cases.push_back({StrCat("models/", folder.path().filename().string(), "/",
                              file.path().filename().string()),
                       file.path(), folder.path() / "io.safetensors"});
    }
  }
  return cases;
}

std::vector<ProgramCase> Networks() {
  std::vector<ProgramCase> cases;
  for (const TorchCase& test : ArchivedTorchPrograms()) {
    cases.push_back({test.name, test.model, test.io});
  }
  return cases;
}

std::vector<ProgramCase> OperatorCases() {
  std::vector<ProgramCase> cases;
  for (const TorchCase& test : ArchivedTorchCases()) {
    cases.push_back({test.name, test.model, test.io});
  }
  return cases;
}

// Names that Python, PyTorch or nobody has, ranks from 0 to 6, tensors of nothing, sizes that
// nobody names, branches around recurrent layers (odd_programs.py).
std::vector<ProgramCase> OddPrograms() {
  std::vector<ProgramCase> cases;
  std::error_code error;
  const fs::path folder = Unpacked("odd-programs.tar.xz", "odd-programs") / "odd-programs";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    cases.push_back({entry.path().filename().string(), entry.path() / "model.onnx",
                     entry.path() / "io.safetensors"});
  }
  return cases;
}

// The data set of an ONNX case as a file. The elements of a sequence are tensors of their own,
// "in_0[1]"; the metadata say what is one, and which optionals are empty. "" or why there is none.
std::string WriteIo(const fs::path& folder, const Graph& graph, const std::string& to) {
  std::vector<NamedTensor> tensors;
  SafetensorsMetadata metadata;
  const std::string set = (folder / "test_data_set_0").string();
  for (const auto& [stem, role, values] :
       {std::tuple("input", "in_", graph.inputs()), {"output", "out_", graph.outputs()}}) {
    const auto datums = ReadDatums(set, stem, values);
    if (!datums.ok()) return "its data cannot be read";
    for (size_t i = 0; i < datums->size(); ++i) {
      const Datum& datum = (*datums)[i];
      const std::string key = StrCat(role, i);
      if (const Tensor* tensor = datum.tensor()) {
        tensors.push_back({key, *tensor});
        continue;
      }
      metadata.emplace_back(key, datum.sequence() ? "list" : "none");
      for (size_t k = 0; datum.sequence() && k < datum.sequence()->size(); ++k) {
        const Tensor* tensor = (*datum.sequence())[k].tensor();
        if (!tensor) return "its data are sequences of sequences";
        tensors.push_back({StrCat(key, "[", k, "]"), *tensor});
      }
    }
  }
  return WriteSafetensors(to, tensors, metadata).ok() ? "" : "its data are no numbers";
}

std::vector<ProgramCase> TensorFlowCases() {
  std::vector<ProgramCase> cases;
  const std::set<std::string> excluded = Excluded("tests/golden/tf_exclusions.txt");
  for (const TfCase& test : TfCases()) {
    if (!excluded.contains(test.name)) cases.push_back({test.name, test.model, {}, {}, {}, test});
  }
  return cases;
}

// The values of a case of TensorFlow's as a file. "" or why there is none.
std::string WriteTfIo(const TfCase& test, const Graph& graph, const std::string& to) {
  std::vector<NamedTensor> tensors;
  for (const auto& [role, values, files] : {std::tuple("in_", graph.inputs(), &test.inputs),
                                            {"out_", graph.outputs(), &test.outputs}}) {
    for (size_t i = 0; i < values.size(); ++i) {
      // Results are those that were asked for, in order.
      const bool is_input = role == std::string_view("in_");
      auto file = files->begin() + static_cast<ptrdiff_t>(is_input ? 0 : i);
      while (is_input && file != files->end() && file->value != values[i]->name()) ++file;
      if (file >= files->end()) return "its data lack a value";
      auto tensor = ReadTfValues(file->path, values[i]->dtype());
      if (!tensor.ok()) return "its data cannot be read";
      tensors.push_back({StrCat(role, i), *std::move(tensor)});
    }
  }
  return WriteSafetensors(to, tensors).ok() ? "" : "its data are no numbers";
}

std::string ReasonOf(const Report& report, const absl::Status& status) {
  std::string text;
  for (const Failure& failure : report.failures) {
    StrAppend(&text, text.empty() ? "" : "; ", failure.op, ": ", failure.reason);
  }
  if (text.empty()) text = std::string(status.message());
  std::string line;
  for (const char c : text) {
    const char plain = c == '\n' ? ' ' : c;
    if (plain != ' ' || line.empty() || line.back() != ' ') line += plain;
  }
  return line;
}

// What PyTorch says of a program that was written, where that is no fault of it.
bool IsExcused(const std::string& name, const std::string& problem) {
  if (problem.empty() || problem.starts_with("skip: ")) return true;
  // PyTorch 1.13 takes another one of two voxels that are as near; 2.x takes this one.
  if (name == "newer:test_gridsample_volumetric_nearest_align_corners_0") return true;
  // Its data are of other sizes than the model says.
  if (name.starts_with("test_castlike_") && problem.find("Guard failed: like") != problem.npos) {
    return true;
  }
  // Drawn numbers.
  const bool drawn =
      name.find("test_bernoulli") != name.npos || name.find("test_training_dropout") != name.npos;
  return drawn && problem.find("differs by") != problem.npos;
}

// What programs are written as.
struct Form {
  std::string format, extension;
  std::string prefix;  // of names of files
};
const Form kPython{"python", ".py", ""}, kArchive{"torch", ".pt2", "pt2_"},
    kOneFlow{"oneflow", ".py", "oneflow_"};

// Which cases were written and which were not, with the reason.
struct Outcome {
  std::vector<const ProgramCase*> read;
  std::map<std::string, std::string> refused;
};

// Converts all, runs them, and tells which were refused. Of each corpus at least that share of the
// programs that were written must run: a PyTorch may lack an op.
Outcome RunAll(const std::string& suite, const std::vector<ProgramCase>& cases, const Form& form,
               double least) {
  Outcome outcome;
  const std::string filter = Env("X2IR_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  std::map<std::string, const ProgramCase*> case_of;
  const std::string what = StrCat(form.prefix, suite);
  const fs::path list = Folder() / (what + ".txt");
  std::ofstream out(list);
  for (const ProgramCase& test : cases) {
    if (!std::regex_search(test.name, wanted)) continue;
    Report report;
    ImportOptions from;
    for (const TfCase::File& file : test.tf.outputs) from.outputs.push_back(file.value);
    if (!from.outputs.empty()) from.format = "tensorflow";
    auto ir = Import(test.model.string(), from, &report);
    if (!ir.ok()) continue;  // told by others
    outcome.read.push_back(&test);
    std::string stem = test.name;
    for (char& c : stem) c = c == '/' || c == '.' || c == ':' ? '_' : c;
    const std::string program = (Folder() / StrCat(stem, form.prefix, form.extension)).string();
    std::string io = test.io.string();
    if (io.empty()) {
      io = (Folder() / (stem + ".io.safetensors")).string();
      const std::string problem = test.tf.outputs.empty()
                                      ? WriteIo(test.model.parent_path(), *ir->graph, io)
                                      : WriteTfIo(test.tf, *ir->graph, io);
      const bool random = !test.tf.outputs.empty() && DrawsNumbers(*ir->graph);
      if (!problem.empty() || random) io.clear();
    }
    ExportOptions options;
    options.format = form.format;
    if (form.extension == ".py") options.format_options.Set("force", true);
    const absl::Status status = Export(*std::move(ir), program, options, &report);
    if (!status.ok()) {
      outcome.refused[test.name] = ReasonOf(report, status);
      continue;
    }
    // Sizes of windows that inputs say: PyTorch takes them, IR wants them known.
    const bool unread = test.name.starts_with("newer:test_col2im_") &&
                        (test.name.ends_with("_dilations") || test.name.ends_with("_pads"));
    if (form.extension == ".pt2" && !unread) {
      const auto back = Import(program);
      EXPECT_TRUE(back.ok()) << test.name << " is not read back: " << back.status();
    }
    if (io.empty()) continue;
    out << program << "\t" << io << "\n";
    case_of[program] = &test;
  }
  out.close();
  if (Runs(form.extension)) {
    const std::string command =
        StrCat("PYTHONPATH=", X2IR_SOURCE_DIR, "/tests/python/standin ", Interpreter(), " ",
               X2IR_SOURCE_DIR, "/tests/python/run_programs.py ", list.string(), " 2>&1");
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) {
      ADD_FAILURE() << command;
      return outcome;
    }
    std::string text;
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << text.substr(text.size() > 2000 ? text.size() - 2000 : 0);
    std::istringstream lines(text);
    struct Counts {
      size_t written = 0, right = 0;
    };
    std::map<std::string, Counts> corpora;
    for (const auto& [program, test] : case_of) ++corpora[test->corpus].written;
    size_t told = 0;
    for (std::string line; std::getline(lines, line);) {
      const size_t tab = line.find('\t');
      const auto it = tab == std::string::npos ? case_of.end() : case_of.find(line.substr(0, tab));
      if (it == case_of.end()) continue;
      ++told;
      const std::string problem = line.substr(tab + 1);
      const std::string& name = it->second->name;
      corpora[it->second->corpus].right += problem.empty();
      if (!filter.empty()) std::printf("%s: %s\n", name.c_str(), problem.c_str());
      if (IsExcused(name, problem)) continue;
      ADD_FAILURE() << name << ": " << problem << "\n  " << it->first;
    }
    EXPECT_EQ(told, case_of.size());
    for (const auto& [corpus, counts] : corpora) {
      std::printf("%s%s%s: %zu of %zu programs run right\n", what.c_str(),
                  corpus.empty() ? "" : " ", corpus.c_str(), counts.right, counts.written);
      if (!filter.empty()) continue;
      EXPECT_GE(static_cast<double>(counts.right), least * static_cast<double>(counts.written))
          << corpus;
    }
    std::printf("%s: %zu are refused\n", what.c_str(), outcome.refused.size());
  } else {
    std::printf("*** no PyTorch for %s in %s (Debian: python3-torch): %zu programs were NOT run\n",
                what.c_str(), Interpreter().c_str(), case_of.size());
  }
  return outcome;
}

// What is refused of each suite stands in a file.
void CheckRefused(const std::string& suite, const Form& form, const Outcome& outcome) {
  if (!Env("X2IR_CASES").empty()) return;
  ExpectReasons(StrCat("tests/golden/refused_", form.prefix, suite, ".txt"),
                StrCat("What is not written as ", form.format, ", and why."), outcome.refused);
}

void RunSuite(const std::string& suite, const std::vector<ProgramCase>& cases, const Form& form,
              double least) {
  CheckRefused(suite, form, RunAll(suite, cases, form, least));
}

// The networks of ../shared, which are all written.
void RunSharedNetworks(const Form& form, double least) {
  const std::vector<ProgramCase> cases = SharedNetworks();
  if (cases.empty()) GTEST_SKIP() << kNotShared;
  const Outcome outcome = RunAll("shared_networks", cases, form, least);
  for (const auto& [name, reason] : outcome.refused) ADD_FAILURE() << name << ": " << reason;
}

TEST(PythonProgramsTest, Networks) { RunSuite("networks", Networks(), kPython, 0.95); }
TEST(PythonProgramsTest, Operators) { RunSuite("operators", OperatorCases(), kPython, 0.95); }
TEST(PythonProgramsTest, NetworksAsArchives) { RunSuite("networks", Networks(), kArchive, 0.95); }
TEST(PythonProgramsTest, OperatorsAsArchives) {
  RunSuite("operators", OperatorCases(), kArchive, 0.95);
}
void RunOddPrograms(const Form& form) {
  const Outcome outcome = RunAll("odd", OddPrograms(), form, 1);
  EXPECT_GE(outcome.read.size(), 25u);
  for (const auto& [name, reason] : outcome.refused) ADD_FAILURE() << name << ": " << reason;
}
TEST(PythonProgramsTest, OddPrograms) { RunOddPrograms(kPython); }

// What is written is what we read, whether or not there is a PyTorch to ask.
TEST(PythonProgramsTest, OddProgramsAsArchives) {
  RunOddPrograms(kArchive);
  for (const ProgramCase& test : OddPrograms()) {
    const auto back = Import((Folder() / StrCat(test.name, kArchive.prefix, ".pt2")).string());
    if (!back.ok()) continue;  // told above
    const auto cases = ReadIoFile(test.io.string(), *back->graph);
    ASSERT_TRUE(cases.ok()) << test.name << ": " << cases.status();
    const auto verified = VerifyOutputs(*back, *cases);
    ASSERT_TRUE(verified.ok()) << test.name << ": " << verified.status();
    EXPECT_TRUE(verified->agrees()) << test.name << ":\n" << verified->ToText();
  }
}

TEST(PythonProgramsTest, OneFlowNetworks) { RunSuite("networks", Networks(), kOneFlow, 0.95); }
TEST(PythonProgramsTest, OneFlowOperators) {
  RunSuite("operators", OperatorCases(), kOneFlow, 0.95);
}
TEST(PythonProgramsTest, SharedNetworks) { RunSharedNetworks(kPython, 0.95); }
TEST(PythonProgramsTest, SharedNetworksAsArchives) { RunSharedNetworks(kArchive, 0.95); }
TEST(PythonProgramsTest, SharedOneFlowNetworks) { RunSharedNetworks(kOneFlow, 0.95); }

constexpr size_t kAllNodeCases = 1400;
constexpr char kNoNodeCases[] = "libonnx-testdata or the newer node tests are missing";

TEST(PythonProgramsTest, OneFlowNodeCases) {
  const std::vector<ProgramCase> cases = NodeCases();
  if (cases.size() < kAllNodeCases) GTEST_SKIP() << kNoNodeCases;
  RunSuite("nodes", cases, kOneFlow, 0.95);
}

TEST(PythonProgramsTest, TensorFlow) { RunSuite("tensorflow", TensorFlowCases(), kPython, 0.95); }
TEST(PythonProgramsTest, TensorFlowAsArchives) {
  RunSuite("tensorflow", TensorFlowCases(), kArchive, 0.95);
}

// --- Node cases, and the table of them --------------------------------------------------------

// "mod: has no kernel for uint64; ..." in a few words: the first reason, without names of values.
std::string ShortReason(std::string reason) {
  static const std::regex names(
      "(node|value|constant) '[^']*': |aten::[a-z_0-9.A-Z]+ \\(torch\\): ");
  reason = std::regex_replace(reason, names, "");
  return reason.substr(0, reason.find(';'));
}

std::string TableOf(const Outcome& python, const Outcome& archives) {
  struct Row {
    int cases = 0, python = 0, archives = 0;
    std::set<std::string> reasons;
  };
  std::map<std::string, Row> rows;
  Row all;
  for (const ProgramCase* test : python.read) {
    Row& row = rows[test->op];
    for (Row* r : {&row, &all}) {
      ++r->cases;
      r->python += !python.refused.contains(test->name);
      r->archives += !archives.refused.contains(test->name);
    }
    for (const auto& [outcome, form] : {std::pair(&python, ".py"), {&archives, ".pt2"}}) {
      const auto it = outcome->refused.find(test->name);
      if (it == outcome->refused.end()) continue;
      const bool both =
          python.refused.contains(test->name) && archives.refused.contains(test->name);
      row.reasons.insert(StrCat(both ? "" : StrCat("`", form, "`: "), ShortReason(it->second)));
    }
  }
  std::string text =
      "# ONNX's node cases as programs of PyTorch\n\n"
      "<!-- Written by tests/python/programs_test.cc with X2IR_UPDATE_GOLDEN=1. Do not edit. "
      "-->\n\n"
      "Of each op of ONNX: how many of its backend cases there are (those of libonnx-testdata and "
      "the "
      "newer\n"
      "ones, random ones aside), how many of them are written as `.py` and as `.pt2`, and why the "
      "others are\n"
      "refused. All that are written run right: `tests/python` runs them with the PyTorch that is "
      "there, and\n"
      "[pytorch.md](pytorch.md) says with which they were run by hand.\n\n"
      "| op | cases | `.py` | `.pt2` | refused |\n|---|---|---|---|---|\n";
  const auto line = [&](const std::string& op, const Row& row) {
    std::string reasons;
    for (const std::string& reason : row.reasons) {
      StrAppend(&reasons, reasons.empty() ? "" : "; ", reason);
    }
    StrAppend(&text, "| ", op, " | ", row.cases, " | ", row.python, " | ", row.archives, " | ",
              reasons, " |\n");
  };
  for (const auto& [op, row] : rows) line(op, row);
  line("all", all);
  return text;
}

TEST(PythonProgramsTest, NodeCases) {
  const std::vector<ProgramCase> cases = NodeCases();
  if (cases.size() < kAllNodeCases) GTEST_SKIP() << kNoNodeCases;
  const Outcome python = RunAll("nodes", cases, kPython, 0.85);
  const Outcome archives = RunAll("nodes", cases, kArchive, 0.93);
  CheckRefused("nodes", kPython, python);
  CheckRefused("nodes", kArchive, archives);
  if (!Env("X2IR_CASES").empty()) return;
  ExpectGolden("docs/pytorch_ops.md", TableOf(python, archives));
}

}  // namespace
}  // namespace x2ir
