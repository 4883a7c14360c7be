// Axes that are computed: as masks over all axes of a known rank, and shapes made with them.
#ifndef X2IR_OPTIMIZER_LOWERINGS_AXIS_MASKS_H_
#define X2IR_OPTIMIZER_LOWERINGS_AXIS_MASKS_H_

#include "absl/status/statusor.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// bool[axes, rank]: whether entry i of the operand `axes` names axis d; it may count from the end.
Value* AxisMatrix(Rewrite& r, Value* axes, int64_t rank);
// bool[rank]: the axes that the operand names.
Value* AxisMask(Rewrite& r, Value* axes, int64_t rank);
// int64[rank]: for each axis its entry of `values`, and `otherwise` for axes that are not named.
Value* ByAxis(Rewrite& r, Value* matrix, Value* values, Value* otherwise);

// Whether the target can reshape to a size of 0. (If it cannot, a 0 means the operand's own size at
// that axis.)
inline Fact ReshapesToZero() { return Fact::Says("reshape", "allowzero", 1); }
// Reshape. A size of 0 means 0 where the target can say that.
Value* ReshapeTo(Rewrite& r, Value* x, Value* sizes);
// The sizes of x as int64[rank], from which a caller makes the sizes for ReshapeTo. Where the
// target cannot reshape to 0, at most one size may be unknown, which becomes -1 when it is 0, and
// none may be known to be 0: else FailedPrecondition.
absl::StatusOr<Value*> SizesToReshape(Rewrite& r, Value* x);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERINGS_AXIS_MASKS_H_
