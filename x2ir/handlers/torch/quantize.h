// What handlers of quantization share.
#ifndef X2IR_HANDLERS_TORCH_QUANTIZE_H_
#define X2IR_HANDLERS_TORCH_QUANTIZE_H_

#include <cstdint>
#include <optional>

#include "x2ir/builder/quantized.h"
#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

struct IntegerBounds {
  int64_t low, high;
};

// The call's results: x as the integers would leave it, and, where it is wanted, which elements
// were not cut off. `enabled`: a tensor that turns it on; null: it is on.
Values FakeQuantizedCall(TorchCall& c, const Expr& x, const QuantizationParams& steps,
                         const IntegerBounds& bounds, Value* enabled);

// Whether a tensor of one number is 0, or something else (1); nullopt where it is computed.
std::optional<int64_t> SwitchOf(const Value* value);

// A tensor of one element, with whatever axes, as one of rank 0.
Expr OneElement(const Expr& x);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_QUANTIZE_H_
