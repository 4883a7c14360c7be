// Higher-order operators and arithmetic of sizes: programs converted to IR and evaluated.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/torch/calls_util.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

absl::StatusOr<std::string> Eval(std::string_view program, std::string_view values) {
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      ModelFromText(
          program, "torch", 1,
          {{"aten", 1}, {"higher_order", 1}, {"_operator", 1}, {"torch", 1}, {"math", 1}}));
  X2IR_RETURN_IF_ERROR(ToIr(model, {}));
  std::vector<Datum> inputs;
  X2IR_ASSIGN_OR_RETURN(const auto graph, ParseGraph(StrCat("graph v() -> () {\n", values, "\n}")));
  for (const Value* value : graph->constants()) inputs.emplace_back(*value->constant());
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> outputs,
                        RunGraph(*model.graph, std::move(inputs)));
  ExportOptions onnx;
  onnx.opset = 18;
  onnx.check = true;
  X2IR_RETURN_IF_ERROR(FromIr(model, "onnx", onnx));
  return ResultsText(outputs);
}

struct Row {
  std::string_view program, values, expected;
};

void Expect(const Row& row) {
  const auto got = Eval(row.program, row.values);
  if (row.expected.substr(0, 6) == "error ") {
    ASSERT_FALSE(got.ok()) << row.program;
    EXPECT_THAT(std::string(got.status().message()),
                ::testing::HasSubstr(std::string(row.expected.substr(6))));
    return;
  }
  ASSERT_TRUE(got.ok()) << got.status() << "\n" << row.program;
  EXPECT_EQ(*got, row.expected) << row.program << row.values;
}

constexpr std::string_view kCond = R"(graph g(p: bool[], x: float32[2], y: float32[2]) -> (z) {
  z: float32[2] = torch.higher_order::cond(p, x, y) {
    operands = ["arg0", "arg3[0]", "arg3[1]"],
    arg1 = graph t(a: float32[2], b: float32[2]) -> (r) {
      r: float32[2] = torch.aten::add.Tensor(a, b) { operands = ["self", "other"] }
    },
    arg2 = graph f(a: float32[2], b: float32[2]) -> (a) {
    } }
})";

// While i < n: i + 1, x * 2 + c.
constexpr std::string_view kWhile = R"(graph g(i: int64[], x: float32[2], c: float32[2]) -> (n, y) {
  n, y: int64[], float32[2] = torch.higher_order::while_loop(i, x, c) {
    operands = ["arg2[0]", "arg2[1]", "arg3[0]"],
    arg0 = graph t(i: int64[], x: float32[2], c: float32[2]) -> (r) {
      r: bool[] = torch.aten::lt.Scalar(i) { operands = ["self"], other = 3 }
    },
    arg1 = graph b(i: int64[], x: float32[2], c: float32[2]) -> (j, y) {
      j: int64[] = torch.aten::add.Tensor(i) { operands = ["self"], other = 1 }
      d: float32[2] = torch.aten::mul.Tensor(x) { operands = ["self"], other = 2 }
      y: float32[2] = torch.aten::add.Tensor(d, c) { operands = ["self", "other"] }
    } }
})";

constexpr std::string_view kScan = R"(graph g(s: float32[], x: float32[3]) -> (t, y) {
  t, y: float32[], float32[3] = torch.higher_order::scan(s, x) {
    operands = ["arg1[0]", "arg2[0]"], arg3 = []:ints,
    arg0 = graph b(s: float32[], x: float32[]) -> (t, y) {
      t: float32[] = torch.aten::add.Tensor(s, x) { operands = ["self", "other"] }
      y: float32[] = torch.aten::mul.Tensor(t, x) { operands = ["self", "other"] }
    } }
})";

constexpr std::string_view kMap = R"(graph g(x: int64[n,2], k: int64[2]) -> (y) {
  y: int64[n,2] = torch.higher_order::map_impl(x, k) {
    operands = ["arg1[0]", "arg2[0]"],
    arg0 = graph b(x: int64[2], k: int64[2]) -> (y) {
      y: int64[2] = torch.aten::mul.Tensor(x, k) { operands = ["self", "other"] }
    } }
})";

