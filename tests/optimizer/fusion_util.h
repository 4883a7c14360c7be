// Fusions by example: a graph, the ops that a pass leaves of it, and the same numbers as before.
#ifndef X2IR_TESTS_OPTIMIZER_FUSION_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_FUSION_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

struct FusionRow {
  std::string_view inputs;  // "x: float32[2,3], n: float32[3]"
  // Attributes that are left out have their defaults; constants that are called any... hold some
  // numbers or other: "any_w: float32[6,2,3,3]".
  std::string_view lines;
  std::string_view ops;                     // what is left, in the graph's order: "conv relu"
  std::vector<std::string_view> lacking{};  // ops that the target does not have
  double tolerance = 1e-5;                  // relative to the larger of 1 and the number
  std::string_view outputs = "y";
};

// Runs the default passes on the row's graph, for the same target, and compares numbers alone.
// Gives how many nodes went.
int64_t ExpectSameNumbers(const FusionRow& row);

// Runs the pass on each row's graph, for a target that has every op but the lacking ones, and
// evaluates both on the same numbers.
void ExpectFusions(std::string_view pass, const std::vector<FusionRow>& rows);
// The same for a list of passes.
void ExpectFusions(const std::vector<std::string>& passes, const std::vector<FusionRow>& rows);

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_FUSION_UTIL_H_
