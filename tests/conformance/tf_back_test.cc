// TensorFlow's frozen graphs to the IR, back to TensorFlow's ops, and to the IR again: the same
// results. What is written goes through a frozen graph and through a SavedModel.
// Cases that do not come back stand in tests/golden/tf_one_way.txt with the reason. ONNX's node
// tests go through frozen graphs; those that are not written stand in tests/golden/tf_refused.txt.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match, each with its reason
//   X2IR_CASES=REGEX       the same of node tests
//   X2IR_UPDATE_GOLDEN=1   writes tf_one_way.txt and tf_refused.txt
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/node_back_util.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using Files = std::map<std::string, std::string>;

// As a frozen graph ("model.pb"), or as a SavedModel.
absl::StatusOr<Files> FilesOf(const Model& model, const std::string& name) {
  const auto files = std::make_shared<Files>();
  if (absl::Status s = WriteTensorFlow(model, IntoMemory(name, files)); !s.ok()) return s;
  return *files;
}
absl::StatusOr<Model> ReadFiles(const std::string& name, Files files) {
  const auto all = std::make_shared<Files>(std::move(files));
  return ReadTensorFlow(name.ends_with(".pb") ? FromMemory("", name, all)
                                              : FromMemory(name + "/", "saved_model.pb", all));
}

// The graph as such files, which are read. A frozen graph is written again with the same bytes; the
// types that a SavedModel's signature and functions need are only found at import.
absl::StatusOr<Model> Through(const Model& model, const std::string& name) {
  X2IR_ASSIGN_OR_RETURN(Files files, FilesOf(model, name));
  X2IR_ASSIGN_OR_RETURN(Model read, ReadFiles(name, files));
  const bool has_functions = read.graph->TotalNodes() != read.graph->num_nodes();
  if (!name.ends_with(".pb") || has_functions) return read;
  const absl::StatusOr<Files> again = FilesOf(read, name);
  if (!again.ok()) return Internal("written again: ", std::string(again.status().message()));
  if (*again != files) return Internal("written again it has other bytes");
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
    Back back;
    for (const char* name : {"model.pb", "saved"}) {
      if (!back.problem.empty()) break;
      back = ThereAndBack(*ir, "tf", {inputs}, DrawsNumbers(*ir->graph),
                          [&](const Model& model) { return Through(model, name); });
    }
    tally.Add(test.name, back);
  }
  tally.Finish("tf", "graphs come back", "tests/golden/tf_one_way.txt",
               "Graphs that are read, but not written again.");
}

TEST(TensorFlowBackTest, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "tf", [](size_t) { return [](const Model& m) { return Through(m, "model.pb"); }; },
      "tests/golden/tf_refused.txt", "Node tests that are not written as graphs of TensorFlow.");
}

}  // namespace
}  // namespace x2ir
