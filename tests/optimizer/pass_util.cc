#include "tests/optimizer/pass_util.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

void FillDefaults(Graph& graph) {
  for (Node* node : graph.nodes()) {
    if (const OpDef* def = node->is_ir() ? FindOp(node->op()) : nullptr) {
      for (const AttrDef& attr : def->attrs()) {
        if (attr.default_value && !node->attrs().Has(attr.name)) {
          node->SetAttr(attr.name, *attr.default_value);
        }
      }
    }
    for (Graph* inner : node->subgraphs()) FillDefaults(*inner);
  }
}

absl::StatusOr<std::shared_ptr<Graph>> Parse(const PassRow& row, std::string_view lines) {
  X2IR_ASSIGN_OR_RETURN(
      std::shared_ptr<Graph> graph,
      ParseGraph(StrCat("graph g(", row.inputs, ") -> (", row.outputs, ") {\n", lines, "\n}")));
  FillDefaults(*graph);
  X2IR_RETURN_IF_ERROR(InferGraph(*graph));
  return graph;
}

// Names of what is neither input nor output are of no interest.
std::string Text(const Graph& original) {
  const std::shared_ptr<Graph> copy = original.Clone();
  Graph& graph = *copy;
  int count = 0;
  const auto rename = [&](Value* value, bool first) {
    if (!value || value->is_graph_output()) return;
    graph.Rename(value, first ? graph.UniqueName("#") : StrCat("v", count++));
  };
  for (const bool first : {true, false}) {
    for (Value* constant : graph.constants()) rename(constant, first);
    for (Node* node : graph.nodes()) {
      for (Value* output : node->outputs()) rename(output, first);
    }
  }
  TextOptions options;
  options.types = false;
  options.max_constant_elements = 64;
  return Body(ToText(graph, options));
}

}  // namespace

void ExpectPass(const PassRow& row, const std::vector<std::string>& passes) {
  const auto graph = Parse(row, row.before);
  ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << row.before;
  const auto wanted = Parse(row, row.after.empty() ? row.before : row.after);
  ASSERT_TRUE(wanted.ok()) << wanted.status() << "\n" << row.after;
  const auto results = RunPasses(**graph, passes);
  ASSERT_TRUE(results.ok()) << results.status() << "\n" << row.before;
  EXPECT_THAT((*graph)->Validate(), ::testing::IsEmpty()) << row.before;
  EXPECT_EQ(Text(**graph), Text(**wanted)) << row.before;
  const auto again = RunPasses(**graph, passes);
  ASSERT_TRUE(again.ok()) << again.status();
  for (const PassResult& result : *again) EXPECT_EQ(result.changes, 0) << row.before;
}

}  // namespace x2ir
