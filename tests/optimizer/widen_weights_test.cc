// Weights that are stored in fewer digits than the graph computes in.
#include "x2ir/optimizer/widen_weights.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/text_graph_util.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/optimizer/room.h"

namespace x2ir {
namespace {

TEST(WidenWeights, WhatBecomesFloat32) {
  const struct {
    const char *what, *graph;
    int64_t weights;
    const char* nodes;  // ops that are left
    const char* constants;
  } rows[] = {
      {"float16",
       "graph g(x: float32[2]) -> (y) { w = float16[2]{0.1, 65504} a = cast(w) { to = \"float32\" }"
       " y = mul(x, a) }",
       1, "mul", "w: float32[2]"},
      {"bfloat16",
       "graph g(x: float32[2]) -> (y) { w = bfloat16[2]{0.1, 3e38} a = cast(w) { to = \"float32\" }"
       " y = mul(x, a) }",
       1, "mul", "w: float32[2]"},
      {"a number",
       "graph g(x: float32[2]) -> (y) { w = float16[]{0.5} a = cast(w) { to = \"float32\" }"
       " y = mul(x, a) }",
       1, "mul", "w: float32[]"},
      {"nothing at all",
       "graph g(x: float32[0]) -> (y) { w = float16[0]{} a = cast(w) { to = \"float32\" }"
       " y = mul(x, a) }",
       1, "mul", "w: float32[0]"},
      {"two casts of one weight are one tensor",
       "graph g(x: float32[2]) -> (y) { w = float16[2]{1, 2} a = cast(w) { to = \"float32\" }"
       " b = cast(w) { to = \"float32\" } c = mul(x, a) y = add(c, b) }",
       1, "mul add", "w: float32[2]"},
      {"rows of a table, and what is computed with them",
       "graph g(i: int64[3]) -> (y) { w = bfloat16[2,2]{1, 2, 3, 4} r = gather(w, i) { axis = 0 }"
       " a = cast(r) { to = \"float32\" } b = cast(r) { to = \"float32\" } c = mul(a, b)"
       " d = add(a, c) y = neg(d) }",
       1, "gather mul add neg", "w: float32[2,2]"},
      {"what computes in float16 stays",
       "graph g(x: float16[2]) -> (y) { w = float16[2]{1, 2} y = mul(x, w) }", 0, "mul",
       "w: float16[2]"},
      {"the file does not hold it twice",
       "graph g(x: float32[2], h: float16[2]) -> (y, z) { w = float16[2]{1, 2}"
       " a = cast(w) { to = \"float32\" } y = mul(x, a) z = mul(h, w) }",
       0, "cast mul mul", "w: float16[2]"},
      {"other types stay",
       "graph g(x: float64[2]) -> (y) { w = float16[2]{1, 2} a = cast(w) { to = \"float64\" }"
       " y = mul(x, a) }",
       0, "cast mul", "w: float16[2]"},
      {"integers stay",
       "graph g(x: float32[2]) -> (y) { w = int8[2]{1, 2} a = cast(w) { to = \"float32\" }"
       " y = mul(x, a) }",
       0, "cast mul", "w: int8[2]"},
      {"an output keeps its cast",
       "graph g(x: float32[2]) -> (x, a) { w = float16[2]{1, 2} a = cast(w) { to = \"float32\" } }",
       0, "cast", "w: float16[2]"},
      {"an input is no weight",
       "graph g(x: float32[2], w: float16[2]) -> (y) { a = cast(w) { to = \"float32\" }"
       " y = mul(x, a) }",
       0, "cast mul", ""},
      {"a cast in a branch",
       "graph g(c: bool[], x: float32[2]) -> (y) { w = float16[2]{1, 2} y = if(c) {"
       " then_branch = graph t() -> (p) { a = cast(w) { to = \"float32\" } p = mul(x, a) },"
       " else_branch = graph e() -> (q) { q = neg(x) } } }",
       1, "if", "w: float32[2]"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto graph = InferredGraph(row.graph);
    const auto widened = WidenWeights(*graph, {});
    ASSERT_TRUE(widened.ok()) << widened.status();
    EXPECT_EQ(widened->weights, row.weights);
    std::string nodes, constants;
    for (const Node* node : graph->nodes()) {
      StrAppend(&nodes, nodes.empty() ? "" : " ", node->op().str());
    }
    for (const Value* constant : graph->constants()) {
      StrAppend(&constants, constants.empty() ? "" : ", ", constant->name(), ": ",
                constant->type().ToString());
    }
    EXPECT_EQ(nodes, row.nodes);
    EXPECT_EQ(constants, row.constants);
    EXPECT_THAT(graph->Validate(), ::testing::IsEmpty());
  }
}

// Every bit pattern of the narrow types is one number of float32, in parts as in one piece.
TEST(WidenWeights, IsExact) {
  for (const DType type : {DType::kFloat16, DType::kBFloat16}) {
    constexpr int64_t kPatterns = 1 << 16, kTimes = 200;  // 26 MB, 52 MB as float32
    Tensor all = Tensor::Zeros(type, {kTimes, kPatterns});
    auto* bits = reinterpret_cast<uint16_t*>(all.mutable_bytes().data());
    for (int64_t i = 0; i < kTimes * kPatterns; ++i) bits[i] = static_cast<uint16_t>(i);
    Graph graph;
    Value* w = graph.AddConstant("w", all);
    Node* cast = graph.AppendNode(kIrDialect, "cast", {w});
    cast->SetAttr("to", std::string("float32"));
    cast->SetAttr("saturate", int64_t{1});
    cast->SetAttr("round_mode", std::string("up"));
    Value* wide = graph.AddNodeOutput(cast, "a", Type::Tensor(DType::kFloat32, all.shape()));
    Node* neg = graph.AppendNode(kIrDialect, "neg", {wide});
    graph.AddOutput(graph.AddNodeOutput(neg, "y", wide->type()));
    ASSERT_TRUE(WidenWeights(graph, {}).ok());
    const Tensor& got = *graph.Find("w")->constant();
    ASSERT_EQ(got.dtype(), DType::kFloat32);
    ASSERT_EQ(got.dims(), all.dims());
    const Tensor aligned = got.AlignedCopyIfNeeded();
    const absl::Span<const float> numbers = aligned.span<float>();
    for (int64_t i = 0; i < kTimes * kPatterns; i += i < kPatterns ? 1 : 4099) {
      const auto pattern = static_cast<uint16_t>(i);
      const float expected =
          type == DType::kFloat16 ? HalfToFloat(Half{pattern}) : BFloat16ToFloat(BFloat16{pattern});
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(numbers[static_cast<size_t>(i)])) << i;
      } else {
        ASSERT_EQ(numbers[static_cast<size_t>(i)], expected) << i;
      }
    }
  }
}

// What weights take more is no room that folded constants used.
TEST(WidenWeights, LeavesTheRoomOfFoldedConstants) {
  const auto graph = InferredGraph(
      "graph g(x: float32[2]) -> (y) { w = float16[2]{1, 2} a = cast(w) { to = \"float32\" }"
      " y = mul(x, a) }");
  RememberFileBytes(*graph, 1000);
  ASSERT_TRUE(WidenWeights(*graph, {}).ok());
  EXPECT_EQ(RememberedFileBytes(*graph), 1004);
}

}  // namespace
}  // namespace x2ir
