// What handlers share: tests of types, and the windows of layers.
#ifndef X2IR_HANDLERS_TORCH_LAYERS_H_
#define X2IR_HANDLERS_TORCH_LAYERS_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

// The values of a call of which only output 0 can be had; Fail()s where another one is wanted.
Values FirstAlone(TorchCall& c, Value* first);
// Fail()s, telling what it is, unless x is of a floating type (complex is none).
void RequireFloat(TorchCall& c, const Value* x);

// Whether float32, which attributes are, holds the number exactly enough for results of type t.
inline bool FitsAttribute(DType t, double number) {
  return t != DType::kFloat64 || static_cast<double>(static_cast<float>(number)) == number;
}

// The distance from 1 to the next number: torch.finfo's eps, of what PyTorch computes in.
inline double EpsilonOf(DType t) {
  return t == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                              : std::numeric_limits<float>::epsilon();
}

// Which elements are NaN; null for types that have none.
inline Expr WhereNan(const Expr& x) { return IsFloating(x.dtype()) ? IsNan(x) : nullptr; }

// --- Windows --------------------------------------------------------------------------------

// x of rank spatial + 2, a batch of one being put before it where it has none.
struct Batched {
  Expr x;
  bool added;
};
Batched AddBatch(const Expr& x, int64_t spatial);
// y without the batch that was added.
Expr DropBatch(const Expr& y, const Batched& batched);

// Constant padding of the last axes of x: begins, then ends.
Expr PadEnds(const Expr& x, const std::vector<int64_t>& pads, Value* with);
// The windows of x, [N, C, spatial...], which is padded already: [N, C, K, positions...], K being
// the elements of the kernel in order. Sizes need not be known.
Expr Patches(const Expr& padded, const Window& window);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_LAYERS_H_
