// The element types that TorchResultTypes gives, against those that programs of torch.export
// declare, and rows by hand: types and ranks that such programs seldom mix, and TorchScript's
// operators.
#include "x2ir/handlers/torch/result_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/core/shared_util.h"
#include "tests/torch/torch_cases_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

std::string Names(const std::vector<DType>& types) {
  std::string names;
  for (const DType t : types) StrAppend(&names, names.empty() ? "" : " ", Name(t));
  return names;
}

// --- Programs -------------------------------------------------------------------------------

// Compares all calls of a graph whose results the program gives types; says how many.
int Compare(const Graph& graph, const std::string& program) {
  int count = 0;
  for (const Node* node : graph.nodes()) {
    for (const Graph* nested : node->subgraphs()) count += Compare(*nested, program);
    const std::vector<DType> types = TorchResultTypes(*node);
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      const Value* output = node->output(i);
      if (!output || output->dtype() == DType::kUndefined) continue;
      // Those of a list have one entry.
      const DType got = types.empty() ? DType::kUndefined : types[types.size() == 1 ? 0 : i];
      EXPECT_EQ(Name(got), Name(output->dtype()))
          << program << ": " << node->op().view() << ", result " << i;
      ++count;
    }
  }
  return count;
}

TEST(TorchResultTypes, AreThoseOfPrograms) {
  std::vector<TorchCase> cases = ArchivedTorchCases();
  const auto add = [&](const std::vector<TorchCase>& more) {
    cases.insert(cases.end(), more.begin(), more.end());
  };
  add(ArchivedTorchPrograms());
  for (const char* folder : {"models", "zoo"}) {
    if (const auto path = Shared(folder); !path.empty()) add(TorchCasesUnder(path));
  }
  int count = 0;
  for (const TorchCase& test : cases) {
    const auto model = ReadTorch(test.model.string());
    ASSERT_TRUE(model.ok()) << test.name << ": " << model.status();
    count += Compare(*model->graph, test.name);
  }
  EXPECT_GT(count, 3000);
}

// --- Rows -----------------------------------------------------------------------------------

struct Row {
  std::string inputs, call, want;
};

void Expect(const Row& row) {
  const size_t results = static_cast<size_t>(std::count(row.want.begin(), row.want.end(), ' '));
  std::string outputs = "y0";
  for (size_t i = 1; i <= results; ++i) StrAppend(&outputs, ", y", i);
  const std::string text =
      StrCat("graph g(", row.inputs, ") -> (y0) { ", outputs, " = torch.aten::", row.call, " }");
  const auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << text << "\n" << graph.status();
  EXPECT_EQ(Names(TorchResultTypes(*(*graph)->first())), row.want) << text;
}

TEST(TorchResultTypes, PromoteByCategory) {
  const std::string call = R"(add.Tensor(a, b) { operands = ["self", "other"] })";
  const Row rows[] = {
      {"a: float16[2], b: float32[]", call, "float16"},
      {"a: int64[2], b: float16[]", call, "float16"},
      {"a: float16[2], b: float32[1]", call, "float32"},
      {"a: float16[], b: bfloat16[]", call, "float32"},
      {"a: uint8[3], b: int8[3]", call, "int16"},
      {"a: int32[3], b: int64[]", call, "int32"},
      {"a: bool[3], b: uint8[]", call, "uint8"},
      {"a: float64[3], b: complex64[]", call, "complex128"},
      {"a: uint16[3], b: int32[3]", call, "undefined"},
      // Ranks that are not known, where they do not matter and where they do.
      {"a: float32[...], b: float32[]", call, "float32"},
      {"a: float32[...], b: int64[...]", call, "float32"},
      {"a: float32[...], b: float64[]", call, "undefined"},
      {"a: float32[2], b", call, "undefined"},
  };
  for (const Row& row : rows) Expect(row);
}

