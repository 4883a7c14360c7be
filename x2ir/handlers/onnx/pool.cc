// ONNX pools. What an old form lacks (ceil_mode, dilations, Indices) it refuses by itself.
#include "x2ir/core/spec.h"
#include "x2ir/handlers/onnx/conv_lenses.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {
namespace {

X2IR_ONNX(max_pool)
    .Is("MaxPool", In(1, 17), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads(),
        LastWindowInside(), NotBehindZeros())
    .Is("MaxPool", In(18, 21), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads(),
        LastWindowInside())
    .Is("MaxPool", Since(22), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads());
X2IR_ONNX(average_pool)
    .Is("AveragePool", In(1, 21), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads(),
        LastWindowInside(), CountedPads())
    .Is("AveragePool", Since(22), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads(),
        CountedPads());
// Before opset 2 p was a float. kernel_shape could be missing, but nothing said what that means.
X2IR_ONNX(lp_pool)
    .Is("LpPool", In(1, 1), ChannelsFirst(), WholeFloat("p"), SpatialInts("strides", 1),
        SpatialInts("pads", 0, 2), ImportOnly())
    .Is("LpPool", In(2, 21), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads(),
        LastWindowInside())
    .Is("LpPool", Since(22), ChannelsFirst(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SameLeavesOut(), PoolPads());
X2IR_ONNX(global_average_pool).Is("GlobalAveragePool", Since(1), ChannelsFirst());
X2IR_ONNX(global_max_pool).Is("GlobalMaxPool", Since(1), ChannelsFirst());
X2IR_ONNX(global_lp_pool)
    .Is("GlobalLpPool", In(1, 1), ChannelsFirst(), WholeFloat("p"), ImportOnly())
    .Is("GlobalLpPool", Since(2), ChannelsFirst());
X2IR_ONNX(max_unpool)
    .Is("MaxUnpool", Since(9), SpatialInts("strides", 1), SpatialInts("pads", 0, 2));

}  // namespace

}  // namespace x2ir
