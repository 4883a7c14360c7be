// Writes of programs, and what those who look at the same memory read afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/torch/prepare.h"

namespace x2ir {
namespace {

// The nodes of a program after functionalization, a line each: "y = add(x, w)"; or the error.
std::string Functional(std::string_view nodes, std::vector<std::string>* warnings = nullptr) {
  auto graph = ParseGraph(nodes);
  if (!graph.ok()) return graph.status().ToString();
  std::vector<std::string> own;
  if (absl::Status s = Functionalize(**graph, warnings ? *warnings : own); !s.ok()) {
    return s.ToString();
  }
  if (const auto problems = (*graph)->Validate(); !problems.empty()) return problems[0];
  if (absl::Status s = (*graph)->Sort(); !s.ok()) return s.ToString();
  std::string text;
  for (const Node* node : (*graph)->nodes()) {
    std::string operands;
    for (const Value* value : node->inputs()) {
      StrAppend(&operands, operands.empty() ? "" : ", ", value->name());
    }
    StrAppend(&text, node->output(0)->name(), " = ", node->op().view().substr(6), "(", operands,
              ")\n");
  }
  text += "->";
  for (const Value* output : (*graph)->outputs()) StrAppend(&text, " ", output->name());
  return text;
}

struct Row {
  std::string what, program, want;
};

TEST(Functionalize, Programs) {
  const Row rows[] = {
      {"an op in place",
       R"(graph(x: float32[2,2]) -> (b: float32[2,2]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         b: float32[2,2] = torch.aten::relu_.default(a) { operands = ["self"] }
       })",
       "a = exp.default(x)\nb = relu.default(a)\n-> b"},
      {"the written tensor is read by its old name",
       R"(graph(x: float32[2,2]) -> (c: float32[2,2]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         b: float32[2,2] = torch.aten::relu_.default(a) { operands = ["self"] }
         c: float32[2,2] = torch.aten::neg.default(a) { operands = ["self"] }
       })",
       "a = exp.default(x)\nb = relu.default(a)\nc = neg.default(b)\n-> c"},
      {"a view is read after its base was written",
       R"(graph(x: float32[2,2]) -> (d: float32[2]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         v: float32[2] = torch.aten::select.int(a) { operands = ["self"], dim = 0, index = 1 }
         b: float32[2,2] = torch.aten::relu_.default(a) { operands = ["self"] }
         d: float32[2] = torch.aten::neg.default(v) { operands = ["self"] }
       })",
       "a = exp.default(x)\nv = select.int(a)\nb = relu.default(a)\nv_1 = select.int(b)\n"
       "d = neg.default(v_1)\n-> d"},
      {"a base is read after a view of it was written",
       R"(graph(x: float32[2,2]) -> (d: float32[2,2]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         v: float32[2] = torch.aten::select.int(a) { operands = ["self"], dim = 0, index = 1 }
         b: float32[2] = torch.aten::relu_.default(v) { operands = ["self"] }
         d: float32[2,2] = torch.aten::neg.default(a) { operands = ["self"] }
       })",
       "a = exp.default(x)\nv = select.int(a)\nb = relu.default(v)\n"
       "a_1 = select_scatter.default(a, b)\nd = neg.default(a_1)\n-> d"},
      {"through a view of a view, and another view reads",
       R"(graph(x: float32[2,2]) -> (d: float32[4]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         f: float32[4] = torch.aten::view.default(a) { operands = ["self"], size = [4] }
         t: float32[2,2] = torch.aten::t.default(a) { operands = ["self"] }
         v: float32[2] = torch.aten::select.int(t) { operands = ["self"], dim = 0, index = 1 }
         b: float32[2] = torch.aten::relu_.default(v) { operands = ["self"] }
         d: float32[4] = torch.aten::neg.default(f) { operands = ["self"] }
       })",
       "a = exp.default(x)\nf = view.default(a)\nt = t.default(a)\nv = select.int(t)\n"
       "b = relu.default(v)\nt_1 = select_scatter.default(t, b)\na_1 = t.default(t_1)\n"
       "f_1 = view.default(a_1)\nd = neg.default(f_1)\n-> d"},
      {"an output that was written after it was made",
       R"(graph(x: float32[2,2]) -> (a: float32[2,2], b: float32[2,2]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         b: float32[2,2] = torch.aten::relu_.default(a) { operands = ["self"] }
       })",
       "a = exp.default(x)\nb = relu.default(a)\n-> b b"},
      {"a reshape that nobody reads any more",
       R"(graph(x: float32[2,2]) -> (b: float32[4]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         r: float32[4] = torch.aten::reshape.default(a) { operands = ["self"], shape = [4] }
         b: float32[4] = torch.aten::relu_.default(r) { operands = ["self"] }
       })",
       "a = exp.default(x)\nr = reshape.default(a)\nb = relu.default(r)\n-> b"},
      {"a tensor that gets another shape in place, under both its names",
       R"(graph(x: float32[2]) -> (c: float32[1,2], d: float32[1,2]) {
         a: float32[2] = torch.aten::exp.default(x) { operands = ["self"] }
         b: float32[2] = torch.aten::relu_.default(a) { operands = ["self"] }
         c: float32[1,2] = torch.aten::unsqueeze_.default(b) { operands = ["self"], dim = 0 }
         e: float32[1,2] = torch.aten::relu_.default(a) { operands = ["self"] }
         d: float32[1,2] = torch.aten::neg.default(b) { operands = ["self"] }
       })",
       "a = exp.default(x)\nb = relu.default(a)\ne = unsqueeze.default(b)\nc = relu.default(e)\n"
       "d = neg.default(c)\n-> c d"},
      {"Python's operators in place, and an overload that is called otherwise",
       R"(graph(x: bool[2], y: int64[2]) -> (b: bool[2], d: int64[2]) {
         a: bool[2] = torch.aten::logical_not.default(x) { operands = ["self"] }
         b: bool[2] = torch.aten::__ior__.Tensor(a, x) { operands = ["self", "other"] }
         c: int64[2] = torch.aten::neg.default(y) { operands = ["self"] }
         d: int64[2] = torch.aten::floor_divide_.Tensor(c, y) { operands = ["self", "other"] }
       })",
       "a = logical_not.default(x)\nb = __or__.Tensor(a, x)\nc = neg.default(y)\n"
       "d = floor_divide.default(c, y)\n-> b d"},
      {"a cast to the same type is the same tensor",
       R"(graph(x: float32[2]) -> (a: float32[2]) {
         a: float32[2] = torch.aten::exp.default(x) { operands = ["self"] }
         c: float32[2] = torch.aten::to.dtype(a) { operands = ["self"] }
         d: float32[2] = torch.aten::relu_.default(c) { operands = ["self"] }
       })",
       "d = exp.default(x)\nc = to.dtype(d)\na = relu.default(c)\n-> a"},
      {"a cast to another type is not",
       R"(graph(x: float32[2]) -> (a: float32[2]) {
         a: float32[2] = torch.aten::exp.default(x) { operands = ["self"] }
         c: float64[2] = torch.aten::to.dtype(a) { operands = ["self"] }
         d: float64[2] = torch.aten::relu_.default(c) { operands = ["self"] }
       })",
       "a = exp.default(x)\nc = to.dtype(a)\nd = relu.default(c)\n-> a"},
  };
  for (const Row& row : rows) EXPECT_EQ(Functional(row.program), row.want) << row.what;
}

