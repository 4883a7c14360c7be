// Draw: a graph as Graphviz text, or as SVG where Graphviz is installed.
#ifndef X2IR_CORE_DRAW_H_
#define X2IR_CORE_DRAW_H_

#include <string>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Ops are boxes with their weights named in them, edges carry the types of values, nested
// graphs are frames. The same graph gives the same text.
std::string ToDot(const Graph& graph);

// Runs Graphviz's program `dot`. Unavailable when it is not installed or fails.
absl::StatusOr<std::string> DotToSvg(const std::string& dot);

}  // namespace x2ir

#endif  // X2IR_CORE_DRAW_H_
