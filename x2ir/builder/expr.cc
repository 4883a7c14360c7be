#include "x2ir/builder/expr.h"

#include "absl/container/inlined_vector.h"

namespace x2ir {

int64_t Expr::rank() const {
  if (value_->shape()) return value_->shape()->rank();
  b_->Fail(Unimplemented("needs operands of known rank"));
  return 0;
}

Expr Expr::Op(Symbol op, Builder::Operands others, AttributeMap attrs) const {
  absl::InlinedVector<Value*, 4> operands = {value_};
  operands.insert(operands.end(), others.begin(), others.end());
  return {*b_, b_->Op(op, operands, std::move(attrs))};
}

Expr Expr::To(DType type) const {
  if (type == dtype() || type == DType::kUndefined) return *this;
  return Op("cast", {}, {{"to", Name(type)}});
}

Expr Expr::Number(double number) const {
  DType type = dtype();
  if (!IsFloating(type) && !IsInteger(type) && type != DType::kBool) {
    b_->Fail(Unimplemented("arithmetic of ", Name(type)));
    type = DType::kFloat32;
  }
  return {*b_, b_->Scalar(type, number)};
}

Expr Int(Builder& b, int64_t value) { return {b, b.Int(value)}; }
Expr Ints(Builder& b, absl::Span<const int64_t> values) { return {b, b.Ints(values)}; }

#define X2IR_EXPR_BINARY_(name, op)                                      \
  Expr name(const Expr& a, const Expr& b) { return a.Op(op, {b}); }      \
  Expr name(const Expr& a, double b) { return a.Op(op, {a.Number(b)}); } \
  Expr name(double a, const Expr& b) { return b.Number(a).Op(op, {b}); }
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
Expr operator&(const Expr& a, const Expr& b) { return a.Op("and", {b}); }
Expr operator|(const Expr& a, const Expr& b) { return a.Op("or", {b}); }
Expr operator^(const Expr& a, const Expr& b) { return a.Op("xor", {b}); }
Expr Where(const Expr& test, const Expr& a, const Expr& b) { return test.Op("where", {a, b}); }
Expr Where(const Expr& test, const Expr& a, double b) { return Where(test, a, a.Number(b)); }
Expr Where(const Expr& test, double a, const Expr& b) { return Where(test, b.Number(a), b); }

#define X2IR_EXPR_UNARY_(name, op) \
  Expr name(const Expr& x) { return x.Op(op); }
X2IR_EXPR_UNARY_(operator-, "neg")
X2IR_EXPR_UNARY_(Not, "not")
X2IR_EXPR_UNARY_(Abs, "abs")
X2IR_EXPR_UNARY_(Sign, "sign")
X2IR_EXPR_UNARY_(Exp, "exp")
X2IR_EXPR_UNARY_(Log, "log")
X2IR_EXPR_UNARY_(Sqrt, "sqrt")
X2IR_EXPR_UNARY_(Sin, "sin")
X2IR_EXPR_UNARY_(Cos, "cos")
X2IR_EXPR_UNARY_(Floor, "floor")
X2IR_EXPR_UNARY_(Ceil, "ceil")
X2IR_EXPR_UNARY_(Round, "round")
X2IR_EXPR_UNARY_(Reciprocal, "reciprocal")
X2IR_EXPR_UNARY_(IsNan, "is_nan")
X2IR_EXPR_UNARY_(IsInf, "is_inf")
#undef X2IR_EXPR_UNARY_
Expr Square(const Expr& x) { return x * x; }
Expr Scaled(const Expr& x, double factor) { return factor == 1 ? x : x * factor; }
Expr Shifted(const Expr& x, double shift) { return shift == 0 ? x : x + shift; }
Expr Clip(const Expr& x, const Expr& low, const Expr& high) { return Min(Max(x, low), high); }
Expr Mod(const Expr& a, double b) { return Mod(a, a.Number(b)); }

Expr Mod(const Expr& a, const Expr& b) {
  return a.Op("mod", {b}, {{"fmod", IsFloating(a.dtype())}});
}

Expr RoundHalfUp(const Expr& x) {
  const Expr floor = Floor(x);
  return Where(x - floor >= 0.5, floor + 1, floor);
}

Expr SignBit(const Expr& x) { return (x < 0) | ((x == 0) & (1 / x < 0)); }

// Where 1 + x loses digits of x, its rounding error is put right (Kahan).
Expr Log1p(const Expr& x) {
  const Expr one = x.Number(1), u = x + one;
  const Expr change = u - one, log = Log(u);
  const Expr corrected = log * (x / change);
  return Where(change == 0, x, Where(IsInf(u), log, corrected));
}

Expr Expm1(const Expr& x) {
  const Expr u = Exp(x);
  const Expr inner = (Abs(x) < 1) & Not(u == 1);
  const Expr safe = Where(inner, u, 2);
  return Where(u == 1, x, Where(inner, (safe - 1) * x / Log(safe), u - 1));
}

Expr LogSigmoid(const Expr& x) { return Min(x, 0) - Log1p(Exp(-Abs(x))); }

}  // namespace x2ir
