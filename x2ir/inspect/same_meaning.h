// Different spellings of the same thing, which are not differences between two nodes of the IR.
// Nodes of other dialects have one spelling each, that of their file.
#ifndef X2IR_INSPECT_SAME_MEANING_H_
#define X2IR_INSPECT_SAME_MEANING_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/inspect/match.h"

namespace X2IR_API x2ir {

// Whether both only give operand 0 another shape, and the same one: a flatten here, a reshape
// there.
bool SameReshape(const Node& x, const Node& y);

// The operands of `y` in the order of those of `x`: of a commutative op, operands that are the same
// by the match or by their numbers come first; other ops, and ops with more than 64 operands, keep
// their order. Both have as many.
std::vector<const Value*> OperandsLike(const Node& x, const Node& y, const GraphMatch& match);

// Whether attributes of one name mean the same: axes may count from the last, and transposes of
// constants by a gemm are part of ConstantRead.
bool SameAttribute(const Node& x, const Node& y, Symbol name);

// Whether operand i of both, a constant of integers, means the same although its numbers differ:
// axes may count from the last, in any order if the op allows it; shapes are compared by the
// resulting shape.
bool SameIntegers(const Node& x, const Node& y, size_t i);

// A constant operand as the node reads it: the result of MovedConstant, transposed if a gemm does
// so. nullopt if there is none.
std::optional<Tensor> ConstantRead(const Node& node, size_t i, const Value& operand);

// A constant, or the result of nodes that only move its elements: one exporter transposes a weight,
// the other stores it transposed. nullopt for other values.
std::optional<Tensor> MovedConstant(const Value& value);

}  // namespace x2ir

#endif  // X2IR_INSPECT_SAME_MEANING_H_
