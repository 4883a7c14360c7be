// What two graphs do not have in common.
#include "x2ir/core/diff.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

Model IrOf(const std::string& text) {
  Model model;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (graph.ok()) model.graph = *graph;
  return model;
}

constexpr char kNet[] = R"(graph net(x: float32[2,3], c: bool[]) -> (y) {
  w = float32[3,3]{0.5, -1, 2, 1, 0.25, -0.5, 3, 1, 1}
  a: float32[2,3] = matmul(x, w) "left"
  b: float32[2,3] = sub(a, x) "apart"
  d: float32[2,3] = softmax(b) { axis = 1 } "soft"
  e: float32[2,3] = if(c) { then_branch = graph t() -> (f) { f: float32[2,3] = relu(d) },
                            else_branch = graph e() -> (g) { g: float32[2,3] = neg(d) } } "choice"
  y: float32[2,3] = exp(e) "last"
})";

TEST(Diff, ByStructure) {
  const struct {
    const char *what, *from, *to, *text;
  } rows[] = {
      {"the same", "", "", "7 nodes are the same; no difference\n"},
      {"names of nodes and values", "e: float32[2,3] = if(c)", "ee: float32[2,3] = if(c)", ""},
      {"a weight", "0.25, -0.5, 3", "0.25, -0.5, 4",
       "~ a: float32[2,3] = matmul(x, w)  \"left\"\n"
       "    operand 1 'w' is a constant: 1 of 9 elements differ, the first at [2,0]"},
      {"an attribute", "axis = 1", "axis = 0", "    attribute axis is 1 here and 0 there\n6 nodes"},
      {"the order of operands", "sub(a, x)", "sub(x, a)",
       "    operand 0 is 'a' here and 'x' there\n    operand 1 is 'x' here and 'a' there\n"},
      {"a node more", "b: float32[2,3] = sub(a, x)",
       "z: float32[2,3] = abs(a)\n  b: float32[2,3] = sub(z, x)", "+ z: float32[2,3] = abs(a)\n"},
      {"a node in a branch", "relu(d)", "tanh(d)",
       "- [if \"choice\" graph 0] f: float32[2,3] = relu(d)\n"},
      {"the name of an input", "(x: float32[2,3], c", "(x: float32[2,3], cond",
       "~ input 'c' is called 'cond' there\n"},
      {"the type of an input", "(x: float32[2,3], c", "(x: float32[2,4], c",
       "~ input 'x' is float32[2,3] here and float32[2,4] there\n"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    std::string other = kNet;
    if (row.from[0]) other.replace(other.find(row.from), std::string(row.from).size(), row.to);
    if (std::string(row.what) == "names of nodes and values") {
      other.replace(other.find("exp(e)"), 6, "exp(ee)");
    }
    if (std::string(row.what) == "the name of an input") {
      other.replace(other.find("if(c)"), 5, "if(cond)");
    }
    const ModelDiff diff = DiffModels(IrOf(kNet), IrOf(other));
    EXPECT_TRUE(nlohmann::json::accept(diff.ToJson())) << diff.ToJson();
    const bool same = row.text[0] == 0 || std::string(row.text).ends_with("no difference\n");
    EXPECT_EQ(diff.empty(), same) << diff.ToText();
    EXPECT_THAT(diff.ToText(), HasSubstr(row.text));
  }
}

TEST(Diff, OpsetsOfFiles) {
  Model a, b;
  for (Model* model : {&a, &b}) {
    Value* x = model->graph->AddInput("x", Type::Tensor(DType::kFloat32, Shape{2}));
    Node* node = model->graph->AppendNode("onnx", "Relu", {x});
    model->graph->AddOutput(model->graph->AddNodeOutput(node, "y", x->type()));
  }
  a.SetOpset("", 17);
  b.SetOpset("", 18);
  EXPECT_THAT(DiffModels(a, b).ToText(), HasSubstr("~ opset is 17 here and 18 there\n"));
  EXPECT_TRUE(DiffModels(a, a).empty());
}

}  // namespace
}  // namespace x2ir
