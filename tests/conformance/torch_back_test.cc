// ONNX's node tests to the IR, to calls of PyTorch, into an archive, and out of it to the IR again:
// the same results. Cases that do not come back stand in tests/golden/torch_one_way.txt with the
// reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes torch_one_way.txt
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<Model> OutOfArchive(const Model& model) {
  std::string bytes;
  X2IR_RETURN_IF_ERROR(WriteTorch(model, Sink::To(&bytes)));
  return ReadTorch(Source::Bytes(std::move(bytes), {}, "model.pt2"));
}

TEST(TorchNodeTests, ComeBack) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally tally;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!tally.Wants(name)) continue;
    const std::optional<NodeCase> test = ReadNodeCase(folder);
    if (!test) continue;
    std::vector<std::vector<Tensor>> inputs;
    if (test->has_all_inputs) inputs.push_back(test->inputs);
    const bool random = name.find("bernoulli") != name.npos || name.find("dropout") != name.npos;
    Back back = ThereAndBack(test->ir, "torch", inputs, random, OutOfArchive);
    // What is written is more than what is read: axes that are computed, say.
    if (back.problem.starts_with("read again: ")) back.wrong = false;
    tally.Add(name, back);
  }
  tally.Finish("torch", "node tests come back", "tests/golden/torch_one_way.txt",
               "Node tests that are not written.");
}

}  // namespace
}  // namespace x2ir
