// fuse_attention: what programs write around attention, and what stays as it is.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"

namespace x2ir {
namespace {

TEST(FuseAttention, RotaryEmbeddings) {
  constexpr std::string_view kX = "x: float32[2,3,5,4]";
  // The angles of five positions, each twice.
  const std::string angles =
      "any_f: float32[1,5,2]\n one = int64[1]{1}\n"
      "e = concat(any_f, any_f) { axis = -1 }\n"
      "ec = cos(e)\n c = unsqueeze(ec, one)\n es = sin(e)\n s = unsqueeze(es, one)\n";
  const std::string halves =
      "zero = int64[1]{0}\n two = int64[1]{2}\n end = int64[1]{9223372036854775807}\n"
      "last = int64[1]{3}\n a = slice(x, zero, two, last)\n b = slice(x, two, end, last)\n";
  const std::string turned = "n = neg(b)\n t = concat(n, a) { axis = -1 }\n";
  const std::string sum = "p = mul(x, c)\n q = mul(s, t)\n y = add(p, q)";
  const std::string before = "concat cos unsqueeze sin unsqueeze ";
  const std::string halved = "slice reshape slice reshape ";
  const std::string of_one = before + halved + "range expand rotary_embedding";
  const std::string of_each = before + halved + "range reshape rotary_embedding";
  const std::string all = angles + halves + turned + sum;
  const std::string other_sum =
      angles + halves + turned + "p = mul(c, x)\n q = mul(t, s)\n y = add(q, p)";
  // Of each sequence its own.
  std::string own = all;
  own.replace(own.find("[1,5,2]"), 7, "[2,5,2]");
  // a takes the sign, not b; the halves are in the other order.
  const std::string other_sign =
      angles + halves + "n = neg(a)\n t = concat(n, b) { axis = -1 }\n" + sum;
  // The second half has angles of its own.
  std::string unequal = all;
  unequal.replace(unequal.find("concat(any_f, any_f)"), 20, "concat(any_f, any_g)");
  unequal = "any_g: float32[1,5,2]\n" + unequal;
  const std::string as_was = "slice slice neg concat mul mul add";
  ExpectFusions("fuse_attention", {{kX, all, of_one},
                                   {kX, other_sum, of_one},
                                   {kX, own, of_each},
                                   {kX, other_sign, before + as_was},
                                   {kX, unequal, before + as_was},
                                   {kX, all, before + as_was, {"rotary_embedding"}}});
}

TEST(FuseAttention, RotaryEmbeddingsOfAPart) {
  constexpr std::string_view kLines =
      "any_c: float32[5,1]\n any_s: float32[5,1]\n i = int64[2,5]{0,1,2,3,4,4,3,2,1,0}\n"
      "zero = int64[1]{0}\n two = int64[1]{2}\n end = int64[1]{4}\n last = int64[1]{3}\n"
      "a = slice(x, zero, two, last)\n b = slice(x, two, end, last)\n"
      "r = rotary_embedding(a, any_c, any_s, i)\n y = concat(r, b) { axis = 3 }";
  ExpectFusions("fuse_attention", {{"x: float32[2,3,5,4]", kLines, "rotary_embedding"}});
}

TEST(FuseAttention, SharedHeads) {
  constexpr std::string_view kInputs =
      "q: float32[2,4,3,8], k: float32[2,2,5,8], v: float32[2,2,5,8]";
  const auto lines = [](const std::string& sizes, const std::string& k_axis) {
    return "one = int64[1]{1}\n two = int64[1]{2}\n f = int64[4]{2,4,5,8}\n n = int64[5]" + sizes +
           "\n k1 = unsqueeze(k, " + k_axis +
           ")\n k2 = expand(k1, n)\n k3 = reshape(k2, f)\n"
           "v1 = unsqueeze(v, two)\n w = int64[5]{2,2,2,5,8}\n v2 = expand(v1, w)\n"
           "v3 = reshape(v2, f)\n y = attention(q, k3, v3)";
  };
  const std::string shared = lines("{2,2,2,5,8}", "two");
  // The heads of keys stand one behind the other, not side by side.
  const std::string tiled = lines("{2,2,2,5,8}", "one");
  const std::string as_was = "unsqueeze expand reshape unsqueeze expand reshape attention";
  ExpectFusions("fuse_attention", {{kInputs, shared, "attention"},
                                   {kInputs, tiled, as_was},
                                   {kInputs, shared, as_was, {"attention"}}});
}

TEST(FuseAttention, Masks) {
  constexpr std::string_view kQkv = "q: float32[2,2,3,4], k: float32[2,2,3,4], v: float32[2,2,3,4]";
  constexpr std::string_view kCausal =
      "m = bool[1,1,3,3]{true,false,false, true,true,false, true,true,true}\n"
      "y = attention(q, k, v, m)";
  constexpr std::string_view kAll = "m = bool[1,3]{true,true,true}\n y = attention(q, k, v, m)";
  ExpectFusions("fuse_attention", {{kQkv, kCausal, "attention"}, {kQkv, kAll, "attention"}});
  const FusionRow row = {kQkv, kCausal, "", {"rotary_embedding"}};
  EXPECT_EQ(ExpectSameNumbers(row), 0);
}

TEST(FuseAttention, HeadsStayWhereTheyAre) {
  const std::string heads =
      "n = int64[4]{0,0,4,8}\n w = int64[3]{0,0,32}\n"
      "q1 = reshape(q, n)\n q2 = transpose(q1) { perm = [0,2,1,3] }\n"
      "k1 = reshape(k, n)\n k2 = transpose(k1) { perm = [0,2,1,3] }\n"
      "v1 = reshape(v, n)\n v2 = transpose(v1) { perm = [0,2,1,3] }\n";
  const std::string back = "t = transpose(a) { perm = [0,2,1,3] }\n y = reshape(t, w)";
  const std::string rotary =
      "any_c: float32[5,4]\n any_s: float32[5,4]\n i = int64[2,3]{0,1,2,4,3,2}\n";
  constexpr std::string_view kQkv = "q: float32[2,3,32], k: float32[2,5,32], v: float32[2,5,32]";
  const std::string plain = heads + "a = attention(q2, k2, v2)\n" + back;
  const std::string turned =
      heads + rotary + "r = rotary_embedding(q2, any_c, any_s, i)\n a = attention(r, k2, v2)\n" +
      back;
  const auto nodes_gone = [&](const std::string& lines, std::vector<std::string_view> lacking) {
    return ExpectSameNumbers({kQkv, lines, "", std::move(lacking)});
  };
  EXPECT_EQ(nodes_gone(plain, {}), 8);
  EXPECT_EQ(nodes_gone(turned, {}), 8);
  EXPECT_LT(nodes_gone(plain, {"attention"}), 8);
}

// Halves that are turned against each other, with heads after the length or before it.
TEST(FuseAttention, RotaryEmbeddingsOfHalves) {
  const std::string halves =
      "zero = int64[1]{0}\n two = int64[1]{2}\n end = int64[1]{4}\n last = int64[1]{3}\n"
      "a = slice(x, zero, two, last)\n b = slice(x, two, end, last)\n";
  const std::string turned =
      "p = mul(a, any_c)\n q = mul(b, any_s)\n r = mul(b, any_c)\n t = mul(a, any_s)\n";
  const std::string y = "u = sub(p, q)\n v = add(r, t)\n y = concat(u, v) { axis = 3 }";
  const std::string after =
      "any_c: float32[1,5,1,2]\n any_s: float32[1,5,1,2]\n" + halves + turned + y;
  const std::string before =
      "any_c: float32[1,1,5,2]\n any_s: float32[1,1,5,2]\n" + halves + turned + y;
  // The other way round: an angle of another sign.
  const std::string other_sign = "any_c: float32[1,5,1,2]\n any_s: float32[1,5,1,2]\n" + halves +
                                 turned +
                                 "u = sub(q, p)\n v = add(r, t)\n y = concat(u, v) { axis = 3 }";
  const std::string as_was = "slice slice mul mul mul mul sub add concat";
  ExpectFusions("fuse_attention",
                {{"x: float32[2,5,3,4]", after,
                  "reshape reshape reshape range expand rotary_embedding reshape"},
                 {"x: float32[2,3,5,4]", before, "reshape reshape range expand rotary_embedding"},
                 {"x: float32[2,5,3,4]", other_sign, as_was},
                 {"x: float32[2,5,3,4]", after, as_was, {"rotary_embedding"}}});
}

TEST(FuseAttention, Formula) {
  constexpr std::string_view kHeads =
      "q: float32[2,3,4,6], k: float32[2,3,4,6], v: float32[2,3,4,5]";
  const std::string scaled =
      "root = float32[]{0.4082483}\n t = transpose(k) { perm = [0, 1, 3, 2] }\n"
      "p = matmul(q, t)\n s = mul(p, root)\n";
  const std::string end = "w = softmax(z) { axis = -1 }\n y = matmul(w, v)";
  const std::string mask =
      "low = float32[]{-1e30} m = bool[4,4]{1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1}\n";
  const std::string blind =
      "low = float32[]{-1e30} m = bool[4,4]{0,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1}\n";
  const std::string mild = "low = float32[]{-3} m = bool[4,4]{1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1}\n";
  const std::string masked = "z = where(m, s, low)\n";
  const std::string as_was = "transpose matmul mul softmax matmul";
  const std::string masked_as_was = "transpose matmul mul where softmax matmul";
  ExpectFusions(
      "fuse_attention",
      {
          {kHeads, scaled + "z = identity(s)\n" + end,
           "transpose matmul mul identity softmax matmul"},
          {kHeads, "t = transpose(k) { perm = [0, 1, 3, 2] }\n z = matmul(q, t)\n" + end,
           "transpose attention"},
          {kHeads, mask + scaled + masked + end, "transpose attention"},
          {kHeads, mask + scaled + "n = not(m)\n z = where(n, low, s)\n" + end,
           "not transpose not where attention"},
          // What a query that sees nothing gives is the mean of all: the numbers are added.
          {kHeads, blind + scaled + masked + end, "transpose where attention"},
          {kHeads, mild + scaled + masked + end, masked_as_was},
          {kHeads, mask + scaled + masked + end, masked_as_was, {"attention"}},
          {"q: float32[1,3,4,6], k: float32[2,3,4,6], v: float32[2,3,4,5]",
           "t = transpose(k) { perm = [0, 1, 3, 2] }\n z = matmul(q, t)\n" + end,
           "transpose matmul softmax matmul"},
      });
}

// Two heads of keys for four of queries, which are rows of products.
TEST(FuseAttention, RowsOfSeveralHeads) {
  constexpr std::string_view kGrouped =
      "q: float32[2,3,4,6], k: float32[2,5,2,6], v: float32[2,5,2,6]";
  const std::string sizes =
      "g = int64[5]{2,3,2,2,6}\n rows = int64[4]{2,2,6,6}\n apart = int64[5]{2,2,3,2,5}\n"
      "flat = int64[4]{2,3,4,5}\n again = int64[5]{2,3,2,2,5}\n rows5 = int64[4]{2,2,6,5}\n"
      "out5 = int64[5]{2,2,3,2,6}\n out = int64[4]{2,3,4,6}\n low = float32[]{-1e30}\n";
  const std::string products =
      "q1 = reshape(q, g)\n q2 = transpose(q1) { perm = [0,2,1,3,4] }\n q3 = reshape(q2, rows)\n"
      "k1 = transpose(k) { perm = [0,2,3,1] }\n v1 = transpose(v) { perm = [0,2,1,3] }\n"
      "p1 = matmul(q3, k1)\n p2 = reshape(p1, apart)\n";
  const std::string result =
      "r = matmul(w1, v1)\n r1 = reshape(r, out5)\n r2 = transpose(r1) { perm = [0,2,1,3,4] }\n"
      "y = reshape(r2, out)";
  // Gemma: softmax over [batch, length, heads, keys].
  const auto by_length = [&](const std::string& mask) {
    return sizes + products + mask +
           "p3 = transpose(p2) { perm = [0,2,1,3,4] }\n p4 = reshape(p3, flat)\n"
           "s = where(m, p4, low)\n w = softmax(s) { axis = -1 }\n w3 = reshape(w, again)\n"
           "w2 = transpose(w3) { perm = [0,2,1,3,4] }\n w1 = reshape(w2, rows5)\n" +
           result;
  };
  const std::string of_lengths = "m = bool[3,1,5]{1,0,0,0,0, 1,1,0,1,0, 1,1,1,0,1}\n";
  const std::string of_heads = "m = bool[4,5]{1,0,0,0,0, 1,1,0,1,0, 1,1,1,0,1, 1,0,0,0,1}\n";
  // jax.nn: the group first, and no axes put together.
  const std::string by_group =
      sizes + products +
      "m = bool[2,1,2,3,5]{1,0,0,0,0, 1,1,0,1,0, 1,1,1,0,1, 1,0,0,0,1, "
      "1,0,0,0,0, 1,1,0,1,0, 1,0,0,0,0, 1,1,0,1,0, 1,1,1,0,1, 1,0,0,0,1, 1,0,0,0,0, "
      "1,1,0,1,1}\n p3 = transpose(p2) { perm = [3,0,1,2,4] }\n s = where(m, p3, low)\n"
      "w = softmax(s) { axis = 4 }\n w2 = transpose(w) { perm = [1,2,3,0,4] }\n"
      "w1 = reshape(w2, rows5)\n" +
      result;
  std::string moved_elsewhere = by_length(of_lengths), over_heads = moved_elsewhere;
  moved_elsewhere.replace(moved_elsewhere.find("w2 = transpose(w3) { perm = [0,2,1,3,4]"), 39,
                          "w2 = transpose(w3) { perm = [0,3,1,2,4]");
  over_heads.replace(over_heads.find("axis = -1"), 9, "axis = 2");
  const std::string grouped[] = {by_length(of_lengths), by_length(of_heads), by_group};
  std::vector<FusionRow> rows;
  for (const std::string& lines : grouped) {
    rows.push_back({kGrouped, lines, "reshape reshape reshape attention reshape"});
  }
  std::string open = by_length("m = bool[1,1,5]{1,1,0,1,0}\n");
  open.replace(
      0, open.find(" low"),
      "g = int64[5]{0,0,2,2,6}\n rows = int64[4]{0,2,-1,6}\n apart = int64[5]{0,2,-1,2,5}\n"
      "flat = int64[4]{0,0,4,5}\n again = int64[5]{0,0,2,2,5}\n"
      "rows5 = int64[4]{0,2,-1,5}\n out5 = int64[5]{0,2,-1,2,6}\n"
      "out = int64[4]{0,0,4,6}\n");
  rows.push_back({"q: float32[b,t,4,6], k: float32[b,5,2,6], v: float32[b,5,2,6]", open,
                  "reshape reshape reshape attention reshape"});
  ExpectFusions({"fuse_attention", "simplify", "fold_constants", "dead_code"}, rows);
  const std::string as_was =
      "reshape transpose reshape transpose transpose matmul reshape transpose reshape where "
      "softmax reshape transpose reshape matmul reshape transpose reshape";
  ExpectFusions("fuse_attention", {{kGrouped, moved_elsewhere, as_was},
                                   {kGrouped, over_heads, as_was},
                                   {kGrouped, grouped[0], as_was, {"attention"}}});
}

}  // namespace
}  // namespace x2ir
