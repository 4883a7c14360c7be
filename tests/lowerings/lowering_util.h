// Lowerings tested by what they compute: an IR graph is exported at an opset, read back and
// evaluated, which must give what the graph itself gives.
#ifndef X2IR_TESTS_LOWERINGS_LOWERING_UTIL_H_
#define X2IR_TESTS_LOWERINGS_LOWERING_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

struct LoweringRow {
  std::vector<int> opsets;
  std::string inputs;               // "x: float32[n,3], k: int64[]"
  std::string lines;                // IR; attributes that are left out have their defaults
  std::vector<std::string> values;  // of the inputs, "float32[1,3]{1, 2, nan}; int64[]{2}"
  std::string outputs = "y";
};

// Each opset with each of the values. Floats may differ by rounding.
void ExpectSameResults(const LoweringRow& row);

// Neither the graph nor what it becomes can be evaluated on the values.
void ExpectFails(const LoweringRow& row);

// The graph cannot be exported at the opset, and the message has `part`.
void ExpectRefused(int opset, std::string_view inputs, std::string_view lines,
                   std::string_view part);

}  // namespace x2ir

#endif  // X2IR_TESTS_LOWERINGS_LOWERING_UTIL_H_
