// Bounds, roundings to decimals, weighted sums by element.
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/special.h"

namespace x2ir {
namespace {

// NaN of either is the result: by selection, since runtimes differ in their max and min of NaN.
Expr Bounded(const Expr& x, const Expr& bound, bool from_below) {
  const Expr beyond = from_below ? x < bound : x > bound;
  const Expr y = Where(beyond, bound, x);
  return IsFloating(x.dtype()) ? Where(IsNan(bound), bound, y) : y;
}

// The bounds by those names; both are of the result's type.
Values ClampBy(TorchCall& c, std::string_view least, std::string_view most) {
  const DType t = c.out_dtype(), wide = WideType(t);
  if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
  Expr x = c.Operand("self", t).To(wide);
  const auto given = [&](std::string_view name) { return !name.empty() && c.Has(name); };
  if (given(least)) x = Bounded(x, c.Operand(least, t).To(wide), true);
  if (given(most)) x = Bounded(x, c.Operand(most, t).To(wide), false);
  c.Ignore({"min", "max"});
  return {x.To(t)};
}

// NaN only where both are.
Values FMax(TorchCall& c, bool most) {
  const DType t = c.out_dtype(), wide = WideType(t);
  const Expr a = c.Operand("self", wide), b = c.Operand("other", wide);
  Expr y = Where(most ? a < b : a > b, b, a);
  if (IsFloating(wide)) y = Where(IsNan(a), b, y);
  return {y.To(t)};
}

Values NanToNum(TorchCall& c) {
  const DType t = c.out_dtype();
  const auto nan = c.OptFloat("nan"), above = c.OptFloat("posinf"), below = c.OptFloat("neginf");
  const Expr x = c.Tensor("self");
  if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
  if (!IsFloating(t)) return {x.Op("identity").value()};
  double most = std::numeric_limits<double>::max();
  if (t == DType::kFloat32) most = std::numeric_limits<float>::max();
  if (t == DType::kFloat16) most = 65504;
  if (t == DType::kBFloat16) most = 0x1.FEp127;
  Expr y = Where(IsNan(x), x.Number(nan.value_or(0)), x);
  const Expr inf = IsInf(x);
  y = Where(inf & (x > 0), x.Number(above.value_or(most)), y);
  return {Where(inf & (x < 0), x.Number(below.value_or(-most)), y).value()};
}

Values RoundDecimals(TorchCall& c) {
  const DType t = c.out_dtype();
  const int64_t decimals = c.Int("decimals", 0);
  if (!IsFloating(t)) {
    if (decimals < 0) return c.Fail(Unimplemented("integers rounded to tens"));
    return {c.Tensor("self").Op("identity").value()};
  }
  const Expr x = c.Operand("self", AtLeastFloat32(t));
  if (decimals == 0) return {Round(x).To(t)};
  const double power = portable::pow(10.0, static_cast<double>(std::abs(decimals)));
  const Expr y = decimals > 0 ? Round(x * power) / power : Round(x / power) * power;
  return {y.To(t)};
}

// self + value * tensor1 * tensor2, or the quotient.
Values AddProduct(TorchCall& c, bool quotient) {
  const DType t = c.out_dtype(), computed = WideType(t);
  if (t == DType::kBool) return c.Fail(Unimplemented("of ", Name(t)));
  const Expr a = c.Operand("tensor1", computed), b = c.Operand("tensor2", computed);
  const Expr value = c.Constant(computed, c.Number("value", 1));
  const Expr product = quotient ? value * a / b : value * a * b;
  return {(c.Operand("self", computed) + product).To(t)};
}

// From the nearer end, so that both ends are exact.
Values Lerp(TorchCall& c) {
  const DType t = c.out_dtype(), computed = AtLeastFloat32(t);
  if (IsComplex(t)) return c.Fail(Unimplemented("of complex numbers"));
  const Expr a = c.Operand("self", computed), b = c.Operand("end", computed),
             w = c.Operand("weight", computed);
  const Expr apart = b - a;
  return {Where(Abs(w) < 0.5, a + w * apart, b - apart * (1 - w)).To(t)};
}

X2IR_TORCH(clip).From({"aten::clamp.default", "aten::clamp.Tensor", "aten::clip.default",
                       "aten::clip.Tensor"},
                      [](TorchCall& c) { return ClampBy(c, "min", "max"); });
X2IR_TORCH(max)
    .From({"aten::clamp_min.default", "aten::clamp_min.Tensor"},
          [](TorchCall& c) { return ClampBy(c, "min", ""); })
    .From("aten::fmax.default", [](TorchCall& c) { return FMax(c, true); });
X2IR_TORCH(min)
    .From({"aten::clamp_max.default", "aten::clamp_max.Tensor"},
          [](TorchCall& c) { return ClampBy(c, "", "max"); })
    .From("aten::fmin.default", [](TorchCall& c) { return FMax(c, false); });
X2IR_TORCH(where).From("aten::nan_to_num.default", NanToNum);
X2IR_TORCH(round).From({"aten::round.decimals", "aten::special_round.default"}, RoundDecimals);
X2IR_TORCH(add)
    .From("aten::addcmul.default", [](TorchCall& c) { return AddProduct(c, false); })
    .From("aten::addcdiv.default", [](TorchCall& c) { return AddProduct(c, true); })
    .From({"aten::lerp.Scalar", "aten::lerp.Tensor"}, Lerp);

}  // namespace
}  // namespace x2ir
