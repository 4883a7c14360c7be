// What copies of graphs cost: where a few bytes of a file ask for many copies.
#ifndef X2IR_OPTIMIZER_COPY_SIZE_H_
#define X2IR_OPTIMIZER_COPY_SIZE_H_

#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The graphs that an attribute holds, none of them null.
std::vector<Graph*> GraphsIn(const Attribute& attr);

// What a copy of a graph costs, in bytes, roughly; elements of tensors are shared by copies.
int64_t BytesOfCopy(const Graph& graph);
int64_t BytesOfCopy(const Attribute& attr);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_COPY_SIZE_H_
