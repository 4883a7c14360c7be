// TensorFlow's frozen graphs to the IR, back to TensorFlow's ops, and to the IR again: the same
// results. What is written goes through a frozen graph, which is written again with the same bytes.
// Cases that do not come back stand in tests/golden/tf_one_way.txt with the reason.
//
//   X2IR_TF_CASES=REGEX    only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes tf_one_way.txt
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
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
    tally.Add(test.name, ThereAndBack(*ir, "tf", {inputs}, DrawsNumbers(*ir->graph), ThroughFrozenGraph));
  }
  tally.Finish("tf", "graphs come back", "tests/golden/tf_one_way.txt",
               "Graphs that are read, but not written again.");
}

}  // namespace
}  // namespace x2ir
