// Lowerings of reductions, cumulative ops, ranges and arithmetic of integers.
#include <string>

#include "gtest/gtest.h"
#include "tests/lowerings/lowering_util.h"

namespace x2ir {
namespace {

TEST(Lowerings, ReductionsOverComputedAxes) {
  for (const std::string op :
       {"sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "log_sum_exp", "sum_square"}) {
    const std::string keep = "y = reduce_" + op + "(x, a)";
    const std::string drop = keep + " { keepdims = 0 }";
    const std::string noop = keep + " { keepdims = 0, noop_with_empty_axes = 1 }";
    const std::vector<int> kOpsets = {9, 11, 12, 13, 17};
    const LoweringRow rows[] = {
        {kOpsets,
         "x: float32[2,3,2], a: int64[2]",
         keep,
         {"float32[2,3,2]{1,2,3,4,5,6,7,8,9,10,11,12}; int64[2]{0, -1}",
          "float32[2,3,2]{1,2,3,4,inf,6,7,nan,9,10,11,12}; int64[2]{1, 0}"}},
        {kOpsets,
         "x: float32[n,3], a: int64[1]",
         drop,
         {"float32[2,3]{1,2,3,4,5,6}; int64[1]{-1}", "float32[2,3]{1,2,3,4,5,6}; int64[1]{0}",
          "float32[0,3]{}; int64[1]{0}", "float32[0,3]{}; int64[1]{1}"}},
        {kOpsets,
         "x: float32[2,3], a: int64[k]",
         drop,
         {"float32[2,3]{1,2,3,4,5,6}; int64[0]{}", "float32[2,3]{1,2,3,4,5,6}; int64[2]{1, 0}"}},
        {kOpsets,
         "x: float32[2,3], a: int64[k]",
         noop,
         {"float32[2,3]{1,2,3,4,5,6}; int64[0]{}", "float32[2,3]{1,2,3,4,5,6}; int64[1]{1}"}},
        {kOpsets,
         "x: float32[2,0,3], a: int64[1]",
         keep,
         {"float32[2,0,3]{}; int64[1]{1}", "float32[2,0,3]{}; int64[1]{0}"}},
        {kOpsets,
         "x: float32[2,0,3], a: int64[1]",
         drop,
         {"float32[2,0,3]{}; int64[1]{-2}", "float32[2,0,3]{}; int64[1]{2}"}},
        {{14, 17},
         "x: float32[n,m], a: int64[1]",
         drop,
         {"float32[0,3]{}; int64[1]{0}", "float32[0,3]{}; int64[1]{1}",
          "float32[2,2]{1,2,3,4}; int64[1]{1}"}},
        {kOpsets, "x: float32[], a: int64[0]", keep, {"float32[]{3}; int64[0]{}"}},
    };
    for (const LoweringRow& row : rows) ExpectSameResults(row);
    if (op != "sum") {
      ExpectRefused(13, "x: float32[n,m], a: int64[1]", drop, "any of which may be 0");
    }
  }
  const LoweringRow rows[] = {
      {{9, 17},
       "x: int64[2,2], a: int64[1]",
       "y = reduce_sum(x, a)",
       {"int64[2,2]{9223372036854775807, 1, 1, -1}; int64[1]{1}"}},
      {{9, 18, 19},
       "x: bool[n,2]",
       "a = int64[1]{0}\n y = reduce_max(x, a) { keepdims = 0 }",
       {"bool[2,2]{true, false, false, false}", "bool[0,2]{}"}},
      {{9, 18, 19},
       "x: bool[n,2]",
       "a = int64[1]{0}\n y = reduce_min(x, a)",
       {"bool[2,2]{true, false, true, true}", "bool[0,2]{}"}},
      {{9, 17},
       "x: bool[3,2], a: int64[1]",
       "y = reduce_min(x, a)",
       {"bool[3,2]{true, false, true, true, true, true}; int64[1]{-1}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
}

TEST(Lowerings, AlongAnAxis) {
  for (const std::string flags :
       {"", "exclusive = 1", "reverse = 1", "exclusive = 1, reverse = 1"}) {
    for (const std::string op : {"cum_sum", "cum_prod"}) {
      const std::string line = "y = " + op + "(x, a) { " + flags + " }";
      const LoweringRow rows[] = {
          {{9, 10},
           "x: float32[7], a: int64[]",
           line,
           {"float32[7]{1, 2, inf, 4, nan, 6, 7}; int64[]{0}",
            "float32[7]{1,2,3,4,5,6,7}; int64[]{-1}"}},
          {{9, 10},
           "x: int32[n,4], a: int32[]",
           "a1 = int64[]{-1}\n y = " + op + "(x, a1) { " + flags + " }",
           {"int32[2,4]{1,2,3,2147483647,5,6,-7,8}; int32[]{0}", "int32[0,4]{}; int32[]{0}"}},
          {{9, 10},
           "x: int64[2,3], a: int64[]",
           line,
           {"int64[2,3]{1,2,3,4,5,6}; int64[]{0}", "int64[2,3]{1,2,3,4,5,6}; int64[]{-1}"}},
          {{9, 10}, "x: float32[0,1], a: int64[]", line, {"float32[0,1]{}; int64[]{0}"}},
          {{9, 10},
           "x: float32[n], a: int64[]",
           line,
           {"float32[7]{1, 2, inf, 4, nan, 6, 7}; int64[]{0}", "float32[0]{}; int64[]{-1}"}},
          {{9, 10},
           "x: int32[2,n], a: int32[]",
           "a1 = int64[]{1}\n y = " + op + "(x, a1) { " + flags + " }",
           {"int32[2,3]{1,2,3,2147483647,5,6}; int32[]{0}", "int32[2,0]{}; int32[]{0}"}},
      };
      for (LoweringRow row : rows) {
        if (op == "cum_prod") row.opsets = {9, 13, 25};
        ExpectSameResults(row);
      }
    }
  }
  const LoweringRow rows[] = {
      {{9, 11},
       "x: float32[n,3]",
       "y = arg_max(x) { axis = -1, select_last_index = 1 }",
       {"float32[3,3]{1, 3, 3, nan, nan, inf, 2, 1, 2}", "float32[0,3]{}"}},
      {{9, 11},
       "x: int32[n,3]",
       "y = arg_min(x) { axis = 0, select_last_index = 1, keepdims = 0 }",
       {"int32[3,3]{1, 3, 3, 1, 2, 3, 4, 2, 3}"}},
      {{9, 11},
       "x: int32[n]",
       "y = arg_min(x) { axis = 0, select_last_index = 1, keepdims = 0 }",
       {"int32[3]{1, 3, 1}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
}

TEST(Lowerings, Diagonals) {
  const LoweringRow rows[] = {
      {{9, 11},
       "x: float32[n,n]",
       "y = einsum(x) { equation = \"ii->i\" }",
       {"float32[2,2]{1, nan, inf, 4}", "float32[0,0]{}"}},
      {{9, 11},
       "x: int64[2,2,2]",
       "y = einsum(x) { equation = \"iii\" }",
       {"int64[2,2,2]{1, 2, 3, 4, 5, 6, 7, 8}"}},
      {{9, 11},
       "x: float64[b,2,b], z: float64[b,b]",
       "y = einsum(x, z) { equation = \"iji,ii->ij\" }",
       {"float64[1,2,1]{2, 3}; float64[1,1]{7}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
}

TEST(Lowerings, Ranges) {
  const LoweringRow rows[] = {
      {{9},
       "s: int64[], l: int64[], d: int64[]",
       "y = range(s, l, d)",
       {"int64[]{0}; int64[]{5}; int64[]{1}", "int64[]{5}; int64[]{0}; int64[]{-2}",
        "int64[]{5}; int64[]{0}; int64[]{2}", "int64[]{-7}; int64[]{7}; int64[]{7}",
        "int64[]{-3}; int64[]{4}; int64[]{5}", "int64[]{3}; int64[]{-4}; int64[]{-5}",
        "int64[]{3}; int64[]{3}; int64[]{-5}",
        "int64[]{-9223372036854775808}; int64[]{9223372036854775807}; int64[]{4611686018427387904}",
        "int64[]{9223372036854775807}; int64[]{-9223372036854775808}; "
        "int64[]{-9223372036854775807}"}},
      {{9},
       "l: int64[]",
       "s = int64[]{0}\n d = int64[]{1}\n y = range(s, l, d)",
       {"int64[]{3}", "int64[]{0}", "int64[]{-3}"}},
      {{9},
       "s: int32[], l: int32[], d: int32[]",
       "y = range(s, l, d)",
       {"int32[]{2147483640}; int32[]{2147483647}; int32[]{4}",
        "int32[]{-2147483648}; int32[]{2147483647}; int32[]{2147483647}"}},
      {{9},
       "s: float32[], l: float32[], d: float32[]",
       "y = range(s, l, d)",
       {"float32[]{1}; float32[]{2}; float32[]{0.1}",
        "float32[]{1}; float32[]{-2}; float32[]{-0.75}",
        "float32[]{1}; float32[]{-2}; float32[]{1}"}},
      {{9},
       "s: float64[], l: float64[], d: float64[]",
       "y = range(s, l, d)",
       {"float64[]{0}; float64[]{0.3}; float64[]{0.1}"}},
      {{13, 26},
       "s: bfloat16[], l: bfloat16[], d: bfloat16[]",
       "y = range(s, l, d)",
       {"bfloat16[]{1}; bfloat16[]{2}; bfloat16[]{0.1}"}},
      {{9, 11, 26},
       "s: float16[], l: float16[], d: float16[]",
       "y = range(s, l, d)",
       {"float16[]{1}; float16[]{2}; float16[]{0.1}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
}

TEST(Lowerings, IntegersAndBits) {
  const std::string kInt32 =
      "int32[9]{7, -7, 7, -7, -2147483648, -2147483648, 5, 0, 2147483647}; "
      "int32[9]{3, 3, -3, -3, -1, 2147483647, 0, -5, -2147483648}";
  const std::string kInt64 =
      "int64[9]{9007199254740993, -9007199254740993, 9223372036854775807, -9223372036854775808, "
      "-9223372036854775808, 5, 7, -7, -7}; int64[9]{10, 10, -1000, -1, 9223372036854775807, 0, "
      "-3, 3, -9223372036854775808}";
  const std::string kInt8 =
      "int8[7]{-128, -128, 127, 5, -5, 0, -128}; int8[7]{-1, 127, -128, 0, 3, -3, 3}";
  const std::string kUInt64 =
      "uint64[3]{18446744073709551615, 5, 7}; uint64[3]{10, 0, 18446744073709551615}";
  const LoweringRow rows[] = {
      {{9}, "a: int32[n], b: int32[n]", "y = mod(a, b)", {kInt32}},
      {{9}, "a: int32[n], b: int32[n]", "y = mod(a, b) { fmod = 1 }", {kInt32}},
      {{9}, "a: int8[n], b: int8[n]", "y = mod(a, b)", {kInt8}},
      {{9}, "a: int8[n], b: int8[n]", "y = mod(a, b) { fmod = 1 }", {kInt8}},
      {{9}, "a: uint64[n], b: uint64[n]", "y = mod(a, b)", {kUInt64}},
      // Runtimes have no exact remainder of 64 bits with the sign of the dividend.
      {{9, 10, 13, 22}, "a: int64[n], b: int64[n]", "y = mod(a, b) { fmod = 1 }", {kInt64}},
      {{9, 13}, "a: uint64[n], b: uint64[n]", "y = mod(a, b) { fmod = 1 }", {kUInt64}},
      {{9, 13},
       "a: int64[n], b: int64[n]",
       "k = int64[]{1} d = max(b, k) y = mod(a, d) { fmod = 1 }",
       {kInt64}},
      {{9, 13},
       "a: int64[n], b: int64[n]",
       "k = int64[]{-2} d = min(b, k) y = mod(a, d) { fmod = 1 }",
       {kInt64}},
      {{9},
       "a: uint16[2,1], b: uint16[2]",
       "y = mod(a, b)",
       {"uint16[2,1]{65535, 7}; uint16[2]{10, 65535}"}},
      {{9},
       "a: int64[], b: int64[2]",
       "y = mod(a, b)",
       {"int64[]{-9223372036854775808}; int64[2]{-1, 9223372036854775807}"}},
      {{9},
       "a: uint8[n], b: uint8[n]",
       "y = bit_shift(a, b) { direction = \"LEFT\" }",
       {"uint8[5]{255, 3, 1, 1, 7}; uint8[5]{1, 7, 8, 255, 0}"}},
      {{9},
       "a: uint32[n], b: uint32[n]",
       "y = bit_shift(a, b) { direction = \"LEFT\" }",
       {"uint32[4]{4294967295, 3, 1, 1}; uint32[4]{1, 31, 32, 4294967295}"}},
      {{9},
       "a: uint64[n], b: uint64[n]",
       "y = bit_shift(a, b) { direction = \"RIGHT\" }",
       {"uint64[4]{18446744073709551615, 18446744073709551615, 5, 5}; uint64[4]{63, 1, 64, 0}"}},
      {{9},
       "a: uint16[2], b: uint16[]",
       "y = bit_shift(a, b) { direction = \"RIGHT\" }",
       {"uint16[2]{65535, 1}; uint16[]{15}", "uint16[2]{65535, 1}; uint16[]{40}"}},
      {{9, 25}, "a: int8[3]", "y = bit_cast(a) { to = \"uint8\" }", {"int8[3]{-1, -128, 127}"}},
      {{9, 25},
       "a: uint64[2]",
       "y = bit_cast(a) { to = \"int64\" }",
       {"uint64[2]{18446744073709551615, 5}"}},
      // Numbers of all kinds: zeros, small ones, infinities, NaN.
      {{9, 18, 25},
       "a: int32[8]",
       "y = bit_cast(a) { to = \"float32\" }",
       {"int32[8]{0, -2147483648, 1, 8388607, 1065353216, -1082130432, 2139095040, 2143289344}"}},
      {{9, 18, 25},
       "a: uint32[3]",
       "y = bit_cast(a) { to = \"float32\" }",
       {"uint32[3]{4286578688, 2139095039, 3263168512}"}},
      {{13, 18, 25},
       "a: uint16[4]",
       "y = bit_cast(a) { to = \"float16\" }",
       {"uint16[4]{1, 15360, 64512, 31743}"}},
      {{9, 18, 25},
       "a: int64[4]",
       "y = bit_cast(a) { to = \"float64\" }",
       {"int64[4]{1, -4616189618054758400, 9218868437227405312, 4614256656552045848}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
  ExpectRefused(25, "a: float32[2]", "y = bit_cast(a) { to = \"int32\" }", "takes the bits");
  ExpectRefused(9, "a: float32[2], b: float32[2]", "y = mod(a, b) { fmod = 1 }", "opset 10 has it");
}

}  // namespace
}  // namespace x2ir
