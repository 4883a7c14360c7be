#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"

namespace x2ir {
namespace {

constexpr const char* kX = "x: float32[2,5]";

TEST(FuseActivations, Gelu) {
  ExpectFusions(
      "fuse_activations",
      {
          // PyTorch: x * (1 + erf(x / sqrt(2))) * 0.5
          {kX,
           "r = float32[]{1.4142135} one = float32[]{1} h = float32[]{0.5}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = mul(m, h)",
           "gelu"},
          {kX,
           "c = float32[1]{0.70710677} one = float32[]{1} h = float32[1,1]{0.5}\n a = mul(c, x)\n"
           "e = erf(a)\n s = add(one, e)\n b = mul(h, x)\n y = mul(b, s)",
           "gelu"},
          {kX,
           "c = float32[]{0.70710677} one = float32[]{1} h = float32[]{0.5}\n a = mul(c, x)\n"
           "e = erf(a)\n s = add(one, e)\n b = mul(s, h)\n y = mul(x, b)",
           "gelu"},
          // The half shared out, and a division by 2.
          {kX,
           "c = float32[]{0.70710677} h = float32[]{0.5}\n a = mul(c, x)\n"
           "e = erf(a)\n f = mul(e, h)\n s = add(f, h)\n y = mul(x, s)",
           "gelu"},
          {"x: float16[a,b]",
           "r = float16[]{1.4142135} one = float16[]{1} t = float16[]{2}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = div(m, t)",
           "gelu",
           {},
           2e-3},
          // The bias before it stays.
          {"x: float32[2,5], b: float32[5]",
           "c = float32[]{0.70710677} one = float32[]{1} h = float32[]{0.5}\n z = add(x, b)\n"
           "a = mul(c, z)\n e = erf(a)\n s = add(one, e)\n m = mul(s, z)\n y = mul(m, h)",
           "add gelu"},
          // In an old target; of other numbers; of another x; used twice; of a larger shape.
          {kX,
           "r = float32[]{1.4142135} one = float32[]{1} h = float32[]{0.5}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = mul(m, h)",
           "div erf add mul mul",
           {"gelu"}},
          {kX,
           "r = float32[]{1.4141} one = float32[]{1} h = float32[]{0.5}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = mul(m, h)",
           "div erf add mul mul"},
          {kX,
           "r = float32[]{1.4142135} one = float32[]{1} h = float32[]{0.25}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = mul(m, h)",
           "div erf add mul mul"},
          {"x: float32[2,5], z: float32[2,5]",
           "r = float32[]{1.4142135} one = float32[]{1} h = float32[]{0.5}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(z, s)\n y = mul(m, h)",
           "div erf add mul mul"},
          {kX,
           "r = float32[]{1.4142135} one = float32[]{1} h = float32[]{0.5}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = mul(m, h)",
           "div erf add mul mul",
           {},
           1e-5,
           "y, s"},
          {kX,
           "r = float32[]{1.4142135} one = float32[1,1,1]{1} h = float32[]{0.5}\n a = div(x, r)\n"
           "e = erf(a)\n s = add(e, one)\n m = mul(x, s)\n y = mul(m, h)",
           "div erf add mul mul"},
      });
}

TEST(FuseActivations, GeluOfTanh) {
  constexpr const char* kNumbers =
      "k = float32[]{0.044715} c = float32[]{0.79788456} one = float32[]{1} h = float32[]{0.5} "
      "three = float32[]{3}\n";
  const auto lines = [&](std::string_view rest) {
    return std::string(kNumbers) + std::string(rest);
  };
  const std::string power = lines(
      "q = pow(x, three)\n p = mul(q, k)\n s = add(x, p)\n a = mul(s, c)\n t = tanh(a)\n"
      "u = add(t, one)\n g = mul(x, h)\n y = mul(g, u)");
  const std::string products = lines(
      "q = mul(x, x)\n z = mul(q, x)\n p = mul(k, z)\n s = add(p, x)\n a = mul(c, s)\n"
      "t = tanh(a)\n u = add(one, t)\n g = mul(x, u)\n y = mul(h, g)");
  const std::string factored = lines(
      "b = mul(x, c)\n q = mul(x, k)\n z = mul(q, x)\n s = add(z, one)\n a = mul(b, s)\n"
      "t = tanh(a)\n u = add(one, t)\n g = mul(x, h)\n y = mul(g, u)");
  const std::string square = lines(
      "q = mul(x, x)\n p = mul(k, q)\n s = add(p, x)\n a = mul(c, s)\n"
      "t = tanh(a)\n u = add(one, t)\n g = mul(x, u)\n y = mul(h, g)");
  ExpectFusions("fuse_activations", {{kX, power, "gelu"},
                                     {kX, products, "gelu"},
                                     {kX, factored, "gelu"},
                                     {kX, square, "mul mul add mul tanh add mul mul"}});
}

TEST(FuseActivations, Hard) {
  ExpectFusions(
      "fuse_activations",
      {
          {kX,
           "n = float32[]{3} l = float32[]{0} h = float32[]{6}\n a = add(x, n)\n"
           "c = clip(a, l, h)\n y = div(c, h)",
           "hard_sigmoid"},
          {kX,
           "k = float32[]{0.2} n = float32[]{0.5} l = float32[]{0} h = float32[]{1}\n"
           "m = mul(x, k)\n a = add(m, n)\n y = clip(a, l, h)",
           "hard_sigmoid"},
          {kX,
           "k = float32[]{0.2} n = float32[]{0.5} l = float32[]{0} h = float32[]{1}\n"
           "m = mul(x, k)\n a = add(n, m)\n b = max(a, l)\n y = min(b, h)",
           "hard_sigmoid"},
          {kX,
           "n = float32[]{3} h = float32[]{6}\n a = add(x, n)\n r = relu(a)\n c = min(r, h)\n"
           "y = div(c, h)",
           "hard_sigmoid"},
          {kX,
           "s = float32[]{0.16666667} h = float32[]{6}\n r = relu(x)\n c = min(r, h)\n"
           "y = mul(c, s)",
           "hard_sigmoid"},
          {"x: float32[2,5], z: float32[5]",
           "n = float32[]{3} l = float32[]{0} h = float32[]{6}\n a = add(z, n)\n"
           "c = clip(a, l, h)\n m = mul(x, c)\n y = div(m, h)",
           "hard_sigmoid mul"},
          // A clip to another height, or from elsewhere; a clip alone.
          {kX,
           "n = float32[]{3} l = float32[]{0} h = float32[]{6} d = float32[]{5}\n a = add(x, n)\n"
           "c = clip(a, l, h)\n y = div(c, d)",
           "add clip div"},
          {kX,
           "n = float32[]{3} l = float32[]{-1} h = float32[]{6}\n a = add(x, n)\n"
           "c = clip(a, l, h)\n y = div(c, h)",
           "add clip div"},
          {kX, "l = float32[]{0} h = float32[]{1}\n y = clip(x, l, h)", "clip"},
          // A clip, each way; one whose bounds cross.
          {kX, "h = float32[]{6}\n r = relu(x)\n y = min(h, r)", "clip"},
          {kX, "l = float32[]{0} h = float32[1]{6}\n m = max(x, l)\n y = min(m, h)", "clip"},
          {kX, "h = float32[]{6}\n m = min(x, h)\n y = relu(m)", "clip"},
          {kX, "h = float32[]{-6}\n m = min(x, h)\n y = relu(m)", "min relu"},
          {kX, "h = float32[]{6}\n r = relu(x)\n y = min(h, r)", "relu min", {}, 1e-5, "y, r"},
          {"x: float32[5]", "h = float32[1,1]{6}\n r = relu(x)\n y = min(h, r)", "relu min"},
          // float64 has more digits than the attribute.
          {"x: float64[2,5]",
           "k = float64[]{0.2} n = float64[]{0.5} l = float64[]{0} h = float64[]{1}\n"
           "m = mul(x, k)\n a = add(m, n)\n y = clip(a, l, h)",
           "mul add clip"},
          // hard_swish, each way.
          {kX,
           "n = float32[]{3} l = float32[]{0} h = float32[]{6}\n a = add(x, n)\n"
           "c = clip(a, l, h)\n d = div(c, h)\n y = mul(x, d)",
           "hard_swish"},
          {kX,
           "n = float32[]{3} l = float32[]{0} h = float32[]{6}\n a = add(x, n)\n"
           "c = clip(a, l, h)\n m = mul(x, c)\n y = div(m, h)",
           "hard_swish"},
          {kX,
           "n = float32[]{3} l = float32[]{0} h = float32[]{6} s = float32[]{0.16666667}\n"
           "a = add(x, n)\n c = clip(a, l, h)\n m = mul(c, x)\n y = mul(m, s)",
           "hard_swish"},
          {kX,
           "n = float32[]{3} l = float32[]{0} h = float32[]{6}\n a = add(x, n)\n"
           "c = clip(a, l, h)\n m = mul(x, c)\n y = div(m, h)",
           "hard_sigmoid mul",
           {"hard_swish"}},
          {kX, "g = hard_sigmoid(x) { alpha = 0.16666667, beta = 0.5 }\n y = mul(g, x)",
           "hard_swish"},
          {kX, "g = hard_sigmoid(x) { alpha = 0.2, beta = 0.5 }\n y = mul(g, x)",
           "hard_sigmoid mul"},
          {kX,
           "g = hard_sigmoid(x) { alpha = 0.16666667, beta = 0.5 }\n y = mul(g, x)",
           "hard_sigmoid mul",
           {"hard_swish"}},
      });
}

TEST(FuseActivations, SwishAndMish) {
  ExpectFusions(
      "fuse_activations",
      {
          {kX, "g = sigmoid(x)\n y = mul(x, g)", "swish"},
          {kX, "g = sigmoid(x)\n y = mul(g, x)", "swish"},
          {kX, "k = float32[]{1.702}\n a = mul(x, k)\n g = sigmoid(a)\n y = mul(x, g)", "swish"},
          {"x: float64[3]", "k = float64[]{1.702}\n a = mul(x, k)\n g = sigmoid(a)\n y = mul(x, g)",
           "mul sigmoid mul"},
          {"x: float32[3], z: float32[3]", "g = sigmoid(x)\n y = mul(z, g)", "sigmoid mul"},
          {kX, "g = sigmoid(x)\n y = mul(g, x)", "sigmoid mul", {"swish"}},
          {kX, "g = sigmoid(x)\n y = mul(g, x)", "sigmoid mul", {}, 1e-5, "y, g"},
          {"x: int32[3]", "y = mul(x, x)", "mul"},
          {kX, "s = softplus(x)\n t = tanh(s)\n y = mul(t, x)", "mish"},
          {kX,
           "one = float32[]{1}\n e = exp(x)\n a = add(e, one)\n l = log(a)\n"
           "t = tanh(l)\n y = mul(x, t)",
           "mish"},
          {kX, "one = float32[]{1}\n e = exp(x)\n a = add(e, one)\n y = log(a)", "exp add log"},
      });
}

TEST(FuseActivations, Softmax) {
  const std::string start =
      "axes = int64[1]{-1} first = int64[1]{0}\n m = reduce_max(x, axes)\n d = sub(x, m)\n";
  const std::string softmax = start + "e = exp(d)\n s = reduce_sum(e, axes)\n y = div(e, s)";
  const std::string log_softmax =
      start + "e = exp(d)\n s = reduce_sum(e, axes)\n l = log(s)\n y = sub(d, l)";
  const std::string other_axis = start + "e = exp(d)\n s = reduce_sum(e, first)\n y = div(e, s)";
  const std::string other_max =
      "axes = int64[1]{-1} first = int64[1]{0}\n m = reduce_max(x, first)\n d = sub(x, m)\n"
      "e = exp(d)\n s = reduce_sum(e, axes)\n y = div(e, s)";
  const std::string dropped =
      "axes = int64[1]{0}\n m = reduce_max(x, axes)\n d = sub(x, m)\n e = exp(d)\n"
      "s = reduce_sum(e, axes) { keepdims = 0 }\n y = div(e, s)";
  const std::string as_was = "reduce_max sub exp reduce_sum div";
  ExpectFusions("fuse_activations",
                {
                    {kX, softmax, "softmax"},
                    {"x: float32[a,b,3]", softmax, "softmax"},
                    {"x: float16[2,5]", softmax, "softmax", {}, 2e-3},
                    {kX, log_softmax, "log_softmax"},
                    {kX, other_axis, as_was},
                    {kX, other_max, as_was},
                    {kX, dropped, as_was},
                    {kX, softmax, as_was, {"softmax"}},
                    {kX, log_softmax, "reduce_max sub exp reduce_sum log sub", {"log_softmax"}},
                });
}

TEST(FuseActivations, SigmoidAndRelu) {
  ExpectFusions(
      "fuse_activations",
      {
          {kX, "one = float32[]{1}\n n = neg(x)\n e = exp(n)\n s = add(one, e)\n y = div(one, s)",
           "sigmoid"},
          {kX, "two = float32[]{2}\n n = neg(x)\n e = exp(n)\n s = add(two, e)\n y = div(two, s)",
           "neg exp add div"},
          {kX, "one = float32[]{1}\n e = exp(x)\n s = add(one, e)\n y = div(one, s)",
           "exp add div"},
          {kX, "zero = float32[]{0}\n y = max(zero, x)", "relu"},
          {kX, "zero = float32[]{0}\n y = max(x, zero)", "max", {"relu"}},
          {kX, "low = float32[]{-1}\n y = max(x, low)", "max"},
          // erf of a negative number is the negative of erf.
          {kX,
           "c = float32[]{0.70710677} m = float32[]{-1} one = float32[]{1} h = float32[]{0.5}\n"
           "b = mul(h, x)\n n = neg(x)\n a = mul(n, c)\n a2 = mul(a, m)\n e = erf(a2)\n"
           "s = add(one, e)\n y = mul(b, s)",
           "gelu"},
      });
}

}  // namespace
}  // namespace x2ir
