// The checks that a program makes of its own results (formats/checks.h), run.
#ifndef X2IR_INSPECT_CHECKS_H_
#define X2IR_INSPECT_CHECKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/checks.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/eval.h"

namespace X2IR_API x2ir {

// The name of the option of formats whose files may check themselves: with it the operands of
// checks are outputs.
inline constexpr char kChecksOption[] = "checks";

// What the checks say of the graph's outputs `got`; a verdict for each check. InvalidArgument if a
// check is of an output that there is not.
absl::StatusOr<Verification> VerifyChecks(const Graph& graph, absl::Span<const ResultCheck> checks,
                                          absl::Span<const Datum> got);

// Whether one check holds.
Comparison RunCheck(const ResultCheck& check, const Tensor& actual, const Tensor& expected);

}  // namespace x2ir

#endif  // X2IR_INSPECT_CHECKS_H_
