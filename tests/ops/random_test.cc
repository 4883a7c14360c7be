// Random numbers and what drops by chance: their statistics, edges and errors. The bounds are
// about five standard deviations of the statistic, and the numbers are the same in every run.
#include "x2ir/ops/random.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The output `y` of an IR graph without inputs.
std::vector<double> Draw(std::string_view lines, DType dtype) {
  auto graph = ParseGraph(StrCat("graph g() -> (y) {\n", lines, "\n}"));
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  EXPECT_TRUE(InferGraph(**graph).ok());
  const auto results = RunGraph(**graph, {});
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return {};
  const Tensor& tensor = *(*results)[0].tensor();
  EXPECT_EQ(tensor.dtype(), dtype);
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(IsFloating(dtype) ? tensor.AsDouble(i) : static_cast<double>(tensor.AsInt(i)));
  }
  return values;
}

// The mean of values^power around `centre`.
double Moment(const std::vector<double>& values, double centre, int power) {
  double sum = 0;
  for (double v : values) sum += std::pow(v - centre, power);
  return sum / static_cast<double>(values.size());
}

TEST(Random, IsSplitMix64) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(random.Next(), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(random.Next(), 0x06C45D188009454Fu);
}

constexpr int kCount = 40000;

TEST(Random, Uniform) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    SCOPED_TRACE(Name(dtype));
    const auto unit =
        Draw(StrCat("s = int64[2]{40, 1000}\n y = random_uniform(s) { low = 0.0, high = 1.0, "
                    "dtype = \"",
                    Name(dtype), "\" }"),
             dtype);
    ASSERT_EQ(unit.size(), kCount);
    EXPECT_GE(*std::min_element(unit.begin(), unit.end()), 0);
    EXPECT_LT(*std::max_element(unit.begin(), unit.end()), 1);
    EXPECT_NEAR(Moment(unit, 0, 1), 0.5, 0.01);
    EXPECT_NEAR(Moment(unit, 0.5, 2), 1.0 / 12, 0.002);
    // Even over sixteen parts: chi squared with 15 degrees of freedom.
    std::vector<double> parts(16);
    for (double v : unit) ++parts[static_cast<size_t>(v * 16)];
    double chi = 0;
    for (double n : parts) chi += (n - kCount / 16.0) * (n - kCount / 16.0) / (kCount / 16.0);
    EXPECT_LT(chi, 45);
    // Neighbours do not go together.
    double together = 0;
    for (size_t i = 1; i < unit.size(); ++i) together += (unit[i] - 0.5) * (unit[i - 1] - 0.5);
    EXPECT_NEAR(together / kCount, 0, 0.002);
  }
  const auto wide = Draw(
      "x: int8[40000]\n y = random_uniform_like(x) { low = -2.0, high = 6.0, dtype = "
      "\"float32\" }",
      DType::kFloat32);
  EXPECT_NEAR(Moment(wide, 0, 1), 2, 0.06);
  EXPECT_GE(*std::min_element(wide.begin(), wide.end()), -2);
}

TEST(Random, Normal) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    SCOPED_TRACE(Name(dtype));
    const auto values =
        Draw(StrCat("s = int64[1]{40000}\n y = random_normal(s) { mean = 1.0, scale = 2.0, "
                    "dtype = \"",
                    Name(dtype), "\" }"),
             dtype);
    EXPECT_NEAR(Moment(values, 0, 1), 1, 0.05);
    EXPECT_NEAR(Moment(values, 1, 2), 4, 0.15);
    EXPECT_NEAR(Moment(values, 1, 3) / 8, 0, 0.1);
    EXPECT_NEAR(Moment(values, 1, 4) / 16, 3, 0.25);
    const auto inside =
        std::count_if(values.begin(), values.end(), [](double v) { return std::abs(v - 1) < 2; });
    EXPECT_NEAR(static_cast<double>(inside) / kCount, 0.6827, 0.012);
  }
  const auto like =
      Draw("x = float64[3]{1, 2, 3}\n y = random_normal_like(x) { mean = 7.0, scale = 0.0 }",
           DType::kFloat64);
  EXPECT_EQ(like, (std::vector<double>{7, 7, 7}));
}

TEST(Random, Seeds) {
  auto run = [](std::string_view line) {
    return Draw(StrCat("s = int64[1]{4}\n ", line), DType::kFloat32);
  };
  const auto one =
      run("y = random_normal(s) { mean = 0.0, scale = 1.0, dtype = \"float32\", "
          "seed = 1.0 }");
  const auto other =
      run("y = random_normal(s) { mean = 0.0, scale = 1.0, dtype = \"float32\", "
          "seed = 2.0 }");
  EXPECT_EQ(one, run("y = random_normal(s) { mean = 0.0, scale = 1.0, dtype = \"float32\", "
                     "seed = 1.0 }"));
  EXPECT_NE(one, other);
  // Without a seed: the same in each run, but two nodes differ.
  constexpr std::string_view kTwo =
      "z = random_normal(s) { mean = 0.0, scale = 1.0, dtype = \"float32\" }\n "
      "w = random_normal(s) { mean = 0.0, scale = 1.0, dtype = \"float32\" }\n y = sub(z, w)";
  EXPECT_EQ(run(kTwo), run(kTwo));
  for (double difference : run(kTwo)) EXPECT_NE(difference, 0);
}

