// MIL: functions of elements, arithmetic, comparisons and selections.
#include <limits>

#include "x2ir/builder/division.h"
#include "x2ir/handlers/coreml/coreml.h"

namespace x2ir {
namespace {

Expr MilLinear(MilArgs& a) {
  const double alpha = a.Number("alpha"), beta = a.Number("beta");
  return Shifted(Scaled(a.X(), alpha), beta);
}

Expr MilScaledTanh(MilArgs& a) {
  const double alpha = a.Number("alpha"), beta = a.Number("beta");
  return Scaled(Scaled(a.X(), beta).Op("tanh"), alpha);
}

Expr MilThreshold(MilArgs& a) { return Max(a.X(), a.Number("alpha")); }
Expr MilExp2(MilArgs& a) { return Pow(2.0, a.X()); }
Expr MilSquare(MilArgs& a) { return Square(a.X()); }

// What is added is rounded to the operand's type first, where it may be nothing.
Expr PlusEpsilon(MilArgs& a) {
  const double epsilon = a.Number("epsilon");
  const Expr x = a.X();
  if (x.dtype() == DType::kFloat16 &&
      HalfToFloat(FloatToHalf(static_cast<float>(epsilon))) == 0.0f) {
    return x;
  }
  return Shifted(x, epsilon);
}

Expr MilInverse(MilArgs& a) { return 1 / PlusEpsilon(a); }
Expr MilLog(MilArgs& a) { return Log(PlusEpsilon(a)); }
Expr MilRsqrt(MilArgs& a) { return 1 / Sqrt(PlusEpsilon(a)); }

absl::StatusOr<Value*> MilCast(MilArgs& a) {
  const std::string name = a.Text("dtype");
  const DType to = coreml::ParseMilTypeName(name);
  if (to == DType::kUndefined || to == DType::kString) return Unimplemented("a cast to ", name);
  return a.Cast(a.X(), to).value();
}

using MilCombine = Expr (*)(const Expr&, const Expr&);

Expr MilQuotient(const Expr& x, const Expr& y) {
  if (!IsFloating(x.dtype())) x.builder().Fail(Unimplemented("a quotient of ", Name(x.dtype())));
  return x / y;
}

Expr MilMaximum(const Expr& x, const Expr& y) { return Max(x, y); }
Expr MilMinimum(const Expr& x, const Expr& y) { return Min(x, y); }
Expr MilNotEqual(const Expr& x, const Expr& y) { return Not(x == y); }

template <MilCombine F>
Expr MilOfTwo(MilArgs& a) {
  return F(a.X("x"), a.X("y"));
}

absl::StatusOr<Value*> ToCast(MilWriter& w) {
  const DType to = w.DTypeAttr("to"), from = w.dtype();
  const auto narrow = [](DType t) {
    return t == DType::kInt64 ? DType::kInt32 : t == DType::kFloat64 ? DType::kFloat32 : t;
  };
  // No float32 holds them all.
  if (to == DType::kFloat64 && IsInteger(from) && BitWidth(from) > 16) {
    return CannotExpress("casts of ", Name(from), " to ", Name(to));
  }
  for (const DType t : {narrow(from), narrow(to)}) {
    const bool known = t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kInt32 ||
                       t == DType::kBool || (IsInteger(t) && BitWidth(t) <= 16 && BitWidth(t) >= 8);
    if (!known) return CannotExpress("casts of ", Name(from), " to ", Name(to));
  }
  if (narrow(from) == narrow(to)) return w.Mil("identity", {w.in(0)}, {}, w.out_type());
  return w.Mil("cast", {w.in(0)}, {{"dtype", std::string(coreml::MilTypeName(narrow(to)))}});
}

absl::StatusOr<Value*> ToDiv(MilWriter& w) {
  if (IsFloating(w.dtype())) return w.Mil("real_div", {w.in(0), w.in(1)});
  if (!IsSignedInt(w.dtype())) return CannotExpress("quotients of ", Name(w.dtype()));
  // Towards zero; by zero it is 0, as the sign is.
  const Expr x = w.X(), y = w.X(1);
  const Expr sizes = {w.b(), w.Mil("floor_div", {Abs(x), Max(Abs(y), 1)}, {}, w.out_type())};
  return (Sign(x) * Sign(y) * sizes).value();
}

absl::StatusOr<Value*> ToMod(MilWriter& w) {
  if (w.Int("fmod") == 0) {
    if (IsFloating(w.dtype())) return CannotExpress("that remainder of ", Name(w.dtype()));
    return w.Mil("mod", {w.in(0), w.in(1)});
  }
  const Expr rest = {w.b(), w.Mil("mod", {Abs(w.X()), Abs(w.X(1))}, {}, w.out_type())};
  return Where(w.X() < 0, -rest, rest).value();
}

absl::StatusOr<Value*> ToPow(MilWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("powers of ", Name(w.dtype()));
  return w.Mil("pow", {w.in(0), w.Cast(w.in(1), w.dtype())});
}

auto ToFolded(Symbol op, std::string_view mil) {
  return [=](MilWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
    return w.Mil(mil, {w.FoldedButLast(op), w.in(w.num_inputs() - 1)});
  };
}

Value* ToSum(MilWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  return w.Mil("add", {w.FoldedButLast("add"), w.in(w.num_inputs() - 1)});
}

Value* ToNeg(MilWriter& w) {
  // An unsigned type has no -1.
  if (IsUnsignedInt(w.dtype())) return w.Op("sub", {w.Number(w.dtype(), 0), w.in(0)});
  return w.X() * -1.0;
}

Value* ToReciprocal(MilWriter& w) { return 1.0 / w.X(); }
Value* ToIsNan(MilWriter& w) { return w.Mil("not_equal", {w.in(0), w.in(0)}); }

absl::StatusOr<Value*> ToIsInf(MilWriter& w) {
  const bool negative = w.Int("detect_negative") != 0, positive = w.Int("detect_positive") != 0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive) return (Abs(w.X()) == infinity).value();
  if (negative) return (w.X() == -infinity).value();
  if (positive) return (w.X() == infinity).value();
  return CannotExpress("infinities of no sign");
}

// log(|x| + sqrt(x^2 + 1)), of which no part is too large; near 0 as atanh(x / sqrt(x^2 + 1)).
Value* ToAsinh(MilWriter& w) {
  const Expr x = w.X(), size = Abs(x), near = Min(size, size.Number(1));
  const Expr far = Max(size, size.Number(1)), inverse = 1.0 / far;
  const Expr small = (near / Sqrt(Square(near) + 1.0)).Op("atanh");
  const Expr large = Log(far) + Log(Sqrt(Square(inverse) + 1.0) + 1.0);
  return Where(size < size.Number(1), small, large) * x.Op("sign");
}

Value* ToAcosh(MilWriter& w) {
  const Expr x = w.X(), inverse = 1.0 / x;
  return Log(x) + Log(Sqrt((1.0 - inverse) * (inverse + 1.0)) + 1.0);
}

}  // namespace

