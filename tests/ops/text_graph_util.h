// Graphs of IR as short texts: attributes that are not said have their defaults, and types are
// inferred.
#ifndef TESTS_OPS_TEXT_GRAPH_UTIL_H_
#define TESTS_OPS_TEXT_GRAPH_UTIL_H_

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {

inline void GiveDefaults(Graph& graph) {
  for (Node* node : graph.nodes()) {
    const OpDef* op = node->is_ir() ? FindOp(node->op()) : nullptr;
    for (const AttrDef& attr : op ? op->attrs() : std::vector<AttrDef>()) {
      if (attr.default_value && !node->attrs().Has(attr.name)) {
        node->SetAttr(attr.name, *attr.default_value);
      }
    }
    for (Graph* inner : node->subgraphs()) GiveDefaults(*inner);
  }
}

inline std::shared_ptr<Graph> InferredGraph(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (!graph.ok()) return std::make_shared<Graph>();
  GiveDefaults(**graph);
  const absl::Status status = InferGraph(**graph);
  EXPECT_TRUE(status.ok()) << status << "\n" << text;
  return *graph;
}

}  // namespace x2ir

#endif  // TESTS_OPS_TEXT_GRAPH_UTIL_H_