TEST(Random, Bernoulli) {
  const auto values = Draw(
      "p = float32[]{0.3}\n s = int64[1]{40000}\n x = expand(p, s)\n "
      "y = bernoulli(x) { dtype = \"int8\", seed = 3.0 }",
      DType::kInt8);
  EXPECT_NEAR(Moment(values, 0, 1), 0.3, 0.012);
  for (double v : values) ASSERT_TRUE(v == 0 || v == 1);
}

TEST(Random, Multinomial) {
  // Logarithms of 1, 2 and 7; and a class that cannot be.
  const auto values = Draw(
      "x = float64[1,4]{0, -inf, 0.6931471805599453, 1.9459101490553132}\n "
      "y = multinomial(x) { dtype = \"int64\", sample_size = 40000 }",
      DType::kInt64);
  std::vector<double> share(4);
  for (double v : values) share[static_cast<size_t>(v)] += 1.0 / kCount;
  EXPECT_NEAR(share[0], 0.1, 0.008);
  EXPECT_EQ(share[1], 0);
  EXPECT_NEAR(share[2], 0.2, 0.01);
  EXPECT_NEAR(share[3], 0.7, 0.012);
}

TEST(Random, Dropout) {
  const auto values = Draw(
      "o = float32[]{2}\n s = int64[1]{40000}\n x = expand(o, s)\n r = float32[]{0.75}\n "
      "t = bool[]{true}\n y = dropout(x, r, t) { seed = 5 }",
      DType::kFloat32);
  const auto kept = std::count(values.begin(), values.end(), 8.0);
  EXPECT_NEAR(static_cast<double>(kept) / kCount, 0.25, 0.011);
  EXPECT_EQ(kept + std::count(values.begin(), values.end(), 0.0), kCount);
}

TEST(Random, Edges) {
  const struct {
    std::string_view lines, want;
  } rows[] = {
      {"s = int64[2]{0, 3}\n y = random_uniform(s)", "float32[0,3]{}"},
      {"s = int64[0]{}\n y = random_uniform(s) { low = 2.0, high = 2.0 }", "float32[]{2}"},
      {"s = int64[1]{-1}\n y = random_uniform(s)", "error negative"},
      {"s = int64[2]{4294967296, 4294967296}\n y = random_normal(s)", "error "},
      {"s = int64[1]{1}\n y = random_normal(s) { dtype = \"int32\" }", "error floating"},
      {"s = float32[1]{1}\n y = random_normal(s)", "error "},
      {"x = int32[1]{1}\n y = random_normal_like(x)", "error floating"},
      {"x = float32[2,2]{0, 1, 1, 0}\n y = bernoulli(x)", "float32[2,2]{0, 1, 1, 0}"},
      {"x = float32[2]{0, 1}\n y = bernoulli(x) { dtype = \"bool\" }", "bool[2]{false, true}"},
      {"x = float32[0]{}\n y = bernoulli(x) { dtype = \"int64\" }", "int64[0]{}"},
      {"x = float32[1]{1.5}\n y = bernoulli(x)", "error probability"},
      {"x = float32[1]{nan}\n y = bernoulli(x)", "error probability"},
      {"x = int32[1]{1}\n y = bernoulli(x)", "error floats"},
      {"x = float32[1]{1}\n y = bernoulli(x) { dtype = \"floaty\" }", "error dtype"},
      {"x = float32[2,1]{3, -3}\n y = multinomial(x) { sample_size = 3 }",
       "int32[2,3]{0, 0, 0, 0, 0, 0}"},
      {"x = float32[2,3]{-inf, 0, -inf, -1e30, -inf, -inf}\n y = multinomial(x)",
       "int32[2,1]{1, 0}"},
      {"x = float32[0,3]{}\n y = multinomial(x)", "int32[0,1]{}"},
      {"x = float32[2,0]{}\n y = multinomial(x)", "error classes"},
      {"x = float32[2,0]{}\n y = multinomial(x) { sample_size = 0 }", "int32[2,0]{}"},
      {"x = float32[1,2]{-inf, -inf}\n y = multinomial(x)", "error probabilities"},
      {"x = float32[1,2]{nan, 0}\n y = multinomial(x)", "error probabilities"},
      {"x = float32[1,2]{inf, 0}\n y = multinomial(x)", "error probabilities"},
      {"x = float32[2]{1, 0}\n y = multinomial(x)", "error rank 2"},
      {"x = float32[1,1]{1}\n y = multinomial(x) { dtype = \"int8\" }", "error int64"},
      {"x = float32[1,1]{1}\n y = multinomial(x) { sample_size = -1 }", "error negative"},
  };
  for (const auto& row : rows) ExpectText(EvalText(row.lines), row.want, row.lines);
}

TEST(Random, Infer) {
  EXPECT_EQ(InferText("s: int64[2]", "y = random_uniform(s)"), "float32[?,?]");
  EXPECT_EQ(
      InferText("x: float32[n,3]", "s = shape(x)\n y = random_normal(s) { dtype = \"float16\" }"),
      "float16[n,3]");
  EXPECT_EQ(InferText("x: float16[n,3]", "y = random_normal_like(x)"), "float16[n,3]");
  EXPECT_EQ(InferText("x: float16[n,3]", "y = bernoulli(x) { dtype = \"bool\" }"), "bool[n,3]");
  EXPECT_EQ(InferText("x: float16[n,3]", "y = multinomial(x) { sample_size = 5 }"), "int32[n,5]");
}

}  // namespace
}  // namespace x2ir
