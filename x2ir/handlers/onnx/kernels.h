// Element types that operators of ONNX's own domain may have, and for which ONNX Runtime has no
// kernel on CPUs: a file with such a node does not load there. The facts are those of
// facts/onnxruntime-kernels.txt, which tests/oracle/kernels.mjs makes by loading a file of one node
// for each operator, opset and type.
#ifndef X2IR_HANDLERS_ONNX_KERNELS_H_
#define X2IR_HANDLERS_ONNX_KERNELS_H_

#include <cstddef>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace X2IR_API x2ir {

// Whether there is no kernel of the operator, as it is at that opset, where an operand has that
// type. `operand`: the first one of those that share the type.
bool LacksOnnxRuntimeKernel(Symbol op, int opset, size_t operand, DType type);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_KERNELS_H_
