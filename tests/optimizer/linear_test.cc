// merge_constants, hoist_scale, merge_linear and flatten_rows, and what fold_affine does behind
// matmul and add.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

TEST(FoldAffine, BiasBehindMatMul) {
  const auto lines = [](std::string_view rest) {
    return "any_k: float32[4,6]\n any_u: float32[6]\n any_v: float32[1,1,6]\n"
           "five = float32[5,1]{1,2,3,4,5}\n m = matmul(x, any_k)\n a = add(any_u, m)\n" +
           std::string(rest);
  };
  constexpr const char* kX = "x: float32[n,5,4]";
  const std::string scaled = lines("y = mul(a, any_v)");
  const std::string all = lines("s = sub(any_v, a)\n d = mul(any_u, s)\n y = add(d, any_u)");
  const std::string used = lines("s = mul(a, any_v)\n y = add(s, a)");
  const std::string of_rows = lines("y = mul(a, five)");
  ExpectFusions("fold_affine",
                {
                    {kX, scaled, "matmul add", {}, 1e-4},
                    {kX, all, "matmul add", {}, 1e-4},
                    {"x: float32[3,4]", lines("y = mul(a, any_u)"), "gemm", {}, 1e-4},
                    {kX, used, "matmul add mul add", {}, 1e-4},
                    {kX, of_rows, "matmul add mul", {}, 1e-4},
                    {kX, scaled, "matmul add mul", {}, 1e-4, "y, a"},
                    {kX, scaled, "matmul add mul", {}, 1e-4, "y, m"},
                });
}

TEST(MergeConstants, SumsAndProducts) {
  const auto lines = [](std::string_view rest) {
    return "any_a: float32[5,4]\n any_b: float32[4]\n any_c: float32[3,1,4]\n two = float32[]{2}\n"
           "million = float32[]{1e6}\n tiny = float32[]{1e-30}\n nothing = float32[]{0}\n"
           "huge = float32[]{1e30}\n" +
           std::string(rest);
  };
  constexpr const char* kX = "x: float32[n,5,4]";
  const std::string sums = lines("a = add(x, any_a)\n b = add(any_b, a)\n y = add(b, two)");
  const std::string products = lines("a = mul(any_b, x)\n b = mul(a, two)\n y = mul(nothing, b)");
  const std::string larger = lines("a = add(x, any_a)\n y = add(a, any_c)");
  const std::string used = lines("a = add(x, any_a)\n b = add(a, two)\n y = mul(b, a)");
  const std::string rounds = lines("a = add(x, million)\n y = add(a, two)");
  const std::string underflow = lines("a = mul(x, tiny)\n y = mul(a, tiny)");
  const std::string overflow = lines("a = mul(x, huge)\n y = mul(a, huge)");
  const std::string extremes = lines(
      "wide = float32[]{3e38}\n slim = float32[]{1e-38}\n a = mul(x, wide)\n y = mul(a, slim)");
  const std::string mixed = lines("a = mul(x, any_a)\n y = add(a, any_b)");
  ExpectFusions("merge_constants", {
                                       {kX, sums, "add"},
                                       {kX, products, "mul"},
                                       {"x: float32[3,5,4]", larger, "add add"},
                                       {kX, used, "add add mul"},
                                       {kX, rounds, "add add"},
                                       {kX, underflow, "mul mul"},
                                       {kX, overflow, "mul mul"},
                                       {kX, extremes, "mul mul"},
                                       {kX, mixed, "mul add"},
                                       {kX, sums, "add add", {}, 1e-5, "y, a"},
                                   });
}

