// What is unknown about the operands of a node that was refused, where it was lost, and which
// option would give it.
#ifndef X2IR_CORE_UNKNOWN_H_
#define X2IR_CORE_UNKNOWN_H_

#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// "'y' is float32[...]: input 'x' states no shape; option 'shapes' x:1,3,... gives it". `why` is
// the reason of the refusal. Empty if the reason is not something unknown, or if everything is
// known. The node must be in its graph; its dialect may be any.
std::string HintOfUnknown(const Node& node, std::string_view why);

}  // namespace x2ir

#endif  // X2IR_CORE_UNKNOWN_H_
