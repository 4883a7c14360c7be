#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"

namespace x2ir {
namespace {

constexpr const char* kX = "x: float32[2,3,5]";
constexpr std::string_view kNumbers =
    "axes = int64[1]{-1} eps = float32[]{1e-5} two = float32[]{2} one = float32[]{1} "
    "minus_half = float32[]{-0.5} w = float32[5]{1,-2,3,0.5,0} b = float32[5]{1,2,0,-1,3}\n";

std::string Lines(std::string_view rest) { return std::string(kNumbers) + std::string(rest); }

TEST(FuseNormalizations, Layer) {
  const std::string exported = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = pow(d, two)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n n = div(d, s)\n g = mul(n, w)\n y = add(g, b)");
  const std::string twice = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n d2 = sub(x, m)\n q = mul(d2, d2)\n"
      "v = reduce_mean(q, axes)\n e = add(eps, v)\n s = sqrt(e)\n i = reciprocal(s)\n"
      "n = mul(d, i)\n g = mul(w, n)\n y = add(b, g)");
  const std::string inverse_root = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n i = pow(e, minus_half)\n n = mul(i, d)\n y = mul(n, w)");
  const std::string plain = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n i = div(one, s)\n y = mul(d, i)");
  const std::string all_axes =
      "axes = int64[2]{2, 1} eps = float32[]{1e-3} w = float32[1,3,5]\n"
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n n = div(d, s)\n y = mul(n, w)";
  const std::string other_axes =
      "axes = int64[1]{1} eps = float32[]{1e-3}\n"
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n y = div(d, s)";
  const std::string two_kinds_of_axes =
      "axes = int64[1]{2} both = int64[2]{1,2} eps = float32[]{1e-3}\n"
      "m = reduce_mean(x, both)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n y = div(d, s)";
  const std::string dims_gone = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n"
      "v = reduce_mean(q, axes) { keepdims = 0 }\n e = add(v, eps)\n s = sqrt(e)\n"
      "u = unsqueeze(s, axes)\n y = div(d, u)");
  const std::string cubed =
      "three = float32[]{4} axes = int64[1]{-1} eps = float32[]{1e-3}\n"
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = pow(d, three)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n y = div(d, s)";
  const std::string wide_scale =
      "axes = int64[1]{-1} eps = float32[]{1e-3} w = float32[3,1]{1,2,3}\n"
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n n = div(d, s)\n y = mul(n, w)";
  // Keras.
  const std::string shifted = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n i = reciprocal(s)\n g = mul(i, w)\n a = mul(x, g)\n"
      "k = mul(m, g)\n c = sub(b, k)\n y = add(a, c)");
  const std::string shifted_plain = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n g = reciprocal(s)\n a = mul(g, x)\n"
      "k = mul(g, m)\n c = sub(b, k)\n y = add(c, a)");
  const std::string shifted_by_other = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n g = reciprocal(s)\n h = mul(g, w)\n a = mul(g, x)\n"
      "k = mul(h, m)\n c = sub(b, k)\n y = add(c, a)");
  ExpectFusions(
      "fuse_normalizations",
      {
          {kX, shifted, "layer_normalization"},
          {kX, shifted_plain, "layer_normalization"},
          {kX, shifted_by_other,
           "reduce_mean sub mul reduce_mean add sqrt reciprocal mul mul mul sub add"},
          {kX, exported, "layer_normalization"},
          {"x: float32[n,m,5]", exported, "layer_normalization"},
          {kX, twice, "layer_normalization"},
          {kX, inverse_root, "layer_normalization"},
          {kX, plain, "layer_normalization"},
          {kX, all_axes, "layer_normalization"},
          {kX, wide_scale, "layer_normalization mul"},
          {kX, exported, "layer_normalization", {"rms_normalization"}},
          // An old target; other axes; other statistics; an axis of unknown size; other types.
          {kX,
           exported,
           "reduce_mean sub pow reduce_mean add sqrt div mul add",
           {"layer_normalization"}},
          {kX, other_axes, "reduce_mean sub mul reduce_mean add sqrt div"},
          {kX, two_kinds_of_axes, "reduce_mean sub rms_normalization"},
          {kX, dims_gone, "reduce_mean sub mul reduce_mean add sqrt unsqueeze div"},
          {kX, cubed, "reduce_mean sub pow reduce_mean add sqrt div"},
          {"x: float32[2,n]", plain, "reduce_mean sub mul reduce_mean add sqrt div mul"},
          {"x: float64[2,5]",
           "axes = int64[1]{-1} eps = float64[]{1e-3}\n m = reduce_mean(x, axes)\n d = sub(x, m)\n"
           "q = mul(d, d)\n v = reduce_mean(q, axes)\n e = add(v, eps)\n s = sqrt(e)\n"
           "y = div(d, s)",
           "reduce_mean sub mul reduce_mean add sqrt div"},
      });
}

