// Models of opsets 1 to 6 (and old training forms up to 13): their results. The expected numbers
// were worked out by hand from what those opsets say.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/ops/text_eval_util.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Row {
  int opset;
  std::string_view lines;  // of a graph of ONNX ops without inputs
  std::string_view want;   // "error PART": what the message has
  std::string_view outputs = "y";
};

std::string GraphText(std::string_view inputs, std::string_view outputs, std::string_view lines) {
  return "graph g(" + std::string(inputs) + ") -> (" + std::string(outputs) + ") {\n" +
         std::string(lines) + "\n}";
}

void Check(const Row& row) {
  SCOPED_TRACE(testing::Message() << "at opset " << row.opset);
  const std::string ir = ToIrText(GraphText("", row.outputs, row.lines), row.opset);
  ExpectText(ir.substr(0, 6) == "error:" ? ir : EvalText(Body(ir), row.outputs), row.want,
             row.lines);
}

#define A_2_3_2 "a = float32[2,3,2]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}\n "

// One idea for all ops of two operands.
TEST(Legacy, AxisBroadcast) {
  const Row rows[] = {
      // The end, where no axis is given.
      {6, A_2_3_2 "b = float32[2]{10, 20}\n y = onnx.Add(a, b) { broadcast = 1 }",
       "float32[2,3,2]{10, 21, 12, 23, 14, 25, 16, 27, 18, 29, 20, 31}"},
      {1,
       A_2_3_2 "b = float32[3,2]{1, 2, 3, 4, 5, 6}\n y = onnx.Sub(a, b) { broadcast = 1, "
               "consumed_inputs = [0, 0] }",
       "float32[2,3,2]{-1, -1, -1, -1, -1, -1, 5, 5, 5, 5, 5, 5}"},
      // At an axis.
      {6, A_2_3_2 "b = float32[2]{10, 20}\n y = onnx.Mul(a, b) { axis = 0, broadcast = 1 }",
       "float32[2,3,2]{0, 10, 20, 30, 40, 50, 120, 140, 160, 180, 200, 220}"},
      {5, A_2_3_2 "b = float32[3]{1, 2, 4}\n y = onnx.Div(a, b) { axis = 1, broadcast = 1 }",
       "float32[2,3,2]{0, 1, 1, 1.5, 1, 1.25, 6, 7, 4, 4.5, 2.5, 2.75}"},
      {6, A_2_3_2 "b = float32[3]{1, 2, 4}\n y = onnx.Div(a, b) { axis = -2, broadcast = 1 }",
       "float32[2,3,2]{0, 1, 1, 1.5, 1, 1.25, 6, 7, 4, 4.5, 2.5, 2.75}"},
      {6,
       A_2_3_2 "b = float32[2,3]{0, 10, 20, 30, 40, 50}\n "
               "y = onnx.Add(a, b) { axis = 0, broadcast = 1 }",
       "float32[2,3,2]{0, 1, 12, 13, 24, 25, 36, 37, 48, 49, 60, 61}"},
      // One element, of any rank that fits, whatever the axis.
      {6, "a = int32[3]{1, 2, 3}\n b = int32[]{2}\n y = onnx.Mul(a, b) { broadcast = 1 }",
       "int32[3]{2, 4, 6}"},
      {6,
       "a = int64[1,2]{1, 2}\n b = int64[1,1]{2}\n y = onnx.Add(a, b) { axis = 1, broadcast = 1 }",
       "int64[1,2]{3, 4}"},
      // Without broadcast the shapes are the same.
      {6, "a = float32[2]{1, 2}\n b = float32[2]{3, 4}\n y = onnx.Add(a, b)", "float32[2]{4, 6}"},
      {6, "a = float32[0,2]{}\n b = float32[2]{3, 4}\n y = onnx.Add(a, b) { broadcast = 1 }",
       "float32[0,2]{}"},
      {6, "a = float32[2]{1, 2}\n b = float32[1]{3}\n y = onnx.Add(a, b)", "error one shape"},
      {6, "a = float32[2]{1, 2}\n b = float32[]{3}\n y = onnx.Add(a, b) { broadcast = 0 }",
       "error one shape"},
      // Operand 0 never grows.
      {6, "a = float32[2]{1, 2}\n b = float32[1,1]{3}\n y = onnx.Add(a, b) { broadcast = 1 }",
       "error rank 2"},
      {6, "a = float32[2,1]{1, 2}\n b = float32[3]{3, 4, 5}\n y = onnx.Add(a, b) { broadcast = 1 }",
       "error fit"},
      {6, A_2_3_2 "b = float32[2]{1, 2}\n y = onnx.Add(a, b) { axis = 1, broadcast = 1 }",
       "error fit"},
      {6, A_2_3_2 "b = float32[2]{1, 2}\n y = onnx.Add(a, b) { axis = 3, broadcast = 1 }",
       "error axis 3"},
      {6, A_2_3_2 "b = float32[2]{1, 2}\n y = onnx.Add(a, b) { axis = -4, broadcast = 1 }",
       "error axis -4"},
      // The other ops.
      {1,
       "a = float32[2,2]{1, 2, 3, 4}\n b = float32[2]{2, 3}\n "
       "y = onnx.Pow(a, b) { axis = 0, broadcast = 1 }",
       "float32[2,2]{1, 4, 27, 64}"},
      {1,
       "a = bool[2,2]{true, false, true, false}\n b = bool[2]{true, false}\n "
       "y = onnx.And(a, b) { axis = 0, broadcast = 1 }\n "
       "z = onnx.Or(a, b) { axis = 0, broadcast = 1 }\n "
       "w = onnx.Xor(a, b) { axis = 0, broadcast = 1 }",
       "bool[2,2]{true, false, false, false}; bool[2,2]{true, true, true, false}; "
       "bool[2,2]{false, true, true, false}",
       "y, z, w"},
      {1,
       "a = int32[2,2]{1, 2, 3, 4}\n b = int32[2]{1, 4}\n "
       "y = onnx.Equal(a, b) { axis = 0, broadcast = 1 }",
       "bool[2,2]{true, false, false, true}"},
      {1,
       "a = float32[2,2]{1, 2, 3, 4}\n b = float32[2]{1, 4}\n "
       "y = onnx.Greater(a, b) { axis = 0, broadcast = 1 }\n "
       "z = onnx.Less(a, b) { axis = 0, broadcast = 1 }",
       "bool[2,2]{false, true, false, false}; bool[2,2]{false, false, true, false}", "y, z"},
  };
  for (const Row& row : rows) Check(row);
}