TEST(TorchControlFlow, Programs) {
  const Row rows[] = {
      {kCond, "p = bool[]{true}\n x = float32[2]{1, 2}\n y = float32[2]{3, 4}",
       "tensor(float32[2]{4, 6})"},
      {kCond, "p = bool[]{false}\n x = float32[2]{1, 2}\n y = float32[2]{3, 4}",
       "tensor(float32[2]{1, 2})"},
      {kWhile, "i = int64[]{1}\n x = float32[2]{1, 2}\n c = float32[2]{1, 0}",
       "tensor(int64[]{3}); tensor(float32[2]{7, 8})"},
      {kWhile, "i = int64[]{3}\n x = float32[2]{1, 2}\n c = float32[2]{1, 0}",
       "tensor(int64[]{3}); tensor(float32[2]{1, 2})"},
      {kScan, "s = float32[]{1}\n x = float32[3]{1, 2, 3}",
       "tensor(float32[]{7}); tensor(float32[3]{2, 8, 21})"},
      {kMap, "x = int64[3,2]{1, 2, 3, 4, 5, 6}\n k = int64[2]{1, -1}",
       "tensor(int64[3,2]{1, -2, 3, -4, 5, -6})"},
  };
  for (const Row& row : rows) Expect(row);
}

TEST(TorchControlFlow, Refusals) {
  const Row rows[] = {
      {R"(graph g(x: float32[3]) -> (y) {
  y: float32[3] = torch.higher_order::associative_scan(x) {
    operands = ["arg1[0]"], arg0 = graph b(a: float32[], b: float32[]) -> (a) { } }
})",
       "", "error no mapping to IR"},
      {R"(graph g(p: bool[], x: float32[2]) -> (z) {
  z: float32[2] = torch.higher_order::cond(p, x) { operands = ["arg0", "arg3[0]"],
    arg1 = graph t() -> (c) { c = float32[2]{1, 2} },
    arg2 = graph f(a: float32[2]) -> (a) { } }
})",
       "", "error a graph takes 0 values; it is given 1"},
      {R"(graph g(x: float32[2]) -> (z) {
  z: float32[2] = torch.higher_order::map_impl(x) { operands = ["arg1[0]"], arg2 = []:ints,
    arg0 = graph t(a: float32[]) -> (a, a) { } }
})",
       "", "error a scan of 1 tensors for 1 results"},
  };
  for (const Row& row : rows) Expect(row);
}

// Python's numbers: floor division and remainders have the sign of the divisor.
TEST(TorchSizes, Arithmetic) {
  const struct {
    std::string_view call, expected;
  } rows[] = {
      {"_operator::floordiv(n) { operands = [\"a:int\"], b = -2 }", "int64[]{-4}"},
      {"_operator::mod(n) { operands = [\"a:int\"], b = -2 }", "int64[]{-1}"},
      {"_operator::sub(n) { operands = [\"b:int\"], a = 1 }", "int64[]{-6}"},
      {"_operator::pow(n) { operands = [\"a:int\"], b = 2 }", "int64[]{49}"},
      {"_operator::neg(n) { operands = [\"a:int\"] }", "int64[]{-7}"},
      {"torch::sym_max(n) { operands = [\"a:int\"], b = 9 }", "int64[]{9}"},
      {"torch::sym_min(n) { operands = [\"a:int\"], b = 9 }", "int64[]{7}"},
      {"_operator::truediv(n) { operands = [\"a:int\"], b = 2 }", "float64[]{3.5}"},
      {"torch::sym_float(n) { operands = [\"a:int\"] }", "float64[]{7}"},
      {"_operator::ge(n) { operands = [\"a:int\"], b = 7 }", "bool[]{true}"},
      {"_operator::ne(n) { operands = [\"a:int\"], b = 7 }", "bool[]{false}"},
      {"_operator::lt(n) { operands = [\"a:int\"], b = 7.5d }", "bool[]{true}"},
      {"torch::_sym_sqrt(n) { operands = [\"a:int\"] }", "float64[]{2.6457513110645907}"},
      {"torch::sym_ite(c, n) { operands = [\"b:bool\", \"t:int\"], f = 3 }", "int64[]{3}"},
  };
  for (const auto& row : rows) {
    const std::string type(row.expected.substr(0, row.expected.find('{')));
    const std::string program = StrCat(
        "graph g(x: float32[k]) -> (y) {\n n: int64[] = torch.aten::sym_size.int(x) { "
        "operands = [\"self\"], dim = 0 }\n c: bool[] = torch._operator::gt(n) { operands = "
        "[\"a:int\"], b = 9 }\n y: ",
        type, " = torch.", row.call, "\n}");
    Expect({program, "x = float32[7]{1, 2, 3, 4, 5, 6, 7}", StrCat("tensor(", row.expected, ")")});
  }
}

}  // namespace
}  // namespace x2ir
