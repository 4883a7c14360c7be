#include "x2ir/handlers/nnvm/elementwise.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/special_functions.h"

namespace x2ir {
namespace {

// Numbers of that type where the function gives bools.
Value* InType(const Expr& y, DType t) {
  return y.dtype() == DType::kBool && t != DType::kUndefined ? y.To(t).value() : y.value();
}

}  // namespace

std::function<Value*(SymbolArgs&)> Unary(UnaryFn fn) {
  return [fn](SymbolArgs& a) { return InType(fn(a.in(0)), a.dtype()); };
}

std::function<Value*(SymbolArgs&)> Binary(BinaryFn fn) {
  return [fn](SymbolArgs& a) {
    const DType t = a.dtype(0);
    Expr x = a.in(0), y = a.in(1);
    // MXNet's operators of two take one type; what shape arithmetic makes of integers here may
    // meet floats.
    if (t != y.dtype() && t != DType::kUndefined && y.dtype() != DType::kUndefined) {
      const DType wide = IsFloating(y.dtype()) && !IsFloating(t) ? y.dtype() : t;
      x = x.To(wide);
      y = y.To(wide);
    }
    return InType(fn(x, y), x.dtype());
  };
}

std::function<Value*(SymbolArgs&)> WithScalar(BinaryFn fn, bool reversed) {
  return [fn, reversed](SymbolArgs& a) {
    Expr x = a.in(0);
    const double number = a.Number("scalar", 1);
    // Since 1.8 the file says whether the number is an integer; integers beside another one become
    // floats.
    const bool is_int = a.Flag("is_int", true);
    DType t = a.dtype();
    if (t == DType::kBool) x = x.To(is_int ? DType::kInt32 : DType::kFloat32);
    if (IsInteger(t) && !is_int) x = x.To(DType::kFloat32);
    t = x.dtype();
    const Expr scalar(a, a.b().Scalar(t == DType::kUndefined ? DType::kFloat32 : t, number));
    return InType(reversed ? fn(scalar, x) : fn(x, scalar), t);
  };
}

namespace symbol {

Expr Plus(const Expr& a, const Expr& b) { return a + b; }
Expr Minus(const Expr& a, const Expr& b) { return a - b; }
Expr Times(const Expr& a, const Expr& b) { return a * b; }
Expr Divide(const Expr& a, const Expr& b) { return a / b; }
Expr FloorMod(const Expr& a, const Expr& b) {
  if (IsInteger(a.dtype())) {
    const Expr divisor = Where(b == 0.0, 1.0, b);
    return Where(b == 0.0, 0.0, Mod(a, divisor));
  }
  const Expr rest = Mod(a, b);
  const Expr wrong = Not(rest == 0.0) & ((rest < 0.0) ^ (b < 0.0));
  return Where(b == 0.0, 0.0, Where(wrong, rest + b, rest));
}
Expr Power(const Expr& a, const Expr& b) { return Pow(a, b); }
Expr Maximum(const Expr& a, const Expr& b) { return Max(a, b); }
Expr Minimum(const Expr& a, const Expr& b) { return Min(a, b); }
Expr Hypot(const Expr& a, const Expr& b) {
  // In a wider type, whose squares do not overflow.
  const DType t = a.dtype(), wide = t == DType::kFloat32 ? DType::kFloat64 : DType::kFloat32;
  if (t != DType::kFloat32 && t != DType::kFloat16) return Sqrt(Square(a) + Square(b));
  return Sqrt(Square(a.To(wide)) + Square(b.To(wide))).To(t);
}
Expr Equal(const Expr& a, const Expr& b) { return a == b; }
Expr NotEqual(const Expr& a, const Expr& b) { return Not(a == b); }
Expr Greater(const Expr& a, const Expr& b) { return a > b; }
Expr GreaterEqual(const Expr& a, const Expr& b) { return a >= b; }
Expr Less(const Expr& a, const Expr& b) { return a < b; }
Expr LessEqual(const Expr& a, const Expr& b) { return a <= b; }
Expr LogicalAnd(const Expr& a, const Expr& b) { return IsTrue(a) & IsTrue(b); }
Expr LogicalOr(const Expr& a, const Expr& b) { return IsTrue(a) | IsTrue(b); }
Expr LogicalXor(const Expr& a, const Expr& b) { return IsTrue(a) ^ IsTrue(b); }
Expr RoundAway(const Expr& x) { return Sign(x) * RoundHalfUp(Abs(x)); }
Expr Trunc(const Expr& x) { return Where(x < 0.0, Ceil(x), Floor(x)); }
Expr Cbrt(const Expr& x) {
  const Expr wide = x.To(DType::kFloat64);
  return (Sign(wide) * Pow(Abs(wide), 1.0 / 3)).To(x.dtype());
}
Expr Gamma(const Expr& x) {
  const Expr wide = x.To(DType::kFloat64), whole = Floor(wide);
  // Below 0 the sign changes from one integer to the next.
  const Expr odd = Not(Mod(whole, 2) == 0.0) & (wide < 0.0);
  const Expr size = Exp(Lgamma(wide));
  return Where(odd, -size, size).To(x.dtype());
}
Expr LogicalNot(const Expr& x) { return Not(IsTrue(x)); }

}  // namespace symbol

Value* AddAll(SymbolArgs& a) {
  Expr sum = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) sum = sum + a.in(i);
  return a.num_inputs() == 1 ? a.Op("identity", {sum}) : sum;
}

Value* SameValue(SymbolArgs& a) { return a.Op("identity", {a.in(0)}); }

}  // namespace x2ir