TEST(Legacy, Results) {
  const Row rows[] = {
      // Elementwise: consumed_inputs is dropped.
      {1,
       "x = float32[2]{-1, 4}\n a = onnx.Abs(x) { consumed_inputs = [1] }\n "
       "b = onnx.Sqrt(a)\n y = onnx.Neg(b)",
       "float32[2]{-1, -2}"},
      {5,
       "x = float32[3]{-2.5, 0.5, 2}\n a = onnx.Ceil(x)\n b = onnx.Floor(x)\n "
       "c = onnx.Reciprocal(x)\n d = onnx.Relu(x) { consumed_inputs = [0] }",
       "float32[3]{-2, 1, 2}; float32[3]{-3, 0, 2}; float32[3]{-0.4, 2, 0.5}; "
       "float32[3]{0, 0.5, 2}",
       "a, b, c, d"},
      {1,
       "x = float32[1]{0}\n a = onnx.Exp(x)\n b = onnx.Log(a)\n c = onnx.Tanh(x)\n "
       "d = onnx.Sigmoid(x)",
       "float32[1]{1}; float32[1]{0}; float32[1]{0}; float32[1]{0.5}", "a, b, c, d"},
      {1,
       "x = float32[2]{-1, 2}\n a = onnx.LeakyRelu(x) { alpha = 0.5 }\n "
       "b = onnx.HardSigmoid(x) { alpha = 0.25 }\n c = onnx.Elu(x) { alpha = 0.0 }",
       "float32[2]{-0.5, 2}; float32[2]{0.25, 1}; float32[2]{-0, 2}", "a, b, c"},
      // The first Selu has other constants: 2 * 1.0507, against 1.050701.
      {1, "x = float32[1]{2}\n y = onnx.Selu(x)", "float32[1]{2.1014}"},
      {1,
       "x = float32[3]{-3, 0, 3}\n y = onnx.Clip(x) { max = 2.0, min = -1.0 }\n "
       "z = onnx.Clip(x) { max = 1.0 }",
       "float32[3]{-1, 0, 2}; float32[3]{-3, 0, 1}", "y, z"},
      {1,
       "x = float32[2]{-1.5, 2}\n y = onnx.Cast(x) { to = \"INT32\" }\n "
       "z = onnx.Cast(x) { to = \"DOUBLE\" }",
       "int32[2]{-1, 2}; float64[2]{-1.5, 2}", "y, z"},
      {1, "x = float32[1]{1}\n y = onnx.Cast(x) { to = \"int32\" }", "error 'to'"},
      // What today's forms read as well.
      {1,
       "x = float32[2,1,2]{1, 2, 3, 4}\n a = onnx.Flatten(x)\n b = onnx.Squeeze(x) { axes = [1] "
       "}\n "
       "c = onnx.Unsqueeze(b) { axes = [0] }\n d = onnx.Transpose(b)",
       "float32[2,2]{1, 2, 3, 4}; float32[2,2]{1, 2, 3, 4}; float32[1,2,2]{1, 2, 3, 4}; "
       "float32[2,2]{1, 3, 2, 4}",
       "a, b, c, d"},
      {1,
       "x = float32[2,2]{1, 2, 4, 3}\n a = onnx.ArgMax(x) { axis = 1, keepdims = 0 }\n "
       "b = onnx.ReduceSum(x) { axes = [0] }\n c = onnx.Softmax(x)\n d = onnx.Hardmax(x)",
       "int64[2]{1, 0}; float32[1,2]{5, 5}; float32[2,2]{0.26894143, 0.7310586, 0.7310586, "
       "0.26894143}; float32[2,2]{0, 1, 1, 0}",
       "a, b, c, d"},
      {1,
       "x = float32[2,2]{1, 2, 4, 3}\n i = int32[1]{1}\n a = onnx.Gather(x, i) { axis = 1 }\n "
       "b = onnx.MatMul(x, x)\n c = onnx.Shape(x)\n d = onnx.Size(x)",
       "float32[2,1]{2, 3}; float32[2,2]{9, 8, 16, 17}; int64[2]{2, 2}; int64[]{4}", "a, b, c, d"},
      {1,
       "x = float32[1,1,1,1]{4}\n a = onnx.LRN(x) { alpha = 0.0, bias = 4.0, beta = 0.5, size = 1 "
       "}\n "
       "b = onnx.GlobalMaxPool(x)\n c = onnx.Softsign(x)\n d = onnx.LpNormalization(x)",
       "float32[1,1,1,1]{2}; float32[1,1,1,1]{4}; float32[1,1,1,1]{0.8}; float32[1,1,1,1]{1}",
       "a, b, c, d"},
      {1, "y = onnx.Constant() { value = tensor(float32[1]{3}) }", "float32[1]{3}"},
      {1, "x = int32[1]{3}\n y = onnx.Abs(x)", "error may not be int32"},
      // No broadcast yet.
      {1,
       "a = float32[2]{1, 4}\n b = float32[2]{3, 2}\n x = onnx.Max(a, b)\n "
       "y = onnx.Min(a, b) { consumed_inputs = [0, 0] }\n z = onnx.Sum(a, b)\n "
       "w = onnx.Mean(a, b)",
       "float32[2]{3, 4}; float32[2]{1, 2}; float32[2]{4, 6}; float32[2]{2, 3}", "x, y, z, w"},
      {6, "a = float32[2]{1, 4}\n b = float32[1]{3}\n y = onnx.Sum(a, b)", "error one shape"},
      // One slope, or one a channel.
      {6, "x = float32[1,2,2]{-1, 1, -2, -3}\n s = float32[2]{10, 100}\n y = onnx.PRelu(x, s)",
       "float32[1,2,2]{-10, 1, -200, -300}"},
      {1, "x = float32[1,2,2]{-1, 1, -2, -3}\n s = float32[1]{10}\n y = onnx.PRelu(x, s)",
       "float32[1,2,2]{-10, 1, -20, -30}"},
      {6, "x = float32[2,2]{-1, -1, -2, -3}\n s = float32[2]{10, 100}\n y = onnx.PRelu(x, s)",
       "float32[2,2]{-10, -100, -20, -300}"},
      {6,
       "x = float32[1,2,3]{-1, 1, -2, -3, 0, 0}\n s = float32[3]{1, 2, 3}\n "
       "y = onnx.PRelu(x, s)",
       "error 3 slopes"},
      // Matrices.
      {6,
       "a = float32[1,2]{1, 2}\n b = float32[2,2]{1, 2, 3, 4}\n c = float32[2]{10, 20}\n "
       "y = onnx.Gemm(a, b, c) { broadcast = 1 }",
       "float32[1,2]{17, 30}"},
      {1,
       "a = float32[2,1]{1, 2}\n b = float32[2,2]{1, 2, 3, 4}\n c = float32[1,2]{10, 20}\n "
       "y = onnx.Gemm(a, b, c) { beta = 0.5, transA = 1, transB = 1 }",
       "float32[1,2]{10, 21}"},
      {6,
       "a = float32[1,2]{1, 2}\n b = float32[2,2]{1, 2, 3, 4}\n c = float32[2]{10, 20}\n "
       "y = onnx.Gemm(a, b, c)",
       "error broadcast = 1"},
      // Shapes.
      {4, "x = float32[2,2]{1, 2, 3, 4}\n y = onnx.Reshape(x) { shape = [0, 1, -1] }",
       "float32[2,1,2]{1, 2, 3, 4}"},
      {1, "x = float32[2]{1, 2}\n y = onnx.Reshape(x)", "error shape"},
      {1, "a = float32[1,2]{1, 2}\n b = float32[1,1]{3}\n y = onnx.Concat(a, b)",
       "float32[1,3]{1, 2, 3}"},
      {3, "a = float32[1,1]{1}\n b = float32[1,1]{3}\n y = onnx.Concat(a, b) { axis = 0 }",
       "float32[2,1]{1, 3}"},
      {1,
       "x = float32[1,2]{1, 2}\n t = float32[]{2}\n a = float32[1]{1}\n "
       "y = onnx.Tile(x, t, a)",
       "float32[1,4]{1, 2, 1, 2}"},
      {1,
       "x = float32[1,2]{1, 2}\n t = float32[]{1.5}\n a = float32[1]{1}\n "
       "y = onnx.Tile(x, t, a)",
       "error whole"},
      {1, "x = float32[1,2]{1, 2}\n t = float32[]{2}\n a = float32[]{2}\n y = onnx.Tile(x, t, a)",
       "error axis"},
      {1, "x = float32[3]{1, 2, 3}\n s = float32[2]{1, 2}\n y, z = onnx.Split(x, s) { axis = 0 }",
       "float32[1]{1}; float32[2]{2, 3}", "y, z"},
      {1, "x = float32[3]{1, 2, 3}\n y, z = onnx.Split(x) { axis = 0, split = [2, 1] }",
       "float32[2]{1, 2}; float32[1]{3}", "y, z"},
      {1, "x = float32[2]{1, 2}\n y, z = onnx.Split(x) { axis = 0 }",
       "float32[1]{1}; float32[1]{2}", "y, z"},
      {1, "x = float32[2]{1, 2}\n y, z = onnx.Split(x)", "error axis", "y, z"},
      {2, "x = float32[2]{1, 2}\n y, z = onnx.Split(x)", "float32[1]{1}; float32[1]{2}", "y, z"},
      {1, "x = float32[1,2]{1, 2}\n y = onnx.Pad(x) { paddings = [0, 1, 0, 2], value = 9.0 }",
       "float32[1,5]{9, 1, 2, 9, 9}"},
      {1, "x = float32[1,3]{1, 2, 3}\n y = onnx.Slice(x) { axes = [1], ends = [-1], starts = [1] }",
       "float32[1,1]{2}"},
      {1, "x = float32[3]{1, 3, 2}\n y, i = onnx.TopK(x) { k = 2 }",
       "float32[2]{3, 2}; int64[2]{1, 2}", "y, i"},
      // Images.
      {6,
       "x = float32[1,1,1,2]{1, 2}\n y = onnx.Upsample(x) { height_scale = 2.0, "
       "width_scale = 2.0 }",
       "float32[1,1,2,4]{1, 1, 2, 2, 1, 1, 2, 2}"},
      {1,
       "x = float32[1,1,1,2]{1, 3}\n y = onnx.Upsample(x) { height_scale = 1.0, "
       "mode = \"bilinear\", width_scale = 2.0 }",
       "float32[1,1,1,4]{1, 2, 3, 3}"},
      {1,
       "x = float32[1,1,1,2]{1, 3}\n y = onnx.Upsample(x) { height_scale = 0.5, "
       "width_scale = 2.0 }",
       "error scales"},
      {1,
       "x = float32[1,1,1,2]{3, -4}\n y = onnx.LpPool(x) { kernel_shape = [1, 2], p = 2.0 }\n "
       "z = onnx.GlobalLpPool(x) { p = 1.0 }",
       "float32[1,1,1,1]{5}; float32[1,1,1,1]{7}", "y, z"},
      {1, "x = float32[1,1,1,2]{3, -4}\n y = onnx.GlobalLpPool(x) { p = 1.5 }", "error whole"},
      {1, "x = float32[1,1,1,2]{3, -4}\n y = onnx.LpPool(x)", "error kernel_shape"},
      {1,
       "x = float32[1,1,1,2]{1, 3}\n y = onnx.MaxPool(x) { kernel_shape = [1, 2] }\n "
       "z = onnx.AveragePool(x) { kernel_shape = [1, 2] }",
       "float32[1,1,1,1]{3}; float32[1,1,1,1]{2}", "y, z"},
      {1,
       "x = float32[1,1,2]{-1, 1}\n s = float32[1]{2}\n b = float32[1]{5}\n "
       "y = onnx.InstanceNormalization(x, s, b) { consumed_inputs = [0, 0, 0], epsilon = 0.0 }",
       "float32[1,1,2]{3, 7}"},
      // Recurrent: w = 1, r = 0, and the activations of the time.
      {1,
       "x = float32[2,1,1]{0.5, 2}\n w = float32[1,1,1]{1}\n r = float32[1,1,1]{0}\n "
       "y, h = onnx.RNN(x, w, r) { activations = [\"Relu\"], hidden_size = 1, "
       "output_sequence = 1 }",
       "float32[2,1,1,1]{0.5, 2}; float32[1,1,1]{2}", "y, h"},
      // The update gate is sigmoid(0) = 0.5, the new state x: h = 0.5 * x + 0.5 * h.
      {1,
       "x = float32[2,1,1]{1, 2}\n w = float32[1,3,1]{0, 0, 1}\n r = float32[1,3,1]{0, 0, 0}\n "
       "y, h = onnx.GRU(x, w, r) { activations = [\"Sigmoid\", \"Relu\"], hidden_size = 1 }",
       "float32[2,1,1,1]{0.5, 1.25}; float32[1,1,1]{1.25}", "y, h"},
      // All gates are 0.5: c = 0.5 * x + 0.5 * c, h = 0.5 * c.
      {1,
       "x = float32[2,1,1]{1, 2}\n w = float32[1,4,1]{0, 0, 0, 1}\n "
       "r = float32[1,4,1]{0, 0, 0, 0}\n y, h, c = onnx.LSTM(x, w, r) "
       "{ activations = [\"Sigmoid\", \"Relu\", \"Relu\"], hidden_size = 1, "
       "output_sequence = 0 }",
       "float32[2,1,1,1]{0.25, 0.625}; float32[1,1,1]{0.625}; float32[1,1,1]{1.25}", "y, h, c"},
  };
  for (const Row& row : rows) Check(row);
}

