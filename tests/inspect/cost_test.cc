// What models cost by their shapes, and what stands in their weights.
#include "x2ir/inspect/cost.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/ops/text_graph_util.h"
#include "x2ir/formats/json.h"
#include "x2ir/inspect/columns.h"
#include "x2ir/inspect/weight_stats.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Cost, MultiplyAddsByDefinition) {
  const struct {
    const char *inputs, *node;
    int64_t multiply_adds;
  } rows[] = {
      {"x: float32[2,3,8,8], w: float32[5,3,3,3]", "conv(x, w)", 2 * 5 * 6 * 6 * 27},
      {"x: float32[2,4,8,8], w: float32[6,2,3,3]", "conv(x, w) { group = 2 }", 2 * 6 * 6 * 6 * 18},
      {"x: float32[2,8,8,4], w: float32[6,2,3,3]",
       "conv(x, w) { group = 2, layout = \"channels_last\" }", 2 * 6 * 6 * 6 * 18},
      {"x: float32[1,3,4,4], w: float32[3,5,2,2]", "conv_transpose(x, w)", 3 * 16 * 5 * 4},
      {"a: float32[7,2,3], b: float32[3,5]", "matmul(a, b)", 7 * 2 * 5 * 3},
      {"a: float32[3], b: float32[3]", "matmul(a, b)", 3},
      {"a: float32[4,3], b: float32[4,5]", "gemm(a, b) { transA = 1 }", 3 * 5 * 4},
      {"a: float32[2,3,4], b: float32[2,4,5]", "einsum(a, b) { equation = \"bij,bjk->bik\" }",
       2 * 3 * 4 * 5},
      {"q: float32[2,4,6,8], k: float32[2,4,10,8], v: float32[2,4,10,3]", "attention(q, k, v)",
       2 * 4 * 6 * 10 * (8 + 3)},
      {"q: float32[2,6,32], k: float32[2,10,32], v: float32[2,10,12]",
       "attention(q, k, v) { q_num_heads = 4, kv_num_heads = 4 }", 2 * 4 * 6 * 10 * (8 + 3)},
      {"x: float32[5,2,3], w: float32[1,12,3], r: float32[1,12,4]",
       "gru(x, w, r) { activations = [\"Sigmoid\", \"Tanh\"], hidden_size = 4 }",
       5 * 2 * (12 * 3 + 12 * 4)},
      {"x: float32[5,3]", "softmax(x)", 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.node);
    const auto graph =
        InferredGraph(std::string("graph g(") + row.inputs + ") -> (y) { y = " + row.node + " }");
    const ModelCost cost = CostOf(*graph);
    EXPECT_EQ(cost.total.multiply_adds, row.multiply_adds);
    EXPECT_EQ(cost.total.unknown, 0) << cost.ToText();
    EXPECT_TRUE(nlohmann::json::accept(cost.ToJson())) << cost.ToJson();
  }
}

// x and a (24 bytes each) are alive with b (8): x is read last by c.
TEST(Cost, ActivationsLiveUntilTheirLastUse) {
  const auto graph = InferredGraph(R"(graph g(x: float32[6]) -> (y) {
    w = float32[6]{1, 2, 3, 4, 5, 6}
    i = int64[1]{0}
    a = add(x, w)
    b = reduce_sum(a, i)
    c = mul(x, b)
    d = neg(c)
    y = add(d, w) })");
  const ModelCost cost = CostOf(*graph);
  std::vector<int64_t> live;
  for (const NodeCost& c : cost.nodes) live.push_back(c.live_bytes);
  EXPECT_THAT(live, ElementsAre(48, 52, 52, 48, 48));
  EXPECT_EQ(cost.total.peak_bytes, 52);
  EXPECT_EQ(cost.peak->op(), Symbol("reduce_sum"));
  EXPECT_EQ(cost.total.parameters, 7);  // w once
}

TEST(Cost, OpenSizesAreSaid) {
  const auto graph = InferredGraph(
      "graph g(x: float32[batch,4], w: float32[4,2]) -> (y) { a = matmul(x, w) y = neg(a) }");
  const ModelCost cost = CostOf(*graph);
  EXPECT_EQ(cost.total.unknown, 2);
  EXPECT_EQ(cost.total.unknown_work, 1);
  EXPECT_THAT(cost.open_dims, ElementsAre("batch"));
  EXPECT_THAT(cost.ToText(),
              HasSubstr("sizes are missing: those of 2 nodes are not known: inputs "
                        "leave open batch; option 'shapes' NAME:1,3,... gives them"));
}

