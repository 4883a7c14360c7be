// Adaptive pools: window o of `out` along an axis of `in` elements is [o in / out,
// ceil((o + 1) in / out)), as PyTorch, MXNet, Paddle, OneFlow, Keras and ncnn have them.
#ifndef X2IR_BUILDER_LAYERS_ADAPTIVE_POOL_H_
#define X2IR_BUILDER_LAYERS_ADAPTIVE_POOL_H_

#include <vector>

#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/size.h"

namespace X2IR_API x2ir {

// x [batch, channels, spatial axes...]; one size for all spatial axes, or one for each. Sizes of x
// and of the result may be computed. Invalid for another number of sizes; Unimplemented for an axis
// without elements, for results of more than 2^20 elements along an axis, and for windows of more
// than 2^24 elements together.
Expr AdaptiveAverage(NodeReader& a, const Expr& x, const std::vector<Size>& sizes);

// The greatest elements, and where the first of them is in its plane, int64; each is null where it
// is not wanted.
struct AdaptiveMaxima {
  Expr values = nullptr, places = nullptr;
};
AdaptiveMaxima AdaptiveMax(NodeReader& a, const Expr& x, const std::vector<Size>& sizes,
                           bool wants_values = true, bool wants_places = false);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_ADAPTIVE_POOL_H_
