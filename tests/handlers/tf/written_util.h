// Graphs of the IR written for TensorFlow and TensorFlow.js, through their files, and read again.
#ifndef X2IR_TESTS_HANDLERS_TF_WRITTEN_UTIL_H_
#define X2IR_TESTS_HANDLERS_TF_WRITTEN_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

// A model of the dialect as its file says it: a frozen graph, a graph model.
absl::StatusOr<Model> ThroughTf(const Model& model);
absl::StatusOr<Model> ThroughTfjs(const Model& model);

// Small whole numbers, some of them negative.
Tensor Numbered(std::vector<int64_t> dims, int64_t seed = 0);

struct WrittenRow {
  std::string inputs, lines;  // of a graph whose output is y
  std::vector<std::vector<Tensor>> values;
  std::string_view refused = "";  // a part of the reason
  std::string_view only = "";     // the dialect; empty: both
};

// What was written and read again must compute the same of all values, which the graph takes.
void ExpectComesBack(const WrittenRow& row);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_TF_WRITTEN_UTIL_H_
