// The limit for constants that a pass makes (fold_constants), over several runs.
#ifndef X2IR_OPTIMIZER_ROOM_H_
#define X2IR_OPTIMIZER_ROOM_H_

#include <cstdint>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// A pass that reached the limit records the file size that the limit was computed from, so that the
// next pipeline over the graph, or over the IR file that it becomes, uses the same size and the
// limit does not grow each time.
void RememberFileBytes(Graph& graph, int64_t bytes);
// The recorded size; 0: none.
int64_t RememberedFileBytes(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_ROOM_H_
