// The layout of a model's own inputs and outputs: channels last to channels first.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_IO_LAYOUT_H_
#define X2IR_OPTIMIZER_TRANSPOSE_IO_LAYOUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The last axis of these inputs (of rank 3 to 5) becomes the second; a transpose puts it back
// inside, for the pass `transposes` to move. InvalidArgument names what is no such input.
absl::Status InputsAsChannelsFirst(Graph& graph, const std::vector<std::string>& names);
// The same for outputs.
absl::Status OutputsAsChannelsFirst(Graph& graph, const std::vector<std::string>& names);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_IO_LAYOUT_H_
