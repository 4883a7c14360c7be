// ONNX's node tests to the IR, to calls of PyTorch, into an archive, and out of it to the IR again:
// the same results. Cases that do not come back stand in torch_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes torch_one_way.txt
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
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
  const std::string filter = Env("X2IR_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  std::map<std::string, std::string> one_way;
  int read = 0;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!std::regex_search(name, wanted)) continue;
    const absl::StatusOr<Model> ir = Import((folder / "model.onnx").string());
    if (!ir.ok()) continue;  // told by conformance_test.cc
    const Graph& graph = *ir->graph;
    const auto data = ReadDatums((folder / "test_data_set_0").string(), "input", graph.inputs());
    std::vector<std::vector<Tensor>> inputs(1);
    for (const Datum& datum : data.ok() ? *data : std::vector<Datum>()) {
      if (const Tensor* tensor = datum.tensor()) inputs[0].push_back(*tensor);
    }
    if (inputs[0].size() != graph.inputs().size()) inputs.clear();
    ++read;
    const bool random = name.find("bernoulli") != name.npos || name.find("dropout") != name.npos;
    const Back back = ThereAndBack(*ir, "torch", inputs, random, OutOfArchive);
    if (back.problem.empty()) continue;
    // What is written is more than what is read: axes that are computed, say.
    const bool unread = back.problem.starts_with("read again: ");
    if (back.wrong && !unread) ADD_FAILURE() << name << ": " << back.problem;
    if (!filter.empty()) std::printf("%s: %s\n", name.c_str(), back.problem.c_str());
    one_way[name] = back.problem;
  }
  std::printf("torch: %d of %d node tests come back\n", read - static_cast<int>(one_way.size()),
              read);
  if (filter.empty()) {
    CheckOneWay("tests/conformance/torch_one_way.txt", "Node tests that are not written.", one_way);
  }
}

}  // namespace
}  // namespace x2ir
