#include "x2ir/handlers/torch/layers.h"

#include <limits>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/window.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {

Values FirstAlone(TorchCall& c, Value* first) {
  Values values(c.num_outputs(), nullptr);
  if (!values.empty()) values[0] = first;
  for (size_t i = 1; i < values.size(); ++i) {
    if (Wants(c, i)) return c.Fail(Unimplemented("its result ", i, " has no mapping"));
  }
  return values;
}

void RequireFloat(TorchCall& c, const Value* x) {
  if (!IsFloating(x->dtype())) c.Fail(Unimplemented("of elements of type ", Name(x->dtype())));
}

Value* TorchMath::Reduce(std::string_view how, Value* x, const std::vector<int64_t>& axes,
                         bool keepdims) {
  return c_.Op(StrCat("reduce_", how), {x, c_.Int64s(axes)}, {{"keepdims", keepdims}});
}

// --- Sizes ----------------------------------------------------------------------------------

TorchSize SizeAt(TorchCall& c, Value* x, int64_t axis) {
  if (const auto known = KnownSizes(x, axis, axis + 1)) return {(*known)[0], nullptr};
  return {std::nullopt, c.SizeOf(x, axis)};
}
std::vector<TorchSize> SizesAt(TorchCall& c, Value* x, int64_t from, int64_t to) {
  std::vector<TorchSize> sizes;
  for (int64_t i = from; i < to; ++i) sizes.push_back(SizeAt(c, x, i));
  return sizes;
}
Value* ValueOf(TorchCall& c, const TorchSize& size) {
  return size.number ? c.Int64(*size.number) : size.value;
}
TorchSize Times(TorchCall& c, const TorchSize& a, const TorchSize& b) {
  int64_t product = 0;
  if (a.number && b.number) {
    if (__builtin_mul_overflow(*a.number, *b.number, &product)) {
      c.Fail(Invalid("a size overflows"));
    }
    return {product, nullptr};
  }
  if (a.number && *a.number == 1) return b;
  if (b.number && *b.number == 1) return a;
  return {std::nullopt, c.Op("mul", {ValueOf(c, a), ValueOf(c, b)})};
}
TorchSize Times(TorchCall& c, const std::vector<TorchSize>& all) {
  TorchSize product{1, nullptr};
  for (const TorchSize& size : all) product = Times(c, product, size);
  return product;
}
TorchSize DividedBy(TorchCall& c, const TorchSize& a, int64_t divisor) {
  if (divisor <= 0 || (a.number && *a.number % divisor != 0)) {
    c.Fail(Invalid("a size of ", a.number.value_or(0), " is not divisible by ", divisor));
    return a;
  }
  if (a.number) return {*a.number / divisor, nullptr};
  return {std::nullopt, c.Op("div", {a.value, c.Int64(divisor)})};
}
Value* ReshapeTo(TorchCall& c, Value* x, const std::vector<TorchSize>& sizes) {
  std::vector<int64_t> known;
  for (const TorchSize& size : sizes) {
    if (size.number) known.push_back(*size.number);
  }
  if (known.size() == sizes.size()) return c.Reshape(x, known);
  return c.Op("reshape", {x, c.SizesAsValue(sizes)}, {{"allowzero", 1}});
}
Value* Filled(TorchCall& c, DType t, const std::vector<TorchSize>& sizes, double number) {
  return c.Op("expand", {c.Constant(t, number), c.SizesAsValue(sizes)});
}
std::optional<std::vector<int64_t>> KnownSizes(const Value* x, int64_t from, int64_t to) {
  const Shape* shape = x->shape();
  if (!shape || from < 0 || to > shape->rank()) return std::nullopt;
  std::vector<int64_t> sizes;
  for (int64_t i = from; i < to; ++i) {
    if (!(*shape)[i].is_static()) return std::nullopt;
    sizes.push_back((*shape)[i].value());
  }
  return sizes;
}

Batched AddBatch(TorchCall& c, Value* x, int64_t spatial) {
  const int64_t rank = c.Rank(x);
  if (rank == spatial + 1) return {c.Unsqueeze(x, {0}), true};
  if (rank != spatial + 2) {
    c.Fail(Invalid("expected an input of rank ", spatial + 1, " or ", spatial + 2, ", got ", rank));
  }
  return {x, false};
}
Value* DropBatch(TorchCall& c, Value* y, const Batched& batched) {
  return batched.added ? c.Squeeze(y, {0}) : y;
}

Value* NumbersTensor(TorchCall& c, DType t, std::vector<int64_t> dims,
                     const std::vector<double>& values) {
  return NumbersAs(c.b(), t, std::move(dims), values);
}
std::vector<int64_t> CountedFrom(int64_t start, int64_t count, int64_t step) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(start + i * step);
  return numbers;
}

// --- Windows --------------------------------------------------------------------------------

std::vector<int64_t> Twice(const std::vector<int64_t>& padding) {
  std::vector<int64_t> pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

Value* PadEnds(TorchCall& c, Value* x, const std::vector<int64_t>& pads, Value* with) {
  bool none = true;
  for (const int64_t p : pads) none &= p == 0;
  if (none) return x;
  const int64_t n = static_cast<int64_t>(pads.size() / 2);
  return c.Op("pad", {x, c.Int64s(pads), with, c.Int64s(CountedFrom(c.Rank(x) - n, n))});
}

Value* Patches(TorchCall& c, Value* padded, const TorchWindow& window) {
  constexpr int64_t kMaxPieces = 1024;
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const int64_t n = static_cast<int64_t>(window.rank());
  const int64_t count = Product(window.kernel);
  if (count < 1 || count > kMaxPieces) {
    c.Fail(Unimplemented("a kernel of ", count, " elements, by slices"));
    return padded;
  }
  const std::vector<int64_t> axes = CountedFrom(2, n);
  std::vector<Value*> pieces;
  std::vector<int64_t> k(window.rank());
  do {
    std::vector<int64_t> starts, ends;
    for (size_t i = 0; i < window.rank(); ++i) {
      starts.push_back(k[i] * window.dilation[i]);
      const int64_t left = (window.kernel[i] - 1 - k[i]) * window.dilation[i];
      ends.push_back(left == 0 ? kEnd : -left);
    }
    Value* piece = c.Op("slice", {padded, c.Int64s(starts), c.Int64s(ends), c.Int64s(axes),
                                  c.Int64s(window.stride)});
    pieces.push_back(c.Unsqueeze(piece, {2}));
  } while (NextIndex(window.kernel, k));
  return pieces.size() == 1 ? pieces[0] : c.Op("concat", pieces, {{"axis", 2}});
}

}  // namespace x2ir
