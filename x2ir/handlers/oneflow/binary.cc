// OneFlow: arithmetic, comparison and logic of two operands, of an operand and a number, choices.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/division.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/handlers/oneflow/oneflow.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Arithmetic ---------------------------------------------------------------------------------

using Combine = Expr (*)(const Expr&, const Expr&);
Expr OfSum(const Expr& x, const Expr& y) { return x + y; }
Expr OfProduct(const Expr& x, const Expr& y) { return x * y; }
Expr OfQuotient(const Expr& x, const Expr& y) { return x / y; }
Expr OfPower(const Expr& x, const Expr& y) { return Pow(x, y); }
Expr OfReversePower(const Expr& x, const Expr& y) { return Pow(y, x); }

Expr OfTruncatedQuotient(const Expr& x, const Expr& y) {
  const Expr quotient = x / y;
  return IsFloating(x.dtype()) ? Sign(quotient) * Floor(Abs(quotient)) : quotient;
}

Expr OfXdivy(const Expr& x, const Expr& y) { return Where(x == 0, 0.0, x / y); }

Expr OfXlogy(const Expr& x, const Expr& y) {
  return Where((x == 0) & Not(IsNan(y)), 0.0, x * Log(y));
}

Expr OfSquaredDifference(const Expr& x, const Expr& y) { return Square(x - y); }
Expr OfZeta(const Expr& x, const Expr& y) { return Zeta(x, y); }

template <Combine F>
Value* Of(OneflowArgs& a) {
  return F(a.in(0), a.in(1));
}

// The number has the operand's type.
template <Combine F>
Value* WithScalar(OneflowArgs& a) {
  return F(a.in(0), a.Scalar(a.dtype()));
}

Value* FromAtan2(OneflowArgs& a) {
  return AsTorch(a, "aten::atan2.default", {{"self", a.in(0)}, {"other", a.in(1)}})[0];
}

Value* FromAddN(OneflowArgs& a) {
  return a.num_inputs() == 1 ? a.Op("identity", {a.in(0)}) : a.Op("sum", a.inputs());
}

// A vector along an axis.
Value* BiasAdd(OneflowArgs& a) {
  const int64_t rank = a.in(0).rank();
  return a.in(0) + AlongAxis(a.in(1), a.AxisOf(a.Int("axis"), rank), rank);
}

Value* FromLerp(OneflowArgs& a) { return a.in(0) + a.in(2) * (a.in(1) - a.in(0)); }
Value* ScalarLerp(OneflowArgs& a) { return a.in(0) + a.Scalar(a.dtype()) * (a.in(1) - a.in(0)); }

Value* WeightedSum(OneflowArgs& a) {
  const std::vector<float> weights = a.Floats("weights");
  const double alpha = a.Number("alpha");
  a.Require(weights.size() == a.num_inputs() && !weights.empty(), "another number of weights");
  Expr sum = Scaled(a.in(0), weights[0]);
  for (size_t i = 1; i < weights.size(); ++i) sum = sum + Scaled(a.in(i), weights[i]);
  return Scaled(sum, alpha);
}

Value* CastScale(OneflowArgs& a) {
  const double scale = a.Number("scale");
  const Expr by = a.in(1);
  return Scaled(a.in(0).To(by.dtype()) * by, scale);
}

template <bool maximum>
Value* ToExtreme(OneflowWriter& w) {
  const std::string_view op = maximum ? "broadcast_maximum" : "broadcast_minimum";
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  return w.Oneflow(op, {w.FoldedButLast(maximum ? "max" : "min"), w.in(w.num_inputs() - 1)});
}

absl::StatusOr<Value*> ToSum(OneflowWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  bool same = true;
  for (const Value* x : w.node().inputs()) {
    same &= x->shape() && w.shape() && *x->shape() == *w.shape();
  }
  if (same) return w.Oneflow("add_n", w.node().inputs());
  return w.Oneflow("broadcast_add", {w.FoldedButLast("sum"), w.in(w.num_inputs() - 1)});
}

