#include "x2ir/optimizer/node_index.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kGraph = R"(
  graph outer(x: float32[2], c: bool[]) -> (y, z) {
    a = neg(x)
    y = if(c) {
      then_branch = graph t() -> (t1) { t1 = neg(a) },
      else_branch = graph e() -> (e1) { e1 = abs(x) }
    }
    b = onnx.neg(x)
    z = neg(b)
  })";

std::vector<std::string> Names(const std::vector<Node*>& nodes) {
  std::vector<std::string> names;
  for (const Node* node : nodes) names.push_back(node->output(0)->name());
  return names;
}

bool IsNeg(Symbol op) { return op == "neg"; }

TEST(NodeIndex, FindsOpsOfTheIrInOrder) {
  auto graph = ParseGraph(kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  NodeIndex index;
  EXPECT_THAT(Names(index.Find(**graph, IsNeg)), ElementsAre("a", "t1", "z"));
  EXPECT_EQ(index.num_nodes(), 6);
  EXPECT_THAT(Names(index.Find(**graph, [](Symbol) { return true; })),
              ElementsAre("a", "y", "t1", "e1", "z"));
  EXPECT_THAT(index.Find(**graph, [](Symbol op) { return op == "mul"; }), IsEmpty());
}

TEST(NodeIndex, LooksAgainWhenItForgot) {
  auto graph = ParseGraph(kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  NodeIndex index;
  EXPECT_EQ(index.Find(**graph, IsNeg).size(), 3);
  const uint64_t changes = (*graph)->node_changes();
  Node* made = (*graph)->AppendNode("", "neg", {(*graph)->Find("z")});
  (*graph)->AddNodeOutput(made, "w");
  EXPECT_EQ((*graph)->node_changes(), changes + 1);
  index.Forget();
  EXPECT_THAT(Names(index.Find(**graph, IsNeg)), ElementsAre("a", "t1", "z", "w"));
  EXPECT_EQ(index.num_nodes(), 7);
}

}  // namespace
}  // namespace x2ir
