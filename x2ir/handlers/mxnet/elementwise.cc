// MXNet: functions of each element, of one operand, of two, and of one and a number.
#include "x2ir/handlers/nnvm/elementwise.h"

#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/binary.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

using namespace symbol;

// The nearest integer; a half goes to the lower one.
Expr Rint(const Expr& x) {
  const Expr low = Floor(x), high = Ceil(x);
  return Where((x - low) <= (high - x), low, high);
}

Expr Rsqrt(const Expr& x) { return 1 / Sqrt(x); }
Expr Rcbrt(const Expr& x) { return 1 / Cbrt(x); }
Expr Log10(const Expr& x) { return Log(x) * (1 / portable::log(10.0)); }
Expr Log2(const Expr& x) { return Log(x) * (1 / portable::log(2.0)); }
Expr Degrees(const Expr& x) { return x * (180 / M_PI); }
Expr Radians(const Expr& x) { return x * (M_PI / 180); }
Expr Negate(const Expr& x) { return -x; }
Expr SignStraightThrough(const Expr& x) { return Sign(x); }

// Numbers of integers are float32, as NumPy's functions of floats give them.
Expr InFloat(const Expr& x) { return IsFloating(x.dtype()) ? x : x.To(DType::kFloat32); }

template <UnaryFn kFn>
Value* OfFloats(SymbolArgs& a) {
  return kFn(InFloat(a.in(0)));
}

// Bools.
Value* NpLogicalNot(SymbolArgs& a) { return Not(IsTrue(a.in(0))); }

Value* NpIsNan(SymbolArgs& a) { return IsNan(InFloat(a.in(0))); }
Value* NpIsInf(SymbolArgs& a) { return IsInf(InFloat(a.in(0))); }

Value* NpIsFinite(SymbolArgs& a) {
  const Expr x = InFloat(a.in(0));
  return Not(IsNan(x) | IsInf(x));
}

Value* NpIsPosInf(SymbolArgs& a) {
  const Expr x = InFloat(a.in(0));
  return IsInf(x) & (x > 0.0);
}

Value* NpIsNegInf(SymbolArgs& a) {
  const Expr x = InFloat(a.in(0));
  return IsInf(x) & (x < 0.0);
}

Value* NpBitwiseNot(SymbolArgs& a) {
  return a.dtype() == DType::kBool ? Not(a.in(0)) : a.in(0).Op("bitwise_not");
}

Value* NanToNum(SymbolArgs& a) {
  a.Ignore("copy");
  const Expr x = a.in(0);
  const bool posinf = a.Given("posinf"), neginf = a.Given("neginf");
  const double nan = a.Number("nan", 0), high = a.Number("posinf", 0), low = a.Number("neginf", 0);
  if (!IsFloating(x.dtype())) return a.Op("identity", {x});
  const Expr top = posinf ? x.Number(high) : FiniteExtreme(a, x.dtype(), true);
  const Expr bottom = neginf ? x.Number(low) : FiniteExtreme(a, x.dtype(), false);
  const Expr finite = Where(IsInf(x), Where(x > 0.0, top, bottom), x);
  return Where(IsNan(x), x.Number(nan), finite);
}

// A half goes to the even neighbor.
Value* NpAround(SymbolArgs& a) {
  const int64_t decimals = a.Integer("decimals", 0);
  const Expr x = a.in(0);
  if (!IsFloating(x.dtype())) {
    a.Require(decimals >= 0, "integers rounded to tens");
    return a.Op("identity", {x});
  }
  if (decimals == 0) return Round(x);
  const double scale = portable::pow(10.0, static_cast<double>(std::abs(decimals)));
  return decimals > 0 ? Round(x * scale) / scale : Round(x / scale) * scale;
}

// Integers are whole already.
template <UnaryFn kFn>
Expr Whole(const Expr& x) {
  return IsFloating(x.dtype()) ? kFn(x) : x.Op("identity");
}

// 0.5 (s x)^2 near 0, |x| - 0.5 / s^2 elsewhere.
Value* SmoothL1(SymbolArgs& a) {
  const double s = a.Number("scalar", 1);
  const Expr x = a.in(0);
  return Where(Abs(x) < 1 / (s * s), Square(x * s) * 0.5, Abs(x) - 0.5 / (s * s));
}

