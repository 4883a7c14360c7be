// The elementwise family: evaluation and inference, row by row, as text.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// Attributes that a row leaves out get their defaults.
void FillDefaults(Graph& graph) {
  for (Node* node : graph.nodes()) {
    const OpDef* def = FindOp(node->op());
    if (!def) continue;
    for (const AttrDef& attr : def->attrs()) {
      if (attr.default_value && !node->attrs().Has(attr.name)) {
        node->SetAttr(attr.name, *attr.default_value);
      }
    }
  }
}

std::string Constants(const std::vector<std::string>& operands) {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) {
    text += "  " + std::string(1, static_cast<char>('a' + i)) + " = " + operands[i] + "\n";
  }
  return text;
}

absl::StatusOr<Tensor> Parse(const std::string& tensor) {
  auto graph = ParseGraph("graph g() -> (t) { t = " + tensor + " }");
  if (!graph.ok()) return graph.status();
  return *(*graph)->outputs()[0]->constant();
}

std::string Print(const Tensor& tensor) {
  Graph graph("g");
  graph.AddOutput(graph.AddConstant("t", tensor));
  return ToText(graph, {.max_constant_elements = 64});
}

// Equal up to `ulps` units of the last place of float32 (of 1 for values below 1e-30).
bool Close(const Tensor& got, const Tensor& want, double tolerance) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) return false;
  if (got == want) return true;
  if (!IsFloating(got.dtype())) return false;
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double x = got.AsDouble(i), y = want.AsDouble(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y && std::signbit(x) == std::signbit(y)) continue;
    if (!(std::fabs(x - y) <= tolerance * std::fabs(y))) return false;
  }
  return true;
}

struct EvalRow {
  const char* call;  // an expression over the operands a, b, c
  std::vector<std::string> operands;
  const char* want;  // a tensor; "" for an error
  double tolerance = 0;
};

absl::StatusOr<Tensor> Evaluate(const EvalRow& row) {
  auto graph =
      ParseGraph("graph g() -> (y) {\n" + Constants(row.operands) + "  y = " + row.call + "\n}");
  if (!graph.ok()) return graph.status();
  FillDefaults(**graph);
  X2IR_RETURN_IF_ERROR((*graph)->first()->is_ir() ? absl::OkStatus() : Invalid("no IR op"));
  const OpDef* def = FindOp((*graph)->first()->op());
  if (!def) return NotFound("no such op");
  X2IR_RETURN_IF_ERROR(def->Check(*(*graph)->first()));
  X2IR_ASSIGN_OR_RETURN(auto values, EvalConstantNode(*(*graph)->first()));
  return *values[0].tensor();
}

void CheckEval(const std::vector<EvalRow>& rows) {
  for (const EvalRow& row : rows) {
    const auto got = Evaluate(row);
    const std::string what = std::string(row.call) + "\n" + Constants(row.operands);
    if (std::string(row.want).empty()) {
      EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << what << got.status();
      continue;
    }
    ASSERT_TRUE(got.ok()) << what << got.status();
    const auto want = Parse(row.want);
    ASSERT_TRUE(want.ok()) << what << want.status();
    EXPECT_TRUE(Close(*got, *want, row.tolerance)) << what << "got " << Print(*got);
  }
}

constexpr double kUlp = 4e-7;  // a few units of float32

