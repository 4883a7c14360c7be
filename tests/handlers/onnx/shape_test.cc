// Handlers and lowerings of the shape, indexing, reduction and linear-algebra family: text in,
// text out.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/rows_util.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(ShapeHandlers, BothWays) {
  constexpr std::string_view kX = "x: float32[n,3,4]) -> (y)";
  const BothWays rows[] = {
      {13, "x: float32[n,6], s: int64[2]) -> (y)", "y = onnx.Reshape(x, s)",
       "y = reshape(x, s) { allowzero = 0 }"},
      {14, "x: float32[n,6], s: int64[2]) -> (y)", "y = onnx.Reshape(x, s) { allowzero = 1 }",
       "y = reshape(x, s) { allowzero = 1 }"},
      {7, kX, "y = onnx.Flatten(x) { axis = 2 }", "y = flatten(x) { axis = 2 }"},
      {13, kX, "y = onnx.Flatten(x) { axis = -1 }", "y = flatten(x) { axis = -1 }"},
      {7, kX, "y = onnx.Transpose(x) { perm = [0, 2, 1] }",
       "y = transpose(x) { perm = [0, 2, 1] }"},
      {13, "x: float32[...]) -> (y)", "y = onnx.Transpose(x)", "y = transpose(x)"},
      {9, "x: float32[1,3]) -> (y)", "y = onnx.Squeeze(x) { axes = [0] }",
       "y_axes = int64[1]{0}\n y = squeeze(x, y_axes)"},
      {13, "x: float32[1,3]) -> (y)", "a = int64[1]{0}\n y = onnx.Squeeze(x, a)",
       "a = int64[1]{0}\n y = squeeze(x, a)"},
      {9, "x: float32[1,3]) -> (y)", "y = onnx.Squeeze(x)", "y = squeeze(x)"},
      {12, kX, "y = onnx.Unsqueeze(x) { axes = [-1] }",
       "y_axes = int64[1]{-1}\n y = unsqueeze(x, y_axes)"},
      {13, "x: float32[1,3], a: int64[1]) -> (y)", "y = onnx.Unsqueeze(x, a)",
       "y = unsqueeze(x, a)"},
      {8, "x: float32[1,3], s: int64[2]) -> (y)", "y = onnx.Expand(x, s)", "y = expand(x, s)"},
      {7, "x: float32[1,3], s: int64[2]) -> (y)", "y = onnx.Tile(x, s)", "y = tile(x, s)"},
      {7, kX, "y = onnx.Concat(x, x) { axis = 1 }", "y = concat(x, x) { axis = 1 }"},
      {12, "x: float32[n,3]) -> (y, z)", "y, z = onnx.Split(x) { axis = 1, split = [1, 2] }",
       "y_split = int64[2]{1, 2}\n y, z = split(x, y_split) { axis = 1 }"},
      {12, "x: float32[n,4]) -> (y, z)", "y, z = onnx.Split(x) { axis = 1 }",
       "y, z = split(x) { axis = 1 }"},
      {13, "x: float32[n,4], s: int64[2]) -> (y, z)", "y, z = onnx.Split(x, s) { axis = 1 }",
       "y, z = split(x, s) { axis = 1 }"},
      {18, "x: float32[n,3]) -> (y, z)", "y, z = onnx.Split(x) { axis = 1, num_outputs = 2 }",
       "y, z = split(x) { axis = 1, num_outputs = 2 }"},
      {9, kX, "y = onnx.Slice(x) { axes = [1], ends = [9223372036854775807], starts = [1] }",
       "y_starts = int64[1]{1}\n y_ends = int64[1]{9223372036854775807}\n y_axes = int64[1]{1}\n "
       "y = slice(x, y_starts, y_ends, y_axes)"},
      {10, "x: float32[n,3], s: int64[1], e: int64[1]) -> (y)", "y = onnx.Slice(x, s, e)",
       "y = slice(x, s, e)"},
      {7, "x: float32[n,3]) -> (y)", "y = onnx.Pad(x) { mode = \"edge\", pads = [0, 1, 0, 1] }",
       "y_pads = int64[4]{0, 1, 0, 1}\n y = pad(x, y_pads) { mode = \"edge\" }"},
      {10, "x: float32[n,3]) -> (y)", "y = onnx.Pad(x) { pads = [0, 1, 0, 1], value = 0.5 }",
       "y_pads = int64[4]{0, 1, 0, 1}\n y_constant_value = float32[]{0.5}\n "
       "y = pad(x, y_pads, y_constant_value) { mode = \"constant\" }"},
      {11, "x: float32[n,3], p: int64[4]) -> (y)", "y = onnx.Pad(x, p)",
       "y = pad(x, p) { mode = \"constant\" }"},
      {18, "x: float32[n,3], p: int64[2], a: int64[1]) -> (y)", "y = onnx.Pad(x, p, _, a)",
       "y = pad(x, p, _, a) { mode = \"constant\" }"},
      {19, "x: float32[n,3], p: int64[4]) -> (y)", "y = onnx.Pad(x, p) { mode = \"wrap\" }",
       "y = pad(x, p) { mode = \"wrap\" }"},
      {7, kX, "y = onnx.Shape(x)", "y = shape(x) { start = 0 }"},
      {15, kX, "y = onnx.Shape(x) { end = -1, start = 1 }", "y = shape(x) { start = 1, end = -1 }"},
      {7, kX, "y = onnx.Size(x)", "y = size(x)"},
      {9, "s: int64[2]) -> (y)", "y = onnx.ConstantOfShape(s)",
       "y = constant_of_shape(s) { value = tensor(float32[1]{0}) }"},
      {9, "s: int64[2]) -> (y)", "y = onnx.ConstantOfShape(s) { value = tensor(int64[1]{1}) }",
       "y = constant_of_shape(s) { value = tensor(int64[1]{1}) }"},
      {11, "a: int64[], b: int64[], c: int64[]) -> (y)", "y = onnx.Range(a, b, c)",
       "y = range(a, b, c)"},
      {27, "a: int64[], b: int64[], c: int64[]) -> (y)", "y = onnx.Range(a, b, c)",
       "y = range(a, b, c)"},
      {9, "x: float32[n,n]) -> (y)", "y = onnx.EyeLike(x) { dtype = 7, k = 1 }",
       "y = eye_like(x) { k = 1, dtype = \"int64\" }"},
      {14, "x: float32[n,n], k: int64[]) -> (y)", "y = onnx.Trilu(x, k) { upper = 0 }",
       "y = trilu(x, k) { upper = 0 }"},
      // Indexing.
      {7, "x: float32[n,3], i: int64[2]) -> (y)", "y = onnx.Gather(x, i) { axis = 1 }",
       "y = gather(x, i) { axis = 1 }"},
      {11, "x: float32[n,3], i: int64[n,2]) -> (y)", "y = onnx.GatherElements(x, i) { axis = 1 }",
       "y = gather_elements(x, i) { axis = 1 }"},
      {11, "x: float32[n,3], i: int64[4,2]) -> (y)", "y = onnx.GatherND(x, i)",
       "y = gather_nd(x, i) { batch_dims = 0 }"},
      {9, "x: float32[n,3], i: int64[n,2], u: float32[n,2]) -> (y)", "y = onnx.Scatter(x, i, u)",
       "y = scatter_elements(x, i, u) { axis = 0, reduction = \"none\" }"},
      {16, "x: float32[n,3], i: int64[n,2], u: float32[n,2]) -> (y)",
       "y = onnx.ScatterElements(x, i, u) { reduction = \"add\" }",
       "y = scatter_elements(x, i, u) { axis = 0, reduction = \"add\" }"},
      {18, "x: float32[n], i: int64[1,1], u: float32[1]) -> (y)",
       "y = onnx.ScatterND(x, i, u) { reduction = \"max\" }",
       "y = scatter_nd(x, i, u) { reduction = \"max\" }"},
      {9, "i: int64[n], d: int64[], v: float32[2]) -> (y)", "y = onnx.OneHot(i, d, v)",
       "y = one_hot(i, d, v) { axis = -1 }"},
      {9, "x: float32[n,3]) -> (y)", "y = onnx.NonZero(x)", "y = non_zero(x)"},
      {9, "x: float32[n,3], c: bool[3]) -> (y)", "y = onnx.Compress(x, c) { axis = 1 }",
       "y = compress(x, c) { axis = 1 }"},
      {11, "x: float32[n]) -> (y, i)", "y, _, i = onnx.Unique(x)",
       "y, _, i = unique(x) { sorted = 1 }"},
      {9, "x: float32[n,8]) -> (y, i)", "y, i = onnx.TopK(x) { k = 5 }",
       "y_k = int64[1]{5}\n y, i = top_k(x, y_k) { axis = -1, largest = 1, sorted = 1 }"},
      {10, "x: float32[n,8], k: int64[1]) -> (y, i)", "y, i = onnx.TopK(x, k) { axis = 0 }",
       "y, i = top_k(x, k) { axis = 0, largest = 1, sorted = 1 }"},
      {11, "x: float32[n,8], k: int64[1]) -> (y, i)", "y, i = onnx.TopK(x, k) { largest = 0 }",
       "y, i = top_k(x, k) { axis = -1, largest = 0, sorted = 1 }"},
      {10, "x: float32[n,8], l: int64[8]) -> (y)", "y = onnx.ReverseSequence(x, l)",
       "y = reverse_sequence(x, l) { batch_axis = 1, time_axis = 0 }"},
      {10, "b: float32[1,n,4], s: float32[1,2,n]) -> (y)", "y = onnx.NonMaxSuppression(b, s)",
       "y = non_max_suppression(b, s) { center_point_box = 0 }"},
      // Reductions.
      {11, kX, "y = onnx.ReduceSum(x) { axes = [-1], keepdims = 0 }",
       "y_axes = int64[1]{-1}\n "
       "y = reduce_sum(x, y_axes) { keepdims = 0, noop_with_empty_axes = 0 }"},
      {7, kX, "y = onnx.ReduceMean(x)",
       "y = reduce_mean(x) { keepdims = 1, noop_with_empty_axes = 0 }"},
      {13, "x: float32[n,8], a: int64[1]) -> (y)",
       "y = onnx.ReduceSum(x, a) { noop_with_empty_axes = 1 }",
       "y = reduce_sum(x, a) { keepdims = 1, noop_with_empty_axes = 1 }"},
      {17, kX, "y = onnx.ReduceLogSumExp(x) { axes = [0, 1] }",
       "y_axes = int64[2]{0, 1}\n "
       "y = reduce_log_sum_exp(x, y_axes) { keepdims = 1, noop_with_empty_axes = 0 }"},
      {18, "x: float32[n,8], a: int64[1]) -> (y)", "y = onnx.ReduceMax(x, a)",
       "y = reduce_max(x, a) { keepdims = 1, noop_with_empty_axes = 0 }"},
      {7, kX, "y = onnx.ArgMax(x) { axis = 1 }",
       "y = arg_max(x) { axis = 1, keepdims = 1, select_last_index = 0 }"},
      {12, kX, "y = onnx.ArgMin(x) { axis = -1, select_last_index = 1 }",
       "y = arg_min(x) { axis = -1, keepdims = 1, select_last_index = 1 }"},
      {11, "x: float32[n], a: int64[]) -> (y)", "y = onnx.CumSum(x, a) { reverse = 1 }",
       "y = cum_sum(x, a) { exclusive = 0, reverse = 1 }"},
      {26, "x: float32[n], a: int64[]) -> (y)", "y = onnx.CumProd(x, a)",
       "y = cum_prod(x, a) { exclusive = 0, reverse = 0 }"},
      // Linear algebra.
      {7, "a: float32[n,3], b: float32[3,k]) -> (y)", "y = onnx.MatMul(a, b)", "y = matmul(a, b)"},
      {7, "a: float32[n,3], b: float32[k,3], c: float32[k]) -> (y)",
       "y = onnx.Gemm(a, b, c) { alpha = 0.5, transB = 1 }",
       "y = gemm(a, b, c) { alpha = 0.5, beta = 1.0, transA = 0, transB = 1 }"},
      {11, "a: float32[n,3], b: float32[3,k]) -> (y)", "y = onnx.Gemm(a, b)",
       "y = gemm(a, b) { alpha = 1.0, beta = 1.0, transA = 0, transB = 0 }"},
      {12, "a: float32[n,3], b: float32[3,k]) -> (y)",
       "y = onnx.Einsum(a, b) { equation = \"ij,jk->ik\" }",
       "y = einsum(a, b) { equation = \"ij,jk->ik\" }"},
      {11, "x: float32[n,3,3]) -> (y)", "y = onnx.Det(x)", "y = det(x)"},
  };
  for (const BothWays& row : rows) ExpectBothWays(row);
}

