// Graph, Node and Value: use-lists, names, mutation under iteration, sorting, validation, copies,
// and that all of it takes linear time.
#include "x2ir/graph_wrapper/graph.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<Graph> Parse(std::string_view text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : std::make_shared<Graph>();
}

std::string Ops(const Graph& graph) {
  std::string ops;
  for (const Node* node : graph.nodes()) ops += (ops.empty() ? "" : " ") + node->op().str();
  return ops;
}

// The names of a value's uses: "op:index", sorted, for uses have no order.
std::vector<std::string> Uses(const Value& value) {
  std::vector<std::string> uses;
  for (const Use& use : value.uses()) {
    EXPECT_EQ(use.node->input(use.index), &value);
    uses.push_back(use.node->op().str() + ":" + std::to_string(use.index));
  }
  std::sort(uses.begin(), uses.end());
  return uses;
}

Node* FindNode(Graph& graph, std::string_view op) {
  for (Node* node : graph.nodes()) {
    if (node->op() == op) return node;
  }
  return nullptr;
}

constexpr std::string_view kNested = R"(
  graph outer(x: float32[2], c: bool[]) -> (y) {
    a = abs(x)
    y = if(c) {
      then_branch = graph t() -> (t1) {
        t1 = neg(a)
      },
      else_branch = graph e() -> (e2) {
        e1 = add(a, x)
        e2 = if(c) {
          then_branch = graph tt() -> (tt1) { tt1 = exp(a) },
          else_branch = graph ee() -> (a) { }
        }
      }
    }
  })";

// --- Use-lists ------------------------------------------------------------------------------

TEST(UseLists, FollowEveryChangeOfOperands) {
  Graph graph("g");
  Value* x = graph.AddInput("x", Type());
  Value* w = graph.AddConstant("w", Tensor::Scalar(1.0f));
  EXPECT_TRUE(x->is_unused());
  Node* add = graph.AppendNode("", "add", {x, x});
  Node* sub = graph.AppendNode("", "sub", {x, nullptr});
  EXPECT_THAT(Uses(*x), ElementsAre("add:0", "add:1", "sub:0"));

  add->SetInput(0, w);
  EXPECT_THAT(Uses(*x), ElementsAre("add:1", "sub:0"));
  EXPECT_THAT(Uses(*w), ElementsAre("add:0"));
  sub->SetInput(1, x);
  sub->SetInput(0, nullptr);
  sub->AddInput(w);
  EXPECT_THAT(Uses(*x), ElementsAre("add:1", "sub:1"));
  EXPECT_THAT(Uses(*w), ElementsAre("add:0", "sub:2"));
  EXPECT_EQ(sub->input(7), nullptr);

  sub->SetInputs({w, w, nullptr});
  EXPECT_THAT(Uses(*x), ElementsAre("add:1"));
  EXPECT_THAT(Uses(*w), ElementsAre("add:0", "sub:0", "sub:1"));
  graph.EraseUnused(add);
  EXPECT_THAT(Uses(*w), ElementsAre("sub:0", "sub:1"));
  EXPECT_TRUE(x->is_unused());
  EXPECT_THAT(graph.Validate(), IsEmpty());
}

TEST(UseLists, CountNestedUsesAndGraphOutputs) {
  auto graph = Parse(kNested);
  EXPECT_THAT(graph->Validate(), IsEmpty());
  const Value* a = graph->Find("a");
  EXPECT_THAT(Uses(*a), ElementsAre("add:0", "exp:0", "neg:0"));
  EXPECT_EQ(a->graph_output_count(), 1);  // of the innermost graph
  EXPECT_THAT(Uses(*graph->Find("c")), ElementsAre("if:0", "if:0"));
  EXPECT_EQ(graph->TotalNodes(), 6);
  EXPECT_EQ(graph->num_nodes(), 2);
}

