// ONNX's node tests as models of NNEF, through their files, and back: the same results. Half of
// them are written as folders, half as archives, of which half are compressed. What is not written
// stands in tests/golden/nnef_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes nnef_one_way.txt
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Written to memory, and read from there.
ThroughFile ThroughModel(size_t kind) {
  return [kind](const Model& written) -> absl::StatusOr<Model> {
    const auto files = std::make_shared<std::map<std::string, std::string>>();
    const std::string name = kind == 1 ? "m.nnef.tar" : kind == 3 ? "m.nnef.tgz" : "m.nnef";
    X2IR_RETURN_IF_ERROR(WriteNnef(written, IntoMemory(name, files)));
    if (kind % 2 != 0) return ReadNnef(FromMemory("", name, files));
    return ReadNnef(FromMemory("m.nnef/", "graph.nnef", files));
  };
}

// What several cases have in common is the first part of a problem.
std::string_view FirstReason(const Back& back) {
  return std::string_view(back.problem).substr(0, back.problem.find("; "));
}

TEST(NnefBack, NodeTestsComeBack) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally tally;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = cases[i].filename().string();
    if (!tally.Wants(name)) continue;
    const std::optional<NodeCase> test = ReadNodeCase(cases[i]);
    if (!test || !test->has_all_inputs) continue;  // sequences
    const Back back = ThereAndBackOrSettled(test->ir, "nnef", {test->inputs},
                                            DrawsNumbers(*test->ir.graph), ThroughModel(i % 4));
    tally.Add(name, back, FirstReason(back));
  }
  tally.Finish("nnef", "node tests are written and come back", "tests/golden/nnef_one_way.txt",
               "Node tests that are not written as models of NNEF.");
}

}  // namespace
}  // namespace x2ir