TEST(Functionalize, Refuses) {
  const Row rows[] = {
      {"a reshape that may be a copy, and its base is read",
       R"(graph(x: float32[2,2]) -> (d: float32[2,2]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         r: float32[4] = torch.aten::reshape.default(a) { operands = ["self"], shape = [4] }
         b: float32[4] = torch.aten::relu_.default(r) { operands = ["self"] }
         d: float32[2,2] = torch.aten::neg.default(a) { operands = ["self"] }
       })",
       "may or may not share"},
      {"and the other way round",
       R"(graph(x: float32[2,2]) -> (d: float32[4]) {
         a: float32[2,2] = torch.aten::exp.default(x) { operands = ["self"] }
         r: float32[4] = torch.aten::reshape.default(a) { operands = ["self"], shape = [4] }
         b: float32[2,2] = torch.aten::relu_.default(a) { operands = ["self"] }
         d: float32[4] = torch.aten::neg.default(r) { operands = ["self"] }
       })",
       "may or may not share"},
      {"elements that lie over one another",
       R"(graph(x: float32[2]) -> (d: float32[2]) {
         a: float32[2] = torch.aten::exp.default(x) { operands = ["self"] }
         e: float32[3,2] = torch.aten::expand.default(a) { operands = ["self"], size = [3, 2] }
         b: float32[3,2] = torch.aten::relu_.default(e) { operands = ["self"] }
         d: float32[2] = torch.aten::neg.default(a) { operands = ["self"] }
       })",
       "writes through"},
      {"the second one too is told of, and what follows from the first is not",
       R"(graph(x: float32[2], y: float32[2]) -> (d: float32[2], g: float32[2]) {
         a: float32[2] = torch.aten::exp.default(x) { operands = ["self"] }
         e: float32[3,2] = torch.aten::expand.default(a) { operands = ["self"], size = [3, 2] }
         b: float32[3,2] = torch.aten::relu_.default(e) { operands = ["self"] }
         d: float32[2] = torch.aten::neg.default(a) { operands = ["self"] }
         p: float32[2] = torch.aten::exp.default(y) { operands = ["self"] }
         q: float32[3,2] = torch.aten::expand.default(p) { operands = ["self"], size = [3, 2] }
         r: float32[3,2] = torch.aten::relu_.default(q) { operands = ["self"] }
         g: float32[2] = torch.aten::neg.default(p) { operands = ["self"] }
       })",
       "(torch.aten::relu_.default): writes through aten::expand.default to 'a', which is read "
       "later\n  '' (torch.aten::relu_.default): writes through aten::expand.default to 'p'"},
  };
  for (const Row& row : rows) {
    EXPECT_NE(Functional(row.program).find(row.want), std::string::npos)
        << row.what << ": " << Functional(row.program);
  }
}

