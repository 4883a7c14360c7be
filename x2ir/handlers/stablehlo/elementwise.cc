// StableHLO: functions of each element, comparisons and logic. Functions of CHLO
// are in unary.cc, quotients and bits in binary.cc, element types in cast.cc.
#include "x2ir/handlers/stablehlo/elementwise.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir {

Expr WithSignOf(const Expr& size, const Expr& sign) { return Where(SignBit(sign), -size, size); }

namespace {

// Floats of 16 bits and less are computed as float32 and rounded once.
template <Expr (*kFormula)(const Expr&)>
Expr Wider(const Expr& x) {
  return kFormula(x.To(AtLeastFloat32(x.dtype()))).To(x.dtype());
}

// One step of Newton's method after the power, whose exponent is no exact third.
Expr CubeRootOf(const Expr& x) {
  const Expr first = Sign(x) * Pow(Abs(x), 1.0 / 3);
  const Expr safe = Where(x == 0, 1, first);
  const Expr better = safe - (safe - x / safe / safe) / 3;
  return Where((x == 0) | IsInf(x), x, better);
}
Expr ReciprocalRoot(const Expr& x) { return 1 / Sqrt(x); }
Complex ComplexReciprocalRoot(const Complex& z) {
  const Complex w = z.To(DType::kFloat64);
  return Reciprocal(Sqrt(w)).To(z.dtype());
}
Expr AwayFromZero(const Expr& x) { return WithSignOf(RoundHalfUp(Abs(x)), x); }
// Zeros keep their signs.
Expr SignOf(const Expr& x) { return IsFloating(x.dtype()) ? Where(x == 0, x, Sign(x)) : Sign(x); }
Expr Negative(const Expr& x) { return -x; }
Complex ComplexNegative(const Complex& z) { return -z; }

Value* AbsoluteValue(StablehloArgs& a) {
  const Expr x = a.in(0);
  return IsComplex(x.dtype()) ? Abs(PartsOfNumber(x)) : Abs(x);
}

// NaN is no number below infinity.
Value* IsFinite(StablehloArgs& a) { return Abs(a.in(0)) < std::numeric_limits<double>::infinity(); }

// A small power of integers is a product: runtimes compute powers as floats.
Value* PowerOf(StablehloArgs& a) {
  const Expr x = a.in(0);
  const std::optional<std::vector<int64_t>> exponents =
      IsInteger(x.dtype()) ? a.Ints(1) : std::nullopt;
  constexpr int64_t kMost = 16;
  if (!exponents || exponents->empty() || (*exponents)[0] < 1 || (*exponents)[0] > kMost ||
      std::count(exponents->begin(), exponents->end(), (*exponents)[0]) !=
          static_cast<int64_t>(exponents->size())) {
    return Pow(x, a.in(1));
  }
  Expr power = x;
  for (int64_t i = 1; i < (*exponents)[0]; ++i) power = power * x;
  return power.value() == x.value() ? a.Op("identity", {x}) : power.value();
}

Value* DifferenceHlo(StablehloArgs& a) {
  a.Require(a.dtype() != DType::kBool, "differences of bools");
  return a.in(0) - a.in(1);
}
Value* SumHlo(StablehloArgs& a) {
  return a.dtype() == DType::kBool ? a.in(0) | a.in(1) : a.in(0) + a.in(1);
}
Value* ProductHlo(StablehloArgs& a) {
  return a.dtype() == DType::kBool ? a.in(0) & a.in(1) : a.in(0) * a.in(1);
}
Value* Maximum(StablehloArgs& a) { return Greatest(a.in(0), a.in(1)); }
Value* Minimum(StablehloArgs& a) { return Least(a.in(0), a.in(1)); }

Value* Angle2(StablehloArgs& a) {
  const DType t = a.dtype();
  if (IsComplex(t)) {
    return NumberOfParts(Atan2Of(PartsOfNumber(a.in(0)), PartsOfNumber(a.in(1))));
  }
  const DType wide = AtLeastFloat32(t);
  return Atan2(a.in(0).To(wide), a.in(1).To(wide)).To(t);
}

// Bools and integers have ops of their own.
auto Bitwise(std::string_view logical, std::string_view bitwise) {
  return [=](StablehloArgs& a) {
    return a.Op(a.dtype() == DType::kBool ? logical : bitwise, a.inputs());
  };
}

// Whether the first parts decide, and the second ones where those are equal.
Expr ComplexBelow(const Complex& x, const Complex& y) {
  return (x.re < y.re) | ((x.re == y.re) & (x.im < y.im));
}
Expr ChooseComplex(const Expr& test, const Complex& x, const Complex& y) {
  return NumberOfParts({Where(test, x.re, y.re), Where(test, x.im, y.im)});
}

Value* CompareBy(StablehloArgs& a) {
  const std::string direction = a.String("comparison_direction", "");
  const bool total = a.String("compare_type", "") == "TOTALORDER";
  const absl::StatusOr<Value*> result = Compared(a, a.in(0), a.in(1), direction, total);
  return result.ok() ? *result : a.Fail(result.status())[0];
}

Value* Chosen(StablehloArgs& a) { return Where(a.in(0), a.in(1), a.in(2)); }

Values OptimizationBarrier(StablehloArgs& a) {
  Values values;
  for (Value* value : a.inputs()) values.push_back(a.Op("identity", {value}));
  return values;
}

Value* MakeComplex(StablehloArgs& a) { return a.Op("complex", {a.in(0), a.in(1)}); }
Value* RealOf(StablehloArgs& a) {
  return a.Op(IsComplex(a.dtype()) ? "real" : "identity", {a.in(0)});
}
Value* ImaginaryOf(StablehloArgs& a) {
  const Expr x = a.in(0);
  return IsComplex(a.dtype()) ? x.Op("imag") : Expand(x.Number(0), ShapeOf(x));
}

// --- Writing -------------------------------------------------------------------------------------

// Operands of one shape, any number of them.
auto ToFold(std::string_view op) {
  return [=](StablehloWriter& w) -> absl::StatusOr<Value*> {
    if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
    if (w.num_inputs() == 2) return ToBroadcast(w, op);
    return w.Op(w.node().op(), {w.FoldedButLast(w.node().op()), w.in(w.num_inputs() - 1)});
  };
}
auto ToBinary(std::string_view op) {
  return [=](StablehloWriter& w) { return ToBroadcast(w, op); };
}
auto ToCompare(std::string_view direction) {
  return [=](StablehloWriter& w) {
    const DType t = w.dtype();
    const std::string_view type = IsFloating(t) ? "FLOAT" : IsSignedInt(t) ? "SIGNED" : "UNSIGNED";
    return ToBroadcast(w, "compare", {{"comparison_direction", direction}, {"compare_type", type}});
  };
}

// An exponent may be of another type than the base: a narrower integer fits; others have a
// lowering.
absl::StatusOr<Value*> ToPower(StablehloWriter& w) {
  const DType base = w.dtype(0), exponent = w.dtype(1);
  if (exponent == base) return ToBroadcast(w, "power");
  const bool fits = IsSignedInt(base) == IsSignedInt(exponent) && IsInteger(base) &&
                    IsInteger(exponent) && BitWidth(exponent) < BitWidth(base);
  if (!fits) return CannotExpress("an exponent of another type");
  return w.Op("pow", {w.in(0), w.Cast(w.in(1), base)});
}

Value* ToReciprocal(StablehloWriter& w) { return 1 / X(w); }
Value* ToIdentity(StablehloWriter& w) { return w.Hlo("convert", {w.in(0)}); }
Value* ToIsNan(StablehloWriter& w) {
  return w.Hlo("compare", {w.in(0), w.in(0)},
               {{"comparison_direction", "NE"}, {"compare_type", "FLOAT"}});
}
absl::StatusOr<Value*> ToIsInf(StablehloWriter& w) {
  const bool negative = w.Int("detect_negative") != 0, positive = w.Int("detect_positive") != 0;
  if (!negative && !positive) return CannotExpress("is_inf of no sign");
  return w.Hlo(!negative   ? "chlo.is_pos_inf"
               : !positive ? "chlo.is_neg_inf"
                           : "chlo.is_inf",
               {w.in(0)});
}
absl::StatusOr<Value*> ToSelect(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Values all, w.Broadcast({w.in(0), w.in(1), w.in(2)}));
  return w.Hlo("select", {all[0], all[1], all[2]});
}
// Unsigned integers are their own absolute values.
Value* ToAbs(StablehloWriter& w) {
  return IsUnsignedInt(w.dtype()) ? w.Op("identity", {w.in(0)}) : w.Hlo("abs", {w.in(0)});
}

}  // namespace

