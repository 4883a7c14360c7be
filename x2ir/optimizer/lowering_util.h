// Shared code of lowerings: small parts of graphs that many of them need.
#ifndef X2IR_OPTIMIZER_LOWERING_UTIL_H_
#define X2IR_OPTIMIZER_LOWERING_UTIL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// A constant that a lowering makes holds at most this many elements.
inline constexpr int64_t kMaxLoweringElements = int64_t{1} << 24;

inline bool Given(const Rewrite& r, size_t i) { return i < r.node.num_inputs() && r.has(i); }

// The size of an axis as a scalar: a number where it is known.
Expr SizeOfAxis(Builder& b, Value* x, int64_t axis, DType t);
// 0, 1, .. count - 1 as rank 1 of a type that counts that far.
Expr Counting(Builder& b, int64_t count, DType t);
// Dims of an operand, where all are known.
std::optional<std::vector<int64_t>> StaticDims(const Rewrite& r, size_t i);
// Which outputs the node has.
std::vector<bool> WantedOutputs(const Node& node);
// The type that evaluation computes floats in: float64 for itself, float32 for all others.
// FailedPrecondition for other types.
absl::StatusOr<DType> FloatComputeType(DType t);

// An op of constants is a constant.
absl::StatusOr<Values> AsConstant(Rewrite& r);
// The results of such a node as constants, whatever their size; null for one that is left out.
absl::StatusOr<Values> ConstantResults(const Node& node, Builder& b);

// A constant of that number for all elements; fails where these are too many.
Value* FilledConstant(Builder& b, DType t, const std::vector<int64_t>& dims, double number);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERING_UTIL_H_
