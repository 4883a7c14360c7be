// TensorFlow's frozen graphs to the IR, back to TensorFlow's ops, and to the IR again: the same
// results. Cases that do not come back stand in tf_one_way.txt with the reason.
//
//   X2IR_TF_CASES=REGEX    only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes tf_one_way.txt
#include <cstdio>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

bool HasRandomNumbers(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const std::string_view op = node->op().view();
    if (op.starts_with("random_") || op == "multinomial" || op == "bernoulli") return true;
    for (const Graph* inner : node->subgraphs()) {
      if (HasRandomNumbers(*inner)) return true;
    }
  }
  return false;
}

TEST(TensorFlowBackTest, CasesComeBack) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  const std::string filter = Env("X2IR_TF_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  std::map<std::string, std::string> one_way;
  int read = 0;
  for (const TfCase& test : cases) {
    if (!std::regex_search(test.name, wanted)) continue;
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
    ++read;
    const Back back = ThereAndBack(*ir, "tf", {inputs}, HasRandomNumbers(*ir->graph));
    if (back.problem.empty()) continue;
    if (back.wrong) ADD_FAILURE() << test.name << ": " << back.problem;
    if (!filter.empty()) std::printf("%s: %s\n", test.name.c_str(), back.problem.c_str());
    one_way[test.name] = back.problem;
  }
  std::printf("tf: %d of %d graphs come back\n", read - static_cast<int>(one_way.size()), read);
  if (filter.empty()) {
    CheckOneWay("tests/conformance/tf_one_way.txt", "Graphs that are read, but not written again.",
                one_way);
  }
}

}  // namespace
}  // namespace x2ir
