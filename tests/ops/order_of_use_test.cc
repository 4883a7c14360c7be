// The order of what a builder made, which must not depend on the order in which it was made.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/builder.h"

namespace x2ir {
namespace {

std::string OpsOf(Graph& graph) {
  std::string ops;
  for (const Node* node : graph.nodes()) ops += std::string(node->op().view()) + " ";
  return ops;
}

class OrderOfUse : public testing::Test {
 protected:
  OrderOfUse() : x_(graph_.AddInput("x", Type::Tensor(DType::kFloat32, Shape({2})))) {
    b_.set_name_hint("y");
  }
  Graph graph_;
  Builder b_{graph_, nullptr};
  Value* x_;
};

TEST_F(OrderOfUse, NodesAndNumbersOfConstants) {
  Value* two = b_.Scalar(DType::kFloat32, 2);
  Value* one = b_.Scalar(DType::kFloat32, 1);
  Value* late = b_.Op("mul", {x_, two});
  Value* early = b_.Op("add", {x_, one});
  Value* y = b_.Op("sub", {early, late});
  b_.PutInOrderOfUse({y});
  EXPECT_EQ(OpsOf(graph_), "add mul sub ");
  EXPECT_EQ(b_.made().size(), 3u);
  EXPECT_EQ(b_.made()[0], early->producer());
  EXPECT_EQ(one->name(), "y_const");
  EXPECT_EQ(two->name(), "y_const_1");
  EXPECT_EQ(graph_.constants(), (std::vector<Value*>{one, two}));
}

TEST_F(OrderOfUse, NamesOfTheSourceStay) {
  Value* two = b_.Scalar(DType::kFloat32, 2);
  Value* one = b_.Scalar(DType::kFloat32, 1);
  graph_.Rename(two, "w_1");
  graph_.Rename(one, "w_2");
  b_.PutInOrderOfUse({b_.Op("sub", {b_.Op("add", {x_, one}), two})});
  EXPECT_EQ(two->name(), "w_1");
  EXPECT_EQ(one->name(), "w_2");
}

// A body of constants alone may be one of the source.
TEST_F(OrderOfUse, BodiesOfConstantsStay) {
  auto body = std::make_shared<Graph>("then");
  Value* first = body->AddConstant("w_1", Tensor::Scalar<float>(1));
  Value* second = body->AddConstant("w_2", Tensor::Scalar<float>(2));
  body->AddOutput(second);
  body->AddOutput(first);
  auto other = std::make_shared<Graph>("else");
  for (const char* name : {"u", "v"}) {
    other->AddOutput(other->AddConstant(name, Tensor::Scalar<float>(0)));
  }
  Value* condition = graph_.AddInput("c", Type::Tensor(DType::kBool, Shape()));
  const std::vector<Value*> results =
      b_.Ops("if", {condition}, {{"then_branch", body}, {"else_branch", other}}, 2);
  ASSERT_TRUE(b_.status().ok()) << b_.status();
  b_.PutInOrderOfUse(results);
  EXPECT_EQ(first->name(), "w_1");
  EXPECT_EQ(body->constants(), (std::vector<Value*>{first, second}));
}

// Nodes of a body that has no names yet are ordered like those around it.
TEST_F(OrderOfUse, NewBodies) {
  const auto branch = [&] {
    auto graph = std::make_shared<Graph>("branch");
    Builder b(*graph, nullptr);
    Value* late = b.Op("exp", {x_});
    Value* early = b.Op("neg", {x_});
    graph->AddOutput(b.Op("add", {early, late}));
    return graph;
  };
  const auto then_branch = branch(), else_branch = branch();
  Value* condition = graph_.AddInput("c", Type::Tensor(DType::kBool, Shape()));
  const std::vector<Value*> results =
      b_.Ops("if", {condition}, {{"then_branch", then_branch}, {"else_branch", else_branch}}, 1);
  ASSERT_TRUE(b_.status().ok()) << b_.status();
  b_.PutInOrderOfUse(results);
  EXPECT_EQ(OpsOf(*then_branch), "neg exp add ");
  EXPECT_EQ(OpsOf(*else_branch), "neg exp add ");
}

}  // namespace
}  // namespace x2ir
