// Lenses that the shape, indexing and reduction handlers share.
#ifndef X2IR_HANDLERS_ONNX_AXIS_LENSES_H_
#define X2IR_HANDLERS_ONNX_AXIS_LENSES_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/ops/infer.h"

namespace X2IR_API x2ir {

// Before opset 11 axes had to count from the front. This attribute is made to where the rank of
// the first operand is known, on import too: so what is read is what was written.
Lens AxisFromFront(std::string_view name);

// The operand `axes` is an attribute of that name, and from the front as above. What an empty
// list means: kNone: no axis; kAll: the same as none given.
enum class EmptyAxes { kNone, kAll };
// inserted: the axes are those of the result, which has as many more (Unsqueeze).
// computed_from: the opset from which on they may be computed.
Lens AxesAsAttr(EmptyAxes empty, bool inserted, int computed_from);

// Operand `axes` counts from the front where operand 0 is known to have no elements: ONNX Runtime
// 1.30 keeps axes of such that are counted from the end.
Lens AxesOfNothingFromFront();

// The IR operand must be left out: only opset `since` has it.
Lens LeftOut(std::string_view ir, int since);

// ONNX wants these operands to be of rank 0, or to have an axis; in the IR one number may be of any
// rank. `rank`: 0 or 1.
Lens OfRank(int64_t rank, std::vector<size_t> operands);

// Operand 0 has axes: of a scalar ONNX Runtime refuses the op, or takes it for a list.
Lens NoScalar();

// The attribute has one of these values; opset `since` has more.
Lens OneOf(std::string_view name, std::vector<std::string> values, int since);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_AXIS_LENSES_H_