Expr Greatest(const Expr& x, const Expr& y) {
  if (x.dtype() == DType::kBool) return x | y;
  if (!IsComplex(x.dtype())) return Max(x, y);
  const Complex p = PartsOfNumber(x), q = PartsOfNumber(y);
  return ChooseComplex(ComplexBelow(q, p) | IsNan(p), p, q);
}
Expr Least(const Expr& x, const Expr& y) {
  if (x.dtype() == DType::kBool) return x & y;
  if (!IsComplex(x.dtype())) return Min(x, y);
  const Complex p = PartsOfNumber(x), q = PartsOfNumber(y);
  return ChooseComplex(ComplexBelow(p, q) | IsNan(p), p, q);
}

Expr TotalOrderOf(const Expr& x) {
  const int bits = BitWidth(x.dtype());
  const Expr n = BitsAs(x, SignedOf(bits));
  const Expr most = IntegerOf(x.builder(), n.dtype(), INT64_MAX >> (64 - bits));
  return Where(n < 0, n.Op("bitwise_xor", {most}), n);
}

absl::StatusOr<Value*> Compared(StablehloArgs& a, const Expr& x0, const Expr& y0,
                                std::string_view direction, bool total) {
  if (IsComplex(x0.dtype()) && (direction == "EQ" || direction == "NE")) {
    const Complex x = PartsOfNumber(x0), y = PartsOfNumber(y0);
    const Expr equal = (x.re == y.re) & (x.im == y.im);
    return direction == "EQ" ? equal.value() : Not(equal).value();
  }
  a.Require(!IsComplex(x0.dtype()), "an order of complex numbers");
  Expr x = x0, y = y0;
  if (x.dtype() == DType::kBool && direction != "EQ" && direction != "NE") {
    x = x.To(DType::kInt32);
    y = y.To(DType::kInt32);
  }
  if (total && IsFloating(x.dtype())) {
    x = TotalOrderOf(x);
    y = TotalOrderOf(y);
  }
  if (direction == "EQ") return (x == y).value();
  if (direction == "NE") return Not(x == y).value();
  if (direction == "GE") return (x >= y).value();
  if (direction == "GT") return (x > y).value();
  if (direction == "LE") return (x <= y).value();
  if (direction == "LT") return (x < y).value();
  return Invalid("comparison_direction '", direction, "' is none");
}

