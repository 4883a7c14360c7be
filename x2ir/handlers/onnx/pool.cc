// ONNX pools. What an old form lacks (ceil_mode, dilations, Indices) it refuses by itself.
#include "x2ir/core/spec.h"
#include "x2ir/handlers/onnx/conv_lenses.h"

namespace x2ir {
namespace {

X2IR_ONNX(max_pool).Is("MaxPool", Since(1), ChannelsFirst(), SpatialInts("strides", 1),
                       SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));

X2IR_ONNX(average_pool)
    .Is("AveragePool", Since(1), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));

// Before opset 2 p was a float and kernel_shape could be missing.
X2IR_ONNX(lp_pool).Is("LpPool", Since(2), ChannelsFirst(), SpatialInts("strides", 1),
                      SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));

X2IR_ONNX(global_average_pool).Is("GlobalAveragePool", Since(1), ChannelsFirst());
X2IR_ONNX(global_max_pool).Is("GlobalMaxPool", Since(1), ChannelsFirst());
X2IR_ONNX(global_lp_pool).Is("GlobalLpPool", Since(2), ChannelsFirst());

X2IR_ONNX(max_unpool)
    .Is("MaxUnpool", Since(9), SpatialInts("strides", 1), SpatialInts("pads", 0, 2));

}  // namespace
}  // namespace x2ir
