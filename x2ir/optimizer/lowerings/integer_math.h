// Arithmetic of sizes, positions and indices for lowerings: done at conversion if all operands are
// known, else by nodes of the model.
#ifndef X2IR_OPTIMIZER_LOWERINGS_INTEGER_MATH_H_
#define X2IR_OPTIMIZER_LOWERINGS_INTEGER_MATH_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/ops/rewrite.h"
#include "x2ir/optimizer/lowering_util.h"

namespace X2IR_API x2ir {

// int64, rank 1: known at conversion, or computed.
struct Integers {
  std::optional<std::vector<int64_t>> known;
  Value* computed = nullptr;  // when it is not known
};

class IntegerMath {
 public:
  explicit IntegerMath(Rewrite& r) : b_(r.b), target_(r.target) {}

  Integers Of(std::vector<int64_t> values) const { return {std::move(values), nullptr}; }
  // An integer operand of rank 0 or 1.
  Integers Read(Value* operand);
  // Sizes of some axes, or of [from, to), of x, whose rank is known.
  Integers Sizes(const Value* x, const std::vector<int64_t>& axes);
  Integers Sizes(const Value* x, int64_t from, int64_t to);
  Integers Size(const Value* x, int64_t axis) { return Sizes(x, axis, axis + 1); }

  // By element; an operand of one element is broadcast. They wrap. Div is towards zero, the
  // divisors are not 0.
  Integers Add(const Integers& a, const Integers& b) { return Binary("add", a, b); }
  Integers Sub(const Integers& a, const Integers& b) { return Binary("sub", a, b); }
  Integers Mul(const Integers& a, const Integers& b) { return Binary("mul", a, b); }
  Integers Div(const Integers& a, const Integers& b) { return Binary("div", a, b); }
  Integers Max(const Integers& a, const Integers& b) { return Binary("max", a, b); }
  Integers Min(const Integers& a, const Integers& b) { return Binary("min", a, b); }
  Integers At(const Integers& a, std::vector<int64_t> positions);
  Integers Concat(const Integers& a, const Integers& b);
  Integers Product(const Integers& a);  // of all, as one element
  // 0, 1, ... n-1; n is one element.
  Integers Positions(const Integers& n);

  Value* Get(const Integers& a, std::string_view hint = "");

  // For int64 of any shape, by nodes alone.
  Value* Maximum(Value* a, Value* b) { return Select(a, b, "greater", "max"); }
  Value* Minimum(Value* a, Value* b) { return Select(a, b, "less", "min"); }
  // Indices from the front: `size` is added to negative ones.
  Value* FromFront(Value* indices, const Integers& size);

 private:
  Integers Binary(std::string_view op, const Integers& a, const Integers& b);
  Value* Select(Value* a, Value* b, std::string_view compare, std::string_view op);

  Builder& b_;
  const Target& target_;
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERINGS_INTEGER_MATH_H_
