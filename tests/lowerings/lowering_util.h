// Lowerings tested by what they compute: an IR graph is exported to ONNX at an opset, read back and
// evaluated, which must give what the graph itself gives. Attributes that a row's lines leave out
// have their defaults.
#ifndef X2IR_TESTS_LOWERINGS_LOWERING_UTIL_H_
#define X2IR_TESTS_LOWERINGS_LOWERING_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

// One set of operands, which give the graph its inputs.
struct LoweredRow {
  std::string_view operands;  // constants that the graph's inputs stand for: "x = float32[2]{1,2}"
  std::string_view lines;
  std::vector<int> opsets;       // to which it must go
  double tolerance = 0;          // relative to the larger of 1 and the number
  std::string_view inputs = "";  // "x: float32[n]" where they are not of the operands' own types
  std::string_view outputs = "y";
};

// Each opset. Integers and, without a tolerance, floats must be the same.
void ExpectSameNumbers(const LoweredRow& row);

// A graph of given inputs, on several sets of values.
struct LoweringRow {
  std::vector<int> opsets;
  std::string inputs;  // "x: float32[n,3], k: int64[]"
  std::string lines;
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

// The graph as ONNX at that opset, as text; "error: ..." when it cannot be said.
std::string LoweredText(std::string_view inputs, std::string_view lines, int opset,
                        std::string_view outputs = "y");

}  // namespace x2ir

#endif  // X2IR_TESTS_LOWERINGS_LOWERING_UTIL_H_
