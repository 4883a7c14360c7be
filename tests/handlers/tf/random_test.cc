// TensorFlow's random numbers: types and shapes, the same twice, and how they are distributed.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

Tensor Drawn(std::string_view lines) {
  auto model = ModelFromText(StrCat("graph g() -> (y) {\n", lines, "\n}"), "tf", 1);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return {};
  const absl::Status converted = ToIr(*model);
  EXPECT_TRUE(converted.ok()) << lines << converted;
  if (!converted.ok()) return {};
  auto results = RunGraph(*model->graph, {});
  EXPECT_TRUE(results.ok()) << lines << results.status();
  return results.ok() ? *(*results)[0].tensor() : Tensor();
}

struct Row {
  std::string lines;
  DType dtype;
  double least, below;  // all elements are from `least` to less than `below`
  double mean, deviation;
};

TEST(TfRandom, Distributions) {
  const double third = 1 / std::sqrt(12.0);
  // Of the normal distribution within two standard deviations.
  const double cut = std::sqrt(1 - 4 * std::exp(-2) / (std::sqrt(2 * M_PI) * std::erf(M_SQRT2)));
  const std::string size = "s = int32[2]{50,80}\n d = int64[2]{17,-4}\n ";
  const std::string key =
      size + "k, c = tf.StatelessRandomGetKeyCounter(d)\n a = tf.StatelessRandomGetAlg()\n ";
  const auto many = [](std::string_view number) {
    std::string list;
    for (int i = 0; i < 80; ++i) StrAppend(&list, i == 0 ? "" : ",", number);
    return list;
  };
  const std::string bounds = "l = int32[]{-3}\n h = int32[]{4}\n ";
  const std::string wide = "l = int64[]{-3}\n h = int64[]{4}\n ";
  const Row rows[] = {
      {size + "y = tf.RandomUniform(s) { seed = 3, seed2 = 4 }", DType::kFloat32, 0, 1, 0.5, third},
      {size + "y = tf.StatelessRandomUniform(s, d)", DType::kFloat32, 0, 1, 0.5, third},
      {key + "y = tf.StatelessRandomUniformV2(s, k, c, a) { dtype = type(float64[...]) }",
       DType::kFloat64, 0, 1, 0.5, third},
      {size + "y = tf.StatelessRandomNormal(s, d)", DType::kFloat32, -6, 6, 0, 1},
      {key + "y = tf.StatelessRandomNormalV2(s, k, c, a) { dtype = type(float16[...]) }",
       DType::kFloat16, -6, 6, 0, 1},
      {size + "y = tf.TruncatedNormal(s) { dtype = type(float32[...]) }", DType::kFloat32, -2,
       2.0000001, 0, cut},
      {size + "y = tf.StatelessTruncatedNormal(s, d) { dtype = type(float64[...]) }",
       DType::kFloat64, -2, 2, 0, cut},
      {key + "y = tf.StatelessTruncatedNormalV2(s, k, c, a)", DType::kFloat32, -2, 2.0000001, 0,
       cut},
      {size + bounds + "y = tf.RandomUniformInt(s, l, h)", DType::kInt32, -3, 4, 0, 2},
      {size + wide + "y = tf.StatelessRandomUniformInt(s, d, l, h)", DType::kInt64, -3, 4, 0, 2},
      {key + bounds + "y = tf.StatelessRandomUniformIntV2(s, k, c, a, l, h)", DType::kInt32, -3, 4,
       0, 2},
      {size + "y = tf.StatelessRandomUniformFullInt(s, d) { dtype = type(int32[...]) }",
       DType::kInt32, -0x1p31, 0x1p31, 0, 0x1p32 * third},
      {size + "y = tf.StatelessRandomUniformFullInt(s, d) { dtype = type(uint32[...]) }",
       DType::kUInt32, 0, 0x1p32, 0x1p31, 0x1p32 * third},
      {size + "y = tf.StatelessRandomUniformFullInt(s, d) { dtype = type(int64[...]) }",
       DType::kInt64, -0x1p63, 0x1p63, 0, 0x1p64 * third},
      {key + "y = tf.StatelessRandomUniformFullIntV2(s, k, c, a)", DType::kUInt64, 0, 0x1p64,
       0x1p63, 0x1p64 * third},
      // Some 10 deviations at most.
      {size + "r = float32[]{3.5}\n y = tf.RandomPoissonV2(s, r)", DType::kInt64, 0, 25, 3.5,
       std::sqrt(3.5)},
      {"s = int32[1]{50}\n r = float64[80]{" + many("900") + "}\n y = tf.RandomPoisson(s, r)",
       DType::kFloat64, 600, 1200, 900, 30},
      {size + "r = float32[]{0.25}\n y = tf.StatelessRandomPoisson(s, d, r) { dtype = "
              "type(float32[...]) }",
       DType::kFloat32, 0, 10, 0.25, 0.5},
      {size + "r = float32[]{0.25}\n y = tf.RandomGamma(s, r)", DType::kFloat32, 0, 20, 0.25, 0.5},
      {size + "r = float64[]{1}\n y = tf.StatelessRandomGammaV2(s, d, r)", DType::kFloat64, 0, 30,
       1, 1},
      {key + "r = float32[]{144}\n y = tf.StatelessRandomGammaV3(s, k, c, a, r)", DType::kFloat32,
       70, 240, 144, 12},
      // Logarithms of 1 and 3.
      {"x = float32[1,2]{0,1.0986123}\n n = int32[]{4000}\n d = int32[2]{1,2}\n "
       "y = tf.StatelessMultinomial(x, n, d)",
       DType::kInt64, 0, 2, 0.75, std::sqrt(3.0 / 16)},
  };
  for (const Row& row : rows) {
    const Tensor y = Drawn(row.lines), again = Drawn(row.lines);
    EXPECT_TRUE(y == again) << row.lines;
    ASSERT_EQ(y.dtype(), row.dtype) << row.lines;
    ASSERT_EQ(y.num_elements(), 4000) << row.lines;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 4000; ++i) {
      const double v = y.AsDouble(i);
      EXPECT_TRUE(v >= row.least && v < row.below) << row.lines << ": " << v;
      sum += (v - row.mean) / row.deviation;
      squares += std::pow((v - row.mean) / row.deviation, 2);
    }
    // Some five standard deviations of both.
    EXPECT_NEAR(sum / 4000, 0, 0.08) << row.lines;
    EXPECT_NEAR(squares / 4000, 1, 0.12) << row.lines;
  }
}

