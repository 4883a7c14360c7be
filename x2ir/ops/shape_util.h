// Shared code of the shape, indexing and reduction ops: dims that must agree, integers given at run
// time, indices that count from either end.
#ifndef X2IR_OPS_SHAPE_UTIL_H_
#define X2IR_OPS_SHAPE_UTIL_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace X2IR_API x2ir {

// --- Inference ------------------------------------------------------------------------------

// Two dims that must be the same size: the better known one. InvalidArgument when they
// certainly differ.
absl::StatusOr<Dim> SameDim(const Dim& a, const Dim& b);
// The sizes that a shape operand gives, each perhaps unknown; InvalidArgument when one is
// negative. nullopt when not even their number is known.
absl::StatusOr<std::optional<std::vector<Dim>>> SizesOperand(const InferContext& ctx, size_t i);
// "operand 'w'", as the op calls it; of a variadic one "operand 2".
std::string OperandName(const InferContext& ctx, size_t i);
// InvalidArgument if the operand certainly does not have one element.
absl::Status ExpectOneNumber(const InferContext& ctx, size_t i);
// How many elements a rank-1 operand has, -1 when not known. InvalidArgument for a higher rank.
absl::StatusOr<int64_t> LengthOf(const InferContext& ctx, size_t i);
// The only element of an operand, unknown when it is not known.
Dim ElementOf(const InferContext& ctx, size_t i);
// Elements of operand 0 are those of output 0 (the data only changes its rank), if they fit.
void KeepElements(InferContext& ctx, const Shape& result);
// Whether operand 0 is of integers and may be without elements: the largest or smallest of no
// elements is the limit of the type, which differs from that of other types. (An exception of a
// NumberRule.)
bool MayReduceNothing(const Node& node);
// InvalidArgument if the operand is known not to be an integer tensor.
absl::Status ExpectInteger(const InferContext& ctx, size_t i, std::string_view name);

// --- Evaluation -----------------------------------------------------------------------------

// The elements of an integer operand of rank 0 or 1.
absl::StatusOr<std::vector<int64_t>> IntsOperand(const EvalContext& ctx, size_t i,
                                                 std::string_view name);
// The only element of an integer operand of any rank.
absl::StatusOr<int64_t> IntOperand(const EvalContext& ctx, size_t i, std::string_view name);
// index in [-size, size) made non-negative.
absl::StatusOr<int64_t> WrapIndex(int64_t index, int64_t size);
// All elements of an integer tensor, wrapped into [0, size).
absl::StatusOr<std::vector<int64_t>> WrapIndices(const Tensor& indices, int64_t size);
// Sizes before, at and after an axis: a tensor as [outer, size, inner].
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
};
AxisView ViewAt(absl::Span<const int64_t> dims, int64_t axis);
// Product of some sizes of an existing tensor; 0 where it overflows.
int64_t Count(absl::Span<const int64_t> dims);
// "[2,3]"
std::string DimsText(absl::Span<const int64_t> dims);

}  // namespace x2ir

#endif  // X2IR_OPS_SHAPE_UTIL_H_