TEST(HoistScale, IntoTheLinearOp) {
  const auto lines = [](std::string_view rest) {
    return "any_q: float32[8,8]\n any_k: float32[8,8]\n any_b: float32[8]\n any_w: float32[8,16]\n"
           "any_c: float32[8,8,1]\n any_f: float32[8]\n"
           "s = float32[]{0.125}\n eight = float32[]{8}\n large = float32[]{1000}\n"
           "row = float32[4]{1,2,3,4}\n zero = float32[]{0}\n h = int64[4]{0,0,2,4}\n"
           "parts = int64[2]{8,8}\n" +
           std::string(rest);
  };
  const std::string attention =
      "q = matmul(x, any_q)\n qb = add(q, any_b)\n qr = reshape(qb, h)\n"
      "qt = transpose(qr) { perm = [0,2,1,3] }\n k = matmul(x, any_k)\n kr = reshape(k, h)\n"
      "kt = transpose(kr) { perm = [0,2,3,1] }\n p = matmul(qt, kt)\n";
  constexpr const char* kLeft = "matmul add reshape transpose matmul reshape transpose matmul";
  constexpr const char* kX = "x: float32[n,m,8]";
  const std::string scores = lines(attention + "y = mul(p, s)");
  const std::string divided = lines(attention + "y = div(p, eight)");
  const std::string large = lines(attention + "y = mul(p, large)");
  const std::string nothing = lines(attention + "y = mul(p, zero)");
  const std::string row = lines(attention + "y = mul(p, row)");
  const std::string under = lines(attention + "y = div(eight, p)");
  const std::string used = lines(attention + "d = mul(p, s)\n y = add(d, p)");
  const std::string each = lines(
      "q = matmul(x, any_q)\n qr = reshape(q, h)\n qs = mul(qr, s)\n k = matmul(x, any_k)\n"
      "kr = reshape(k, h)\n ks = div(kr, eight)\n y = add(qs, ks)");
  const std::string part = lines(
      "m = matmul(x, any_w)\n qb, k = split(m, parts) { axis = -1 }\n qr = reshape(qb, h)\n"
      "t = mul(qr, s)\n r = reshape(k, h)\n y = sub(t, r)");
  const std::string other_axis = lines(
      "ones = int64[2]{1,1}\n m = matmul(x, any_w)\n a, b = split(m, ones) { axis = 0 }\n"
      "wide = int64[4]{0,0,4,4}\n r = reshape(a, wide)\n t = mul(r, s)\n q = reshape(b, wide)\n y "
      "= sub(t, q)");
  // The parts are heads: the second two of four of size 4.
  const std::string heads = lines(
      "four = int64[4]{0,0,4,4}\n two = int64[2]{2,2}\n m = matmul(x, any_w)\n"
      "r = reshape(m, four)\n t = transpose(r) { perm = [0,2,1,3] }\n"
      "a, b = split(t, two) { axis = 1 }\n d = mul(b, s)\n y = sub(a, d)");
  const std::string across = lines(
      "four = int64[4]{0,0,4,4}\n two = int64[2]{2,2}\n m = matmul(x, any_w)\n"
      "r = reshape(m, four)\n a, b = split(r, two) { axis = 3 }\n d = mul(b, s)\n y = sub(a, d)");
  const std::string mixed = lines(
      "four = int64[4]{-1,2,2,32}\n two = int64[2]{1,1}\n m = matmul(x, any_w)\n"
      "r = reshape(m, four)\n a, b = split(r, two) { axis = 2 }\n d = mul(b, s)\n y = sub(a, d)");
  const std::string conv = lines(
      "flat = int64[3]{0,2,-1}\n c = conv(x, any_c, any_f)\n r = reshape(c, flat)\n y = mul(s, r)");
  const std::string computed = lines("t = transpose(x)\n p = matmul(x, t)\n y = mul(p, s)");
  constexpr std::string_view kHalf =
      "any_w: float16[2,2]\n two = float16[]{2}\n m = matmul(x, any_w)\n t = transpose(m)\n"
      "y = mul(t, two)";
  const std::string big = lines(
      "any_g: float32[8,16384]\n g = int64[4]{0,0,2,-1}\n m = matmul(x, any_g)\n r = reshape(m, "
      "g)\n y = mul(r, s)");
  // Queries and keys are scaled, each by a number.
  const std::string both = lines(
      "a = mul(x, s)\n t = transpose(z) { perm = [0,2,1] }\n b = div(t, eight)\n y = matmul(a, b)");
  const std::string smaller =
      lines("a = div(x, eight)\n b = mul(z, s)\n t = transpose(b)\n y = matmul(a, t)");
  const std::string not_hoisted = std::string(kLeft) + " mul";
  const std::string other_kind = std::string(kLeft) + " div";
  const std::string twice = std::string(kLeft) + " mul add";
  ExpectFusions(
      "hoist_scale",
      {
          {kX, scores, kLeft, {}, 1e-4},
          {kX, divided, kLeft, {}, 1e-4},
          {kX, each, "matmul reshape matmul reshape add", {}, 1e-4},
          {kX, part, "matmul split reshape reshape sub", {}, 1e-4},
          {kX, heads, "matmul reshape transpose split sub", {}, 1e-4},
          {kX, across, "matmul reshape split mul sub", {}, 1e-4},
          {"x: float32[2,8,8]", mixed, "matmul reshape split mul sub", {}, 1e-4},
          {"x: float32[2,8,5]", conv, "conv reshape", {}, 1e-4},
          // Large weights are left alone.
          {kX, big, "matmul reshape mul", {}, 1e-4},
          {"x: float32[n,m,8], z: float32[n,m,8]", both, "mul transpose matmul", {}, 1e-4},
          {"x: float32[7,8], z: float32[3,8]", smaller, "mul transpose matmul", {}, 1e-4},
          {kX, large, not_hoisted, {}, 1e-4},
          {kX, nothing, not_hoisted, {}, 1e-4},
          {"x: float32[n,4,8]", row, not_hoisted, {}, 1e-4},
          {kX, under, other_kind, {}, 1e-3},
          {kX, used, twice, {}, 1e-4},
          {"x: float32[2,3,8]", other_axis, "matmul split reshape mul reshape sub", {}, 1e-4},
          {"x: float32[3,3]", computed, "transpose matmul mul", {}, 1e-4},
          {"x: float16[2,2]", kHalf, "matmul transpose mul", {}, 1e-2},
          // Nobody else's value: the scores are an output too.
          {kX, scores, not_hoisted, {}, 1e-4, "y, p"},
      });
}

