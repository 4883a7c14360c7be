// Softmax, LogSoftmax and Hardmax before opset 13, in a graph that is about to be written.
#ifndef X2IR_HANDLERS_ONNX_MATRIX_FORMS_H_
#define X2IR_HANDLERS_ONNX_MATRIX_FORMS_H_

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Before opset 13 these ops see their operand as a matrix, all axes from `axis` on taken as one. So
// an op on a matrix that a Flatten or Reshape made, followed by a Reshape back to the old shape, is
// the same op without the two.
void MergeMatrixForms(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_MATRIX_FORMS_H_
