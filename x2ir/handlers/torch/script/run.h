// Makes the graph of a TorchScript program (formats/torch/script.h).
#ifndef X2IR_HANDLERS_TORCH_SCRIPT_RUN_H_
#define X2IR_HANDLERS_TORCH_SCRIPT_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Replaces the model's graph by what its program's method computes for inputs of the graph's types:
// IR, and nodes of PyTorch for what has no mapping. Unimplemented for what the code does that no
// graph can say, InvalidArgument where it makes no sense or raises an error of its own; both say
// where in the source.
absl::Status RunTorchScript(Model& model, std::vector<std::string>& warnings);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_SCRIPT_RUN_H_