// x holds -1 and 1 in channel 0 (mean 0, variance 1), 1 and 5 in channel 1 (3 and 4).
#define BATCH                                                                         \
  "x = float32[2,2,1]{-1, 1, 1, 5}\n s = float32[2]{1, 2}\n b = float32[2]{0, 10}\n " \
  "m = float32[2]{1, 1}\n v = float32[2]{4, 4}\n "

TEST(Legacy, Training) {
  const Row rows[] = {
      {6, BATCH "y = onnx.BatchNormalization(x, s, b, m, v) { epsilon = 0.0, is_test = 1 }",
       "float32[2,2,1]{-1, 10, 0, 14}"},
      {1,
       BATCH "y = onnx.BatchNormalization(x, s, b, m, v) { consumed_inputs = [0, 0, 0, 1, 1], "
             "epsilon = 0.0, is_test = 1 }",
       "float32[2,2,1]{-1, 10, 0, 14}"},
      {6, BATCH "y = onnx.BatchNormalization(x, s, b, m, v) { epsilon = 0.0 }",
       "float32[2,2,1]{-1, 8, 1, 12}"},
      {6,
       BATCH "y, rm, rv, sm, sv = onnx.BatchNormalization(x, s, b, m, v) "
             "{ epsilon = 0.0, momentum = 0.5 }",
       "float32[2,2,1]{-1, 8, 1, 12}; float32[2]{0.5, 2}; float32[2]{2.5, 4}; float32[2]{0, 3}; "
       "float32[2]{1, 4}",
       "y, rm, rv, sm, sv"},
      {9,
       BATCH "y, rm, rv, sm, sv = onnx.BatchNormalization(x, s, b, m, v) "
             "{ epsilon = 0.0, momentum = 0.5 }",
       "float32[2,2,1]{-1, 8, 1, 12}; float32[2]{0.5, 2}; float32[2]{2.5, 4}; float32[2]{0, 3}; "
       "float32[2]{1, 4}",
       "y, rm, rv, sm, sv"},
      {9, BATCH "y = onnx.BatchNormalization(x, s, b, m, v) { epsilon = 0.0 }",
       "float32[2,2,1]{-1, 10, 0, 14}"},
      {6, BATCH "y, rm = onnx.BatchNormalization(x, s, b, m, v) { is_test = 1 }", "error is_test",
       "y, rm"},
      // Statistics for each element of an image.
      {7,
       "x = float32[1,1,2]{3, 5}\n s = float32[1,2]{1, 2}\n b = float32[1,2]{0, 10}\n "
       "m = float32[1,2]{1, 1}\n v = float32[1,2]{4, 4}\n "
       "y = onnx.BatchNormalization(x, s, b, m, v) { epsilon = 0.0, spatial = 0 }",
       "float32[1,1,2]{1, 14}"},
      {7,
       "x = float32[2,1,2]{-1, 1, 1, 5}\n s = float32[1,2]{1, 2}\n b = float32[1,2]{0, 10}\n "
       "m = float32[1,2]{1, 1}\n v = float32[1,2]{4, 4}\n "
       "y, rm, rv, sm, sv = onnx.BatchNormalization(x, s, b, m, v) "
       "{ epsilon = 0.0, momentum = 0.5, spatial = 0 }",
       "float32[2,1,2]{-1, 8, 1, 12}; float32[1,2]{0.5, 2}; float32[1,2]{2.5, 4}; "
       "float32[1,2]{0, 3}; float32[1,2]{1, 4}",
       "y, rm, rv, sm, sv"},
      {14,
       BATCH "y, rm, rv = onnx.BatchNormalization(x, s, b, m, v) "
             "{ epsilon = 0.0, momentum = 0.5, training_mode = 1 }",
       "float32[2,2,1]{-1, 8, 1, 12}; float32[2]{0.5, 2}; float32[2]{2.5, 4}", "y, rm, rv"},
      {6, "x = float32[2]{1, 2}\n y = onnx.Dropout(x) { is_test = 1 }", "float32[2]{1, 2}"},
      {1, "x = float32[2]{1, 2}\n y, m = onnx.Dropout(x) { ratio = 0.0 }",
       "float32[2]{1, 2}; float32[2]{1, 1}", "y, m"},
      {6, "x = float32[2]{1, 2}\n y, m = onnx.Dropout(x) { is_test = 1 }", "error mask", "y, m"},
  };
  for (const Row& row : rows) Check(row);
}

