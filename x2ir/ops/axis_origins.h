// The axes of the operands that an axis of a node's results corresponds to, element by element: the
// elements at one position along it are computed only from the elements at the same position along
// those axes. For rewrites that follow a batch through a graph.
#ifndef X2IR_OPS_AXIS_ORIGINS_H_
#define X2IR_OPS_AXIS_ORIGINS_H_

#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

// For an IR node whose shapes are known; empty if there are none, or if the op is unknown.
// OpDef::Origins of the op is used; without it, elementwise ops and the rows of ops that only
// compute along the last axis are known.
std::vector<AxisPlace> AxisOrigins(const Node& node, int64_t axis);

bool HasAxis(const Shape* shape, int64_t axis);  // false for an unknown shape
// Whether each element of the results is computed from one of each operand, all broadcast.
bool IsElementwise(const OpDef& def);
// The first used result; null if none is used.
const Value* ResultOf(const Node& node);

// --- Functions for ops: each is an AxisOriginsFn -------------------------------------------

// The same axis of operand 0.
std::vector<AxisPlace> OriginsInOrder(const Node& node, int64_t axis);
// As operands are broadcast; of operand 0 alone.
std::vector<AxisPlace> OriginsOfExpand(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfUnsqueeze(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfSqueeze(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfTranspose(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfReshape(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfMatMul(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfGather(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfGatherElements(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfReduction(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfAttention(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfDeformConv(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfCumulation(const Node& node, int64_t axis);
// The same axis of operand 0, but none for that of the attribute `axis`.
std::vector<AxisPlace> OriginsButAxis(const Node& node, int64_t axis);
// The same of all operands.
std::vector<AxisPlace> OriginsOfAllButAxis(const Node& node, int64_t axis);
// The axes before the attribute `axis`.
std::vector<AxisPlace> OriginsBeforeAxis(const Node& node, int64_t axis);
// Axis 0, the batch, is computed element by element, except if the op normalizes over the batch.
std::vector<AxisPlace> OriginsOfBatch(const Node& node, int64_t axis);
std::vector<AxisPlace> OriginsOfBatchNorm(const Node& node, int64_t axis);

}  // namespace x2ir

#endif  // X2IR_OPS_AXIS_ORIGINS_H_