TEST(UnaryTest, Values) {
  CheckEval({
      {"abs(a)", {"float32[4]{-1.5, -0.0, nan, -inf}"}, "float32[4]{1.5, 0.0, nan, inf}"},
      {"abs(a)", {"int8[2]{-128, 5}"}, "int8[2]{-128, 5}"},
      {"abs(a)", {"int64[2]{-9223372036854775808, -3}"}, "int64[2]{-9223372036854775808, 3}"},
      {"neg(a)", {"float32[2]{0.0, inf}"}, "float32[2]{-0.0, -inf}"},
      {"neg(a)", {"int32[2]{-2147483648, 7}"}, "int32[2]{-2147483648, -7}"},
      {"sign(a)", {"float32[4]{-2, -0.0, nan, inf}"}, "float32[4]{-1, 0.0, nan, 1}"},
      {"sign(a)", {"uint8[2]{0, 9}"}, "uint8[2]{0, 1}"},
      {"round(a)",
       {"float32[7]{0.5, 1.5, 2.5, -0.5, -1.5, -2.6, inf}"},
       "float32[7]{0.0, 2, 2, -0.0, -2, -3, inf}"},
      {"floor(a)", {"float16[2]{-1.5, 1.5}"}, "float16[2]{-2, 1}"},
      {"ceil(a)", {"float64[2]{-1.5, 1.5}"}, "float64[2]{-1, 2}"},
      {"sqrt(a)", {"float32[3]{4, -1, 0.0}"}, "float32[3]{2, nan, 0.0}"},
      {"reciprocal(a)", {"float32[3]{4, 0.0, -0.0}"}, "float32[3]{0.25, inf, -inf}"},
      {"exp(a)", {"float32[3]{0.0, -inf, 1000}"}, "float32[3]{1, 0.0, inf}"},
      {"log(a)", {"float32[3]{1, 0.0, -1}"}, "float32[3]{0.0, -inf, nan}"},
      {"erf(a)", {"float32[3]{0.0, inf, 1}"}, "float32[3]{0.0, 1, 0.8427008}", kUlp},
      {"erf(a)", {"int8[5]{-128, -1, 0, 2, 6}"}, "int8[5]{-1, 0, 0, 0, 1}"},
      {"erf(a)", {"uint64[2]{1, 18446744073709551615}"}, "uint64[2]{0, 1}"},
      {"sin(a)", {"float64[1]{1.0}"}, "float64[1]{0.8414709848078965}", 1e-15},
      {"cos(a)", {"float64[1]{1.0}"}, "float64[1]{0.5403023058681398}", 1e-15},
      {"tan(a)", {"float64[1]{1.0}"}, "float64[1]{1.5574077246549023}", 1e-15},
      {"asin(a)", {"float64[2]{0.5, 2}"}, "float64[2]{0.5235987755982989, nan}", 1e-15},
      {"acos(a)", {"float64[1]{0.5}"}, "float64[1]{1.0471975511965979}", 1e-15},
      {"atan(a)", {"float64[1]{1}"}, "float64[1]{0.7853981633974483}", 1e-15},
      {"sinh(a)", {"float64[1]{1}"}, "float64[1]{1.1752011936438014}", 1e-15},
      {"cosh(a)", {"float64[1]{1}"}, "float64[1]{1.543080634815244}", 1e-15},
      {"tanh(a)", {"float32[2]{100, -0.0}"}, "float32[2]{1, -0.0}"},
      {"asinh(a)", {"float64[1]{1}"}, "float64[1]{0.881373587019543}", 1e-15},
      {"acosh(a)", {"float64[1]{2}"}, "float64[1]{1.3169578969248166}", 1e-15},
      {"atanh(a)", {"float64[1]{0.5}"}, "float64[1]{0.5493061443340549}", 1e-15},
      {"not(a)", {"bool[2]{true, false}"}, "bool[2]{false, true}"},
      {"bitwise_not(a)", {"uint8[2]{0, 170}"}, "uint8[2]{255, 85}"},
      {"bitwise_not(a)", {"int64[1]{5}"}, "int64[1]{-6}"},
      {"bitwise_not(a)", {"float32[1]{5}"}, ""},
      {"is_nan(a)", {"float16[3]{nan, inf, 1}"}, "bool[3]{true, false, false}"},
      {"is_inf(a)", {"float32[3]{nan, inf, -inf}"}, "bool[3]{false, true, true}"},
      {"is_inf(a) { detect_negative = 0 }", {"float32[2]{inf, -inf}"}, "bool[2]{true, false}"},
      {"is_inf(a) { detect_positive = 0 }", {"float32[2]{inf, -inf}"}, "bool[2]{false, true}"},
      {"identity(a)", {"string[2]{\"x\", \"y\"}"}, "string[2]{\"x\", \"y\"}"},
      {"tanh(a)", {"float32[0,3]{}"}, "float32[0,3]{}"},
      {"abs(a)", {"float32[]{-2}"}, "float32[]{2}"},
  });
}

