// ONNX Runtime's own fused ops (domain com.microsoft), in a graph that is about to be written.
#ifndef X2IR_HANDLERS_ONNX_CONTRIB_FUSIONS_H_
#define X2IR_HANDLERS_ONNX_CONTRIB_FUSIONS_H_

#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/target.h"

namespace X2IR_API x2ir {

// Nodes of IR that one op of ONNX Runtime's says as well become that op:
//
//   rms_normalization                       SimplifiedLayerNormalization
//   add, (add of a bias,) layer_normalization  SkipLayerNormalization
//   the same with rms_normalization         SkipSimplifiedLayerNormalization
//   gelu, approximate = "tanh"              FastGelu, with the add of a bias before it
//   add of a bias, gelu                     BiasGelu
//   gelu, where the target lacks it         Gelu
//   x * sigmoid(alpha * x), swish           QuickGelu
//   matmul or gemm with a dequantize_linear of blocks of four or eight bits, transposed or not,
//   also less a number for each block              MatMulNBits
//
//   attention                               MultiHeadAttention; GroupQueryAttention, where it is
//                                           causal and heads share keys, or where its keys and
//                                           values are concat(past, new) of a cache
//   rotary_embedding by positions           com.microsoft's
//
// By head attention is taken between reshape and transpose, and, where the target has no op for it,
// in any case. A mask of booleans becomes what is added to the scores, once for all that use it;
// for queries that see no key, a where gives the zeros that these kernels do not.
// Only where operands are of the element types and ranks that its kernels have. `target` is the one
// that the graph is written for, without these ops.
void UseContribOps(Graph& graph, const Target& target);

// The ops of IR that are there to be fused, whatever the target's opset has.
std::vector<Symbol> ContribOps();

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONTRIB_FUSIONS_H_
