// Values of bfloat16 and of floats of 8 bits in a graph that is about to be written.
#ifndef X2IR_HANDLERS_ONNX_SMALL_FLOATS_H_
#define X2IR_HANDLERS_ONNX_SMALL_FLOATS_H_

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The ops of ONNX that have no kernel for such a float in ONNX Runtime on CPUs (kernels.h) work in
// float32, between casts. Results are rounded to their own type after each op, so that these are
// the same numbers. `opset`: of the default domain.
void ComputeSmallFloatsInFloat32(Graph& graph, int opset);

// Whether inputs, outputs or more than a little of the weights are of bfloat16. Such a model is for
// devices that compute in it.
bool IsOfBFloat16(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_SMALL_FLOATS_H_
