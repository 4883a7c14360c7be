// torch.vmap as programs have it that were not decomposed: `_add_batch_dim` hides an axis of a
// tensor, what follows sees the tensor without it, and `_remove_batch_dim` shows it again.
#ifndef X2IR_HANDLERS_TORCH_VMAP_H_
#define X2IR_HANDLERS_TORCH_VMAP_H_

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Afterwards hidden axes come before the others. Supported for operators that work element by
// element, and for indices into tensors without hidden axes; Unimplemented, with the node's
// name, for others.
absl::Status InlineVmap(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_VMAP_H_