TEST(CastTest, Values) {
  CheckEval({
      {"cast(a) { to = \"int32\" }", {"float32[3]{1.9, -1.9, 300}"}, "int32[3]{1, -1, 300}"},
      {"cast(a) { to = \"string\" }", {"int32[2]{1, -5}"}, "string[2]{\"1\", \"-5\"}"},
      {"cast(a) { to = \"float8e4m3fn\", saturate = 0 }",
       {"float32[1]{1e9}"},
       "float8e4m3fn[1]{nan}"},
      {"cast(a) { to = \"float8e8m0\", round_mode = \"down\" }",
       {"float32[1]{3}"},
       "float8e8m0[1]{2}"},
      {"cast(a) { to = \"sofa\" }", {"float32[1]{3}"}, ""},
      {"cast_like(a, b)", {"float32[2]{2.5, 0.0}", "bool[0]{}"}, "bool[2]{true, false}"},
      {"bit_cast(a) { to = \"int32\" }", {"float32[1]{1.0}"}, "int32[1]{1065353216}"},
      {"bit_cast(a) { to = \"int64\" }", {"float32[1]{1.0}"}, ""},
  });
}

TEST(BinaryTest, Values) {
  CheckEval({
      {"complex(a, b)",
       {"float32[2,1]{1, -2}", "float32[2]{3, -0.0}"},
       "complex64[2,2]{(1, 3), (1, -0.0), (-2, 3), (-2, -0.0)}"},
      {"complex(a, b)", {"float64[]{1}", "float64[]{2}"}, "complex128[]{(1, 2)}"},
      {"complex(a, b)", {"float32[]{1}", "float64[]{2}"}, ""},
      {"real(a)", {"complex64[2]{(1, 2), (-0.0, 3)}"}, "float32[2]{1, -0.0}"},
      {"imag(a)", {"complex128[2]{(1, 2), (nan, 3)}"}, "float64[2]{2, 3}"},
      {"imag(a)", {"float32[]{1}"}, ""},
      {"add(a, b)",
       {"float32[2,1]{1, 2}", "float32[3]{10, 20, 30}"},
       "float32[2,3]{11, 21, 31, 12, 22, 32}"},
      {"add(a, b)", {"int8[2]{127, -128}", "int8[]{1}"}, "int8[2]{-128, -127}"},
      {"add(a, b)",
       {"int64[1]{9223372036854775807}", "int64[]{1}"},
       "int64[1]{-9223372036854775808}"},
      {"add(a, b)", {"float32[0,3]{}", "float32[1,3]{1,2,3}"}, "float32[0,3]{}"},
      {"add(a, b)", {"float32[2]{1,2}", "float32[3]{1,2,3}"}, ""},
      {"add(a, b)", {"float32[1]{1}", "int32[1]{1}"}, ""},
      {"sub(a, b)", {"uint8[1]{3}", "uint8[1]{5}"}, "uint8[1]{254}"},
      {"mul(a, b)", {"float16[1]{300}", "float16[1]{300}"}, "float16[1]{inf}"},
      {"mul(a, b)", {"bfloat16[1]{3}", "bfloat16[1]{0.5}"}, "bfloat16[1]{1.5}"},
      {"div(a, b)", {"int32[4]{7, -7, 7, 5}", "int32[4]{2, 2, -2, 0}"}, "int32[4]{3, -3, -3, 0}"},
      {"div(a, b)",
       {"int64[1]{-9223372036854775808}", "int64[1]{-1}"},
       "int64[1]{-9223372036854775808}"},
      {"div(a, b)", {"int32[1]{-2147483648}", "int32[1]{-1}"}, "int32[1]{-2147483648}"},
      {"div(a, b)", {"float32[3]{1, 0.0, -1}", "float32[]{0.0}"}, "float32[3]{inf, nan, -inf}"},
      {"mod(a, b)",
       {"int32[5]{7, -7, 7, -7, 5}", "int32[5]{3, 3, -3, -3, 0}"},
       "int32[5]{1, 2, -2, -1, 0}"},
      {"mod(a, b) { fmod = 1 }",
       {"int32[4]{7, -7, 7, -7}", "int32[4]{3, 3, -3, -3}"},
       "int32[4]{1, -1, 1, -1}"},
      {"mod(a, b) { fmod = 1 }",
       {"float32[3]{7.5, -7.5, 1}", "float32[3]{2, 2, 0.0}"},
       "float32[3]{1.5, -1.5, nan}"},
      {"mod(a, b)", {"float32[2]{-7.5, 7.5}", "float32[2]{2, -2}"}, "float32[2]{0.5, -0.5}"},
      {"mod(a, b)", {"uint64[1]{18446744073709551615}", "uint64[1]{10}"}, "uint64[1]{5}"},
      {"mod(a, b)", {"int64[1]{-9223372036854775808}", "int64[1]{-1}"}, "int64[1]{0}"},
      {"pow(a, b)", {"float32[3]{2, 0.0, 4}", "float32[3]{3, 0.0, 0.5}"}, "float32[3]{8, 1, 2}"},
      {"pow(a, b)", {"float32[2]{2, -2}", "int64[]{3}"}, "float32[2]{8, -8}"},
      {"pow(a, b)", {"int32[4]{3, -2, 1, 2}", "int32[4]{4, 3, -5, -1}"}, "int32[4]{81, -8, 1, 0}"},
      {"pow(a, b)", {"int64[1]{3}", "float32[1]{2}"}, "int64[1]{9}"},
      {"pow(a, b)", {"int64[1]{3}", "int64[1]{39}"}, "int64[1]{4052555153018976267}"},
      {"min(a, b, c)",
       {"float32[2]{1, 5}", "float32[]{3}", "float32[2]{nan, 4}"},
       "float32[2]{nan, 3}"},
      {"max(a, b)", {"float32[2]{1, nan}", "float32[]{3}"}, "float32[2]{3, nan}"},
      {"max(a)", {"int8[2]{1, 2}"}, "int8[2]{1, 2}"},
      {"min(a, b)", {"uint64[1]{18446744073709551615}", "uint64[1]{3}"}, "uint64[1]{3}"},
      {"sum(a, b, c)",
       {"float32[2]{1, 5}", "float32[]{3}", "float32[2]{0.5, 4}"},
       "float32[2]{4.5, 12}"},
      {"mean(a, b)", {"float32[2]{1, 5}", "float32[1]{2}"}, "float32[2]{1.5, 3.5}"},
      {"mean(a)", {"float16[1]{3}"}, "float16[1]{3}"},
      {"bit_shift(a, b) { direction = \"LEFT\" }",
       {"uint8[3]{3, 255, 1}", "uint8[3]{1, 4, 9}"},
       "uint8[3]{6, 240, 0}"},
      {"bit_shift(a, b) { direction = \"RIGHT\" }",
       {"uint64[2]{8, 8}", "uint64[2]{2, 99}"},
       "uint64[2]{2, 0}"},
      {"bit_shift(a, b) { direction = \"UP\" }", {"uint8[1]{3}", "uint8[1]{1}"}, ""},
      {"bitwise_and(a, b)", {"int8[1]{-1}", "int8[1]{6}"}, "int8[1]{6}"},
      {"bitwise_or(a, b)", {"uint8[1]{1}", "uint8[1]{6}"}, "uint8[1]{7}"},
      {"bitwise_xor(a, b)", {"int32[1]{-1}", "int32[1]{6}"}, "int32[1]{-7}"},
  });
}

