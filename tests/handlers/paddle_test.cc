// PaddlePaddle's operators on small constants (tests/data/paddle/rows.txt, which paddle_rows.py
// makes with NumPy and PyTorch by Paddle's documentation).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/handlers/tf_rows_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/paddle/names.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

Strings Split(const std::string& text, const std::string& by) {
  Strings parts;
  size_t start = 0;
  for (size_t at; (at = text.find(by, start)) != text.npos; start = at + by.size()) {
    parts.push_back(text.substr(start, at - start));
  }
  parts.push_back(text.substr(start));
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

// "X=float32[1]{2}": the name, and the tensor's text.
struct Named {
  Strings names, tensors;
};
Named ReadNamed(const std::string& text) {
  Named named;
  for (const std::string& each : Split(text, "; ")) {
    const size_t equals = each.find('=');
    named.names.push_back(each.substr(0, equals));
    named.tensors.push_back(each.substr(equals + 1));
  }
  return named;
}

std::string Quoted(const Strings& names) {
  if (names.empty()) return "[]:strings";
  std::string text = "[";
  for (const std::string& name : names) {
    StrAppend(&text, text == "[" ? "" : ", ", "\"", name, "\"");
  }
  return text + "]";
}

std::string Listed(const char* prefix, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) StrAppend(&text, i ? ", " : "", prefix, i);
  return text;
}

std::string Constants(const char* prefix, const Strings& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) StrAppend(&text, prefix, i, " = ", tensors[i], "\n");
  return text;
}

absl::StatusOr<std::vector<Tensor>> Tensors(const Strings& texts) {
  X2IR_ASSIGN_OR_RETURN(const auto graph,
                        ParseGraph(StrCat("graph g() -> (", Listed("e", texts.size()), ") {\n",
                                          Constants("e", texts), "}")));
  std::vector<Tensor> tensors;
  for (Value* output : graph->outputs()) tensors.push_back(*output->constant());
  return tensors;
}

std::string DifferenceOf(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return StrCat("is ", got.type().ToString(), ", expected ", want.type().ToString());
  }
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double a = got.AsDouble(i), b = want.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= 2e-5 + 2e-4 * std::abs(b))) {
      return StrCat("element ", i, " is ", a, ", expected ", b);
    }
  }
  return "";
}

// "" where the operator gives what it must.
std::string Check(const Strings& row) {
  const Named operands = ReadNamed(row[1]), results = ReadNamed(row[3]);
  const std::string attrs = row[2].empty() ? "" : ", " + row[2];
  const std::string text = StrCat(
      "graph g() -> (", Listed("r", results.names.size()), ") {\n",
      Constants("v", operands.tensors), Listed("r", results.names.size()), " = paddle.", row[0],
      "(", Listed("v", operands.names.size()), ") { operand_slots = ", Quoted(operands.names),
      ", result_slots = ", Quoted(results.names), attrs, " }\n}");
  const auto run = [&]() -> absl::StatusOr<std::string> {
    X2IR_ASSIGN_OR_RETURN(Model model, ModelFromText(text, "paddle", 1));
    X2IR_RETURN_IF_ERROR(ToIr(model));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunGraph(*model.graph, {}));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Tensor> want, Tensors(results.tensors));
    for (size_t i = 0; i < want.size(); ++i) {
      if (!got[i].tensor()) return StrCat(results.names[i], " is no tensor");
      const std::string difference = DifferenceOf(*got[i].tensor(), want[i]);
      if (!difference.empty()) return StrCat(results.names[i], ": ", difference);
    }
    return std::string();
  };
  const absl::StatusOr<std::string> problem = run();
  return problem.ok() ? *problem : std::string(problem.status().message());
}

std::vector<Strings> PaddleRows() {
  std::vector<Strings> rows;
  std::istringstream file(ReadFile(X2IR_SOURCE_DIR "/tests/data/paddle/rows.txt"));
  for (std::string line; std::getline(file, line);) rows.push_back(Split(line, " | "));
  return rows;
}

TEST(PaddleOps, Rows) { EXPECT_THAT(ValidateDialect("paddle"), ::testing::IsEmpty()); }

