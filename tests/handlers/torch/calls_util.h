// Calls of PyTorch's operators as rows: converted to IR and evaluated.
#ifndef X2IR_TESTS_HANDLERS_TORCH_CALLS_UTIL_H_
#define X2IR_TESTS_HANDLERS_TORCH_CALLS_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/ops/eval.h"

namespace x2ir {

// "int64[2]{1, 2}; float32[]{0.5}".
std::string ResultsText(const std::vector<Datum>& results);

// Constants ("a = int64[2]{1, 2}"), a call of dialect torch with the types that PyTorch says, and
// the names of its results. Prints the results: "int64[2]{1, 2}; float32[]{0.5}"; "error: ..."
// when it fails.
std::string EvalCall(std::string_view constants, std::string_view call, std::string_view results);

struct CallRow {
  std::string_view constants, call, results, expected;  // "error PART": an error that says so
};
void ExpectCall(const CallRow& row);

// The same call on an input whose sizes are not known: converted, then evaluated on `value`.
std::string EvalCallOf(std::string_view input, std::string_view value, std::string_view call,
                       std::string_view results);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_TORCH_CALLS_UTIL_H_
