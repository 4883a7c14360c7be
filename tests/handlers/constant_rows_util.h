// Graphs of a dialect's operators on constants, in the notation of x2ir/graph_wrapper/text.h, and
// the results that they must have.
#ifndef X2IR_TESTS_HANDLERS_CONSTANT_ROWS_UTIL_H_
#define X2IR_TESTS_HANDLERS_CONSTANT_ROWS_UTIL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace x2ir {

struct ConstantRow {
  std::string lines, outputs;
  std::string want;  // tensors, or "error" and parts of the message
};

// The results as text: "int32[1]{2}; float32[]{3}".
absl::StatusOr<std::string> ResultsOfConstants(std::string_view lines, std::string_view outputs,
                                               std::string_view dialect = "tf");
void ExpectConstantRows(absl::Span<const ConstantRow> rows, std::string_view dialect = "tf");

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_CONSTANT_ROWS_UTIL_H_