absl::StatusOr<Value*> ToBroadcast(StablehloWriter& w, std::string_view op, AttributeMap attrs) {
  X2IR_ASSIGN_OR_RETURN(const Values both, w.Broadcast({w.in(0), w.in(1)}));
  return w.Hlo(op, both, std::move(attrs));
}

X2IR_STABLEHLO(abs).From("abs", AbsoluteValue).To("abs", ToAbs);
X2IR_STABLEHLO(add).From("add", SumHlo).To("add", ToBinary("add"));
X2IR_STABLEHLO(and).From("and", Bitwise("and", "bitwise_and")).To("and", ToBinary("and"));
X2IR_STABLEHLO(atan).From("atan2", Angle2);
X2IR_STABLEHLO(bitwise_and).To("and", ToBinary("and"));
X2IR_STABLEHLO(bitwise_not).To("not");
X2IR_STABLEHLO(bitwise_or).To("or", ToBinary("or"));
X2IR_STABLEHLO(bitwise_xor).To("xor", ToBinary("xor"));
X2IR_STABLEHLO(ceil).Is("ceil");
X2IR_STABLEHLO(complex).From("complex", MakeComplex);
X2IR_STABLEHLO(cos).To("cosine").From("cosine", OfNumber<Cos, CosOf>);
X2IR_STABLEHLO(div).From("rsqrt", OfNumber<ReciprocalRoot, ComplexReciprocalRoot>);
X2IR_STABLEHLO(equal).From("compare", CompareBy).To("compare", ToCompare("EQ"));
X2IR_STABLEHLO(exp)
    .To("exponential")
    .From("exponential", OfNumber<Exp, InDoubleParts<Exp>>)
    .From("exponential_minus_one", OfNumber<Wider<Expm1>, Expm1>);
