// Formulas as graph: Log(x * 2 + y). An Expr is a value together with the builder that makes the
// nodes of what is computed from it; it goes wherever a Value* goes. Numbers take the element type
// of the other operand. Everything here is by element, broadcasts, and is of IR's own ops; the
// tensors that are operated on as a whole are in shapes.h and arrays.h.
//
// An operand that is a Value* is written {b, x}: Sqrt({b, x}). What a framework's handlers see of a
// node converts to its builder, so there it is {c, x} or {a, x}.
#ifndef X2IR_BUILDER_EXPR_H_
#define X2IR_BUILDER_EXPR_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"

namespace X2IR_API x2ir {

class Expr {
 public:
  Expr(Builder& b, Value* value) : b_(&b), value_(value) {}
  Expr(std::nullptr_t) {}  // NOLINT: implicit; an operand that is left out

  Builder& builder() const { return *b_; }
  Value* value() const { return value_; }
  operator Value*() const { return value_; }  // NOLINT: implicit by design
  Value* operator->() const { return value_; }
  DType dtype() const { return value_->dtype(); }
  // Fails the builder where it is not known, and gives 0.
  int64_t rank() const;

  // An op with this as its first operand.
  Expr Op(Symbol op, Builder::Operands others = {}, AttributeMap attrs = {}) const;
  // Of that element type: itself when it is, or when the type is not known.
  Expr To(DType type) const;
  // A number of this element type, rank 0. Fails for types that arithmetic does not know.
  Expr Number(double number) const;

 private:
  Builder* b_ = nullptr;
  Value* value_ = nullptr;
};

// Constants: int64 of rank 0 and of rank 1.
Expr Int(Builder& b, int64_t value);
Expr Ints(Builder& b, absl::Span<const int64_t> values);

// By element, of two tensors or of a tensor and a number.
#define X2IR_EXPR_BINARY_(name)            \
  Expr name(const Expr& a, const Expr& b); \
  Expr name(const Expr& a, double b);      \
  Expr name(double a, const Expr& b);
X2IR_EXPR_BINARY_(operator+)
X2IR_EXPR_BINARY_(operator-)
X2IR_EXPR_BINARY_(operator*)
X2IR_EXPR_BINARY_(operator/)
X2IR_EXPR_BINARY_(operator<)
X2IR_EXPR_BINARY_(operator<=)
X2IR_EXPR_BINARY_(operator>)
X2IR_EXPR_BINARY_(operator>=)
X2IR_EXPR_BINARY_(operator==)
X2IR_EXPR_BINARY_(Min)
X2IR_EXPR_BINARY_(Max)
X2IR_EXPR_BINARY_(Pow)
#undef X2IR_EXPR_BINARY_
// The remainder: of floats with the sign of a, as C's fmod, of integers with that of b.
Expr Mod(const Expr& a, const Expr& b);
Expr Mod(const Expr& a, double b);

Expr operator-(const Expr& x);
// Of bools. (Not && and ||: the built-in ones evaluate one operand first.)
Expr Not(const Expr& x);
// Not "is there no operand", as it is of a pointer, nor Not().
bool operator!(const Expr& x) = delete;
Expr operator&(const Expr& a, const Expr& b);
Expr operator|(const Expr& a, const Expr& b);
Expr operator^(const Expr& a, const Expr& b);
Expr Where(const Expr& test, const Expr& a, const Expr& b);
Expr Where(const Expr& test, const Expr& a, double b);
Expr Where(const Expr& test, double a, const Expr& b);

Expr Abs(const Expr& x);
Expr Sign(const Expr& x);
Expr Exp(const Expr& x);
Expr Log(const Expr& x);
Expr Sqrt(const Expr& x);
Expr Sin(const Expr& x);
Expr Cos(const Expr& x);
Expr Floor(const Expr& x);
Expr Ceil(const Expr& x);
Expr Round(const Expr& x);  // halves to even
Expr Reciprocal(const Expr& x);
Expr IsNan(const Expr& x);
Expr IsInf(const Expr& x);
Expr Square(const Expr& x);

// x * factor and x + shift; x itself where nothing would change.
Expr Scaled(const Expr& x, double factor);
Expr Shifted(const Expr& x, double shift);
// Between bounds, by max and min, which runtimes have for more types than clip.
Expr Clip(const Expr& x, const Expr& low, const Expr& high);
// To the nearest integer, halves away from zero, for what is not negative.
Expr RoundHalfUp(const Expr& x);
// Whether the sign bit is set, that of -0 included.
Expr SignBit(const Expr& x);
// log(1 + x) and exp(x) - 1, with every digit near 0.
Expr Log1p(const Expr& x);
Expr Expm1(const Expr& x);
// log(1 / (1 + exp(-x))).
Expr LogSigmoid(const Expr& x);

}  // namespace x2ir

#endif  // X2IR_BUILDER_EXPR_H_
