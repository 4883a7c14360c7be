// StableHLO's operations by element at the edges of their domains, which the specification's own
// cases do not have.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/core/validate.h"

namespace x2ir {
namespace {

TEST(Stablehlo, DialectIsValid) { EXPECT_THAT(ValidateDialect("stablehlo"), ::testing::IsEmpty()); }

TEST(Stablehlo, QuotientsOfIntegers) {
  const std::string least = "x = int32[4]{-2147483648, -7, 7, 7}\ny = int32[4]{-1, 2, -2, 0}\n";
  const std::string bytes = "x = uint8[3]{200, 7, 7}\ny = uint8[3]{255, 2, 0}\n";
  const ConstantRow rows[] = {
      {least + "z: int32[4] = stablehlo.divide(x, y)", "z", "int32[4]{-2147483648, -3, -3, -1}"},
      {least + "z: int32[4] = stablehlo.remainder(x, y)", "z", "int32[4]{0, -1, 1, 7}"},
      {bytes + "z: uint8[3] = stablehlo.divide(x, y)", "z", "uint8[3]{0, 3, 255}"},
      {bytes + "z: uint8[3] = stablehlo.remainder(x, y)", "z", "uint8[3]{200, 1, 7}"},
      {"x = float32[2]{-5.5, 1}\ny = float32[2]{2, 0}\n"
       "z: float32[2] = stablehlo.remainder(x, y)",
       "z", "float32[2]{-1.5, nan}"},
      {"x = int32[4]{2, -1, -1, 0}\ny = int32[4]{-1, -3, -2, -1}\n"
       "z: int32[4] = stablehlo.power(x, y)",
       "z", "int32[4]{0, -1, 1, 0}"},
      {"x = int8[2]{3, 7}\nn = int8[2]{5, 5}\nz: int8[2] = stablehlo.power(x, n)", "z",
       "int8[2]{-13, -89}"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

TEST(Stablehlo, Bits) {
  const std::string shifts = "x = int8[4]{-128, -3, 5, 5}\nn = int8[4]{7, 1, 8, -1}\n";
  const ConstantRow rows[] = {
      {shifts + "z: int8[4] = stablehlo.shift_left(x, n)", "z", "int8[4]{0, -6, 0, 0}"},
      {shifts + "z: int8[4] = stablehlo.shift_right_logical(x, n)", "z", "int8[4]{1, 126, 0, 0}"},
      {shifts + "z: int8[4] = stablehlo.shift_right_arithmetic(x, n)", "z",
       "int8[4]{-1, -2, 0, 0}"},
      {"x = int8[2]{-4, -128}\nn = int8[2]{100, -1}\n"
       "z: int8[2] = stablehlo.shift_right_arithmetic(x, n)",
       "z", "int8[2]{-1, -1}"},
      {"x = int64[3]{-1, 0, 4096}\nz: int64[3] = stablehlo.popcnt(x)", "z", "int64[3]{64, 0, 1}"},
      {"x = int16[3]{-1, 0, 1}\nz: int16[3] = stablehlo.count_leading_zeros(x)", "z",
       "int16[3]{0, 16, 15}"},
      {"x = int4[3]{-1, 0, 3}\nz: int4[3] = stablehlo.popcnt(x)", "z", "int4[3]{4, 0, 2}"},
      {"x = int4[3]{-1, 0, 3}\nz: int4[3] = stablehlo.count_leading_zeros(x)", "z",
       "int4[3]{0, 4, 2}"},
      {"x = bool[2]{1, 0}\ny = bool[2]{1, 1}\nz: bool[2] = stablehlo.xor(x, y)\n"
       "a: bool[2] = stablehlo.add(x, y)\nm: bool[2] = stablehlo.multiply(x, y)\n"
       "n: bool[2] = stablehlo.not(x)",
       "z, a, m, n",
       "bool[2]{false, true}; bool[2]{true, true}; bool[2]{true, false}; bool[2]{false, true}"},
      {"x = bool[1]{1}\nz: bool[1] = stablehlo.subtract(x, x)", "z", "error bools"},
      // The lowest bits are first.
      {"x = uint16[1]{258}\nz: uint8[1,2] = stablehlo.bitcast_convert(x)", "z", "uint8[1,2]{2, 1}"},
      {"x = uint8[1,2]{2, 1}\nz: uint16[1] = stablehlo.bitcast_convert(x)", "z", "uint16[1]{258}"},
      {"x = int8[1]{-95}\nz: int4[1,2] = stablehlo.bitcast_convert(x)", "z", "int4[1,2]{1, -6}"},
      {"x = int4[1,2]{1, -6}\nz: int8[1] = stablehlo.bitcast_convert(x)", "z", "int8[1]{-95}"},
      {"x = float32[1]{1}\nz: int32[1] = stablehlo.bitcast_convert(x)", "z",
       "int32[1]{1065353216}"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

TEST(Stablehlo, Floats) {
  const std::string x = "x = float32[6]{-0, -2.5, 0.5, 2.5, nan, -inf}\n";
  const ConstantRow rows[] = {
      {x + "z: float32[6] = stablehlo.sign(x)", "z", "float32[6]{-0, -1, 1, 1, nan, -1}"},
      {x + "z: float32[6] = stablehlo.round_nearest_afz(x)", "z",
       "float32[6]{-0, -3, 1, 3, nan, -inf}"},
      {x + "z: float32[6] = stablehlo.round_nearest_even(x)", "z",
       "float32[6]{-0, -2, 0, 2, nan, -inf}"},
      {x + "z: bool[6] = stablehlo.is_finite(x)", "z",
       "bool[6]{true, true, true, true, false, false}"},
      {"x = float32[1]{0.49999997}\nz: float32[1] = stablehlo.round_nearest_afz(x)", "z",
       "float32[1]{0}"},
      {"x = float32[3]{-27, 0, inf}\nz: float32[3] = stablehlo.cbrt(x)", "z",
       "float32[3]{-3, 0, inf}"},
      {"x = float32[2]{-0, -0}\ny = float32[2]{-1, 1}\nz: float32[2] = stablehlo.atan2(x, y)", "z",
       "float32[2]{-3.1415927, -0}"},
      {"x = float32[2]{1, nan}\ny = float32[2]{nan, 1}\nz: float32[2] = stablehlo.maximum(x, y)",
       "z", "float32[2]{nan, nan}"},
      // Bounds of rank 0, and of which the upper one counts.
      {"a = float32[]{2}\nx = float32[2]{0, 5}\nb = float32[]{1}\n"
       "z: float32[2] = stablehlo.clamp(a, x, b)",
       "z", "float32[2]{1, 1}"},
      {"p = bool[]{1}\nx = int32[2]{1, 2}\ny = int32[2]{3, 4}\n"
       "z: int32[2] = stablehlo.select(p, x, y)",
       "z", "int32[2]{1, 2}"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

TEST(Stablehlo, Comparisons) {
  const std::string floats = "x = float32[4]{-0, nan, -inf, 1}\ny = float32[4]{0, inf, -1, nan}\n";
  const auto compare = [](std::string_view shape, std::string_view how) {
    return "z: bool" + std::string(shape) + " = stablehlo.compare(x, y) { " + std::string(how) +
           " }";
  };
  const ConstantRow rows[] = {
      {floats + compare("[4]", "comparison_direction = \"LT\", compare_type = \"FLOAT\""), "z",
       "bool[4]{false, false, true, false}"},
      {floats + compare("[4]", "comparison_direction = \"LT\", compare_type = \"TOTALORDER\""), "z",
       "bool[4]{true, false, true, true}"},
      {floats + compare("[4]", "comparison_direction = \"EQ\", compare_type = \"TOTALORDER\""), "z",
       "bool[4]{false, false, false, false}"},
      {floats + compare("[4]", "comparison_direction = \"NE\""), "z",
       "bool[4]{false, true, true, true}"},
      {"x = uint64[1]{18446744073709551615}\ny = uint64[1]{1}\n" +
           compare("[1]", "comparison_direction = \"GT\""),
       "z", "bool[1]{true}"},
      {"x = bool[2]{0, 1}\ny = bool[2]{1, 1}\n" + compare("[2]", "comparison_direction = \"GE\""),
       "z", "bool[2]{false, true}"},
      {floats + compare("[4]", "comparison_direction = \"ABOVE\""), "z", "error ABOVE"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

TEST(Stablehlo, Conversions) {
  const std::string x = "x = float32[6]{-1e10, 1e10, nan, -1.9, 300.7, inf}\n";
  const ConstantRow rows[] = {
      {x + "z: int32[6] = stablehlo.convert(x)", "z",
       "int32[6]{-2147483648, 2147483647, 0, -1, 300, 2147483647}"},
      {x + "z: uint8[6] = stablehlo.convert(x)", "z", "uint8[6]{0, 255, 0, 0, 255, 255}"},
      {x + "z: bool[6] = stablehlo.convert(x)", "z", "bool[6]{true, true, true, true, true, true}"},
      {"x = int32[2]{300, -129}\nz: int8[2] = stablehlo.convert(x)", "z", "int8[2]{44, 127}"},
      {"x = bool[2]{0, 1}\nz: float16[2] = stablehlo.convert(x)", "z", "float16[2]{0, 1}"},
      {"x = float32[2]{1000, -1000}\nz: float8e4m3fn[2] = stablehlo.convert(x)\n"
       "w: float32[2] = stablehlo.convert(z)",
       "w", "float32[2]{nan, nan}"},
      {"x = float32[5]{1.0625, 70000, 1e-6, nan, -0}\nz: float32[5] = "
       "stablehlo.reduce_precision(x) { exponent_bits = 5, mantissa_bits = 3 }",
       "z", "float32[5]{1, inf, 0, nan, -0}"},
      {"x = float32[2]{1.1875, 1.3125}\nz: float32[2] = stablehlo.reduce_precision(x) { "
       "exponent_bits = 8, mantissa_bits = 3 }",
       "z", "float32[2]{1.25, 1.25}"},
      {"x = float32[1]{nan}\nz: float32[1] = stablehlo.reduce_precision(x) { exponent_bits = 8, "
       "mantissa_bits = 0 }",
       "z", "float32[1]{inf}"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

TEST(Stablehlo, Chlo) {
  const ConstantRow rows[] = {
      {"x = float32[2]{1, 2}\ny = float32[3,2]{1, 2, 3, 4, 5, 6}\n"
       "z: float32[3,2] = stablehlo.chlo.broadcast_add(x, y)",
       "z", "float32[3,2]{2, 4, 4, 6, 6, 8}"},
      {"x = float32[3]{1, 2, 3}\ny = float32[3,2]{1, 2, 3, 4, 5, 6}\n"
       "z: float32[3,2] = stablehlo.chlo.broadcast_subtract(y, x) { broadcast_dimensions = [0] }",
       "z", "float32[3,2]{0, 1, 1, 2, 2, 3}"},
      {"x = float32[]{2}\ny = float32[2]{1, 3}\nz: bool[2] = stablehlo.chlo.broadcast_compare(x, "
       "y) "
       "{ comparison_direction = \"LT\" }",
       "z", "bool[2]{false, true}"},
      {"x = float32[3]{inf, -inf, 1}\na: bool[3] = stablehlo.chlo.is_pos_inf(x)\n"
       "b: bool[3] = stablehlo.chlo.is_neg_inf(x)\nc: bool[3] = stablehlo.chlo.is_inf(x)",
       "a, b, c",
       "bool[3]{true, false, false}; bool[3]{false, true, false}; bool[3]{true, true, false}"},
      {"x = float32[4]{0, 1, -1, nan}\ny = float32[4]{-1, 2, 0, 1}\n"
       "z: float32[4] = stablehlo.chlo.next_after(x, y)",
       "z", "float32[4]{-1e-45, 1.0000001, -0.99999994, nan}"},
      {"x = int64[2]{-9223372036854775808, 4294967296}\ny = int64[2]{2, 4294967296}\n"
       "z: int64[2] = stablehlo.chlo.mulhi(x, y)",
       "z", "int64[2]{-1, 1}"},
      {"x = float32[2,1]{1, 2}\nz: int32[2,1] = stablehlo.chlo.constant_like(x) { value = 7 }", "z",
       "int32[2,1]{7, 7}"},
      {"x = float64[1]{1}\nz: float64[1] = stablehlo.chlo.erf_inv(x)", "z", "float64[1]{inf}"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

TEST(Stablehlo, CallsOfTargets) {
  const ConstantRow rows[] = {
      {"x = float32[1]{0}\nz: float32[1] = stablehlo.custom_call(x) { call_target_name = "
       "\"mhlo.erf\", has_side_effect = 0 }",
       "z", "float32[1]{0}"},
      {"x = float32[1]{-4}\nz: float32[1] = stablehlo.custom_call(x) { call_target_name = "
       "\"stablehlo.abs\", backend_config = \"\" }",
       "z", "float32[1]{4}"},
      {"x = int32[2]{1, 2}\nz: int32[2] = stablehlo.custom_call(x) { call_target_name = "
       "\"Sharding\" }",
       "z", "int32[2]{1, 2}"},
      {"x = int32[2]{1, 2}\nz: int32[2] = stablehlo.custom_call(x) { call_target_name = "
       "\"my_kernel\" }",
       "z", "error my_kernel"},
      {"x = int32[2]{1, 2}\nz: int32[2] = stablehlo.custom_call(x) { call_target_name = "
       "\"stablehlo.custom_call\" }",
       "z", "error stablehlo.custom_call"},
      {"x = float32[2]{1, 2}\nz: float32[2] = stablehlo.all_reduce(x)", "z",
       "error several devices"},
      {"x = float32[2]{1, 2}\nz: float32[2] = stablehlo.abs(x) { mystery = 1 }", "z",
       "error mystery"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

}  // namespace
}  // namespace x2ir