TEST(FuseNormalizations, AsInstanceNorm) {
  const std::string lines = Lines(
      "m = reduce_mean(x, axes)\n d = sub(x, m)\n q = pow(d, two)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n n = div(d, s)\n g = mul(n, w)\n y = add(g, b)");
  constexpr const char* kSpelled = "reduce_mean sub pow reduce_mean add sqrt div mul add";
  ExpectFusions(
      "layer_norm_as_instance_norm",
      {
          {"x: float32[n,3,5]", lines, "instance_normalization mul add", {"layer_normalization"}},
          {kX, lines, kSpelled},
          {"x: float32[2,n,5]", lines, kSpelled, {"layer_normalization"}},
          {"x: float32[3,5]", lines, kSpelled, {"layer_normalization"}},
          {"x: float32[2,2,3,5]", lines, kSpelled, {"layer_normalization"}},
      });
}

TEST(FuseNormalizations, RootMeanSquare) {
  const std::string plain = Lines(
      "q = pow(x, two)\n v = reduce_mean(q, axes)\n e = add(v, eps)\n s = sqrt(e)\n"
      "n = div(x, s)\n y = mul(w, n)");
  const std::string with_bias = plain + "\n z = add(y, b)";
  constexpr std::string_view kCast =
      "axes = int64[1]{-1} eps = float32[]{1e-5} w = float16[5]{1,-2,3,0.5,0}\n"
      "c = cast(x) { to = \"float32\" }\n q = mul(c, c)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n i = reciprocal(s)\n n = mul(c, i)\n"
      "h = cast(n) { to = \"float16\" }\n y = mul(w, h)";
  constexpr std::string_view kHalf =
      "axes = int64[1]{-1} eps = float16[]{1e-3}\n q = mul(x, x)\n v = reduce_mean(q, axes)\n"
      "e = add(v, eps)\n s = sqrt(e)\n y = div(x, s)";
  ExpectFusions("fuse_normalizations",
                {
                    {kX, plain, "rms_normalization"},
                    {kX, with_bias, "rms_normalization add", {}, 1e-5, "z"},
                    {kX, plain, "pow reduce_mean add sqrt div mul", {"rms_normalization"}},
                    {"x: float16[4,5]", kCast, "rms_normalization", {}, 2e-3},
                    {"x: float16[4,5]", kHalf, "mul reduce_mean add sqrt div"},
                });
}

TEST(FuseNormalizations, Group) {
  constexpr const char* kImage = "x: float32[2,6,4,4]";
  constexpr std::string_view kGroups =
      "to = int64[3]{0,3,-1} back = int64[4]{2,6,4,4} ones = float32[3]{1,1,1} "
      "zeros = float32[3]{0,0,0} w = float32[6,1,1]{1,2,3,4,5,6} b = "
      "float32[1,6,1,1]{1,2,3,4,5,6}\n"
      "g = reshape(x, to)\n i = instance_normalization(g, ones, zeros)\n";
  const auto lines = [&](std::string_view rest) {
    return std::string(kGroups) + std::string(rest);
  };
  const std::string affine = lines("r = reshape(i, back)\n m = mul(r, w)\n y = add(m, b)");
  const std::string plain = lines("y = reshape(i, back)");
  const std::string biased = lines("r = reshape(i, back)\n y = add(r, b)");
  const std::string dynamic =
      lines("s = shape(x)\n r = reshape(i, s)\n m = mul(r, w)\n y = add(m, b)");
  const std::string elsewhere = "to2 = int64[3]{2,6,16}\n" + lines("y = reshape(i, to2)");
  const std::string scaled =
      "to = int64[3]{0,3,-1} back = int64[4]{2,6,4,4} s = float32[3]{1,2,1} "
      "zeros = float32[3]{0,0,0}\n g = reshape(x, to)\n"
      "i = instance_normalization(g, s, zeros)\n y = reshape(i, back)";
  ExpectFusions("fuse_normalizations",
                {
                    {kImage, affine, "group_normalization"},
                    {kImage, plain, "group_normalization"},
                    {kImage, biased, "group_normalization"},
                    {"x: float32[n,6,h,h]", dynamic, "group_normalization"},
                    {kImage,
                     affine,
                     "reshape instance_normalization reshape mul add",
                     {"group_normalization"}},
                    {kImage, elsewhere, "reshape instance_normalization reshape"},
                    {kImage, scaled, "reshape instance_normalization reshape"},
                });
}