TEST(CompareTest, Values) {
  CheckEval({
      {"equal(a, b)",
       {"float32[3]{1, nan, -0.0}", "float32[3]{1, nan, 0.0}"},
       "bool[3]{true, false, true}"},
      {"equal(a, b)", {"string[2]{\"x\", \"y\"}", "string[]{\"y\"}"}, "bool[2]{false, true}"},
      {"equal(a, b)", {"bool[2]{true, false}", "bool[]{false}"}, "bool[2]{false, true}"},
      {"equal(a, b)",
       {"uint64[1]{18446744073709551615}", "uint64[1]{18446744073709551614}"},
       "bool[1]{false}"},
      {"greater(a, b)",
       {"int64[2]{9007199254740993, -1}", "int64[2]{9007199254740992, 0}"},
       "bool[2]{true, false}"},
      {"greater_or_equal(a, b)",
       {"float32[2]{nan, 1}", "float32[2]{1, 1}"},
       "bool[2]{false, true}"},
      {"less(a, b)", {"uint64[1]{3}", "uint64[1]{18446744073709551615}"}, "bool[1]{true}"},
      {"less_or_equal(a, b)", {"float16[2]{nan, 1}", "float16[2]{1, 1}"}, "bool[2]{false, true}"},
      {"and(a, b)", {"bool[2]{true, false}", "bool[]{true}"}, "bool[2]{true, false}"},
      {"or(a, b)", {"bool[2]{true, false}", "bool[]{false}"}, "bool[2]{true, false}"},
      {"xor(a, b)", {"bool[2]{true, false}", "bool[]{true}"}, "bool[2]{false, true}"},
      {"and(a, b)", {"int32[1]{1}", "int32[1]{1}"}, ""},
      {"where(a, b, c)",
       {"bool[2,1]{true, false}", "float32[2]{1, 2}", "float32[]{9}"},
       "float32[2,2]{1, 2, 9, 9}"},
      {"where(a, b, c)",
       {"bool[2]{true, false}", "string[2]{\"p\", \"q\"}", "string[]{\"r\"}"},
       "string[2]{\"p\", \"r\"}"},
      {"where(a, b, c)",
       {"bool[2]{true, false}", "int4[2]{-3, 4}", "int4[2]{5, 6}"},
       "int4[2]{-3, 6}"},
      {"where(a, b, c)", {"bool[1]{true}", "int4[1]{-3}", "int8[1]{5}"}, ""},
  });
}

