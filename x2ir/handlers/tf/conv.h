// Convolutions as TensorFlow writes them.
#ifndef X2IR_HANDLERS_TF_CONV_H_
#define X2IR_HANDLERS_TF_CONV_H_

#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

// conv as Conv2D, DepthwiseConv2dNative or Conv3D, and as simpler convolutions of the IR where
// kernels for CPUs lack groups, dilations or strides.
absl::StatusOr<Values> ToTfConv(TfWriter& w);

// conv_transpose as Conv2DBackpropInput or Conv3DBackpropInputV2, likewise.
absl::StatusOr<Values> ToTfConvTranspose(TfWriter& w);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_CONV_H_
