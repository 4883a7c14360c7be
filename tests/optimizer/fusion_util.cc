#include "tests/optimizer/fusion_util.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/optimizer/target_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

// From -4 to 4.
Tensor SomeNumbers(DType dtype, const std::vector<int64_t>& dims, uint32_t seed) {
  std::mt19937 random(seed);
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<double> numbers(count);
  for (double& n : numbers) n = static_cast<double>(random() % 8001) / 1000 - 4;
  return FromNumbers<double>(dtype, dims, numbers);
}

absl::StatusOr<std::shared_ptr<Graph>> Parse(const FusionRow& row) {
  X2IR_ASSIGN_OR_RETURN(
      std::shared_ptr<Graph> graph,
      ParseGraph(StrCat("graph g(", row.inputs, ") -> (", row.outputs, ") {\n", row.lines, "\n}")));
  for (Node* node : graph->nodes()) {
    const OpDef* def = FindOp(node->op());
    if (!def) return NotFound("op ", node->op().str());
    for (const AttrDef& attr : def->attrs()) {
      if (attr.default_value && !node->attrs().Has(attr.name)) {
        node->SetAttr(attr.name, *attr.default_value);
      }
    }
  }
  for (Value* constant : graph->constants()) {
    if (!constant->name().starts_with("any")) continue;
    const Tensor& tensor = *constant->constant();
    graph->ReplaceConstant(constant, SomeNumbers(tensor.dtype(), tensor.dims(), 1));
  }
  X2IR_RETURN_IF_ERROR(InferGraph(*graph));
  return graph;
}

std::string Ops(const Graph& graph) {
  std::string ops;
  for (const Node* node : graph.nodes()) StrAppend(&ops, ops.empty() ? "" : " ", node->op().str());
  return ops;
}

// Dims that are not known are 3.
std::vector<Datum> Inputs(const Graph& graph) {
  std::vector<Datum> inputs;
  for (const Value* input : graph.inputs()) {
    std::vector<int64_t> dims;
    for (const Dim& dim : *input->shape()) dims.push_back(dim.is_static() ? dim.value() : 3);
    inputs.emplace_back(SomeNumbers(input->dtype(), dims, 2));
  }
  return inputs;
}

void ExpectClose(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.type().ToString(), want.type().ToString());
  const Numbers<double> gots(got), wants(want);
  for (int64_t i = 0; i < wants.size(); ++i) {
    if (gots[i] == wants[i] || (std::isnan(gots[i]) && std::isnan(wants[i]))) continue;
    EXPECT_NEAR(gots[i], wants[i], tolerance * std::max(1.0, std::abs(wants[i]))) << "at " << i;
  }
}

// Runs the passes; null where something failed.
std::shared_ptr<Graph> Check(const FusionRow& row, const std::vector<std::string>& passes) {
  const auto before = Parse(row);
  if (!before.ok()) {
    ADD_FAILURE() << before.status();
    return nullptr;
  }
  const auto after = *Parse(row);
  const TargetOfOps target([&](Symbol op) {
    return std::find(row.lacking.begin(), row.lacking.end(), op.view()) == row.lacking.end();
  });
  const PassContext context{.target = &target};
  const auto run = RunPasses(*after, passes, context);
  EXPECT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(after->Validate(), ::testing::IsEmpty());
  EXPECT_EQ(after->outputs().size(), (*before)->outputs().size());
  for (size_t i = 0; i < after->outputs().size(); ++i) {
    EXPECT_EQ(after->outputs()[i]->name(), (*before)->outputs()[i]->name());
    EXPECT_EQ(after->outputs()[i]->type(), (*before)->outputs()[i]->type());
  }
  const auto want = RunGraph(**before, Inputs(**before));
  const auto got = RunGraph(*after, Inputs(*after));
  if (!want.ok() || !got.ok()) {
    ADD_FAILURE() << want.status() << got.status() << ToText(*after);
    return nullptr;
  }
  for (size_t i = 0; i < want->size(); ++i) {
    ExpectClose(*(*got)[i].tensor(), *(*want)[i].tensor(), row.tolerance);
  }
  return after;
}

}  // namespace

int64_t ExpectSameNumbers(const FusionRow& row) {
  SCOPED_TRACE(row.lines);
  const auto graph = Check(row, DefaultPasses());
  return graph ? static_cast<int64_t>((*Parse(row))->num_nodes() - graph->num_nodes()) : 0;
}

void ExpectFusions(std::string_view pass, const std::vector<FusionRow>& rows) {
  ExpectFusions(std::vector<std::string>{std::string(pass), "dead_code"}, rows);
}

void ExpectFusions(const std::vector<std::string>& passes, const std::vector<FusionRow>& rows) {
  for (const FusionRow& row : rows) {
    SCOPED_TRACE(row.lines);
    const auto graph = Check(row, passes);
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(Ops(*graph), row.ops) << ToText(*graph);
  }
}

}  // namespace x2ir
