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
// int64[rank]: for each axis its entry of `values`, `otherwise` where the operand names it not.
Value* ByAxis(Rewrite& r, Value* matrix, Value* values, Value* otherwise);

// That a 0 in the sizes of a reshape means 0; it may stand for the operand's own size otherwise.
inline Fact ReshapesToZero() { return Fact::Says("reshape", "allowzero", 1); }
// Reshape, of a 0 to 0 where the target can say that.
Value* ReshapeTo(Rewrite& r, Value* x, Value* sizes);
// The sizes of x, to make those of another number and order of axes of for ReshapeTo. Where the
// target cannot reshape to 0 they must be known not to be 0, but for one, which is written as -1
// when it is 0.
absl::StatusOr<Value*> SizesToReshape(Rewrite& r, Value* x);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERINGS_AXIS_MASKS_H_
