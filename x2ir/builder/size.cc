#include "x2ir/builder/size.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "x2ir/builder/shapes.h"

namespace x2ir {
namespace {

// Nothing where it overflows or is not defined.
std::optional<int64_t> Computed(std::string_view op, int64_t x, int64_t y) {
  int64_t result = 0;
  bool defined = true;
  if (op == "add") {
    defined = !__builtin_add_overflow(x, y, &result);
  } else if (op == "sub") {
    defined = !__builtin_sub_overflow(x, y, &result);
  } else if (op == "mul") {
    defined = !__builtin_mul_overflow(x, y, &result);
  } else if (op == "max") {
    result = std::max(x, y);
  } else if (y == 0 || y == -1) {
    defined = y == -1 && op == "div" && x != INT64_MIN;
    result = defined ? -x : 0;
  } else if (op == "div") {
    result = x / y;
  } else {
    result = x % y;
    if (result != 0 && (result < 0) != (y < 0)) result += y;
  }
  return defined ? std::optional(result) : std::nullopt;
}

bool IsVector(const Size& size) {
  return size.value && size.value->shape() && size.value->shape()->rank() == 1;
}

Size Compute(Builder& b, std::string_view op, const Size& x, const Size& y) {
  if (x.number && y.number) {
    if (const auto result = Computed(op, *x.number, *y.number)) return *result;
    b.Fail(Invalid("sizes ", *x.number, " and ", *y.number, ": their '", op, "' is no size"));
    return 1;
  }
  if ((op == "add" || op == "sub") && y.number == 0) return x;
  if (op == "add" && x.number == 0) return y;
  if ((op == "mul" || op == "div") && y.number == 1) return x;
  if (op == "mul" && x.number == 1) return y;
  const bool vectors = IsVector(x) || IsVector(y);
  const auto operand = [&](const Size& size) -> Value* {
    return !size.number ? size.value : vectors ? b.Ints({*size.number}) : b.Int(*size.number);
  };
  return b.Op(op, {operand(x), operand(y)});
}

}  // namespace

Size SizeAt(const Expr& x, int64_t axis) {
  if (const Dim dim = DimAt(x, axis); dim.is_static()) return dim.value();
  return SizeOf(x, axis);
}
std::vector<Size> SizesAt(const Expr& x, int64_t from, int64_t to) {
  std::vector<Size> sizes;
  for (int64_t i = from; i < to; ++i) sizes.push_back(SizeAt(x, i));
  return sizes;
}
std::vector<Size> AllSizes(const Expr& x) { return SizesAt(x, 0, x.rank()); }

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
std::optional<std::vector<int64_t>> KnownSizes(const Value* x) {
  return x->shape() ? x->shape()->Static() : std::nullopt;
}

Size Plus(Builder& b, const Size& x, const Size& y) { return Compute(b, "add", x, y); }
Size Minus(Builder& b, const Size& x, const Size& y) { return Compute(b, "sub", x, y); }
Size Times(Builder& b, const Size& x, const Size& y) { return Compute(b, "mul", x, y); }
Size Product(Builder& b, const std::vector<Size>& all) {
  Size product = 1;
  for (const Size& size : all) product = Times(b, product, size);
  return product;
}
Size Divided(Builder& b, const Size& x, const Size& y) { return Compute(b, "div", x, y); }
Size DividedBy(Builder& b, const Size& x, int64_t exact) {
  if (exact <= 0 || (x.number && *x.number % exact != 0)) {
    b.Fail(Invalid("a size of ", x.number.value_or(0), " is not divisible by ", exact));
    return x;
  }
  return Divided(b, x, exact);
}
Size Modulo(Builder& b, const Size& x, const Size& y) { return Compute(b, "mod", x, y); }
Size Larger(Builder& b, const Size& x, const Size& y) { return Compute(b, "max", x, y); }

Expr Scalar(Builder& b, const Size& size) {
  if (size.number) return Int(b, *size.number);
  return IsVector(size) ? Squeeze({b, size.value}, {0}) : Expr(b, size.value);
}
Expr Vector(Builder& b, const Size& size) {
  if (size.number) return Ints(b, {*size.number});
  return IsVector(size) ? Expr(b, size.value) : Unsqueeze({b, size.value}, {0});
}
Expr Vector(Builder& b, const std::vector<Size>& sizes) {
  // Adjacent numbers become one constant.
  std::vector<Value*> parts;
  std::vector<int64_t> run;
  const auto flush = [&] {
    if (!run.empty()) parts.push_back(b.Ints(run));
    run.clear();
  };
  for (const Size& size : sizes) {
    if (size.number) {
      run.push_back(*size.number);
    } else {
      flush();
      parts.push_back(Vector(b, size));
    }
  }
  flush();
  return parts.empty() ? Ints(b, {}) : Concat(b, std::move(parts), 0);
}

Expr ReshapeTo(const Expr& x, const std::vector<Size>& sizes) {
  std::vector<int64_t> known;
  bool rest = false;
  for (const Size& size : sizes) {
    if (size.number) known.push_back(*size.number);
    rest |= size.number == -1;
  }
  Builder& b = x.builder();
  if (known.size() == sizes.size()) return Reshape(x, known);
  return x.Op("reshape", {Vector(b, sizes)}, {{"allowzero", !rest}});
}
Expr Filled(Builder& b, DType t, const std::vector<Size>& sizes, double number) {
  const Expr element(b, b.Scalar(t, number));
  return Expand(element, Vector(b, sizes));
}
Expr Slice(const Expr& x, int64_t axis, const Size& start, const Size& end,
           const std::optional<Size>& step) {
  Builder& b = x.builder();
  std::vector<Value*> others = {Vector(b, start), Vector(b, end), b.Ints({axis})};
  if (step) others.push_back(Vector(b, *step));
  return x.Op("slice", std::move(others));
}
Expr SliceAt(const Expr& x, int64_t axis, int64_t i) {
  return Slice(x, axis, i, i == -1 ? kToEnd : i + 1);
}
Expr ElementAt(const Expr& x, int64_t axis, int64_t i) {
  return Squeeze(SliceAt(x, axis, i), {axis});
}

}  // namespace x2ir
