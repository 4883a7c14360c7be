// Outlines: modules by names, repeated blocks, long lists, nested graphs.
#include "x2ir/view/outline.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

// A line a group: two spaces for each level, what it is, and its nodes' results behind it.
std::string TreeOf(const Graph& graph) {
  static constexpr const char* kKinds[] = {"model", "module", "repeat", "block",
                                           "part",  "owner",  "graph"};
  const Outline outline = OutlineOf(graph);
  std::vector<std::string> lines;
  std::vector<int> depth;
  for (const Outline::Group& group : outline.groups) {
    depth.push_back(group.parent < 0 ? 0 : depth[static_cast<size_t>(group.parent)] + 1);
    std::string line(2 * static_cast<size_t>(depth.back()), ' ');
    StrAppend(&line, kKinds[static_cast<int>(group.kind)], " ", group.name);
    if (group.count) StrAppend(&line, " x", group.count);
    if (!group.type.empty()) StrAppend(&line, " (", group.type, ")");
    lines.push_back(line + ":");
  }
  for (const Outline::Item& item : outline.items) {
    const Value* value = item.node ? item.node->output(0) : item.value;
    StrAppend(&lines[static_cast<size_t>(item.group)], " ", value->name());
  }
  std::string text;
  for (const std::string& line : lines) StrAppend(&text, line, "\n");
  return text;
}

