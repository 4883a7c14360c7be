// The elementwise family between ONNX and IR: text in, text out, and the same numbers from
// what an op is lowered to as from the op itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Row {
  int opset;
  const char* inputs;
  const char* onnx;  // the body
  const char* ir;    // the body
};

std::string Graph1(const std::string& inputs, const std::string& body) {
  return "graph g(" + inputs + ") -> (y) {\n" + body + "\n}";
}

// Both directions.
TEST(ElementwiseHandlers, ThereAndBack) {
  const Row kRows[] = {
      {7, "x: float32[2]", "y = onnx.Abs(x)", "y = abs(x)"},
      {28, "x: float32[2]", "y = onnx.Tanh(x)", "y = tanh(x)"},
      {7, "x: float32[2], z: float32[]", "y = onnx.Add(x, z)", "y = add(x, z)"},
      {14, "x: int8[2], z: int8[]", "y = onnx.Mul(x, z)", "y = mul(x, z)"},
      {13, "x: float32[2]", "y = onnx.Cast(x) { to = 7 }",
       "y = cast(x) { to = \"int64\", saturate = 1, round_mode = \"up\" }"},
      {19, "x: float32[2]", "y = onnx.Cast(x) { saturate = 0, to = 17 }",
       "y = cast(x) { to = \"float8e4m3fn\", saturate = 0, round_mode = \"up\" }"},
      {24, "x: float32[2]", "y = onnx.Cast(x) { round_mode = \"down\", to = 24 }",
       "y = cast(x) { to = \"float8e8m0\", saturate = 1, round_mode = \"down\" }"},
      {15, "x: float32[2], z: int32[]", "y = onnx.CastLike(x, z)",
       "y = cast_like(x, z) { saturate = 1, round_mode = \"up\" }"},
      {26, "x: float32[2]", "y = onnx.BitCast(x) { to = 6 }", "y = bit_cast(x) { to = \"int32\" }"},
      {10, "x: float32[2], z: float32[2]", "y = onnx.Mod(x, z) { fmod = 1 }",
       "y = mod(x, z) { fmod = 1 }"},
      {13, "x: int32[2], z: int32[2]", "y = onnx.Mod(x, z)", "y = mod(x, z) { fmod = 0 }"},
      {12, "x: float32[2], z: int64[]", "y = onnx.Pow(x, z)", "y = pow(x, z)"},
      {7, "x: float32[2], z: float32[]", "y = onnx.Pow(x, z)", "y = pow(x, z)"},
      {8, "x: float32[2], z: float32[]", "y = onnx.Max(x, z, x)", "y = max(x, z, x)"},
      {7, "x: float32[n], z: float32[n]", "y = onnx.Sum(x, z)", "y = sum(x, z)"},
      {11, "x: uint8[2], z: uint8[2]", "y = onnx.BitShift(x, z) { direction = \"LEFT\" }",
       "y = bit_shift(x, z) { direction = \"LEFT\" }"},
      {9, "c: bool[2], x: float32[2], z: float32[]", "y = onnx.Where(c, x, z)",
       "y = where(c, x, z)"},
      {12, "x: float32[2], z: float32[]", "y = onnx.GreaterOrEqual(x, z)",
       "y = greater_or_equal(x, z)"},
      {10, "x: float32[2]", "y = onnx.IsInf(x) { detect_negative = 0 }",
       "y = is_inf(x) { detect_negative = 0, detect_positive = 1 }"},
      {7, "x: float32[2]", "y = onnx.LeakyRelu(x)", "y = leaky_relu(x) { alpha = 0.01 }"},
      {16, "x: float32[2]", "y = onnx.LeakyRelu(x) { alpha = 0.5 }",
       "y = leaky_relu(x) { alpha = 0.5 }"},
      {20, "x: float32[2]", "y = onnx.Gelu(x) { approximate = \"tanh\" }",
       "y = gelu(x) { approximate = \"tanh\" }"},
      {24, "x: float32[2]", "y = onnx.Swish(x)", "y = swish(x) { alpha = 1.0 }"},
      {13, "x: float32[2,3]", "y = onnx.Softmax(x)", "y = softmax(x) { axis = -1 }"},
      {13, "x: float32[2,3]", "y = onnx.Softmax(x) { axis = 0 }", "y = softmax(x) { axis = 0 }"},
      // The matrix form is the modern one where only one axis counts.
      {11, "x: float32[2,3]", "y = onnx.Softmax(x)", "y = softmax(x) { axis = 1 }"},
      {9, "x: float32[2,3,1,1]", "y = onnx.LogSoftmax(x)", "y = log_softmax(x) { axis = 1 }"},
      {11, "x: float32[2,3,4]", "y = onnx.Hardmax(x) { axis = 2 }", "y = hardmax(x) { axis = 2 }"},
      {11, "x: float32[...]", "y = onnx.Softmax(x) { axis = -1 }", "y = softmax(x) { axis = -1 }"},
      {11, "x: float32[2], lo: float32[]", "y = onnx.Clip(x, lo)", "y = clip(x, lo)"},
      {13, "x: int32[2], hi: int32[]", "y = onnx.Clip(x, _, hi)", "y = clip(x, _, hi)"},
      // Bounds that are left out are the largest float32 there, which infinities exceed.
      {7, "x: float32[2]", "y = onnx.Clip(x) { min = 0.0 }",
       "y_min = float32[]{0} y_max = float32[]{3.4028235e+38} y = clip(x, y_min, y_max)"},
      {7, "x: float32[2]", "y = onnx.Clip(x) { max = inf, min = -inf }", "y = clip(x)"},
      {7, "x: float32[2]", "y = onnx.Clip(x) { max = 6.0, min = 0.5 }",
       "y_min = float32[]{0.5} y_max = float32[]{6} y = clip(x, y_min, y_max)"},
      {7, "x: float32[2]", "y = onnx.Dropout(x)", "y = dropout(x)"},
      {10, "x: float32[2]", "y = onnx.Dropout(x) { ratio = 0.25 }",
       "y_ratio = float32[]{0.25} y = dropout(x, y_ratio)"},
      {12, "x: float32[2], r: float32[], t: bool[]", "y = onnx.Dropout(x, r, t) { seed = 3 }",
       "y = dropout(x, r, t) { seed = 3 }"},
  };
  for (const Row& row : kRows) {
    const std::string onnx = Graph1(row.inputs, row.onnx), ir = Graph1(row.inputs, row.ir);
    EXPECT_EQ(ToIrText(onnx, row.opset), Canonical(ir)) << row.onnx << " " << row.opset;
    EXPECT_EQ(FromIrText(ir, row.opset), Canonical(onnx)) << row.ir << " " << row.opset;
  }
}