// a x^2 + b x + c.
Value* Quadratic(SymbolArgs& a) {
  const Expr x = a.in(0);
  return Square(x) * a.Number("a", 0) + x * a.Number("b", 0) + a.Number("c", 0);
}

Value* CastTo(SymbolArgs& a) {
  const DType to = a.ElementType("dtype", DType::kUndefined);
  a.Require(to != DType::kUndefined, "a cast without a type");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}

// Every operand as the widest (or narrowest) type of floats among them.
Values CastTogether(SymbolArgs& a) {
  const bool narrow = a.Flag("cast_narrow", false);
  a.Ignore("num_outputs");
  DType to = a.in(0).dtype();
  for (size_t i = 1; i < a.num_inputs(); ++i) {
    const DType t = a.dtype(i);
    if ((BitWidth(t) < BitWidth(to)) == narrow && BitWidth(t) != BitWidth(to)) to = t;
  }
  Values all;
  for (size_t i = 0; i < a.num_inputs(); ++i) {
    all.push_back(a.Op("cast", {a.in(i)}, {{"to", Name(to)}}));
  }
  return all;
}

// The type of both: floats before integers, the wider one before the other.
DType CommonType(DType a, DType b) {
  if (a == b) return a;
  const bool fa = IsFloating(a), fb = IsFloating(b);
  if (fa != fb) return fa ? a : b;
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (!fa && IsSignedInt(a) != IsSignedInt(b) && BitWidth(a) == BitWidth(b)) {
    return BitWidth(a) == 8 ? DType::kInt16 : BitWidth(a) == 16 ? DType::kInt32 : DType::kInt64;
  }
  if (!fa && IsSignedInt(a) != IsSignedInt(b) &&
      (IsSignedInt(a) ? BitWidth(a) < BitWidth(b) : BitWidth(b) < BitWidth(a))) {
    return BitWidth(a) + BitWidth(b) > 48 ? DType::kInt64 : DType::kInt32;
  }
  return BitWidth(a) >= BitWidth(b) ? a : b;
}

using Pair = std::pair<Expr, Expr>;

Pair Promoted(const Expr& x, const Expr& y) {
  const DType t = CommonType(x.dtype(), y.dtype());
  return {x.To(t), y.To(t)};
}

// Operand 0 and the scalar, promoted: with a scalar that is no integer, integers become float32.
Pair WithNumber(SymbolArgs& a, bool reversed) {
  Expr x = a.in(0);
  const double number = a.Number("scalar", 1);
  const bool is_int = a.Flag("is_int", number == std::floor(number));
  if (IsInteger(x.dtype()) && !is_int) x = x.To(DType::kFloat32);
  if (x.dtype() == DType::kBool) x = x.To(is_int ? DType::kInt64 : DType::kFloat32);
  const Expr scalar = x.Number(number);
  return reversed ? Pair(scalar, x) : Pair(x, scalar);
}

// Results of comparisons are bools.
std::function<Value*(SymbolArgs&)> Np(BinaryFn fn) {
  return [fn](SymbolArgs& a) -> Value* {
    const Pair p = Promoted(a.in(0), a.in(1));
    return fn(p.first, p.second);
  };
}

std::function<Value*(SymbolArgs&)> NpScalar(BinaryFn fn, bool reversed = false) {
  return [fn, reversed](SymbolArgs& a) -> Value* {
    const Pair p = WithNumber(a, reversed);
    return fn(p.first, p.second);
  };
}

Expr TrueDivide(const Expr& a, const Expr& b) { return InFloat(a) / InFloat(b); }

Expr FloorDivide(const Expr& a, const Expr& b) {
  if (IsFloating(a.dtype())) return Floor(a / b);
  return (a - FloorMod(a, b)) / Where(b == 0.0, 1.0, b);
}

// With the sign of the first operand.
Expr FMod(const Expr& a, const Expr& b) {
  if (IsFloating(a.dtype())) return Where(b == 0.0, 0.0, Mod(a, b));
  return Where(b == 0.0, 0.0, a.Op("mod", {Where(b == 0.0, 1.0, b)}, {{"fmod", 1}}));
}

