// Comparing two models: which values are the same, and at which node they part.
#include "x2ir/inspect/compare.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/match.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Model Ir(const std::string& text) {
  Model model;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (graph.ok()) model.graph = *graph;
  return model;
}

// Two branches of one input, a norm by hand, and a product behind them.
constexpr char kNet[] = R"(graph net(x: float32[2,3]) -> (y) {
  w = float32[3,3]{0.5, -1, 2, 1, 0.25, -0.5, 3, 1, 1}
  v = float32[3,3]{1, 2, 3, -1, -2, 0.5, 0.25, 1, -1}
  a: float32[2,3] = matmul(x, w) "left"
  b: float32[2,3] = matmul(x, v) "right"
  c: float32[2,3] = sub(a, b) "apart"
  d: float32[2,3] = softmax(c) { axis = 1 } "soft"
  e: float32[2,3] = add(d, a) "sum"
  y: float32[2,3] = relu(e) "last"
})";

std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::vector<IoCase> Cases(const Model& model) {
  auto io = RandomCase(*model.graph, 3, nullptr);
  EXPECT_TRUE(io.ok()) << io.status();
  return {*io};
}

TEST(CompareModels, FindsWhatWasPlanted) {
  const std::string net = kNet;
  const struct {
    const char* what;
    std::string other, node, reason;  // node: empty where nothing differs
  } rows[] = {
      {"the same", net, "", ""},
      {"a weight", With(net, "2, 3, -1, -2", "2, 3, -1.5, -2"), "right",
       "operand 1 'v' is a constant: 1 of 9 elements differ, the first at [1,0]"},
      {"a weight, in the last digits", With(net, "0.25, -0.5, 3", "0.25, -0.5, 3.0005"), "left",
       "expected 3, got 3.0005"},
      {"an attribute", With(net, "axis = 1", "axis = 0"), "soft",
       "attribute axis is 1 here and 0 there"},
      {"the order of operands", With(net, "sub(a, b)", "sub(b, a)"), "apart",
       "operand 0 is 'a' here and 'b' there"},
      {"another operand", With(net, "add(d, a)", "add(d, b)"), "sum",
       "operand 1 is 'a' here and 'b' there"},
      {"another op", With(net, "relu(e)", "neg(e)"), "last", "it is relu here and neg there"},
      {"a node more",
       With(net, "softmax(c)", "softmax(c2)")
           .replace(With(net, "softmax(c)", "softmax(c2)").find("  d: float32"), 0,
                    "  c2: float32[2,3] = neg(c)\n"),
       "soft", "operand 0 is 'c' here and 'c2' there"},
      // Names say nothing there.
      {"other names and a weight",
       With(With(With(With(net, "matmul(x, w)", "matmul(x, w1)"), "  w = ", "  w1 = "),
                 "a: float32[2,3] = ", "a: float32[2,3] = "),
            "0.25, -0.5, 3", "0.25, -0.5, 4"),
       "left", "operand 1 'w' is a constant"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Model model = Ir(net), other = Ir(row.other);
    const auto result = CompareModels(model, other, Cases(model));
    ASSERT_TRUE(result.ok()) << result.status();
    const std::string text = result->ToText();
    EXPECT_TRUE(nlohmann::json::accept(result->ToJson())) << result->ToJson();
    if (row.node[0] == 0) {
      EXPECT_FALSE(result->first) << text;
      EXPECT_TRUE(result->agrees()) << text;
      EXPECT_THAT(text, HasSubstr("no difference except rounding"));
      continue;
    }
    ASSERT_TRUE(result->first) << text;
    EXPECT_EQ(result->values[result->first->value].node, row.node) << text;
    EXPECT_THAT(text, HasSubstr(row.reason));
    const auto part = CutDifference(model, other, *result->first, Cases(model));
    ASSERT_TRUE(part.ok()) << part.status();
    const auto verdict = VerifyOutputs(part->model, {part->io}, {Tolerance{0, 1e-6}, nullptr});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_FALSE(verdict->agrees()) << verdict->ToText();
    EXPECT_LE(part->model.graph->num_nodes(), 2u);
  }
}

// A node that was put in shifts numbers that are names; the structure says what is what.
TEST(MatchGraphs, StructureGoesBeforeNames) {
  const Model a = Ir(R"(graph a(x: float32[2]) -> (n3) {
    n1: float32[2] = neg(x)
    n2: float32[2] = exp(n1)
    n3: float32[2] = neg(n2) })");
  const Model b = Ir(R"(graph b(x: float32[2]) -> (n4) {
    n1: float32[2] = abs(x)
    n2: float32[2] = neg(n1)
    n3: float32[2] = exp(n2)
    n4: float32[2] = neg(n3) })");
  const auto ports = MatchInterfaces(*a.graph, *b.graph);
  ASSERT_TRUE(ports.ok()) << ports.status();
  const GraphMatch match = MatchGraphs(*a.graph, *b.graph, *ports);
  std::string text;
  for (const Node* node : a.graph->nodes()) {
    const auto it = match.values.find(node->output(0));
    StrAppend(&text, node->output(0)->name(), "=",
              it == match.values.end() ? "none" : it->second->name(), " ");
  }
  EXPECT_EQ(text, "n1=n2 n2=n3 n3=n4 ");
}

