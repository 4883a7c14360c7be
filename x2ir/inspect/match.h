// Matches the nodes and values of two graphs. Comparisons of two models of one network in any
// formats are based on it.
#ifndef X2IR_INSPECT_MATCH_H_
#define X2IR_INSPECT_MATCH_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Pairs of required inputs, and of outputs: by name where all names of `b` are in `a`, else by
// position. InvalidArgument where the numbers differ.
struct InterfaceMatch {
  std::vector<std::pair<const Value*, const Value*>> inputs, outputs;
};
absl::StatusOr<InterfaceMatch> MatchInterfaces(const Graph& a, const Graph& b);
// The inputs of a case of `a` as those of `b`, in the element types of these.
IoCase CaseOf(const IoCase& io, const InterfaceMatch& ports, const Graph& a, const Graph& b);

// From `a` to `b`; each at most once. Values are inputs and results of nodes of the outermost
// graphs: constants have no partners, since they may be what differs.
//
// Starting at the inputs, nodes of one op are the same if their operands are; among several the
// names of results and of weights decide, then the order. The same is done backwards from the
// outputs, for nodes after a node that only one graph has, and from linear nodes with the same
// weights. The remaining values are matched by name. A value computed from constants alone counts
// as a constant. `known` are the same before all that, with the nodes that compute them, whatever
// their ops.
struct GraphMatch {
  absl::flat_hash_map<const Value*, const Value*> values;
  absl::flat_hash_map<const Node*, const Node*> nodes;
};
using ValuePairs = std::vector<std::pair<const Value*, const Value*>>;
GraphMatch MatchGraphs(const Graph& a, const Graph& b, const InterfaceMatch& ports,
                       const ValuePairs& known = {});

// For nested graphs of two nodes that are the same; `around` is the match of the outer graphs.
// Their inputs and outputs are matched by position. The result also has the outer values that they
// use.
InterfaceMatch PortsByPosition(const Graph& a, const Graph& b);
GraphMatch MatchNested(const Graph& a, const Graph& b, const GraphMatch& around);

}  // namespace x2ir

#endif  // X2IR_INSPECT_MATCH_H_
