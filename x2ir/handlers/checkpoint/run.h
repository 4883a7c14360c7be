// The dialect "checkpoint" makes the graph of a checkpoint's configuration and weights.
#ifndef X2IR_HANDLERS_CHECKPOINT_RUN_H_
#define X2IR_HANDLERS_CHECKPOINT_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// Unimplemented: an architecture, or a setting of it, that is not known. DataLoss: what is broken.
absl::Status RunCheckpoint(Model& model, std::vector<std::string>& warnings);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_RUN_H_