X2IR_MIL(abs).Is("abs");
X2IR_MIL(acos).Is("acos");
X2IR_MIL(add).Is("add");
X2IR_MIL(and).Is("logical_and");
X2IR_MIL(asin).Is("asin");
X2IR_MIL(atan).Is("atan");
X2IR_MIL(atanh).Is("atanh");
X2IR_MIL(cast).To("cast", ToCast).From("cast", MilCast);
X2IR_MIL(ceil).Is("ceil");
X2IR_MIL(cos).Is("cos");
X2IR_MIL(cosh).Is("cosh");
X2IR_MIL(div)
    .To("real_div", ToDiv)
    .From({{"real_div", MilOfTwo<MilQuotient>},
           {"floor_div", MilOfTwo<FloorQuotient>},
           {"inverse", MilInverse},
           {"rsqrt", MilRsqrt}});
X2IR_MIL(equal).Is("equal").From("not_equal", MilOfTwo<MilNotEqual>);
X2IR_MIL(erf).Is("erf");
X2IR_MIL(exp).Is("exp");
X2IR_MIL(floor).Is("floor");
X2IR_MIL(greater).Is("greater");
X2IR_MIL(greater_or_equal).Is("greater_equal");
X2IR_MIL(identity).Is("identity");
X2IR_MIL(is_inf).To("equal", ToIsInf);
X2IR_MIL(is_nan).To("not_equal", ToIsNan);
X2IR_MIL(less).Is("less");
X2IR_MIL(less_or_equal).Is("less_equal");
X2IR_MIL(log).To("log", Attr("epsilon", 0.0f)).From("log", MilLog);
X2IR_MIL(max)
    .To("maximum", ToFolded("max", "maximum"))
    .From({{"maximum", MilOfTwo<MilMaximum>}, {"threshold", MilThreshold}});
X2IR_MIL(min).To("minimum", ToFolded("min", "minimum")).From("minimum", MilOfTwo<MilMinimum>);
X2IR_MIL(mod).To("mod", ToMod).From("mod", MilOfTwo<FloorMod>);
X2IR_MIL(mul).Is("mul").From({{"square", MilSquare}, {"linear_activation", MilLinear}});
X2IR_MIL(neg).To("mul", ToNeg);
X2IR_MIL(not ).Is("logical_not");
X2IR_MIL(or).Is("logical_or");
X2IR_MIL(pow).To("pow", ToPow).From("pow").From("exp2", MilExp2);
X2IR_MIL(reciprocal).To("real_div", ToReciprocal);
X2IR_MIL(round).Is("round");
X2IR_MIL(sign).Is("sign");
X2IR_MIL(sin).Is("sin");
X2IR_MIL(sinh).Is("sinh");
X2IR_MIL(sqrt).Is("sqrt");
X2IR_MIL(sub).Is("sub");
X2IR_MIL(sum).To("add", ToSum);
X2IR_MIL(tan).Is("tan");
X2IR_MIL(tanh).Is("tanh").From("scaled_tanh", MilScaledTanh);
X2IR_MIL(where).Is("select");
X2IR_MIL(xor).Is("logical_xor");
X2IR_MIL(acosh).To("log", ToAcosh);
X2IR_MIL(asinh).To("log", ToAsinh);

}  // namespace x2ir
