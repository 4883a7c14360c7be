// ONNX's node tests as models of NNEF, through their files, and back: the same results. Half of
// them are written as folders, half as archives, of which half are compressed. What is not written
// stands in tests/golden/nnef_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes nnef_one_way.txt
#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/conformance/node_back_util.h"
#include "tests/core/back_util.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

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

TEST(NnefBack, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "nnef", [](size_t number) { return ThroughModel(number % 4); },
      "tests/golden/nnef_one_way.txt", "Node tests that are not written as models of NNEF.");
}

}  // namespace
}  // namespace x2ir
