// Programs of StableHLO that check themselves (tests/data/cases/README.md): the project's own test
// data and the tests of its interpreter. Each is run as it is read, and again from the ONNX file
// that it is written to, at two opsets, here and in ONNX Runtime. What is refused, and what
// differs, is in tests/golden/stablehlo_cases.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes the lists
#include "x2ir/formats/stablehlo/stablehlo.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/golden/golden_util.h"
#include "tests/runtimes/runtime_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/checks.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/io/named_tensor.h"
#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/checks.h"
#include "x2ir/inspect/compare.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/infer.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

fs::path Cases() {
  return Unpacked("stablehlo-cases.tar.xz", "stablehlo-cases") / "stablehlo-cases";
}

std::vector<fs::path> FilesIn(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What the checks say: "" if all hold; else the first that does not, or why the program cannot be
// run.
std::string Checked(const Model& model, const std::vector<ResultCheck>& checks,
                    std::vector<Datum>* results = nullptr) {
  const auto got = RunCase(*model.graph, IoCase());
  if (!got.ok()) return std::string(got.status().message());
  const auto verdict = VerifyChecks(*model.graph, checks, *got);
  if (!verdict.ok()) return std::string(verdict.status().message());
  if (results != nullptr) *results = *got;
  for (const OutputVerdict& output : verdict->outputs) {
    if (!output.comparison.agrees) return output.comparison.problem;
  }
  return "";
}

// What is expected of each output; nothing where a check wants another number, or it is no tensor.
std::optional<std::vector<Tensor>> ExpectedOf(const std::vector<ResultCheck>& checks,
                                              std::vector<Datum> results) {
  for (const ResultCheck& check : checks) {
    if (check.kind == ResultCheck::kClose && check.min_ulps != 0) return std::nullopt;
    results[check.actual] = results[check.expected];
  }
  std::vector<Tensor> expected;
  for (const Datum& result : results) {
    if (result.tensor() == nullptr) return std::nullopt;
    expected.push_back(*result.tensor());
  }
  return expected;
}

// ONNX Runtime has kernels of its own, so steps of the last place are not counted. A sum of large
// numbers may be small, so errors are relative to the largest number of all.
Tolerance OrtTolerance(const std::vector<Tensor>& expected) {
  Tolerance tolerance = {2e-5, 2e-5};
  for (const Tensor& tensor : expected) {
    if (!IsFloating(tensor.dtype())) continue;
    if (BitWidth(tensor.dtype()) <= 16) tolerance = {2e-2, 2e-2};
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const double x = std::abs(tensor.AsDouble(i));
      if (std::isfinite(x)) tolerance.atol = std::max(tolerance.atol, 5e-7 * x);
    }
  }
  return tolerance;
}

// Whether ONNX Runtime's binding for JavaScript has the types of all of these; its library for C
// has all types.
bool JavaScriptHas(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    const DType dtype = tensor.dtype();
    const bool small_float = IsFloating(dtype) && BitWidth(dtype) <= 16;
    return small_float ? dtype == DType::kFloat16 : dtype == DType::kString || BitWidth(dtype) >= 8;
  });
}

// What ONNX Runtime computes of a file without inputs: "" if it agrees, else what is wrong.
std::string InLibrary(const Runtime& runtime, const std::string& path,
                      const std::vector<Tensor>& expected) {
  const auto model = runtime.Open(path);
  if (!model.ok()) return StrCat("load: ", std::string(model.status().message()));
  const auto got = (*model)->Run({});
  if (!got.ok()) return StrCat("run: ", std::string(got.status().message()));
  if (got->size() != expected.size()) return "compare: another number of outputs";
  const Tolerance tolerance = OrtTolerance(expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Comparison one = Compare((*got)[i], Datum(expected[i]), tolerance);
    if (!one.agrees) return StrCat("compare: ", one.problem);
  }
  return "";
}

std::string FirstLineOf(const absl::Status& status) {
  std::string line;
  const std::string message(status.message());
  for (const char c : message) line += c == '\n' ? ';' : c;
  return line.substr(0, 200);
}

constexpr size_t kAgreeInOrt = 98;  // of 100 files