absl::StatusOr<Value*> ToMod(OneflowWriter& w) {
  if (w.Int("fmod") != 0) return w.Oneflow("broadcast_fmod", {w.in(0), w.in(1)});
  return w.Oneflow("broadcast_floor_mod", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToPow(OneflowWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return w.Oneflow("broadcast_pow", {w.in(0), w.in(1)});
}

// --- Comparison and logic -----------------------------------------------------------------------

Expr IsDifferent(const Expr& x, const Expr& y) { return Not(x == y); }
Expr IsEqual(const Expr& x, const Expr& y) { return x == y; }
Expr IsLess(const Expr& x, const Expr& y) { return x < y; }
Expr IsLessEqual(const Expr& x, const Expr& y) { return x <= y; }
Expr IsGreater(const Expr& x, const Expr& y) { return x > y; }
Expr IsGreaterEqual(const Expr& x, const Expr& y) { return x >= y; }
Expr AsBool(const Expr& x) { return x.dtype() == DType::kBool ? x : IsTrue(x); }
Expr BothTrue(const Expr& x, const Expr& y) { return AsBool(x) & AsBool(y); }
Expr AnyTrue(const Expr& x, const Expr& y) { return AsBool(x) | AsBool(y); }
Expr OneTrue(const Expr& x, const Expr& y) { return AsBool(x) ^ AsBool(y); }

// The result has the operand's own type.
Value* InplaceGreater(OneflowArgs& a) { return Expr(a.in(0) > a.in(1)).To(a.dtype()); }

Value* ScalarInplaceGreater(OneflowArgs& a) {
  return Expr(a.in(0) > a.Scalar(a.dtype())).To(a.dtype());
}

template <bool equal_nan>
Value* IsClose(OneflowArgs& a) {
  const double atol = a.Number("atol"), rtol = a.Number("rtol");
  // Tolerances are no integers.
  const auto real = [](const Expr& v) { return IsFloating(v.dtype()) ? v : v.To(DType::kFloat64); };
  const Expr x = real(a.in(0)), y = real(a.in(1));
  const Expr close = (x == y) | (Abs(x - y) <= Abs(y) * rtol + atol);
  if (!IsFloating(a.dtype())) return close;
  const Expr finite = close & ((x == y) | Not(IsInf(x) | IsInf(y)));
  return equal_nan ? finite | (IsNan(x) & IsNan(y)) : finite;
}

template <char op>
Value* ScalarBits(OneflowArgs& a) {
  const Expr number = a.type() == DType::kBool
                          ? Expr(a, a.b().Constant(Tensor::Scalar<bool>(a.Int("operand") != 0)))
                          : IntegerOf(a.b(), a.type(), a.Int("operand"));
  if (a.type() == DType::kBool) {
    return op == '&' ? a.in(0) & number : op == '|' ? a.in(0) | number : a.in(0) ^ number;
  }
  return a.Op(op == '&'   ? "bitwise_and"
              : op == '|' ? "bitwise_or"
                          : "bitwise_xor",
              {a.in(0), number});
}

template <char op>
Value* Bits(OneflowArgs& a) {
  if (a.type() == DType::kBool) {
    return op == '&' ? a.in(0) & a.in(1) : op == '|' ? a.in(0) | a.in(1) : a.in(0) ^ a.in(1);
  }
  return a.Op(op == '&'   ? "bitwise_and"
              : op == '|' ? "bitwise_or"
                          : "bitwise_xor",
              {a.in(0), a.in(1)});
}

// --- Choices ------------------------------------------------------------------------------------

Value* FromWhere(OneflowArgs& a) { return Select(AsBool(a.in(0)), a.in(1), a.in(2)); }

Value* WhereScalarX(OneflowArgs& a) {
  return Select(AsBool(a.in(0)), a.Scalar(a.dtype(1)), a.in(1));
}

Value* WhereScalarY(OneflowArgs& a) {
  return Select(AsBool(a.in(0)), a.in(1), a.Scalar(a.dtype(1)));
}

// Two numbers, both integers or both floats.
Value* WhereScalars(OneflowArgs& a) {
  const bool real[] = {a.Bool("has_x_float_operand"), a.Bool("has_y_float_operand")};
  const bool whole[] = {a.Bool("has_x_int_operand"), a.Bool("has_y_int_operand")};
  const bool floats = real[0] && real[1];
  a.Require(floats || (whole[0] && whole[1]), "numbers of different types");
  const double real_x = a.Number("x_float_operand"), real_y = a.Number("y_float_operand");
  const int64_t int_x = a.Int("x_int_operand"), int_y = a.Int("y_int_operand");
  const DType type = floats ? DType::kFloat64 : DType::kInt64;
  const auto number = [&](double real, int64_t integer) {
    return floats ? Expr(a.b(), a.b().Scalar(type, real)) : IntegerOf(a.b(), type, integer);
  };
  return Select(AsBool(a.in(0)), number(real_x, int_x), number(real_y, int_y));
}

Value* MaskedFill(OneflowArgs& a) { return Select(AsBool(a.in(1)), a.Scalar(a.dtype()), a.in(0)); }

Value* Searched(OneflowArgs& a, const Expr& values) {
  const bool narrow = a.Bool("out_int32"), right = a.Bool("right");
  return AsTorch(
      a, "aten::searchsorted.Tensor",
      {{"sorted_sequence", a.in(0)}, {"self", values}, {"out_int32", narrow}, {"right", right}},
      {narrow ? DType::kInt32 : DType::kInt64})[0];
}

Value* SearchSorted(OneflowArgs& a) { return Searched(a, a.in(1)); }

Value* SearchSortedScalar(OneflowArgs& a) {
  return Searched(a, a.in(0).Number(a.Number("values")));
}

}  // namespace

X2IR_ONEFLOW(add)
    .Is("broadcast_add")
    .From("add_n2")
    .From({{"bias_add", BiasAdd}, {"scalar_add", WithScalar<OfSum>}})
    .From("scalar_add_by_tensor")
    .From("host_scalar_add_by_tensor")
    .From({{"lerp", FromLerp}, {"scalar_lerp", ScalarLerp}, {"fused_weighted_sum", WeightedSum}});
X2IR_ONEFLOW(sum)
    .To("add_n", ToSum)
    .From({{"add_n", FromAddN},
           {"searchsorted", SearchSorted},
           {"searchsorted_scalar", SearchSortedScalar}});
X2IR_ONEFLOW(sub).Is("broadcast_sub").From("scalar_sub_by_tensor");
X2IR_ONEFLOW(mul)
    .Is("broadcast_mul")
    .From("scalar_mul", WithScalar<OfProduct>)
    .From("scalar_mul_by_tensor")
    .From("multiply")
    .From({{"squared_difference", Of<OfSquaredDifference>},
           {"fused_cast_scale", CastScale},
           {"xlogy", Of<OfXlogy>}});
X2IR_ONEFLOW(div)
    .Is("broadcast_div")
    .From("scalar_div", WithScalar<OfQuotient>)
    .From("scalar_div_by_tensor")
    .From({{"floordiv", Of<FloorQuotient>},
           {"scalar_floordiv", WithScalar<FloorQuotient>},
           {"truncdiv", Of<OfTruncatedQuotient>},
           {"scalar_truncdiv", WithScalar<OfTruncatedQuotient>},
           {"xdivy", Of<OfXdivy>}});
X2IR_ONEFLOW(pow)
    .To("broadcast_pow", ToPow)
    .From("broadcast_pow")
    .From("pow")
    .From({{"scalar_pow", WithScalar<OfPower>},
           {"scalar_reverse_pow", WithScalar<OfReversePower>},
           {"broadcast_zeta", Of<OfZeta>}});
X2IR_ONEFLOW(mod)
    .To("broadcast_floor_mod", ToMod)
    .From({{"broadcast_fmod", Of<TruncatedMod>},
           {"scalar_fmod", WithScalar<TruncatedMod>},
           {"broadcast_floor_mod", Of<FloorMod>}});
X2IR_ONEFLOW(max)
    .To("broadcast_maximum", ToExtreme<true>)
    .From("broadcast_maximum")
    .From("elementwise_maximum");
X2IR_ONEFLOW(min)
    .To("broadcast_minimum", ToExtreme<false>)
    .From("broadcast_minimum")
    .From("elementwise_minimum");
X2IR_ONEFLOW(atan).From("atan2", FromAtan2);
X2IR_ONEFLOW(equal)
    .Is("broadcast_equal")
    .From({{"scalar_logical_equal", WithScalar<IsEqual>},
           {"broadcast_isclose_eq_nan", IsClose<true>},
           {"broadcast_isclose_neq_nan", IsClose<false>}});
X2IR_ONEFLOW(not ).From({{"broadcast_not_equal", Of<IsDifferent>},
                         {"scalar_logical_not_equal", WithScalar<IsDifferent>}});
X2IR_ONEFLOW(less).Is("broadcast_less").From("scalar_logical_less", WithScalar<IsLess>);
X2IR_ONEFLOW(less_or_equal)
    .Is("broadcast_less_equal")
    .From("scalar_logical_less_equal", WithScalar<IsLessEqual>);
X2IR_ONEFLOW(greater)
    .Is("broadcast_greater")
    .From({{"scalar_logical_greater", WithScalar<IsGreater>},
           {"broadcast_inplace_greater", InplaceGreater},
           {"scalar_logical_inplace_greater", ScalarInplaceGreater}});
X2IR_ONEFLOW(greater_or_equal)
    .Is("broadcast_greater_equal")
    .From("scalar_logical_greater_equal", WithScalar<IsGreaterEqual>);
X2IR_ONEFLOW(and)
    .To("broadcast_logical_and")
    .From({{"broadcast_logical_and", Of<BothTrue>}, {"scalar_logical_and", WithScalar<BothTrue>}});
X2IR_ONEFLOW(or)
    .To("broadcast_logical_or")
    .From({{"broadcast_logical_or", Of<AnyTrue>}, {"scalar_logical_or", WithScalar<AnyTrue>}});
X2IR_ONEFLOW(xor)
    .To("broadcast_logical_xor")
    .From({{"broadcast_logical_xor", Of<OneTrue>}, {"scalar_logical_xor", WithScalar<OneTrue>}});
X2IR_ONEFLOW(bitwise_and)
    .To("broadcast_bitwise_and")
    .From({{"broadcast_bitwise_and", Bits<'&'>}, {"scalar_bitwise_and", ScalarBits<'&'>}});
X2IR_ONEFLOW(bitwise_or)
    .To("broadcast_bitwise_or")
    .From({{"broadcast_bitwise_or", Bits<'|'>}, {"scalar_bitwise_or", ScalarBits<'|'>}});
X2IR_ONEFLOW(bitwise_xor)
    .To("broadcast_bitwise_xor")
    .From({{"broadcast_bitwise_xor", Bits<'^'>}, {"scalar_bitwise_xor", ScalarBits<'^'>}});
X2IR_ONEFLOW(where).To("where").From({{"where", FromWhere},
                                      {"where_scalar_x", WhereScalarX},
                                      {"where_scalar_y", WhereScalarY},
                                      {"where_scalar_xy", WhereScalars},
                                      {"masked_fill", MaskedFill}});

}  // namespace x2ir