TEST(ShapeHandlers, Import) {
  const OneWay rows[] = {
      {7, "x: float32[n,3]) -> (y)", "y = onnx.Transpose(x)", "y = transpose(x) { perm = [1, 0] }"},
      {9, "x: float32[n,3]) -> (y)", "y = onnx.Concat(x, x) { axis = -1 }",
       "y = concat(x, x) { axis = 1 }"},
      {10, "x: float32[n,3]) -> (y)", "y = onnx.ReduceMax(x) { axes = [-1] }",
       "y_axes = int64[1]{1}\n y = reduce_max(x, y_axes) "
       "{ keepdims = 1, noop_with_empty_axes = 0 }"},
      {11, "x: float32[n,3]) -> (y)", "y = onnx.ReduceMax(x) { axes = []:ints }",
       "y = reduce_max(x) { keepdims = 1, noop_with_empty_axes = 0 }"},
      {13, ") -> (y)", "y = onnx.Constant() { value = tensor(int8[2]{1, 2}) }",
       "y = int8[2]{1, 2}"},
      {13, ") -> (y)", "y = onnx.Constant() { value_int = 3 }", "y = int64[]{3}"},
      {13, ") -> (y)", "y = onnx.Constant() { value_ints = []:ints }", "y = int64[0]{}"},
      {13, ") -> (y)", "y = onnx.Constant() { value_float = 0.5 }", "y = float32[]{0.5}"},
      {13, ") -> (y)", "y = onnx.Constant() { value_floats = [0.5, 1.0] }",
       "y = float32[2]{0.5, 1}"},
      {13, ") -> (y)", "y = onnx.Constant() { value_string = \"a\" }", "y = string[]{\"a\"}"},
      {13, ") -> (y)", "y = onnx.Constant() { value_strings = [\"a\", \"b\"] }",
       "y = string[2]{\"a\", \"b\"}"},
      {13, ") -> (y)", "y = onnx.Constant()", "error expected one attribute"},
      {13, ") -> (y)", "y = onnx.Constant() { value_int = 3, value_float = 0.5 }",
       "error expected one attribute"},
      {11, "x: float32[2,2], p: int64[4]) -> (y)", "y = onnx.Pad(x, p) { mode = \"wrap\" }",
       "error does not exist at opset 11"},
      {18, "x: float32[4], s: int64[2]) -> (y, z)", "y, z = onnx.Split(x, s) { num_outputs = 2 }",
       "error exclude"},
      {18, "x: float32[4]) -> (y, z)", "y, z = onnx.Split(x) { num_outputs = 3 }",
       "error there are 2 outputs"},
      {27, "a: float32[]) -> (y)", "y = onnx.Range(a, a, a) { stash_type = 10 }",
       "error stash_type"},
  };
  for (const OneWay& row : rows)
    ExpectOneWay(ToIrText(GraphText(row.header, row.from), row.opset), row);
}