TEST(ActivationTest, Values) {
  CheckEval({
      {"relu(a)", {"float32[4]{-1, 2, nan, -inf}"}, "float32[4]{0.0, 2, nan, 0.0}"},
      {"relu(a)", {"int8[2]{-5, 5}"}, "int8[2]{0, 5}"},
      {"leaky_relu(a) { alpha = 0.5 }", {"float32[2]{-4, 4}"}, "float32[2]{-2, 4}"},
      {"prelu(a, b)",
       {"float32[2,2]{-1, -2, 3, -4}", "float32[2]{0.5, 2}"},
       "float32[2,2]{-0.5, -4, 3, -8}"},
      {"prelu(a, b)", {"float32[2]{1, 2}", "float32[2,2]{1, 2, 3, 4}"}, ""},
      {"prelu(a, b)", {"int32[2]{-3, 3}", "int32[1]{2}"}, "int32[2]{-6, 3}"},
      {"elu(a) { alpha = 2.0 }",
       {"float32[3]{-1, 1, -inf}"},
       "float32[3]{-1.2642411, 1, -2}",
       kUlp},
      {"selu(a)", {"float32[2]{-1, 1}"}, "float32[2]{-1.1113307, 1.050701}", kUlp},
      {"celu(a) { alpha = 2.0 }",
       {"float32[3]{-1, 1, nan}"},
       "float32[3]{-0.7869387, 1, nan}",
       kUlp},
      {"sigmoid(a)",
       {"float32[4]{0.0, 100, -100, 1}"},
       "float32[4]{0.5, 1, 3.783506e-44, 0.7310586}",
       1e-3},
      {"hard_sigmoid(a)", {"float32[4]{0.0, 9, -9, nan}"}, "float32[4]{0.5, 1, 0.0, nan}"},
      {"hard_swish(a)", {"float32[4]{0.0, 3, -3, 1}"}, "float32[4]{0.0, 3, -0.0, 0.6666667}", kUlp},
      {"softplus(a)",
       {"float32[4]{0.0, 1000, -1000, nan}"},
       "float32[4]{0.6931472, 1000, 0.0, nan}",
       kUlp},
      {"softsign(a)", {"float32[2]{-1, 3}"}, "float32[2]{-0.5, 0.75}"},
      {"swish(a) { alpha = 2.0 }",
       {"float32[2]{1, -1}"},
       "float32[2]{0.8807971, -0.11920292}",
       kUlp},
      {"mish(a)", {"float32[2]{1, -1}"}, "float32[2]{0.86509836, -0.30340147}", kUlp},
      {"gelu(a)",
       {"float32[3]{1, -1, -5}"},
       "float32[3]{0.8413447, -0.15865526, -1.4332583e-6}",
       kUlp},
      {"gelu(a) { approximate = \"tanh\" }",
       {"float32[2]{1, -1}"},
       "float32[2]{0.841192, -0.158808}",
       1e-6},
      {"gelu(a) { approximate = \"magic\" }", {"float32[2]{1, -1}"}, ""},
      {"thresholded_relu(a) { alpha = 2.0 }", {"float32[3]{1, 2, 3}"}, "float32[3]{0.0, 0.0, 3}"},
      {"shrink(a) { lambd = 1.5, bias = 1.5 }",
       {"float32[5]{-2, -1, 0.0, 1, 2}"},
       "float32[5]{-0.5, 0.0, 0.0, 0.0, 0.5}"},
      {"shrink(a) { lambd = 1.5, bias = 1.0 }", {"int32[3]{-2, 1, 3}"}, "int32[3]{-1, 0, 2}"},
      {"clip(a, b, c)",
       {"float32[4]{-9, 1, 9, nan}", "float32[]{0.0}", "float32[]{6}"},
       "float32[4]{0.0, 1, 6, nan}"},
      {"clip(a, b, c)", {"float32[1]{1}", "float32[]{5}", "float32[]{2}"}, "float32[1]{2}"},
      {"clip(a, _, b)", {"int8[2]{-5, 9}", "int8[]{3}"}, "int8[2]{-5, 3}"},
      {"clip(a, b)", {"float32[2]{-inf, 9}", "float32[1]{3}"}, "float32[2]{3, 9}"},
      {"clip(a)", {"float32[1]{inf}"}, "float32[1]{inf}"},
      {"clip(a, b)", {"float32[1]{1}", "float32[2]{1, 2}"}, ""},
      {"clip(a, b)", {"float32[1]{1}", "int32[]{1}"}, ""},
      {"dropout(a)", {"float32[2]{1, 2}"}, "float32[2]{1, 2}"},
      {"dropout(a, b, c)",
       {"float32[2]{1, 2}", "float32[]{0.0}", "bool[]{true}"},
       "float32[2]{1, 2}"},
      {"dropout(a, b, c)", {"float32[2]{1, 2}", "float32[]{1.5}", "bool[]{true}"}, ""},
  });
}

