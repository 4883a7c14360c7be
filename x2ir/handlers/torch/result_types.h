// The element types of an operator's results, as PyTorch has them. Programs of torch.export say
// them; those of TorchScript do not.
#ifndef X2IR_HANDLERS_TORCH_RESULT_TYPES_H_
#define X2IR_HANDLERS_TORCH_RESULT_TYPES_H_

#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// One entry for each result of the operator's schema (of the call, where there is no schema): its
// element type, from the types of the operands and the arguments of the call. Of a list of tensors
// one entry, which all of them have. Ints, floats and bools are int64, float64 and bool. Undefined
// where it does not follow: an operand's type is not known, the operator is not known, tensors of a
// list have different types, or the type has no place here (quantized ones, complex32).
// `node` is a call as formats/torch/torch.h has it. Of its outputs only the number counts, and only
// where there is no schema. Ranks of operands need not be known where they do not matter.
std::vector<DType> TorchResultTypes(const Node& node);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_RESULT_TYPES_H_
