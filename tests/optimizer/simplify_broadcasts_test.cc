// Rules 27 to 32 of simplify: what broadcasts is not expanded before, and what is written in place
// of one op.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"
#include "tests/optimizer/pass_util.h"

namespace x2ir {
namespace {

void ExpectSimple(const std::vector<PassRow>& rows) {
  for (const PassRow& row : rows) ExpectPass(row, {"simplify", "dead_code"});
}

TEST(SimplifyBroadcasts, Expands) {
  ExpectSimple({
      {"x: float32[2,3], r: float32[2,1]", "s = int64[2]{2,3}\n e = expand(r, s)\n y = add(x, e)",
       "y = add(x, r)"},
      {"x: float32[n,4], r: float32[4]", "s = int64[2]{1,4}\n e = expand(r, s)\n y = mul(e, x)",
       "y = mul(r, x)"},
      {"c: bool[2,1], x: float32[2,3]",
       "z = float32[]{0} s = int64[2]{2,3}\n e = expand(c, s)\n y = where(e, x, z)",
       "z = float32[]{0}\n y = where(c, x, z)"},
      // One of two makes the shape.
      {"a: float32[3,1], b: float32[1,3]",
       "s = int64[2]{3,3}\n e = expand(a, s)\n f = expand(b, s)\n y = add(e, f)", "y = add(a, b)"},
      {"a: float32[2,1], b: float32[1,1]", "s = int64[2]{2,3}\n e = expand(a, s)\n y = add(e, b)",
       ""},
      {"x: float32[n,4], r: float32[1,4]", "s = shape(x)\n e = expand(r, s)\n y = neg(e)", ""},
      {"x: float32[2,1]",
       "s = int64[2]{2,3} t = int64[3]{4,2,3}\n e = expand(x, s)\n y = expand(e, t)",
       "t = int64[3]{4, 2, 3}\n y = expand(x, t)"},
  });
}

TEST(SimplifyBroadcasts, NumbersOfIntegers) {
  ExpectSimple({
      {"x: int32[2,3]", "c = int32[2,3]{7,7,7,7,7,7}\n y = add(x, c)",
       "c = int32[]{7}\n y = add(x, c)"},
      {"x: int32[1,3]", "c = int32[2,3]{7,7,7,7,7,7}\n y = add(x, c)", ""},
      {"x: int32[2]", "c = int32[2]{7,8}\n y = add(x, c)", ""},
  });
}

TEST(SimplifyBroadcasts, Means) {
  ExpectFusions("simplify",
                {
                    {"x: float32[2,3,4]",
                     "a = int64[2]{1,2} n = float32[]{12}\n s = reduce_sum(x, a)\n y = div(s, n)",
                     "reduce_mean"},
                    {"x: float32[2,3,4]",
                     "a = int64[2]{1,2} n = float32[]{4}\n s = reduce_sum(x, a)\n y = div(s, n)",
                     "reduce_sum div"},
                    {"x: float32[2,n]",
                     "a = int64[1]{1} n = float32[]{4}\n s = reduce_sum(x, a)\n y = div(s, n)",
                     "reduce_sum div"},
                });
}

TEST(SimplifyBroadcasts, BiasesBeforeReshapes) {
  constexpr std::string_view kX = "x: float32[2,5,3]";
  const std::string product = "any_w: float32[3,8]\n p = matmul(x, any_w)\n";
  ExpectFusions("simplify",
                {
                    {kX,
                     product + "any_b: float32[2,4] s = int64[4]{2,5,2,4}\n r = reshape(p, s)\n"
                               "y = add(r, any_b)",
                     "matmul add reshape"},
                    {kX,
                     product + "any_b: float32[1,1,2,4] s = int64[4]{2,5,2,4}\n"
                               "r = reshape(p, s)\n y = add(any_b, r)",
                     "matmul add reshape"},
                    // Of rows, or of other columns.
                    {kX,
                     product + "any_b: float32[2,1] s = int64[4]{2,5,2,4}\n r = reshape(p, s)\n"
                               "y = add(r, any_b)",
                     "matmul reshape add"},
                    {kX,
                     product + "any_b: float32[4,2] s = int64[4]{2,5,4,2}\n r = reshape(p, s)\n"
                               "t = transpose(r) { perm = [0, 1, 3, 2] }\n any_c: float32[2,4]\n"
                               "y = add(t, any_c)",
                     "matmul reshape transpose add"},
                });
}

TEST(SimplifyBroadcasts, Lookups) {
  // Ids as they are, from the end, and outside.
  const std::string table =
      "any_t: float32[3,2] zero = int32[]{0} n = int32[]{3} two = int32[]{2}\n"
      "last = int64[1]{1} nothing = float32[]{-5} z = int64[]{0} t = int64[]{2}\n"
      "ids = cast(x) { to = \"int32\" }\n";
  const std::string from_end =
      "below = less(ids, zero)\n other = add(ids, n)\n j = where(below, other, ids)\n";
  const std::string rest =
      "u = unsqueeze(j, last)\n a = greater_or_equal(u, zero)\n b = less_or_equal(u, two)\n"
      "inside = and(a, b)\n w = cast(j) { to = \"int64\" }\n w1 = max(w, z)\n w2 = min(w1, t)\n"
      "g = gather(any_t, w2) { axis = 0 }\n y = where(inside, g, nothing)";
  const std::string found = "cast clip equal unsqueeze gather where";
  // Places along an axis are inside.
  std::string places = table + from_end + rest;
  places.replace(places.find("cast(x) { to = \"int32\" }"), 24, "cast(at) { to = \"int32\" }");
  places.insert(places.find("ids = "), "at = arg_max(x) { axis = 1, keepdims = 0 }\n");
  ExpectFusions("simplify", {{"x: float32[6]", table + from_end + rest, found},
                             {"x: float32[n,3]", places, "arg_max cast gather"},
                             {"x: float32[6]", table + "j = neg(ids)\n" + rest,
                              "cast neg clip equal unsqueeze gather where"}});
}

TEST(SimplifyBroadcasts, PoolsOfElements) {
  const std::string pool =
      "p = average_pool(x) { kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 1, 1], "
      "count_include_pad = 1 }\n k = float32[]{4}\n s = mul(p, k)\n";
  ExpectFusions("simplify",
                {{"x: float32[1,2,3,3]", pool + "c = float32[1,1,2,2]{4,2,2,1}\n y = div(s, c)",
                  "average_pool"},
                 {"x: float32[1,2,3,3]", pool + "c = float32[1,1,2,2]{4,2,2,2}\n y = div(s, c)",
                  "average_pool mul div"}});
}

TEST(SimplifyBroadcasts, FactorsThatCancel) {
  ExpectFusions(
      "merge_constants",
      {{"x: float32[2,3]", "c = float32[]{4}\n p = mul(x, c)\n y = div(p, c)\n", "identity"},
       {"x: float32[2,3]",
        "c = float32[]{4} d = float32[]{2}\n p = mul(x, c)\n"
        "q = div(p, c)\n y = neg(q)",
        "neg"},
       {"x: float32[2,3]", "c = float32[]{1e30}\n p = mul(x, c)\n y = div(p, c)", "mul div"}});
}

}  // namespace
}  // namespace x2ir