TEST(SoftmaxTest, Values) {
  CheckEval({
      {"softmax(a)",
       {"float32[1,3]{1, 2, 3}"},
       "float32[1,3]{0.09003057, 0.24472848, 0.66524094}",
       kUlp},
      {"softmax(a) { axis = 0 }", {"float32[2,2]{1, 5, 1, 5}"}, "float32[2,2]{0.5, 0.5, 0.5, 0.5}"},
      {"softmax(a) { axis = -2 }", {"float32[2,1,2]{1, 5, 1, 5}"}, "float32[2,1,2]{1, 1, 1, 1}"},
      {"softmax(a)", {"float32[2]{1000, 1000}"}, "float32[2]{0.5, 0.5}"},
      {"softmax(a)", {"float32[2]{-inf, 0.0}"}, "float32[2]{0.0, 1}"},
      {"softmax(a)", {"float32[2]{nan, 0.0}"}, "float32[2]{nan, nan}"},
      {"softmax(a) { axis = 2 }", {"float32[2]{1, 0.0}"}, ""},
      {"softmax(a)", {"float32[0,2]{}"}, "float32[0,2]{}"},
      {"softmax(a)", {"float32[2,0]{}"}, "float32[2,0]{}"},
      {"log_softmax(a)",
       {"float32[3]{1, 2, 3}"},
       "float32[3]{-2.407606, -1.407606, -0.40760598}",
       kUlp},
      {"log_softmax(a)", {"float32[2]{0.0, 200}"}, "float32[2]{-200, 0.0}"},
      {"hardmax(a)", {"float32[2,3]{1, 3, 3, 2, 1, 0}"}, "float32[2,3]{0, 1, 0, 1, 0, 0}"},
      {"hardmax(a) { axis = 0 }", {"float32[2,2]{1, 3, 3, 2}"}, "float32[2,2]{0, 1, 1, 0}"},
  });
}

