// spell_out: ops of many steps that the target lacks.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"

namespace x2ir {
namespace {

TEST(SpellOut, WhatTheTargetLacks) {
  constexpr std::string_view kQkv = "q: float32[2,2,3,4], k: float32[2,2,5,4], v: float32[2,2,5,4]";
  constexpr std::string_view kAll =
      "m = bool[3,5]{true,true,true,true,true, true,false,false,false,true, "
      "false,true,true,true,true}\n"
      "y = attention(q, k, v, m)";
  constexpr std::string_view kGroups =
      "any_s: float32[6]\n any_b: float32[6]\n"
      "y = group_normalization(x, any_s, any_b) { num_groups = 2 }";
  constexpr const char* kScores = "mul transpose matmul add softmax";
  const std::string once = std::string("where ") + kScores + " reduce_max equal where matmul";
  ExpectFusions(
      "spell_out",
      {
          {kQkv, kAll, "attention"},
          {kQkv, kAll, once, {"attention"}},
          {kQkv, "y = attention(q, k, v)", "mul transpose matmul softmax matmul", {"attention"}},
          // A scale that is large goes into both operands by its root.
          {kQkv,
           "y = attention(q, k, v) { scale = 4.0 }",
           "mul mul transpose matmul softmax matmul",
           {"attention"}},
          {"x: float32[n,6,h,4]", kGroups, "group_normalization"},
          {"x: float32[2,6,3,4]",
           kGroups,
           "reshape instance_normalization shape reshape reshape mul reshape add",
           {"group_normalization"}},
      });
}

TEST(SpellOut, WhatIsConstantGoes) {
  // The mask is computed, each row has a "yes", and the scale is the queries' weights'.
  constexpr std::string_view kLines =
      "any_w: float32[8,8]\n h = int64[4]{0,0,2,4}\n"
      "m = bool[3,3]{true,true,true, true,false,true, false,true,true}\n"
      "l = matmul(x, any_w)\n r = reshape(l, h)\n q = transpose(r) { perm = [0,2,1,3] }\n"
      "y = attention(q, k, k, m)";
  const FusionRow row = {"x: float32[2,3,8], k: float32[2,2,3,4]", kLines, "", {"attention"}, 1e-4};
  // matmul, reshape, transpose; transpose of keys, matmul, add, softmax, matmul.
  EXPECT_EQ(ExpectSameNumbers(row), 4 - 8);
}

}  // namespace
}  // namespace x2ir