Expr Copysign(const Expr& a, const Expr& b) {
  const Expr x = InFloat(a), y = InFloat(b);
  return Select(SignBit(y), -Abs(x), Abs(x));
}

Expr Ldexp(const Expr& a, const Expr& b) {
  return InFloat(a) * Pow(InFloat(b).Number(2), InFloat(b));
}

Expr LogAddExp(const Expr& a, const Expr& b) {
  const Expr x = InFloat(a), y = InFloat(b), top = Max(x, y);
  // Equal ones may be infinite.
  return Where(x == y, x + portable::log(2.0), top + Log1p(Exp(Min(x, y) - top)));
}

// NaN beside a number is left out.
Expr FMax(const Expr& a, const Expr& b) {
  if (!IsFloating(a.dtype())) return Max(a, b);
  return Where(IsNan(a), b, Where(IsNan(b), a, Max(a, b)));
}

Expr FMin(const Expr& a, const Expr& b) {
  if (!IsFloating(a.dtype())) return Min(a, b);
  return Where(IsNan(a), b, Where(IsNan(b), a, Min(a, b)));
}

Expr NpPower(const Expr& a, const Expr& b) { return Pow(a, b); }
Expr NpHypot(const Expr& a, const Expr& b) { return Hypot(InFloat(a), InFloat(b)); }

Expr Bitwise(const Expr& a, const Expr& b, Symbol op, Symbol of_bools) {
  return a.Op(a.dtype() == DType::kBool ? of_bools : op, {b});
}

Expr BitwiseAnd(const Expr& a, const Expr& b) { return Bitwise(a, b, "bitwise_and", "and"); }
Expr BitwiseOr(const Expr& a, const Expr& b) { return Bitwise(a, b, "bitwise_or", "or"); }
Expr BitwiseXor(const Expr& a, const Expr& b) { return Bitwise(a, b, "bitwise_xor", "xor"); }

// x where it is above 0, `at_zero` at 0.
Expr Heaviside(const Expr& x, const Expr& at_zero) {
  const Expr step = Where(x > 0.0, x.Number(1), x.Number(0));
  return Where(x == 0.0, at_zero, step);
}

Value* Arctan2(SymbolArgs& a) {
  const Pair p = Promoted(InFloat(a.in(0)), InFloat(a.in(1)));
  return AngleOf(a, p.first, p.second);
}

template <bool kReversed>
Value* Arctan2Scalar(SymbolArgs& a) {
  const Pair p = WithNumber(a, kReversed);
  return AngleOf(a, InFloat(p.first), InFloat(p.second));
}

// The greatest common divisor by Euclid, as many rounds as numbers of that width can take.
Value* Shift(SymbolArgs& a, std::string_view op, const Pair& p) {
  return AsTf(a, op, {p.first, p.second})[0];
}

template <bool kLeft>
Value* NpShift(SymbolArgs& a) {
  return Shift(a, kLeft ? "LeftShift" : "RightShift", Promoted(a.in(0), a.in(1)));
}

template <bool kLeft, bool kReversed>
Value* NpShiftScalar(SymbolArgs& a) {
  return Shift(a, kLeft ? "LeftShift" : "RightShift", WithNumber(a, kReversed));
}

// The condition is of the shape of both, or says which rows.
Value* WhereRows(SymbolArgs& a) {
  Expr test = IsTrue(a.in(0));
  const int64_t rank = a.rank(1);
  if (a.rank(0) == 1 && rank > 1) test = AlongAxis(test, 0, rank);
  return Select(test, a.in(1), a.in(2));
}

Value* NpWhere(SymbolArgs& a) {
  const Pair p = Promoted(a.in(1), a.in(2));
  return Select(IsTrue(a.in(0)), p.first, p.second);
}

// One of the two is a number, or both are.
template <bool kFirst>
Value* WhereOneScalar(SymbolArgs& a) {
  const Expr x = a.in(1), number = x.Number(a.Number("scalar", 0));
  return kFirst ? Select(IsTrue(a.in(0)), number, x) : Select(IsTrue(a.in(0)), x, number);
}

Value* WhereTwoScalars(SymbolArgs& a) {
  const auto number = [&](Symbol name) {
    return Expr(a, a.b().Scalar(DType::kFloat32, a.Number(name, 0)));
  };
  return Where(IsTrue(a.in(0)), number("x"), number("y"));
}

