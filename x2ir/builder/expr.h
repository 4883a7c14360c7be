// Formulas as graph: Log(x * 2 + y). An Expr is a value together with the builder that makes the
// nodes of what is computed from it; it goes wherever a Value* goes. Numbers take the element type
// of what they stand beside. Everything here is by element, broadcasts, and is of IR's own ops; the
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
  Expr Op(Symbol op, std::vector<Value*> others = {}, AttributeMap attrs = {}) const;
  // Of that element type: itself when it is, or when the type is not known.
  Expr To(DType type) const;
  // A number of this element type, rank 0. Fails for types that arithmetic does not know.
  Expr Number(double number) const;

 private:
  Builder* b_ = nullptr;
  Value* value_ = nullptr;
};

// Constants: int64 of rank 0 and of rank 1.
inline Expr Int(Builder& b, int64_t value) { return {b, b.Int(value)}; }
inline Expr Ints(Builder& b, absl::Span<const int64_t> values) { return {b, b.Ints(values)}; }

#define X2IR_EXPR_BINARY_(name, op)                                             \
  inline Expr name(const Expr& a, const Expr& b) { return a.Op(op, {b}); }      \
  inline Expr name(const Expr& a, double b) { return a.Op(op, {a.Number(b)}); } \
  inline Expr name(double a, const Expr& b) { return b.Number(a).Op(op, {b}); }
X2IR_EXPR_BINARY_(operator+, "add")
X2IR_EXPR_BINARY_(operator-, "sub")
X2IR_EXPR_BINARY_(operator*, "mul")
X2IR_EXPR_BINARY_(operator/, "div")
X2IR_EXPR_BINARY_(operator<, "less")
X2IR_EXPR_BINARY_(operator<=, "less_or_equal")
X2IR_EXPR_BINARY_(operator>, "greater")
X2IR_EXPR_BINARY_(operator>=, "greater_or_equal")
X2IR_EXPR_BINARY_(operator==, "equal")
X2IR_EXPR_BINARY_(Min, "min")
X2IR_EXPR_BINARY_(Max, "max")
X2IR_EXPR_BINARY_(Pow, "pow")
#undef X2IR_EXPR_BINARY_
// The remainder: of floats with the sign of a, as C's fmod, of integers with that of b.
Expr Mod(const Expr& a, const Expr& b);
inline Expr Mod(const Expr& a, double b) { return Mod(a, a.Number(b)); }

inline Expr operator-(const Expr& x) { return x.Op("neg"); }
// Of bools. (Not && and ||: the built-in ones look at one side first.)
inline Expr Not(const Expr& x) { return x.Op("not"); }
// Not "is there no operand", as it is of a pointer, nor Not().
bool operator!(const Expr& x) = delete;
inline Expr operator&(const Expr& a, const Expr& b) { return a.Op("and", {b}); }
inline Expr operator|(const Expr& a, const Expr& b) { return a.Op("or", {b}); }
inline Expr operator^(const Expr& a, const Expr& b) { return a.Op("xor", {b}); }
inline Expr Where(const Expr& test, const Expr& a, const Expr& b) {
  return test.Op("where", {a, b});
}
inline Expr Where(const Expr& test, const Expr& a, double b) { return Where(test, a, a.Number(b)); }
inline Expr Where(const Expr& test, double a, const Expr& b) { return Where(test, b.Number(a), b); }

#define X2IR_EXPR_UNARY_(name, op) \
  inline Expr name(const Expr& x) { return x.Op(op); }
X2IR_EXPR_UNARY_(Abs, "abs")
X2IR_EXPR_UNARY_(Sign, "sign")
X2IR_EXPR_UNARY_(Exp, "exp")
X2IR_EXPR_UNARY_(Log, "log")
X2IR_EXPR_UNARY_(Sqrt, "sqrt")
X2IR_EXPR_UNARY_(Sin, "sin")
X2IR_EXPR_UNARY_(Cos, "cos")
X2IR_EXPR_UNARY_(Floor, "floor")
X2IR_EXPR_UNARY_(Ceil, "ceil")
X2IR_EXPR_UNARY_(Round, "round")  // halves to even
X2IR_EXPR_UNARY_(Reciprocal, "reciprocal")
X2IR_EXPR_UNARY_(IsNan, "is_nan")
X2IR_EXPR_UNARY_(IsInf, "is_inf")
#undef X2IR_EXPR_UNARY_
inline Expr Square(const Expr& x) { return x * x; }

// x * factor and x + shift; x itself where nothing would change.
inline Expr Scaled(const Expr& x, double factor) { return factor == 1 ? x : x * factor; }
inline Expr Shifted(const Expr& x, double shift) { return shift == 0 ? x : x + shift; }
// Between bounds, by max and min, which runtimes have for more types than clip.
inline Expr Clip(const Expr& x, const Expr& low, const Expr& high) {
  return Min(Max(x, low), high);
}
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
