// Elements of lists that the IR has several ops for, or an op that says more: an element that is
// replaced (sequence_insert and sequence_erase), also where the list may grow by one (`if`), and
// elements at places that are known not to count from the end.
#ifndef X2IR_HANDLERS_TF_FUSE_LISTS_H_
#define X2IR_HANDLERS_TF_FUSE_LISTS_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// In a graph of IR that is to be written, nested ones too: such nodes become TensorListSetItem and
// TensorListGetItem. Sequences whose users work on the tensors directly stay as they are.
void FuseTfLists(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_FUSE_LISTS_H_