// Nodes that are no nodes of those opsets are errors.
TEST(Legacy, Malformed) {
  const std::string_view lines[] = {
      "y = onnx.Add(x, _)",
      "y = onnx.Add(_, x)",
      "y = onnx.Add(x)",
      "y = onnx.Add(x, x) { axis = 1.5, broadcast = 1 }",
      "y = onnx.Add(x, x) { broadcast = \"yes\" }",
      "y = onnx.Add(x, x) { axis = 9223372036854775807, broadcast = 1 }",
      "y = onnx.Add(x, x) { axis = -9223372036854775808, broadcast = 1 }",
      "y = onnx.PRelu(_, x)",
      "y = onnx.PRelu(x, _)",
      "y = onnx.Gemm(x, x, _)",
      "y = onnx.Gemm(x, x)",
      "y = onnx.BatchNormalization(x, _, _, _, _)  { consumed_inputs = [0] }",
      "y = onnx.BatchNormalization(_, x, x, x, x)  { consumed_inputs = [0], spatial = 0 }",
      "y = onnx.BatchNormalization(x, x, x, x)  { consumed_inputs = [0] }",
      "y = onnx.BatchNormalization(x, x, x, x, x)",
      "y = onnx.Dropout(_)",
      "y = onnx.Dropout(x) { ratio = 1 }",
      "y = onnx.Dropout(x) { is_test = 0.5 }",
      "y = onnx.Tile(x, _, _)",
      "y = onnx.Tile(_, x, x)",
      "y = onnx.Tile(x, x, x)",
      "y = onnx.Split(_) { axis = 0 }",
      "y = onnx.Split(x, x) { axis = 0, split = [1] }",
      "y = onnx.Split(x) { axis = \"0\" }",
      "y = onnx.Split(x) { axis = 7 }",
      "y = onnx.Upsample(x) { height_scale = 1, width_scale = 1.0 }",
      "y = onnx.Upsample(x) { height_scale = nan, width_scale = 1.0 }",
      "y = onnx.Upsample(x) { height_scale = 1.0, mode = \"cubic\", width_scale = 1.0 }",
      "y = onnx.Upsample(x) { height_scale = 1.0, width_scale = 1.0 }",
      "y = onnx.LpPool(x) { kernel_shape = [1], p = nan }",
      "y = onnx.LpPool(x) { kernel_shape = [1], p = 1e30 }",
      "y = onnx.Cast(x) { to = 1 }",
      "y = onnx.Pad(x) { mode = \"wrap\", paddings = [0, 0] }",
      "y = onnx.Pad(x) { paddings = [0] }",
      "y = onnx.RandomNormal() { shape = [-1] }",
      "y = onnx.RandomNormal() { dtype = 7, shape = [1] }",
      "y = onnx.RandomUniform()",
      "y = onnx.MaxRoiPool(x, x) { pooled_shape = [1, 1] }",
      "y = onnx.Multinomial(x)",
  };
  for (const std::string_view line : lines) {
    EXPECT_THAT(ToIrText(GraphText("x: float32[2]", "y", line), 1), HasSubstr("error: ")) << line;
  }
}

