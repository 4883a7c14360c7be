// Queries about a node and its operands for rules of several passes.
#ifndef X2IR_OPTIMIZER_RULE_UTIL_H_
#define X2IR_OPTIMIZER_RULE_UTIL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/axes.h"
#include "x2ir/optimizer/rules.h"

namespace X2IR_API x2ir {

// The same rank, and the same sizes in every run.
bool SameShape(const Shape* a, const Shape* b);

// The type of output 0 by inference alone. The type of the value may have more information from a
// file, and an output of the graph has the names that the file gave its dims.
Type InferredType(Rewriter& r);
// Whether output 0 has element type and shape of that operand, in every run.
bool HasTypeOf(Rewriter& r, size_t operand);

// Elements of an integer value of rank 0 or 1, each a number, an expression or unknown.
std::optional<std::vector<Dim>> KnownElements(const Value* value);

// Whether the value's elements may be known in every run: a cheap test before KnownTensor.
inline bool MayBeKnown(const Value& value) { return value.constant() || value.elements(); }

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_RULE_UTIL_H_
