// ONNX's node tests as ML Programs, through their files, and back: the same results. What is not
// written stands in tests/golden/coreml_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes coreml_one_way.txt
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/node_back_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Written to memory, and read from there.
absl::StatusOr<Model> ThroughPackage(const Model& written) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  X2IR_RETURN_IF_ERROR(WriteMlPackage(written, IntoMemory("x.mlpackage", files)));
  return ReadCoreml(FromMemory("x.mlpackage/Data/com.apple.CoreML/", "model.mlmodel", files));
}

// What several cases have in common is the first part of a problem.
std::string_view ReasonOf(const Back& back) {
  return std::string_view(back.problem).substr(0, back.problem.find("; "));
}

TEST(CoremlBack, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "coreml", [](size_t) { return ThroughPackage; }, "tests/golden/coreml_one_way.txt",
      "Node tests that are not written as ML Programs.");
}

// The cases of Core ML (coreml_test.cc), written as ML Programs.
TEST(CoremlBack, CasesComeBack) {
  const fs::path root = Unpacked("coreml-cases.tar.xz", "coreml-cases") / "coreml-cases";
  BackTally tally;
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path& path = entry.path();
    const std::string name = path.stem().string();
    if (path.extension() != ".mlmodel" || !tally.Wants(name)) continue;
    const absl::StatusOr<Model> ir = Import(path.string());
    if (!ir.ok()) continue;  // told by coreml_test.cc
    const auto sets = ReadIoFile(StrCat(path.string(), ".io.safetensors"), *ir->graph);
    std::vector<std::vector<Tensor>> inputs;
    for (const IoCase& set : sets.ok() ? *sets : std::vector<IoCase>()) {
      std::vector<Tensor>& own = inputs.emplace_back();
      for (const std::optional<Tensor>& tensor : set.inputs) {
        if (tensor) own.push_back(*tensor);
      }
      if (own.size() != set.inputs.size()) inputs.pop_back();
    }
    const Back back = ThereAndBack(*ir, "coreml", inputs, DrawsNumbers(*ir->graph), ThroughPackage);
    tally.Add(name, back, ReasonOf(back));
  }
  tally.Finish("coreml", "cases are written and come back", "tests/golden/coreml_cases_one_way.txt",
               "Cases of Core ML that are not written as ML Programs.");
}

}  // namespace
}  // namespace x2ir
