// ONNX: comparisons, logic of bools, and Where.
#include "x2ir/core/spec.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {

X2IR_ONNX(equal).Is("Equal", In(1, 6), AxisBroadcast(), ImportOnly()).Is("Equal", Since(7));
X2IR_ONNX(greater).Is("Greater", In(1, 6), AxisBroadcast(), ImportOnly()).Is("Greater", Since(7));
X2IR_ONNX(greater_or_equal).Is("GreaterOrEqual", Since(12));
X2IR_ONNX(less).Is("Less", In(1, 6), AxisBroadcast(), ImportOnly()).Is("Less", Since(7));
X2IR_ONNX(less_or_equal).Is("LessOrEqual", Since(12));
X2IR_ONNX(and).Is("And", In(1, 6), AxisBroadcast(), ImportOnly()).Is("And", Since(7));
X2IR_ONNX(or).Is("Or", In(1, 6), AxisBroadcast(), ImportOnly()).Is("Or", Since(7));
X2IR_ONNX(xor).Is("Xor", In(1, 6), AxisBroadcast(), ImportOnly()).Is("Xor", Since(7));
X2IR_ONNX(where).Is("Where", Since(9));

}  // namespace x2ir
