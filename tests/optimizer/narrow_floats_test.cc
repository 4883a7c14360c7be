// Graphs of float32 as ones of float16: what changes, what stays, where casts stand.
#include "x2ir/optimizer/narrow_floats.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/text_graph_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "op: types of results" of each node.
std::string NodesOf(const Graph& graph) {
  std::string text;
  for (const Node* node : graph.nodes()) {
    StrAppend(&text, text.empty() ? "" : ", ", node->op().str());
    for (const Value* output : node->outputs()) {
      if (output) StrAppend(&text, " ", std::string(Name(output->dtype())));
    }
  }
  return text;
}

TEST(NarrowFloats, WhatBecomesOfNodes) {
  const struct {
    const char *what, *graph;
    NarrowOptions options;
    const char* nodes;
  } rows[] = {
      {"all of it",
       "graph g(x: float32[2]) -> (y) { w = float32[2]{1, 2} y = mul(x, w) }",
       {},
       "mul float16"},
      {"bfloat16",
       "graph g(x: float32[2]) -> (y) { y = neg(x) }",
       {DType::kBFloat16},
       "neg bfloat16"},
      {"inputs and outputs stay",
       "graph g(x: float32[2]) -> (y) { y = neg(x) }",
       {DType::kFloat16, true},
       "cast float16, neg float16, cast float32"},
      {"one cast for several uses",
       "graph g(x: float32[2]) -> (y) { a = neg(x) b = exp(x) y = add(a, b) }",
       {DType::kFloat16, true},
       "cast float16, neg float16, exp float16, add float16, cast float32"},
      {"neighbours that stay have no casts between them",
       "graph g(x: float32[2]) -> (y) { a = neg(x) b = exp(a) y = relu(b) }",
       {DType::kFloat16, false, {"neg", "Exp"}},
       "cast float32, neg float32, exp float32, cast float16, relu float16"},
      {"a node by its name",
       "graph g(x: float32[2]) -> (y) { a = neg(x) \"here\" y = neg(a) }",
       {DType::kFloat16, false, {"here"}},
       "cast float32, neg float32, cast float16, neg float16"},
      {"angles, and what they are made of",
       "graph g(p: int64[4], x: float32[4]) -> (y) { f = float32[4]{1, 2, 3, 4}"
       " a = cast(p) { to = \"float32\" } b = mul(a, f) c = cos(b) y = mul(c, x) }",
       {},
       "cast float32, mul float32, cos float32, cast float16, mul float16"},
      {"angles that are used elsewhere too",
       "graph g(x: float32[4]) -> (y) { b = mul(x, x) c = cos(b) y = mul(c, b) }",
       {},
       "mul float16, cast float32, cos float32, cast float16, mul float16"},
      {"indices",
       "graph g(x: float32[4], n: int64[]) -> (y) { h = float32[]{0.5}"
       " a = cast(n) { to = \"float32\" } b = mul(a, h) i = cast(b) { to = \"int64\" }"
       " y = gather(x, i) { axis = 0 } }",
       {},
       "cast float32, mul float32, cast int64, gather float16"},
      {"integers and doubles are left alone",
       "graph g(x: float64[2], i: int64[2]) -> (y, z) { y = neg(x) z = neg(i) }",
       {},
       "neg float64, neg int64"},
      {"casts from and to what there is",
       "graph g(x: float64[2]) -> (y) { a = cast(x) { to = \"float32\" } b = neg(a)"
       " y = cast(b) { to = \"float64\" } }",
       {},
       "cast float16, neg float16, cast float64"},
      {"quantized units",
       "graph g(x: uint8[2]) -> (y) { s = float32[]{0.5} z = uint8[]{3}"
       " a = dequantize_linear(x, s, z) b = relu(a) y = quantize_linear(b, s, z) }",
       {},
       "dequantize_linear float32, relu float32, quantize_linear uint8"},
      {"scales of a resize",
       "graph g(x: float32[1,1,2,2]) -> (y) { s = float32[4]{1, 1, 2, 2} y = resize(x, _, s) }",
       {},
       "resize float16"},
      {"means in more digits",
       "graph g(x: float32[2,4], w: float32[4]) -> (y, m) {"
       " y, m = layer_normalization(x, w) }",
       {},
       "layer_normalization float16 float32, cast float16"},
      {"nested graphs",
       "graph g(c: bool[], x: float32[2]) -> (y) { y = if(c) {"
       " then_branch = graph t() -> (a) { a = neg(x) },"
       " else_branch = graph e() -> (b) { b = cos(x) } } }",
       {},
       "cast float32, if float16"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto graph = InferredGraph(row.graph);
    std::string ports;
    for (const Value* output : graph->outputs()) ports += output->name();
    const auto result = NarrowFloats(*graph, row.options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(NodesOf(*graph), row.nodes);
    ASSERT_TRUE(graph->Sort().ok());
    EXPECT_TRUE(InferGraph(*graph).ok()) << InferGraph(*graph);
    EXPECT_EQ(NodesOf(*graph), row.nodes) << "inferred again";
    std::string now;
    for (const Value* output : graph->outputs()) now += output->name();
    EXPECT_EQ(now, ports);
  }
}

TEST(NarrowFloats, NumbersThatDoNotFit) {
  const auto graph = InferredGraph(R"(graph g(x: float32[4]) -> (y) {
    w = float32[4]{1, 100000, -1e30, 65519}
    m = float32[]{-3.4e38}
    e = float32[]{1e-12}
    i = float32[1]{inf}
    a = mul(x, w)
    b = add(a, m)
    c = add(b, i)
    y = div(c, e) })");
  const auto result = NarrowFloats(*graph, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->warnings,
              ElementsAre(HasSubstr("2 of 4 elements of 'w' are beyond the range of float16")));
  EXPECT_THAT(result->notes, ElementsAre(HasSubstr("'m' is -3.4e+38, beyond")));
  const auto at = [&](const char* name, int64_t i) {
    return graph->Find(name)->constant()->AsDouble(i);
  };
  EXPECT_EQ(at("w", 0), 1);
  EXPECT_EQ(at("w", 1), 65504);
  EXPECT_EQ(at("w", 2), -65504);
  EXPECT_EQ(at("w", 3), 65504);
  EXPECT_EQ(at("m", 0), -65504);
  EXPECT_EQ(at("e", 0), 1.0 / (1 << 24));
  EXPECT_TRUE(std::isinf(at("i", 0)));
  EXPECT_EQ(result->weights, 4);
}

TEST(NarrowFloats, UnknownNamesInKeep) {
  const auto graph = InferredGraph("graph g(x: float32[4]) -> (y) { y = neg(x) }");
  const auto result = NarrowFloats(*graph, {DType::kFloat16, false, {"softmaks", "Neg"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->unknown, std::vector<std::string>{"softmaks"});
  EXPECT_EQ(graph->inputs()[0]->dtype(), DType::kFloat32);
}

TEST(NarrowFloats, OpsSayWhyTheyNeedFloat32) {
  size_t count = 0;
  for (const OpDef* op : AllOps()) {
    const bool needs = op->floats().operands != kNoneOfType;
    EXPECT_EQ(needs, !op->floats().reason.empty()) << op->name().view();
    count += needs;
  }
  EXPECT_GT(count, 50u);
}

}  // namespace
}  // namespace x2ir