TEST(MergeLinear, ParallelOps) {
  const auto lines = [](std::string_view rest) {
    return "any_a: float32[8,6]\n any_b: float32[8,4]\n any_c: float32[8,2]\n any_at: "
           "float32[6,8]\n"
           "any_ct: float32[2,8]\n any_dt: float32[2,8]\n any_u: float32[6]\n any_v: "
           "float32[1,4]\n any_r: float32[2]\n"
           "any_rows: float32[5,6]\n" +
           std::string(rest);
  };
  constexpr const char* kX = "x: float32[n,5,8]";
  constexpr const char* kMatrix = "x: float32[n,8]";
  const std::string three = lines(
      "a = matmul(x, any_a)\n ra = relu(a)\n b = matmul(x, any_b)\n rb = relu(b)\n"
      "c = matmul(x, any_c)\n rc = relu(c)\n y = concat(ra, rb, rc) { axis = -1 }");
  const std::string biased = lines(
      "a = matmul(x, any_a)\n sa = add(any_u, a)\n ra = relu(sa)\n b = matmul(x, any_b)\n"
      "sb = add(b, any_v)\n y = concat(sb, ra) { axis = -1 }");
  const std::string one_bias = lines(
      "a = matmul(x, any_a)\n sa = add(any_u, a)\n b = matmul(x, any_b)\n c = matmul(x, any_c)\n"
      "y = concat(c, sa, b) { axis = -1 }");
  const std::string two =
      lines("a = matmul(x, any_a)\n b = matmul(x, any_b)\n y = concat(a, b) { axis = -1 }");
  const std::string gemms = lines(
      "a = gemm(x, any_at, any_u) { transB = 1 }\n c = gemm(x, any_ct) { transB = 1 }\n"
      "d = gemm(x, any_dt, any_r) { transB = 1 }\n y = concat(a, c, d) { axis = 1 }");
  const std::string shared = lines(
      "a = gemm(x, any_at, any_u) { transB = 1 }\n b = gemm(x, any_b)\n"
      "c = gemm(x, any_c) { alpha = 2.0 }\n y = concat(a, b, c) { axis = 1 }");
  const std::string other_bias = lines(
      "a = matmul(x, any_a)\n sa = add(any_rows, a)\n b = matmul(x, any_b)\n sb = add(b, any_v)\n"
      "y = concat(sa, sb) { axis = -1 }");
  const std::string other_x = lines(
      "r = relu(x)\n a = matmul(x, any_a)\n b = matmul(r, any_b)\n c = matmul(x, any_c)\n"
      "y = concat(a, b, c) { axis = -1 }");
  const std::string computed = lines(
      "a = matmul(x, w)\n b = matmul(x, any_b)\n c = matmul(x, w)\n"
      "y = concat(a, b, c) { axis = -1 }");
  ExpectFusions(
      "merge_linear",
      {
          {kX, three, "matmul split relu relu relu concat", {}, 1e-4},
          {kMatrix, three, "matmul split relu relu relu concat", {}, 1e-4},
          {kX, biased, "matmul add split relu concat", {}, 1e-4},
          {kX, one_bias, "matmul add split concat", {}, 1e-4},
          {kMatrix, gemms, "gemm split concat", {}, 1e-4},
          {kX, two, "matmul matmul concat", {}, 1e-4},
          {kMatrix, shared, "gemm gemm gemm concat", {}, 1e-4},
          {kX, other_bias, "matmul add matmul add concat", {}, 1e-4},
          {kX, other_x, "relu matmul matmul matmul concat", {}, 1e-4},
          {"x: float32[n,5,8], w: float32[8,4]", computed, "matmul matmul matmul concat", {}, 1e-4},
          // Whose results are the graph's stay.
          {kX, three, "matmul relu matmul relu matmul relu concat", {}, 1e-4, "y, a"},
          {kX, biased, "matmul add relu matmul add concat", {}, 1e-4, "y, sb"},
      });
}

