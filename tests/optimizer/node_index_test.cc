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

const ProducerOps kAnything;

const ProducerOps* IsNeg(Symbol op) { return op == "neg" ? &kAnything : nullptr; }

TEST(NodeIndex, FindsOpsOfTheIrInOrder) {
  auto graph = ParseGraph(kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  NodeIndex index;
  EXPECT_THAT(Names(index.Find(**graph, IsNeg)), ElementsAre("a", "t1", "z"));
  EXPECT_EQ(index.num_nodes(), 6);
  EXPECT_THAT(Names(index.Find(**graph, [](Symbol) { return &kAnything; })),
              ElementsAre("a", "y", "t1", "e1", "z"));
  EXPECT_THAT(index.Find(**graph, [](Symbol op) { return op == "mul" ? &kAnything : nullptr; }),
              IsEmpty());
}

// Producers of other dialects count for nothing; those of outer graphs count.
TEST(NodeIndex, FindsConsumersOfOps) {
  auto graph = ParseGraph(R"(
    graph g(x: float32[2], i: int64[2], w: bool[]) -> (p, q, r, s) {
      n = neg(x)
      p = add(n, x)
      o = onnx.neg(x)
      q = add(o, x)
      two = float32[2]{1, 2}
      c = add(x, two)
      t = shape(x)
      k = add(t, i)
      r = if(w) {
        then_branch = graph t() -> (t1) { t1 = add(x, n) },
        else_branch = graph e() -> (e1) { e1 = add(x, x) }
      }
      s = onnx.use(k)
    })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const struct {
    ProducerOps producer_ops;
    std::vector<std::string> want;
  } kRows[] = {
      {{}, {"p", "q", "c", "k", "t1", "e1"}},
      {{"neg"}, {"p", "t1"}},
      {{"neg", "shape"}, {"p", "k", "t1"}},
      {{kKnownOperand}, {"c"}},
      {{"mul"}, {}},
      {{"mul", "shape", kKnownOperand}, {"c", "k"}},
  };
  for (const auto& row : kRows) {
    NodeIndex index;
    EXPECT_EQ(Names(index.Find(
                  **graph, [&](Symbol op) { return op == "add" ? &row.producer_ops : nullptr; })),
              row.want);
  }
  // What inference knows is known.
  (*graph)->Find("t")->set_elements({Dim(2)});
  NodeIndex index;
  const ProducerOps known = {kKnownOperand};
  EXPECT_THAT(Names(index.Find(**graph, [&](Symbol op) { return op == "add" ? &known : nullptr; })),
              ElementsAre("c", "k"));
}

// With more ops than bits some share one, and more nodes are found, never fewer.
TEST(NodeIndex, FindsAllAmongManyOps) {
  Graph graph;
  Value* x = graph.AddInput("x", Type());
  for (int i = 0; i < 200; ++i) {
    Node* made = graph.AppendNode("", "op_" + std::to_string(i), {x});
    Node* used = graph.AppendNode("", "use", {graph.AddNodeOutput(made, std::to_string(i))});
    graph.AddNodeOutput(used, "used_" + std::to_string(i));
  }
  NodeIndex index;
  for (int i = 0; i < 200; ++i) {
    const ProducerOps producer_ops = {"op_" + std::to_string(i)};
    const auto found =
        index.Find(graph, [&](Symbol op) { return op == "use" ? &producer_ops : nullptr; });
    EXPECT_THAT(Names(found), testing::Contains("used_" + std::to_string(i)));
    EXPECT_LT(found.size(), 10);
  }
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
