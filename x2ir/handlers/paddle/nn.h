// Windows of convolutions and pools, and what is fused into convolutions.
#ifndef X2IR_HANDLERS_PADDLE_NN_H_
#define X2IR_HANDLERS_PADDLE_NN_H_

#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace X2IR_API x2ir {

// The attribute of that name (data_format, data_layout) says that channels are last; "AnyLayout"
// and none mean that they are first.
bool ChannelsLast(PaddleArgs& a, Symbol name = "data_format");
// One number for each channel, so that it broadcasts to a tensor of that rank.
Expr PerChannel(PaddleArgs& a, const Expr& numbers, int64_t rank, bool last);

// Puts the attributes `paddings` and `padding_algorithm` into a window over that many spatial axes.
void TakePaddings(PaddleArgs& a, size_t spatial, Window* window);

// Fails where steps or sizes of windows are not one for each axis, positive and of a size that
// images have.
void RequireSteps(PaddleArgs& a, const std::vector<int64_t>& numbers, size_t spatial);

// The convolution of Input and Filter, without what is added to it.
Expr Convolution(PaddleArgs& a);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_PADDLE_NN_H_
