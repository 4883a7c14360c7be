// ONNX's node tests as programs of Relay, through their files, and back: the same results. A third
// of them is written as text, a third as JSON, and a third as text with a list of parameters. What
// is not written stands in tests/golden/relay_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes relay_one_way.txt
#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/conformance/node_back_util.h"
#include "tests/core/back_util.h"
#include "x2ir/formats/relay/relay.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

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

TEST(RelayBack, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "relay", [](size_t number) { return ThroughProgram(number % 3); },
      "tests/golden/relay_one_way.txt", "Node tests that are not written as programs of Relay.");
}

}  // namespace
}  // namespace x2ir
