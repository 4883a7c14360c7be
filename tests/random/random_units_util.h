// What random graphs are hardly made of by chance alone: ops whose operands must fit together, and
// groups of nodes as frameworks write them.
#ifndef X2IR_TESTS_RANDOM_RANDOM_UNITS_UTIL_H_
#define X2IR_TESTS_RANDOM_RANDOM_UNITS_UTIL_H_

#include <string_view>

#include "absl/types/span.h"

namespace x2ir {

// Inputs and nodes, as text. An input whose name starts with w is a constant, any other is what the
// random graph happens to have in that shape, or another input of it.
struct RandomUnit {
  std::string_view inputs;
  std::string_view nodes;
};
absl::Span<const RandomUnit> RandomUnits();

}  // namespace x2ir

#endif  // X2IR_TESTS_RANDOM_RANDOM_UNITS_UTIL_H_