TEST(ShapeHandlers, Export) {
  const OneWay rows[] = {
      {13, "x: float32[n,m], a: int64[1]) -> (y)",
       "y = reduce_max(x, a) { keepdims = 1, noop_with_empty_axes = 0 }",
       "error may be computed from opset 18 on"},
      {11, "x: float32[n,m], a: int64[1]) -> (y)", "y = squeeze(x, a)",
       "error may be computed from opset 13 on"},
      {9, "x: float32[n,3]) -> (y)", "a = int64[1]{-1}\n y = unsqueeze(x, a)",
       "y = onnx.Unsqueeze(x) { axes = [2] }"},
      {9, "x: float32[8]) -> (y)",
       "s = int64[1]{0}\n e = int64[1]{8}\n p = int64[1]{2}\n y = slice(x, s, e, _, p)",
       "y_positions = int64[4]{0, 2, 4, 6}\n y = onnx.Gather(x, y_positions)"},
      {9, "x: float32[8]) -> (y)",
       "s = int64[1]{0}\n e = int64[1]{8}\n p = int64[1]{1}\n y = slice(x, s, e, _, p)",
       "y = onnx.Slice(x) { ends = [8], starts = [0] }"},
      {9, "a: float32[n,4], w: float32[4,2]) -> (y)",
       "y = gemm(a, w) { alpha = 1.0, beta = 1.0, transA = 0, transB = 0 }",
       "y_c = float32[1]{0}\n y = onnx.Gemm(a, w, y_c)"},
      {16, "x: bool[n], i: int64[1,1], u: bool[1]) -> (y)",
       "y = scatter_nd(x, i, u) { reduction = \"max\" }", "error opset 18 has it"},
      {10, "a: uint64[]) -> (y)", "y = range(a, a, a)", "error opset 11 has it"},
      {17, "x: float32[n,4]) -> (y, z)", "y, z = split(x) { axis = 1, num_outputs = 2 }",
       "y, z = onnx.Split(x) { axis = 1 }"},
      {18, "x: float32[n,4]) -> (y, z)", "y, z = split(x) { axis = 1 }",
       "y, z = onnx.Split(x) { axis = 1, num_outputs = 2 }"},
  };
  for (const OneWay& row : rows) {
    ExpectOneWay(FromIrText(GraphText(row.header, row.from), row.opset), row);
  }
}

