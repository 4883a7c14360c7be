// Reductions, arg_max, arg_min, cum_sum, cum_prod: values checked by hand, inference.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

TEST(Reduce, Eval) {
  const std::string in =
      "x = float32[2,3]{1, 2, 3, 4, 5, 6}\n i = int32[2,2]{-1, 2, -3, -4}\n"
      "e = float32[2,0]{}\n z = int8[0]{}\n u = uint16[0]{}\n o = int64[0]{}\n"
      "a0 = int64[1]{0}\n a1 = int64[1]{-1}\n b = bool[2,2]{true, false, true, true}\n";
  const EvalRow rows[] = {
      {"y = reduce_sum(x)", "float32[1,1]{21}"},
      {"y = reduce_sum(x) { keepdims = 0 }", "float32[]{21}"},
      {"y = reduce_sum(x, a0)", "float32[1,3]{5, 7, 9}"},
      {"y = reduce_sum(x, a1) { keepdims = 0 }", "float32[2]{6, 15}"},
      {"y = reduce_sum(x, o) { keepdims = 0 }", "float32[]{21}"},
      {"y = reduce_sum(x, o) { noop_with_empty_axes = 1 }", "float32[2,3]{1, 2, 3, 4, 5, 6}"},
      {"y = reduce_sum_square(x) { noop_with_empty_axes = 1 }",
       "float32[2,3]{1, 4, 9, 16, 25, 36}"},
      {"y = reduce_l1(i, o) { noop_with_empty_axes = 1 }", "int32[2,2]{1, 2, 3, 4}"},
      {"y = reduce_mean(x, a0)", "float32[1,3]{2.5, 3.5, 4.5}"},
      {"y = reduce_mean(i, a1)", "int32[2,1]{0, -3}"},
      {"y = reduce_max(i, a0)", "int32[1,2]{-1, 2}"},
      {"y = reduce_min(i, a1) { keepdims = 0 }", "int32[2]{-1, -4}"},
      {"y = reduce_prod(i) { keepdims = 0 }", "int32[]{-24}"},
      {"y = reduce_l1(i) { keepdims = 0 }", "int32[]{10}"},
      {"t = float32[2]{3, -4}\n y = reduce_l2(t)", "float32[1]{5}"},
      {"t = float32[2]{1e30, 1e30}\n y = reduce_l2(t) { keepdims = 0 }",
       "float32[]{1.4142135e+30}"},
      {"t = float32[2]{0, 0}\n y = reduce_log_sum(t)", "float32[1]{-inf}"},
      {"t = float64[2]{1000, 1000}\n y = reduce_log_sum_exp(t)", "float64[1]{1000.6931471805599}"},
      {"t = float32[2]{inf, -inf}\n y = reduce_log_sum_exp(t)", "float32[1]{inf}"},
      {"t = float32[2]{-inf, -inf}\n y = reduce_log_sum_exp(t)", "float32[1]{-inf}"},
      {"t = float32[3]{1, nan, 3}\n y = reduce_max(t)", "float32[1]{nan}"},
      {"t = float32[3]{nan, 1, 3}\n y = reduce_min(t)", "float32[1]{nan}"},
      {"t = int8[2]{100, 100}\n y = reduce_sum(t)", "int8[1]{-56}"},
      {"t = float16[3]{60000, 60000, -60000}\n y = reduce_sum(t)", "float16[1]{60000}"},
      {"y = reduce_max(b, a0)", "bool[1,2]{true, true}"},
      {"y = reduce_min(b, a0)", "bool[1,2]{true, false}"},
      // Of nothing.
      {"y = reduce_sum(e, a1)", "float32[2,1]{0, 0}"},
      {"y = reduce_prod(e, a1)", "float32[2,1]{1, 1}"},
      {"y = reduce_max(e, a1) { keepdims = 0 }", "float32[2]{-inf, -inf}"},
      {"y = reduce_min(e, a1) { keepdims = 0 }", "float32[2]{inf, inf}"},
      {"y = reduce_mean(e) { keepdims = 0 }", "float32[]{nan}"},
      {"y = reduce_log_sum(e, a1)", "float32[2,1]{-inf, -inf}"},
      {"y = reduce_log_sum_exp(e, a1)", "float32[2,1]{-inf, -inf}"},
      {"y = reduce_sum(e, a0)", "float32[1,0]{}"},
      {"y = reduce_max(z)", "int8[1]{-128}"},
      {"y = reduce_min(z)", "int8[1]{127}"},
      {"y = reduce_max(u)", "uint16[1]{0}"},
      {"y = reduce_min(u)", "uint16[1]{65535}"},
      {"y = reduce_mean(z)", "int8[1]{0}"},
      {"t = float32[]{7}\n y = reduce_sum(t)", "float32[]{7}"},
      {"t = int64[2]{0, -2}\n y = reduce_sum(x, t)", "error named twice"},
      {"t = int64[1]{2}\n y = reduce_sum(x, t)", "error out of range"},
  };
  ExpectRows(rows, in);
}

