// Makes a graph of a program: runs it on values that are nodes of the graph. Tuples, functions and
// lists exist only while it runs; functions are written out where they are called. Branches, and
// recursive functions whose last step calls them again, become nodes with nested graphs.
#ifndef X2IR_FORMATS_RELAY_GRAPH_MAKER_H_
#define X2IR_FORMATS_RELAY_GRAPH_MAKER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "x2ir/formats/relay/ast.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace relay {

// The nodes with nested graphs, which are no operators of Relay: "if" has `then_branch` and
// `else_branch`; "loop" has a body, and its operands and results are those of the IR's op.
inline constexpr char kIf[] = "if", kLoop[] = "loop";

// Parameters of the main function that `params` has are constants, all others are inputs.
absl::Status MakeGraph(const Program& program, const StringMap<Tensor>& params, Graph* graph);

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_GRAPH_MAKER_H_
