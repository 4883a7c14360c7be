// Convolutions as several layers of Keras use them.
#ifndef X2IR_HANDLERS_KERAS_CONV_H_
#define X2IR_HANDLERS_KERAS_CONV_H_

#include <string>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/handlers/keras/keras.h"

namespace X2IR_API x2ir {

// The padding "valid", "same" or "causal" of a window whose kernel and dilations are known.
void SetPadding(NodeReader& a, const std::string& padding, Window* window);
// kernel_size, strides, dilation_rate, padding and data_format of a layer.
Window TakeKerasWindow(KerasArgs& a, size_t spatial);

// A convolution; kernel [space..., in of a group, out].
Expr ConvolveKeras(NodeReader& a, const Expr& x, const Expr& kernel, const Window& window,
                   int64_t groups = 1);
// Each channel by itself; kernel [space..., in, multiplier].
Expr DepthwiseKeras(NodeReader& a, const Expr& x, const Expr& kernel, const Window& window);
// Pools to a size, with windows that differ from place to place.
Expr AdaptivePool(NodeReader& a, const Expr& x, std::vector<int64_t> sizes, bool channels_last,
                  bool average);
// One number a channel, along the channels of y.
Expr WithBias(const Expr& y, const Expr& bias, bool channels_last);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_CONV_H_
