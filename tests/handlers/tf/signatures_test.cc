// What nodes of TensorFlow may look like: rows of a node and what is wrong with it.
#include "x2ir/handlers/tf/signatures.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

TEST(TfSignatures, TypesFollowFromOperands) {
  const auto graph =
      ParseGraph("graph g(x: float16[2], n: int32[1]) -> (y) {\n y = tf.ConcatV2(x, x, x, n)\n}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const TfSignature* signature = FindTfSignature("ConcatV2");
  ASSERT_NE(signature, nullptr);
  const AttributeMap attrs = TfTypeAttrs(*signature, (*graph)->first()->inputs());
  EXPECT_EQ(attrs.size(), 3u);
  EXPECT_EQ(*attrs.Find("N"), Attribute(3));
  EXPECT_EQ(*attrs.Find("T"), Attribute(Type::Tensor(DType::kFloat16)));
  EXPECT_EQ(*attrs.Find("Tidx"), Attribute(Type::Tensor(DType::kInt32)));
}

TEST(TfSignatures, Nodes) {
  struct Row {
    std::string_view op, operands, dropped, problem;  // empty: none
  };
  const Row rows[] = {
      {"Relu", "x", "", ""},
      {"NoSuchOp", "x", "", "nothing is known"},
      {"Relu", "x, x", "", "does not take 2 operands"},
      {"AddV2", "x, n", "", "operand 1: expected float32, got int32"},
      {"SelectV2", "b, x, x", "", ""},
      {"SelectV2", "x, x, x", "", "operand 0: expected bool, got float32"},
      {"ConcatV2", "x, x, n", "", ""},
      {"ConcatV2", "x, b, n", "", "operand 1: expected float32, got bool"},
      {"Relu", "x", "T", "attribute 'T' is missing"},
  };
  for (const Row& row : rows) {
    auto graph =
        ParseGraph(StrCat("graph g(x: float32[2], n: int32[1], b: bool[2]) -> (y) {\n y = tf.",
                          row.op, "(", row.operands, ")\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    Node* node = (*graph)->first();
    if (const TfSignature* signature = FindTfSignature(row.op)) {
      for (auto& [name, attr] : TfTypeAttrs(*signature, node->inputs())) {
        if (name != row.dropped) node->SetAttr(name, attr);
      }
    }
    const auto problems = CheckTfNode(*node);
    if (row.problem.empty()) {
      EXPECT_THAT(problems, ::testing::IsEmpty()) << row.op;
    } else {
      EXPECT_THAT(problems, ::testing::Contains(::testing::HasSubstr(std::string(row.problem))))
          << row.op;
    }
  }
  const auto graph = ParseGraph("graph g(x: float32[2]) -> (y) {\n y = tf.Relu(x) { pads = 1 }\n}");
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(CheckTfNode(*(*graph)->first()),
              ::testing::Contains(::testing::HasSubstr("there is no attribute 'pads'")));
}

}  // namespace
}  // namespace x2ir
