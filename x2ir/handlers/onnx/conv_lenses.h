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
// What runtimes do not agree about, or refuse (docs/runtimes.md): auto_pad SAME with dilations is
// written as pads. The size of an input that is strided over must be known for that.
Lens DilatedSameAsPads();
// Of pools: the same, and pads must be less than the kernel.
Lens PoolPads();
// Of MaxPool: its operand is not a Pad of zeros, which ONNX Runtime merges into the pool's own
// padding: that is less than all numbers, and zeros are not.
Lens NotBehindZeros();
// Of AveragePool: padding that is counted is not written where ONNX Runtime counts it wrong. Before
// opset 19 that is a window which ceil_mode lets reach beyond the padding (ONNX did not say then
// whether what lies there is counted); from 19 on, pads that are not all the same, also those of
// auto_pad.
Lens CountedPads();
// Of pools with ceil_mode: no last window that would begin in the padding, which onnx's inference
// counts at some opsets.
Lens LastWindowInside();
// Of pools that are read: with auto_pad SAME, where steps are longer than windows, less than no
// padding may be needed. Runtimes then leave out the first elements, which becomes a Slice.
Lens SameLeavesOut();

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONV_LENSES_H_
