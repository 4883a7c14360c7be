// Programs that x2ir writes in Python, run by PyTorch: networks, PyTorch's own operator cases, and
// ONNX's backend cases, each against its stored outputs. What is refused stands in refused.txt with
// the reason. One process runs them all; any PyTorch from 1.13 on will do (Debian: python3-torch).
// What is written for OneFlow is run by it too, with a stand-in that has OneFlow's names alone
// (standin/oneflow).
//
//   X2IR_PYTHON=python3    the interpreter, instead of the system's
//   X2IR_CASES=REGEX       only the cases whose names match
//   X2IR_UPDATE_GOLDEN=1   writes refused.txt
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
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/torch/torch_cases_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

std::string Interpreter() {
  const std::string given = Env("X2IR_PYTHON");
  return given.empty() ? "/usr/bin/python3" : given;
}

bool HasPyTorch() {
  static const bool has =
      std::system((Interpreter() + " -c 'import torch' >/dev/null 2>&1").c_str()) == 0;
  return has;
}

fs::path Folder() {
  const fs::path folder = fs::path(X2IR_BUILD_DIR) / "python-programs";
  fs::create_directories(folder);
  return folder;
}

struct ProgramCase {
  std::string name;
  fs::path model;
  fs::path io;  // empty: a data set of ONNX's lies beside the model
};

void AddNodeCases(const fs::path& root, std::set<std::string>& seen,
                  std::vector<ProgramCase>& cases) {
  std::error_code error;
  std::vector<fs::path> models;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    if (entry.path().filename() == "model.onnx") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  for (const fs::path& model : models) {
    const std::string name = model.parent_path().filename().string();
    if (seen.insert(name).second) cases.push_back({name, model, {}});
  }
}

std::vector<ProgramCase> NodeCases() {
  std::vector<ProgramCase> cases;
  // Random ones, and those whose outputs are not what ONNX says.
  std::set<std::string> seen;
  std::ifstream exclusions(X2IR_SOURCE_DIR "/tests/conformance/exclusions.txt");
  for (std::string line; std::getline(exclusions, line);) {
    seen.insert(line.substr(0, line.find_first_of(" @")));
  }
  const fs::path archived = Unpacked("onnx-node-tests-opset18plus.tar.xz", "onnx-node-tests");
  if (!archived.empty()) AddNodeCases(archived, seen, cases);
  AddNodeCases("/usr/share/libonnx-testdata/data/node", seen, cases);
  return cases;
}

std::vector<ProgramCase> Networks() {
  std::vector<ProgramCase> cases;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(X2IR_SHARED_DIR "/models", error)) {
    for (const auto& file : fs::directory_iterator(folder, error)) {
      const std::string extension = file.path().extension().string();
      if (extension != ".onnx" && extension != ".pt2") continue;
      cases.push_back({StrCat("models/", folder.path().filename().string(), "/",
                              file.path().filename().string()),
                       file.path(), folder.path() / "io.safetensors"});
    }
  }
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

