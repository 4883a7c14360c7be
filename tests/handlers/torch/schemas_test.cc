// What calls of PyTorch's operators may say: rows of a call and what is wrong with it.
#include "x2ir/formats/torch/schemas.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

TEST(TorchSchemas, Lookup) {
  const TorchSchema* add = FindTorchSchema("aten::add.Tensor");
  ASSERT_NE(add, nullptr);
  ASSERT_EQ(add->parameters.size(), 3u);
  EXPECT_EQ(add->parameters[2].name, "alpha");
  EXPECT_EQ(add->parameters[2].type, "Scalar");
  EXPECT_EQ(add->parameters[2].default_value, "1");
  EXPECT_TRUE(add->parameters[2].keyword_only);
  EXPECT_FALSE(add->parameters[1].keyword_only);
  EXPECT_THAT(add->results, ::testing::ElementsAre("Tensor"));
  const TorchSchema* gelu = FindTorchSchema("aten::gelu.default");
  ASSERT_NE(gelu, nullptr);
  EXPECT_EQ(gelu->Find("approximate")->default_value, "\"none\"");
  const TorchSchema* pool = FindTorchSchema("aten::max_pool2d.default");
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->Find("kernel_size")->element(), "int");
  EXPECT_TRUE(pool->Find("kernel_size")->is_list());
  EXPECT_EQ(FindTorchSchema("aten::topk.default")->results.size(), 2u);
  EXPECT_EQ(FindTorchSchema("aten::reluu.default"), nullptr);
  EXPECT_EQ(FindTorchSchema("aten::add_.Tensor"), nullptr);
}

TEST(TorchSchemas, Calls) {
  struct Row {
    std::string_view call, problem;  // empty: none
  };
  const Row rows[] = {
      {"torch.aten::relu.default(x) { operands = [\"self\"] }", ""},
      {"torch.aten::reluu.default(x) { operands = [\"self\"] }", "no such operator"},
      {"torch._operator::add(x) { operands = [\"a\"] }", ""},  // nothing is known of it
      {"torch.aten::relu.default(x)", "have no names"},
      {"torch.aten::relu.default(x) { operands = [\"x\"] }", "no argument 'x'"},
      {"torch.aten::relu.default()", "'self' is missing"},
      {"torch.aten::relu.default(x) { operands = [\"self:int\"] }",
       "expected Tensor, got a number"},
      {"torch.aten::relu.default(x) { operands = [\"self[0]\"] }", "got a list"},
      {"torch.aten::softmax.int(x) { operands = [\"self\"], dim = 1 }", ""},
      {"torch.aten::softmax.int(x) { operands = [\"self\"], dim = 1.0 }", "expected int"},
      {"torch.aten::softmax.int(x) { operands = [\"self\"], dim = [1] }", "expected int"},
      {"torch.aten::elu.default(x) { operands = [\"self\"], alpha = 2 }", ""},
      {"torch.aten::elu.default(x) { operands = [\"self\"], alpha = \"2\" }", "expected Scalar"},
      {"torch.aten::argmax.default(x) { operands = [\"self\"], keepdim = tensor(bool[]{true}) }",
       ""},
      {"torch.aten::argmax.default(x) { operands = [\"self\"], keepdim = 1 }", "expected bool"},
      {"torch.aten::cat.default(x, x) { operands = [\"tensors[0]\", \"tensors[1]\"] }", ""},
      {"torch.aten::cat.default(x, x) { operands = [\"tensors[0]\", \"tensors[0]\"] }",
       "given twice"},
      {"torch.aten::cat.default(x) { operands = [\"tensors\"] }", "got one value"},
      {"torch.aten::max_pool2d.default(x) { operands = [\"self\"], kernel_size = 2 }", ""},
      {"torch.aten::permute.default(x) { operands = [\"self\"], dims = 1 }", "expected int[]"},
      {"torch.aten::reshape.default(x, n) { operands = [\"self\", \"shape[1]:int\"], "
       "shape = [2, 0] }",
       ""},
      {"torch.aten::reshape.default(x, n) { operands = [\"self\", \"shape[1]:float\"], "
       "shape = [2, 0] }",
       "got a number"},
  };
  for (const Row& row : rows) {
    const auto graph =
        ParseGraph(StrCat("graph g(x: float32[2,3], n: int64[]) -> (y) {\n y = ", row.call, "\n}"));
    ASSERT_TRUE(graph.ok()) << row.call << graph.status();
    const auto problems = CheckTorchCall(*(*graph)->first());
    if (row.problem.empty()) {
      EXPECT_THAT(problems, ::testing::IsEmpty()) << row.call;
    } else {
      EXPECT_THAT(problems, ::testing::Contains(::testing::HasSubstr(std::string(row.problem))))
          << row.call;
    }
  }
}

}  // namespace
}  // namespace x2ir
