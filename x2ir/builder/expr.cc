#include "x2ir/builder/expr.h"

namespace x2ir {

int64_t Expr::rank() const {
  if (value_->shape()) return value_->shape()->rank();
  b_->Fail(Unimplemented("needs operands of known rank"));
  return 0;
}

Expr Expr::Op(Symbol op, std::vector<Value*> others, AttributeMap attrs) const {
  others.insert(others.begin(), value_);
  return {*b_, b_->Op(op, std::move(others), std::move(attrs))};
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
