// What is known of the integers of a value in every run.
#ifndef X2IR_OPTIMIZER_INTEGER_RANGE_H_
#define X2IR_OPTIMIZER_INTEGER_RANGE_H_

#include <cstdint>
#include <optional>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct NumbersBetween {
  int64_t low, high;  // of all elements
};
// From constants, bounds, places that arg_max and top_k give, numbers of rounds, and what is moved,
// chosen or computed of these; else the numbers of the type. nullopt where the type is no integer.
// Looks at a bounded number of nodes.
std::optional<NumbersBetween> RangeOf(const Value* value);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_INTEGER_RANGE_H_
