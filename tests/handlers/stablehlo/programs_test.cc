// Programs of StableHLO that check themselves (tests/data/stablehlo/*.mlir.txt, parts between lines
// "// -----"): random ones, with results by the letter of the specification (programs.py,
// region_programs.py), and what is at the edge of it. Each is run as it is read, as what it is
// written to, and as ONNX.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/checks.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/checks.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

std::vector<std::string> ProgramsIn(const std::string& file) {
  const std::string text = ReadFile(X2IR_SOURCE_DIR "/tests/data/stablehlo/" + file);
  std::vector<std::string> programs;
  const std::string line = "// -----\n";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(line, at), text.size());
    programs.push_back(text.substr(at, end - at));
    at = end + line.size();
  }
  return programs;
}

absl::StatusOr<Model> Read(const std::string& program, bool checks) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  (*files)["program.mlir"] = program;
  ImportOptions reading;
  if (checks) reading.format_options.Set(kChecksOption, true);
  return Import(FromMemory("", "program.mlir", files), reading);
}

std::string Problem(const Model& model, const std::vector<ResultCheck>& checks) {
  const auto got = RunGraph(*model.graph, {});
  if (!got.ok()) return std::string(got.status().message());
  const auto verdict = VerifyChecks(*model.graph, checks, *got);
  if (!verdict.ok()) return std::string(verdict.status().message());
  for (const OutputVerdict& output : verdict->outputs) {
    if (!output.comparison.agrees) return output.comparison.problem;
  }
  return "";
}

void ExpectRight(const std::string& file) {
  const std::vector<std::string> programs = ProgramsIn(file);
  ASSERT_GT(programs.size(), 10u);
  for (const std::string& program : programs) {
    const auto model = Read(program, true);
    ASSERT_TRUE(model.ok()) << model.status() << "\n" << program;
    const std::vector<ResultCheck> checks = ChecksOf(*model);
    ASSERT_FALSE(checks.empty()) << program;
    EXPECT_EQ(Problem(*model, checks), "") << program;
    for (const char* name : {"again.mlir", "again.onnx"}) {
      const auto files = std::make_shared<std::map<std::string, std::string>>();
      ExportOptions writing = {.optimize = false};
      if (name == std::string("again.onnx")) writing.opset = 18;
      const absl::Status written = Export(model->Clone(), IntoMemory(name, files), writing);
      ASSERT_TRUE(written.ok()) << written << "\n" << program;
      const auto again = Import(FromMemory("", name, files));
      ASSERT_TRUE(again.ok()) << again.status() << "\n" << program;
      EXPECT_EQ(Problem(*again, checks), "") << name << "\n" << program;
    }
  }
}

TEST(StablehloPrograms, RandomOnes) { ExpectRight("random.mlir.txt"); }
TEST(StablehloPrograms, OfRegionsAndOpenSizes) { ExpectRight("regions.mlir.txt"); }
TEST(StablehloPrograms, AtTheEdge) { ExpectRight("edges.mlir.txt"); }

// What is wrong with a program is said; nothing ends the process.
TEST(StablehloPrograms, WrongOnes) {
  const std::vector<std::string> programs = ProgramsIn("wrong.mlir.txt");
  ASSERT_GT(programs.size(), 5u);
  for (const std::string& program : programs) {
    const auto model = Read(program, false);
    EXPECT_FALSE(model.ok()) << program;
    EXPECT_FALSE(absl::IsInternal(model.status())) << model.status();
    const size_t expects = program.find("// ");
    ASSERT_NE(expects, std::string::npos);
    const std::string why = program.substr(expects + 3, program.find('\n', expects) - expects - 3);
    EXPECT_NE(std::string(model.status().message()).find(why), std::string::npos)
        << model.status() << "\nexpected: " << why;
  }
}

}  // namespace
}  // namespace x2ir
