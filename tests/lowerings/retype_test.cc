// Ops in stand-in element types: the same numbers, in the types that old opsets have, and no
// stand-in where none is exact.
#include "x2ir/optimizer/retype.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/lowerings/lowering_util.h"

namespace x2ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Retype, GivesTheSameNumbers) {
  const LoweredRow rows[] = {
      // Sums and products wrap at the width of the type, quotients and remainders go by value.
      {"x = uint8[3]{255, 200, 0} z = uint8[3]{1, 200, 1}", "y = add(x, z)", {7, 13, 14}},
      {"x = int8[3]{-128, 127, 0} z = int8[3]{1, -2, 1}", "y = sub(x, z)", {7, 13, 14}},
      {"x = int16[3]{-32768, 300, 0} z = int16[3]{-1, 300, 1}", "y = mul(x, z)", {7, 13, 14}},
      {"x = uint16[3]{65535, 300, 0} z = uint16[3]{2, 300, 1}", "y = mul(x, z)", {7, 13, 14}},
      {"x = int8[4]{-128, 127, -7, 7} z = int8[4]{-1, -2, 2, 0}", "y = div(x, z)", {7, 13, 14}},
      {"x = uint8[3]{255, 200, 7} z = uint8[3]{2, 201, 0}", "y = div(x, z)", {7, 13, 14}},
      {"x = int8[3]{-128, 127, 0}", "y = neg(x)", {7, 13}},
      // Comparisons.
      {"x = int8[3]{-128, 127, 0} z = int8[3]{1, -2, 1}", "y = max(x, z)", {8, 11, 12}},
      {"x = uint16[3]{65535, 0, 7} z = uint16[3]{1, 2, 7}", "y = min(x, z)", {8, 11, 12}},
      {"x = int16[3]{-300, 0, 7} z = int16[1]{7}", "y = equal(x, z)", {7, 10, 11}},
      {"x = uint32[3]{4294967295, 0, 7} z = uint32[1]{4294967295}", "y = equal(x, z)", {7, 11}},
      {"x = int32[3]{2147483647, 0, -7} z = int32[1]{2147483646}", "y = greater(x, z)", {7, 9}},
      {"x = uint8[1,1,4]{255, 3, 200, 4}", "y = max_pool(x) { kernel_shape = [2] }", {8, 11, 12}},
      {"x = int8[1,1,4]{-128, -128, -100, 4}",
       "y = max_pool(x) { kernel_shape = [2], pads = [1, 0] }",
       {8, 11, 12}},
      {"x = uint8[2,2]{255, 3, 200, 4}",
       "a = int64[1]{1} y = reduce_max(x, a) { keepdims = 0 }",
       {7, 11, 12}},
      {"x = bool[2,2]{true, false, false, false}",
       "a = int64[1]{1} y = reduce_max(x, a) { keepdims = 0 }",
       {7, 13, 20}},
      // Elements that are only moved.
      {"c = bool[2]{true, false} x = bfloat16[2]{1.5, nan} z = bfloat16[2]{inf, -inf}",
       "y = where(c, x, z)",
       {13, 15, 16}},
      {"x = bfloat16[3]{1.5, nan, -inf}", "y = identity(x)", {13}},
      {"x = int4[4]{-8, 7, 0, -1}", "a = int64[1]{0} y = unsqueeze(x, a)", {21}},
      {"x = uint4[2,2]{15, 7, 0, 1}", "y = transpose(x) { perm = [1, 0] }", {21}},
      // Floats of 16 bits are computed in float32 and rounded once.
      {"x = bfloat16[5]{-3, -0.5, 0.0, 2, nan}", "y = elu(x) { alpha = 1.5 }", {13, 21, 22}},
      {"x = bfloat16[5]{-3, -0.5, 0.0, 2, inf}", "y = selu(x)", {13, 21, 22}},
      {"x = bfloat16[4]{-3, -0.5, 0.0, 2}", "y = softplus(x)", {13, 21, 22}},
  };
  for (const LoweredRow& row : rows) ExpectSameNumbers(row);
}

TEST(Retype, CastsConstantsOutright) {
  EXPECT_THAT(LoweredText("x: uint8[2]", "k = uint8[]{3} y = add(x, k)", 13),
              AllOf(HasSubstr("y_const = int32[]{3}\n"), HasSubstr("onnx.Cast(x) { to = 6 }\n"),
                    HasSubstr("onnx.Add(y_cast, y_const)\n"),
                    HasSubstr("y: uint8[2] = onnx.Cast(y_add) { to = 2 }\n")));
}

// Weights of few bits do not become four times as large.
TEST(Retype, MovesFewBitsAsBytes) {
  const std::string unsqueeze = "a = int64[1]{0} y = unsqueeze(x, a)";
  EXPECT_THAT(LoweredText("x: int4[2]", unsqueeze, 21),
              AllOf(HasSubstr("onnx.Cast(x) { to = 3 }\n"), HasSubstr("y: int4[1,2] = onnx.Cast")));
  EXPECT_THAT(LoweredText("x: uint4[2]", unsqueeze, 21), HasSubstr("onnx.Cast(x) { to = 2 }\n"));
}

TEST(Retype, OnlyWhereExact) {
  struct Row {
    int opset;
    const char *inputs, *lines, *want;
  };
  const Row rows[] = {
      // No float holds them all, and Where has them from opset 9 on only.
      {8, "x: int64[2], z: int64[2]", "y = greater(x, z)", "may not be int64"},
      // The least int8 is what the maximum of nothing is.
      {11, "x: int8[1,1,4]", "y = max_pool(x) { kernel_shape = [2], pads = [2, 2] }",
       "padding of 2 for a kernel of 2"},
      {11, "x: int8[n,2]", "a = int64[1]{0} y = reduce_max(x, a) { keepdims = 0 }",
       "may not be int8"},
      // Casts of bfloat16 came with opset 13.
      {12, "x: bfloat16[2]", "y = elu(x)", "may not be bfloat16"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(LoweredText(row.inputs, row.lines, row.opset), HasSubstr(row.want)) << row.lines;
  }
}

}  // namespace
}  // namespace x2ir