TEST(MergeLinear, Heads) {
  const auto lines = [](std::string_view rest) {
    return "any_q: float32[8,8]\n any_k: float32[8,8]\n any_v: float32[8,8]\n any_n: float32[8,4]\n"
           "any_m: float32[8,4]\n any_b: float32[8]\n any_w: float32[8,24]\n"
           "h = int64[4]{0,0,2,4}\n h1 = int64[4]{0,0,1,4}\n" +
           std::string(rest);
  };
  const auto heads = [&](std::string_view k_weights, std::string_view v_weights,
                         std::string_view shape) {
    return lines(
        StrCat("q = matmul(x, any_q)\n qb = add(q, any_b)\n qr = reshape(qb, h)\n"
               "qt = transpose(qr) { perm = [0,2,1,3] }\n k = matmul(x, ",
               k_weights, ")\n kr = reshape(k, ", shape,
               ")\n kt = transpose(kr) { perm = [0,2,3,1] }\n v = matmul(x, ", v_weights,
               ")\n vr = reshape(v, ", shape,
               ")\n vt = transpose(vr) { perm = [0,2,1,3] }\n p = matmul(qt, kt)\n"
               "m = softmax(p) { axis = -1 }\n y = matmul(m, vt)"));
  };
  constexpr const char* kAttention =
      "matmul add reshape transpose split transpose matmul softmax matmul";
  const std::string gathers = lines(
      "i0 = int64[]{0}\n i1 = int64[]{1}\n i2 = int64[]{-1}\n s = int64[5]{0,0,3,2,4}\n"
      "m = matmul(x, any_w)\n r = reshape(m, s)\n t = transpose(r) { perm = [2,0,3,1,4] }\n"
      "q = gather(t, i0) { axis = 0 }\n k = gather(t, i1) { axis = 0 }\n"
      "v = gather(t, i2) { axis = 0 }\n a = sub(q, k)\n y = mul(a, v)");
  const std::string no_transpose = lines(
      "i0 = int64[]{0}\n i1 = int64[]{1}\n s = int64[5]{0,0,2,1,12}\n m = matmul(x, any_w)\n"
      "r = reshape(m, s)\n q = gather(r, i0) { axis = 2 }\n k = gather(r, i1) { axis = -3 }\n"
      "y = sub(q, k)");
  const std::string some = lines(
      "i0 = int64[]{0}\n i1 = int64[]{1}\n s = int64[4]{0,0,3,8}\n m = matmul(x, any_w)\n"
      "r = reshape(m, s)\n q = gather(r, i0) { axis = 2 }\n k = gather(r, i1) { axis = 2 }\n"
      "y = sub(q, k)");
  const std::string more_uses = lines(
      "i0 = int64[]{0}\n i1 = int64[]{1}\n s = int64[4]{0,0,2,12}\n m = matmul(x, any_w)\n"
      "r = reshape(m, s)\n q = gather(r, i0) { axis = 2 }\n k = gather(r, i1) { axis = 2 }\n"
      "c = sub(q, k)\n d = relu(r)\n e = reduce_sum(d)\n y = add(c, e)");
  const std::string other_sizes = lines(
      "parts = int64[2]{8,16}\n wide = int64[4]{0,0,2,8}\n m = matmul(x, any_w)\n"
      "a, b = split(m, parts) { axis = -1 }\n ar = reshape(a, h)\n br = reshape(b, wide)\n"
      "at = transpose(ar) { perm = [0,2,3,1] }\n bt = transpose(br) { perm = [0,2,1,3] }\n"
      "ra = reduce_sum(at)\n y = mul(bt, ra)");
  constexpr const char* kX = "x: float32[n,m,8]";
  ExpectFusions(
      "merge_linear",
      {
          {"x: float32[2,5,8]", heads("any_k", "any_v", "h"), kAttention, {}, 1e-4},
          {kX, heads("any_k", "any_v", "h"), kAttention, {}, 1e-4},
          // Heads that several queries share.
          {kX, heads("any_n", "any_m", "h1"), kAttention, {}, 1e-4},
          {kX, gathers, "matmul reshape transpose split sub mul", {}, 1e-4},
          {kX, no_transpose, "matmul reshape split sub", {}, 1e-4},
          {kX, some, "matmul reshape gather gather sub", {}, 1e-4},
          {kX, more_uses, "matmul reshape gather gather sub relu reduce_sum add", {}, 1e-4},
          {kX,
           other_sizes,
           "matmul split reshape reshape transpose transpose reduce_sum mul",
           {},
           1e-4},
      });
}

