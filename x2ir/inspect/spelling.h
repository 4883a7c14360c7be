// Two spellings of one thing: what is no difference between two nodes of the IR, though it is
// written otherwise. Nodes of other dialects have one spelling each, that of their file.
#ifndef X2IR_INSPECT_SPELLING_H_
#define X2IR_INSPECT_SPELLING_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/inspect/match.h"

namespace X2IR_API x2ir {

// Whether both do no more than give operand 0 another shape, and the same one: a flatten here, a
// reshape there.
bool SameReshape(const Node& x, const Node& y);

// The operands of `y` in the order of those of `x`: of a commutative op, operands that are the same
// by the match or by their numbers come first; other ops, and ops with more than 64 operands, keep
// their order. Both have as many.
std::vector<const Value*> OperandsLike(const Node& x, const Node& y, const GraphMatch& match);

// Whether attributes of one name say the same: axes may count from the last, and whether a gemm
// transposes a constant is part of what ConstantRead gives.
bool SameAttribute(const Node& x, const Node& y, Symbol name);

// Whether operand i of both, a constant of integers, says the same though its numbers differ: axes
// may count from the last, in any order where the op does not mind; of a shape only what it gives
// counts.
bool SameIntegers(const Node& x, const Node& y, size_t i);

// A constant operand as the node reads it: as MovedConstant has it, and transposed where a gemm
// says so. Nothing where there is none.
std::optional<Tensor> ConstantRead(const Node& node, size_t i, const Value& operand);

// A constant, or what nodes that only move its elements make of it: one exporter transposes a
// weight, the other keeps it transposed. Nothing of other values.
std::optional<Tensor> MovedConstant(const Value& value);

}  // namespace x2ir

#endif  // X2IR_INSPECT_SPELLING_H_