TEST(DropoutTest, Training) {
  auto graph = ParseGraph(R"(graph g() -> (y, m) {
    x: float32[1000]
    r = float32[]{0.25}
    t = bool[]{true}
    y, m = dropout(x, r, t) { seed = 7 }
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  (*graph)->ReplaceConstant((*graph)->Find("x"),
                            Tensor::Of<float>({1000}, std::vector<float>(1000, 3)));
  const auto values = EvalConstantNode(*(*graph)->first());
  ASSERT_TRUE(values.ok()) << values.status();
  const Tensor &y = *(*values)[0].tensor(), &mask = *(*values)[1].tensor();
  int64_t kept = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    kept += mask.AsInt(i);
    EXPECT_EQ(y.AsDouble(i), mask.AsInt(i) ? 4 : 0);
  }
  EXPECT_GT(kept, 650);
  EXPECT_LT(kept, 850);
}

// --- Inference ------------------------------------------------------------------------------

struct InferRow {
  const char* inputs;
  const char* body;
  const char* want;  // the type of y, then " = " and its elements if they are known; "": an error
};

std::string Inferred(const InferRow& row) {
  auto graph = ParseGraph(std::string("graph g(") + row.inputs + ") -> (y) {\n" + row.body + "\n}");
  if (!graph.ok()) return std::string(graph.status().message());
  FillDefaults(**graph);
  if (absl::Status s = InferGraph(**graph); !s.ok()) {
    return s.code() == absl::StatusCode::kInvalidArgument ? "" : s.ToString();
  }
  const Value* y = (*graph)->outputs()[0];
  std::string text = y->type().ToString();
  if (const auto* elements = y->elements()) {
    text += " =";
    for (const Dim& d : *elements) text += " " + d.ToString();
  }
  return text;
}

TEST(InferTest, Types) {
  const InferRow kRows[] = {
      {"x: float32[n,3]", "y = tanh(x)", "float32[n,3]"},
      {"x: float32[...]", "y = relu(x)", "float32[...]"},
      {"x: float32[n,3]", "y = is_nan(x)", "bool[n,3]"},
      {"x: float32[n,3]", "y = cast(x) { to = \"int64\" }", "int64[n,3]"},
      {"x: float32[n,3], t: float16[...]", "y = cast_like(x, t)", "float16[n,3]"},
      {"x: float32[n,3]", "y = bit_cast(x) { to = \"int32\" }", "int32[n,3]"},
      {"x: float32[n,3]", "y = bit_cast(x) { to = \"int8\" }", ""},
      {"x: float32[n,1], z: float32[1,m]", "y = add(x, z)", "float32[n,m]"},
      {"x: float32[n], z: float32[3]", "y = add(x, z)", "float32[3]"},
      {"x: float32[2], z: float32[3]", "y = add(x, z)", ""},
      {"x: float32[2], z: int32[2]", "y = add(x, z)", ""},
      {"x: float32[2], z: int64[]", "y = pow(x, z)", "float32[2]"},
      {"x: float32[n,1], z: float32[m], w: float32[4,1,1]", "y = max(x, z, w)", "float32[4,n,m]"},
      {"x: float32[n], z: float32[n]", "y = less(x, z)", "bool[n]"},
      {"c: bool[n,1], x: float32[4], z: float32[]", "y = where(c, x, z)", "float32[n,4]"},
      {"c: int32[n,1], x: float32[4], z: float32[]", "y = where(c, x, z)", ""},
      {"x: float32[n,4], s: float32[4]", "y = prelu(x, s)", "float32[n,4]"},
      {"x: float32[4], s: float32[2,4]", "y = prelu(x, s)", ""},
      {"x: float32[n,4]", "y = softmax(x) { axis = 1 }", "float32[n,4]"},
      {"x: float32[n,4]", "y = softmax(x) { axis = 2 }", ""},
      {"x: float32[n], lo: float32[2]", "y = clip(x, lo)", ""},
      {"x: float32[n,4]", "_, y = dropout(x)", "bool[n,4]"},
      {"x: float32[n,1], z: float32[m]", "y = complex(x, z)", "complex64[n,m]"},
      {"x: float64[n]", "y = complex(x, x)", "complex128[n]"},
      {"x: float32[n], z: float64[n]", "y = complex(x, z)", ""},
      {"x: complex128[n]", "y = real(x)", "float64[n]"},
      {"x: complex64[n]", "y = imag(x)", "float32[n]"},
      {"x: float32[n]", "y = imag(x)", ""},
  };
  for (const InferRow& row : kRows) EXPECT_EQ(Inferred(row), row.want) << row.body;
}

