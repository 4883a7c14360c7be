// How much room constants have that a pass makes (fold_constants), over several runs.
#ifndef X2IR_OPTIMIZER_ROOM_H_
#define X2IR_OPTIMIZER_ROOM_H_

#include <cstdint>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// A pass that found no room for something leaves word of how large the file was that the room was
// counted from, so that the next pipeline over the graph, or over the IR file that it becomes,
// counts from it again and does not find new room each time.
void RememberFileBytes(Graph& graph, int64_t bytes);
// What was left so; 0: nothing.
int64_t RememberedFileBytes(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_ROOM_H_
