// OneFlow: functions of each element.
#include <numbers>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/error_function.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

Value* FromSquare(OneflowArgs& a) { return Square(a.in(0)); }
Value* FromRsqrt(OneflowArgs& a) { return 1 / Sqrt(a.in(0)); }
Value* SquareRelu(OneflowArgs& a) { return Square(a.Op("relu", {a.in(0)})); }
Value* FromLog1p(OneflowArgs& a) { return Log1p(a.in(0)); }
Value* FromExpm1(OneflowArgs& a) { return Expm1(a.in(0)); }
Value* Log2(OneflowArgs& a) { return Log(a.in(0)) * (1 / std::numbers::ln2); }
Value* Log10(OneflowArgs& a) { return Log(a.in(0)) * (1 / std::numbers::ln10); }
Value* Exp2(OneflowArgs& a) { return Pow(2.0, a.in(0)); }
Value* FromLgamma(OneflowArgs& a) { return Lgamma(a.in(0)); }
Value* FromDigamma(OneflowArgs& a) { return Digamma(a.in(0)); }
Value* Trigamma(OneflowArgs& a) { return Polygamma(a.in(0).Number(1), a.in(0)); }
Value* FromErfinv(OneflowArgs& a) { return Erfinv(a.in(0)); }
Value* FromErfc(OneflowArgs& a) { return AsTorch(a, "aten::erfc.default", {{"self", a.in(0)}})[0]; }
Value* FromLogSigmoid(OneflowArgs& a) { return LogSigmoid(a.in(0)); }

Expr Truncated(const Expr& x) { return IsFloating(x.dtype()) ? Sign(x) * Floor(Abs(x)) : x; }
Value* Trunc(OneflowArgs& a) { return Truncated(a.in(0)); }
Value* Frac(OneflowArgs& a) { return a.in(0) - Truncated(a.in(0)); }

Value* ReciprocalNoNan(OneflowArgs& a) {
  const Expr x = a.in(0);
  return Where(x == 0, 0.0, 1 / x);
}
Value* NotEqualZero(OneflowArgs& a) { return IsTrue(a.in(0)); }
Value* LogicalNot(OneflowArgs& a) {
  return a.dtype() == DType::kBool ? Not(a.in(0)) : a.in(0) == 0;
}
// Integers are no special numbers.
Expr AsFloats(OneflowArgs& a) {
  return IsFloating(a.dtype()) ? a.in(0) : a.in(0).To(DType::kFloat32);
}
Value* IsFinite(OneflowArgs& a) { return Not(IsNan(AsFloats(a)) | IsInf(AsFloats(a))); }
Value* FromIsNan(OneflowArgs& a) { return IsNan(AsFloats(a)); }
Value* FromIsInf(OneflowArgs& a) { return IsInf(AsFloats(a)); }
Value* BitwiseNot(OneflowArgs& a) {
  return a.dtype() == DType::kBool ? Not(a.in(0)) : a.Op("bitwise_not", {a.in(0)});
}

Value* ToNot(OneflowWriter& w) { return w.Oneflow("logical_not", {w.in(0)}); }
absl::StatusOr<Value*> ToIsInf(OneflowWriter& w) {
  if (w.Int("detect_negative") == 0 || w.Int("detect_positive") == 0) {
    return CannotExpress("infinities of one sign");
  }
  return w.Oneflow("isinf", {w.in(0)});
}

}  // namespace

X2IR_ONEFLOW(abs).Is("abs");
X2IR_ONEFLOW(acos).Is("acos");
X2IR_ONEFLOW(acosh).Is("acosh");
X2IR_ONEFLOW(asin).Is("asin");
X2IR_ONEFLOW(asinh).Is("asinh");
X2IR_ONEFLOW(atan).Is("atan");
X2IR_ONEFLOW(atanh).Is("atanh");
X2IR_ONEFLOW(bitwise_not).To("bitwise_not").From("bitwise_not", BitwiseNot);
X2IR_ONEFLOW(ceil).Is("ceil");
X2IR_ONEFLOW(cos).Is("cos");
X2IR_ONEFLOW(cosh).Is("cosh");
X2IR_ONEFLOW(erf).Is("erf").From({{"erfc", FromErfc}, {"erfinv", FromErfinv}});
X2IR_ONEFLOW(exp).Is("exp").From({{"exp2", Exp2}, {"expm1", FromExpm1}});
X2IR_ONEFLOW(floor).Is("floor").From({{"trunc", Trunc}, {"frac", Frac}});
X2IR_ONEFLOW(is_nan).To("isnan").From("isnan", FromIsNan);
X2IR_ONEFLOW(is_inf).To("isinf", ToIsInf).From({{"isinf", FromIsInf}, {"isfinite", IsFinite}});
X2IR_ONEFLOW(log).Is("log").From({{"log1p", FromLog1p},
                                  {"log2", Log2},
                                  {"log10", Log10},
                                  {"lgamma", FromLgamma},
                                  {"digamma", FromDigamma},
                                  {"trigamma", Trigamma},
                                  {"log_sigmoid", FromLogSigmoid}});
X2IR_ONEFLOW(mul).From({{"square", FromSquare}, {"square_relu", SquareRelu}});
X2IR_ONEFLOW(neg).Is("negative").From("neg");
X2IR_ONEFLOW(not )
    .To("logical_not", ToNot)
    .From({{"logical_not", LogicalNot}, {"not_equal_zero", NotEqualZero}});
X2IR_ONEFLOW(reciprocal).Is("reciprocal");
X2IR_ONEFLOW(div).From({{"rsqrt", FromRsqrt}, {"reciprocal_no_nan", ReciprocalNoNan}});
// Halves to even, as C's nearbyint and rint.
X2IR_ONEFLOW(round).Is("round").From("rint");
X2IR_ONEFLOW(sign).Is("sign");
X2IR_ONEFLOW(sin).Is("sin");
X2IR_ONEFLOW(sinh).Is("sinh");
X2IR_ONEFLOW(sqrt).Is("sqrt");
X2IR_ONEFLOW(tan).Is("tan");
X2IR_ONEFLOW(tanh).Is("tanh");

}  // namespace x2ir
