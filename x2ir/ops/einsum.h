// Einstein summation: the parsed equation. Evaluation and lowering share it.
#ifndef X2IR_OPS_EINSUM_H_
#define X2IR_OPS_EINSUM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Which letters name the axes of each operand and of the result. An ellipsis is written as '.'.
struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

// Parses "ij, jk -> ik", also without "->": then the result has the letters that occur once,
// in alphabetical order, after the ellipsis. InvalidArgument says what is wrong.
absl::StatusOr<Equation> ParseEquation(std::string_view text);

// The same with every ellipsis replaced by letters of its own (characters 1, 2, ... counted
// from its right end, so that they broadcast). `ranks` are those of the operands.
absl::StatusOr<Equation> ExpandEllipsis(Equation equation, const std::vector<int64_t>& ranks);

}  // namespace x2ir

#endif  // X2IR_OPS_EINSUM_H_