TEST(FlattenRows, WhereGemmSaves) {
  const auto lines = [](std::string_view rest) {
    return "any_a: float32[8,8]\n any_b: float32[8,6]\n any_c: float32[6,8]\n any_u: float32[8]\n"
           "any_v: float32[6]\n any_row: float32[1,1,8]\n any_all: float32[2,5,8]\n"
           "rows = int64[2]{-1,8}\n heads = int64[4]{0,5,2,4}\n last = int64[1]{-1}\n" +
           std::string(rest);
  };
  const std::string block = lines(
      "n = layer_normalization(x, any_u, any_u)\n a = matmul(n, any_a)\n sa = add(a, any_u)\n"
      "r = add(sa, x)\n b = matmul(r, any_b)\n sb = add(any_v, b)\n e = gelu(sb)\n"
      "c = matmul(e, any_c)\n sc = add(c, any_u)\n m = mul(sc, any_row)\n y = add(m, r)");
  // Outputs that are left out do not matter; those that are wanted do.
  const std::string left_out = lines(
      "n, _, _ = layer_normalization(x, any_u, any_u)\n a = matmul(n, any_a)\n sa = add(a, any_u)\n"
      "r = add(sa, x)\n b = matmul(r, any_b)\n sb = add(any_v, b)\n e = gelu(sb)\n"
      "c = matmul(e, any_c)\n sc = add(c, any_u)\n m = mul(sc, any_row)\n y = add(m, r)");
  const std::string one = lines("a = matmul(x, any_a)\n y = add(a, any_u)");
  const std::string decomposed = lines(
      "a = matmul(x, any_a)\n sa = add(a, any_u)\n m = reduce_mean(sa, last)\n d = sub(sa, m)\n"
      "b = matmul(d, any_b)\n sb = add(b, any_v)\n c = matmul(sb, any_c)\n y = add(c, any_all)");
  const std::string over_rows = lines(
      "five = float32[5,1]{1,2,3,4,5}\n a = matmul(x, any_a)\n sa = add(a, any_u)\n"
      "m = mul(sa, five)\n b = matmul(m, any_b)\n y = add(b, any_v)");
  const std::string quantized = lines(
      "s = float32[]{0.5}\n a = matmul(x, any_a)\n sa = add(a, any_u)\n q = quantize_linear(sa, "
      "s)\n"
      "d = dequantize_linear(q, s)\n r = relu(d)\n b = matmul(r, any_b)\n sb = add(b, any_v)\n"
      "c = matmul(sb, any_c)\n y = add(c, any_u)");
  ExpectFusions(
      "flatten_rows",
      {
          {"x: float32[2,5,8]",
           block,
           "reshape layer_normalization matmul add add matmul add gelu matmul add mul add reshape",
           {},
           1e-3},
          {"x: float32[2,5,8]",
           left_out,
           "reshape layer_normalization matmul add add matmul add gelu matmul add mul add reshape",
           {},
           1e-3},
          {"x: float32[n,5,8]",
           block,
           "reshape layer_normalization matmul add add matmul add gelu matmul add mul add reshape",
           {},
           1e-3},
          {"x: float32[2,5,8]",
           decomposed,
           "reshape matmul add reduce_mean sub matmul add matmul add reshape",
           {},
           1e-3},
          {"x: float32[2,5,8]", one, "matmul add", {}, 1e-3},
          {"x: float32[2,5,8]", over_rows, "matmul add mul matmul add", {}, 1e-3},
          // Two dims that only the run knows.
          {"x: float32[n,m,8]",
           block,
           "layer_normalization matmul add add matmul add gelu matmul add mul add",
           {},
           1e-3},
          {"x: float32[2,5,8]",
           block,
           "layer_normalization matmul add add matmul add gelu matmul add mul add",
           {"gemm"},
           1e-3},
          {"x: float32[2,5,8]",
           quantized,
           "matmul add quantize_linear dequantize_linear relu matmul add matmul add",
           {},
           0.5},
      });
}

