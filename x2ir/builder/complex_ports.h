// Complex inputs and outputs of a graph as pairs of real numbers along a last axis, which is what
// runtimes take (docs/adr/0021).
#ifndef X2IR_BUILDER_COMPLEX_PORTS_H_
#define X2IR_BUILDER_COMPLEX_PORTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Of a graph of any dialect that was read; nodes of the IR are put beside its own. A warning tells
// of each.
absl::Status ComplexPortsAsPairs(Graph& graph, std::vector<std::string>& warnings);

}  // namespace x2ir

#endif  // X2IR_BUILDER_COMPLEX_PORTS_H_
