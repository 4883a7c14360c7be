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

// The sizes of x for shapes of other order and number of axes: before opset 14 no shape can say 0,
// so the sizes must be known not to be, but for one, which is written as -1 when it is 0.
absl::StatusOr<Value*> SizesToReshape(Rewrite& r, Value* x);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERINGS_AXIS_MASKS_H_