TEST(AlongAxis, Eval) {
  const std::string in =
      "x = int32[2,3]{1, 3, 3, 4, 2, 4}\n f = float32[4]{1, nan, 2, nan}\n"
      "a = int64[]{0}\n b = int32[1]{-1}\n";
  const EvalRow rows[] = {
      {"y = arg_max(x)", "int64[1,3]{1, 0, 1}"},
      {"y = arg_max(x) { axis = -1, keepdims = 0 }", "int64[2]{1, 0}"},
      {"y = arg_max(x) { axis = 1, select_last_index = 1 }", "int64[2,1]{2, 2}"},
      {"y = arg_min(x) { axis = 1, keepdims = 0 }", "int64[2]{0, 1}"},
      {"y = arg_max(f)", "int64[1]{1}"},
      {"y = arg_min(f) { select_last_index = 1 }", "int64[1]{3}"},
      {"e = int8[2,0]{}\n y = arg_max(e) { axis = 1 }", "error no elements"},
      {"e = int8[2,0]{}\n y = arg_max(e) { axis = 0 }", "int64[1,0]{}"},
      {"e = int8[]{1}\n y = arg_max(e)", "error out of range"},
      {"y = cum_sum(x, a)", "int32[2,3]{1, 3, 3, 5, 5, 7}"},
      {"y = cum_sum(x, b)", "int32[2,3]{1, 4, 7, 4, 6, 10}"},
      {"y = cum_sum(x, b) { exclusive = 1 }", "int32[2,3]{0, 1, 4, 0, 4, 6}"},
      {"y = cum_sum(x, b) { reverse = 1 }", "int32[2,3]{7, 6, 3, 10, 6, 4}"},
      {"y = cum_sum(x, b) { exclusive = 1, reverse = 1 }", "int32[2,3]{6, 3, 0, 6, 4, 0}"},
      {"y = cum_prod(x, b)", "int32[2,3]{1, 3, 9, 4, 8, 32}"},
      {"y = cum_prod(x, b) { exclusive = 1 }", "int32[2,3]{1, 1, 3, 1, 4, 8}"},
      {"t = int64[]{2}\n y = cum_sum(x, t)", "error out of range"},
      {"e = float32[0]{}\n y = cum_sum(e, a)", "float32[0]{}"},
  };
  ExpectRows(rows, in);
}

TEST(Reduce, Infer) {
  struct Row {
    std::string_view inputs, lines, want;
  };
  const Row rows[] = {
      {"x: float32[n,h,3]", "a = int64[1]{1}\n y = reduce_sum(x, a)", "float32[n,1,3]"},
      {"x: float32[n,h,3]", "a = int64[2]{1, -1}\n y = reduce_sum(x, a) { keepdims = 0 }",
       "float32[n]"},
      {"x: float32[n,h,3]", "y = reduce_sum(x)", "float32[1,1,1]"},
      {"x: float32[...]", "y = reduce_sum(x) { keepdims = 0 }", "float32[]"},
      {"x: float32[n,h], a: int64[1]", "y = reduce_sum(x, a)", "float32[?,?]"},
      {"x: float32[n,h], a: int64[1]", "y = reduce_sum(x, a) { keepdims = 0 }", "float32[?]"},
      {"x: float32[n,h], a: int64[?]", "y = reduce_sum(x, a) { keepdims = 0 }", "float32[...]"},
      {"x: float32[n,h]", "y = reduce_sum(x) { noop_with_empty_axes = 1 }", "float32[n,h]"},
      {"x: float32[n,h]", "s = shape(x)\n y = reduce_prod(s) { keepdims = 0 }", "int64[] {h*n}"},
      {"x: float32[n,h]", "s = shape(x)\n a = int64[1]{0}\n y = reduce_sum(s, a)",
       "int64[1] {h+n}"},
      {"x: float32[n,h]", "s = shape(x)\n y = reduce_max(s)", "int64[1] {max(h, n)}"},
      {"x: float32[n,h]", "s = shape(x)\n y = reduce_mean(s)", "int64[1]"},
      {"x: float32[n,h]", "y = arg_max(x) { axis = 1 }", "int64[n,1]"},
      {"x: float32[n,h]", "y = arg_min(x) { axis = -2, keepdims = 0 }", "int64[h]"},
      {"x: float32[n,h], a: int64[]", "y = cum_sum(x, a)", "float32[n,h]"},
  };
  for (const Row& row : rows) {
    const std::string got = InferText(row.inputs, row.lines);
    EXPECT_EQ(got, row.want) << row.inputs << " | " << row.lines;
  }
}

}  // namespace
}  // namespace x2ir
