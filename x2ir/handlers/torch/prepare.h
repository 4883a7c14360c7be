// What is done to a program of torch.export as a whole before its nodes are converted one by
// one: assertions go, wrapped graphs are put in their places, writes become
// values, and complex tensors are handed in and out as pairs.
#ifndef X2IR_HANDLERS_TORCH_PREPARE_H_
#define X2IR_HANDLERS_TORCH_PREPARE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

absl::Status PrepareTorch(Model& model, std::vector<std::string>& warnings);

// Whether an operator, without namespace and overload, draws random numbers.
bool DrawsRandomNumbers(std::string_view name);
// Whether an operator writes to an operand: add_, __iadd__, add.out.
bool WritesToMemory(std::string_view op);

// Afterwards no node writes to an operand, every overload with `out` and every in-place op is its
// functional one, and what reads memory that was written reads the value that is then there:
// through views too. What cannot be said that way is Unimplemented, with the node's name.
absl::Status Functionalize(Graph& graph, std::vector<std::string>& warnings);

// Afterwards no input or output of the model is complex: real tensors with a last axis of 2 replace
// them, before an aten::view_as_complex or after an aten::view_as_real. The warnings say
// which.
absl::Status ComplexPortsAsPairs(Model& model, std::vector<std::string>& warnings);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_PREPARE_H_