TEST(ShapeHandlers, Lowerings) {
  const OneWay rows[] = {
      {13, "x: float32[n,6]) -> (y)", "s = int64[2]{-1, 3}\n y = reshape(x, s) { allowzero = 1 }",
       "s = int64[2]{-1, 3}\n y = onnx.Reshape(x, s)"},
      // A tensor without elements gets axes of size 0, which sizes of 0 then copy; any other cannot
      // have sizes of 0.
      {13, "x: float32[n,6], s: int64[2]) -> (y)", "y = reshape(x, s) { allowzero = 1 }",
       "y_row = int64[2]{1, -1}\n y_one = int64[]{1}\n y_axes = int64[1]{2}\n "
       "y_reshape = onnx.Reshape(x, y_row)\n y_size = onnx.Size(x)\n "
       "y_min = onnx.Min(y_size, y_one)\n y_expand = onnx.Expand(y_min, y_axes)\n "
       "y_expand_1 = onnx.Expand(y_reshape, y_expand)\n y = onnx.Reshape(y_expand_1, s)"},
      {14, "x: float32[n,6]) -> (y)", "y = shape(x) { start = -1 }",
       "y_start = int64[1]{-1}\n y_end = int64[1]{9223372036854775807}\n y_axes = int64[1]{0}\n "
       "y_shape = onnx.Shape(x)\n y = onnx.Slice(y_shape, y_start, y_end, y_axes)"},
      {7, "x: float32[1,3]) -> (y)", "s = int64[3]{2, 4, 1}\n y = expand(x, s)",
       "y_shape = int64[3]{1, 1, 3}\n y_repeats = int64[3]{2, 4, 1}\n "
       "y_reshape = onnx.Reshape(x, y_shape)\n y = onnx.Tile(y_reshape, y_repeats)"},
      {7, "x: float32[n,3], s: int64[2]) -> (y)", "y = expand(x, s)", "error opset 8 has it"},
      {8, "s: int64[2]) -> (y)", "y = constant_of_shape(s) { value = tensor(int8[1]{3}) }",
       "y_value = int8[]{3}\n y = onnx.Expand(y_value, s)"},
      {11, "x: float32[n,3]) -> (y, z)", "y, z = split(x) { axis = 1, num_outputs = 2 }",
       "y, z = onnx.Split(x) { axis = 1, split = [2, 1] }"},
      {11, "x: float32[...]) -> (y, z)", "y, z = split(x) { axis = 0, num_outputs = 2 }",
       "error its sizes are not known"},
      {13, "x: float32[n,3]) -> (y)",
       "p = int64[2]{1, 2}\n a = int64[1]{-1}\n y = pad(x, p, _, a) { mode = \"edge\" }",
       "y_pads = int64[4]{0, 1, 0, 2}\n y = onnx.Pad(x, y_pads) { mode = \"edge\" }"},
      {13, "x: float32[n,3], p: int64[2]) -> (y)",
       "a = int64[1]{-1}\n y = pad(x, p, _, a) { mode = \"constant\" }",
       "y_zero = int64[1]{0}\n y_order = int64[4]{2, 0, 2, 1}\n "
       "y_concat = onnx.Concat(p, y_zero) { axis = 0 }\n "
       "y_gather = onnx.Gather(y_concat, y_order)\n y = onnx.Pad(x, y_gather)"},
      {18, "x: float32[...], p: int64[4]) -> (y)", "y = pad(x, p) { mode = \"wrap\" }",
       "error opset 19 has it"},
      {13, "x: float32[2,2]) -> (y)", "y = trilu(x) { upper = 1 }",
       "y_zero = float32[]{0}\n y_mask = bool[2,2]{true, true, false, true}\n "
       "y = onnx.Where(y_mask, x, y_zero)"},
      {11, "x: float32[n], k: int64[1]) -> (y, i)",
       "y, i = top_k(x, k) { axis = -1, largest = 1, sorted = 0 }",
       "y, i = onnx.TopK(x, k) { sorted = 0 }"},
      {10, "x: float32[n], k: int64[1]) -> (y, i)",
       "y, i = top_k(x, k) { axis = -1, largest = 1, sorted = 0 }", "y, i = onnx.TopK(x, k)"},
      {10, "x: float32[n], k: int64[1]) -> (y, i)",
       "y, i = top_k(x, k) { axis = -1, largest = 0, sorted = 1 }",
       "y_neg = onnx.Neg(x)\n y_top_k, i = onnx.TopK(y_neg, k)\n y = onnx.Neg(y_top_k)"},
      {9, "x: float32[n]) -> (y, i)",
       "k = int64[1]{0}\n y, i = top_k(x, k) { axis = -1, largest = 1, sorted = 1 }",
       "error must be positive at opset 9"},
      {10, "x: float32[n,3], i: int64[4,1]) -> (y)", "y = gather_nd(x, i) { batch_dims = 0 }",
       "y_squeeze = onnx.Squeeze(i) { axes = [1] }\n y = onnx.Gather(x, y_squeeze)"},
      {10, "x: float32[n,3], i: int64[4,k]) -> (y)", "y = gather_nd(x, i) { batch_dims = 0 }",
       "error opset 11 has it"},
      {13, "x: float32[n]) -> (y)", "y = reduce_l2(x) { keepdims = 1, noop_with_empty_axes = 1 }",
       "y = onnx.Abs(x)"},
      {12, "x: float32[n]) -> (y)",
       "a = int64[1]{0}\n y = reduce_sum(x, a) { keepdims = 1, noop_with_empty_axes = 1 }",
       "y = onnx.ReduceSum(x) { axes = [0] }"},
      {12, "x: float32[n,m], a: int64[?]) -> (y)",
       "y = reduce_sum(x, a) { keepdims = 1, noop_with_empty_axes = 1 }",
       "error whether there are axes is not known"},
      {11, "a: float32[b,i,h,d], c: float32[b,j,h,d]) -> (y)",
       "y = einsum(a, c) { equation = \"bihd,bjhd->bhij\" }",
       "y_transpose = onnx.Transpose(a) { perm = [0, 2, 1, 3] }\n "
       "y_transpose_1 = onnx.Transpose(c) { perm = [0, 2, 3, 1] }\n "
       "y = onnx.MatMul(y_transpose, y_transpose_1)"},
      {11, "a: float32[n,m], c: float32[m]) -> (y)", "y = einsum(a, c) { equation = \"ij,j->i\" }",
       "y_unsqueeze = onnx.Unsqueeze(c) { axes = [1] }\n "
       "y_matmul = onnx.MatMul(a, y_unsqueeze)\n y = onnx.Squeeze(y_matmul) { axes = [1] }"},
      {11, "a: float32[n], c: float32[m]) -> (y)", "y = einsum(a, c) { equation = \"i,j->ij\" }",
       "y_unsqueeze = onnx.Unsqueeze(a) { axes = [1] }\n "
       "y_unsqueeze_1 = onnx.Unsqueeze(c) { axes = [0] }\n "
       "y = onnx.Mul(y_unsqueeze, y_unsqueeze_1)"},
      {11, "a: float32[n,m]) -> (y)", "y = einsum(a) { equation = \"ij->j\" }",
       "y = onnx.ReduceSum(a) { axes = [0], keepdims = 0 }"},
      {11, "a: float32[n,m]) -> (y)", "y = einsum(a) { equation = \"ii->i\" }", "error diagonal"},
  };
  for (const OneWay& row : rows) {
    ExpectOneWay(FromIrText(GraphText(row.header, row.from), row.opset), row);
  }
}

}  // namespace
}  // namespace x2ir