TEST(Stablehlo, ProgramsAgreeWithTheirChecks) {
  const fs::path root = Cases();
  const fs::path written_to = fs::path(X2IR_BUILD_DIR) / "conformance" / "stablehlo";
  fs::remove_all(written_to);
  fs::create_directories(written_to);
  const auto judge = OrtJudge::Start();
  const std::string library = OnnxRuntimeLibrary();
  const auto runtime = library.empty() ? nullptr : LoadRuntime("onnxruntime", library).value();
  BackTally in_ir;
  std::map<int, BackTally> at_opset = {{18, BackTally()}, {21, BackTally()}};
  std::vector<std::pair<std::string, size_t>> asked;
  size_t agree = 0, files = 0;
  Reasons others;
  int number = 0;
  for (const char* folder : {"interpret", "math", "testdata"}) {
    for (const fs::path& file : FilesIn(root / folder, ".mlir")) {
      const std::string name = fs::relative(file, root).string();
      if (!in_ir.Wants(name)) continue;
      ImportOptions reading;
      reading.format_options.Set(kChecksOption, true);
      const auto model = Import(file.string(), reading);
      if (!model.ok()) {
        // Without the path, which is of this machine.
        std::string problem = FirstLineOf(model.status());
        const std::string path = StrCat("'", file.string(), "': ");
        if (problem.starts_with(path)) problem.erase(0, path.size());
        in_ir.Add(name, {problem, false});
        continue;
      }
      const std::vector<ResultCheck> checks = ChecksOf(*model);
      if (checks.empty()) continue;  // nothing says what is right
      std::vector<Datum> results;
      in_ir.Add(name, {Checked(*model, checks, &results), false});
      for (auto& [opset, tally] : at_opset) {
        // Without passes: these would fold all of it, since nothing is an input.
        const std::string path = (written_to / StrCat(++number, ".", opset, ".onnx")).string();
        ExportOptions writing;
        writing.opset = opset;
        writing.format_options.Set("cpu_kernels", true);
        writing.optimize = false;
        writing.check = true;
        const absl::Status written = Export(model->Clone(), path, writing);
        if (!written.ok()) {
          tally.Add(name, {FirstLineOf(written), false});
          continue;
        }
        const auto again = Import(path);
        ASSERT_TRUE(again.ok()) << name << ": " << again.status();
        tally.Add(name, {Checked(*again, checks), false});
        if (!judge || !runtime || results.empty()) continue;
        const auto expected = ExpectedOf(checks, results);
        if (!expected) continue;
        ++files;
        const std::string file_name = StrCat(name, "@", opset);
        if (!JavaScriptHas(*expected)) {
          const std::string problem = InLibrary(*runtime, path, *expected);
          agree += problem.empty();
          if (!problem.empty()) others[file_name] = FirstLineOf(absl::UnknownError(problem));
          continue;
        }
        std::vector<NamedTensor> tensors;
        for (const Tensor& tensor : *expected) {
          tensors.push_back({StrCat("out_", tensors.size()), tensor});
        }
        const std::string io = StrCat(path, ".io.safetensors");
        ASSERT_TRUE(WriteSafetensors(io, tensors).ok()) << name;
        const Tolerance tolerance = OrtTolerance(*expected);
        asked.emplace_back(file_name, judge->Ask({path, io, tolerance.rtol, tolerance.atol}));
      }
    }
  }
  in_ir.Finish("stablehlo", "programs agree with their checks", "tests/golden/stablehlo_cases.txt",
               "Programs of StableHLO that are refused, or whose checks fail.");
  for (const auto& [opset, tally] : at_opset) {
    tally.Finish(StrCat("stablehlo at opset ", opset), "programs agree",
                 StrCat("tests/golden/stablehlo_onnx", opset, ".txt"),
                 StrCat("Programs of StableHLO that opset ", opset,
                        " of ONNX cannot express, or whose checks fail there."));
  }
  if (!judge || !runtime) return;
  for (const auto& [name, question] : asked) {
    const OrtJudge::Answer& answer = judge->Answers()[question];
    agree += answer.agrees;
    if (answer.agrees) continue;
    others[name] = StrCat(answer.stage, ": ", FirstLineOf(absl::UnknownError(answer.error)));
  }
  std::printf("stablehlo in ONNX Runtime: %zu of %zu files agree\n", agree, files);
  if (Env("X2IR_CASES").empty()) {
    ExpectReasons("tests/golden/stablehlo_ort.txt",
                  "Files of programs of StableHLO (NAME@OPSET) that ONNX Runtime does not run, or "
                  "that differ there.",
                  others);
    EXPECT_GE(agree * 100, files * kAgreeInOrt);
  }
}

