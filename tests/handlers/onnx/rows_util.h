// Rows of handlers' tests: a graph in two dialects.
#ifndef X2IR_TESTS_HANDLERS_ONNX_ROWS_UTIL_H_
#define X2IR_TESTS_HANDLERS_ONNX_ROWS_UTIL_H_

#include <string>
#include <string_view>

namespace x2ir {

// "graph g(HEADER { LINES }"; the header is "x: float32[2]) -> (y)".
std::string GraphText(std::string_view header, std::string_view lines);

// One graph in both dialects at an opset; it goes either way.
struct BothWays {
  int opset;
  std::string_view header, onnx, ir;
};
void ExpectBothWays(const BothWays& row);

struct OneWay {
  int opset;
  std::string_view header, from, to;  // to starting with "error ": a part of the message after it
};
// What became of the row's `from`.
void ExpectOneWay(const std::string& got, const OneWay& row);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_ONNX_ROWS_UTIL_H_