// "compare lists 93 values as beyond the tolerance with max abs 0 and cosine 1", of a model beside
// its own in half precision.
TEST(CompareModels, ValuesOfAnotherElementTypeAreComparedAsValues) {
  std::string text = kNet;
  for (size_t at; (at = text.find("float32")) != text.npos;) text.replace(at, 7, "float16");
  const Model model = Ir(kNet), half = Ir(text);
  VerifyOptions options;
  options.tolerance = {1e-2, 1e-2};
  const auto result = CompareModels(model, half, Cases(model), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->agrees()) << result->ToText();
  EXPECT_FALSE(result->first) << result->ToText();
  EXPECT_THAT(result->ToText(), Not(HasSubstr("beyond the tolerance")));
  EXPECT_THAT(result->ToText(), HasSubstr("float32[2,3], there float16"));
  ASSERT_EQ(result->values.size(), 6u);
  for (const ValueVerdict& value : result->values) {
    EXPECT_EQ(value.comparison.agrees, value.comparison.max_abs <= 2e-2) << value.name;
    EXPECT_GT(value.comparison.max_abs, 0) << value.name;
    EXPECT_GT(value.cosine, 0.999) << value.name;
  }
  // What is no rounding is found there too.
  const Model broken = Ir(With(text, "axis = 1", "axis = 0"));
  const auto found = CompareModels(model, broken, Cases(model), options);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->first) << found->ToText();
  EXPECT_EQ(found->values[found->first->value].node, "soft");
}

// A name that an optimizer left to another value is no difference that matters.
TEST(CompareModels, NamesOfOtherValuesDoNotMatter) {
  const Model model = Ir(R"(graph net(x: float32[4]) -> (y) {
    k = float32[]{4}
    w = float32[4,4]{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}
    m: float32[4] = matmul(x, w) "m"
    d: float32[4] = div(m, k) "d"
    y: float32[4] = relu(d) })");
  const Model other = Ir(R"(graph net(x: float32[4]) -> (y) {
    w = float16[4,4]{0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75}
    h: float16[4] = cast(x) { to = "float16", saturate = 1, round_mode = "up" }
    m: float16[4] = matmul(h, w) "m"
    r: float16[4] = relu(m)
    y: float32[4] = cast(r) { to = "float32", saturate = 1, round_mode = "up" } })");
  VerifyOptions options;
  options.tolerance = {1e-2, 1e-2};
  const auto result = CompareModels(model, other, Cases(model), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->agrees());
  EXPECT_FALSE(result->first) << result->ToText();
  EXPECT_THAT(result->ToText(), HasSubstr("but later results agree"));
}

// As a target with another layout has them.
TEST(CompareModels, ChannelsInAnotherPlaceAreNoDifference) {
  const Model model = Ir(R"(graph net(x: float32[1,2,2,3]) -> (y) {
    a: float32[1,2,2,3] = exp(x)
    y: float32[1,2,2,3] = neg(a) })");
  const Model other = Ir(R"(graph net(x: float32[1,2,2,3]) -> (y) {
    t: float32[1,3,2,2] = transpose(x) { perm = [0, 3, 1, 2] }
    a: float32[1,3,2,2] = exp(t)
    b: float32[1,3,2,2] = neg(a)
    y: float32[1,2,2,3] = transpose(b) { perm = [0, 2, 3, 1] } })");
  const auto result = CompareModels(model, other, Cases(model));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->agrees());
  ASSERT_EQ(result->values.size(), 2u);
  EXPECT_EQ(result->values[0].name, "a");
  EXPECT_EQ(result->values[0].comparison.max_abs, 0) << result->ToText();
}

TEST(CompareModels, PortsThatDoNotMatch) {
  const Model a = Ir("graph a(x: float32[2]) -> (y) { y = neg(x) }");
  const Model b = Ir("graph b(x: float32[2], z: float32[2]) -> (y) { y = add(x, z) }");
  const auto result = CompareModels(a, b, Cases(a));
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("the models have 1 and 2 inputs"));
}

}  // namespace
}  // namespace x2ir
