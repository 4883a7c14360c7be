// The layout of a model's own inputs and outputs: channels last to channels first, and back.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_IO_LAYOUT_H_
#define X2IR_OPTIMIZER_TRANSPOSE_IO_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/perm.h"

namespace X2IR_API x2ir {

// The last axis of these inputs (of rank 3 to 5) becomes the second; a transpose puts it back
// inside, for the pass `transposes` to move. InvalidArgument names values that are not such inputs.
absl::Status InputsAsChannelsFirst(Graph& graph, const std::vector<std::string>& names);
// The second becomes the last.
absl::Status InputsAsChannelsLast(Graph& graph, const std::vector<std::string>& names);
// The same for outputs.
absl::Status OutputsAsChannelsFirst(Graph& graph, const std::vector<std::string>& names);
absl::Status OutputsAsChannelsLast(Graph& graph, const std::vector<std::string>& names);

// From channels last to channels first, and back.
Perm ToChannelsFirst(int64_t rank);
Perm ToChannelsLast(int64_t rank);

// An input of known rank gets this order of axes, an output too, under their names. `suffix`: for
// the name of the value inside, in the old order.
absl::Status PermuteInput(Graph& graph, Value* input, const Perm& p, const std::string& suffix);
void PermuteOutput(Graph& graph, Value* output, const Perm& p, const std::string& suffix);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_IO_LAYOUT_H_
