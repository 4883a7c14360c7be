// Weights that are rounded to few bits: the numbers that a runtime multiplies with are the nearest
// of 15 or 255 equal steps from minus to plus the largest of their block.
#include "x2ir/handlers/checkpoint/rounded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir::checkpoint {
namespace {

constexpr int64_t kWeightRows = 5, kWeightColumns = 96;

Tensor Weights() {
  std::vector<float> numbers;
  uint32_t state = 12345;
  for (int64_t i = 0; i < kWeightRows * kWeightColumns; ++i) {
    state = state * 1664525 + 1013904223;
    // A block of zeros, and blocks of other magnitudes.
    const float size = i / kRoundedBlock == 3 ? 0 : std::pow(10.0F, static_cast<float>(i % 4) - 2);
    numbers.push_back(size * (static_cast<float>(state >> 8) / (1 << 23) - 1));
  }
  return Tensor::Of<float>({kWeightRows, kWeightColumns}, numbers);
}

std::vector<float> Computed(const Tensor& weight, int bits) {
  Graph graph;
  Builder b(graph, nullptr);
  const Expr y = RoundedAsIr(b, weight, bits, "w");
  EXPECT_TRUE(b.status().ok()) << b.status();
  graph.AddOutput(y);
  const auto results = RunGraph(graph, {});
  EXPECT_TRUE(results.ok()) << results.status();
  const auto span = results->at(0).tensor()->span<float>();
  return {span.begin(), span.end()};
}

TEST(Rounded, NumbersAreTheNearestSteps) {
  const Tensor weight = Weights();
  for (const int bits : {4, 8}) {
    const double most = bits == 4 ? 7 : 127;
    for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      const Tensor stored = *CastTensor(weight, type);
      ASSERT_TRUE(CanRound(stored));
      const std::vector<float> got = Computed(stored, bits);
      ASSERT_EQ(static_cast<int64_t>(got.size()), kWeightRows * kWeightColumns);
      for (int64_t i = 0; i < kWeightRows * kWeightColumns; ++i) {
        double largest = 0;
        const int64_t block = i / kRoundedBlock * kRoundedBlock;
        for (int64_t k = block; k < block + kRoundedBlock; ++k) {
          largest = std::max(largest, std::abs(stored.AsDouble(k)));
        }
        const double step = largest / most, x = stored.AsDouble(i);
        EXPECT_LE(std::abs(got[static_cast<size_t>(i)] - x), step * 0.5001)
            << bits << " bits of " << Name(type) << ", number " << i;
        if (step == 0) {
          EXPECT_EQ(got[static_cast<size_t>(i)], 0);
        }
      }
    }
  }
}

TEST(Rounded, OnlyMatricesOfWholeBlocks) {
  EXPECT_FALSE(CanRound(Tensor::Zeros(DType::kFloat32, {4, 33})));
  EXPECT_FALSE(CanRound(Tensor::Zeros(DType::kFloat32, {64})));
  EXPECT_FALSE(CanRound(Tensor::Zeros(DType::kFloat64, {4, 64})));
  EXPECT_FALSE(CanRound(Tensor::Zeros(DType::kInt8, {4, 64})));
  EXPECT_TRUE(CanRound(Tensor::Zeros(DType::kBFloat16, {4, 64})));
}

}  // namespace
}  // namespace x2ir::checkpoint
