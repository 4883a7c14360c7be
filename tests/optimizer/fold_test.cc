// fold_affine, fold_pad and gemm.
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"

namespace x2ir {
namespace {

constexpr const char* kX = "x: float32[2,4,5,5]";

TEST(FoldAffine, BatchNorm) {
  const auto lines = [](std::string_view rest) {
    return "any_w: float32[6,2,3,3]\n any_t: float32[4,3,3,3]\n any_s: float32[6]\n"
           "any_b: float32[6]\n any_m: float32[6]\n any_u: float32[6]\n any_k: float32[4,6]\n"
           "v = float32[6]{1,2,0.5,4,0,3}\n" +
           std::string(rest);
  };
  const std::string conv = lines(
      "c = conv(x, any_w) { group = 2 }\n y = batch_normalization(c, any_s, any_b, any_m, v)");
  const std::string biased = lines(
      "c = conv(x, any_w, any_u) { group = 2 }\n"
      "n = batch_normalization(c, any_s, any_b, any_m, v)\n y = relu(n)");
  const std::string twice = lines(
      "c = conv(x, any_w, any_u) { group = 2 }\n n = batch_normalization(c, any_s, any_b, any_m, "
      "v)\n"
      "y = batch_normalization(n, any_s, any_u, any_m, v)");
  const std::string used = lines(
      "c = conv(x, any_w) { group = 2 }\n n = batch_normalization(c, any_s, any_b, any_m, v)\n"
      "y = add(n, c)");
  const std::string no_epsilon = lines(
      "c = conv(x, any_w) { group = 2 }\n"
      "y = batch_normalization(c, any_s, any_b, any_m, v) { epsilon = 0.0 }");
  const std::string training = lines(
      "c = conv(x, any_w) { group = 2 }\n"
      "y = batch_normalization(c, any_s, any_b, any_m, v) { training_mode = 1 }");
  const std::string last = lines(
      "c = conv(x, any_w) { group = 2, layout = \"channels_last\" }\n"
      "y = batch_normalization(c, any_s, any_b, any_m, v) { layout = \"channels_last\" }");
  const std::string two_layouts = lines(
      "c = conv(x, any_w) { group = 2, layout = \"channels_last\" }\n"
      "y = batch_normalization(c, any_s, any_b, any_m, v)");
  const std::string transposed = lines(
      "c = conv_transpose(x, any_t, any_u) { group = 2 }\n"
      "y = batch_normalization(c, any_s, any_b, any_m, v)");
  const std::string gemm = lines(
      "c = gemm(x, any_k, any_u) { alpha = 0.5, beta = 2.0 }\n"
      "y = batch_normalization(c, any_s, any_b, any_m, v)");
  const std::string matmul =
      lines("c = matmul(x, any_k)\n y = batch_normalization(c, any_s, any_b, any_m, v)");
  const std::string given =
      "any_s: float32[6]\n c = conv(x, w)\n"
      "y = batch_normalization(c, any_s, any_s, any_s, any_s)";
  ExpectFusions("fold_affine",
                {
                    {kX, conv, "conv", {}, 1e-4},
                    {kX, biased, "conv relu", {}, 1e-4},
                    {kX, twice, "conv", {}, 1e-3},
                    {"x: float32[2,5,5,4]", last, "conv", {}, 1e-4},
                    {"x: float32[n,4,h,h]", conv, "conv", {}, 1e-4},
                    {kX, transposed, "conv_transpose", {}, 1e-4},
                    {"x: float32[n,4]", gemm, "gemm", {}, 1e-4},
                    {"x: float32[n,4]", matmul, "gemm", {}, 1e-4},
                    {"x: float32[n,4]", matmul, "matmul batch_normalization", {"gemm"}, 1e-4},
                    {kX, used, "conv batch_normalization add"},
                    {kX, no_epsilon, "conv batch_normalization"},
                    {kX, training, "conv batch_normalization", {}, 1e-4},
                    {"x: float32[2,8,5,4]", two_layouts, "conv batch_normalization"},
                    {"x: float32[1,1,3,3], w: float32[6,1,3,3]", given, "conv batch_normalization"},
                    // Nobody else's value: the conv's result is an output.
                    {kX, conv, "conv batch_normalization", {}, 1e-4, "y, c"},
                });
}

TEST(FoldAffine, Arithmetic) {
  const auto lines = [](std::string_view rest) {
    return "any_w: float32[6,4,3,3]\n any_t: float32[4,6,3,3]\n any_u: float32[6]\n"
           "any_c: float32[6,1,1]\n any_k: float32[4,6]\n any_kt: float32[6,4]\n"
           "any_r: float32[1,6]\n two = float32[]{2}\n zero = float32[]{0}\n"
           "huge = float32[]{3e38}\n row = float32[5]{1,2,3,4,5}\n" +
           std::string(rest);
  };
  constexpr const char* kMatrix = "x: float32[n,4]";
  const std::string all = lines(
      "c = conv(x, any_w, any_u)\n m = mul(c, any_c)\n a = add(any_c, m)\n d = div(a, two)\n"
      "s = sub(d, any_c)\n y = sub(two, s)");
  const std::string add = lines("c = conv(x, any_w)\n y = add(c, any_c)");
  const std::string transposed =
      lines("c = conv_transpose(x, any_t)\n m = mul(any_c, c)\n y = sub(m, two)");
  const std::string under = lines("c = conv(x, any_w)\n y = div(two, c)");
  const std::string by_zero = lines("c = conv(x, any_w)\n y = div(c, zero)");
  const std::string overflow = lines("c = conv(x, any_w)\n y = mul(c, huge)");
  const std::string spatial = lines("c = conv(x, any_w) { pads = [1,1,1,1] }\n y = mul(c, row)");
  const std::string gemm = lines(
      "c = gemm(x, any_kt, two) { transB = 1, beta = 3.0 }\n m = mul(c, any_r)\n"
      "y = add(m, any_u)");
  const std::string matmul = lines("c = matmul(x, any_k)\n y = mul(c, any_u)");
  const std::string shifted = lines("c = matmul(x, any_k)\n y = add(c, any_u)");
  const std::string norm = lines(
      "n = instance_normalization(x, row, row)\n row2 = float32[1,5,1]{1,2,3,4,5}\n"
      "m = mul(n, row2)\n y = add(m, two)");
  const std::string wider =
      lines("big = float32[1,1,1]{2}\n c = matmul(x, any_k)\n y = mul(c, big)");
  // Large weights of two users, each of which would need a copy.
  const std::string quantized = lines(
      "any_q: int8[6,4,3,3]\n d = dequantize_linear(any_q, two)\n c = conv(x, d)\n"
      "y = mul(c, two)");
  const std::string shared =
      "any_w: float32[64,4,3,3]\n half = float32[]{0.5}\n c = conv(x, any_w)\n m = mul(c, half)\n"
      "d = conv(x, any_w)\n y = add(m, d)";
  const std::string shared_norm =
      "any_w: float32[64,4,3,3]\n any_s: float32[64]\n c = conv(x, any_w)\n d = conv(x, any_w)\n"
      "n = batch_normalization(d, any_s, any_s, any_s, any_s) { epsilon = 20.0 }\n y = add(c, n)";
  constexpr std::string_view kSmall =
      "w = float16[1,1,1]{0.001}\n s = float16[]{0.01}\n c = conv(x, w)\n y = mul(c, s)";
  constexpr std::string_view kHalf =
      "w = float16[1,1,1]{0.5}\n s = float16[]{0.25}\n c = conv(x, w)\n y = mul(c, s)";
  // What is added and taken away again rounds.
  const std::string rounding =
      "w = float32[1,4,1,1]{1,2,3,4}\n b = float32[1]{65504}\n s = float32[]{65504}\n"
      "c = conv(x, w, b)\n y = sub(c, s)";
  ExpectFusions("fold_affine", {
                                   {kX, all, "conv", {}, 1e-4},
                                   {kX, add, "conv", {}, 1e-4},
                                   {kX, transposed, "conv_transpose", {}, 1e-4},
                                   {kMatrix, gemm, "gemm", {}, 1e-4},
                                   {kMatrix, matmul, "matmul", {}, 1e-4},
                                   {"x: float32[2,n,4]", matmul, "matmul", {}, 1e-4},
                                   {kMatrix, shifted, "gemm", {}, 1e-4},
                                   {"x: float32[2,n,4]", shifted, "matmul add", {}, 1e-4},
                                   {"x: float32[2,5,7]", norm, "instance_normalization", {}, 1e-4},
                                   {"x: float16[2,1,3]", kHalf, "conv", {}, 1e-3},
                                   {kX, rounding, "conv sub"},
                                   {kX, under, "conv div", {}, 1e-4},
                                   {kX, shared, "conv mul conv add", {}, 1e-4},
                                   {kX, shared_norm, "conv conv add", {}, 1e-4},
                                   {kX, by_zero, "conv div"},
                                   {kX, overflow, "conv mul"},
                                   {kX, spatial, "conv mul"},
                                   {kMatrix, wider, "matmul mul"},
                                   {"x: float16[2,1,3]", kSmall, "conv mul"},
                               });
}

TEST(FoldScale, BeforeLinearOps) {
  const auto lines = [](std::string_view rest) {
    return "any_w: float32[6,2,3,3]\n any_t: float32[4,3,3,3]\n any_k: float32[4,6]\n"
           "any_kt: float32[6,4]\n any_c: float32[4,1,1]\n any_r: float32[4]\n half = "
           "float32[]{0.5}\n"
           "zero = float32[]{0}\n row = float32[5]{1,2,3,4,5}\n big = float32[1,1,1,1,1]{2}\n" +
           std::string(rest);
  };
  const std::string conv =
      lines("m = mul(x, any_c)\n y = conv(m, any_w) { group = 2, pads = [1,1,1,1] }");
  const std::string transposed =
      lines("m = mul(any_c, x)\n y = conv_transpose(m, any_t) { group = 2 }");
  const std::string halved = lines("m = div(x, half)\n y = conv(m, any_w) { group = 2 }");
  const std::string under = lines("m = div(half, x)\n y = conv(m, any_w) { group = 2 }");
  const std::string by_zero = lines("m = div(x, zero)\n y = conv(m, any_w) { group = 2 }");
  const std::string spatial = lines("m = mul(x, row)\n y = conv(m, any_w) { group = 2 }");
  const std::string shifted = lines("m = add(x, any_c)\n y = conv(m, any_w) { group = 2 }");
  const std::string gemm = lines("m = mul(x, any_r)\n y = gemm(m, any_kt) { transB = 1 }");
  const std::string matmul = lines("m = mul(x, any_r)\n n = mul(half, m)\n y = matmul(n, any_k)");
  const std::string left = lines("m = mul(x, half)\n y = gemm(m, any_k) { transA = 1 }");
  const std::string used = lines("m = mul(x, half)\n z = matmul(m, any_k)\n y = relu(m)");
  const std::string wider = lines("m = mul(x, big)\n y = matmul(m, any_k)");
  ExpectFusions("fold_scale", {
                                  {kX, conv, "conv", {}, 1e-4},
                                  {"x: float32[n,4,h,h]", conv, "conv", {}, 1e-4},
                                  {kX, transposed, "conv_transpose", {}, 1e-4},
                                  {kX, halved, "conv", {}, 1e-4},
                                  {"x: float32[n,4]", gemm, "gemm", {}, 1e-4},
                                  {"x: float32[2,n,4]", matmul, "matmul", {}, 1e-4},
                                  {"x: float32[4,n]", left, "gemm", {}, 1e-4},
                                  {kX, under, "div conv", {}, 1e-3},
                                  {kX, by_zero, "div conv"},
                                  {kX, spatial, "mul conv"},
                                  {kX, shifted, "add conv"},
                                  {"x: float32[3,4]", used, "mul matmul relu", {}, 1e-5, "y, z"},
                                  {"x: float32[3,4]", wider, "mul matmul"},
                              });
}

TEST(FoldPad, Windows) {
  const auto lines = [](std::string_view rest) {
    return "any_w: float32[6,4,3,3]\n pads = int64[8]{0,0,1,2,0,0,0,1}\n"
           "batch = int64[8]{1,0,1,2,0,0,0,1}\n cut = int64[8]{0,0,1,-1,0,0,0,1}\n"
           "some = int64[4]{1,2,0,1}\n axes = int64[2]{-2,3}\n nhwc = int64[8]{0,1,2,0,0,0,1,0}\n"
           "zero = float32[]{0}\n one = float32[]{1}\n low = float32[]{-inf}\n"
           "far = int64[8]{0,0,3,0,0,0,0,0}\n" +
           std::string(rest);
  };
  const std::string conv = lines("p = pad(x, pads)\n y = conv(p, any_w) { pads = [0,1,2,0] }");
  const std::string axes =
      lines("p = pad(x, some, zero, axes)\n y = conv(p, any_w) { auto_pad = \"VALID\" }");
  const std::string last =
      lines("p = pad(x, nhwc, zero)\n y = conv(p, any_w) { layout = \"channels_last\" }");
  const std::string same =
      lines("p = pad(x, pads)\n y = conv(p, any_w) { auto_pad = \"SAME_UPPER\" }");
  const std::string by_one = lines("p = pad(x, pads, one)\n y = conv(p, any_w)");
  const std::string batch = lines("p = pad(x, batch, zero)\n y = conv(p, any_w)");
  const std::string cut = lines("p = pad(x, cut, zero)\n y = conv(p, any_w)");
  const std::string edge = lines("p = pad(x, pads, zero) { mode = \"edge\" }\n y = conv(p, any_w)");
  const std::string average =
      lines("p = pad(x, pads)\n y = average_pool(p) { kernel_shape = [3,3], strides = [2,2] }");
  const std::string counted = lines(
      "p = pad(x, pads)\n"
      "y = average_pool(p) { kernel_shape = [4,4], pads = [0,1,0,1], count_include_pad = 1 }");
  const std::string uncounted =
      lines("p = pad(x, pads)\n y = average_pool(p) { kernel_shape = [4,4], pads = [0,1,0,1] }");
  const std::string ceil = lines(
      "p = pad(x, pads)\n y = average_pool(p) { kernel_shape = [3,3], strides = [2,2], ceil_mode = "
      "1 }");
  const std::string far = lines("p = pad(x, far)\n y = average_pool(p) { kernel_shape = [3,3] }");
  const std::string max =
      lines("p = pad(x, pads, low)\n y = max_pool(p) { kernel_shape = [3,3], strides = [2,2] }");
  const std::string zeros =
      lines("p = pad(x, pads, zero)\n y = max_pool(p) { kernel_shape = [3,3], strides = [2,2] }");
  const std::string relu =
      lines("r = relu(x)\n p = pad(r, pads, zero)\n y = max_pool(p) { kernel_shape = [3,3] }");
  const std::string dilated = lines(
      "r = relu(x)\n p = pad(r, pads, zero)\n"
      "y = max_pool(p) { kernel_shape = [3,3], dilations = [2,2] }");
  const std::string indices =
      lines("p = pad(x, pads, low)\n y, i = max_pool(p) { kernel_shape = [3,3] }");
  ExpectFusions("fold_pad", {
                                {kX, conv, "conv"},
                                {"x: float32[n,4,h,h]", conv, "conv"},
                                {kX, axes, "conv"},
                                {"x: float32[2,5,5,4]", last, "conv"},
                                {kX, same, "pad conv"},
                                {kX, by_one, "pad conv"},
                                {kX, batch, "pad conv"},
                                {kX, cut, "pad conv"},
                                {kX, edge, "pad conv"},
                                {kX, average, "average_pool"},
                                {kX, counted, "average_pool"},
                                {kX, uncounted, "pad average_pool"},
                                {kX, ceil, "pad average_pool"},
                                {kX, far, "pad average_pool"},
                                {kX, max, "max_pool"},
                                {kX, zeros, "pad max_pool"},
                                {kX, relu, "relu max_pool"},
                                {kX, dilated, "relu pad max_pool"},
                                {"x: float32[n,c,7,7]", relu, "relu max_pool"},
                                {"x: float32[n,4,h,h]", relu, "relu pad max_pool"},
                                {kX, indices, "pad max_pool", {}, 1e-5, "y, i"},
                            });
}

TEST(Gemm, FromMatMul) {
  constexpr const char* kInputs =
      "a: float32[n,4], b: float32[4,3], c: float32[3], d: float32[1,3]";
  ExpectFusions(
      "gemm",
      {
          {kInputs, "m = matmul(a, b)\n y = add(m, c)", "gemm"},
          {kInputs, "m = matmul(a, b)\n y = add(d, m)", "gemm"},
          {kInputs,
           "t = transpose(b)\n u = transpose(a) { perm = [1,0] }\n m = matmul(t, u)\n y = relu(m)",
           "gemm relu"},
          {kInputs, "m = gemm(a, b) { alpha = 2.0, beta = 5.0 }\n y = add(m, c)", "gemm"},
          {kInputs, "t = transpose(b)\n y = gemm(a, t) { transB = 1, alpha = 2.0 }", "gemm"},
          {kInputs,
           "t = transpose(b)\n m = gemm(a, t, c) { transB = 1 }\n u = neg(t)\n y = relu(m)",
           "transpose gemm neg relu",
           {},
           1e-5,
           "y, u"},
          {kInputs, "t = transpose(b)\n u = transpose(t)\n y = matmul(a, u)", "gemm"},
          {kInputs, "m = matmul(a, b)\n y = add(m, c)", "matmul add", {"gemm"}},
          {kInputs, "m = matmul(a, b)\n y = transpose(m)", "gemm"},
          {"a: float32[4,n], b: float32[4,3]",
           "one = float32[1]{3}\n m = gemm(a, b, one) { transA = 1, alpha = 0.5, beta = 2.0 }\n"
           "y = transpose(m) { perm = [1,0] }",
           "gemm"},
          {kInputs, "m = gemm(a, b, c)\n y = transpose(m)", "gemm transpose"},
          {kInputs, "m = matmul(a, b)\n y = transpose(m)", "matmul transpose", {}, 1e-5, "y, m"},
          {kInputs, "m = matmul(a, b)\n y = add(m, c)\n", "matmul add", {}, 1e-5, "y, m"},
          {"a: float32[2,n,4], b: float32[4,3], c: float32[3]", "m = matmul(a, b)\n y = add(m, c)",
           "matmul add"},
          {"a: float32[1,4], b: float32[4,3], c: float32[5,3]", "m = matmul(a, b)\n y = add(m, c)",
           "matmul add"},
          {"a: float32[n,4], b: float32[4,3], c: float32[1,1,3]",
           "m = matmul(a, b)\n y = add(m, c)", "matmul add"},
          {"a: int32[n,4], b: int32[4,3], c: int32[3]", "m = matmul(a, b)\n y = add(m, c)",
           "matmul add"},
      });
}

}  // namespace
}  // namespace x2ir
