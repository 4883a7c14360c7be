// Sizes and positions: numbers where they are known at conversion, values of the graph where they
// are not. What takes a Size takes either.
#ifndef X2IR_BUILDER_SIZE_H_
#define X2IR_BUILDER_SIZE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

struct Size {
  std::optional<int64_t> number;
  Value* value =
      nullptr;  // where the number is not known: int64, of rank 0 or one element of rank 1

  Size() = default;
  Size(int n) : number(n) {}         // NOLINT: implicit by design
  Size(int64_t n) : number(n) {}     // NOLINT
  Size(Value* v) : value(v) {}       // NOLINT
  Size(const Expr& v) : value(v) {}  // NOLINT
};

// The size of an axis, and those of axes [from, to) or all, of a tensor whose rank is known.
Size SizeAt(const Expr& x, int64_t axis);
std::vector<Size> SizesAt(const Expr& x, int64_t from, int64_t to);
std::vector<Size> AllSizes(const Expr& x);
// Where they are all numbers.
std::optional<std::vector<int64_t>> KnownSizes(const Value* x, int64_t from, int64_t to);
std::optional<std::vector<int64_t>> KnownSizes(const Value* x);

// Arithmetic of numbers is done at once, and fails the builder where it overflows; that of values
// wraps. x + 0, x - 0, x * 1 and x / 1 are x.
Size Plus(Builder& b, const Size& x, const Size& y);
Size Minus(Builder& b, const Size& x, const Size& y);
Size Times(Builder& b, const Size& x, const Size& y);
Size Product(Builder& b, const std::vector<Size>& all);
Size Divided(Builder& b, const Size& x, const Size& y);  // towards zero; y is not 0
Size DividedBy(Builder& b, const Size& x,
               int64_t exact);                          // fails where it is known not to be exact
Size Modulo(Builder& b, const Size& x, const Size& y);  // with the sign of y, which is not 0
Size Larger(Builder& b, const Size& x, const Size& y);

// As an operand: int64, of rank 0, of rank 1, and all of them as one of rank 1.
Expr Scalar(Builder& b, const Size& size);
Expr Vector(Builder& b, const Size& size);
Expr Vector(Builder& b, const std::vector<Size>& sizes);

// x with other sizes; one of -1 is what is left. 0 is a size of 0, unless one is -1.
Expr ReshapeTo(const Expr& x, const std::vector<Size>& sizes);
// A tensor of these sizes, all elements `number`.
Expr Filled(Builder& b, DType t, const std::vector<Size>& sizes, double number);
// Elements [start, end) of an axis, or every step-th of them; what is negative counts from the end.
Expr Slice(const Expr& x, int64_t axis, const Size& start, const Size& end,
           const std::optional<Size>& step = std::nullopt);
inline constexpr int64_t kToEnd = INT64_MAX;
// Element i of an axis: SliceAt keeps the axis, with size 1; ElementAt removes it.
Expr SliceAt(const Expr& x, int64_t axis, int64_t i);
Expr ElementAt(const Expr& x, int64_t axis, int64_t i);

}  // namespace x2ir

#endif  // X2IR_BUILDER_SIZE_H_
