// The ops of graph models that TensorFlow.js executes: some of TensorFlow's, with limits. Source:
// facts/tfjs-ops.json and the executors and kernels of @tensorflow/tfjs-converter, tfjs-core and
// tfjs-backend-cpu 4.22.
#ifndef X2IR_HANDLERS_TFJS_OPS_H_
#define X2IR_HANDLERS_TFJS_OPS_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Whether TensorFlow.js executes an op of TensorFlow.
bool HasTfjsOp(Symbol op);

// What a node of TensorFlow does that TensorFlow does not allow, or that TensorFlow.js does not do:
// an element type that it does not have, or an attribute that it does not read and whose value is
// not the one that it computes with.
std::vector<std::string> CheckTfjsNode(const Node& node);

// Whether an op on that element type computes something else in TensorFlow.js, where integers of 8
// bits are int32 and do not wrap around, or fails there.
bool LacksTfjsKernel(Symbol op, int opset, size_t operand, DType type);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFJS_OPS_H_