TEST(TfRandom, SeedsMatter) {
  const auto drawn = [](std::string_view op, std::string_view seed) {
    return Drawn(StrCat("s = int32[1]{8}\n d = int32[2]{", seed, "}\n y = tf.", op, "(s, d)"));
  };
  const Tensor y = drawn("StatelessRandomUniform", "1,2");
  EXPECT_TRUE(y == drawn("StatelessRandomUniform", "1,2"));
  EXPECT_FALSE(y == drawn("StatelessRandomUniform", "2,1"));
  EXPECT_FALSE(y == drawn("StatelessRandomUniform", "1,3"));
  // Another name draws the same.
  EXPECT_TRUE(y == Drawn("s = int32[1]{8}\n d = int64[2]{1,2}\n z = tf.StatelessRandomUniform(s, "
                         "d)\n y = tf.Identity(z)"));
}

TEST(TfRandom, Shuffled) {
  for (const std::string_view lines :
       {"x = int32[6]{0,1,2,3,4,5}\n y = tf.RandomShuffle(x) { seed = 5 }",
        "x = int32[6]{0,1,2,3,4,5}\n d = int32[2]{1,2}\n k, c, a = "
        "tf.StatelessRandomGetKeyCounterAlg(d)\n y = tf.StatelessShuffle(x, k, c, a)"}) {
    const Tensor y = Drawn(lines);
    std::vector<int64_t> all = *y.ToInts();
    EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  }
}

TEST(TfRandom, Keys) {
  ExpectConstantRows(std::vector<ConstantRow>{
      {"d = int32[2]{1,2}\n k, c, a = tf.StatelessRandomGetKeyCounterAlg(d)", "k, c, a",
       "uint64[1]{10413732777507651514}; uint64[2]{0, 17830669156045600267}; int32[]{1}"},
      {"d = int32[3]{1,2,3}\n k, c = tf.StatelessRandomGetKeyCounter(d)", "k", "error 2 numbers"},
      {"s = int32[1]{2}\n d = int32[2]{1,2}\n e = tf.Where(d)\n "
       "f = tf.Reshape(e, d)\n y = tf.StatelessRandomUniform(s, f)",
       "y", "error of the seed"},
      {"s = int32[1]{2}\n d = int32[2]{1,2}\n l = int64[]{0}\n h = int64[]{9000000000000000000}\n "
       "y = tf.StatelessRandomUniformInt(s, d, l, h)",
       "y", "error wide range"},
      {"s = int32[1]{2}\n r = float32[3]{0,-1,inf}\n y = tf.RandomPoisson(s, r)", "y",
       "float32[2,3]{0, nan, nan, 0, nan, nan}"},
      {"s = int32[1]{1}\n r = float32[2]{-1,0}\n y = tf.RandomGamma(s, r)", "y",
       "float32[1,2]{nan, nan}"},
      {"s = int32[1]{2}\n y = tf.RandomIndexShuffle(s, s, s)", "y", "error no mapping"},
  });
}

}  // namespace
}  // namespace x2ir
