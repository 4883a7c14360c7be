#include "x2ir/handlers/stablehlo/windows.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/core/read_through.h"

namespace x2ir {

std::vector<int64_t> IntsOr(StablehloArgs& a, Symbol name, size_t count, int64_t number) {
  std::vector<int64_t> numbers = a.IntList(name, {});
  if (numbers.empty()) numbers.assign(count, number);
  if (numbers.size() != count) {
    a.Fail(Invalid("attribute ", name.view(), " has ", numbers.size(), " numbers, not ", count));
  }
  return numbers;
}

bool Sliding::IsIdle(size_t i) const {
  return size[i] == 1 && strides[i] == 1 && base_dilations[i] == 1 && low[i] == 0 && high[i] == 0;
}
bool Sliding::IsDilated() const {
  return std::any_of(base_dilations.begin(), base_dilations.end(),
                     [](int64_t n) { return n != 1; });
}
bool Sliding::HasNegativePadding() const {
  const auto negative = [](int64_t n) { return n < 0; };
  return std::any_of(low.begin(), low.end(), negative) ||
         std::any_of(high.begin(), high.end(), negative);
}

void CheckSliding(StablehloArgs& a, const Sliding& s) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  const auto within = [](const std::vector<int64_t>& numbers, int64_t least) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t n) { return n >= least && n <= kLimit; });
  };
  if (!within(s.size, 1) || !within(s.strides, 1) || !within(s.base_dilations, 1) ||
      !within(s.dilations, 1) || !within(s.low, -kLimit) || !within(s.high, -kLimit)) {
    a.Fail(Invalid("a window without a size, a step or a dilation, or one that is too large"));
  }
}

void SetPadding(StablehloArgs& a, Sliding& s, const std::vector<int64_t>& pairs) {
  if (pairs.size() != 2 * s.rank()) {
    a.Fail(Invalid("padding has ", pairs.size(), " numbers, not ", 2 * s.rank()));
  }
  s.low.clear();
  s.high.clear();
  for (size_t i = 0; i < s.rank(); ++i) {
    s.low.push_back(pairs[2 * i]);
    s.high.push_back(pairs[2 * i + 1]);
  }
}

Sliding TakeSliding(StablehloArgs& a, std::vector<int64_t> size, Symbol base_dilations,
                    Symbol dilations) {
  const size_t n = size.size();
  Sliding s;
  s.size = std::move(size);
  s.strides = IntsOr(a, "window_strides", n, 1);
  s.base_dilations = IntsOr(a, base_dilations, n, 1);
  s.dilations = IntsOr(a, dilations, n, 1);
  SetPadding(a, s, IntsOr(a, "padding", 2 * n, 0));
  CheckSliding(a, s);
  return s;
}

Expr PadHlo(StablehloArgs& a, const Expr& x, const Expr& value, std::vector<int64_t> low,
            std::vector<int64_t> high, std::vector<int64_t> between) {
  const auto all_zero = [](const std::vector<int64_t>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](int64_t n) { return n == 0; });
  };
  if (all_zero(low) && all_zero(high) && all_zero(between)) return x;
  return {a.b(), ReadThrough(a, StablehloDialect::kName, 1, "pad", {x, value},
                             {{"edge_padding_low", std::move(low)},
                              {"edge_padding_high", std::move(high)},
                              {"interior_padding", std::move(between)}},
                             {{true, Type::Tensor(x.dtype())}})[0]};
}

Expr PadBase(StablehloArgs& a, const Expr& x, const Expr& value, Sliding& s) {
  std::vector<int64_t> between;
  for (int64_t& dilation : s.base_dilations) between.push_back(std::exchange(dilation, 1) - 1);
  const std::vector<int64_t> none(s.rank(), 0);
  return PadHlo(a, x, value, std::exchange(s.low, none), std::exchange(s.high, none),
                std::move(between));
}

Expr ZeroOf(Builder& b, DType t) {
  if (!IsComplex(t)) return {b, b.Constant(Tensor::Zeros(t, {}))};
  const Expr zero(b, b.Constant(Tensor::Zeros(PartType(t), {})));
  return zero.Op("complex", {zero});
}

std::optional<Expr> EmptyResult(StablehloArgs& a, size_t i) {
  const Shape* shape = a.node().output(i) ? a.out_type(i).shape() : nullptr;
  for (int64_t k = 0; shape && k < shape->rank(); ++k) {
    if ((*shape)[k] == Dim(0)) return Zeros(a, a.out_dtype(i), a.OutSizes(i));
  }
  return std::nullopt;
}

Expr BackToFront(const Expr& x, int64_t axis) { return Slice(x, axis, -1, INT64_MIN, Size(-1)); }

// Quotients are rounded towards zero: of a window that does not fit they would be 0.
Size WindowCount(Builder& b, const Size& size, int64_t extent, int64_t stride) {
  const Size room = Plus(b, Minus(b, size, extent), stride);
  return Divided(b, Larger(b, room, 0), stride);
}

}  // namespace x2ir
