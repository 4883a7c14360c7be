// Functions of two operands that other ops have too.
#ifndef X2IR_HANDLERS_TF_BINARY_H_
#define X2IR_HANDLERS_TF_BINARY_H_

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// The direction of (x, y), from -pi to pi.
Value* AngleOf(TfArgs& a, Value* y, Value* x);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_BINARY_H_