// What a mask holds when nothing is dropped is certain from opset 12 on: older runtimes say false.
TEST(ElementwiseHandlers, OldMaskOfDropout) {
  const std::string ir = "graph g(x: float32[2]) -> (y, m) { y, m = dropout(x) }";
  EXPECT_THAT(FromIrText(ir, 11), Not(HasSubstr("onnx.Dropout")));
  EXPECT_THAT(FromIrText(ir, 12), HasSubstr("onnx.Dropout"));
  const std::string unused = "graph g(x: float32[2]) -> (y) { y, m = dropout(x) }";
  EXPECT_THAT(FromIrText(unused, 11), HasSubstr("onnx.Dropout(x)"));
  EXPECT_THAT(FromIrText(unused, 9), Not(HasSubstr("onnx.Dropout")));
}

TEST(ElementwiseHandlers, MatrixSoftmaxOfSeveralAxes) {
  EXPECT_EQ(ToIrText(Graph1("x: float32[2,3,4]", "y = onnx.Softmax(x)"), 11),
            Canonical(Graph1("x: float32[2,3,4]", R"(
              y_flatten = flatten(x) { axis = 1 }
              y_softmax = softmax(y_flatten) { axis = 1 }
              y_shape = shape(x) { start = 0 }
              y = reshape(y_softmax, y_shape) { allowzero = 0 })")));
}

TEST(ElementwiseHandlers, ClearErrors) {
  const struct {
    bool importing;
    int opset;
    const char* inputs;
    const char* body;
    const char* want;  // a part of the message
  } kRows[] = {
      {true, 11, "x: float32[2]", "y = onnx.Softmax(x) { axis = 3 }", "axis"},
      {true, 11, "x: float32[2]", "y = onnx.Softmax(x) { beta = 3 }", "beta"},
      {true, 7, "x: float32[2]", "m, y = onnx.Dropout(x)", "mask"},
      {true, 13, "x: float32[2]", "y = onnx.Cast(x) { to = 99 }", "element type"},
      {true, 13, "x: float32[2], z: float32[3]", "y = onnx.Add(x, z)", "broadcast"},
      {false, 8, "x: float32[2]", "y = erf(x)", "opset 9"},
      {false, 17, "x: uint8[...], z: uint8[...]", "y = bitwise_and(x, z)", "opset 18"},
      {false, 25, "x: float32[2]", "y = bit_cast(x) { to = \"int32\" }", "opset 26"},
      {false, 8, "c: bool[n], x: float32[n], z: float32[n]", "y = where(c, x, z)", "opset 9"},
      {false, 7, "x: float32[2], t: bool[]", "y = dropout(x, _, t)", "training mode"},
      {false, 7, "x: float32[2], z: float32[]", "y = max(x, z)", "opset 8"},
      {false, 13, "x: float32[2]",
       "y = cast(x) { to = \"float8e5m2\", saturate = 1, round_mode = \"up\" }", "19"},
  };
  for (const auto& row : kRows) {
    const std::string text = Graph1(row.inputs, row.body);
    const std::string got = row.importing ? ToIrText(text, row.opset) : FromIrText(text, row.opset);
    EXPECT_EQ(got.substr(0, 5), "error") << text << got;
    EXPECT_NE(got.find(row.want), std::string::npos) << text << got;
  }
}

// --- Lowerings: the same numbers at every opset that can have them --------------------------

struct LoweringRow {
  const char* inputs;
  const char* ir;           // the body
  const char* x;            // operands that replace the inputs: "a = ... b = ..."
  std::vector<int> opsets;  // to which the graph must go
  double tolerance = 0;
};

std::shared_ptr<Graph> MustParse(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  return graph.ok() ? *std::move(graph) : nullptr;
}

absl::StatusOr<Tensor> RunText(const Model& model, const Graph& operands) {
  std::vector<Datum> inputs;
  for (const Value* input : model.graph->inputs()) {
    const Value* operand = operands.Find(input->name());
    if (!operand) return Invalid("no operand ", input->name());
    inputs.emplace_back(*operand->constant());
  }
  X2IR_ASSIGN_OR_RETURN(auto outputs, RunGraph(*model.graph, std::move(inputs)));
  return *outputs[0].tensor();
}

TEST(ElementwiseLowerings, GiveTheSameNumbers) {
  constexpr double kClose = 1e-5;
  const char* kFloats = "x = float32[8]{-3, -0.5, 0.0, 0.25, 1, 2.5, inf, nan}";
  const std::vector<LoweringRow> rows = {
      {"x: float32[8]",
       "y = gelu(x) { approximate = \"none\" }",
       "x = float32[8]{-3, -0.5, 0.0, 0.25, 1, 2.5, inf, nan}",
       {9, 13, 19, 20},
       kClose},
      {"x: float32[8]",
       "y = gelu(x) { approximate = \"tanh\" }",
       "x = float32[8]{-3, -0.5, 0.0, 0.25, 1, 2.5, inf, nan}",
       {7, 17, 20},
       kClose},
      {"x: float64[3]",
       "y = gelu(x) { approximate = \"tanh\" }",
       "x = float64[3]{-3, 0.5, 2}",
       {7, 17, 20},
       1e-12},
      {"x: float32[8]", "y = mish(x)", kFloats, {7, 17, 18}, kClose},
      {"x: float32[8]", "y = swish(x) { alpha = 1.5 }", kFloats, {7, 23, 24}, kClose},
      {"x: float32[8]", "y = hard_swish(x)", kFloats, {7, 13, 14}, kClose},
      {"x: float32[8]", "y = celu(x) { alpha = 2.0 }", kFloats, {7, 11, 12, 28}, kClose},
      {"x: float64[2]", "y = celu(x) { alpha = 2.0 }", "x = float64[2]{-1, 3}", {13, 28}, 1e-12},
      {"x: float32[8]", "y = thresholded_relu(x) { alpha = 1.0 }", kFloats, {9, 10}},
      {"x: float32[2,3,2]",
       "y = softmax(x) { axis = 1 }",
       "x = float32[2,3,2]{1,2,3,4,5,6,7,8,9,10,11,13}",
       {7, 12, 13},
       kClose},
      {"x: float32[2,3,2]",
       "y = hardmax(x) { axis = 0 }",
       "x = float32[2,3,2]{1,2,3,4,5,6,7,1,9,0,11,13}",
       {7, 12, 13}},
      {"x: float32[9]",
       "y = round(x)",
       "x = float32[9]{-2.5, -1.5, -0.5, 0.5, 0.49999997, 1.5, 2.5, inf, nan}",
       {7, 10, 11}},
      {"x: float32[8]", "y = is_nan(x)", kFloats, {7, 8, 9, 20}},
      {"x: float32[8]",
       "y = is_inf(x) { detect_negative = 1, detect_positive = 1 }",
       kFloats,
       {7, 9, 10, 20}},
      {"x: float16[3]",
       "y = is_inf(x) { detect_negative = 1, detect_positive = 0 }",
       "x = float16[3]{inf, -inf, 65504}",
       {7, 10, 20}},
      {"x: float32[2]",
       "y = is_inf(x) { detect_negative = 0, detect_positive = 0 }",
       "x = float32[2]{inf, 1}",
       {7, 9, 10}},
      {"x: float32[9]",
       "y = sign(x)",
       "x = float32[9]{-3, -0.5, 0.0, 0.25, 1, 2.5, inf, -inf, nan}",
       {7, 9}},
      {"x: float32[4], z: float32[4]",
       "y = greater_or_equal(x, z)",
       "x = float32[4]{1, 2, nan, inf} z = float32[4]{1, 3, 1, inf}",
       {7, 9, 11, 12}},
      {"x: float32[4], z: float32[4]",
       "y = less_or_equal(x, z)",
       "x = float32[4]{1, 2, nan, inf} z = float32[4]{1, 3, 1, inf}",
       {7, 9, 11, 12}},
      {"x: int64[3], z: int64[3]",
       "y = less_or_equal(x, z)",
       "x = int64[3]{1, 2, 3} z = int64[3]{1, 1, 4}",
       {9, 11, 12}},
      {"x: float32[4], z: float32[4]",
       "y = equal(x, z)",
       "x = float32[4]{1, 2, nan, inf} z = float32[4]{1, 3, nan, inf}",
       {7, 8, 9, 11}},
      {"c: bool[3], x: int64[3], z: int64[]",
       "y = where(c, x, z)",
       "c = bool[3]{true, false, true} x = int64[3]{1, 2, 3} z = int64[]{-9}",
       {7, 8, 9}},
      {"c: bool[2], x: bool[2], z: bool[]",
       "y = where(c, x, z)",
       "c = bool[2]{true, false} x = bool[2]{false, false} z = bool[]{true}",
       {7, 9}},
      {"x: float32[4], z: float32[4]",
       "y = mod(x, z) { fmod = 0 }",
       "x = float32[4]{7.5, -7.5, 7.5, -6} z = float32[4]{2, 2, -2, 3}",
       {11, 13}},
      {"x: int64[4]",
       "k = int64[]{-3} y = mod(x, k) { fmod = 0 }",
       "x = int64[4]{7, -7, 6, 0}",
       {7, 9, 10}},
      {"x: int32[4]",
       "k = int32[]{3} y = mod(x, k) { fmod = 1 }",
       "x = int32[4]{7, -7, 6, 0}",
       {7, 9, 10}},
      {"x: int64[4], z: int64[4]",
       "y = mod(x, z) { fmod = 1 }",
       "x = int64[4]{9007199254740993, -7, -9223372036854775808, 5} z = int64[4]{10, 3, -1, 0}",
       {9, 10, 13}},
      {"x: float32[3]", "k = int64[]{3} y = pow(x, k)", "x = float32[3]{-2, 0.0, 3}", {7, 11, 12}},
      {"x: float32[3], k: int16[]",
       "y = pow(x, k)",
       "x = float32[3]{-2, 0.0, 3} k = int16[]{3}",
       {7, 11, 12}},
      {"x: float32[2,1], z: float32[2]",
       "y = sum(x, z)",
       "x = float32[2,1]{1,2} z = float32[2]{3,4}",
       {7, 8}},
      {"x: float32[2,1], z: float32[2]",
       "y = mean(x, z)",
       "x = float32[2,1]{1,2} z = float32[2]{3,4}",
       {7, 8}},
      {"x: float32[2], z: int32[1]",
       "y = cast_like(x, z) { saturate = 1, round_mode = \"up\" }",
       "x = float32[2]{1.5,-2.5} z = int32[1]{0}",
       {7, 14, 15}},
      {"x: float32[4], lo: float32[]",
       "y = clip(x, lo)",
       "x = float32[4]{-1, 2, nan, inf} lo = float32[]{1}",
       {8, 10, 11}},
      {"x: int64[3], hi: int64[]",
       "y = clip(x, _, hi)",
       "x = int64[3]{-1, 2, 9} hi = int64[]{5}",
       {9, 11, 12}},
      {"x: float32[3]",
       "k = float32[]{0.1} y = clip(x, k)",
       "x = float32[3]{-1, inf, 0.05}",
       {7, 10, 11}},
      {"x: float64[3]",
       "k = float64[]{1e300} y = clip(x, _, k)",
       "x = float64[3]{-inf, inf, 1e290}",
       {8, 10, 11}},
  };
  for (const LoweringRow& row : rows) {
    const std::string text = Graph1(row.inputs, row.ir);
    const auto operands = MustParse("graph o() -> () { " + std::string(row.x) + " }");
    auto plain = ModelFromText(text, "", 0);
    ASSERT_TRUE(plain.ok()) << plain.status();
    const auto want = RunText(*plain, *operands);
    ASSERT_TRUE(want.ok()) << text << want.status();
    for (const int opset : row.opsets) {
      auto model = ModelFromText(text, "", 0);
      ASSERT_TRUE(model.ok()) << model.status();
      ExportOptions out;
      out.opset = opset;
      out.optimize = false;
      absl::Status s = FromIr(*model, "onnx", out);
      ASSERT_TRUE(s.ok()) << text << " " << opset << ": " << s;
      s = ToIr(*model);
      ASSERT_TRUE(s.ok()) << text << " " << opset << ": " << s;
      const auto got = RunText(*model, *operands);
      ASSERT_TRUE(got.ok()) << text << " " << opset << ": " << got.status();
      ASSERT_EQ(got->dtype(), want->dtype()) << text << " " << opset;
      ASSERT_EQ(got->dims(), want->dims()) << text << " " << opset;
      for (int64_t i = 0; i < want->num_elements(); ++i) {
        const double x = got->AsDouble(i), y = want->AsDouble(i);
        const bool close = x == y || (std::isnan(x) && std::isnan(y)) ||
                           std::fabs(x - y) <= row.tolerance * std::fmax(1, std::fabs(y));
        EXPECT_TRUE(close) << text << " " << opset << ": element " << i << " is " << x
                           << ", expected " << y;
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
