// Lowerings by example: an IR graph and what older opsets say instead must give the same numbers.
#ifndef X2IR_TESTS_OPTIMIZER_LOWERED_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_LOWERED_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

struct LoweredRow {
  std::string_view operands;  // constants that the graph's inputs stand for: "x = float32[2]{1,2}"
  std::string_view lines;     // the graph; attributes that are left out have their defaults
  std::vector<int> opsets;    // to which it must go
  double tolerance = 0;       // relative to the larger of 1 and the number
  std::string_view inputs = "";  // "x: float32[n]" where they are not of the operands' own types
  std::string_view outputs = "y";
};

// Evaluates the graph, then for each opset what is exported and imported again.
void ExpectSameNumbers(const LoweredRow& row);

// The graph as ONNX at that opset, as text; "error: ..." when it cannot be said.
std::string LoweredText(std::string_view inputs, std::string_view lines, int opset,
                        std::string_view outputs = "y");

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_LOWERED_UTIL_H_