std::shared_ptr<Graph> Parsed(const std::string& body, const std::string& output) {
  auto graph = ParseGraph(StrCat("graph net(x: float32[2]) -> (", output, ") {\n", body, "\n}\n"));
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

TEST(Outline, Names) {
  const struct {
    const char *what, *body, *output, *tree;
  } rows[] = {
      {"no names", "a = relu(x)\ny = neg(a)", "y", "model net: x a y y\n"},
      {"modules",
       "a = relu(x) \"enc/0/relu\"\nb = neg(a) \"enc/0/neg\"\nc = exp(b) \"enc/1/exp\"\n"
       "y = neg(c) \"head\"",
       "y", "model net: x y y\n  module enc: c\n    module 0: a b\n"},
      {"one module in another", "a = relu(x) \"m/n/relu\"\ny = neg(a) \"m/n/neg\"", "y",
       "model net: x y\n  module m.n: a y\n"},
      {"names of results", "m/a = relu(x)\nm/y = neg(m/a)", "m/y",
       "model net: x m/y\n  module m: m/a m/y\n"},
      {"a node without a name between others",
       "a = relu(x) \"m/0/a\"\nb = neg(a)\nc = exp(b) \"m/0/c\"\nd = abs(c) \"m/d\"\ny = sin(d)",
       "y", "model net: x y y\n  module m: d\n    module 0: a b c\n"},
      {"names that say the path again",
       "a = relu(x) \"/l/l.0/relu\"\nb = neg(a) \"/l/l.0/neg\"\n"
       "y = exp(b) \"/l/exp\"",
       "y", "model net: x y\n  module l: y\n    module 0: a b\n"},
      // Names that x2ir made of a node's ("one became several") form no group.
      {"a node that became several",
       "p = relu(x) \"enc/conv/relu\"\na = neg(p) \"enc/conv\"\nb = exp(a) \"enc/fc/exp_1\"\n"
       "y = abs(b) \"enc/fc\"",
       "y", "model net: x y\n  module enc: p a b y\n"},
      {"a module with the name of a node, as TensorFlow has it",
       "a = relu(x) \"enc/bn/rate\"\nb = neg(a) \"enc/bn/scale\"\nc = exp(b) \"enc/bn\"\n"
       "y = abs(c) \"enc/out\"",
       "y", "model net: x y\n  module enc: c y\n    module bn: a b\n"},
      {"names that TFLite joined",
       "a = relu(x) \"m/l/relu;m/k/conv/Conv2D\"\nb = neg(a) \"m/l/neg;m/k/bias\"\n"
       "y = abs(b) \"m/out\"",
       "y", "model net: x y\n  module m: y\n    module l: a b\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TreeOf(*Parsed(row.body, row.output)), row.tree) << row.what;
  }
}

TEST(Outline, TorchsModules) {
  auto graph = Parsed(
      "a = relu(x) \"features.0.0\"\nb = neg(a) \"features.0.1\"\n"
      "y = exp(b) \"head/exp\"",
      "y");
  graph->annotations().GetOrMake().extra["torch.classes"] = "features.0\tnet.blocks.Block\n";
  EXPECT_EQ(TreeOf(*graph), "model net: x y y\n  module features.0 (Block): a b\n");
}

// What repeats, with names and without.
TEST(Outline, Repeats) {
  std::string named, bare, from = "x";
  for (int i = 0; i < 3; ++i) {
    const std::string module = StrCat(" \"layers/", i, "/op\"\n");
    for (std::string* body : {&named, &bare}) {
      const std::string end = body == &named ? module : "\n";
      StrAppend(body, "a", i, " = relu(", from, ")", end);
      StrAppend(body, "b", i, " = neg(a", i, ")", end);
      StrAppend(body, "c", i, " = add(b", i, ", ", from, ")", end);
    }
    from = StrCat("c", i);
  }
  EXPECT_EQ(TreeOf(*Parsed(named, "c2")),
            "model net: x c2\n"
            "  repeat layers x3:\n"
            "    module 0: a0 b0 c0\n    module 1: a1 b1 c1\n    module 2: a2 b2 c2\n");
  EXPECT_EQ(TreeOf(*Parsed(bare, "c2")),
            "model net: x c2\n"
            "  repeat blocks x3:\n"
            "    block block 1: a0 b0 c0\n    block block 2: a1 b1 c1\n"
            "    block block 3: a2 b2 c2\n");
}

// The same ops are no repetition where they are connected in another way, or have other attributes.
TEST(Outline, SameOpsConnectedOtherwise) {
  const struct {
    const char *what, *body, *tree;
  } rows[] = {
      {"connected in another way",
       "a0 = relu(x) \"l/0/a\"\nb0 = add(a0, x) \"l/0/b\"\n"
       "a1 = relu(b0) \"l/1/a\"\nb1 = add(b0, a1) \"l/1/b\"",
       "model net: x b1\n  module l:\n    module 0: a0 b0\n    module 1: a1 b1\n"},
      {"other attributes",
       "a0 = softmax(x) { axis = 0 } \"l/0/a\"\nb0 = relu(a0) \"l/0/b\"\n"
       "a1 = softmax(b0) { axis = -1 } \"l/1/a\"\nb1 = relu(a1) \"l/1/b\"",
       "model net: x b1\n  module l:\n    module 0: a0 b0\n    module 1: a1 b1\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TreeOf(*Parsed(row.body, "b1")), row.tree) << row.what;
  }
}

TEST(Outline, NestedGraphsStandBelowTheirNodes) {
  const auto graph = Parsed(
      "c: bool[] = bool[]{true}\ny = if(c) { then_branch = graph yes() -> (t) { t = relu(x) }, "
      "else_branch = graph no() -> (e) { e = neg(x) } }",
      "y");
  EXPECT_EQ(TreeOf(*graph), "model net: x y\n  owner : y\n    graph yes: t t\n    graph no: e e\n");
}

// Of a long list, what lies between modules is in parts; modules stay where they are seen.
TEST(Outline, ModulesInALongListAreSeen) {
  std::string body, from = "x";
  for (int i = 0; i < 90; ++i) {
    const std::string module = i % 30 < 2 ? StrCat("m", i / 30, "/") : "";
    StrAppend(&body, "v", i, " = ",
              i % 7 < 3   ? "relu"
              : i % 5 < 3 ? "neg"
                          : "exp",
              "(", from, ") \"top/", module, "op\"\n");
    from = StrCat("v", i);
  }
  const Outline outline = OutlineOf(*Parsed(body, "v89"));
  std::vector<std::string> names;
  for (const Outline::Group& group : outline.groups) {
    if (group.parent == 1) names.push_back(group.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("m0", "part 1", "m1", "part 2", "m2", "part 3"));
}

// Whatever the graph, no group has more than kMaxChildren children, and each item is in one group.
TEST(Outline, LongListsAreInParts) {
  for (const int count : {64, 65, 5000}) {
    std::string body, from = "x";
    uint32_t state = 1;
    for (int i = 0; i < count; ++i) {
      state = state * 1664525 + 1013904223;
      static constexpr const char* kOps[] = {"relu", "neg", "exp", "tanh", "abs", "sigmoid", "cos"};
      StrAppend(&body, "v", i, " = ", kOps[(state >> 16) % 7], "(", from, ")\n");
      from = StrCat("v", i);
    }
    const auto graph = Parsed(body, from);
    const Outline outline = OutlineOf(*graph);
    std::vector<size_t> children(outline.groups.size());
    for (size_t g = 1; g < outline.groups.size(); ++g) {
      ASSERT_LT(outline.groups[g].parent, static_cast<int>(g));
      ++children[static_cast<size_t>(outline.groups[g].parent)];
    }
    for (const Outline::Item& item : outline.items) ++children[static_cast<size_t>(item.group)];
    EXPECT_THAT(children, testing::Each(testing::Le(Outline::kMaxChildren))) << count;
    EXPECT_EQ(outline.items.size(), static_cast<size_t>(count) + 2);
    EXPECT_EQ(outline.item_of.size(), static_cast<size_t>(count));
  }
}

}  // namespace
}  // namespace x2ir