// Lines of nets of linear ops on rows and images, put together at random.
class RandomNet {
 public:
  explicit RandomNet(uint32_t seed) : random_(seed) {
    values_.push_back("x");
    for (int i = 0; i < 18; ++i) Add();
  }
  std::string lines() const { return constants_ + lines_; }
  std::string outputs() const {
    return StrCat(values_.back(), ", ", values_[1 + random_() % (values_.size() - 1)]);
  }

 private:
  std::string New() { return StrCat("v", count_++); }
  std::string Line(std::string_view op, std::string_view operands, std::string_view attrs = "") {
    const std::string name = New();
    StrAppend(&lines_, " ", name, " = ", op, "(", operands, ")", attrs, "\n");
    return name;
  }
  std::string Weights(std::string_view dims) {
    const std::string name = StrCat("any", count_++);
    StrAppend(&constants_, " ", name, ": float32[", dims, "]\n");
    return name;
  }
  // Numbers stay about as large as they were.
  std::string Linear(const std::string& x, std::string_view dims, std::string_view bias) {
    std::string y = Line("mul", StrCat(Line("matmul", StrCat(x, ", ", Weights(dims))), ", small"));
    if (random_() % 4 == 0) return y;
    const std::string b = Weights(bias);
    return Line("add", random_() % 2 ? StrCat(y, ", ", b) : StrCat(b, ", ", y));
  }
  // All values are [n, 4, 2, 8].
  void Add() {
    const std::string& x =
        values_[values_.size() - 1 - random_() % std::min<size_t>(values_.size(), 3)];
    std::string y;
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2: y = Linear(x, "8,8", "8"); break;
      case 3: y = Line("gelu", x); break;
      case 4:
        y = Line("layer_normalization", StrCat(x, ", ", Weights("8"), ", ", Weights("8")));
        break;
      case 5: y = Line("mul", StrCat(x, ", half")); break;
      case 6: y = Line("add", StrCat(x, ", ", values_[random_() % values_.size()])); break;
      case 7: {  // channels first and back
        const std::string t = Line("transpose", x, " { perm = [0, 3, 1, 2] }");
        const std::string r = random_() % 2 ? Line("relu", t) : Line("mul", StrCat(t, ", half"));
        y = Line("transpose", r, " { perm = [0, 2, 3, 1] }");
        break;
      }
      case 8:
      case 9: {  // attention
        const std::string q = Head(x, "[0, 2, 1, 3]"), k = Head(x, "[0, 2, 3, 1]");
        const std::string v = Head(x, "[0, 2, 1, 3]");
        std::string p = Line("matmul", StrCat(q, ", ", k));
        if (random_() % 2) p = Line("mul", StrCat(p, ", half"));
        p = Line("softmax", p, " { axis = -1 }");
        p = Line("transpose", Line("matmul", StrCat(p, ", ", v)), " { perm = [0, 2, 1, 3] }");
        y = Line("reshape", StrCat(p, ", whole"));
        break;
      }
      case 10: {  // packed
        const std::string m = Line("reshape", StrCat(Linear(x, "8,16", "16"), ", pair"));
        const std::string a = Line("gather", StrCat(m, ", zero"), " { axis = 3 }");
        const std::string b = Line("gather", StrCat(m, ", one"), " { axis = 3 }");
        y = Line("sub", StrCat(a, ", ", random_() % 2 ? Line("mul", StrCat(b, ", half")) : b));
        break;
      }
      default: y = Line("add", StrCat(x, ", ", Weights(random_() % 2 ? "8" : "2,1"))); break;
    }
    values_.push_back(y);
  }
  std::string Head(const std::string& x, std::string_view perm) {
    std::string y = Line("reshape", StrCat(Linear(x, "8,8", "8"), ", heads"));
    if (random_() % 3 == 0) y = Line("mul", StrCat(y, ", half"));
    return Line("transpose", y, StrCat(" { perm = ", perm, " }"));
  }

  mutable std::mt19937 random_;
  int count_ = 0;
  std::string lines_;
  std::string constants_ =
      " half = float32[]{0.5}\n small = float32[]{0.1}\n zero = int64[]{0}\n one = int64[]{1}\n"
      " heads = int64[4]{0, 8, 2, 4}\n whole = int64[4]{0, 4, 2, 8}\n"
      " pair = int64[5]{0, 4, 2, 2, 8}\n";
  std::vector<std::string> values_;
};

TEST(LinearOps, RandomNets) {
  const char* more = std::getenv("X2IR_RANDOM_GRAPHS");
  const uint32_t nets = more ? static_cast<uint32_t>(std::atoi(more)) : 200;
  int64_t gone = 0;
  for (uint32_t seed = 0; seed < nets; ++seed) {
    SCOPED_TRACE(seed);
    const RandomNet net(seed);
    const std::string lines = net.lines(), outputs = net.outputs();
    FusionRow row{seed % 2 ? "x: float32[n,4,2,8]" : "x: float32[2,4,2,8]", lines, ""};
    row.tolerance = 2e-3;
    row.outputs = outputs;
    gone += ExpectSameNumbers(row);
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(gone, 5 * nets);
}

}  // namespace
}  // namespace x2ir
