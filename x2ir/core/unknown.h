// What a node that was refused does not know of its operands, where that is lost, and which option
// would make it known.
#ifndef X2IR_CORE_UNKNOWN_H_
#define X2IR_CORE_UNKNOWN_H_

#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// "'y' is float32[...]: input 'x' states no shape; option 'shapes' x:1,3,... gives it". `why` is
// what the node was refused for; empty where that is not for something unknown, or all is known.
// The node stands in its graph, of any dialect.
std::string HintOfUnknown(const Node& node, std::string_view why);

}  // namespace x2ir

#endif  // X2IR_CORE_UNKNOWN_H_
