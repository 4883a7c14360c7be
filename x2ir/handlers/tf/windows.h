// Windows that slide over the spatial axes of a tensor, channels last, as axes of their own.
#ifndef X2IR_HANDLERS_TF_WINDOWS_H_
#define X2IR_HANDLERS_TF_WINDOWS_H_

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// x, [batch, spatial..., channels] with known spatial sizes, as [batch, windows..., kernel...,
// channels]; elements outside are `outside` (null: 0).
absl::StatusOr<Value*> Patches(TfArgs& a, Value* x, const Window& w, Value* outside);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_WINDOWS_H_
