// Passes by example: a graph, and what a pass makes of it.
#ifndef X2IR_TESTS_OPTIMIZER_PASS_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_PASS_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

struct PassRow {
  std::string_view inputs;  // "x: float32[n,4]"
  std::string_view before;  // the lines of the graph; attributes left out have their defaults
  std::string_view after;   // "" where nothing may change
  std::string_view outputs = "y";
};

// Runs the passes over the graph, and expects the lines of `after`. The result must be valid, its
// outputs must have their names, and no pass may find more to do in it.
void ExpectPass(const PassRow& row, const std::vector<std::string>& passes);

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_PASS_UTIL_H_
