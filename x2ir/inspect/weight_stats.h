// Statistics of a weight: range, mean, zeros, NaNs, and a histogram.
#ifndef X2IR_INSPECT_WEIGHT_STATS_H_
#define X2IR_INSPECT_WEIGHT_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// Of complex numbers and strings only the first three, and the bytes, are said.
struct WeightStats {
  std::string name;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  int64_t elements = 0, bytes = 0;
  bool has_numbers = false;  // whether what follows is said; all but counts is of finite numbers
  int64_t zeros = 0, nans = 0, infinities = 0;
  double min = 0, max = 0, mean = 0, deviation = 0;  // 0 where there is no finite number
  double least = 0;  // the smallest absolute value that is not 0; 0: there is none
  // Counts of finite numbers in as many parts of [min, max], each of the same width; empty if there
  // are none, or if they are not requested.
  std::vector<int64_t> histogram;

  double sparsity() const {
    return elements ? static_cast<double>(zeros) / static_cast<double>(elements) : 0;
  }
  // Beyond the range of float16 (65504), by what min and max say.
  bool exceeds_float16() const;
};

// Reads the tensor once, twice with a histogram of `bins` parts; parts of a mapped file as it goes.
WeightStats StatsOf(const Tensor& tensor, std::string name = "", int bins = 0);
// Of all constants of a graph and of those nested in it, in their order, defaults of inputs first.
std::vector<WeightStats> StatsOfWeights(const Graph& graph, int bins = 0);

// A line a weight, with what is suspect at its end.
std::string WeightsText(const std::vector<WeightStats>& weights);
std::string WeightsJson(const std::vector<WeightStats>& weights);

}  // namespace x2ir

#endif  // X2IR_INSPECT_WEIGHT_STATS_H_