// Two ops of one observer: the second one goes on where the first one left off.
TEST(Functionalize, Observers) {
  const auto program = [](std::string_view on, std::string_view end) {
    constexpr std::string_view kCall =
        ": float32[2] = torch.aten::fused_moving_avg_obs_fake_quant.default(";
    constexpr std::string_view kRest =
        ", on, fake, least, most, scale, zero) { operands = [\"self\", \"observer_on\", "
        "\"fake_quant_on\", \"running_min\", \"running_max\", \"scale\", \"zero_point\"], "
        "averaging_const = 0.5d, quant_min = 0, quant_max = 255, ch_axis = -1 }\n";
    return StrCat("graph(x: float32[2]) -> (y: float32[2]", end, ") {\n on = int64[1]{", on,
                  "}\n fake = int64[1]{1}\n least = float32[]{0}\n most = float32[]{1}\n "
                  "scale = float32[1]{1}\n zero = int32[1]{0}\n a",
                  kCall, "x", kRest, "y", kCall, "a", kRest, "}");
  };
  std::vector<std::string> warnings;
  EXPECT_EQ(Functional(program("0", ""), &warnings),
            "a = fused_moving_avg_obs_fake_quant.default(x, on, fake, least, most, scale, zero)\n"
            "y = fused_moving_avg_obs_fake_quant.default(a, on, fake, least, most, scale, zero)\n"
            "-> y");
  EXPECT_TRUE(warnings.empty());
  const std::string op = "_fused_moving_avg_obs_fq_helper_functional.default";
  EXPECT_EQ(Functional(program("1", ""), &warnings),
            StrCat("a = ", op, "(x, on, fake, least, most, scale, zero)\ny = ", op,
                   "(a, on, fake, least_1, most_1, scale, zero)\n-> y"));
  EXPECT_THAT(warnings, ::testing::Contains("buffer 'least' is updated by the program; the update "
                                            "is not part of the model"));
  EXPECT_THAT(Functional(program("0", ", scale: float32[1]")),
              ::testing::HasSubstr("'scale' (scale), which the op writes, is read later"));
}

