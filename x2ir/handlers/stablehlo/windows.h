// Windows that slide over tensors, as convolutions, pools and their gradients have them.
#ifndef X2IR_HANDLERS_STABLEHLO_WINDOWS_H_
#define X2IR_HANDLERS_STABLEHLO_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace X2IR_API x2ir {

// One number for each of `count` axes; an attribute that is left out is that number for all.
std::vector<int64_t> IntsOr(StablehloArgs& a, Symbol name, size_t count, int64_t number);

// How a window slides along each axis.
struct Sliding {
  std::vector<int64_t> size, strides, base_dilations, dilations, low, high;

  size_t rank() const { return size.size(); }
  int64_t extent(size_t i) const { return (size[i] - 1) * dilations[i] + 1; }
  // Whether it does nothing along an axis.
  bool IsIdle(size_t i) const;
  bool IsDilated() const;  // the base is
  bool HasNegativePadding() const;
};
// Fails for sizes, steps and dilations below 1, and for numbers too large to count with.
void CheckSliding(StablehloArgs& a, const Sliding& s);
// From the attributes "padding" (pairs), "window_strides" and those of the dilations by name.
Sliding TakeSliding(StablehloArgs& a, std::vector<int64_t> size, Symbol base_dilations,
                    Symbol dilations);
// The same with other padding.
void SetPadding(StablehloArgs& a, Sliding& s, const std::vector<int64_t>& pairs);

// x with its elements as far apart as `base_dilations` says, and padded; `s` has neither after it.
Expr PadBase(StablehloArgs& a, const Expr& x, const Expr& value, Sliding& s);
// The pad operation: elements before, after and between those of each axis.
Expr PadHlo(StablehloArgs& a, const Expr& x, const Expr& value, std::vector<int64_t> low,
            std::vector<int64_t> high, std::vector<int64_t> between);

// The number 0, of complex types too: rank 0.
Expr ZeroOf(Builder& b, DType t);
// The result, where the file declares that it has no elements.
std::optional<Expr> EmptyResult(StablehloArgs& a, size_t i = 0);

// An axis in reverse.
Expr BackToFront(const Expr& x, int64_t axis);
// How often a window of that extent fits along an axis.
Size WindowCount(Builder& b, const Size& size, int64_t extent, int64_t stride);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_WINDOWS_H_