TEST(InferTest, Elements) {
  // s is the shape of x: [n, 3, m].
  const struct {
    const char* body;
    const char* want;
  } kRows[] = {
      {"y = add(s, s)", "int64[3] = 2*n 6 2*m"},
      {"k = int64[]{2} y = mul(s, k)", "int64[3] = 2*n 6 2*m"},
      {"k = int64[3]{1, 2, 3} y = sub(s, k)", "int64[3] = n-1 1 m-3"},
      {"k = int64[]{2} y = div(s, k)", "int64[3] = floordiv(n, 2) 1 floordiv(m, 2)"},
      {"k = int64[]{2} t = mul(s, k) y = div(t, k)", "int64[3] = n 3 m"},
      // n - 5 may be negative, where division goes the other way than floordiv.
      {"k = int64[]{5} t = sub(s, k) l = int64[]{2} y = div(t, l)", "int64[3] = ? -1 ?"},
      {"k = int64[]{2} y = mod(s, k)", "int64[3] = mod(n, 2) 1 mod(m, 2)"},
      {"y = neg(s)", "int64[3] = -n -3 -m"},
      {"y = abs(s)", "int64[3] = n 3 m"},
      {"y = identity(s)", "int64[3] = n 3 m"},
      {"y = cast(s) { to = \"int32\" }", "int32[3] = n 3 m"},
      {"y = cast(s) { to = \"float32\" }", "float32[3]"},
      {"k = int64[]{1} y = max(s, k)", "int64[3] = max(n, 1) 3 max(m, 1)"},
      {"k = int64[]{-1} y = equal(s, k)", "bool[3] = 0 0 0"},
      {"k = int64[3]{-1, 3, 4} y = equal(s, k)", "bool[3] = 0 1 ?"},
      {"k = int64[3]{-1, 3, 4} e = equal(s, k) y = not(e)", "bool[3] = 1 0 ?"},
      {"k = int64[3]{-1, -1, -1} e = equal(s, k) o = int64[]{1} y = where(e, o, s)",
       "int64[3] = n 3 m"},
      {"c = bool[3]{true, false, true} o = int64[]{1} y = where(c, o, s)", "int64[3] = 1 3 1"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(
        Inferred({"x: float32[n,3,m]", (std::string("s = shape(x)\n") + row.body).c_str(), ""}),
        row.want)
        << row.body;
  }
}

TEST(RegistryTest, EveryOpIsComplete) {
  const char* kOps[] = {"abs",
                        "acos",
                        "acosh",
                        "asin",
                        "asinh",
                        "atan",
                        "atanh",
                        "ceil",
                        "cos",
                        "cosh",
                        "erf",
                        "exp",
                        "floor",
                        "log",
                        "neg",
                        "reciprocal",
                        "round",
                        "sign",
                        "sin",
                        "sinh",
                        "sqrt",
                        "tan",
                        "tanh",
                        "not",
                        "bitwise_not",
                        "is_nan",
                        "is_inf",
                        "identity",
                        "cast",
                        "cast_like",
                        "bit_cast",
                        "add",
                        "sub",
                        "mul",
                        "div",
                        "pow",
                        "mod",
                        "min",
                        "max",
                        "mean",
                        "sum",
                        "bit_shift",
                        "bitwise_and",
                        "bitwise_or",
                        "bitwise_xor",
                        "and",
                        "or",
                        "xor",
                        "equal",
                        "greater",
                        "greater_or_equal",
                        "less",
                        "less_or_equal",
                        "where",
                        "relu",
                        "leaky_relu",
                        "prelu",
                        "elu",
                        "selu",
                        "celu",
                        "sigmoid",
                        "hard_sigmoid",
                        "hard_swish",
                        "hardmax",
                        "softmax",
                        "log_softmax",
                        "softplus",
                        "softsign",
                        "swish",
                        "mish",
                        "gelu",
                        "thresholded_relu",
                        "shrink",
                        "clip",
                        "dropout"};
  for (const char* name : kOps) {
    const OpDef* def = FindOp(name);
    ASSERT_NE(def, nullptr) << name;
    EXPECT_TRUE(def->infer() != nullptr) << name;
    EXPECT_TRUE(def->eval() != nullptr) << name;
    EXPECT_FALSE(def->doc().empty()) << name;
  }
}

}  // namespace
}  // namespace x2ir
