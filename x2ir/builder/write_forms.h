// What export forms of several dialects share: nodes of the IR as simpler ones, and operands as
// these dialects have them.
#ifndef X2IR_BUILDER_WRITE_FORMS_H_
#define X2IR_BUILDER_WRITE_FORMS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_writer.h"

namespace X2IR_API x2ir {

// reduce_l1, reduce_l2, reduce_sum_square, reduce_log_sum and reduce_log_sum_exp by reduce_sum.
// log_sum_exp is taken from the largest element, if that is finite, so that no exponential is too
// large.
Value* L1BySum(NodeWriter& w);
Value* L2BySum(NodeWriter& w);
Value* SumSquareBySum(NodeWriter& w);
Value* LogSumBySum(NodeWriter& w);
Value* LogSumExpBySum(NodeWriter& w);

// clip by max and min. A bound of more axes than x, which is one number, would give x axes.
Value* ClipByBounds(NodeWriter& w);

// Operand 1 of a reduction as int32; null where the node's operand itself is the result.
absl::StatusOr<Value*> ReducedAxes(NodeWriter& w);

// one_hot's operands as scalars, and indices of which none counts from the end.
struct OneHotParts {
  Value *index, *depth, *on, *off;  // depth: int32
  int64_t axis;                     // from the first; -1: the last. Kernels take no others.
};
// FailedPrecondition where the indices are no integers.
absl::StatusOr<OneHotParts> OneHotPartsOf(NodeWriter& w);

// compress as a gather: of `x` along an axis, at the places where the condition holds (int64; none
// counts from the end).
struct PlacesThatHold {
  Value *x, *places;
  int64_t axis;
};
absl::StatusOr<PlacesThatHold> CompressByGather(NodeWriter& w);

// Operand 1, tuples of indices of operand 0's first axes, without negative ones.
absl::StatusOr<Value*> TuplesFromTheFront(NodeWriter& w);

// scatter_elements as scatter_nd. FailedPrecondition where a rank is not known.
absl::StatusOr<Value*> ScatterElementsByTuples(NodeWriter& w);

// A convolution or pool of one spatial axis, channels last, by that of two: the first is of size 1.
// `has_kernel`: operand 1 are weights.
Value* WithTwoSpatialAxes(NodeWriter& w, bool has_kernel);

// The op along the last axis, between transposes that swap it with `axis`.
Value* AlongLastAxis(NodeWriter& w, int64_t axis, int64_t rank);

// matmul of vectors by that of matrices of one row or column; null where both operands have more
// axes.
Value* MatMulOfVectors(NodeWriter& w, int64_t rank_a, int64_t rank_b);

// instance_normalization by reduce_mean, computed in that type.
absl::StatusOr<Value*> InstanceNormByMeans(NodeWriter& w, DType computed);

bool AnyNegative(const std::vector<int64_t>& numbers);
// pad's numbers for every axis: in turn the begin and the end of each.
std::vector<int64_t> PadPairs(const std::vector<int64_t>& pads,
                              const std::optional<std::vector<int64_t>>& axes, int64_t rank);

// pad's numbers likewise; FailedPrecondition for a mode that is none of these, and for negative
// numbers.
absl::StatusOr<std::vector<int64_t>> PadPairsOf(NodeWriter& w,
                                                std::initializer_list<std::string_view> modes);
// perm of a transpose; without one all axes in reverse. FailedPrecondition where the rank is not
// known.
absl::StatusOr<std::vector<int64_t>> PermOf(NodeWriter& w);
// hardmax as one_hot of the first largest element. FailedPrecondition for an axis of unknown size.
absl::StatusOr<Value*> HardmaxByOneHot(NodeWriter& w);
// lp_normalization as a division by reduce_l1 or reduce_l2, 0 where that is 0.
absl::StatusOr<Value*> LpNormalizationByReduce(NodeWriter& w);

// What constant_of_shape fills with, rank 0; FailedPrecondition where the node has no value.
absl::StatusOr<Tensor> FillOf(NodeWriter& w);

// slice as the operands of StridedSlice: bounds and steps of every axis (int32, [rank]), and bits
// of the axes without a bound.
struct StridedBounds {
  Value *begin, *end, *strides;
  int64_t begin_mask, end_mask;
};
absl::StatusOr<StridedBounds> StridedBoundsOf(NodeWriter& w);

}  // namespace x2ir

#endif  // X2IR_BUILDER_WRITE_FORMS_H_
