// What losses share.
#ifndef X2IR_HANDLERS_TORCH_LOSSES_H_
#define X2IR_HANDLERS_TORCH_LOSSES_H_

#include <cstdint>

#include "x2ir/handlers/torch/special.h"

namespace X2IR_API x2ir {

// ATen's numbers of reductions.
inline constexpr int64_t kNone = 0, kMean = 1, kSum = 2;

// The mean of nothing is NaN.
Expr Reduced(const Expr& loss, int64_t reduction);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_LOSSES_H_