TEST(TorchResultTypes, NumbersComeLast) {
  const auto mul = [](std::string_view number) {
    return StrCat(R"(mul.Tensor(a) { operands = ["self"], other = )", number, " }");
  };
  const Row rows[] = {
      {"a: int32[2]", mul("2"), "int32"},
      {"a: bool[2]", mul("2"), "int64"},
      {"a: bool[2]", mul("tensor(bool[]{true})"), "bool"},
      {"a: uint8[]", mul("0.5d"), "float32"},
      {"a: float16[]", mul("0.5d"), "float16"},
      {"a: float64[2]", mul("tensor(complex128[]{(0, 1)})"), "complex128"},
      {"a: int32[2], n: int64[]", R"(mul.Tensor(a, n) { operands = ["self", "other:int"] })",
       "int32"},
      {"a: int32[2], n: float64[]", R"(mul.Tensor(a, n) { operands = ["self", "other:float"] })",
       "float32"},
      {"a: bool[2]", "where.Scalar(a) { operands = [\"condition\"], self = 1, other = 0.5d }",
       "float32"},
      {"a: int64[2]", R"(clamp.default(a) { operands = ["self"], min = 0.5d })", "float32"},
      {"a: int64[2]", R"(pow.Scalar(a) { operands = ["exponent"], self = 2.0d })", "float32"},
  };
  for (const Row& row : rows) Expect(row);
}

TEST(TorchResultTypes, FollowArguments) {
  const std::string ints = R"({ operands = ["self"] })";
  const Row rows[] = {
      {"a: int32[2]", R"(sum.default(a) { operands = ["self"] })", "int64"},
      {"a: bool[2]", R"(sum.default(a) { operands = ["self"], dtype = type(float16[]) })",
       "float16"},
      {"a: int32[2]", R"(div.Tensor(a) { operands = ["self"], other = 2 })", "float32"},
      {"a: int32[2]",
       R"(div.Tensor_mode(a) { operands = ["self"], other = 2, rounding_mode = "floor" })",
       "int32"},
      {"a: int32[2]",
       R"(div.Tensor_mode(a) { operands = ["self"], other = 2, rounding_mode = type(?) })",
       "float32"},
      {"", "arange.default() { end = 3 }", "int64"},
      {"", "arange.start() { start = 0, end = 0.5d }", "float32"},
      {"", "full.default() { size = [2], fill_value = tensor(bool[]{true}) }", "bool"},
      {"", "full.default() { size = [2], fill_value = 1 }", "int64"},
      {"", "zeros.default() { size = [2] }", "float32"},
      {"", "zeros.default() { size = [2], dtype = type(int32[]) }", "int32"},
      {"", "tensor.default() { data = [1, 2] }", "int64"},
      {"", "tensor.float() { t = 0.5d }", "float32"},
      {"", "tensor.float() { t = 0.5d, dtype = 7 }", "float64"},
      {"", "linspace.default() { start = 0, end = 1, steps = 3 }", "float32"},
      {"a: float32[2]", R"(to.dtype(a) { operands = ["self"], dtype = type(int8[]) })", "int8"},
      {"a: float32[2], b: int8[]", R"(to.other(a, b) { operands = ["self", "other"] })", "int8"},
      {"a: float32[2]", R"(to.prim_Device(a) { operands = ["self"], device = "cpu" })", "float32"},
      {"a: float32[2]", R"(to.prim_dtype(a) { operands = ["self"], dtype = 5 })", "float16"},
      {"a: float32[2]",
       R"(bucketize.Tensor(a) { operands = ["self"], out_int32 = tensor(bool[]{true}) })", "int32"},
      {"a: float32[2]",
       R"(stft.default(a) { operands = ["self"], return_complex = tensor(bool[]{true}) })",
       "complex64"},
      {"a: float32[2]",
       R"(stft.default(a) { operands = ["self"], return_complex = tensor(bool[]{false}) })",
       "float32"},
      {"a: complex128[2]", "abs.default(a) " + ints, "float64"},
      {"a: int32[2]", "angle.default(a) " + ints, "float32"},
      {"a: uint8[2]", "any.default(a) " + ints, "uint8"},
      {"a: int16[2]", "fft_rfft.default(a) " + ints, "complex64"},
      {"a: float16[2]", "fft_fft.default(a) " + ints, "undefined"},
      {"a: float16[2]", "item.default(a) " + ints, "float64"},
      {"a: float16[2]", "size.int(a) " + ints, "int64"},
  };
  for (const Row& row : rows) Expect(row);
}

