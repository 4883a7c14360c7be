// The dialect "checkpoint" makes the graph of a checkpoint's configuration and weights.
#ifndef X2IR_HANDLERS_CHECKPOINT_RUN_H_
#define X2IR_HANDLERS_CHECKPOINT_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::checkpoint {

// Unimplemented: an architecture, or a setting of it, that is not known. DataLoss: what is broken.
absl::Status RunCheckpoint(Model& model, std::vector<std::string>& warnings);

}  // namespace x2ir::checkpoint

#endif  // X2IR_HANDLERS_CHECKPOINT_RUN_H_
