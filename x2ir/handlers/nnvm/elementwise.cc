#include "x2ir/handlers/nnvm/elementwise.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/special_functions.h"

namespace x2ir {
namespace {

using namespace symbol;

bool SameShapes(const Value* x, const Value* y) {
  const Shape *p = x->shape(), *q = y->shape();
  if (!p || !q || p->rank() != q->rank()) return false;
  for (int64_t i = 0; i < p->rank(); ++i) {
    if (!ProvablyEqual((*p)[i], (*q)[i])) return false;
  }
  return true;
}

// Names of an operator of two tensors of one shape, of two that are broadcast, of a tensor and a
// number, and of a number and a tensor; empty: there is none.
struct OfTwo {
  std::string_view same, broadcast, scalar, reversed;
};

Value* WriteOfTwo(SymbolWriter& w, const OfTwo& names, Value* x, Value* y) {
  const int64_t rank_x = x->shape() ? x->shape()->rank() : -1,
                rank_y = y->shape() ? y->shape()->rank() : -1;
  if (const auto number = OneNumber(y); number && !names.scalar.empty() && rank_x >= rank_y) {
    return w.Nnvm(names.scalar, {x}, {{"scalar", NumberText(*number)}});
  }
  if (const auto number = OneNumber(x); number && !names.reversed.empty() && rank_y >= rank_x) {
    return w.Nnvm(names.reversed, {y}, {{"scalar", NumberText(*number)}});
  }
  return w.Nnvm(!names.same.empty() && SameShapes(x, y) ? names.same : names.broadcast, {x, y});
}

std::function<Value*(SymbolWriter&)> ToOfTwo(OfTwo names) {
  return [names](SymbolWriter& w) { return WriteOfTwo(w, names, w.in(0), w.in(1)); };
}

// Of any number of operands.
std::function<Value*(SymbolWriter&)> ToOfMany(OfTwo names, Symbol op) {
  return [names, op](SymbolWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Nnvm("copy", {w.in(0)});
    return WriteOfTwo(w, names, w.FoldedButLast(op), w.in(w.num_inputs() - 1));
  };
}

// Numbers there are bools here.
std::function<absl::StatusOr<Value*>(SymbolWriter&)> ToComparison(std::string_view op) {
  return [op](SymbolWriter& w) -> absl::StatusOr<Value*> {
    if (w.in(0)->dtype() == DType::kBool) return CannotExpress("a comparison of bools");
    Value* numbers = w.Nnvm(op, {w.in(0), w.in(1)});
    return w.Nnvm("cast", {numbers}, {{"dtype", "bool"}});
  };
}

// Numbers of that type where the function gives bools.
Value* InType(const Expr& y, DType t) {
  return y.dtype() == DType::kBool && t != DType::kUndefined ? y.To(t).value() : y.value();
}

Expr Log2Of(const Expr& x) { return Log(x) * 1.4426950408889634; }

Value* CastDtype(SymbolArgs& a) {
  const DType to = a.ElementType("dtype", DType::kUndefined);
  a.Require(to != DType::kUndefined, "a cast without a type");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}

Value* DropoutRate(SymbolArgs& a) {
  a.Ignore("rate");
  return SameValue(a);
}

Value* WhereNumbers(SymbolArgs& a) {
  Expr test = IsTrue(a.in(0));
  if (a.rank(0) == 1 && a.rank(1) > 1) test = AlongAxis(test, 0, a.rank(1));
  return Select(test, a.in(1), a.in(2));
}

absl::StatusOr<Value*> ToCast(SymbolWriter& w) {
  for (const DType t : {w.dtype(0), w.DTypeAttr("to")}) {
    const bool plain = t == DType::kBool || ((IsFloating(t) || IsInteger(t)) && BitWidth(t) >= 8 &&
                                             t != DType::kBFloat16);
    if (!plain || (IsFloating(t) && BitWidth(t) == 8)) return CannotExpress("casts of ", Name(t));
  }
  return w.Nnvm("cast", {w.in(0)}, {{"dtype", w.String("to")}});
}

// NNVM's operators of two have one type.
absl::StatusOr<Value*> ToPow(SymbolWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return WriteOfTwo(w, {"", "broadcast_pow", "__pow_scalar__", "__rpow_scalar__"}, w.in(0),
                    w.in(1));
}

// All three of one shape: NNVM does not broadcast them, and takes a condition of rank 1 for one of
// whole rows.
absl::StatusOr<Value*> ToWhere(SymbolWriter& w) {
  Value* test = w.Cast(w.in(0), DType::kFloat32);
  const Shape* out = w.out_type().shape();
  const auto dims = out ? out->Static() : std::nullopt;
  std::vector<Value*> operands = {test, w.in(1), w.in(2)};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape* shape = w.shape(i);
    bool same = out && shape && shape->rank() == out->rank();
    for (int64_t k = 0; same && k < out->rank(); ++k) same = ProvablyEqual((*shape)[k], (*out)[k]);
    if (same) continue;
    if (!dims) return CannotExpress("a choice of operands of unknown shapes");
    operands[i] = w.Op("expand", {operands[i], w.Ints(*dims)});
  }
  return w.Nnvm("where", std::move(operands));
}

Value* ToReciprocal(SymbolWriter& w) {
  return w.Nnvm("__rdiv_scalar__", {w.in(0)}, {{"scalar", "1"}});
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

X2IR_NNVM(abs).Is("abs");
X2IR_NNVM(ceil).Is("ceil");
X2IR_NNVM(cos).Is("cos");
X2IR_NNVM(exp).Is("exp");
X2IR_NNVM(floor).Is("floor");
X2IR_NNVM(identity).Is("copy").From("block_grad").From("dropout", DropoutRate);
X2IR_NNVM(log).Is("log").From("log2", Unary(Log2Of));
X2IR_NNVM(neg).Is("negative");
X2IR_NNVM(round).From("round", Unary(RoundAway)).From("trunc", Unary(Trunc));
X2IR_NNVM(sign).Is("sign");
X2IR_NNVM(sin).Is("sin");
X2IR_NNVM(sqrt).Is("sqrt");
X2IR_NNVM(tan).Is("tan");
X2IR_NNVM(atan).Is("atan");
X2IR_NNVM(tanh).Is("tanh");
X2IR_NNVM(cast).From("cast", CastDtype).To("cast", ToCast);
X2IR_NNVM(where).From("where", WhereNumbers).To("where", ToWhere);
X2IR_NNVM(reciprocal).To("__rdiv_scalar__", ToReciprocal);
X2IR_NNVM(add)
    .From({"elemwise_add", "broadcast_add", "__add_symbol__"}, Binary(Plus))
    .From("__add_scalar__", WithScalar(Plus))
    .To("broadcast_add",
        ToOfTwo({"elemwise_add", "broadcast_add", "__add_scalar__", "__add_scalar__"}));
X2IR_NNVM(sub)
    .From({"elemwise_sub", "broadcast_sub", "__sub_symbol__"}, Binary(Minus))
    .From("__sub_scalar__", WithScalar(Minus))
    .From("__rsub_scalar__", WithScalar(Minus, true))
    .To("broadcast_sub",
        ToOfTwo({"elemwise_sub", "broadcast_sub", "__sub_scalar__", "__rsub_scalar__"}));
X2IR_NNVM(mul)
    .From({"elemwise_mul", "broadcast_mul", "__mul_symbol__"}, Binary(Times))
    .From("__mul_scalar__", WithScalar(Times))
    .To("broadcast_mul",
        ToOfTwo({"elemwise_mul", "broadcast_mul", "__mul_scalar__", "__mul_scalar__"}));
X2IR_NNVM(div)
    .From({"elemwise_div", "broadcast_div", "__div_symbol__"}, Binary(Divide))
    .From("__div_scalar__", WithScalar(Divide))
    .From("__rdiv_scalar__", WithScalar(Divide, true))
    .To("broadcast_div",
        ToOfTwo({"elemwise_div", "broadcast_div", "__div_scalar__", "__rdiv_scalar__"}));
X2IR_NNVM(pow)
    .From({"elemwise_pow", "broadcast_pow"}, Binary(Power))
    .From("__pow_scalar__", WithScalar(Power))
    .From("__rpow_scalar__", WithScalar(Power, true))
    .To("broadcast_pow", ToPow);
X2IR_NNVM(mod).From({"elemwise_mod", "broadcast_mod"}, Binary(+[](const Expr& x, const Expr& y) {
                      // The sign is that of the first operand.
                      return IsFloating(x.dtype()) ? Mod(x, y) : x.Op("mod", {y}, {{"fmod", 1}});
                    }));
X2IR_NNVM(max)
    .From("broadcast_max", Binary(Maximum))
    .From("__max_scalar__", WithScalar(Maximum))
    .To("broadcast_max", ToOfMany({"", "broadcast_max", "", ""}, "max"));
X2IR_NNVM(min)
    .From("broadcast_min", Binary(Minimum))
    .From("__min_scalar__", WithScalar(Minimum))
    .To("broadcast_min", ToOfMany({"", "broadcast_min", "", ""}, "min"));
X2IR_NNVM(sum)
    .From("elemwise_sum", AddAll)
    .To("broadcast_add", ToOfMany({"elemwise_add", "broadcast_add", "", ""}, "add"));
X2IR_NNVM(equal)
    .From("broadcast_equal", Binary(Equal))
    .To("broadcast_equal", ToComparison("broadcast_equal"));
X2IR_NNVM(greater)
    .From({"broadcast_greater", "greater"}, Binary(Greater))
    .To("broadcast_greater", ToComparison("broadcast_greater"));
X2IR_NNVM(greater_or_equal)
    .From("broadcast_greater_equal", Binary(GreaterEqual))
    .To("broadcast_greater_equal", ToComparison("broadcast_greater_equal"));
X2IR_NNVM(less)
    .From({"broadcast_less", "less"}, Binary(Less))
    .To("broadcast_less", ToComparison("broadcast_less"));
X2IR_NNVM(less_or_equal)
    .From("broadcast_less_equal", Binary(LessEqual))
    .To("broadcast_less_equal", ToComparison("broadcast_less_equal"));
X2IR_NNVM(and).From("logical_and", Binary(LogicalAnd));
X2IR_NNVM(or).From("logical_or", Binary(LogicalOr));

X2IR_NNVM(not )
    .From("broadcast_not_equal", Binary(NotEqual))
    .From("logical_not", Unary(LogicalNot));

}  // namespace x2ir