absl::StatusOr<Value*> ImageNormalize(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const auto along = [&](Symbol name, double fallback) {
    const std::vector<double> numbers = a.Numbers(name, {fallback});
    const auto count = static_cast<int64_t>(numbers.size());
    return AlongAxis(NumbersAs(a, a.dtype(), {count}, numbers), rank - 3, rank);
  };
  const Expr mean = along("mean", 0), deviation = along("std", 1);
  return ((a.in(0) - mean) / deviation).value();
}

}  // namespace

X2IR_MXNET(abs).From("abs").From("_npi_absolute");
X2IR_MXNET(acos).From("arccos").From("_npi_arccos",
                                     OfFloats<+[](const Expr& x) { return x.Op("acos"); }>);
X2IR_MXNET(acosh).From("arccosh").From("_npi_arccosh",
                                       OfFloats<+[](const Expr& x) { return x.Op("acosh"); }>);
X2IR_MXNET(asin).From("arcsin").From("_npi_arcsin",
                                     OfFloats<+[](const Expr& x) { return x.Op("asin"); }>);
X2IR_MXNET(asinh).From("arcsinh").From("_npi_arcsinh",
                                       OfFloats<+[](const Expr& x) { return x.Op("asinh"); }>);
X2IR_MXNET(atan)
    .From("arctan")
    .From("_npi_arctan", OfFloats<+[](const Expr& x) { return x.Op("atan"); }>)
    .From({{"_npi_arctan2", Arctan2},
           {"_npi_arctan2_scalar", Arctan2Scalar<false>},
           {"_npi_rarctan2_scalar", Arctan2Scalar<true>}});
X2IR_MXNET(atanh).From("arctanh").From("_npi_arctanh",
                                       OfFloats<+[](const Expr& x) { return x.Op("atanh"); }>);
X2IR_MXNET(bitwise_not).From("_npi_bitwise_not", NpBitwiseNot);
X2IR_MXNET(cast)
    .From({"Cast", "cast", "amp_cast", "_npi_cast"}, CastTo)
    .From("amp_multicast", CastTogether);
X2IR_MXNET(ceil).From({"ceil", "_npi_ceil"}, Unary(Whole<Ceil>));
X2IR_MXNET(cos).From("cos").From("_npi_cos", OfFloats<Cos>);
X2IR_MXNET(cosh).From("cosh").From("_npi_cosh",
                                   OfFloats<+[](const Expr& x) { return x.Op("cosh"); }>);
X2IR_MXNET(erf).From("erf").From("_npx_erf");
X2IR_MXNET(exp)
    .From("exp")
    .From("_npi_exp", OfFloats<Exp>)
    .From("expm1", Unary(Expm1))
    .From("_npi_expm1", OfFloats<Expm1>)
    .From({"gamma", "_npx_gamma"}, Unary(Gamma))
    .From({"erfinv", "_npx_erfinv"}, Unary(Erfinv));
X2IR_MXNET(floor).From({"floor", "_npi_floor"}, Unary(Whole<Floor>));
X2IR_MXNET(identity)
    .From({"_copy", "identity", "_np_copy", "_npi_copy", "BlockGrad", "stop_gradient", "make_loss",
           "_npx_stop_gradient", "cast_storage", "_copyto", "_CrossDeviceCopy", "_NoGradient"},
          [](SymbolArgs& a) {
            a.Ignore("stype");
            return SameValue(a);
          })
    .From("_identity_with_attr_like_rhs", SameValue)
    .From({"_contrib_gradientmultiplier"},
          [](SymbolArgs& a) {
            a.Ignore("scalar"), a.Ignore("is_int");
            return SameValue(a);
          })
    .From("_npi_nan_to_num", NanToNum);
X2IR_MXNET(is_inf).From({{"_npi_isinf", NpIsInf},
                         {"_npi_isposinf", NpIsPosInf},
                         {"_npi_isneginf", NpIsNegInf}});