TEST(NestedGraphs, FollowEveryChangeOfAttributes) {
  auto graph = Parse(kNested);
  Node* node = FindNode(*graph, "if");
  const auto names = [&] {
    std::vector<std::string> names;
    for (const Graph* inner : graph->NestedGraphs()) names.push_back(inner->name());
    return names;
  };
  EXPECT_THAT(names(), ElementsAre("t", "e"));
  EXPECT_THAT(graph->Clone()->NestedGraphs(), SizeIs(2));
  std::optional<Attribute> branch = node->TakeAttr("else_branch");
  EXPECT_THAT(names(), ElementsAre("t"));
  EXPECT_EQ(graph->TotalNodes(), 3);
  EXPECT_TRUE(node->EraseAttr("then_branch"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(graph->TotalNodes(), 2);
  node->SetAttr("then_branch", *std::move(branch));
  EXPECT_THAT(names(), ElementsAre("e"));
  EXPECT_EQ(graph->TotalNodes(), 5);
  EXPECT_THAT(graph->Validate(), IsEmpty());
  graph->ClearOutputs();
  EXPECT_TRUE(graph->Erase(node).ok());
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

TEST(UseLists, ReplaceAllUsesReachesNestedGraphs) {
  auto graph = Parse(kNested);
  Value* a = graph->Find("a");
  Value* x = graph->Find("x");
  graph->ReplaceAllUses(a, x);
  EXPECT_TRUE(a->is_unused());
  EXPECT_THAT(Uses(*x), ElementsAre("abs:0", "add:0", "add:1", "exp:0", "neg:0"));
  EXPECT_EQ(x->graph_output_count(), 1);
  EXPECT_THAT(graph->Validate(), IsEmpty());
  EXPECT_TRUE(graph->Erase(FindNode(*graph, "abs")).ok());
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

TEST(UseLists, ReplacingAValueByItselfChangesNothing) {
  auto graph = Parse("graph g(x: float32[]) -> (y) { y = add(x, x) }");
  graph->ReplaceAllUses(graph->Find("x"), graph->Find("x"));
  EXPECT_THAT(graph->Find("x")->uses(), SizeIs(2));
}

TEST(UseLists, OuterValuesForgetAGraphThatGoes) {
  auto graph = Parse(kNested);
  Value* a = graph->Find("a");
  Node* branch = FindNode(*graph, "if");
  branch->EraseAttr("else_branch");
  EXPECT_THAT(Uses(*a), ElementsAre("neg:0"));
  EXPECT_EQ(a->graph_output_count(), 0);
  graph->ClearOutputs();
  graph->EraseUnused(branch);
  EXPECT_TRUE(a->is_unused());
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

// --- Outputs --------------------------------------------------------------------------------

TEST(Outputs, KeepTheirNamesWhenReplaced) {
  struct Row {
    std::string_view what, graph, from, to, want;
  };
  const Row rows[] = {
      {"another node's output takes the name over",
       "graph g(x: float32[]) -> (y) { a = abs(x) b = neg(x) y = add(a, b) z = exp(y) }", "y", "a",
       "graph g(x: float32[]) -> (y) {\n  y = abs(x)\n  b = neg(x)\n  a = add(y, b)\n"
       "  z = exp(y)\n}\n"},
      {"an input keeps its own", "graph g(x: float32[]) -> (y) { y = abs(x) z = exp(y) }", "y", "x",
       "graph g(x: float32[]) -> (y) {\n  y_0 = abs(x)\n  y = identity(x)\n  z = exp(y)\n}\n"},
      {"another output keeps its own", "graph g(x: float32[]) -> (y, z) { z = abs(x) y = neg(x) }",
       "y", "z",
       "graph g(x: float32[]) -> (y, z) {\n  z = abs(x)\n  y_0 = neg(x)\n  y = identity(z)\n}\n"},
      {"what is no output just goes", "graph g(x: float32[]) -> (y) { a = abs(x) y = exp(a) }", "a",
       "x", "graph g(x: float32[]) -> (y) {\n  a = abs(x)\n  y = exp(x)\n}\n"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    auto graph = Parse(row.graph);
    Value* from = graph->Find(row.from);
    graph->ReplaceAllUsesKeepingOutputNames(from, graph->Find(row.to));
    if (from->name().empty()) graph->Rename(from, "y_0");
    TextOptions options;
    options.types = false;
    std::string text = ToText(*graph, options);
    EXPECT_EQ(text, ToText(*Parse(row.want), options));
    EXPECT_THAT(graph->Validate(), IsEmpty());
  }
}

TEST(Outputs, AdoptOutputKeepsTheValue) {
  auto graph = Parse("graph g(x: float32[]) -> (y) { y = onnx.Relu(x) z = onnx.Abs(y) }");
  Value* y = graph->Find("y");
  y->annotations().GetOrMake().doc_string = "kept";
  Node* old = graph->first();
  Node* fresh = graph->InsertNode(old, "", "relu", {graph->Find("x")});
  Value* out = graph->AddNodeOutput(fresh, "", Type::Tensor(DType::kFloat32));
  out->set_elements({Dim(3)});
  graph->AdoptOutput(out, y);
  EXPECT_EQ(y->producer(), fresh);
  EXPECT_EQ(fresh->output(0), y);
  EXPECT_EQ(old->output(0), nullptr);
  EXPECT_EQ(y->annotations().get()->doc_string, "kept");
  EXPECT_NE(y->elements(), nullptr);
  EXPECT_THAT(Uses(*y), ElementsAre("Abs:0"));
  EXPECT_TRUE(graph->Erase(old).ok());
  EXPECT_THAT(graph->Validate(), IsEmpty());
  EXPECT_EQ(graph->Find("y"), y);
}

// What already uses the fresh value follows to the one that it becomes.
TEST(Outputs, AdoptOutputTakesUsesAlong) {
  auto graph = Parse("graph g(x: float32[]) -> (y) { y = onnx.Relu(x) }");
  Node* old = graph->first();
  Node* fresh = graph->InsertNode(old, "", "split", {graph->Find("x")});
  graph->AddNodeOutput(fresh, "first");
  Value* second = graph->AddNodeOutput(fresh, "");
  Node* user = graph->InsertNode(old, "", "neg", {second});
  graph->AddNodeOutput(user, "n");
  Value* y = graph->Find("y");
  graph->AdoptOutput(second, y);
  EXPECT_EQ(user->input(0), y);
  EXPECT_EQ(y->output_index(), 1);
  graph->EraseUnused(old);
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

TEST(Outputs, RemoveUnusedOutputLeavesOthersInPlace) {
  auto graph = Parse("graph g(x: float32[]) -> (b) { a, b, c = split(x) }");
  Node* node = graph->first();
  graph->RemoveUnusedOutput(node, 0);
  EXPECT_EQ(node->num_outputs(), 3);
  EXPECT_EQ(node->output(0), nullptr);
  graph->RemoveUnusedOutput(node, 2);
  EXPECT_EQ(node->num_outputs(), 2);
  EXPECT_EQ(graph->Find("c"), nullptr);
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

TEST(Outputs, AreCounted) {
  auto graph = Parse("graph g(x: float32[]) -> (y, y) { y = abs(x) z = neg(x) }");
  Value* y = graph->Find("y");
  EXPECT_EQ(y->graph_output_count(), 2);
  graph->SetOutput(0, graph->Find("z"));
  EXPECT_EQ(y->graph_output_count(), 1);
  graph->ClearOutputs();
  EXPECT_TRUE(y->is_unused());
  EXPECT_FALSE(y->is_graph_output());
}

// --- Inputs and constants -------------------------------------------------------------------

TEST(Constants, RemovalKeepsOrderAndPlaces) {
  Graph graph;
  std::vector<Value*> values;
  for (int i = 0; i < 100; ++i) {
    values.push_back(graph.AddConstant("c" + std::to_string(i), Tensor::Scalar(i)));
  }
  for (int i = 0; i < 100; ++i) {
    if (i % 7 != 0) graph.RemoveConstant(values[i]);
  }
  EXPECT_EQ(graph.num_constants(), 15);
  std::vector<std::string> names;
  for (const Value* value : graph.constants()) names.push_back(value->name());
  std::vector<std::string> want;
  for (int i = 0; i < 100; i += 7) want.push_back("c" + std::to_string(i));
  EXPECT_EQ(names, want);
  graph.RemoveConstant(graph.Find("c98"));
  EXPECT_EQ(graph.Find("c98"), nullptr);
  const Value* again = graph.AddConstant("c98", Tensor::Scalar(1));
  EXPECT_EQ(graph.constants().back(), again);
  EXPECT_THAT(graph.Validate(), IsEmpty());
}

TEST(Constants, InputsWithDefaults) {
  Graph graph;
  Value* a = graph.AddInput("a", Type::Tensor(DType::kFloat32));
  Value* b = graph.AddInput("b", Type());
  Value* c = graph.AddInput("c", Type());
  graph.SetDefault(a, Tensor::Scalar(2.0f));
  EXPECT_NE(a->constant(), nullptr);
  EXPECT_EQ(a->fixed_constant(), nullptr);
  graph.FreezeInput(a);
  EXPECT_FALSE(a->is_input());
  EXPECT_NE(a->fixed_constant(), nullptr);
  EXPECT_EQ(a->type().ToString(), "float32[]");
  EXPECT_THAT(graph.inputs(), ElementsAre(b, c));
  EXPECT_THAT(graph.constants(), ElementsAre(a));
  graph.RemoveInput(b);
  EXPECT_THAT(graph.inputs(), ElementsAre(c));
  graph.ReplaceConstant(a, Tensor::Vector({1, 2}));
  EXPECT_EQ(a->type().ToString(), "int64[2]");
  graph.RemoveConstant(a);
  EXPECT_THAT(graph.Validate(), IsEmpty());
}

// --- Names ----------------------------------------------------------------------------------

TEST(Names, UniqueNameLooksAroundAndInside) {
  auto graph = Parse(kNested);
  Graph* inner = FindNode(*graph, "if")->subgraphs()[1];
  Graph* innermost = FindNode(*inner, "if")->subgraphs()[0];
  EXPECT_EQ(graph->UniqueName("fresh"), "fresh");
  EXPECT_EQ(graph->UniqueName("tt1"), "tt1_1");    // taken far inside
  EXPECT_EQ(innermost->UniqueName("x"), "x_1");    // taken far outside
  EXPECT_EQ(innermost->UniqueName("t1"), "t1_1");  // taken beside
  EXPECT_EQ(innermost->FindInScope("x"), graph->Find("x"));
  EXPECT_EQ(innermost->FindInScope("t1"), nullptr);
  // What is named inside is taken outside from then on.
  innermost->Rename(innermost->Find("tt1"), "deep");
  EXPECT_NE(graph->UniqueName("deep"), "deep");
  EXPECT_FALSE(graph->UniqueName("").empty());
}

TEST(Names, UniqueNameSkipsNamesThatLookMade) {
  Graph graph;
  graph.AddInput("a", Type());
  graph.AddInput("a_1", Type());
  graph.AddInput("a_2", Type());
  EXPECT_EQ(graph.UniqueName("a"), "a_3");
  graph.AddInput("a_3", Type());
  EXPECT_EQ(graph.UniqueName("a"), "a_4");
  EXPECT_EQ(graph.UniqueName("a_1"), "a_1_1");
}

TEST(Names, RenameAndSwap) {
  auto graph = Parse("graph g(x: float32[]) -> (y) { a = abs(x) y = neg(a) }");
  Value* a = graph->Find("a");
  Value* y = graph->Find("y");
  graph->Rename(a, "b");
  EXPECT_EQ(graph->Find("a"), nullptr);
  EXPECT_EQ(graph->Find("b"), a);
  graph->SwapNames(a, y);
  EXPECT_EQ(graph->Find("b"), y);
  EXPECT_EQ(graph->Find("y"), a);
  graph->Rename(a, "y");  // its own: nothing
  graph->Rename(a, "");
  EXPECT_EQ(graph->Find("y"), nullptr);
  graph->SwapNames(a, y);
  EXPECT_EQ(graph->Find("b"), a);
  EXPECT_THAT(graph->Validate(), ElementsAre(HasSubstr("has no name")));
  graph->NameValues(y->producer(), "b");
  EXPECT_EQ(y->name(), "b_1");
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

// --- Nodes and iteration --------------------------------------------------------------------

TEST(Nodes, EraseRefusesWhatIsUsed) {
  auto graph = Parse(kNested);
  const absl::Status status = graph->Erase(graph->first());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("its output 'a' is used"));
  EXPECT_EQ(Ops(*graph), "abs if");
  EXPECT_FALSE(graph->Erase(graph->last()).ok());  // an output of the graph
  graph->ClearOutputs();
  EXPECT_TRUE(graph->Erase(graph->last()).ok());
  EXPECT_TRUE(graph->Erase(graph->last()).ok());
  EXPECT_EQ(graph->first(), nullptr);
  EXPECT_EQ(graph->last(), nullptr);
  EXPECT_EQ(graph->num_nodes(), 0);
}

TEST(Nodes, MoveBefore) {
  struct Row {
    int node, before;  // -1: the end
    std::string_view want;
  };
  const Row rows[] = {{0, -1, "b c a"}, {2, 0, "c a b"}, {1, 1, "a b c"}, {0, 1, "a b c"},
                      {0, 2, "b a c"},  {2, 1, "a c b"}, {2, -1, "a b c"}};
  for (const Row& row : rows) {
    Graph graph;
    std::vector<Node*> nodes;
    for (const char* op : {"a", "b", "c"}) nodes.push_back(graph.AppendNode("", op, {}));
    graph.MoveBefore(nodes[row.node], row.before < 0 ? nullptr : nodes[row.before]);
    EXPECT_EQ(Ops(graph), row.want) << row.node << " before " << row.before;
    EXPECT_THAT(graph.Validate(), IsEmpty());
    EXPECT_EQ(graph.last()->next(), nullptr);
  }
}

TEST(Nodes, IterationSurvivesMutation) {
  struct Row {
    std::string_view what;
    std::function<void(Graph&, Node*)> at_b;  // done when the walk stands on "b" of a b c d
    std::string_view visited, left;
  };
  auto insert = [](Graph& g, Node* before, Symbol op) { g.InsertNode(before, "", op, {}); };
  const Row rows[] = {
      {"nothing", [](Graph&, Node*) {}, "a b c d", "a b c d"},
      {"erase current", [](Graph& g, Node* n) { g.EraseUnused(n); }, "a b c d", "a c d"},
      {"erase next", [](Graph& g, Node* n) { g.EraseUnused(n->next()); }, "a b d", "a b d"},
      {"erase previous", [](Graph& g, Node* n) { g.EraseUnused(n->prev()); }, "a b c d", "b c d"},
      {"erase next, then current",
       [](Graph& g, Node* n) {
         g.EraseUnused(n->next());
         g.EraseUnused(n);
       },
       "a b d", "a d"},
      {"erase current, then next",
       [](Graph& g, Node* n) {
         Node* next = n->next();
         g.EraseUnused(n);
         g.EraseUnused(next);
       },
       "a b d", "a d"},
      {"erase all but current",
       [](Graph& g, Node* n) {
         while (g.first() != n) g.EraseUnused(g.first());
         while (g.last() != n) g.EraseUnused(g.last());
       },
       "a b", "b"},
      {"erase everything",
       [](Graph& g, Node*) {
         while (g.first()) g.EraseUnused(g.first());
       },
       "a b", ""},
      {"insert after", [&](Graph& g, Node* n) { insert(g, n->next(), "x"); }, "a b x c d",
       "a b x c d"},
      {"insert before", [&](Graph& g, Node* n) { insert(g, n, "x"); }, "a b c d", "a x b c d"},
      {"replace current",
       [&](Graph& g, Node* n) {
         insert(g, n, "x");
         g.EraseUnused(n);
       },
       "a b c d", "a x c d"},
      {"append", [&](Graph& g, Node*) { insert(g, nullptr, "x"); }, "a b c d x", "a b c d x"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Graph graph;
    for (const char* op : {"a", "b", "c", "d"}) graph.AppendNode("", op, {});
    std::string visited;
    for (Node* node : graph.nodes()) {
      visited += (visited.empty() ? "" : " ") + node->op().str();
      if (node->op() == "b") row.at_b(graph, node);
    }
    EXPECT_EQ(visited, row.visited);
    EXPECT_EQ(Ops(graph), row.left);
    EXPECT_THAT(graph.Validate(), IsEmpty());
  }
}

TEST(Nodes, WalksMayBeNested) {
  Graph graph;
  for (int i = 0; i < 20; ++i) graph.AppendNode("", "n", {});
  int pairs = 0;
  for (Node* outer : graph.nodes()) {
    for (Node* inner : graph.nodes()) {
      if (inner == outer) continue;
      ++pairs;
      graph.EraseUnused(inner);
    }
  }
  EXPECT_EQ(pairs, 19);
  EXPECT_EQ(graph.num_nodes(), 1);
}

TEST(Nodes, SubgraphsKnowTheirParents) {
  auto graph = Parse(kNested);
  Node* node = FindNode(*graph, "if");
  std::vector<Graph*> inner = node->subgraphs();
  ASSERT_THAT(inner, SizeIs(2));
  EXPECT_EQ(inner[0]->parent_node(), node);
  EXPECT_EQ(inner[1]->parent(), graph.get());

  // A graph that moves to another node, and is taken back.
  Node* other = graph->AppendNode("onnx", "If", node->inputs());
  other->SetAttr("then_branch", *node->attrs().Find("then_branch"));
  EXPECT_EQ(inner[0]->parent_node(), other);
  EXPECT_THAT(graph->Validate(), Not(IsEmpty()));
  node->ReclaimSubgraphs();
  EXPECT_EQ(inner[0]->parent_node(), node);
  graph->EraseUnused(other);
  EXPECT_THAT(graph->Validate(), IsEmpty());

  std::optional<Attribute> taken = node->TakeAttr("then_branch");
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(inner[0]->parent_node(), nullptr);
  EXPECT_TRUE(node->has_subgraphs());
  EXPECT_TRUE(node->EraseAttr("else_branch"));
  EXPECT_FALSE(node->EraseAttr("else_branch"));
  EXPECT_FALSE(node->has_subgraphs());
}

// --- Sort -----------------------------------------------------------------------------------

TEST(Sort, IsStable) {
  struct Row {
    std::string_view what, graph, want;  // op types in order
  };
  const Row rows[] = {
      {"sorted", "graph g(x: int64[]) -> () { a = n1(x) b = n2(x) c = n3(a, b) d = n4(x) }",
       "n1 n2 n3 n4"},
      {"backwards", "graph g(x: int64[]) -> () { c = n3(b) b = n2(a) a = n1(x) }", "n1 n2 n3"},
      {"one too early", "graph g(x: int64[]) -> () { a = n1(x) d = n4(c) b = n2(a) c = n3(b) }",
       "n1 n2 n3 n4"},
      {"diamond", "graph g(x: int64[]) -> () { d = n4(b, c) b = n2(a) c = n3(a) a = n1(x) }",
       "n1 n2 n3 n4"},
      {"the same operand twice", "graph g(x: int64[]) -> () { b = n2(a, a, a) a = n1(x) }",
       "n1 n2"},
      {"what a nested graph uses is needed",
       "graph g(c: bool[]) -> () { y = n2(c) { b = graph t() -> (z) { z = n(a) } } a = n1(c) }",
       "n1 n2"},
      {"also two levels inside",
       "graph g(c: bool[]) -> () { y = n2(c) { b = graph t() -> (z) { z = n(c) { b = graph u() "
       "-> (a) { } } } } a = n1(c) }",
       "n1 n2"},
      {"nothing", "graph g() -> () { }", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    auto graph = Parse(row.graph);
    const absl::Status status = graph->Sort();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(Ops(*graph), row.want);
    EXPECT_THAT(graph->Validate(), IsEmpty());
  }
}

TEST(Sort, SortsNestedGraphsToo) {
  auto graph = Parse(
      "graph g(c: bool[]) -> () { y = n(c) { b = graph t() -> (z) { z = n2(w) w = n1(c) } } }");
  EXPECT_THAT(graph->Validate(), Not(IsEmpty()));
  EXPECT_TRUE(graph->Sort().ok());
  EXPECT_THAT(graph->Validate(), IsEmpty());
}

TEST(Sort, NamesACycle) {
  struct Row {
    std::string_view what, graph;
    std::vector<std::string> names;
  };
  const Row rows[] = {
      {"three nodes",
       "graph g(x: int64[]) -> () { a = n1(c) \"one\" b = n2(a) \"two\" c = n3(b) \"three\" "
       "z = n4(x) \"four\" }",
       {"n1 'one'", "n2 'two'", "n3 'three'"}},
      {"one node", "graph g(x: int64[]) -> () { a = n1(a) \"self\" }", {"n1 'self'"}},
      {"through a nested graph",
       "graph g(x: int64[]) -> () { a = n1(x) { b = graph t() -> (z) { z = n(c) } } \"outer\" "
       "c = n2(a) \"next\" }",
       {"n1 'outer'", "n2 'next'"}},
      {"in a nested graph",
       "graph g(x: int64[]) -> () { a = n1(x) { b = graph t() -> (z) { z = n2(z) \"in\" } } }",
       {"n2 'in'"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    auto graph = Parse(row.graph);
    const std::string before = ToText(*graph);
    const absl::Status status = graph->Sort();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    for (const std::string& name : row.names) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    }
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("four")));
    EXPECT_EQ(ToText(*graph), before);
  }
}

// --- Validate -------------------------------------------------------------------------------

TEST(Validate, ListsEveryViolation) {
  Graph graph("g");
  Value* x = graph.AddInput("x", Type());
  Node* early = graph.AppendNode("", "early", {nullptr});
  graph.AddNodeOutput(early, "e");
  Node* late = graph.AppendNode("", "late", {x});
  Value* l = graph.AddNodeOutput(late, "l");
  graph.AddNodeOutput(late, "");
  early->SetInput(0, l);
  graph.AppendNode("", "", {x});
  graph.AddOutput(nullptr);
  const std::string all = [&] {
    std::string text;
    for (const std::string& problem : graph.Validate()) text += problem + "\n";
    return text;
  }();
  EXPECT_THAT(graph.Validate(), SizeIs(4)) << all;
  EXPECT_THAT(all, HasSubstr("early '': input 0 'l' is not defined before it"));
  EXPECT_THAT(all, HasSubstr("output has no name"));
  EXPECT_THAT(all, HasSubstr("has no op type"));
  EXPECT_THAT(all, HasSubstr("an output is missing"));
  graph.ClearOutputs();
}

TEST(Validate, SeesWhatANestedGraphMayNotUse) {
  // A value of a nested graph used outside of it.
  auto graph = Parse("graph g(c: bool[]) -> () { y = n(c) { b = graph t() -> (z) { z = m(c) } } }");
  Value* z = graph->first()->subgraphs()[0]->Find("z");
  Node* node = graph->AppendNode("", "bad", {z});
  EXPECT_THAT(graph->Validate(), ElementsAre(HasSubstr("bad '': input 0 'z' is not defined")));
  graph->EraseUnused(node);
  EXPECT_THAT(graph->Validate(), IsEmpty());
  // A nested graph alone: outer values count as defined.
  EXPECT_THAT(graph->first()->subgraphs()[0]->Validate(), IsEmpty());
}

// --- Clone ----------------------------------------------------------------------------------

TEST(Clone, IsDeep) {
  auto graph = Parse(kNested);
  graph->annotations().GetOrMake().doc_string = "doc";
  graph->first()->annotations().GetOrMake().metadata = {{"k", "v"}};
  graph->first()->set_name("the abs");
  graph->Find("a")->annotations().GetOrMake().extra["e"] = "f";
  absl::flat_hash_map<const Value*, Value*> map;
  auto copy = graph->Clone(&map);
  EXPECT_THAT(copy->Validate(), IsEmpty());
  const std::string text = ToText(*graph);
  EXPECT_EQ(ToText(*copy), text);
  EXPECT_EQ(copy->annotations().get()->doc_string, "doc");
  EXPECT_EQ(*copy->first()->annotations().get(), *graph->first()->annotations().get());
  EXPECT_EQ(*copy->Find("a")->annotations().get(), *graph->Find("a")->annotations().get());
  EXPECT_EQ(map.at(graph->Find("a")), copy->Find("a"));
  EXPECT_EQ(Uses(*copy->Find("a")), Uses(*graph->Find("a")));
  EXPECT_EQ(copy->Find("a")->graph_output_count(), 1);
  EXPECT_EQ(copy->UniqueName("tt1"), "tt1_1");  // nested names are known here too
  graph.reset();
  EXPECT_EQ(ToText(*copy), text);
  EXPECT_THAT(copy->Validate(), IsEmpty());
}

TEST(Clone, OfANestedGraphUsesTheSameOuterValues) {
  auto graph = Parse(kNested);
  Graph* branch = FindNode(*graph, "if")->subgraphs()[0];
  Value* a = graph->Find("a");
  const size_t uses = a->uses().size();
  {
    auto copy = branch->Clone();
    EXPECT_EQ(copy->first()->input(0), a);
    EXPECT_THAT(a->uses(), SizeIs(uses + 1));
  }
  EXPECT_THAT(a->uses(), SizeIs(uses));

  // ... unless told otherwise.
  absl::flat_hash_map<const Value*, Value*> map = {{a, graph->Find("x")}};
  EXPECT_EQ(branch->Clone(&map)->first()->input(0), graph->Find("x"));
}

TEST(Clone, OfAnUnsortedGraph) {
  auto graph = Parse("graph g(x: int64[]) -> (b) { b = n2(a) a = n1(x) }");
  EXPECT_EQ(ToText(*graph->Clone()), ToText(*graph));
}

TEST(Annotations, MergeTakesWhatIsMissing) {
  AnnotationsPtr a, b;
  a.MergeFrom(b);
  EXPECT_EQ(a.get(), nullptr);
  b.GetOrMake() = {"doc b", {{"k", "b"}, {"l", "b"}}, {{"e", "b"}, {"f", "b"}}};
  a.MergeFrom(b);
  EXPECT_EQ(*a.get(), *b.get());
  AnnotationsPtr c;
  c.GetOrMake() = {"", {{"k", "c"}}, {{"e", "c"}}};
  c.MergeFrom(b);
  EXPECT_EQ(*c.get(), (Annotations{"doc b", {{"k", "c"}, {"l", "b"}}, {{"e", "c"}, {"f", "b"}}}));
}

// --- Size -----------------------------------------------------------------------------------

// Seconds per node of `work` on graphs of two sizes, both in this process; small ones often
// enough that the clock can tell.
double SecondsPerNode(size_t nodes, size_t repeat, const std::function<void(size_t)>& work) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < repeat; ++i) work(nodes);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(nodes * repeat);
}

// A chain in which every node also uses x: one value with as many uses as there are nodes.
std::unique_ptr<Graph> Chain(size_t n, bool backwards) {
  auto graph = std::make_unique<Graph>("chain");
  Value* x = graph->AddInput("x", Type::Tensor(DType::kFloat32));
  std::vector<Value*> values;
  Node* before = nullptr;
  Value* last = x;
  for (size_t i = 0; i < n; ++i) {
    Node* node = graph->InsertNode(before, "", "add", {last, x});
    last = graph->AddNodeOutput(node, "v" + std::to_string(i));
    if (backwards) before = node;
  }
  graph->AddOutput(last);
  return graph;
}

// --- Names that are taken -------------------------------------------------------------------

TEST(TakenNames, MakeTheGraphInvalid) {
  Graph graph("g");
  Value* first = graph.AddInput("x", Type::Tensor(DType::kFloat32));
  EXPECT_TRUE(graph.CheckNames().ok());
  Value* second = graph.AddConstant("x", Tensor::Scalar(1.0f));
  Node* node = graph.AppendNode("", "identity", {first});
  Value* third = graph.AddNodeOutput(node, "x");
  EXPECT_EQ(graph.Find("x"), first);
  EXPECT_EQ(second->name(), "x");
  const absl::Status status = graph.CheckNames();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "two values of graph 'g' are named 'x'");
  EXPECT_FALSE(graph.Validate().empty());
  EXPECT_EQ(graph.UniqueName("x"), "x_1");

  // The name goes from one to the next.
  graph.Rename(first, "y");
  EXPECT_EQ(graph.Find("x"), second);
  EXPECT_FALSE(graph.CheckNames().ok());
  graph.RemoveConstant(second);
  EXPECT_EQ(graph.Find("x"), third);
  EXPECT_TRUE(graph.CheckNames().ok());
  EXPECT_TRUE(graph.Validate().empty());

  graph.Rename(third, "y");
  EXPECT_FALSE(graph.CheckNames().ok());
  EXPECT_EQ(graph.Find("x"), nullptr);
  graph.SwapNames(first, third);
  EXPECT_FALSE(graph.CheckNames().ok());
  graph.Rename(first, "z");
  EXPECT_TRUE(graph.CheckNames().ok());
  EXPECT_EQ(graph.Find("y"), third);
}

TEST(TakenNames, OfNestedGraphsAndErasedNodes) {
  Graph graph("g");
  Value* x = graph.AddInput("x", Type::Tensor(DType::kFloat32));
  auto body = std::make_shared<Graph>("body");
  body->AddInput("i", Type());
  Node* node = graph.AppendNode("", "loop", {x});
  graph.AddNodeOutput(node, "y");
  node->SetAttr("body", body);
  Node* inner = body->AppendNode("", "identity", {body->inputs()[0]});
  Value* clash = body->AddNodeOutput(inner, "i");
  EXPECT_EQ(graph.CheckNames().message(), "two values of graph 'body' are named 'i'");
  EXPECT_FALSE(body->Clone()->CheckNames().ok());
  EXPECT_NE(body->Find("i"), clash);
  body->EraseUnused(inner);
  EXPECT_TRUE(graph.CheckNames().ok());
  EXPECT_EQ(body->Find("i"), body->inputs()[0]);
}

// --- Constness ------------------------------------------------------------------------------

// What a const graph owns is const.
static_assert(std::is_same_v<decltype(*std::declval<const Graph&>().nodes().begin()), const Node*>);
static_assert(std::is_same_v<decltype(std::declval<const Graph&>().first()), const Node*>);
static_assert(std::is_same_v<decltype(std::declval<const Graph&>().Find("")), const Value*>);
static_assert(
    std::is_same_v<decltype(std::declval<const Graph&>().inputs()[0]), const Value* const&>);
static_assert(
    std::is_same_v<decltype(std::declval<const Graph&>().constants()), std::vector<const Value*>>);
static_assert(std::is_same_v<decltype(std::declval<const Graph&>().NestedGraphs()),
                             std::vector<const Graph*>>);
static_assert(std::is_same_v<decltype(std::declval<const Node&>().next()), const Node*>);
static_assert(
    std::is_same_v<decltype(std::declval<const Node&>().subgraphs()), std::vector<const Graph*>>);

TEST(Linear, EveryOperation) {
  struct Row {
    std::string_view what;
    std::function<void(size_t)> work;
  };
  const Row rows[] = {
      {"build", [](size_t n) { Chain(n, false); }},
      {"sort a sorted one", [](size_t n) { EXPECT_TRUE(Chain(n, false)->Sort().ok()); }},
      {"sort a backward one",
       [](size_t n) {
         auto graph = Chain(n, true);
         EXPECT_TRUE(graph->Sort().ok());
         EXPECT_EQ(graph->first()->output(0)->name(), "v0");
       }},
      {"validate", [](size_t n) { EXPECT_THAT(Chain(n, false)->Validate(), IsEmpty()); }},
      {"clone", [](size_t n) { EXPECT_EQ(Chain(n, false)->Clone()->num_nodes(), n); }},
      {"replace uses, node by node, and erase",
       [](size_t n) {
         auto graph = Chain(n, false);
         Value* x = graph->inputs()[0];
         for (Node* node : graph->nodes()) {
           if (node->op() == "identity") continue;  // made for the graph's output
           graph->ReplaceAllUsesKeepingOutputNames(node->output(0), x);
           if (node->output(0)->is_unused()) graph->EraseUnused(node);
         }
         EXPECT_LE(graph->num_nodes(), 2);
       }},
      {"adopt outputs",
       [](size_t n) {
         auto graph = Chain(n, false);
         for (Node* node : graph->nodes()) {
           if (node->op() == "sub") continue;
           Node* fresh = graph->InsertNode(node, "", "sub", node->inputs());
           graph->AdoptOutput(graph->AddNodeOutput(fresh, ""), node->output(0));
           graph->EraseUnused(node);
         }
         EXPECT_EQ(graph->num_nodes(), n);
       }},
      {"unique names",
       [](size_t n) {
         Graph graph;
         for (size_t i = 0; i < n; ++i) graph.AddInput(graph.UniqueName("x"), Type());
       }},
      {"constants come and go",
       [](size_t n) {
         Graph graph;
         const Tensor tensor = Tensor::Scalar(1);
         std::vector<Value*> values;
         for (size_t i = 0; i < n; ++i) {
           values.push_back(graph.AddConstant("c" + std::to_string(i), tensor));
         }
         for (Value* value : values) graph.RemoveConstant(value);
         EXPECT_EQ(graph.num_constants(), 0);
       }},
      {"inputs freeze",
       [](size_t n) {
         Graph graph;
         const Tensor tensor = Tensor::Scalar(1);
         for (size_t i = 0; i < n; ++i) {
           graph.SetDefault(graph.AddInput("i" + std::to_string(i), Type()), tensor);
         }
         graph.FreezeInputs();
         EXPECT_EQ(graph.num_constants(), n);
       }},
      {"one use after another goes",
       [](size_t n) {
         auto graph = Chain(n, false);
         for (Node* node : graph->nodes()) node->SetInput(1, nullptr);
         EXPECT_THAT(graph->inputs()[0]->uses(), SizeIs(1));
       }},
  };
  constexpr size_t kSmall = 200, kLarge = 200'000;
  // Caches and allocation make a large graph a few times dearer; quadratic would be 1000 times.
  constexpr double kBound = 60;
  for (const Row& row : rows) {
    row.work(kSmall);  // warms up
    const double small = SecondsPerNode(kSmall, 100, row.work);
    const double large = SecondsPerNode(kLarge, 1, row.work);
    EXPECT_LT(large, small * kBound) << row.what;
  }
}

// As deep as any reader lets it be: nothing may overflow the stack.
TEST(Linear, DeepNesting) {
  auto graph = std::make_shared<Graph>("g");
  Value* x = graph->AddInput("x", Type());
  Graph* at = graph.get();
  for (int i = 0; i < 200; ++i) {
    Node* node = at->AppendNode("", "n", {x});
    at->AddNodeOutput(node, "v" + std::to_string(i));
    auto inner = std::make_shared<Graph>("g" + std::to_string(i));
    node->SetAttr("body", inner);
    at = inner.get();
  }
  EXPECT_TRUE(graph->Sort().ok());
  EXPECT_THAT(graph->Validate(), IsEmpty());
  EXPECT_EQ(graph->Clone()->TotalNodes(), 200);
  EXPECT_THAT(x->uses(), SizeIs(200));
}

}  // namespace
}  // namespace x2ir
