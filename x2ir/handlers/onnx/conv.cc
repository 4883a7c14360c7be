// ONNX Conv and ConvTranspose.
#include "x2ir/core/spec.h"
#include "x2ir/handlers/onnx/conv_lenses.h"

namespace x2ir {
namespace {

X2IR_ONNX(conv).Is("Conv", Since(1), ChannelsFirst(), KernelShapeOfOperand(1),
                   SpatialInts("strides", 1), SpatialInts("dilations", 1),
                   SpatialInts("pads", 0, 2), DilatedSameAsPads());

X2IR_ONNX(conv_transpose)
    .Is("ConvTranspose", Since(1), ChannelsFirst(), KernelShapeOfOperand(1),
        SpatialInts("strides", 1), SpatialInts("dilations", 1), SpatialInts("pads", 0, 2),
        SpatialInts("output_padding", 0));

}  // namespace
}  // namespace x2ir