TEST(TorchResultTypes, OfAllResults) {
  const Row rows[] = {
      {"a: float16[2]", R"(max.dim(a) { operands = ["self"], dim = 0 })", "float16 int64"},
      {"a: uint8[2]", R"(_unique2.default(a) { operands = ["self"] })", "uint8 int64 int64"},
      {"a: complex64[2,2]", R"(linalg_svd.default(a) { operands = ["A"] })",
       "complex64 float32 complex64"},
      {"a: float32[2,2]", R"(linalg_eig.default(a) { operands = ["self"] })",
       "complex64 complex64"},
      {"a: float16[4,2], b: int64[2], c: int64[1]",
       R"(_embedding_bag.default(a, b, c) { operands = ["weight", "indices", "offsets"] })",
       "float16 int64 int64 int64"},
      {"a: float16[4,2]", R"(native_dropout.default(a) { operands = ["input"] })", "float16 bool"},
      // Of a list there is one entry.
      {"a: float16[4,2]", R"(split.Tensor(a) { operands = ["self"], split_size = 2 })", "float16"},
      {"a: float16[2], b: float16[2]",
       R"(broadcast_tensors.default(a, b) { operands = ["tensors[0]", "tensors[1]"] })", "float16"},
      {"a: float16[2], b: int8[2]",
       R"(broadcast_tensors.default(a, b) { operands = ["tensors[0]", "tensors[1]"] })",
       "undefined"},
      {"a: float16[2], b: int8[2]",
       R"(cat.default(a, b) { operands = ["tensors[0]", "tensors[1]"] })", "float16"},
  };
  for (const Row& row : rows) Expect(row);
}

// --- Operators ------------------------------------------------------------------------------

// A call with all arguments that are required.
Node* PlausibleCall(const TorchSchema& schema, Graph* graph) {
  std::vector<Value*> operands;
  Attribute::Strings names;
  Node* call = graph->AppendNode("torch", std::string(schema.name), {});
  for (const TorchParameter& p : schema.parameters) {
    const std::string name(p.name);
    if (!p.default_value.empty()) continue;
    if (p.element() == "Scalar" || p.element() == "float") {
      call->SetAttr(name, 1.5);
    } else if (p.element() == "ScalarType") {
      call->SetAttr(name, Type::Tensor(DType::kFloat16, Shape()));
    } else if (p.type.starts_with("Tensor")) {
      names.push_back(p.is_list() ? StrCat(name, "[0]") : name);
      operands.push_back(
          graph->AddInput(graph->UniqueName(name), Type::Tensor(DType::kFloat32, Shape({2}))));
    }
  }
  call->SetInputs(operands);
  call->SetAttr("operands", names);
  return call;
}

TEST(TorchResultTypes, OfEveryOperatorThatHasARow) {
  int count = 0;
  for (const TorchSchema* schema : AllTorchSchemas()) {
    if (!FindImportForm("torch", std::string(schema->name), 1)) continue;
    Graph graph;
    const std::vector<DType> types = TorchResultTypes(*PlausibleCall(*schema, &graph));
    EXPECT_EQ(types.size(), schema->results.size()) << schema->name;
    for (const DType t : types) EXPECT_NE(t, DType::kUndefined) << schema->name;
    ++count;
  }
  EXPECT_GT(count, 900);
}

}  // namespace
}  // namespace x2ir
