// Lenses for what opsets before 7 say in another way: how operands broadcast, and hints and
// numbers that later became something else. All but the first serve import alone.
#ifndef X2IR_HANDLERS_ONNX_LEGACY_LENSES_H_
#define X2IR_HANDLERS_ONNX_LEGACY_LENSES_H_

#include <string_view>

#include "x2ir/core/spec.h"

namespace X2IR_API x2ir {

// `consumed_inputs` of opsets before 6 told which operands may be overwritten: no part of the
// meaning.
Lens InPlaceHint();

// Operand 1 becomes one that broadcasts to operand 0 as today. With broadcast = 0 both are of one
// shape. With 1, operand 1 has one element, or its shape is a part of that of operand 0:
// starting at `axis`, or at its end where no axis is given.
Lens AxisBroadcast();

// The slope of PRelu has one element or one a channel, which is axis 1 of operand 0.
Lens SlopePerChannel();

// C of Gemm is of the result's shape, unless broadcast = 1.
Lens BroadcastOfC();

// A float attribute that is an int today.
Lens WholeFloat(std::string_view name);

// InvalidArgument where two operands certainly differ in shape.
absl::Status ExpectSameShape(const Value* a, const Value* b);
// Operand 0 is not of that type: ONNX Runtime has no kernel for it, though the schema allows it.
Lens NotOf(DType type);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_LEGACY_LENSES_H_
