// ONNX Runtime's own fused ops (domain com.microsoft), in a graph that is about to be written.
#ifndef X2IR_HANDLERS_ONNX_CONTRIB_FUSIONS_H_
#define X2IR_HANDLERS_ONNX_CONTRIB_FUSIONS_H_

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Nodes of ONNX that one op of ONNX Runtime's says as well become that op:
//
//   RMSNormalization                        SimplifiedLayerNormalization
//   Add, (Add of a bias,) LayerNormalization  SkipLayerNormalization
//   the same with RMSNormalization          SkipSimplifiedLayerNormalization
//   Gelu, approximate = "tanh"              FastGelu, with the Add of a bias before it
//   Add of a bias, Gelu                     BiasGelu
//   x * Sigmoid(alpha * x), Swish           QuickGelu
//   MatMul with a DequantizeLinear of blocks of four bits, transposed or not   MatMulNBits
//
//   Attention of [batch, length, width]     MultiHeadAttention; GroupQueryAttention, where it is
//                                           causal and keys have fewer heads, of known sizes
//   the same by head, between Reshape and Transpose   likewise
//   RotaryEmbedding by positions            com.microsoft's
//
// A mask of booleans becomes what is added to the scores, once for all that use it; where a query
// may look at nothing, a Where gives the zeros that these kernels do not.
// Only where operands are of the element types and ranks that its kernels have. What the model's
// opset lacks is not there to be fused: RMSNormalization comes with 23, blocks with 21, Gelu
// with 20.
void UseContribOps(Model& model);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONTRIB_FUSIONS_H_