// "info --cost says 0 of a model without sizes": what is not known is no 0.
TEST(Cost, SizesThatAreMissingAreNoZeros) {
  const auto graph = InferredGraph(R"(graph g(x: float32[n,3,h,w]) -> (z) {
    k = float32[2,3,1,1]{1, 2, 3, 4, 5, 6}
    y: float32[n,2,h,w] = conv(x, k, _) { layout = "channels_first" }
    z: float32[n,2,h,w] = relu(y)
  })");
  const std::string text = CostOf(*graph).ToText();
  EXPECT_THAT(text, HasSubstr("relu      1              0           0   0 bytes        ?     ?"));
  EXPECT_THAT(text, Not(HasSubstr("activations take"))) << text;
  EXPECT_THAT(text, HasSubstr("sizes are missing")) << text;
}

TEST(WeightStats, CountsAndRanges) {
  const float inf = std::numeric_limits<float>::infinity(), nan = inf - inf;
  const WeightStats stats =
      StatsOf(Tensor::Of<float>({2, 4}, {0, -2, 4, nan, inf, 1e6F, 0, 0.5F}), "w", 4);
  EXPECT_EQ(stats.elements, 8);
  EXPECT_EQ(stats.bytes, 32);
  EXPECT_EQ(stats.zeros, 2);
  EXPECT_EQ(stats.nans, 1);
  EXPECT_EQ(stats.infinities, 1);
  EXPECT_EQ(stats.min, -2);
  EXPECT_EQ(stats.max, 1e6);
  EXPECT_EQ(stats.least, 0.5);
  EXPECT_TRUE(stats.exceeds_float16());
  EXPECT_THAT(stats.histogram, ElementsAre(5, 0, 0, 1));
  EXPECT_THAT(WeightsText({stats}), HasSubstr("1 NaN, 1 infinite, beyond float16"));
  EXPECT_TRUE(nlohmann::json::accept(WeightsJson({stats}))) << WeightsJson({stats});
}

TEST(WeightStats, ManyElementsOfAllWidths) {
  std::vector<int8_t> numbers(200'001);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int8_t>(i % 5) - 2;
  const WeightStats ints = StatsOf(Tensor::Of<int8_t>({200'001}, numbers), "", 5);
  EXPECT_EQ(ints.zeros, 40'000);
  EXPECT_THAT(ints.histogram, ElementsAre(40'001, 40'000, 40'000, 40'000, 40'000));
  EXPECT_NEAR(ints.deviation, 1.41421, 1e-4);
  const WeightStats packed = StatsOf(Tensor::Zeros(DType::kInt4, {100'003}));
  EXPECT_EQ(packed.zeros, 100'003);
  EXPECT_EQ(packed.bytes, 50'002);
  const double huge = std::numeric_limits<double>::max();
  const WeightStats large = StatsOf(Tensor::Of<double>({2}, {-huge, huge}), "", 2);
  EXPECT_THAT(large.histogram, ElementsAre(1, 1));
  EXPECT_TRUE(nlohmann::json::accept(WeightsJson({large}))) << WeightsJson({large});
  const WeightStats text = StatsOf(Tensor::Strings({2}, {"abc", "d"}));
  EXPECT_FALSE(text.has_numbers);
  EXPECT_EQ(text.bytes, 4);
  EXPECT_EQ(StatsOf(Tensor::Zeros(DType::kFloat32, {0, 3}), "", 4).max, 0);
}

TEST(Columns, GroupedDigitsAndUnits) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-1234), "-1,234");
  EXPECT_EQ(Grouped(-123), "-123");
  EXPECT_EQ(SizeText(1536), "1.5 KiB");
  Columns table({{"a"}, {"long title", Columns::kRight}});
  table.Add({"name", "1"});
  table.Add({"b", "22"});
  EXPECT_EQ(table.ToText(), "a     long title\nname           1\nb             22\n");
  EXPECT_EQ(ShortName("a"), "a");
  EXPECT_EQ(ShortName("m/relu;m/conv/Conv2D;m/bias"), "m/relu;+2");
  EXPECT_EQ(ShortName(";"), ";");
  const std::string shortened = ShortName(std::string(60, 'x') + "/" + std::string(60, 'y'));
  EXPECT_THAT(shortened, ::testing::MatchesRegex("x+\\.\\.\\.y+"));
  EXPECT_EQ(shortened.size(), Columns::kWidest);
  std::string letters;
  for (int i = 0; i < 60; ++i) letters += "\u00e4";
  EXPECT_TRUE(IsValidUtf8(ShortName(letters))) << ShortName(letters);
}

}  // namespace
}  // namespace x2ir
