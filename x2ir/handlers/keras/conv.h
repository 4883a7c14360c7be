// Convolutions as several layers of Keras use them.
#ifndef X2IR_HANDLERS_KERAS_CONV_H_
#define X2IR_HANDLERS_KERAS_CONV_H_

#include <string>
#include <vector>

#include "x2ir/handlers/keras/keras.h"

namespace X2IR_API x2ir {

struct KerasWindow {
  std::vector<int64_t> kernel, strides, dilations;
  std::string padding = "valid";  // "valid", "same", "causal"
  bool channels_last = true;
};

// kernel_size, strides, dilation_rate, padding and data_format of a layer.
KerasWindow TakeKerasWindow(KerasArgs& a, size_t spatial);
// layout, strides, dilations and padding as IR's convolutions have them.
AttributeMap WindowAttributes(NodeReader& a, const KerasWindow& window);

// A convolution; kernel [space..., in of a group, out].
Expr ConvolveKeras(NodeReader& a, const Expr& x, const Expr& kernel, const KerasWindow& window,
                   int64_t groups = 1);
// Each channel by itself; kernel [space..., in, multiplier].
Expr DepthwiseKeras(NodeReader& a, const Expr& x, const Expr& kernel, const KerasWindow& window);
// Pools to a size, with windows that differ from place to place.
Expr AdaptivePool(NodeReader& a, const Expr& x, std::vector<int64_t> sizes, bool channels_last,
                  bool average);
// One number a channel, along the channels of y.
Expr WithBias(const Expr& y, const Expr& bias, bool channels_last);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_CONV_H_
