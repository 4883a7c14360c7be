// What operations of StableHLO and CHLO take: operands with their element types, attributes, how
// many results. The tables are those of the specification (facts/stablehlo-ops.json), in the form
// of the graph (formats/stablehlo/stablehlo.h).
#ifndef X2IR_HANDLERS_STABLEHLO_OPERATIONS_H_
#define X2IR_HANDLERS_STABLEHLO_OPERATIONS_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// What is wrong with a node that was written; empty: nothing.
std::vector<std::string> CheckStablehloNode(const Node& node);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_OPERATIONS_H_
