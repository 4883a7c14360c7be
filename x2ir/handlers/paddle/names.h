// What operations of PIR are in the terms of programs: Paddle's op_compat.yaml, as far as there are
// rows.
#ifndef X2IR_HANDLERS_PADDLE_NAMES_H_
#define X2IR_HANDLERS_PADDLE_NAMES_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

struct PirName {
  std::string_view pir;      // "add", without its dialect
  std::string_view program;  // "elementwise_add"; empty: the same
  // Parameters in PIR's order. Attributes that are operands there follow the tensors, under
  // the name of the operand in programs, or else under the name of the attribute.
  std::string_view operands, results;
  std::string_view attrs = "";  // those of another name: "keepdim=keep_dim"
};

// Null where none is known. An operation that writes in place ("relu_") is the one that does not.
const PirName* FindPirName(std::string_view pir);
absl::Span<const PirName> AllPirNames();

}  // namespace x2ir

#endif  // X2IR_HANDLERS_PADDLE_NAMES_H_
