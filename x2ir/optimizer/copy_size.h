// The cost of copies of graphs, for files that request many copies with few bytes.
#ifndef X2IR_OPTIMIZER_COPY_SIZE_H_
#define X2IR_OPTIMIZER_COPY_SIZE_H_

#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The graphs that an attribute holds, none of them null.
std::vector<Graph*> GraphsIn(const Attribute& attr);

// The approximate cost of a copy of a graph in bytes; elements of tensors are shared by copies.
int64_t BytesOfCopy(const Graph& graph);
int64_t BytesOfCopy(const Attribute& attr);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_COPY_SIZE_H_
