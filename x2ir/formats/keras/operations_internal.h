// The operations of Keras 3 that are written: in which module each class is, and which of its
// arguments its constructor takes; a call takes the others.
#ifndef X2IR_FORMATS_KERAS_OPERATIONS_INTERNAL_H_
#define X2IR_FORMATS_KERAS_OPERATIONS_INTERNAL_H_

#include <string_view>

namespace x2ir::keras {

struct Operation {
  std::string_view name;         // of the class, "Sum"
  std::string_view module;       // "numpy" of keras.src.ops.numpy
  std::string_view constructor;  // "axis keepdims"

  bool Constructs(std::string_view argument) const;
};

// "ops.Sum" or "Sum"; null for one that is not written.
const Operation* FindOperation(std::string_view name);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_OPERATIONS_INTERNAL_H_