X2IR_MXNET(is_nan).From({{"_npi_isnan", NpIsNan}, {"_npi_isfinite", NpIsFinite}});
X2IR_MXNET(log)
    .From("log")
    .From("_npi_log", OfFloats<Log>)
    .From({"log10"}, Unary(Log10))
    .From("_npi_log10", OfFloats<Log10>)
    .From("log2", Unary(Log2))
    .From("_npi_log2", OfFloats<Log2>)
    .From("log1p", Unary(Log1p))
    .From("_npi_log1p", OfFloats<Log1p>)
    .From({"log_sigmoid", "_npx_log_sigmoid"}, Unary(LogSigmoid))
    .From({"gammaln", "_npx_gammaln"}, Unary(Lgamma))
    .From({"digamma", "_npx_digamma"}, Unary(Digamma));
X2IR_MXNET(mul)
    .From({"degrees"}, Unary(Degrees))
    .From({"_npi_degrees"}, OfFloats<Degrees>)
    .From({"radians"}, Unary(Radians))
    .From({"_npi_radians", "_npi_deg2rad"}, OfFloats<Radians>)
    .From("_npi_rad2deg", OfFloats<Degrees>)
    .From({"square", "_npi_square"}, Unary(Square))
    .From("_contrib_quadratic", Quadratic)
    .From({"elemwise_mul", "_mul", "_Mul", "broadcast_mul"}, Binary(Times))
    .From({"_mul_scalar", "_MulScalar"}, WithScalar(Times))
    .From("_npi_multiply", Np(Times))
    .From("_npi_multiply_scalar", NpScalar(Times))
    .From("_npi_ldexp", Np(Ldexp))
    .From("_npi_ldexp_scalar", NpScalar(Ldexp))
    .From("_npi_rldexp_scalar", NpScalar(Ldexp, true));
X2IR_MXNET(neg).From({"negative", "_npi_negative"}, Unary(Negate));
X2IR_MXNET(not )
    .From("logical_not", Unary(LogicalNot))
    .From("_npi_logical_not", NpLogicalNot)
    .From({"broadcast_not_equal", "_not_equal"}, Binary(NotEqual))
    .From("_not_equal_scalar", WithScalar(NotEqual))
    .From("_npi_not_equal", Np(NotEqual))
    .From("_npi_not_equal_scalar", NpScalar(NotEqual));
X2IR_MXNET(reciprocal).From("reciprocal").From("_npi_reciprocal", OfFloats<Reciprocal>);
X2IR_MXNET(round)
    .From({"round", "_contrib_round_ste"}, Unary(Whole<RoundAway>))
    .From({"rint", "_npi_rint"}, Unary(Whole<Rint>))
    .From({"fix", "_npi_fix", "trunc", "_npi_trunc"}, Unary(Whole<Trunc>))
    .From({"_npi_around", "_npi_round"}, NpAround);
X2IR_MXNET(sign)
    .From("sign")
    .From("_npi_sign")
    .From("_contrib_sign_ste", Unary(SignStraightThrough));
X2IR_MXNET(sin).From("sin").From("_npi_sin", OfFloats<Sin>);
X2IR_MXNET(sinh).From("sinh").From("_npi_sinh",
                                   OfFloats<+[](const Expr& x) { return x.Op("sinh"); }>);
X2IR_MXNET(sqrt)
    .From("sqrt")
    .From("_npi_sqrt", OfFloats<Sqrt>)
    .From("rsqrt", Unary(Rsqrt))
    .From({"cbrt"}, Unary(Cbrt))
    .From("_npi_cbrt", OfFloats<Cbrt>)
    .From("rcbrt", Unary(Rcbrt))
    .From({"broadcast_hypot", "_hypot"}, Binary(Hypot))
    .From("_hypot_scalar", WithScalar(Hypot))
    .From("_npi_hypot", Np(NpHypot));
X2IR_MXNET(tan).From("tan").From("_npi_tan", OfFloats<+[](const Expr& x) { return x.Op("tan"); }>);
X2IR_MXNET(tanh).From("tanh").From("_npi_tanh",
                                   OfFloats<+[](const Expr& x) { return x.Op("tanh"); }>);