// The data set of an ONNX case as a file. "" or why there is none.
std::string WriteIo(const fs::path& folder, const Graph& graph, const std::string& to) {
  std::vector<NamedTensor> tensors;
  const fs::path set = folder / "test_data_set_0";
  for (const auto& [stem, role, values] :
       {std::tuple("input", "in_", graph.inputs()), {"output", "out_", graph.outputs()}}) {
    const auto datums = ReadDatums(set.string(), stem, values);
    if (!datums.ok()) return "its data cannot be read";
    for (size_t i = 0; i < datums->size(); ++i) {
      const Tensor* tensor = (*datums)[i].tensor();
      if (!tensor) return "its data are no tensors";
      tensors.push_back({StrCat(role, i), *tensor});
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

// Converts all, runs them, and tells which were refused.
void RunAll(const std::string& cases_name, const std::vector<ProgramCase>& cases, double least,
            const std::string& format = "python") {
  const bool oneflow = format == "oneflow";
  const std::string suite = oneflow ? StrCat("oneflow_", cases_name) : cases_name;
  if (cases.empty()) GTEST_SKIP() << "there are no cases";
  const std::string filter = Env("X2IR_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  std::map<std::string, std::string> refused, name_of;
  const fs::path list = Folder() / (suite + ".txt");
  std::ofstream out(list);
  int count = 0;
  for (const ProgramCase& test : cases) {
    if (!std::regex_search(test.name, wanted)) continue;
    Report report;
    auto ir = Import(test.model.string(), {}, &report);
    if (!ir.ok()) continue;  // told by others
    ++count;
    std::string stem = test.name;
    for (char& c : stem) c = c == '/' || c == '.' ? '_' : c;
    if (oneflow) stem += "_oneflow";
    const std::string program = (Folder() / (stem + ".py")).string();
    std::string io = test.io.string();
    if (io.empty()) {
      io = (Folder() / (stem + ".io.safetensors")).string();
      const std::string problem = WriteIo(test.model.parent_path(), *ir->graph, io);
      if (!problem.empty()) io.clear();
    }
    ExportOptions options;
    options.format = format;
    options.format_options.Set("force", true);
    const absl::Status status = Export(*std::move(ir), program, options, &report);
    if (!status.ok()) {
      refused[test.name] = ReasonOf(report, status);
      continue;
    }
    if (io.empty()) continue;
    out << program << "\t" << io << "\n";
    name_of[program] = test.name;
  }
  out.close();
  if (HasPyTorch()) {
    const std::string command =
        StrCat("PYTHONPATH=", X2IR_SOURCE_DIR, "/tests/python/standin ", Interpreter(), " ",
               X2IR_SOURCE_DIR, "/tests/python/run_programs.py ", list.string(), " 2>&1");
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_TRUE(pipe);
    std::string text;
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << text.substr(text.size() > 2000 ? text.size() - 2000 : 0);
    std::istringstream lines(text);
    size_t right = 0, told = 0;
    for (std::string line; std::getline(lines, line);) {
      const size_t tab = line.find('\t');
      const auto it = tab == std::string::npos ? name_of.end() : name_of.find(line.substr(0, tab));
      if (it == name_of.end()) continue;
      ++told;
      const std::string problem = line.substr(tab + 1);
      right += problem.empty();
      if (problem.empty() || problem.starts_with("skip: ")) continue;
      // PyTorch 1.13 takes another one of two voxels that are as near; 2.x takes this one.
      if (it->second == "test_gridsample_volumetric_nearest_align_corners_0") continue;
      // Its data are of another epsilon than the node has.
      if (it->second == "test_adam_multiple") continue;
      // Drawn numbers.
      const bool drawn = it->second.starts_with("test_bernoulli") ||
                         it->second.starts_with("test_training_dropout");
      if (drawn && problem.find("differs by") != problem.npos) continue;
      ADD_FAILURE() << it->second << ": " << problem << "\n  " << it->first;
    }
    EXPECT_EQ(told, name_of.size());
    std::printf("%s: %zu of %d programs run right, %zu are refused\n", suite.c_str(), right, count,
                refused.size());
    if (filter.empty()) {
      EXPECT_GE(static_cast<double>(right), least * count);
    }
  } else {
    std::printf("*** no PyTorch for %s (Debian: python3-torch): the programs were NOT run\n",
                Interpreter().c_str());
  }
  if (filter.empty()) {
    CheckOneWay(
        StrCat("tests/python/refused_", suite, ".txt"),
        StrCat("What is not written in Python", oneflow ? " for OneFlow" : "", ", and why."),
        refused, fs::exists(X2IR_SHARED_DIR "/models") ? "" : "models/");
  }
}

TEST(PythonProgramsTest, Networks) { RunAll("networks", Networks(), 0.8); }
TEST(PythonProgramsTest, Operators) { RunAll("operators", OperatorCases(), 0.93); }
TEST(PythonProgramsTest, NodeCases) { RunAll("nodes", NodeCases(), 0.8); }
TEST(PythonProgramsTest, OneFlowNetworks) { RunAll("networks", Networks(), 0.8, "oneflow"); }
TEST(PythonProgramsTest, OneFlowNodeCases) { RunAll("nodes", NodeCases(), 0.7, "oneflow"); }

}  // namespace
}  // namespace x2ir