// As flax has it: the variance is the mean of squares less the square of the mean, axes are dropped
// and put back, and the scale goes into the factor.
TEST(FuseNormalizations, FastVariance) {
  const auto lines = [](std::string_view keep, std::string_view rest) {
    std::string all = "zero = float32[]{0} axes = int64[1]{2} other = int64[1]{1} " +
                      std::string(kNumbers) + "m = reduce_mean(x, axes)K\n q = mul(x, x)\n" +
                      "s = reduce_mean(q, axes)K\n mm = mul(m, m)\n v = sub(s, mm)\n" +
                      std::string(rest);
    for (size_t at; (at = all.find(")K")) != std::string::npos;) all.replace(at, 2, keep);
    const size_t again = all.find("axes = int64[1]{-1}");
    return all.erase(again, 20);
  };
  const std::string_view dropped = ") { keepdims = 0 }", kept = ")";
  const std::string end =
      "d = sub(x, mu)\n e = add(vu, eps)\n r = sqrt(e)\n i = div(one, r)\n f = mul(i, w)\n"
      "n = mul(d, f)\n y = add(n, b)";
  const std::string flax = lines(
      dropped, "l = max(zero, v)\n vu = unsqueeze(l, axes)\n mu = unsqueeze(m, axes)\n" + end);
  const std::string with_relu =
      lines(dropped, "l = relu(v)\n vu = unsqueeze(l, axes)\n mu = unsqueeze(m, axes)\n" + end);
  const std::string with_axes = lines(kept, "vu = max(v, zero)\n mu = identity(m)\n" + end);
  // May be negative.
  const std::string unbounded =
      lines(dropped, "vu = unsqueeze(v, axes)\n mu = unsqueeze(m, axes)\n" + end);
  // Means of rows stand beside columns.
  const std::string elsewhere = lines(
      dropped, "l = max(zero, v)\n vu = unsqueeze(l, other)\n mu = unsqueeze(m, axes)\n" + end);
  ExpectFusions(
      "fuse_normalizations",
      {
          {kX, flax, "layer_normalization"},
          {kX, with_relu, "layer_normalization"},
          {"x: float32[a,b,5]", flax, "layer_normalization"},
          {kX, with_axes,
           "reduce_mean mul reduce_mean mul sub max identity sub add sqrt div mul mul add"},
          {kX, unbounded,
           "reduce_mean mul reduce_mean mul sub unsqueeze unsqueeze sub add sqrt div mul mul add"},
          {"x: float32[2,5,5]", elsewhere,
           "reduce_mean mul reduce_mean mul sub max unsqueeze unsqueeze sub add sqrt div mul mul "
           "add"},
          {kX,
           flax,
           "reduce_mean mul reduce_mean mul sub max unsqueeze unsqueeze sub add sqrt div mul mul "
           "add",
           {"layer_normalization"}},
      });
}

// Weights that are inputs, with axes of size 1 before them.
TEST(FuseNormalizations, ScaleAsInput) {
  const std::string norm = Lines(
      "sizes = int64[3]{1,1,5}\n m = reduce_mean(x, axes)\n d = sub(x, m)\n q = mul(d, d)\n"
      "v = reduce_mean(q, axes)\n e = add(v, eps)\n s = sqrt(e)\n n = div(d, s)\n"
      "u = reshape(g, sizes)\n y = mul(n, u)");
  ExpectFusions("fuse_normalizations",
                {{"x: float32[2,3,5], g: float32[5]", norm, "layer_normalization"}});
}

}  // namespace
}  // namespace x2ir