X2IR_MXNET(where)
    .From({"smooth_l1", "_npx_smooth_l1"}, SmoothL1)
    .From({{"where", WhereRows},
           {"_npi_where", NpWhere},
           {"_npi_where_lscalar", WhereOneScalar<true>},
           {"_npi_where_rscalar", WhereOneScalar<false>},
           {"_npi_where_scalar2", WhereTwoScalars}})
    .From("_npi_copysign", Np(Copysign))
    .From("_npi_copysign_scalar", NpScalar(Copysign))
    .From("_npi_rcopysign_scalar", NpScalar(Copysign, true))
    .From("_npi_heaviside", Np(Heaviside));
X2IR_MXNET(add)
    .From({"elemwise_add", "_add", "_plus", "_Plus", "broadcast_add", "broadcast_plus",
           "_grad_add"},
          Binary(Plus))
    .From({"_plus_scalar", "_PlusScalar", "_scatter_plus_scalar"}, WithScalar(Plus))
    .From("_npi_add", Np(Plus))
    .From("_npi_add_scalar", NpScalar(Plus))
    .From({"add_n", "ElementWiseSum", "_np_add_n"}, AddAll)
    .From("_npi_logaddexp", Np(LogAddExp))
    .From({"_npi_logaddexp_scalar"}, NpScalar(LogAddExp));
X2IR_MXNET(sub)
    .From({"elemwise_sub", "_sub", "_minus", "_Minus", "broadcast_sub", "broadcast_minus"},
          Binary(Minus))
    .From({"_minus_scalar", "_MinusScalar", "_scatter_minus_scalar"}, WithScalar(Minus))
    .From({"_rminus_scalar", "_RMinusScalar"}, WithScalar(Minus, true))
    .From("_npi_subtract", Np(Minus))
    .From("_npi_subtract_scalar", NpScalar(Minus))
    .From("_npi_rsubtract_scalar", NpScalar(Minus, true))
    .From({"_image_normalize", "_npx__image_normalize"}, ImageNormalize);
X2IR_MXNET(div)
    .From({"elemwise_div", "_div", "_Div", "broadcast_div", "_scatter_elemwise_div"},
          Binary(Divide))
    .From({"_div_scalar", "_DivScalar"}, WithScalar(Divide))
    .From({"_rdiv_scalar", "_RDivScalar"}, WithScalar(Divide, true))
    .From("_npi_true_divide", Np(TrueDivide))
    .From("_npi_true_divide_scalar", NpScalar(TrueDivide))
    .From("_npi_rtrue_divide_scalar", NpScalar(TrueDivide, true))
    .From("_npi_floor_divide", Np(FloorDivide))
    .From("_npi_floor_divide_scalar", NpScalar(FloorDivide))
    .From("_npi_rfloor_divide_scalar", NpScalar(FloorDivide, true));
X2IR_MXNET(mod)
    .From({"broadcast_mod", "_mod"}, Binary(FloorMod))
    .From("_mod_scalar", WithScalar(FloorMod))
    .From("_rmod_scalar", WithScalar(FloorMod, true))
    .From("_npi_mod", Np(FloorMod))
    .From("_npi_mod_scalar", NpScalar(FloorMod))
    .From("_npi_rmod_scalar", NpScalar(FloorMod, true))
    .From("_npi_fmod", Np(FMod))
    .From("_npi_fmod_scalar", NpScalar(FMod))
    .From("_npi_rfmod_scalar", NpScalar(FMod, true));
X2IR_MXNET(pow)
    .From({"broadcast_power", "_power", "_Power"}, Binary(Power))
    .From({"_power_scalar", "_PowerScalar"}, WithScalar(Power))
    .From({"_rpower_scalar", "_RPowerScalar"}, WithScalar(Power, true))
    .From("_npi_power", Np(NpPower))
    .From("_npi_power_scalar", NpScalar(NpPower))
    .From("_npi_rpower_scalar", NpScalar(NpPower, true));
X2IR_MXNET(max)
    .From({"broadcast_maximum", "_maximum", "_Maximum"}, Binary(Maximum))
    .From({"_maximum_scalar", "_MaximumScalar"}, WithScalar(Maximum))
    .From("_npi_maximum", Np(Maximum))
    .From("_npi_maximum_scalar", NpScalar(Maximum))
    .From("_npi_fmax", Np(FMax))
    .From("_npi_fmax_scalar", NpScalar(FMax));
