// Graphs of the IR, and the ops of TensorFlow and TensorFlow.js that are written for them: one in
// place of several, where that is the same. tests/conformance/tf_back_test.cc and
// tfjs_back_test.cc check the numbers.
#include "x2ir/handlers/tf/fuse.h"

#include <set>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

struct FuseRow {
  std::string_view inputs, nodes;  // the last node makes y
  std::multiset<std::string> ops;  // all that are written
};

void ExpectTfOps(const FuseRow& row, const std::string& dialect) {
  SCOPED_TRACE(StrCat(dialect, ": ", row.nodes));
  auto graph = ParseGraph(StrCat("graph g(", row.inputs, ") -> (y) {\n", row.nodes, "\n}"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  Model model;
  model.graph = *std::move(graph);
  ExportOptions options;
  options.optimize = false;
  ASSERT_TRUE(FromIr(model, dialect, options).ok()) << FromIr(model, dialect, options);
  std::multiset<std::string> found;
  for (const Node* node : model.graph->nodes()) found.insert(node->op().str());
  EXPECT_EQ(found, row.ops) << ToText(*model.graph);
}

TEST(TfFuse, OneOpForSeveral) {
  const FuseRow rows[] = {
      {"a: float32[2,3], b: float32[2,3]",
       "i = int64[1]{1} p = unsqueeze(a, i) q = unsqueeze(b, i) y = concat(p, q) { axis = 1 }",
       {"Pack"}},
      {"a: float32[], b: float32[]",
       "i = int64[1]{0} c = float32[1]{3} p = unsqueeze(a, i) y = concat(p, c) { axis = 0 }",
       {"Pack"}},
      // Along another axis than the new one.
      {"a: float32[2,3], b: float32[2,3]",
       "i = int64[1]{1} p = unsqueeze(a, i) q = unsqueeze(b, i) y = concat(p, q) { axis = 0 }",
       {"ConcatV2", "ExpandDims", "ExpandDims"}},
      {"x: float32[2,3]",
       "i = int64[1]{1} p, q, r = split(x) { axis = 1 } s = squeeze(p, i) t = squeeze(q, i) "
       "u = squeeze(r, i) v = add(s, t) y = add(u, v)",
       {"AddV2", "AddV2", "Unpack"}},
      // Parts of two.
      {"x: float32[2,4]", "p, q = split(x) { axis = 1 } y = add(p, q)", {"AddV2", "SplitV"}},
      {"x: float32[3]", "c = float32[]{1} s = sqrt(x) y = div(c, s)", {"Rsqrt"}},
      {"x: float32[3]", "c = float32[]{2} s = sqrt(x) y = div(c, s)", {"RealDiv", "Sqrt"}},
      {"x: float32[3]",
       "s = sqrt(x) r = reciprocal(s) y = add(r, s)",
       {"AddV2", "Reciprocal", "Sqrt"}},
      {"a: float32[3], b: float32[3]", "d = sub(a, b) y = mul(d, d)", {"SquaredDifference"}},
      {"a: float32[3]", "y = mul(a, a)", {"Mul"}},
      {"a: float32[3], b: float32[3]", "e = equal(a, b) y = not(e)", {"NotEqual"}},
      {"x: float32[3]",
       "n = is_nan(x) i = is_inf(x) { detect_negative = 1, detect_positive = 1 } o = or(i, n) y = "
       "not(o)",
       {"IsFinite"}},
      // Of two numbers, and for a third.
      {"x: float32[3], z: float32[3]",
       "n = is_nan(x) i = is_inf(z) { detect_negative = 1, detect_positive = 1 } o = or(i, n) y = "
       "not(o)",
       {"IsInf", "IsNan", "LogicalNot", "LogicalOr"}},
      {"x: float32[3], b: bool[3]",
       "n = is_nan(x) i = is_inf(x) { detect_negative = 1, detect_positive = 1 } o = or(i, n) f = "
       "not(o) g = or(o, b) y = and(f, g)",
       {"IsInf", "IsNan", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalOr"}},
      {"x: float32[2,3,4], z: float32[2,5,4]",
       "t = transpose(z) { perm = [0, 2, 1] } y = matmul(x, t)",
       {"BatchMatMulV2"}},
      {"x: float32[3,4], z: float32[3,5]",
       "t = transpose(x) { perm = [1, 0] } y = matmul(t, z)",
       {"MatMul"}},
      // Other axes than the last two.
      {"x: float32[2,3,4], z: float32[4,2,5]",
       "t = transpose(z) { perm = [1, 0, 2] } y = matmul(x, t)",
       {"BatchMatMulV2", "Transpose"}},
      {"x: float32[2,3,4]",
       "s = transpose(x) { perm = [1, 2, 0] } t = transpose(s) { perm = [2, 0, 1] } y = relu(t)",
       {"Relu"}},
      {"x: float32[2,3,4]",
       "s = transpose(x) { perm = [1, 2, 0] } t = transpose(s) { perm = [1, 0, 2] } y = relu(t)",
       {"Relu", "Transpose"}},
      {"x: int32[3]",
       "w = cast(x) { to = \"int64\", saturate = 1, round_mode = \"up\" } y = cast(w) { to = "
       "\"float32\", saturate = 1, round_mode = \"up\" }",
       {"Cast"}},
      {"x: float32[3,4]",
       "p = arg_max(x) { axis = 1, keepdims = 0, select_last_index = 0 } "
       "y = cast(p) { to = \"int32\", saturate = 1, round_mode = \"up\" }",
       {"ArgMax"}},
      // An element of an axis.
      {"x: float32[n,4]",
       "s = int64[1]{2} e = int64[1]{3} a = int64[1]{0} p = slice(x, s, e, a) y = squeeze(p, a)",
       {"StridedSlice"}},
      {"x: float32[n,4]",
       "s = int64[1]{-1} e = int64[1]{9223372036854775807} a = int64[1]{1} p = slice(x, s, e, a) "
       "y = squeeze(p, a)",
       {"StridedSlice"}},
      {"x: float32[1,4]",
       "s = int64[1]{0} e = int64[1]{2} a = int64[1]{0} p = slice(x, s, e, a) y = squeeze(p, a)",
       {"Squeeze", "StridedSlice"}},
      // Sizes that are 0, and weights of one spatial axis.
      {"x: float32[n,3,4]", "s = int64[2]{0, -1} y = reshape(x, s) { allowzero = 0 }", {"Reshape"}},
      {"x: float32[n,m,6]",
       "s = int64[4]{0, 0, 2, 3} y = reshape(x, s) { allowzero = 0 }",
       {"ConcatV2", "Reshape", "Shape", "StridedSlice"}},
      {"x: float32[n,8,2]",
       "w = float32[1,2,1]{1, 2} y = conv(x, w) { layout = \"channels_last\", auto_pad = "
       "\"VALID\", group = 1 }",
       {"Conv2D", "ExpandDims", "Squeeze"}},
  };
  for (const FuseRow& row : rows) {
    ExpectTfOps(row, "tf");
    ExpectTfOps(row, "tfjs");
  }
}

// TensorFlow.js has no TensorScatterSub, its choices look at sizes, and it has no int64.
TEST(TfFuse, OneOpForSeveralOfTensorFlow) {
  const FuseRow rows[] = {
      {"x: float32[3], z: float32[3]",
       "n = is_nan(x) i = is_inf(x) { detect_negative = 1, detect_positive = 1 } o = or(i, n) y = "
       "where(o, z, x)",
       {"IsFinite", "SelectV2"}},
      {"x: float32[3], z: float32[3]",
       "n = is_nan(x) i = is_inf(x) { detect_negative = 1, detect_positive = 1 } o = or(i, n) f = "
       "not(o) w = where(o, z, x) y = where(f, w, z)",
       {"IsFinite", "SelectV2", "SelectV2"}},
      {"x: float32[4], u: float32[1]",
       "i = int64[1,1]{2} n = neg(u) y = scatter_nd(x, i, n) { reduction = \"add\" }",
       {"TensorScatterSub"}},
      {"x: uint32[4], u: uint32[1]",
       "i = int64[1,1]{2} z = uint32[]{0} n = sub(z, u) y = scatter_nd(x, i, n) { reduction = "
       "\"add\" }",
       {"TensorScatterSub"}},
      {"s: int32[2], v: float32[]",
       "w = cast(s) { to = \"int64\", saturate = 1, round_mode = \"up\" } y = expand(v, w)",
       {"Fill"}},
      // One tuple, which is no list of indices.
      {"x: float32[4,5], u: float32[]",
       "i = int64[2]{2, 3} y = scatter_nd(x, i, u) { reduction = \"add\" }",
       {"ExpandDims", "ExpandDims", "TensorScatterAdd"}},
      // Of floats 0 - 0 is 0, and -0 is something else.
      {"x: float32[4], u: float32[1]",
       "i = int64[1,1]{2} z = float32[]{0} n = sub(z, u) y = scatter_nd(x, i, n) { reduction = "
       "\"add\" }",
       {"Sub", "TensorScatterAdd"}},
      {"x: float32[4], u: float32[1]",
       "i = int64[1,1]{2} n = neg(u) y = scatter_nd(x, i, n) { reduction = \"max\" }",
       {"Neg", "TensorScatterMax"}},
  };
  for (const FuseRow& row : rows) ExpectTfOps(row, "tf");
}

// Kernels are transposed when they are written, quantized ones too.
TEST(TfFuse, KernelsAreNotTransposedInEachRun) {
  constexpr std::string_view kKernel =
      "k = int8[3,2,1,1]{1, 2, 3, 4, 5, 6} s = float32[3]{0.5, 0.25, 2} ";
  constexpr std::string_view kConv =
      "y = conv(x, w) { layout = \"channels_last\", auto_pad = \"VALID\", group = 1 }";
  const auto nodes = [&](std::string_view made) { return StrCat(kKernel, made, kConv); };
  const std::string plain = nodes("w = dequantize_linear(k, s) { axis = 0, block_size = 0 } ");
  const std::string zeros =
      nodes("z = int8[3]{0, 0, 0} w = dequantize_linear(k, s, z) { axis = 0, block_size = 0 } ");
  const std::string shifted =
      nodes("z = int8[3]{1, 0, -2} w = dequantize_linear(k, s, z) { axis = 0, block_size = 0 } ");
  const std::string other_axis = nodes(
      "t = float32[2]{0.5, 3} z = int8[2]{1, 2} w = dequantize_linear(k, t, z) { axis = 1, "
      "block_size = 0 } ");
  // What the kernel is for besides stays as it is.
  const std::string twice =
      StrCat(kKernel, "w = dequantize_linear(k, s) { axis = 0, block_size = 0 } ",
             "c = conv(x, w) { layout = \"channels_last\", auto_pad = "
             "\"VALID\", group = 1 } f = reduce_sum(w) { keepdims = 0, noop_with_empty_axes = 0 } "
             "y = add(c, f)");
  const FuseRow rows[] = {
      {"x: float32[1,4,4,2]", plain, {"Cast", "Conv2D", "Mul"}},
      {"x: float32[1,4,4,2]", zeros, {"Cast", "Conv2D", "Mul"}},
      {"x: float32[1,4,4,2]", shifted, {"Cast", "Conv2D", "Mul", "Sub"}},
      {"x: float32[1,4,4,2]", other_axis, {"Cast", "Conv2D", "Mul", "Sub"}},
      {"x: float32[1,4,4,2]", twice, {"AddV2", "Cast", "Conv2D", "Mul", "Sum", "Transpose"}},
  };
  for (const FuseRow& row : rows) ExpectTfOps(row, "tf");
}

// A depthwise convolution with dilations, and a loop over another axis than the first.
TEST(TfFuse, NoTransposesOfImagesAndSequences) {
  const FuseRow rows[] = {
      {"x: float32[n,8,9,3]",
       "w = float32[3,1,1,2]{1, 2, 3, 4, 5, 6} y = conv(x, w) { layout = \"channels_last\", "
       "auto_pad = \"VALID\", group = 3, dilations = [2, 3] }",
       {"BatchToSpaceND", "DepthwiseConv2dNative", "SpaceToBatchND"}},
      {"x: float32[2,5,4], h: float32[2,4]",
       "y = scan(h, x) { body = graph b(s: float32[2,4], e: float32[2,4]) -> (t) { t = add(s, e) "
       "}, num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [0], "
       "scan_output_axes = []:ints, scan_output_directions = []:ints }",
       {"GatherV2", "Shape", "StatelessWhile", "Sub"}},
  };
  for (const FuseRow& row : rows) ExpectTfOps(row, "tf");
}

}  // namespace
}  // namespace x2ir
