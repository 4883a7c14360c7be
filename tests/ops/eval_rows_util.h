// Rows of ops' tests: lines of IR and what becomes of them (text_eval_util.h).
#ifndef X2IR_TESTS_OPS_EVAL_ROWS_UTIL_H_
#define X2IR_TESTS_OPS_EVAL_ROWS_UTIL_H_

#include <string_view>

#include "absl/types/span.h"
#include "tests/ops/text_eval_util.h"

namespace x2ir {

// `want` starting with "error ": a part of the message after it.
struct EvalRow {
  std::string_view lines, want;
  std::string_view outputs = "y";
};
// `before`: the first lines of each row.
void ExpectRows(absl::Span<const EvalRow> rows, std::string_view before = "");

struct InferRow {
  std::string_view inputs, lines, want;
  std::string_view outputs = "y";
};
void ExpectRows(absl::Span<const InferRow> rows);

}  // namespace x2ir

#endif  // X2IR_TESTS_OPS_EVAL_ROWS_UTIL_H_
