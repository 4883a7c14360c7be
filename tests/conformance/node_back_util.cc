#include "tests/conformance/node_back_util.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/value_util.h"
#include "tests/core/host_util.h"

namespace x2ir {

void ExpectNodeTestsComeBack(const std::string& dialect,
                             const std::function<ThroughFile(size_t number)>& through,
                             const std::string& golden, const std::string& about) {
  const std::vector<std::filesystem::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally tally;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = cases[i].filename().string();
    if (!tally.Wants(name)) continue;
    const std::optional<NodeCase> test = ReadNodeCase(cases[i]);
    if (!test || !test->has_all_inputs) continue;  // sequences
    const Back back = ThereAndBackOrSettled(test->ir, dialect, {test->inputs},
                                            DrawsNumbers(*test->ir.graph), through(i));
    // What several cases have in common is the first part of a problem.
    tally.Add(name, back, std::string_view(back.problem).substr(0, back.problem.find("; ")));
  }
  tally.Finish(dialect, "node tests are written and come back", golden, about);
}

}  // namespace x2ir