// What is known only at run time.
TEST(Legacy, Symbolic) {
  struct SymbolicRow {
    int opset;
    std::string_view inputs, onnx, ir;
  };
  const SymbolicRow rows[] = {
      {6, "a: float32[n,c,h], b: float32[c]", "y = onnx.Add(a, b) { axis = 1, broadcast = 1 }",
       "y_axes = int64[1]{1}\n y_unsqueeze = unsqueeze(b, y_axes)\n y = add(a, y_unsqueeze)"},
      {6, "a: float32[...], b: float32[c]", "y = onnx.Add(a, b) { broadcast = 1 }",
       "y = add(a, b)"},
      {6, "a: float32[n,2], b: float32[...]", "y = onnx.Add(a, b)", "y = add(a, b)"},
      {6, "x: float32[n,c,h], s: float32[c]", "y = onnx.PRelu(x, s)",
       "y_axes = int64[1]{1}\n y_unsqueeze = unsqueeze(s, y_axes)\n y = prelu(x, y_unsqueeze)"},
      {6, "x: float32[...], s: float32[1]", "y = onnx.PRelu(x, s)", "y = prelu(x, s)"},
      // Training that old opsets switched on by default.
      {6, "x: float32[n]", "y = onnx.Dropout(x) { ratio = 0.25 }",
       "y_ratio = float32[]{0.25}\n y_training_mode = bool[]{true}\n "
       "y = dropout(x, y_ratio, y_training_mode)"},
  };
  for (const SymbolicRow& row : rows) {
    EXPECT_EQ(Body(ToIrText(GraphText(row.inputs, "y", row.onnx), row.opset)),
              Body(Canonical(GraphText(row.inputs, "y", row.ir))))
        << row.onnx;
  }
  EXPECT_THAT(ToIrText(GraphText("a: float32[...], b: float32[c]", "y",
                                 "y = onnx.Add(a, b) { axis = 1, broadcast = 1 }"),
                       6),
              HasSubstr("unknown rank"));
  // An output that nobody asks for does no harm.
  EXPECT_THAT(ToIrText(GraphText("x: float32[2]", "y", "y, m = onnx.Dropout(x)"), 7),
              Not(HasSubstr("error")));
}

}  // namespace
}  // namespace x2ir
