// What handlers of neural network layers share: arithmetic in one element type, sizes that may be
// computed, windows.
#ifndef X2IR_HANDLERS_TORCH_LAYERS_H_
#define X2IR_HANDLERS_TORCH_LAYERS_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

using TorchSize = TorchCall::Size;

// Whether somebody uses output i.
inline bool Wants(const TorchCall& c, size_t i) {
  return i < c.num_outputs() && c.node().output(i) != nullptr;
}
// The values of a call of which only output 0 can be had; Fail()s where another one is wanted.
Values FirstAlone(TorchCall& c, Value* first);
// Fail()s, telling what it is, unless x is of a floating type (complex is none).
void RequireFloat(TorchCall& c, const Value* x);

// The type that PyTorch computes in: float32 for the halves.
inline DType ComputeTypeFor(DType t) {
  return t == DType::kFloat16 || t == DType::kBFloat16 ? DType::kFloat32 : t;
}
// Whether float32, which attributes are, holds the number exactly enough for results of type t.
inline bool FitsAttribute(DType t, double number) {
  return t != DType::kFloat64 || static_cast<double>(static_cast<float>(number)) == number;
}

// The distance from 1 to the next number: torch.finfo's eps, of what PyTorch computes in.
inline double EpsilonOf(DType t) {
  return t == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                              : std::numeric_limits<float>::epsilon();
}

// Arithmetic of tensors of one type.
class TorchMath {
 public:
  TorchMath(TorchCall& c, DType t) : c_(c), t_(t) {}

  DType type() const { return t_; }
  Value* N(double number) { return c_.Constant(t_, number); }
  Value* In(Value* x) { return c_.Cast(x, t_); }

  Value* Add(Value* a, Value* b) { return c_.Op("add", {a, b}); }
  Value* Sub(Value* a, Value* b) { return c_.Op("sub", {a, b}); }
  Value* Mul(Value* a, Value* b) { return c_.Op("mul", {a, b}); }
  Value* Div(Value* a, Value* b) { return c_.Op("div", {a, b}); }
  Value* Add(Value* a, double b) { return b == 0 ? a : Add(a, N(b)); }
  Value* Sub(Value* a, double b) { return b == 0 ? a : Sub(a, N(b)); }
  Value* Mul(Value* a, double b) { return b == 1 ? a : Mul(a, N(b)); }
  Value* Div(Value* a, double b) { return b == 1 ? a : Div(a, N(b)); }
  Value* Max(Value* a, Value* b) { return c_.Op("max", {a, b}); }
  Value* Min(Value* a, Value* b) { return c_.Op("min", {a, b}); }
  Value* Un(std::string_view op, Value* x) { return c_.Op(op, {x}); }
  Value* Where(Value* test, Value* a, Value* b) { return c_.Op("where", {test, a, b}); }
  Value* Less(Value* a, double b) { return c_.Op("less", {a, N(b)}); }
  Value* LessOrEqual(Value* a, double b) { return c_.Op("less_or_equal", {a, N(b)}); }
  Value* Greater(Value* a, double b) { return c_.Op("greater", {a, N(b)}); }
  Value* GreaterOrEqual(Value* a, double b) { return c_.Op("greater_or_equal", {a, N(b)}); }
  // "sum", "mean", "max", ... over the axes, which must not be empty.
  Value* Reduce(std::string_view how, Value* x, const std::vector<int64_t>& axes,
                bool keepdims = true);

 private:
  TorchCall& c_;
  DType t_;
};

// --- Sizes ----------------------------------------------------------------------------------

TorchSize SizeAt(TorchCall& c, Value* x, int64_t axis);
std::vector<TorchSize> SizesAt(TorchCall& c, Value* x, int64_t from, int64_t to);
TorchSize Times(TorchCall& c, const TorchSize& a, const TorchSize& b);
TorchSize Times(TorchCall& c, const std::vector<TorchSize>& all);
TorchSize DividedBy(TorchCall& c, const TorchSize& a, int64_t divisor);  // it divides a
Value* ValueOf(TorchCall& c, const TorchSize& size);                     // int64, rank 0
Value* ReshapeTo(TorchCall& c, Value* x, const std::vector<TorchSize>& sizes);
// A tensor of that shape, all elements `number`.
Value* Filled(TorchCall& c, DType t, const std::vector<TorchSize>& sizes, double number);
// Sizes of [from, to) where they are all known, else nullopt.
std::optional<std::vector<int64_t>> KnownSizes(const Value* x, int64_t from, int64_t to);

// x of rank spatial + 2, a batch of one being put before it where it has none.
struct Batched {
  Value* x;
  bool added;
};
Batched AddBatch(TorchCall& c, Value* x, int64_t spatial);
// y without the batch that was added.
Value* DropBatch(TorchCall& c, Value* y, const Batched& batched);

// Rank-1 constant of float64 numbers rounded to t, of these dims.
Value* NumbersTensor(TorchCall& c, DType t, std::vector<int64_t> dims,
                     const std::vector<double>& values);
// 0, step, 2 * step, ... (count of them)
std::vector<int64_t> CountedFrom(int64_t start, int64_t count, int64_t step = 1);

// --- Windows --------------------------------------------------------------------------------

struct TorchWindow {
  std::vector<int64_t> kernel, stride, padding, dilation;  // one number a spatial axis
  size_t rank() const { return kernel.size(); }
};
std::vector<int64_t> Twice(const std::vector<int64_t>& padding);  // pads of both ends
// Constant padding of the last axes of x: begins, then ends.
Value* PadEnds(TorchCall& c, Value* x, const std::vector<int64_t>& pads, Value* with);
// The windows of x, [N, C, spatial...], which is padded already: [N, C, K, positions...], K being
// the elements of the kernel in order. Sizes need not be known.
Value* Patches(TorchCall& c, Value* padded, const TorchWindow& window);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_LAYERS_H_
