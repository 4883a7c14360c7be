// Numbers of elements, and their indices on all axes.
#ifndef X2IR_HANDLERS_TF_INDICES_H_
#define X2IR_HANDLERS_TF_INDICES_H_

#include <cstdint>
#include <vector>

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// The elements of a value of rank 1, each of rank 0.
absl::StatusOr<std::vector<Value*>> Elements(TfArgs& a, Value* v);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_INDICES_H_