X2IR_MXNET(min)
    .From({"broadcast_minimum", "_minimum", "_Minimum"}, Binary(Minimum))
    .From({"_minimum_scalar", "_MinimumScalar"}, WithScalar(Minimum))
    .From("_npi_minimum", Np(Minimum))
    .From("_npi_minimum_scalar", NpScalar(Minimum))
    .From("_npi_fmin", Np(FMin))
    .From("_npi_fmin_scalar", NpScalar(FMin));
X2IR_MXNET(equal)
    .From({"broadcast_equal", "_equal"}, Binary(Equal))
    .From("_equal_scalar", WithScalar(Equal))
    .From("_npi_equal", Np(Equal))
    .From("_npi_equal_scalar", NpScalar(Equal));
X2IR_MXNET(greater)
    .From({"broadcast_greater", "_greater"}, Binary(Greater))
    .From("_greater_scalar", WithScalar(Greater))
    .From("_npi_greater", Np(Greater))
    .From("_npi_greater_scalar", NpScalar(Greater));
X2IR_MXNET(greater_or_equal)
    .From({"broadcast_greater_equal", "_greater_equal"}, Binary(GreaterEqual))
    .From("_greater_equal_scalar", WithScalar(GreaterEqual))
    .From("_npi_greater_equal", Np(GreaterEqual))
    .From("_npi_greater_equal_scalar", NpScalar(GreaterEqual));
X2IR_MXNET(less)
    .From({"broadcast_lesser", "_lesser"}, Binary(Less))
    .From("_lesser_scalar", WithScalar(Less))
    .From("_npi_less", Np(Less))
    .From("_npi_less_scalar", NpScalar(Less));
X2IR_MXNET(less_or_equal)
    .From({"broadcast_lesser_equal", "_lesser_equal"}, Binary(LessEqual))
    .From("_lesser_equal_scalar", WithScalar(LessEqual))
    .From("_npi_less_equal", Np(LessEqual))
    .From("_npi_less_equal_scalar", NpScalar(LessEqual));
X2IR_MXNET(and)
    .From({"broadcast_logical_and", "_logical_and"}, Binary(LogicalAnd))
    .From("_logical_and_scalar", WithScalar(LogicalAnd))
    .From("_npi_logical_and", Np(LogicalAnd))
    .From("_npi_logical_and_scalar", NpScalar(LogicalAnd));
X2IR_MXNET(or)
    .From({"broadcast_logical_or", "_logical_or"}, Binary(LogicalOr))
    .From("_logical_or_scalar", WithScalar(LogicalOr))
    .From("_npi_logical_or", Np(LogicalOr))
    .From("_npi_logical_or_scalar", NpScalar(LogicalOr));
X2IR_MXNET(xor)
    .From({"broadcast_logical_xor", "_logical_xor"}, Binary(LogicalXor))
    .From("_logical_xor_scalar", WithScalar(LogicalXor))
    .From("_npi_logical_xor", Np(LogicalXor))
    .From("_npi_logical_xor_scalar", NpScalar(LogicalXor));
X2IR_MXNET(bitwise_and)
    .From("_npi_bitwise_and", Np(BitwiseAnd))
    .From("_npi_bitwise_and_scalar", NpScalar(BitwiseAnd));
X2IR_MXNET(bitwise_or)
    .From("_npi_bitwise_or", Np(BitwiseOr))
    .From("_npi_bitwise_or_scalar", NpScalar(BitwiseOr));
X2IR_MXNET(bitwise_xor)
    .From("_npi_bitwise_xor", Np(BitwiseXor))
    .From("_npi_bitwise_xor_scalar", NpScalar(BitwiseXor));
X2IR_MXNET(bit_shift)
    .From({"_npi_bitwise_left_shift"}, NpShift<true>)
    .From({"_npi_bitwise_right_shift"}, NpShift<false>)
    .From({"_npi_bitwise_left_shift_scalar"}, NpShiftScalar<true, false>)
    .From({"_npi_bitwise_right_shift_scalar"}, NpShiftScalar<false, false>)
    .From({"_npi_rbitwise_left_shift_scalar"}, NpShiftScalar<true, true>)
    .From({"_npi_rbitwise_right_shift_scalar"}, NpShiftScalar<false, true>);

}  // namespace x2ir
