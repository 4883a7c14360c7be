// What TensorFlow's kernels for a CPU take, as rows: the element types of operators, and what some
// of them do not compute. A node that none of them runs is never written: the driver writes it
// between casts where that is exact (docs/adr/0007), or names what is missing.
#ifndef X2IR_HANDLERS_TF_KERNELS_H_
#define X2IR_HANDLERS_TF_KERNELS_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// What TensorFlow would refuse of a node; empty: nothing. Types are those that kernels are
// registered for (REGISTER_KERNEL_BUILDER in tensorflow/core/kernels) and that the operator's
// definition allows (REGISTER_OP in tensorflow/core/ops).
std::vector<std::string> CheckTfKernel(const Node& node);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_KERNELS_H_
