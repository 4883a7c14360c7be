// OneFlow's operators on constants, and the numbers that its documentation and kernels give. Those
// that the IR writes are also in tests/conformance/oneflow_test.cc, there and back.
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "tests/ops/text_eval_util.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

TEST(Oneflow, DialectIsValid) { EXPECT_THAT(ValidateDialect("oneflow"), ::testing::IsEmpty()); }

// The first lines of many rows.
const std::string kX = "x = float32[3]{-2, 0.5, 3}\n";
const std::string kM = "x = float32[2,3]{1, 2, 3, 4, 5, 6}\n";
const std::string kI = "x = int32[4]{-7, -1, 2, 7}\n";

std::string Number(std::string_view op, std::string_view number) {
  return "y = oneflow." + std::string(op) +
         "(x) { has_float_operand = 1, float_operand = " + std::string(number) + "d }";
}
std::string Integer(std::string_view op, std::string_view number) {
  return "y = oneflow." + std::string(op) +
         "(x) { has_int_operand = 1, int_operand = " + std::string(number) + " }";
}

TEST(Oneflow, Unary) {
  const ConstantRow rows[] = {
      {kX + "y = oneflow.square(x)", "y", "float32[3]{4, 0.25, 9}"},
      {kI + "y = oneflow.square(x)", "y", "int32[4]{49, 1, 4, 49}"},
      {"x = float32[2]{4, 0.25}\ny = oneflow.rsqrt(x)", "y", "float32[2]{0.5, 2}"},
      {"x = float32[1]{inf}\ny = oneflow.rsqrt(x)", "y", "float32[1]{0}"},
      {kX + "y = oneflow.square_relu(x)", "y", "float32[3]{0, 0.25, 9}"},
      {"x = float32[2]{0, 1e-20}\ny = oneflow.log1p(x)", "y", "float32[2]{0, 1e-20}"},
      {"x = float32[2]{0, 1e-20}\ny = oneflow.expm1(x)", "y", "float32[2]{0, 1e-20}"},
      {"x = float32[2]{1, 8}\ny = oneflow.log2(x)", "y", "float32[2]{0, 3}"},
      {"x = float64[2]{1, 100}\ny = oneflow.log10(x)", "y", "float64[2]{0, 1.9999999999999998}"},
      {"x = float32[2]{3, -1}\ny = oneflow.exp2(x)", "y", "float32[2]{8, 0.5}"},
      {"x = float32[2]{1, 3}\ny = oneflow.lgamma(x)", "y", "float32[2]{0, 0.6931472}"},
      {"x = float32[1]{1}\ny = oneflow.digamma(x)", "y", "float32[1]{-0.5772157}"},
      {"x = float32[1]{1}\ny = oneflow.trigamma(x)", "y", "float32[1]{1.644934}"},
      {"x = float32[1]{0}\ny = oneflow.erfinv(x)", "y", "float32[1]{0}"},
      {"x = float32[1]{0}\ny = oneflow.erfc(x)", "y", "float32[1]{1}"},
      {"x = float32[2]{-2.5, 2.25}\ny = oneflow.frac(x)", "y", "float32[2]{-0.5, 0.25}"},
      {"x = float32[2]{0, 4}\ny = oneflow.reciprocal_no_nan(x)", "y", "float32[2]{0, 0.25}"},
      {"x = bool[2]{0, 1}\ny = oneflow.logical_not(x)", "y", "bool[2]{true, false}"},
      {"x = int32[1]{3}\ny = oneflow.isnan(x)", "y", "bool[1]{false}"},
      // Halves go to the even neighbor.
      {"x = float32[4]{0.5, 1.5, -0.5, -2.5}\ny = oneflow.round(x)", "y",
       "float32[4]{0, 2, -0, -2}"},
      {"x = float32[2]{0.5, 1.5}\ny = oneflow.rint(x)", "y", "float32[2]{0, 2}"},
      {"x = float32[2]{0, 100}\ny = oneflow.log_sigmoid(x)", "y",
       "float32[2]{-0.6931472, -3.8e-44}"},
      {kX + "y = oneflow.relu(x) { unknown = 1 }", "y", "error unknown"},
      {kX + "y = oneflow.no_such_op(x)", "y", "error no_such_op"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Arithmetic) {
  const ConstantRow rows[] = {
      {kX + Number("scalar_add", "1.5"), "y", "float32[3]{-0.5, 2, 4.5}"},
      {kX + Integer("scalar_mul", "2"), "y", "float32[3]{-4, 1, 6}"},
      {kX + Number("scalar_div", "0.5"), "y", "float32[3]{-4, 1, 6}"},
      {kX + "y = oneflow.scalar_add(x)", "y", "error neither an integer nor a float"},
      {kX + Number("scalar_floordiv", "2.0"), "y", "float32[3]{-1, 0, 1}"},
      {"x = float32[2]{-5, 5}\n" + Number("scalar_truncdiv", "2.0"), "y", "float32[2]{-2, 2}"},
      {"x = float32[2]{-5, 5}\n" + Number("scalar_fmod", "3.0"), "y", "float32[2]{-2, 2}"},
      {"x = float32[2]{2, 3}\n" + Number("scalar_pow", "2.0"), "y", "float32[2]{4, 9}"},
      {"x = float32[2]{2, 3}\n" + Number("scalar_reverse_pow", "2.0"), "y", "float32[2]{4, 8}"},
      {"a = int32[3]{7, -7, 7}\nb = int32[3]{2, 2, -2}\ny = oneflow.floordiv(a, b)", "y",
       "int32[3]{3, -4, -4}"},
      {"a = float32[2]{7, -7}\nb = float32[1]{2}\ny = oneflow.floordiv(a, b)", "y",
       "float32[2]{3, -4}"},
      {"a = float32[2]{7, -7}\nb = float32[1]{2}\ny = oneflow.truncdiv(a, b)", "y",
       "float32[2]{3, -3}"},
      {"a = int32[2]{7, -7}\nb = int32[1]{2}\ny = oneflow.truncdiv(a, b)", "y", "int32[2]{3, -3}"},
      {"a = float32[2]{5, -5}\nb = float32[1]{3}\ny = oneflow.broadcast_fmod(a, b)", "y",
       "float32[2]{2, -2}"},
      {"a = float32[2]{5, -5}\nb = float32[1]{3}\ny = oneflow.broadcast_floor_mod(a, b)", "y",
       "float32[2]{2, 1}"},
      {"a = int32[2]{5, -5}\nb = int32[1]{3}\ny = oneflow.broadcast_floor_mod(a, b)", "y",
       "int32[2]{2, 1}"},
      {"a = float32[2]{0, 3}\nb = float32[2]{0, 2}\ny = oneflow.xdivy(a, b)", "y",
       "float32[2]{0, 1.5}"},
      {"a = float32[2]{0, 3}\nb = float32[2]{0, 1}\ny = oneflow.xlogy(a, b)", "y",
       "float32[2]{0, 0}"},
      {"a = float32[1]{1}\nb = float32[1]{1}\ny = oneflow.atan2(a, b)", "y",
       "float32[1]{0.7853982}"},
      {"a = float32[1]{0}\nb = float32[1]{-1}\ny = oneflow.atan2(a, b)", "y",
       "float32[1]{3.1415927}"},
      {"a = float32[1]{2}\nb = float32[1]{1}\ny = oneflow.broadcast_zeta(a, b)", "y",
       "float32[1]{1.644934}"},
      {"a = float32[2]{2, 3}\nb = float32[2]{3, 2}\ny = oneflow.pow(a, b)", "y",
       "float32[2]{8, 9}"},
      {kM + "b = float32[3]{1, 0, -1}\ny = oneflow.bias_add(x, b) { axis = 1 }", "y",
       "float32[2,3]{2, 2, 2, 5, 5, 5}"},
      {kM + "b = float32[2]{1, -1}\ny = oneflow.bias_add(x, b) { axis = 0 }", "y",
       "float32[2,3]{2, 3, 4, 3, 4, 5}"},
      {kX + "y = oneflow.add_n(x, x, x)", "y", "float32[3]{-6, 1.5, 9}"},
      {kX + "y = oneflow.add_n(x)", "y", "float32[3]{-2, 0.5, 3}"},
      {kX + "s = float32[1]{2}\ny = oneflow.scalar_sub_by_tensor(x, s)", "y",
       "float32[3]{-4, -1.5, 1}"},
      {kX + "s = float32[1]{2}\ny = oneflow.scalar_mul_by_tensor(x, s)", "y",
       "float32[3]{-4, 1, 6}"},
      {kX + "s = float32[1]{2}\ny = oneflow.scalar_div_by_tensor(x, s)", "y",
       "float32[3]{-1, 0.25, 1.5}"},
      {kX + "s = float32[1]{2}\ny = oneflow.scalar_add_by_tensor(x, s)", "y",
       "float32[3]{0, 2.5, 5}"},
      {"x = float32[2]{0, 2}\nb = float32[2]{4, 4}\ny = oneflow.scalar_lerp(x, b) { "
       "has_float_operand = 1, float_operand = 0.5d }",
       "y", "float32[2]{2, 3}"},
      {kX + "y = oneflow.fused_weighted_sum(x, x) { weights = [1.0, 2.0], alpha = 2.0 }", "y",
       "float32[3]{-12, 3, 18}"},
      {"x = int8[2]{2, 3}\ns = float32[1]{0.5}\ny = oneflow.fused_cast_scale(x, s) { scale = "
       "2.0d }",
       "y", "float32[2]{2, 3}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, ComparisonsAndLogic) {
  const ConstantRow rows[] = {
      {kX + Number("scalar_logical_greater", "0.5"), "y", "bool[3]{false, false, true}"},
      {kX + Number("scalar_logical_greater_equal", "0.5"), "y", "bool[3]{false, true, true}"},
      {kX + Number("scalar_logical_less", "0.5"), "y", "bool[3]{true, false, false}"},
      {kX + Number("scalar_logical_less_equal", "0.5"), "y", "bool[3]{true, true, false}"},
      {kX + Number("scalar_logical_equal", "0.5"), "y", "bool[3]{false, true, false}"},
      {kX + Number("scalar_logical_not_equal", "0.5"), "y", "bool[3]{true, false, true}"},
      {kI + Integer("scalar_logical_equal", "2"), "y", "bool[4]{false, false, true, false}"},
      {kX + Integer("scalar_logical_and", "0"), "y", "bool[3]{false, false, false}"},
      {kX + Integer("scalar_logical_or", "0"), "y", "bool[3]{true, true, true}"},
      {kX + Integer("scalar_logical_xor", "1"), "y", "bool[3]{false, false, false}"},
      {kX + Number("scalar_logical_inplace_greater", "0.0"), "y", "float32[3]{0, 1, 1}"},
      {"a = float32[2]{0, 2}\nb = float32[2]{1, 3}\ny = oneflow.broadcast_logical_and(a, b)", "y",
       "bool[2]{false, true}"},
      {"a = int32[2]{0, 0}\nb = int32[2]{0, 3}\ny = oneflow.broadcast_logical_or(a, b)", "y",
       "bool[2]{false, true}"},
      {"a = float32[2]{1, 2}\nb = float32[1]{2}\ny = oneflow.broadcast_not_equal(a, b)", "y",
       "bool[2]{true, false}"},
      {"a = float32[2]{1, 3}\nb = float32[1]{2}\ny = oneflow.broadcast_inplace_greater(a, b)", "y",
       "float32[2]{0, 1}"},
      {"a = float32[3]{1, nan, inf}\nb = float32[3]{1.000001, nan, inf}\n"
       "y = oneflow.broadcast_isclose_eq_nan(a, b)",
       "y", "bool[3]{true, true, true}"},
      {"a = float32[3]{1, nan, inf}\nb = float32[3]{1.1, nan, 1}\n"
       "y = oneflow.broadcast_isclose_neq_nan(a, b)",
       "y", "bool[3]{false, false, false}"},
      {"x = int32[2]{6, 5}\ny = oneflow.scalar_bitwise_and(x) { operand = 3 }", "y",
       "int32[2]{2, 1}"},
      {"x = int32[2]{6, 5}\ny = oneflow.scalar_bitwise_or(x) { operand = 1 }", "y",
       "int32[2]{7, 5}"},
      {"x = int32[2]{6, 5}\ny = oneflow.scalar_bitwise_xor(x) { operand = 1 }", "y",
       "int32[2]{7, 4}"},
      {kX + "m = bool[3]{1, 0, 0}\ny = oneflow.masked_fill(x, m) { has_float_operand = 1, "
            "float_operand = 7.0d }",
       "y", "float32[3]{7, 0.5, 3}"},
      {kI + "m = int8[4]{1, 0, 0, 1}\ny = oneflow.masked_fill(x, m) { has_int_operand = 1, "
            "int_operand = 7 }",
       "y", "int32[4]{7, -1, 2, 7}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Activations) {
  const ConstantRow rows[] = {
      {kX + "y = oneflow.hardtanh(x) { min_val = -1.0d, max_val = 1.0d }", "y",
       "float32[3]{-1, 0.5, 1}"},
      {kX + "y = oneflow.clip_by_scalar(x) { floating_min = 0.0d, floating_max = 1.0d }", "y",
       "float32[3]{0, 0.5, 1}"},
      {kI + "y = oneflow.clip_by_scalar(x) { integral_min = -2, integral_max = 3 }", "y",
       "int32[4]{-2, -1, 2, 3}"},
      {kI + "y = oneflow.clip_by_scalar_min(x) { integral_min = 0 }", "y", "int32[4]{0, 0, 2, 7}"},
      {kX + "y = oneflow.clip_by_scalar_max(x) { floating_max = 0.0d }", "y",
       "float32[3]{-2, 0, 0}"},
      {kX + "y = oneflow.softshrink(x) { alpha = 1.0d }", "y", "float32[3]{-1, 0, 2}"},
      {kX + "y = oneflow.hardshrink(x) { lambd = 1.0d }", "y", "float32[3]{-2, 0, 3}"},
      {kX + "y = oneflow.threshold(x) { threshold_val = 1.0d, value = 9.0d }", "y",
       "float32[3]{9, 9, 3}"},
      {"x = float32[3]{-3, 0, 3}\ny = oneflow.hardsigmoid(x)", "y", "float32[3]{0, 0.5, 1}"},
      {"x = float32[2]{-1, 2}\ny = oneflow.leaky_relu(x) { alpha = 0.5 }", "y",
       "float32[2]{-0.5, 2}"},
      {"x = float32[1]{40}\ny = oneflow.softplus(x)", "y", "float32[1]{40}"},
      {"x = float32[1]{0}\ny = oneflow.softplus(x) { beta = 2.0d }", "y", "float32[1]{0.3465736}"},
      {"x = float32[1]{0}\ny = oneflow.quick_gelu(x)", "y", "float32[1]{0}"},
      {"x = float32[1]{1}\ny = oneflow.quick_gelu(x)", "y", "float32[1]{0.84579575}"},
      {"x = float32[1]{1}\ny = oneflow.fast_gelu(x)", "y", "float32[1]{0.841192}"},
      {"x = float32[1]{1}\nm = float32[1]{2}\ny = oneflow.fused_fast_gelu_mul(x, m)", "y",
       "float32[1]{1.682384}"},
      {"x = float32[1,2,1]{-1, -2}\na = float32[2]{0.5, 0.25}\ny = oneflow.prelu(x, a)", "y",
       "float32[1,2,1]{-0.5, -0.5}"},
      {"x = float32[1,2]{-1, 2}\na = float32[1]{0.5}\ny = oneflow.prelu(x, a)", "y",
       "float32[1,2]{-0.5, 2}"},
      {"x = float32[1,2]{-1, -2}\na = float32[2]{0.5, 0.25}\ny = oneflow.tf_prelu(x, a)", "y",
       "float32[1,2]{-0.5, -0.5}"},
      // In a network that is not trained.
      {kX + "y, m = oneflow.dropout(x) { rate = 0.5, seed = 1 }", "y, m",
       "float32[3]{-2, 0.5, 3}; bool[3]{true, true, true}"},
      {kX + "a = float32[3]{1, 1, 1}\ny, m = oneflow.dropout(x, a) { rate = 0.5 }", "y",
       "float32[3]{-1, 1.5, 4}"},
      {kX + "y = oneflow.random_mask_like(x) { rate = 0.5 }", "y", "bool[3]{true, true, true}"},
      {"x = float32[1,2]{1, 3}\nm = bool[1,2]{1, 0}\ny = oneflow.fused_scale_mask_softmax(x, m) { "
       "scale_value = 2.0, mask_fill_value = -inf }",
       "y", "float32[1,2]{1, 0}"},
      {"x = float32[1,2]{1, 1}\nm = bool[1,2]{1, 1}\nd = bool[1,2]{1, 0}\n"
       "y, s = oneflow.fused_scale_mask_softmax_dropout(x, m, d) { dropout_scale_value = 2.0 }",
       "y, s", "float32[1,2]{1, 0}; float32[1,2]{0.5, 0.5}"},
      {"x = float32[1,2]{1, 1}\nm = float32[1,2]{0, 0}\ny = "
       "oneflow.fused_scale_mask_bias_softmax(x, "
       "m) { scale = 0.5 }",
       "y", "float32[1,2]{0.5, 0.5}"},
      {"x = float32[2,2]{1, 2, 3, 4}\ny = oneflow.fused_scale_tril(x) { floating_scale_value = "
       "2.0d, is_floating_scale_value = 1, is_floating_fill_value = 1 }",
       "y", "float32[2,2]{2, 0, 6, 8}"},
      {"x = float32[2,2]{1, 2, 3, 3}\nm = bool[2,2]{1, 1, 1, 0}\n"
       "y, s = oneflow.fused_tril_scale_softmax_mask_scale(x, m) { tril_fill_value = -inf, "
       "mask_scale_value = 2.0 }",
       "y, s", "float32[2,2]{2, 0, 1, 0}; float32[2,2]{1, 0, 0.5, 0.5}"},
      {"a = float32[1,2]{0, -1}\nb = float32[2]{0, 1}\ny = oneflow.fused_bias_add_gelu(a, b) { "
       "axis = "
       "1 }",
       "y", "float32[1,2]{0, 0}"},
      {"a = float32[1,2]{1, 2}\nb = float32[2]{1, 1}\nm = bool[1,2]{1, 0}\n"
       "y = oneflow.fused_bias_add_mask_scale(a, b, m) { axis = 1, scale = 2.0 }",
       "y", "float32[1,2]{4, 0}"},
      {"x = float32[1,2]{1, 2}\nw = float32[2,2]{1, 0, 0, 1}\ny, m = oneflow.fused_glu(x, w) { "
       "activation = \"none\" }",
       "y", "float32[1,1]{2}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Identities) {
  const std::string want = "float32[3]{-2, 0.5, 3}";
  const ConstantRow rows[] = {
      {kX + "y = oneflow.amp_white_identity(x)\nz = oneflow.amp_black_identity(y)", "z", want},
      {kX + "y = oneflow.copy(x) { device_type = \"cuda\", device_id = 0 }", "y", want},
      {kX + "y = oneflow.hierarchical_parallel_cast(x) { nd_sbp = [\"B\"], grad_mode = \"auto\" }",
       "y", want},
      {kX + "y = oneflow.parallel_cast(x) { sbp_parallel = \"B\" }", "y", want},
      {kX + "y = oneflow.depend(x, x)", "y", want},
      {kX + "y, z = oneflow.tuple_identity(x, x)", "z", want},
      {kX + "y = oneflow.identity_buffer(x) { buffer_size = 2 }", "y", want},
      {kX + "y = oneflow.cast_to_static_shape(x)\nz = oneflow.pinned_identity(y)", "z", want},
      {kX + "y = oneflow.feed_input(x)\nz = oneflow.fetch_output(y)", "z", want},
      {kX + "y, z = oneflow.distribute_clone(x)", "y, z", want + "; " + want},
      {kX + "y = oneflow.distribute_add(x)", "y", want},
      {kX + "y = oneflow.distribute_add(x, x)", "y", "float32[3]{-4, 1, 6}"},
      {kX + "y = oneflow.distribute_concat(x, x) { axis = 0 }", "y",
       "float32[6]{-2, 0.5, 3, -2, 0.5, 3}"},
      {"x = float32[4]{1, 2, 3, 4}\ny, z = oneflow.distribute_split(x) { axis = 0 }", "z",
       "float32[2]{3, 4}"},
      {kX + "y = oneflow.distribute_split(x) { axis = 0 }", "y", want},
      {kX + "y = oneflow.constant_like(x) { float_operand = 2.0d }", "y", "float32[3]{2, 2, 2}"},
      {kX + "y = oneflow.constant_like(x) { int_operand = 3, dtype = \"int32\" }", "y",
       "int32[3]{3, 3, 3}"},
      {kX + "y = oneflow.cast(x) { dtype = \"int32\" }", "y", "int32[3]{-2, 0, 3}"},
      {kX + "y = oneflow.mutable_cast_once(x) { dtype = \"float64\" }", "y",
       "float64[3]{-2, 0.5, 3}"},
      {kX + "t = int64[1]{0}\ny = oneflow.cast_like(x, t)", "y", "int64[3]{-2, 0, 3}"},
      {kX + "y = oneflow.cast(x)", "y", "error casts of these types"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Products) {
  const std::string ab = "a = float32[2,2]{1, 2, 3, 4}\nb = float32[2,2]{1, 0, 1, 1}\n";
  const ConstantRow rows[] = {
      {ab + "y = oneflow.matmul(a, b) { transpose_a = 1, alpha = 2.0d }", "y",
       "float32[2,2]{8, 6, 12, 8}"},
      {ab + "y = oneflow.matmul(a, b, a) { transpose_b = 1 }", "y", "float32[2,2]{2, 5, 6, 11}"},
      {"a = float32[1,1,2]{1, 2}\nb = float32[1,2,1]{3, 4}\ny = oneflow.batch_matmul(a, b)", "y",
       "float32[1,1,1]{11}"},
      {"a = float32[1,1,2]{1, 2}\nb = float32[1,2]{3, 4}\ny = oneflow.broadcast_matmul(a, b) { "
       "transpose_b = 1 }",
       "y", "float32[1,1,1]{11}"},
      {ab + "v = float32[2]{1, 1}\ny = oneflow.matrix_vector_product(a, v)", "y",
       "float32[2]{3, 7}"},
      {ab + "v = float32[2]{1, 1}\ny = oneflow.vector_matrix_product(v, a)", "y",
       "float32[2]{4, 6}"},
      {ab + "c = float32[2]{1, 1}\ny = oneflow.fused_matmul_bias(a, b, c) { alpha = 2.0d, "
            "beta "
            "= 3.0d }",
       "y", "float32[2,2]{5, 9, 9, 17}"},
      {"x = float32[1,2]{1, -2}\nw = float32[2,2]{1, 0, 0, 1}\nb = float32[2]{1, 1}\n"
       "y = oneflow.cublas_fused_mlp(x, w, w, b, b) { operand_segment_sizes = [1, 2, 2] }",
       "y", "float32[1,2]{3, 1}"},
      {"x = float32[1,2]{1, -2}\nw = float32[2,2]{1, 0, 0, 1}\nb = float32[2]{1, 1}\n"
       "y = oneflow.cublas_fused_mlp(x, w, b) { operand_segment_sizes = [1, 1, 1], "
       "skip_final_activation = 1 }",
       "y", "float32[1,2]{2, -1}"},
      {"x = float32[1,1]{2}\nw = float32[1,1]{3}\nb = float32[1]{1}\n"
       "y, z = oneflow.grouped_matmul_bias(x, x, w, w, b, b) { operand_segment_sizes = [2, 2, 2] }",
       "z", "float32[1,1]{7}"},
      {"a = float32[2,2]{2, 0, 0, 4}\ny = oneflow.inv(a)", "y", "float32[2,2]{0.5, 0, 0, 0.25}"},
      {"a = float32[2,2]{2, 1, 0, 4}\ny = oneflow.det(a)", "y", "float32[]{8}"},
      {"a = float32[3]{1, 0, 0}\nb = float32[3]{0, 1, 0}\ny = oneflow.linalg_cross(a, b) { dim = 0 "
       "}",
       "y", "float32[3]{0, 0, 1}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Shapes) {
  const ConstantRow rows[] = {
      {kM + "y = oneflow.reshape(x) { shape = [3, -1] }", "y", "float32[3,2]{1, 2, 3, 4, 5, 6}"},
      {kM + "l = float32[6]{0, 0, 0, 0, 0, 0}\ny = oneflow.reshape_like(x, l)", "y",
       "float32[6]{1, 2, 3, 4, 5, 6}"},
      {kM + "y = oneflow.flatten(x) { start_dim = 0, end_dim = -1 }", "y",
       "float32[6]{1, 2, 3, 4, 5, 6}"},
      {kM + "y = oneflow.expand_dims(x) { axis = -1 }\nz = oneflow.squeeze(y) { axes = [2] }", "z",
       "float32[2,3]{1, 2, 3, 4, 5, 6}"},
      {"x = float32[1,2]{1, 2}\ny = oneflow.expand(x) { expand_shape = [2, 2] }", "y",
       "float32[2,2]{1, 2, 1, 2}"},
      {"x = float32[1,2]{1, 2}\ny = oneflow.expand(x) { expand_shape = [2, 1, -1] }", "y",
       "float32[2,1,2]{1, 2, 1, 2}"},
      {"x = float32[2]{1, 2}\nl = float32[2,2]{0, 0, 0, 0}\ny = oneflow.broadcast_like(x, l) { "
       "broadcast_axes = [1] }",
       "y", "float32[2,2]{1, 1, 2, 2}"},
      {"x = float32[2]{1, 2}\nl = float32[2,2]{0, 0, 0, 0}\ny = oneflow.broadcast_like(x, l) { "
       "broadcast_axes = [0] }",
       "y", "float32[2,2]{1, 2, 1, 2}"},
      {kX + "y = oneflow.cat(x, x) { axis = 0, max_dim_size = 6 }", "y",
       "float32[6]{-2, 0.5, 3, -2, 0.5, 3}"},
      {kX + "y = oneflow.stack(x, _) { axis = 1 }", "y", "error missing"},
      {kX + "y = oneflow.stack() { axis = 1 }", "y", "error too few operands"},
      {kX + "y = oneflow.stack(x, x) { axis = 1 }", "y", "float32[3,2]{-2, -2, 0.5, 0.5, 3, 3}"},
      {kM + "y = oneflow.narrow(x) { dim = 1, start = 1, length = 2 }", "y",
       "float32[2,2]{2, 3, 5, 6}"},
      {kM + "y = oneflow.narrow(x) { dim = -1, start = 0, length = 1 }", "y", "float32[2,1]{1, 4}"},
      {kM + "y = oneflow.slice(x) { start = [0, 0], stop = [2, 3], step = [1, 2] }", "y",
       "float32[2,2]{1, 3, 4, 6}"},
      {kM +
           "v = float32[2,2]{7, 8, 9, 10}\ny = oneflow.slice_update(x, v) { start = [0, 0], stop = "
           "[2, 3], step = [1, 2] }",
       "y", "float32[2,3]{7, 2, 8, 9, 5, 10}"},
      {kX +
           "a = float32[1]{0}\nb = float32[2]{0, 0}\ny, z = oneflow.split_like(x, a, b) { axis = 0 "
           "}",
       "z", "float32[2]{0.5, 3}"},
      {kM + "y = oneflow.flip(x) { dims = [0, 1] }", "y", "float32[2,3]{6, 5, 4, 3, 2, 1}"},
      {kX + "y = oneflow.roll(x) { shifts = [1], dims = [0] }", "y", "float32[3]{3, -2, 0.5}"},
      {kM + "y = oneflow.roll(x) { shifts = [1], dims = [-1] }", "y",
       "float32[2,3]{6, 1, 2, 3, 4, 5}"},
      {kM + "y = oneflow.triu(x) { diagonal = 1 }", "y", "float32[2,3]{0, 2, 3, 0, 0, 6}"},
      {kM + "y = oneflow.tril(x)", "y", "float32[2,3]{1, 0, 0, 4, 5, 0}"},
      {kM + "y = oneflow.tril(x) { floating_fill_value = 9.0d, is_floating_fill_value = 1 }", "y",
       "float32[2,3]{1, 9, 9, 4, 5, 9}"},
      {kX + "y = oneflow.diag(x) { diagonal = 0 }", "y",
       "float32[3,3]{-2, 0, 0, 0, 0.5, 0, 0, 0, 3}"},
      {kM + "y = oneflow.diagonal(x) { offset = 1 }", "y", "float32[2]{2, 6}"},
      {"x = float32[4]{1, 2, 3, 4}\ny = oneflow.unfold_tensor(x) { dimension = 0, size = 2, step = "
       "2 }",
       "y", "float32[2,2]{1, 2, 3, 4}"},
      {kM + "y = oneflow.as_strided(x) { size = [2, 2], stride = [1, 2], storage_offset = 1 }", "y",
       "float32[2,2]{2, 4, 3, 5}"},
      {"y = oneflow.constant() { is_floating_value = 1, floating_value = 2.5d, dtype = "
       "\"float32\", shape = [2] }",
       "y", "float32[2]{2.5, 2.5}"},
      {"y = oneflow.constant() { integer_value = 7, dtype = \"int64\", shape = []:ints , nd_sbp = "
       "[\"B\"] }",
       "y", "int64[]{7}"},
      {"y = oneflow.empty() { dtype = \"int32\", shape = [2] }", "y", "int32[2]{0, 0}"},
      {kX + "y = oneflow.zero_like(x)\nz = oneflow.ones_like(x)", "y, z",
       "float32[3]{0, 0, 0}; float32[3]{1, 1, 1}"},
      {kX + "y = oneflow.fill_(x) { is_floating_value = 1, floating_value = 2.0d }", "y",
       "float32[3]{2, 2, 2}"},
      {kX + "v = float32[]{4}\ny = oneflow.fill_tensor_(x, v)", "y", "float32[3]{4, 4, 4}"},
      {"y = oneflow.arange() { dtype = \"float32\", float_start = 0.0d, float_delta = "
       "0.5d, float_limit = 1.0d }",
       "y", "float32[2]{0, 0.5}"},
      {"y = oneflow.eye() { rows = 2, cols = 3, dtype = \"int32\" }", "y",
       "int32[2,3]{1, 0, 0, 0, 1, 0}"},
      {"i = int32[2]{0, 2}\ny = oneflow.one_hot(i) { depth = 3, floating_on_value = 1.0d, "
       "dtype "
       "= \"float32\" }",
       "y", "float32[2,3]{1, 0, 0, 0, 0, 1}"},
      {"i = int32[1]{1}\ny = oneflow.one_hot(i) { depth = 2, integer_on_value = 5, "
       "integer_off_value "
       "= -1, dtype = \"int64\" }",
       "y", "int64[1,2]{-1, 5}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Indexing) {
  const ConstantRow rows[] = {
      {kM + "i = int32[2]{1, 0}\ny = oneflow.gather(x, i) { axis = 1 }", "y",
       "float32[2,2]{2, 1, 5, 4}"},
      {kM + "i = int64[2,1]{2, 0}\ny = oneflow.batch_gather(x, i)", "y", "float32[2,1]{3, 4}"},
      {kM + "i = int64[2,2]{0, 2, 1, 1}\ny = oneflow.gather_nd(x, i)", "y", "float32[2]{3, 5}"},
      {kM + "i = int64[1,3]{1, 0, 1}\ny = oneflow.dim_gather(x, i) { dim = 0 }", "y",
       "float32[1,3]{4, 2, 6}"},
      {kX + "i = int64[2]{0, 0}\ns = float32[2]{1, 2}\ny = oneflow.dim_scatter_add(x, i, s) { dim "
            "= 0 "
            "}",
       "y", "float32[3]{1, 0.5, 3}"},
      {kX + "i = int64[1]{2}\ns = float32[1]{2}\ny = oneflow.dim_scatter_mul(x, i, s) { dim = 0 }",
       "y", "float32[3]{-2, 0.5, 6}"},
      {kX + "i = int64[1]{2}\ns = float32[2]{7, 8}\ny = oneflow.dim_scatter_update(x, i, s) { dim "
            "= 0 "
            "}",
       "y", "float32[3]{-2, 0.5, 7}"},
      {kX + "i = int64[1]{2}\ny = oneflow.dim_scatter_add_scalar(x, i) { dim = 0, src_scalar = 1.0 "
            "}",
       "y", "float32[3]{-2, 0.5, 4}"},
      {kX + "i = int64[1]{2}\ny = oneflow.dim_scatter_mul_scalar(x, i) { dim = 0, src_scalar = 2.0 "
            "}",
       "y", "float32[3]{-2, 0.5, 6}"},
      {kX + "i = int64[1]{2}\ny = oneflow.dim_scatter_update_scalar(x, i) { dim = 0, src_scalar = "
            "2.0 "
            "}",
       "y", "float32[3]{-2, 0.5, 2}"},
      {kX + "i = int64[2]{2, 2}\ns = float32[2]{1, 2}\ny = oneflow.dim_scatter_add_like(x, i, s) { "
            "dim "
            "= 0 }",
       "y", "float32[3]{0, 0, 3}"},
      {"i = int64[2,1]{1, 1}\nu = float32[2]{3, 4}\ny = oneflow.scatter_nd(i, u) { shape = [3] }",
       "y", "float32[3]{0, 7, 0}"},
      {kX + "i = int64[1,1]{1}\nu = float32[1]{3}\ny = oneflow.scatter_nd_like(x, i, u)", "y",
       "float32[3]{0, 3, 0}"},
      {kX + "i = int64[1,1]{1}\nu = float32[1]{3}\ny = oneflow.tensor_scatter_nd_update(x, u, i)",
       "y", "float32[3]{-2, 3, 3}"},
      {kX + "i = int64[1,1]{1}\nu = float32[1]{3}\ny = oneflow.tensor_scatter_nd_add(x, u, i)", "y",
       "float32[3]{-2, 3.5, 3}"},
      {kX + "i = int64[2]{1, 1}\ns = float32[2]{1, 2}\ny = oneflow.index_add(x, i, s) { dim = 0, "
            "alpha "
            "= 2.0 }",
       "y", "float32[3]{-2, 6.5, 3}"},
      {kM + "i = int32[2]{1, 1}\ny = oneflow.unsorted_segment_sum(x, i) { axis = 0, num_segments = "
            "2 }",
       "y", "float32[2,3]{0, 0, 0, 5, 7, 9}"},
      {kM + "i = int32[2]{1, 0}\ny = oneflow.unsorted_segment_sum_like(x, i, x) { axis = 0 }", "y",
       "float32[2,3]{4, 5, 6, 1, 2, 3}"},
      {kX + "c = int64[3]{1, 1, 3}\ny = oneflow.repeat_interleave(x, c) { repeat_num = 3 }", "y",
       "float32[3]{-2, 3, 3}"},
      {"s = float32[3]{1, 3, 5}\nv = float32[2]{3, 9}\ny = oneflow.searchsorted(s, v)", "y",
       "int64[2]{1, 3}"},
      {"s = float32[3]{1, 3, 5}\ny = oneflow.searchsorted_scalar(s) { values = 3.0, right = 1, "
       "out_int32 = 1 }",
       "y", "int32[]{2}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Reductions) {
  const ConstantRow rows[] = {
      {kM + "y = oneflow.reduce_sum(x) { axis = [1], keepdims = 1 }", "y", "float32[2,1]{6, 15}"},
      {kM + "y = oneflow.reduce_prod(x) { axis = [0] }", "y", "float32[3]{4, 10, 18}"},
      {kM + "y = oneflow.reduce_min(x) { axis = [0, 1] }", "y", "float32[]{1}"},
      {"x = float32[2]{nan, 2}\ny = oneflow.reduce_nansum(x) { axis = [0] }", "y", "float32[]{2}"},
      {"x = bool[2]{1, 0}\ny = oneflow.reduce_any(x) { axis = [0] }", "y", "bool[]{true}"},
      {"x = float32[2]{1, 0}\ny = oneflow.reduce_all(x) { axis = [0], keepdims = 1 }", "y",
       "bool[1]{false}"},
      {kM + "l = float32[3]{0, 0, 0}\ny = oneflow.reduce_sum_like(x, l) { axis = [0] }", "y",
       "float32[3]{5, 7, 9}"},
      {"x = float32[3]{1, 2, 3}\ny = oneflow.var(x) { dim = [0] }", "y", "float32[]{1}"},
      {"x = float32[2]{1, 3}\ny = oneflow.var(x) { dim = [0], unbiased = 0, keepdim = 1 }", "y",
       "float32[1]{1}"},
      {"x = float32[2]{3, 4}\ny = oneflow.multi_square_sum(x, x)", "y", "float32[1]{50}"},
      {kX + "y = oneflow.sort(x) { direction = \"DESCENDING\" }", "y", "float32[3]{3, 0.5, -2}"},
      {kX + "y = oneflow.sort(x) { direction = \"SIDEWAYS\" }", "y", "error SIDEWAYS"},
      {"x = float32[3]{3, 1, 2}\ny: int32[...] = oneflow.arg_sort(x) { direction = \"ASCENDING\" }",
       "y", "int32[3]{1, 2, 0}"},
      {kM + "y = oneflow.argmax(x)", "y", "int64[2]{2, 2}"},
      {"x = float32[3]{3, 1, 2}\ny: int32[...] = oneflow.top_k(x) { k = 2, sorted = 1 }", "y",
       "int32[2]{0, 2}"},
      {"t = int32[2]{0, 1}\np = float32[2,2]{1, 2, 1, 2}\ny = oneflow.in_top_k(t, p) { k = 1 }",
       "y", "bool[2]{false, true}"},
      {kM + "y = oneflow.cumsum(x) { dim = 1 }", "y", "float32[2,3]{1, 3, 6, 4, 9, 15}"},
      {kM + "y = oneflow.cumprod(x) { dim = 1 }", "y", "float32[2,3]{1, 2, 6, 4, 20, 120}"},
      {"x = float32[3]{3, 1, 2}\ny = oneflow.median(x)", "y", "float32[]{2}"},
      {"x = float32[3]{3, 1, 3}\ny, i = oneflow.mode(x)", "y", "float32[]{3}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Windows) {
  const std::string x = "x = float32[1,1,2,2]{1, 2, 3, 4}\n", w = "w = float32[1,1,1,1]{2}\n";
  const ConstantRow rows[] = {
      {x + w +
           "b = float32[1]{1}\ny = oneflow.conv2d(x, w, b) { filters = 1, kernel_size = [1, 1], "
           "strides = [1, 1], padding_before = [0, 0], dilation_rate = [1, 1], groups = 1, "
           "data_format = \"channels_first\", tuning_cache = \"\" }",
       "y", "float32[1,1,2,2]{3, 5, 7, 9}"},
      {"x = float32[1,2,1,2]{1, 2, 3, 4}\nw = float32[1,1,1,2]{1, 10}\ny = oneflow.conv2d(x, w) { "
       "kernel_size = [1, 1], strides = [1, 1], padding_before = [0, 0], dilation_rate = [1, 1], "
       "data_format = \"channels_last\" }",
       "y", "float32[1,2,1,1]{21, 43}"},
      {"x = float32[1,1,3]{1, 2, 3}\nw = float32[1,1,2]{1, 1}\ny = oneflow.conv1d(x, w) { "
       "kernel_size "
       "= [2], strides = [1], padding_before = [1], dilation_rate = [1] }",
       "y", "float32[1,1,4]{1, 3, 5, 3}"},
      {"x = float32[1,1,2]{1, 2}\nw = float32[1,1,2]{1, 1}\ny = oneflow.deconv1d(x, w) { "
       "kernel_size = "
       "[2], strides = [2], padding_before = [0], dilation_rate = [1], output_padding = [0] }",
       "y", "float32[1,1,4]{1, 1, 2, 2}"},
      {x + w +
           "y = oneflow.deconv2d(x, w) { kernel_size = [1, 1], strides = [1, 1], padding_before = "
           "[0, 0], dilation_rate = [1, 1], output_padding = [0, 0] }",
       "y", "float32[1,1,2,2]{2, 4, 6, 8}"},
      {x + "y, i = oneflow.max_pool_2d(x) { kernel_size = [2, 2], stride = [2, 2], padding = [0, "
           "0], "
           "dilation = [1, 1], data_format = \"channels_first\" }",
       "y, i", "float32[1,1,1,1]{4}; int64[1,1,1,1]{3}"},
      {"x = float32[1,2,2,1]{1, 2, 3, 4}\ny, i = oneflow.max_pool_2d(x) { kernel_size = [2, 1], "
       "stride "
       "= [2, 1], padding = [0, 0], dilation = [1, 1], data_format = \"channels_last\" }",
       "y", "float32[1,1,2,1]{3, 4}"},
      {"x = float32[1,1,3]{1, 2, 3}\ny, i = oneflow.max_pool_1d(x) { kernel_size = [2], stride = "
       "[2], "
       "padding = [0], dilation = [1], ceil_mode = 1 }",
       "y", "float32[1,1,2]{2, 3}"},
      {x + "y = oneflow.avg_pool_2d(x) { kernel_size = [2, 2], stride = [2, 2], padding = [1, 1], "
           "count_include_pad = 0 }",
       "y", "float32[1,1,2,2]{1, 2, 3, 4}"},
      {x + "y = oneflow.avg_pool_2d(x) { kernel_size = [2, 2], stride = [2, 2], padding = [0, 0], "
           "divisor_override = 2 }",
       "y", "float32[1,1,1,1]{5}"},
      {x + "y = oneflow.tf_max_pool_2d(x) { pool_size = [2, 2], strides = [1, 1], padding = "
           "\"VALID\" }",
       "y", "float32[1,1,1,1]{4}"},
      {x + "y = oneflow.tf_avg_pool_2d(x) { pool_size = [2, 2], strides = [2, 2], padding = "
           "\"customized\", padding_before = [1, 1], padding_after = [1, 1] }",
       "y", "float32[1,1,2,2]{1, 2, 3, 4}"},
      // As old files say it.
      {x + "y, i = oneflow.max_pool_2d(x) { pool_size = [2, 2], strides = [2, 2], padding = "
           "\"SAME\" }",
       "y", "float32[1,1,1,1]{4}"},
      {x + "y = oneflow.adaptive_avg_pool2d(x) { output_size = [1, 1] }", "y",
       "float32[1,1,1,1]{2.5}"},
      {x + "y, i = oneflow.adaptive_max_pool2d(x) { output_size = [1, 2] }", "y",
       "float32[1,1,1,2]{3, 4}"},
      {x + "i = int64[1,1,2,2]{0, 1, 2, 3}\ny = oneflow.max_unpool_2d(x, i) { kernel_size = [1, "
           "1], "
           "stride = [1, 1], padding = [0, 0] }",
       "y", "float32[1,1,2,2]{1, 2, 3, 4}"},
      {x + "y = oneflow.unfold(x) { kernel_size = [1, 2], strides = [1, 1], padding = [0, 0], "
           "dilation_rate = [1, 1], data_format = \"channels_first\" }",
       "y", "float32[1,2,2]{1, 3, 2, 4}"},
      {"x = float32[1,2,2]{1, 3, 2, 4}\ny = oneflow.fold(x) { output_size = [2, 2], kernel_size = "
       "[1, "
       "2], strides = [1, 1], padding = [0, 0], dilation_rate = [1, 1] }",
       "y", "float32[1,1,2,2]{1, 2, 3, 4}"},
      {"x = float32[2]{1, 2}\ny = oneflow.pad(x) { padding_before = [1], padding_after = [0], "
       "floating_constant_value = 9.0d }",
       "y", "float32[3]{9, 1, 2}"},
      {"x = int32[1,2]{1, 2}\ny = oneflow.pad(x) { padding = [0, 1], integral_constant_value = 7 }",
       "y", "int32[1,3]{1, 2, 7}"},
      {"x = float32[1,1,3]{1, 2, 3}\ny = oneflow.reflection_pad1d(x) { padding = [1, 2] }", "y",
       "float32[1,1,6]{2, 1, 2, 3, 2, 1}"},
      {x + "y = oneflow.replication_pad2d(x) { padding = [1, 0, 0, 0] }", "y",
       "float32[1,1,2,3]{1, 1, 2, 3, 3, 4}"},
      {x + "y = oneflow.same_padding(x) { kernel_size = [3, 2], strides = [1, 1], dilation_rate = "
           "[1, "
           "1], padding = \"same_upper\" }",
       "y", "float32[1,1,4,3]{0, 0, 0, 1, 2, 0, 3, 4, 0, 0, 0, 0}"},
      {x + "y = oneflow.upsample_nearest_2d(x) { height_scale = 1.0d, width_scale = "
           "2.0d }",
       "y", "float32[1,1,2,4]{1, 1, 2, 2, 3, 3, 4, 4}"},
      {"x = float32[1,1,2]{1, 3}\ny = oneflow.upsample_linear_1d(x) { scale_factor = 2.0d }", "y",
       "float32[1,1,4]{1, 1.5, 2.5, 3}"},
      {"x = float32[1,1,1,2]{1, 3}\ny = oneflow.upsample_bilinear_2d(x) { output_size = [1, 3], "
       "align_corners = 1 }",
       "y", "float32[1,1,1,3]{1, 2, 3}"},
      {x + "y = oneflow.upsample(x) { interpolation = \"nearest\", height_scale = 2.0, width_scale "
           "= "
           "1.0 }",
       "y", "float32[1,1,4,2]{1, 2, 1, 2, 3, 4, 3, 4}"},
      {x + "g = float32[1,1,1,2]{-1, -1}\ny = oneflow.grid_sample(x, g) { interpolation_mode = "
           "\"bilinear\", padding_mode = \"zeros\", align_corners = 1 }",
       "y", "float32[1,1,1,1]{1}"},
      {"t = float32[1,2,3]{1, 0, 0, 0, 1, 0}\ny = oneflow.affine_grid(t) { size = [1, 1, 1, 2], "
       "align_corners = 1 }",
       "y", "float32[1,1,2,2]{-1, 0, 1, 0}"},
      {x + "r = float32[1,5]{0, 0, 0, 2, 2}\ny = oneflow.roi_align(x, r) { pooled_h = 1, pooled_w "
           "= 1, "
           "spatial_scale = 1.0, sampling_ratio = 1, aligned = 1 }",
       "y", "float32[1,1,1,1]{2.5}"},
      {"b = float32[3,4]{0, 0, 2, 2, 0, 0, 2, 2, 5, 5, 6, 6}\ny = oneflow.nms(b) { iou_threshold = "
       "0.5 "
       "}",
       "y", "int8[3]{1, 0, 1}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Norms) {
  const std::string bn =
      "x = float32[1,2,1]{1, 4}\nm = float32[2]{0, 2}\nv = float32[2]{1, 4}\n"
      "g = float32[2]{1, 2}\nb = float32[2]{0, 1}\n";
  const ConstantRow rows[] = {
      {bn + "y, p, q = oneflow.normalization(x, m, v, g, b) { axis = 1, epsilon = 0.0, momentum = "
            "0.9 "
            "}",
       "y", "float32[1,2,1]{1, 3}"},
      {bn + "y, p, q = oneflow.normalization(x, m, v, g, b) { axis = 1, training = 1 }", "y",
       "error own statistics"},
      {bn + "y = oneflow.normalization_infer(x, m, v, g, b, x) { axis = 1, epsilon = 0.0 }", "y",
       "float32[1,2,1]{2, 7}"},
      {bn + "a = float32[1,2,1]{-3, 0}\ny, r = oneflow.normalization_add_relu(x, a, m, v, g, b) { "
            "axis "
            "= 1 }",
       "y", "float32[1,2,1]{0, 3}"},
      {"x = float32[1,2]{1, 3}\nb = float32[2]{1, 1}\ng = float32[2]{2, 2}\n"
       "y, m, v = oneflow.layer_norm(x, b, g) { begin_norm_axis = 1, begin_params_axis = 1, "
       "epsilon = "
       "0.0d, center = 1, scale = 1 }",
       "y, m", "float32[1,2]{-1, 3}; float32[1]{2}"},
      {"x = float32[1,2]{1, 3}\ny, m, v = oneflow.layer_norm(x) { begin_norm_axis = 1, epsilon = "
       "0.0d }",
       "y", "float32[1,2]{-1, 1}"},
      {"x = float32[1,2]{1, 3}\ns = float32[1,2]{1, -1}\ny, m, v = oneflow.skip_layer_norm(x, _, "
       "_, _, "
       "s) { epsilon = 0.0d, alpha = 0.5d }",
       "y", "float32[1,2]{-1, 1}"},
      {"x = float32[1,2]{3, 3}\nw = float32[2]{1, 2}\ny, r = oneflow.rms_norm(x, w) { "
       "normalized_shape "
       "= [2], epsilon = 0.0 }",
       "y", "float32[1,2]{1, 2}"},
      {"x = float32[1,2]{1, 1}\ns = float32[1,2]{2, 2}\ny, r = oneflow.skip_rms_norm(x, _, _, s) { "
       "normalized_shape = [2], epsilon = 0.0 }",
       "y", "float32[1,2]{1, 1}"},
      {"x = float32[1,2,2]{1, 3, 5, 9}\ny, m, v = oneflow.group_norm(x) { num_groups = 2, epsilon "
       "= "
       "0.0d }",
       "y", "float32[1,2,2]{-1, 1, -1, 1}"},
      {"x = float32[1,2,1]{1, 3}\nb = float32[2]{1, 1}\ng = float32[2]{1, 2}\ny, m, v = "
       "oneflow.group_norm(x, b, g) { num_groups = 1, epsilon = 0.0d, affine = 1 }",
       "y", "float32[1,2,1]{0, 3}"},
      {"x = float32[2]{3, 4}\ny, s = oneflow.l2_normalize(x) { axis = 0, epsilon = 1e-10 }", "y, s",
       "float32[2]{0.6, 0.8}; float32[1]{25}"},
      {"x = float32[1]{0}\ny, s = oneflow.l2_normalize(x) { axis = 0, epsilon = 1e-10 }", "y",
       "float32[1]{0}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

TEST(Oneflow, Quantization) {
  const std::string x = "x = float32[4]{-2.54, 0, 0.5, 1.27}\n";
  const ConstantRow rows[] = {
      {"x = float32[2,2]{1.27, 0, -2.54, 1}\ns, z = oneflow.min_max_observer(x) { "
       "per_layer_quantization = 0 }",
       "s", "float32[2]{0.01, 0.02}"},
      {"x = float32[2]{-3, 4}\ns, z = oneflow.min_max_observer(x) { quantization_formula = "
       "\"cambricon\" }",
       "s", "float32[1]{-4}"},
      {x + "t = int64[1]{0}\nm = float32[1]{1.27}\nn = float32[1]{-1}\n"
           "s, z = oneflow.moving_average_min_max_observer(x, t, m, n) { momentum = 0.95 }",
       "s, z", "float32[1]{0.01}; float32[1]{0}"},
      {"x = float32[3]{-3, 0.26, 200}\ns = float32[1]{0.5}\nz = float32[1]{2}\n"
       "y = oneflow.fake_quantization(x, s, z) { quantization_scheme = \"affine\" }",
       "y", "float32[3]{-1, 0.5, 126.5}"},
      {"x = float32[2]{0.3, 100}\ns = float32[1]{-2}\nz = float32[1]{0}\n"
       "y = oneflow.fake_quantization(x, s, z) { quantization_formula = \"cambricon\" }",
       "y", "float32[2]{0.25, 31.75}"},
      {"x = float32[2]{0.3, 100}\ns = float32[1]{0.25}\nz = float32[1]{0}\n"
       "y = oneflow.quantization(x, s, z)",
       "y", "float32[2]{1, 127}"},
      {"x = float32[2]{-0.3, 0.3}\ns = float32[1]{0.25}\nz = float32[1]{3}\n"
       "y = oneflow.quantization(x, s, z) { quantization_scheme = \"affine\" }",
       "y", "float32[2]{2, 4}"},
      {x + "s, z = oneflow.min_max_observer(x) { quantization_formula = \"other\" }", "s",
       "error formula other"},
  };
  ExpectConstantRows(rows, "oneflow");
}

// Of each group its node, and the same numbers as before: constants become floats that round to
// themselves.
TEST(Oneflow, QuantizedGroupsAreFakeQuantization) {
  const std::string steps = "s = float32[]{0.25}\nz = uint8[]{3}\nn = int8[]{-5}\n";
  const std::string by_row = "r = float32[2]{0.25, 0.5}\nq = int8[2,3]{-128, -1, 0, 1, 126, 127}\n";
  struct Row {
    std::string nodes;  // of x: float32[2,3]
    const char* ops;    // what is written
  };
  const Row rows[] = {
      {steps + "a = quantize_linear(x, s, z)\ny = dequantize_linear(a, s, z)",
       "fake_quantization affine 8"},
      {steps + "a = quantize_linear(x, s, n)\ny = dequantize_linear(a, s, n)",
       "fake_quantization affine 8"},
      {steps + "o = int8[]{0}\na = quantize_linear(x, s, o)\ny = dequantize_linear(a, s, o)",
       "fake_quantization symmetric 8"},
      {steps + "m = uint8[]{127}\na = quantize_linear(x, s, z)\nb = clip(a, _, m)\n"
               "y = dequantize_linear(b, s, z)",
       "fake_quantization affine 7"},
      {by_row + "d = dequantize_linear(q, r) { axis = 0 }\ny = add(x, d)",
       "fake_quantization symmetric 8; broadcast_add"},
      // Another zero, bounds of no number of bits, steps along another axis: spelled out.
      {steps + "a = quantize_linear(x, s, z)\nb = uint8[]{4}\ny = dequantize_linear(a, s, b)", ""},
      {steps + "m = uint8[]{100}\na = quantize_linear(x, s, z)\nb = clip(a, _, m)\n"
               "y = dequantize_linear(b, s, z)",
       ""},
      {"r = float32[3]{0.25, 0.5, 1}\na = quantize_linear(x, r) { axis = 1, output_dtype = "
       "\"int8\" }\ny = dequantize_linear(a, r) { axis = 1 }",
       ""},
  };
  const Tensor x = Tensor::Of<float>({2, 3}, {-40, -0.375, 0, 0.4F, 31.7F, 80});
  for (const Row& row : rows) {
    SCOPED_TRACE(row.nodes);
    auto model =
        ModelFromText(StrCat("graph g(x: float32[2,3]) -> (y) {\n", row.nodes, "\n}"), "", 1);
    ASSERT_TRUE(model.ok()) << model.status();
    SetDefaults(*model->graph);
    const auto want = RunGraph(*model->graph, {x});
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(FromIr(*model, "oneflow", {}).ok());
    std::string ops;
    bool fake = false;
    for (const Node* node : model->graph->nodes()) {
      StrAppend(&ops, ops.empty() ? "" : "; ", node->op().view());
      if (node->op().view() != "fake_quantization") continue;
      fake = true;
      StrAppend(&ops, " ", node->attrs().String("quantization_scheme"), " ",
                node->attrs().Int("quantization_bit", 0));
    }
    if (*row.ops) {
      EXPECT_EQ(ops, row.ops);
    } else {
      EXPECT_FALSE(fake) << ops;
    }
    ASSERT_TRUE(ToIr(*model).ok());
    const auto got = RunGraph(*model->graph, {x});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(TensorText(*(*got)[0].tensor()), TensorText(*(*want)[0].tensor()));
  }
}

TEST(Oneflow, LossesAndCells) {
  const ConstantRow rows[] = {
      {"p = float32[2]{0.5, 1}\nt = float32[2]{1, 1}\ny = oneflow.binary_cross_entropy(p, t)", "y",
       "float32[2]{0.6931472, -0}"},
      {"x = float32[1]{0}\nt = float32[1]{1}\ny = oneflow.binary_cross_entropy_with_logits(x, t)",
       "y", "float32[1]{0.6931472}"},
      {"x = float32[2]{0, 0}\nt = float32[2]{1, 0}\n"
       "y = oneflow.binary_cross_entropy_with_logits_reduce_mean(x, t)",
       "y", "float32[]{0.6931472}"},
      {"x = float32[1]{0}\nt = float32[1]{1}\ny = oneflow.sigmoid_cross_entropy(x, t)", "y",
       "float32[1]{0.6931472}"},
      {"x = float32[2]{0, 3}\nt = float32[2]{0.5, 0}\ny = oneflow.smooth_l1_loss(x, t) { beta = "
       "1.0 }",
       "y", "float32[2]{0.125, 2.5}"},
      {"x = float32[1]{-1}\nt = float32[1]{1}\ny = oneflow.kl_div_loss(x, t)", "y",
       "float32[1]{1}"},
      {"x = float32[1,2]{0.25, 0.75}\nl = int32[1]{0}\ny = oneflow.sparse_cross_entropy(x, l) { "
       "depth "
       "= 2 }",
       "y", "float32[1]{1.3862944}"},
      {"x = float32[1,2]{1, 1}\nl = int32[1]{0}\np, y = oneflow.sparse_softmax_cross_entropy(x, l) "
       "{ "
       "depth = 2 }",
       "p, y", "float32[1,2]{0.5, 0.5}; float32[1]{0.6931472}"},
      {"x = float32[1,2]{1, 1}\nl = float32[1,2]{0, 1}\np, y = oneflow.softmax_cross_entropy(x, l)",
       "y", "float32[1]{0.6931472}"},
      {"x = float32[2,2]{-1, -2, -3, -4}\nl = int64[2]{1, -100}\n"
       "y, w = oneflow.nll(x, l) { ignore_index = -100 }",
       "y, w", "float32[2]{2, 0}; float32[2]{1, 0}"},
      {"x = float32[1,2]{-1, -2}\nl = int64[1]{1}\nc = float32[2]{1, 3}\n"
       "y, w = oneflow.nll(x, l, c) { ignore_index = -100 }",
       "y, w", "float32[1]{6}; float32[1]{3}"},
      {"g = float32[1,4]{0, 0, 0, 0}\nc = float32[1,1]{2}\nh, n, w = oneflow.fused_lstm_cell(g, g, "
       "c)",
       "n", "float32[1,1]{1}"},
      {"g = float32[1,3]{0, 0, 0}\nc = float32[1,1]{2}\nh, w = oneflow.fused_gru_cell(g, g, c)",
       "h", "float32[1,1]{1}"},
  };
  ExpectConstantRows(rows, "oneflow");
}

// OneFlow's graphs have no loops: the rounds stand one after the other, where their number is
// known.
std::string ThereAndBack(std::string_view lines, std::string_view outputs) {
  const auto run = [&]() -> absl::StatusOr<std::string> {
    X2IR_ASSIGN_OR_RETURN(
        Model model,
        ModelFromText(StrCat("graph g() -> (", outputs, ") {\n", lines, "\n}"), "", 1));
    X2IR_RETURN_IF_ERROR(FromIr(model, "oneflow", {}));
    for (const Node* node : model.graph->nodes()) {
      if (node->dialect() != "oneflow") return StrCat(node->op().view(), " is left");
    }
    X2IR_RETURN_IF_ERROR(ToIr(model));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(*model.graph, {}));
    std::string text;
    for (const Datum& result : results) {
      StrAppend(&text, text.empty() ? "" : "; ", TensorText(*result.tensor()));
    }
    return text;
  };
  const absl::StatusOr<std::string> text = run();
  return text.ok() ? *text : std::string(text.status().message());
}

TEST(Oneflow, LoopsAreTheirRounds) {
  const std::string body =
      "body = graph b(i: int64[], c: bool[], v: float32[2]) -> (c_out, v_out, s) {\n"
      "k = cast(i) { to = \"float32\", saturate = 1, round_mode = \"up\" }\n s = mul(v, k)\n v_out "
      "= add(v, a)\n ";
  const std::string a = "a = float32[2]{1, 2}\n";
  EXPECT_EQ(ThereAndBack(
                a + "n = int64[]{3}\n y, z = loop(n, _, a) { " + body + "c_out = identity(c) } }",
                "y, z"),
            "float32[2]{4, 8}; float32[3,2]{0, 0, 2, 4, 6, 12}");
  EXPECT_EQ(ThereAndBack(a + "x = float32[3,2]{1, 1, 2, 2, 3, 3}\n y, z = scan(a, x) {\n"
                             "body = graph b(h: float32[2], v: float32[2]) -> (h_out, s) {\n"
                             "h_out = add(h, v)\n s = mul(h, v) }, num_scan_inputs = 1, "
                             "scan_input_axes = [0], scan_input_directions = [1], "
                             "scan_output_axes = [0], scan_output_directions = [0] }",
                         "y, z"),
            "float32[2]{7, 8}; float32[3,2]{3, 6, 8, 10, 6, 7}");
  EXPECT_THAT(ThereAndBack(a + "n = int64[]{1000000}\n y, z = loop(n, _, a) { " + body +
                               "c_out = identity(c) } }",
                           "y, z"),
              ::testing::HasSubstr("1000000 rounds, unrolled, are 5000000 nodes; for a target "
                                   "without loops, unrolled loops have at most 100000"));
  EXPECT_THAT(
      ThereAndBack(
          a + "n = int64[]{3}\n t = bool[]{true}\n y, z = loop(n, t, a) { " + body +
              "m = float32[]{3}\n h = reduce_max(v) { keepdims = 0, noop_with_empty_axes = 0 }\n "
              "c_out = less(h, m) } }",
          "y, z"),
      ::testing::HasSubstr("how many rounds it has is not known"));
}

}  // namespace
}  // namespace x2ir
