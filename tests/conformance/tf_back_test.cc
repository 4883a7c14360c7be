// TensorFlow's frozen graphs to the IR, back to TensorFlow's ops, and to the IR again: the same
// results. What is written goes through a frozen graph, which is written again with the same bytes.
// Cases that do not come back stand in tests/golden/tf_one_way.txt with the reason. ONNX's node
// tests go the same way; those that are not written stand in tests/golden/tf_refused.txt.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match, each with its reason
//   X2IR_CASES=REGEX       the same of node tests
//   X2IR_UPDATE_GOLDEN=1   writes tf_one_way.txt and tf_refused.txt
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// The graph as a file, which is read, and written again with the same bytes.
absl::StatusOr<Model> ThroughFrozenGraph(const Model& model) {
  std::string bytes, again;
  if (const absl::Status s = WriteTensorFlow(model, Sink::To(&bytes, "model.pb")); !s.ok()) {
    return s;
  }
  absl::StatusOr<Model> read = ParseTensorFlow(bytes);
  if (!read.ok()) return read;
  if (const absl::Status s = WriteTensorFlow(*read, Sink::To(&again, "model.pb")); !s.ok()) {
    return Internal("written again: ", std::string(s.message()));
  }
  if (bytes != again) return Internal("written again it has other bytes");
  return read;
}

TEST(TensorFlowBackTest, CasesComeBack) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  BackTally tally("X2IR_TF_CASES");
  for (const TfCase& test : cases) {
    if (!tally.Wants(test.name)) continue;
    ImportOptions options;
    options.format = "tensorflow";
    for (const TfCase::File& file : test.outputs) options.outputs.push_back(file.value);
    const absl::StatusOr<Model> ir = Import(test.model, options);
    if (!ir.ok()) continue;  // told by tf_test.cc
    std::vector<Tensor> inputs;
    for (const Value* input : ir->graph->inputs()) {
      for (const TfCase::File& file : test.inputs) {
        if (file.value != input->name()) continue;
        const auto tensor = ReadTfValues(file.path, input->dtype());
        if (tensor.ok()) inputs.push_back(*tensor);
      }
    }
    tally.Add(test.name,
              ThereAndBack(*ir, "tf", {inputs}, DrawsNumbers(*ir->graph), ThroughFrozenGraph));
  }
  tally.Finish("tf", "graphs come back", "tests/golden/tf_one_way.txt",
               "Graphs that are read, but not written again.");
}

absl::StatusOr<Model> ThroughGraphDef(const Model& model) {
  std::string bytes;
  X2IR_RETURN_IF_ERROR(WriteTensorFlow(model, Sink::To(&bytes, "model.pb")));
  return ParseTensorFlow(bytes);
}

TEST(TensorFlowBackTest, NodeTestsComeBack) {
  const std::vector<std::filesystem::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally tally;
  for (const std::filesystem::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!tally.Wants(name)) continue;
    const std::optional<NodeCase> test = ReadNodeCase(folder);
    if (!test || !test->has_all_inputs) continue;  // sequences
    const Back back = ThereAndBackOrSettled(test->ir, "tf", {test->inputs},
                                            DrawsNumbers(*test->ir.graph), ThroughGraphDef);
    // What several cases have in common is the first part of a problem.
    tally.Add(name, back, std::string_view(back.problem).substr(0, back.problem.find("; ")));
  }
  tally.Finish("tf", "node tests are written and come back", "tests/golden/tf_refused.txt",
               "Node tests that are not written as graphs of TensorFlow.");
}

}  // namespace
}  // namespace x2ir