// Programs with results by the letter of the specification (tests/handlers/stablehlo), without
// passes that would compute them.
TEST(Stablehlo, ProgramsOfTheSpecificationInOnnxRuntime) {
  const std::string library = OnnxRuntimeLibrary();
  if (library.empty()) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const auto runtime = LoadRuntime("onnxruntime", library).value();
  const fs::path folder = fs::path(X2IR_BUILD_DIR) / "conformance" / "stablehlo_specification";
  fs::create_directories(folder);
  const std::string path = (folder / "program.onnx").string();
  int count = 0;
  for (const char* file : {"edges.mlir.txt", "random.mlir.txt", "regions.mlir.txt"}) {
    const std::string all = ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/stablehlo/", file));
    const std::vector<std::string> programs = absl::StrSplit(all, "// -----\n");
    for (const std::string& program : programs) {
      SCOPED_TRACE(program);
      ImportOptions reading;
      reading.format_options.Set(kChecksOption, true);
      auto model = Import(Source::Bytes(program, {}, "x.mlir"), reading);
      ASSERT_TRUE(model.ok()) << model.status();
      const std::vector<ResultCheck> checks = ChecksOf(*model);
      std::vector<Datum> results;
      ASSERT_EQ(Checked(*model, checks, &results), "");
      const auto expected = ExpectedOf(checks, results);
      ASSERT_TRUE(expected);
      ExportOptions writing;
      writing.optimize = false;
      writing.format_options.Set("cpu_kernels", true);
      const absl::Status written = Export(*std::move(model), path, writing);
      ASSERT_TRUE(written.ok()) << written;
      const std::string problem = InLibrary(*runtime, path, *expected);
      // docs/runtimes.md: there is no convolution of float64, and NaN has no place in TopK.
      const bool is_known = problem.find("an implementation for Conv") != problem.npos ||
                            program.starts_with("// sort as jax does, the largest first");
      EXPECT_TRUE(problem.empty() || is_known) << problem;
      count += problem.empty();
    }
  }
  std::printf("stablehlo: %d programs of the specification agree in ONNX Runtime\n", count);
  EXPECT_GE(count, 110);
}

// --- Portable artifacts --------------------------------------------------------------------------

// Values are called by their places: bytecode has no names.
void NameByPlace(Graph& graph, int* next) {
  const auto name = [&](Value* value) {
    if (value != nullptr) graph.Rename(value, StrCat("_", ++*next));
  };
  for (Value* input : graph.inputs()) name(input);
  for (Value* constant : graph.constants()) name(constant);
  for (Node* node : graph.nodes()) {
    for (Graph* nested : node->subgraphs()) NameByPlace(*nested, next);
    for (Value* output : node->outputs()) name(output);
  }
}

// The graph, or why there is none, without the line that only text has.
std::string TextByPlace(const mlir::Module& module, const std::string& function) {
  auto model = stablehlo::GraphOf(module, {.entry = function, .checks = false});
  if (!model.ok()) {
    return std::regex_replace(std::string(model.status().message()), std::regex(" of line [0-9]+"),
                              "");
  }
  int next = 0;
  NameByPlace(*model->graph, &next);
  return ToText(*model->graph);
}

