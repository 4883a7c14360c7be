// Lenses that convolutions share, the layout also with pools and norms.
#ifndef X2IR_HANDLERS_ONNX_CONV_LENSES_H_
#define X2IR_HANDLERS_ONNX_CONV_LENSES_H_

#include <cstddef>

#include "x2ir/core/spec.h"

namespace X2IR_API x2ir {

// ONNX may say the kernel's size twice: in kernel_shape and in the shape of w. The IR says it
// once, by w, which is operand `w` on both sides. Written out where known, since some runtimes
// want it.
Lens KernelShapeOfOperand(size_t w);
// ONNX knows one layout.
Lens ChannelsFirst();

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONV_LENSES_H_
