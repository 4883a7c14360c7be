// The order of a graph's constants, and a graph made anew in it.
#ifndef X2IR_GRAPH_WRAPPER_CONSTANT_ORDER_H_
#define X2IR_GRAPH_WRAPPER_CONSTANT_ORDER_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The constants of a graph and of those nested in it, in the order of their first use; unused
// constants follow, by name. IR files use this order.
absl::flat_hash_map<const Graph*, std::vector<const Value*>> ConstantsByUse(const Graph& graph);

// A copy in which all these are in that order, and everything else that depends on the order in
// which things were made is as if the graph had been read from an IR file.
std::shared_ptr<Graph> MadeAnew(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_CONSTANT_ORDER_H_
