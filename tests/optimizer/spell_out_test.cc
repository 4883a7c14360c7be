// spell_out: ops of many steps that the target lacks.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"

namespace x2ir {
namespace {

constexpr std::string_view kDeformed =
    "any_w: float32[3,2,2,2]\n any_b: float32[3]\n y = deform_conv(x, any_w, o, any_b)";

TEST(SpellOut, WhatTheTargetLacks) {
  constexpr std::string_view kQkv = "q: float32[2,2,3,4], k: float32[2,2,5,4], v: float32[2,2,5,4]";
  constexpr std::string_view kAll =
      "m = bool[3,5]{true,true,true,true,true, true,false,false,false,true, "
      "false,true,true,true,true}\n"
      "y = attention(q, k, v, m)";
  constexpr std::string_view kGroups =
      "any_s: float32[6]\n any_b: float32[6]\n"
      "y = group_normalization(x, any_s, any_b) { num_groups = 2 }";
  constexpr std::string_view kChannels =
      "any_s: float32[6]\n any_b: float32[6]\n y = instance_normalization(x, any_s, any_b)";
  constexpr std::string_view kTurned =
      "any_c: float32[4,2]\n any_s: float32[4,2]\n i = int64[2,3]{0, 1, 2, 3, 1, 0}\n"
      "y = rotary_embedding(x, any_c, any_s, i)";
  constexpr const char* kScores = "mul transpose matmul add softmax";
  const std::string once = std::string("where reduce_max equal ") + kScores + " where matmul";
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
          {"x: float32[2,2,3,4]", kTurned, "rotary_embedding"},
          {"x: float32[2,2,3,4]",
           kTurned,
           "gather unsqueeze slice mul gather unsqueeze slice mul sub mul mul add concat",
           {"rotary_embedding"}},
          {"x: float32[2,3,8]",
           "any_c: float32[2,3,1]\n any_s: float32[2,3,1]\n"
           "y = rotary_embedding(x, any_c, any_s) { num_heads = 2, rotary_embedding_dim = 2, "
           "interleaved = 1 }",
           "unsqueeze reshape slice mul unsqueeze slice mul sub unsqueeze mul mul add unsqueeze "
           "concat reshape slice concat reshape",
           {"rotary_embedding"}},
          {"x: float32[1,2,4,4], o: float32[1,8,3,3]", kDeformed, "deform_conv"},
          {"x: float32[2,6,3,4]", kChannels, "instance_normalization"},
          {"x: float32[2,6,3,4]",
           kChannels,
           "reduce_mean sub mul reduce_mean add sqrt div unsqueeze mul unsqueeze add",
           {"instance_normalization"}},
      });
}

TEST(SpellOut, DeformableConvolution) {
  const FusionRow row = {
      "x: float32[1,2,4,4], o: float32[1,8,3,3]", kDeformed, "", {"deform_conv"}, 1e-5};
  EXPECT_LT(ExpectSameNumbers(row), -20);
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
