// Intermediate values of bfloat16 in a graph that is about to be written.
#ifndef X2IR_HANDLERS_ONNX_BFLOAT16_ISLANDS_H_
#define X2IR_HANDLERS_ONNX_BFLOAT16_ISLANDS_H_

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// ONNX Runtime computes nothing in bfloat16 on CPUs; it only moves such numbers and casts them. In
// a model that is not of bfloat16 itself (neither its inputs and outputs nor more than a little of
// its weights) the ops that compute in it work in float32, between casts. The results are rounded
// as they were, so that these are the same numbers. A model of bfloat16 stays one: it is for
// devices that have it.
void ComputeIslandsInFloat32(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_BFLOAT16_ISLANDS_H_
