// Draw: a graph as a picture (SVG), or as text for Graphviz. Ops are boxes in the colors of their
// families (op_families.h), with the attributes that are not at their defaults, the names of their
// weights, the elements of small constants, and the types of their results; nested graphs are
// frames. The same graph gives the same text.
#ifndef X2IR_INSPECT_DRAW_H_
#define X2IR_INSPECT_DRAW_H_

#include <string>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// An SVG picture, which needs no other program, in time proportional to the graph. UTF-8, whatever
// bytes the names have.
std::string ToSvg(const Graph& graph);

// Text in Graphviz's language DOT.
std::string ToDot(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_INSPECT_DRAW_H_
