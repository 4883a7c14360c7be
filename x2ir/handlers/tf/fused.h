// What follows in one node that TensorFlow's graph optimizer fused of several.
#ifndef X2IR_HANDLERS_TF_FUSED_H_
#define X2IR_HANDLERS_TF_FUSED_H_

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// The ops of attribute fused_ops on y; operands from 2 on are theirs.
absl::StatusOr<Value*> FusedOps(TfArgs& a, Value* y, TfLayout layout);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_FUSED_H_
