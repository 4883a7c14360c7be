// Functions for the number of products that a node adds up, from the shapes of its operands and
// results; unknown if one is not known. Ops choose one with OpDef::MultiplyAdds.
#ifndef X2IR_OPS_WORK_H_
#define X2IR_OPS_WORK_H_

#include <cstddef>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/shape.h"

namespace X2IR_API x2ir {

// Each result element is a sum over the kernel and the channels of a group: operand `weight` is
// [out, in/group, kernel...].
Dim WorkOfConv(const Node& node, size_t weight);
template <size_t kWeight>
Dim WorkOfConv(const Node& node) {
  return WorkOfConv(node, kWeight);
}
Dim WorkOfConvTranspose(const Node& node);
Dim WorkOfMatMul(const Node& node);
Dim WorkOfGemm(const Node& node);
Dim WorkOfRecurrent(const Node& node);
Dim WorkOfEinsum(const Node& node);
Dim WorkOfAttention(const Node& node);

}  // namespace x2ir

#endif  // X2IR_OPS_WORK_H_