TEST(PaddleOps, Values) {
  const std::string only = Env("X2IR_CASES");
  std::map<std::string, int> counts;
  for (const Strings& row : PaddleRows()) {
    ASSERT_EQ(row.size(), 4u) << (row.empty() ? "" : row[0]);
    ++counts[row[0]];
    if (!only.empty() && row[0] != only) continue;
    EXPECT_EQ(Check(row), "") << row[0] << " { " << row[2] << " } of " << row[1].substr(0, 300);
  }
  EXPECT_GT(counts.size(), 300u);
  for (const auto& [op, count] : counts) EXPECT_GE(count, 2) << op;
}

// Operators that give numbers by chance, or none, or that other tests have.
bool HasNoRows(const std::string& op) {
  static const auto& names = *new std::set<std::string>{"bernoulli",
                                                        "gaussian_random",
                                                        "multinomial",
                                                        "randint",
                                                        "randperm",
                                                        "uniform_random",
                                                        "array_length",
                                                        "conditional_block",
                                                        "create_array",
                                                        "if",
                                                        "lod_array_length",
                                                        "read_from_array",
                                                        "select_input",
                                                        "tensor_array_to_tensor",
                                                        "while",
                                                        "write_to_array",
                                                        "c_allreduce_max",
                                                        "c_allreduce_sum",
                                                        "c_sync_calc_stream",
                                                        "c_sync_comm_stream",
                                                        "mp_allreduce_sum",
                                                        "shadow_feed",
                                                        "assign_value_",
                                                        "empty",
                                                        "as_complex",
                                                        "as_real",
                                                        "complex",
                                                        "imag",
                                                        "angle",
                                                        "fft_c2c",
                                                        "fft_c2r",
                                                        "fft_r2c",
                                                        "psroi_pool",
                                                        "qr",
                                                        "unpool3d",
                                                        "fused_skip_layernorm"};
  return names.contains(op);
}

TEST(PaddleOps, EveryOperatorHasValues) {
  std::set<std::string> tested;
  for (const Strings& row : PaddleRows()) tested.insert(row[0]);
  for (const Form* form : AllForms("paddle")) {
    EXPECT_NE(tested.contains(form->op.str()), HasNoRows(form->op.str())) << form->op.str();
  }
}

// Operators whose results are not the only ones, or are complex: several of them in a row.
TEST(PaddleOps, Together) {
  const TfRow rows[] = {
      {"a = float32[2]{1, 2}\nb = float32[2]{3, 4}\n"
       "z = paddle.complex(a, b) { operand_slots = [\"X\", \"Y\"], result_slots = [\"Out\"] }\n"
       "c = paddle.conj(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "r = paddle.real(c) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "i = paddle.imag(c) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "r, i", "float32[2]{1, 2}; float32[2]{-3, -4}"},
      {"a = float32[1,2]{3, 4}\n"
       "z = paddle.as_complex(a) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "m = paddle.abs(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "p = paddle.as_real(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "m, p", "float32[1]{5}; float32[1,2]{3, 4}"},
      {"a = float32[4]{1, 2, 3, 4}\n"
       "z = paddle.fft_r2c(a) { operand_slots = [\"X\"], result_slots = [\"Out\"], axes = [0], "
       "normalization = \"backward\", forward = 1, onesided = 1 }\n"
       "p = paddle.as_real(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "b = paddle.fft_c2r(z) { operand_slots = [\"X\"], result_slots = [\"Out\"], axes = [0], "
       "normalization = \"backward\", forward = 0, last_dim_size = 4 }\n"
       "q = paddle.round(b) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "p, q", "float32[3,2]{10, 0, -2, 2, -2, 0}; float32[4]{1, 2, 3, 4}"},
      {"a = float32[2,2]{3, 0, 4, 5}\n"
       "q, t = paddle.qr(a) { operand_slots = [\"X\"], result_slots = [\"Q\", \"R\"], mode = "
       "\"reduced\" }\n"
       "m = paddle.matmul_v2(q, t) { operand_slots = [\"X\", \"Y\"], result_slots = [\"Out\"] }\n"
       "p = paddle.round(m) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "p", "float32[2,2]{3, 0, 4, 5}"},
  };
  ExpectTfRows(rows, "paddle");
}

TEST(PaddleOps, NamesAreInOrder) {
  const auto names = AllPirNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end(),
                             [](const auto& a, const auto& b) { return a.pir < b.pir; }));
  EXPECT_EQ(FindPirName("relu_"), FindPirName("relu"));
  EXPECT_EQ(FindPirName("add")->program, "elementwise_add");
  EXPECT_EQ(FindPirName("no_such"), nullptr);
}

}  // namespace
}  // namespace x2ir
