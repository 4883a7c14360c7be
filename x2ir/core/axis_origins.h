// Which axes of its operands an axis of a node's results is, element by element: what stands at one
// position along it is computed from what stands at that position of theirs, and from nothing at
// other positions. For rewrites that follow a batch through a graph.
#ifndef X2IR_CORE_AXIS_ORIGINS_H_
#define X2IR_CORE_AXIS_ORIGINS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

struct AxisPlace {
  size_t operand;
  int64_t axis;
};

// Of an IR node whose shapes are known; empty where there are none, or nothing is known of the op.
std::vector<AxisPlace> AxisOrigins(const Node& node, int64_t axis);

bool HasAxis(const Shape* shape, int64_t axis);  // false of a shape that is not known
// Whether each element of the results is computed from one of each operand, all broadcast.
bool IsElementwise(const OpDef& def);
// The first result that somebody uses; null where nobody uses any.
const Value* ResultOf(const Node& node);

}  // namespace x2ir

#endif  // X2IR_CORE_AXIS_ORIGINS_H_
