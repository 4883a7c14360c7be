// ONNX's node tests as programs of Relay, through their files, and back: the same results. A third
// of them is written as text, a third as JSON, and a third as text with a list of parameters. What
// is not written stands in tests/golden/relay_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes relay_one_way.txt
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
#include "x2ir/formats/relay/relay.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Written to memory, and read from there.
ThroughFile ThroughProgram(size_t kind) {
  return [kind](const Model& written) -> absl::StatusOr<Model> {
    const auto files = std::make_shared<std::map<std::string, std::string>>();
    const std::string name = kind == 1 ? "m.relay.json" : "m.relay";
    X2IR_RETURN_IF_ERROR(
        WriteRelay(written, IntoMemory(name, files), {.json = kind == 1, .params = kind == 2}));
    return ReadRelay(FromMemory("", name, files));
  };
}

// What several cases have in common is the first part of a problem.
std::string_view FirstReason(const Back& back) {
  return std::string_view(back.problem).substr(0, back.problem.find("; "));
}

TEST(RelayBack, NodeTestsComeBack) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally tally;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = cases[i].filename().string();
    if (!tally.Wants(name)) continue;
    const std::optional<NodeCase> test = ReadNodeCase(cases[i]);
    if (!test || !test->has_all_inputs) continue;  // sequences
    const Back back = ThereAndBackOrSettled(test->ir, "relay", {test->inputs},
                                            DrawsNumbers(*test->ir.graph), ThroughProgram(i % 3));
    tally.Add(name, back, FirstReason(back));
  }
  tally.Finish("relay", "node tests are written and come back", "tests/golden/relay_one_way.txt",
               "Node tests that are not written as programs of Relay.");
}

}  // namespace
}  // namespace x2ir
