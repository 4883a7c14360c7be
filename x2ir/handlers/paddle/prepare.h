// What happens to a model of Paddle before its nodes are converted one by one.
#ifndef X2IR_HANDLERS_PADDLE_PREPARE_H_
#define X2IR_HANDLERS_PADDLE_PREPARE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Operations of PIR are put in the terms of programs, nodes that nothing needs go, and branches
// that are two conditional blocks and a choice between what they give become one node "if".
absl::Status PreparePaddle(Model& model, std::vector<std::string>& warnings);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_PADDLE_PREPARE_H_