// Every function of every artifact is the same graph as that of its text.
TEST(StablehloArtifacts, AreWhatTheirTextsAre) {
  const fs::path root = Cases() / "vhlo";
  int files = 0, functions = 0;
  for (const fs::path& path : FilesIn(root, ".bc")) {
    if (path.filename() == "invalid_vhlo_future.mlir.bc") continue;
    SCOPED_TRACE(path.filename().string());
    const auto blob = Blob::Open(path.string());
    ASSERT_TRUE(blob.ok()) << blob.status();
    auto artifact = mlir::ReadBytecode(*blob);
    ASSERT_TRUE(artifact.ok()) << artifact.status();
    const absl::Status flat = stablehlo::FromVhlo(*artifact);
    ASSERT_TRUE(flat.ok()) << flat;
    fs::path twin = path;
    twin.replace_extension();
    const auto text = mlir::ParseText(ReadFile(twin));
    ASSERT_TRUE(text.ok()) << text.status();
    ++files;
    for (const mlir::Op& op : text->top.regions[0].blocks[0].ops) {
      const mlir::Attr* name = op.Find("sym_name");
      if (op.name != "func.func" || name == nullptr || op.regions.empty()) continue;
      ++functions;
      EXPECT_EQ(TextByPlace(*artifact, name->s), TextByPlace(*text, name->s)) << name->s;
    }
  }
  std::printf("stablehlo: %d artifacts, %d functions\n", files, functions);
  EXPECT_GE(files, 11);
}

// --- There and back ------------------------------------------------------------------------------

absl::StatusOr<Model> ThroughFormat(const Model& written, const std::string& format,
                                    const std::string& name) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  const Format* of = FindFormat(format);
  X2IR_RETURN_IF_ERROR(of->write(written, IntoMemory(name, files), {}));
  return of->read(FromMemory("", name, files), ReadRequest());
}

TEST(StablehloBack, NodeTestsComeBack) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally text, bytecode;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!text.Wants(name)) continue;
    const std::optional<NodeCase> test = ReadNodeCase(folder);
    if (!test || !test->has_all_inputs) continue;  // sequences
    const bool random = DrawsNumbers(*test->ir.graph);
    for (const auto& [format, file, tally] :
         {std::tuple{"stablehlo", "x.mlir", &text},
          std::tuple{"stablehlo_bytecode", "x.mlirbc", &bytecode}}) {
      const Back back =
          ThereAndBack(test->ir, "stablehlo", {test->inputs}, random,
                       [&](const Model& written) { return ThroughFormat(written, format, file); });
      tally->Add(name, back, std::string_view(back.problem).substr(0, back.problem.find("; ")));
    }
  }
  text.Finish("stablehlo", "node tests are written as text and come back",
              "tests/golden/stablehlo_one_way.txt",
              "Node tests that are not written as StableHLO.");
  bytecode.Finish("stablehlo", "node tests are written as bytecode and come back",
                  "tests/golden/stablehlo_bytecode_one_way.txt",
                  "Node tests that are not written as portable artifacts of StableHLO.");
}

// Two networks are written, read again and compared value by value.
TEST(StablehloBack, NetworksAgreeNodeByNode) {
  for (const char* name : {"demo", "gru", "unet_tiny"}) {
    const auto ir = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/", name, "/model.onnx"));
    ASSERT_TRUE(ir.ok()) << ir.status();
    std::string note;
    const auto io = RandomCase(*ir->graph, 1, &note);
    ASSERT_TRUE(io.ok()) << io.status();
    for (const char* format : {"stablehlo", "stablehlo_bytecode"}) {
      SCOPED_TRACE(StrCat(name, " as ", format));
      std::string bytes;
      const absl::Status written =
          Export(ir->Clone(), Sink::To(&bytes, "x.mlir"), {.format = format});
      ASSERT_TRUE(written.ok()) << written;
      const auto again = Import(Source::Bytes(bytes, {}, "x.mlir"));
      ASSERT_TRUE(again.ok()) << again.status();
      const auto compared = CompareModels(*ir, *again, {*io});
      ASSERT_TRUE(compared.ok()) << compared.status();
      EXPECT_TRUE(compared->agrees()) << compared->ToText();
      EXPECT_FALSE(compared->first.has_value()) << compared->ToText();
      // Bytecode has no names, so that only outputs are found there.
      const size_t least = std::string_view(format) == "stablehlo" ? 4 : 1;
      EXPECT_GE(compared->values.size(), least);
    }
  }
}

}  // namespace
}  // namespace x2ir
