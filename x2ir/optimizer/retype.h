// Retyping: if a target has an op, but not for the element type in use, the op is written in
// another type between casts. Only if that gives the same numbers: each op states what it does with
// its numbers (NumberRule in ops/traits.h), and so which types can replace others.
#ifndef X2IR_OPTIMIZER_RETYPE_H_
#define X2IR_OPTIMIZER_RETYPE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// Whether type `to` has every number of type `from`.
bool HoldsEvery(DType to, DType from);

// The types in which the op can be computed instead, the most common first; empty if there is none.
std::vector<DType> StandInTypes(const Node& node);

// The op in that type: operands cast to it (constants outright), results cast back.
absl::StatusOr<Values> InStandInType(Rewrite& r, DType type);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_RETYPE_H_
