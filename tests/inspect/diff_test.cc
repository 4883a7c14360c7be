// What two graphs do not have in common.
#include "x2ir/inspect/diff.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "x2ir/graph_wrapper/strings.h"
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

// What two files say in other words is no difference; what looks like it and is one, is.
TEST(Diff, SpellingsOfOneThing) {
  const struct {
    const char *what, *here, *there, *text;  // text: what is said; empty: nothing
  } rows[] = {
      {"an axis from the last", "y: float32[2,3] = softmax(x) { axis = 1 }",
       "y: float32[2,3] = softmax(x) { axis = -1 }", ""},
      {"another axis", "y: float32[2,3] = softmax(x) { axis = 0 }",
       "y: float32[2,3] = softmax(x) { axis = -1 }", "attribute axis is 0 here and -1 there"},
      {"operands of a sum", "a: float32[2,3] = relu(x)\n y: float32[2,3] = add(x, a)",
       "a: float32[2,3] = relu(x)\n y: float32[2,3] = add(a, x)", ""},
      {"operands of a difference", "a: float32[2,3] = relu(x)\n y: float32[2,3] = sub(x, a)",
       "a: float32[2,3] = relu(x)\n y: float32[2,3] = sub(a, x)",
       "operand 0 is 'x' here and 'a' there"},
      {"a weight on the other side", "w = float32[3]{1, 2, 3}\n y: float32[2,3] = mul(x, w)",
       "w = float32[3]{1, 2, 3}\n y: float32[2,3] = mul(w, x)", ""},
      {"another weight on the other side", "w = float32[3]{1, 2, 3}\n y: float32[2,3] = mul(x, w)",
       "w = float32[3]{1, 2, 4}\n y: float32[2,3] = mul(w, x)",
       "operand 1 'w' is a constant: 1 of 3 elements differ"},
      {"a weight twice", "w = float32[3]{1, 2, 3}\n y: float32[2,3] = add(x, x)",
       "w = float32[3]{1, 2, 3}\n y: float32[2,3] = add(x, w)", "~ y: "},
      {"axes of a reduction", "a = int64[2]{0, 1}\n y: float32[1,1] = reduce_sum(x, a)",
       "a = int64[2]{-1, 0}\n y: float32[1,1] = reduce_sum(x, a)", ""},
      {"axes that are added", "a = int64[1]{2}\n y: float32[2,3,1] = unsqueeze(x, a)",
       "a = int64[1]{-1}\n y: float32[2,3,1] = unsqueeze(x, a)", ""},
      {"other axes that are added", "a = int64[1]{0}\n y: float32[1,2,3] = unsqueeze(x, a)",
       "a = int64[1]{1}\n y: float32[2,1,3] = unsqueeze(x, a)",
       "operand 1 'a' is a constant: 1 of 1 elements differ"},
      {"a weight that is transposed",
       "w = float32[2,3]{1, 2, 3, 4, 5, 6}\n t: float32[3,2] = transpose(w) { perm = [1, 0] }\n"
       "y: float32[2,2] = matmul(x, t)",
       "w = float32[3,2]{1, 4, 2, 5, 3, 6}\n y: float32[2,2] = matmul(x, w)", ""},
      {"another weight that is transposed",
       "w = float32[2,3]{1, 2, 3, 4, 5, 6}\n t: float32[3,2] = transpose(w) { perm = [1, 0] }\n"
       "y: float32[2,2] = matmul(x, t)",
       "w = float32[3,2]{1, 2, 3, 4, 5, 6}\n y: float32[2,2] = matmul(x, w)",
       "operand 1 't' is a constant: 4 of 6 elements differ"},
      {"a flatten that is a reshape",
       "r: float32[2,3] = relu(x)\n y: float32[2,3] = flatten(r) { axis = 1 }",
       "r: float32[2,3] = relu(x)\n s = int64[2]{0, 3}\n y: float32[2,3] = reshape(r, s)", ""},
      {"a flatten of something else",
       "r: float32[2,3] = relu(x)\n y: float32[2,3] = flatten(r) { axis = 1 }",
       "r: float32[2,3] = relu(x)\n s = int64[2]{0, 3}\n y: float32[2,3] = reshape(x, s)",
       "operand 0 is 'r' here and 'x' there"},
      {"a gemm that transposes its weights",
       "w = float32[1,3]{1, 2, 3}\n y: float32[2,1] = gemm(x, w) { transB = 1 }",
       "w = float32[3,1]{1, 2, 3}\n y: float32[2,1] = gemm(x, w) { transB = 0 }", ""},
      {"a gemm that transposes other weights",
       "w = float32[3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n"
       "y: float32[2,3] = gemm(x, w) { transB = 1 }",
       "w = float32[3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n"
       "y: float32[2,3] = gemm(x, w) { transB = 0 }",
       "operand 1 'w' is a constant: 6 of 9 elements differ"},
      {"a constant of more than moves",
       "w = float32[3]{1, 4, 9}\n t: float32[3] = sqrt(w)\n y: float32[2,3] = mul(x, t)",
       "w = float32[3]{1, 2, 3}\n y: float32[2,3] = mul(x, w)", "operand 1 is a constant on one"},
      {"a shape", "s = int64[2]{3, 2}\n y: float32[3,2] = reshape(x, s)",
       "s = int64[2]{3, -1}\n y: float32[3,2] = reshape(x, s)", ""},
      {"another shape", "s = int64[2]{3, 2}\n y: float32[3,2] = reshape(x, s)",
       "s = int64[2]{1, -1}\n y: float32[1,6] = reshape(x, s)",
       "operand 1 's' is a constant: 2 of 2 elements differ"},
      {"axes of a slice, which have an order",
       "b = int64[2]{0, 1}\n e = int64[2]{1, 3}\n a = int64[2]{0, 1}\n"
       "y: float32[1,2] = slice(x, b, e, a)",
       "b = int64[2]{0, 1}\n e = int64[2]{1, 3}\n a = int64[2]{1, 0}\n"
       "y: float32[1,1] = slice(x, b, e, a)",
       "operand 3 'a' is a constant: 2 of 2 elements differ"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto net = [](const char* nodes) {
      return IrOf(StrCat("graph net(x: float32[2,3]) -> (y) {\n", nodes, " }"));
    };
    const ModelDiff diff = DiffModels(net(row.here), net(row.there));
    EXPECT_EQ(diff.empty(), row.text[0] == 0) << diff.ToText();
    EXPECT_THAT(diff.ToText(), HasSubstr(row.text));
  }
}

// What sizes are called is no difference; what they are is one, of the input alone.
TEST(Diff, NamesOfSizes) {
  const auto net = [](const std::string& n, const std::string& m, const std::string& sum) {
    return IrOf(StrCat("graph net(x: float32[", n, ",", m, "]) -> (y: float32[", sum, "]) {\n",
                       "  s = int64[1]{-1}\n  r: float32[", n, ",", m, "] = relu(x)\n",
                       "  y: float32[", sum, "] = reshape(r, s) }"));
  };
  const Model model = net("batch", "seq", "batch*seq");
  const struct {
    const char *n, *m, *sum, *text;
  } rows[] = {
      {"b", "t", "b*t", "2 nodes are the same; no difference\n"},
      {"seq", "batch", "batch*seq", "2 nodes are the same; no difference\n"},
      {"b", "b", "b*b", "~ input 'x' is float32[batch,seq] here and float32[b,b] there\n"},
      {"b", "8*t", "8*b*t",
       "~ input 'x' is float32[batch,seq] here and float32[b,8*t] there\n2 nodes are the same; 0 "},
      {"2", "t", "2*t",
       "~ input 'x' is float32[batch,seq] here and float32[2,t] there\n2 nodes are the same; 0 "},
      {"b", "t", "t", "~ output 'y' is float32[batch*seq] here and float32[t] there\n"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(DiffModels(model, net(row.n, row.m, row.sum)).ToText(), HasSubstr(row.text));
  }
}

TEST(Diff, WeightsThatWereRounded) {
  const Model a =
      IrOf("graph g(x: float32[1]) -> (y) { w = float32[1]{1}\n y: float32[1] = mul(x, w) }");
  const Model b =
      IrOf("graph g(x: float32[1]) -> (y) { w = float32[1]{1.00001}\n y: float32[1] = mul(x, w) }");
  EXPECT_FALSE(DiffModels(a, b).empty());
  EXPECT_TRUE(DiffModels(a, b, {1e-4, 0}).empty());
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