TEST(Functionalize, TellsOfInputsThatAreWritten) {
  std::vector<std::string> warnings;
  EXPECT_EQ(Functional(R"(graph(x: float32[2]) -> (d: float32[2]) {
         b: float32[2] = torch.aten::relu_.default(x) { operands = ["self"] }
         d: float32[2] = torch.aten::neg.default(x) { operands = ["self"] }
       })",
                       &warnings),
            "b = relu.default(x)\nd = neg.default(b)\n-> d");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "input 'x' is updated by the program; the update is not part of the model");
}

// The nodes that are left of a program, and what it is warned of.
std::string Prepared(std::string_view nodes, std::vector<std::string>& warnings) {
  auto graph = ParseGraph(nodes);
  if (!graph.ok()) return graph.status().ToString();
  Model model;
  model.graph = std::move(*graph);
  if (absl::Status s = PrepareTorch(model, warnings); !s.ok()) return s.ToString();
  std::string text;
  for (const Node* node : model.graph->nodes()) StrAppend(&text, node->op().str(), " ");
  return text;
}

TEST(PrepareTorch, AssertionsTakeAlongWhatOnlyTheyLookAt) {
  std::vector<std::string> warnings;
  EXPECT_EQ(Prepared(R"(graph(x: float32[2]) -> (d: float32[2]) {
         a: bool[2] = torch.aten::gt.Scalar(x) { operands = ["self"], other = 0 }
         b: bool[] = torch.aten::_is_all_true.default(a) { operands = ["self"] }
         i: bool[] = torch.aten::item.default(b) { operands = ["self"] }
         z: bool[] = torch.aten::_functional_assert_scalar.default(i) {
             operands = ["self:bool"] }
         c: bool[2] = torch.aten::lt.Scalar(x) { operands = ["self"], other = 0 }
         d: float32[2] = torch.aten::neg.default(x) { operands = ["self"] }
       })",
                     warnings),
            "aten::lt.Scalar aten::neg.default ");
  EXPECT_TRUE(warnings.empty());
}

TEST(PrepareTorch, WarnsOfRandomNumbers) {
  std::vector<std::string> warnings;
  Prepared(R"(graph(x: float32[2]) -> (d: float32[2]) {
         r: float32[2] = torch.aten::randn.default() { size = [2] }
         s: float32[2] = torch.aten::randn_like.default(x) { operands = ["self"] }
         d: float32[2] = torch.aten::add.Tensor(r, s) { operands = ["self", "other"] }
       })",
           warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "the program draws random numbers (aten::randn, aten::randn_like): results differ from "
            "run to run, and from PyTorch's");
}

TEST(PrepareTorch, OneHintForVmap) {
  std::vector<std::string> warnings;
  const std::string error = Prepared(R"(graph(x: float32[2,3]) -> (d: float32[2]) {
         a: float32[3] = torch.torch._functorch.predispatch::_add_batch_dim(x) {
             operands = ["arg0"], arg1 = 0, arg2 = 1 }
         b: float32[] = torch.aten::median.default(a) { operands = ["self"] }
         d: float32[2] = torch.torch._functorch.predispatch::_remove_batch_dim(b) {
             operands = ["arg0"], arg1 = 1, arg2 = 2, arg3 = 0 }
       })",
                                     warnings);
  EXPECT_EQ(error,
            "UNIMPLEMENTED: '' (torch.aten::median.default): torch.vmap: not known of this "
            "operator; call run_decompositions() on the exported program before it is saved");
}

}  // namespace
}  // namespace x2ir
