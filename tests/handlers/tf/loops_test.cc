// Loops of the IR as while loops of TensorFlow: how many variables and nodes they have, and that
// they compute the same when they are read again.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

size_t CountNodes(const Graph& graph, std::string_view op = "") {
  size_t count = 0;
  for (const Node* node : graph.nodes()) {
    count += op.empty() ? node->op().view() != "Identity" : node->op().view() == op;
    for (const Graph* inner : node->subgraphs()) count += CountNodes(*inner, op);
  }
  return count;
}

std::string ResultsFor(const Graph& graph, float x, float m) {
  const auto got = RunGraph(graph, {Tensor::Scalar(x), Tensor::Scalar(m)});
  if (!got.ok()) return got.status().ToString();
  std::string all;
  for (const Datum& datum : *got) {
    const Tensor& tensor = *datum.tensor();
    for (int64_t i = 0; i < tensor.num_elements(); ++i) StrAppend(&all, tensor.AsDouble(i), " ");
  }
  return all;
}

struct LoopRow {
  std::string_view what;
  std::string nodes;      // of x and m, floats; they make y
  size_t variables, all;  // of the while loop, and all nodes but names
};

// `body`: of the number of the round i, the condition go, and the variables.
std::string Loop(std::string_view operands, std::string_view variables, std::string_view results,
                 std::string_view body) {
  return StrCat("y = loop(", operands, ") { body = graph b(i: int64[], go: bool[]", variables,
                ") -> (", results, ") { ", body, " } }");
}

TEST(TfLoops, Conditions) {
  const std::string one = "one = float32[]{1} ";
  const LoopRow rows[] = {
      // While, Less, AddV2.
      {"the condition is one of what is carried",
       StrCat("c = less(x, m) ", Loop("_, c, x", ", v: float32[]", "n, w",
                                      StrCat(one, "w = add(v, one) n = less(w, m)"))),
       1, 3},
      {"and of several nodes",
       StrCat("d = mul(x, x) c = less(d, m) ",
              Loop("_, c, x", ", v: float32[]", "n, w",
                   StrCat(one, "w = add(v, one) p = mul(w, w) n = less(p, m)"))),
       1, 4},
      {"it is known before the first round",
       StrCat("s = float32[]{-3} t = bool[]{1} ",
              Loop("_, t, s", ", v: float32[]", "n, w",
                   StrCat("z = float32[]{2} ", one, "w = add(v, one) n = less(w, z)"))),
       1, 3},
      {"the first one is true, whatever it would say",
       StrCat("s = float32[]{7} t = bool[]{1} ",
              Loop("_, t, s", ", v: float32[]", "n, w",
                   StrCat("z = float32[]{2} ", one, "w = add(v, one) n = less(w, z)"))),
       2, 3},
      {"the first one compares otherwise",
       StrCat("c = less_or_equal(x, m) ", Loop("_, c, x", ", v: float32[]", "n, w",
                                               StrCat(one, "w = add(v, one) n = less(w, m)"))),
       2, 4},
      {"what was carried before decides",
       StrCat("c = less(x, m) ", Loop("_, c, x", ", v: float32[]", "n, w",
                                      StrCat(one, "w = add(v, one) n = less(v, m)"))),
       2, 4},
      {"the round needs what decides, too",
       StrCat("d = mul(x, x) c = less(d, m) ",
              Loop("_, c, x, x", ", v: float32[], u: float32[]", "n, w, r",
                   StrCat(one,
                          "w = add(v, one) p = mul(w, w) n = less(p, m) q = add(u, p) r = "
                          "mul(q, one)"))
                  .replace(0, 1, "y, z")),
       3, 8},
      {"what is carried next is of outside",
       StrCat(one, "k = add(m, one) c = less(x, m) ",
              Loop("_, c, x", ", v: float32[]", "n, k", "n = less(k, m)")),
       1, 3},
      {"the number of the round counts",
       StrCat("c = less(x, m) ",
              Loop("_, c, x", ", v: float32[]", "n, w",
                   "f = cast(i) { to = \"float32\", saturate = 1, round_mode = \"up\" } g = add(v, "
                   "f) " +
                       one + "w = add(g, one) n = less(w, m)")),
       2, 6},
      {"a limit besides",
       StrCat("k = int64[]{3} c = less(x, m) ",
              Loop("k, c, x", ", v: float32[]", "n, w",
                   StrCat(one, "w = add(v, one) n = less(w, m)"))),
       2, 6},
      {"the largest limit is none",
       StrCat("k = int64[]{9223372036854775807} c = less(x, m) ",
              Loop("k, c, x", ", v: float32[]", "n, w",
                   StrCat(one, "w = add(v, one) n = less(w, m)"))),
       1, 3},
      {"a limit alone",
       StrCat("k = int64[]{3} ",
              Loop("k, _, x", ", v: float32[]", "go, w", StrCat(one, "w = add(v, one)"))),
       2, 4},
  };
  for (const LoopRow& row : rows) {
    SCOPED_TRACE(row.what);
    const auto graph =
        ParseGraph(StrCat("graph g(x: float32[], m: float32[]) -> (y) {\n", row.nodes, "\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    Model model;
    model.graph = (*graph)->Clone();
    ExportOptions options;
    options.optimize = false;
    const absl::Status written = FromIr(model, "tf", options);
    ASSERT_TRUE(written.ok()) << written;
    for (const Node* node : model.graph->nodes()) {
      if (node->op().view() != "StatelessWhile") continue;
      EXPECT_EQ(node->num_inputs(), row.variables) << ToText(*model.graph);
    }
    EXPECT_EQ(CountNodes(*model.graph, "StatelessWhile"), 1u);
    EXPECT_EQ(CountNodes(*model.graph), row.all) << ToText(*model.graph);
    model.source_dialect = "tf";
    model.SetOpset("", 1);
    const absl::Status read = ToIr(model);
    ASSERT_TRUE(read.ok()) << read;
    for (const float m : {-1.f, 0.f, 2.f, 5.5f, 30.f}) {
      EXPECT_EQ(ResultsFor(*model.graph, -2, m), ResultsFor(**graph, -2, m))
          << ToText(*model.graph);
    }
  }
}

// The nodes of a condition are followed without recursion, and copies but once each.
TEST(TfLoops, LongConditions) {
  constexpr int kCount = 50'000;
  for (const std::string op : {"abs", "identity"}) {
    std::string first, next;
    for (int i = 0; i < kCount; ++i) {
      StrAppend(&first, "a", i, " = ", op, "(", i == 0 ? "x" : StrCat("a", i - 1), ")\n");
      StrAppend(&next, "b", i, " = ", op, "(", i == 0 ? "w" : StrCat("b", i - 1), ")\n");
    }
    const auto graph = ParseGraph(StrCat("graph g(x: float32[], m: float32[]) -> (y) {\n", first,
                                         "c = less(a", kCount - 1, ", m)\n",
                                         Loop("_, c, x", ", v: float32[]", "n, w",
                                              StrCat("one = float32[]{1}\nw = add(v, one)\n", next,
                                                     "n = less(b", kCount - 1, ", m)\n")),
                                         "\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    Model model;
    model.graph = *graph;
    ExportOptions options;
    options.optimize = false;
    const absl::Status written = FromIr(model, "tf", options);
    ASSERT_TRUE(written.ok()) << written;
    for (const Node* node : model.graph->nodes()) {
      if (node->op().view() != "StatelessWhile") continue;
      EXPECT_EQ(node->num_inputs(), 1u);
    }
  }
}

}  // namespace
}  // namespace x2ir