X2IR_STABLEHLO(floor).Is("floor").From("round_nearest_afz", [](StablehloArgs& a) -> Value* {
  return AwayFromZero(a.in(0));
});
X2IR_STABLEHLO(greater).To("compare", ToCompare("GT"));
X2IR_STABLEHLO(greater_or_equal).To("compare", ToCompare("GE"));
X2IR_STABLEHLO(identity)
    .From("optimization_barrier", OptimizationBarrier)
    .To("convert", ToIdentity);
X2IR_STABLEHLO(imag).From("imag", ImaginaryOf);
X2IR_STABLEHLO(is_inf).To("chlo.is_inf", ToIsInf);
X2IR_STABLEHLO(is_nan).To("compare", ToIsNan);
X2IR_STABLEHLO(less).From("is_finite", IsFinite).To("compare", ToCompare("LT"));
X2IR_STABLEHLO(less_or_equal).To("compare", ToCompare("LE"));
X2IR_STABLEHLO(log).Is("log").From("log_plus_one", OfNumber<Wider<Log1p>, Log1pOf>);
X2IR_STABLEHLO(max).From("maximum", Maximum).To("maximum", ToFold("maximum"));
X2IR_STABLEHLO(min).From("minimum", Minimum).To("minimum", ToFold("minimum"));
X2IR_STABLEHLO(mul).From("multiply", ProductHlo).To("multiply", ToBinary("multiply"));
X2IR_STABLEHLO(neg).From("negate", OfNumber<Negative, ComplexNegative>).To("negate");
X2IR_STABLEHLO(not ).From("not", Bitwise("not", "bitwise_not")).To("not");
X2IR_STABLEHLO(or).From("or", Bitwise("or", "bitwise_or")).To("or", ToBinary("or"));
X2IR_STABLEHLO(pow)
    .From("power", PowerOf)
    .From("cbrt", OfNumber<Wider<CubeRootOf>, CubeRootOf>)
    .To("power", ToPower);
X2IR_STABLEHLO(real).From("real", RealOf);
X2IR_STABLEHLO(reciprocal).To("divide", ToReciprocal);
X2IR_STABLEHLO(round).Is("round_nearest_even");
X2IR_STABLEHLO(sign).From("sign", OfNumber<SignOf, SignOf>).To("sign");
X2IR_STABLEHLO(sin).To("sine").From("sine", OfNumber<Sin, SinOf>);
X2IR_STABLEHLO(sqrt).Is("sqrt");
X2IR_STABLEHLO(sub).From("subtract", DifferenceHlo).To("subtract", ToBinary("subtract"));
X2IR_STABLEHLO(sum).To("add", ToFold("add"));
X2IR_STABLEHLO(tan).Is("tan");
X2IR_STABLEHLO(tanh).Is("tanh");
X2IR_STABLEHLO(where).From("select", Chosen).To("select", ToSelect);
X2IR_STABLEHLO(xor).From("xor", Bitwise("xor", "bitwise_xor")).To("xor", ToBinary("xor"));

}  // namespace x2ir
