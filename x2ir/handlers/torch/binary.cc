// Sums, products, quotients and powers, with PyTorch's rules for integers and bools.
#include <cmath>

#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

// The sum of bools is whether any is true, their product whether all are.
Values AddOf(TorchCall& c, Value* a, Value* b, const TorchNumber& alpha, bool subtract) {
  const DType t = c.out_dtype();
  if (t == DType::kBool) {
    if (subtract) return c.Fail(Unimplemented("bools are not subtracted"));
    return {alpha.real() == 0 ? c.Op("identity", {a}) : c.Op("or", {a, b})};
  }
  if (alpha.c != 1.0) b = c.Op("mul", {b, c.Constant(t, alpha)});
  return {c.Op(subtract ? "sub" : "add", {a, b})};
}

Values Add(TorchCall& c, bool subtract) {
  const DType t = c.out_dtype();
  const TorchNumber alpha = c.Number("alpha", 1);
  return AddOf(c, c.Operand("self", t), c.Operand("other", t), alpha, subtract);
}
Values Rsub(TorchCall& c) {
  const DType t = c.out_dtype();
  const TorchNumber alpha = c.Number("alpha", 1);
  return AddOf(c, c.Operand("other", t), c.Operand("self", t), alpha, /*subtract=*/true);
}

Values Mul(TorchCall& c) {
  const DType t = c.out_dtype();
  return {c.Op(t == DType::kBool ? "and" : "mul", {c.Operand("self", t), c.Operand("other", t)})};
}

// Rounded towards zero, with the sign of zero that truncation gives.
Value* Truncated(TorchCall& c, Value* x) {
  Value* size = c.Op("floor", {c.Op("abs", {x})});
  return c.Op("where", {c.Op("less", {x, c.Constant(x->dtype(), 0)}), c.Op("neg", {size}), size});
}

// The quotient of integers rounded down: what truncating division leaves decides.
Value* FloorDivInts(TorchCall& c, Value* a, Value* b) {
  const DType t = a->dtype();
  Value* quotient = c.Op("div", {a, b});
  if (IsUnsignedInt(t)) return quotient;
  Value* rest = c.Op("sub", {a, c.Op("mul", {quotient, b})});
  Value* zero = c.Constant(t, 0);
  Value* inexact = c.Op("not", {c.Op("equal", {rest, zero})});
  Value* signs = c.Op("xor", {c.Op("less", {rest, zero}), c.Op("less", {b, zero})});
  Value* one = c.Cast(c.Op("and", {inexact, signs}), t);
  return c.Op("sub", {quotient, one});
}

// Python's a // b of floats: from the remainder, which is exact, and not from the quotient, which
// may be rounded up to a whole number.
Value* FloorDivFloats(TorchCall& c, Value* a, Value* b) {
  const DType t = a->dtype();
  Value* zero = c.Constant(t, 0);
  Value* rest = c.Op("mod", {a, b}, {{"fmod", 1}});
  Value* quotient = c.Op("div", {c.Op("sub", {a, rest}), b});
  Value* signs = c.Op("xor", {c.Op("less", {rest, zero}), c.Op("less", {b, zero})});
  Value* inexact = c.Op("not", {c.Op("equal", {rest, zero})});
  Value* down = c.Op("and", {inexact, signs});
  quotient = c.Op("sub", {quotient, c.Cast(down, t)});
  Value* floor = c.Op("floor", {quotient});
  Value* half = c.Op("greater", {c.Op("sub", {quotient, floor}), c.Constant(t, 0.5)});
  floor = c.Op("add", {floor, c.Cast(half, t)});
  // A zero has the sign of the quotient.
  Value* plain = c.Op("div", {a, b});
  Value* is_zero = c.Op("equal", {quotient, zero});
  floor = c.Op("where", {is_zero, c.Op("mul", {plain, zero}), floor});
  return c.Op("where", {c.Op("equal", {b, zero}), plain, floor});
}

Value* Divide(TorchCall& c, Value* a, Value* b, std::string_view mode) {
  const bool floats = IsFloating(a->dtype());
  if (mode.empty()) return c.Op("div", {a, b});
  if (mode == "floor") return floats ? FloorDivFloats(c, a, b) : FloorDivInts(c, a, b);
  Value* quotient = c.Op("div", {a, b});
  return floats ? Truncated(c, quotient) : quotient;
}

Values Div(TorchCall& c) {
  const DType t = c.out_dtype();
  const std::string mode = c.String("rounding_mode", "");
  if (!mode.empty() && mode != "floor" && mode != "trunc") {
    return c.Fail(Invalid("rounding_mode '", mode, "'"));
  }
  return {Divide(c, c.Operand("self", t), c.Operand("other", t), mode)};
}
Values FloorDivide(TorchCall& c) {
  const DType t = c.out_dtype();
  return {Divide(c, c.Operand("self", t), c.Operand("other", t), "floor")};
}

// The sign of the divisor (remainder) or of the dividend (fmod).
Values Remainder(TorchCall& c, bool fmod) {
  const DType t = c.out_dtype();
  Value* a = c.Operand("self", t);
  Value* b = c.Operand("other", t);
  if (fmod || IsInteger(t)) return {c.Op("mod", {a, b}, {{"fmod", fmod}})};
  Value* rest = c.Op("mod", {a, b}, {{"fmod", 1}});
  Value* zero = c.Constant(t, 0);
  Value* signs = c.Op("xor", {c.Op("less", {rest, zero}), c.Op("less", {b, zero})});
  Value* other = c.Op("and", {c.Op("not", {c.Op("equal", {rest, zero})}), signs});
  return {c.Op("where", {other, c.Op("add", {rest, b}), rest})};
}

// An exponent that is known to be small says better what is meant.
Values PowCall(TorchCall& c) {
  const DType t = c.out_dtype();
  if (t == DType::kBool) return c.Fail(Unimplemented("powers of bools"));
  if (c.Has("exponent")) {
    Value* base = c.Operand("self", t);
    return {c.Op("pow", {base, c.Operand("exponent", t)})};
  }
  return c.Fail(Invalid("argument 'exponent' is missing"));
}

X2IR_TORCH(add).From({"aten::add.Tensor", "aten::add.Scalar"},
                     [](TorchCall& c) { return Add(c, false); });
X2IR_TORCH(sub)
    .From({"aten::sub.Tensor", "aten::sub.Scalar", "aten::subtract.Tensor",
           "aten::subtract.Scalar"},
          [](TorchCall& c) { return Add(c, true); })
    .From({"aten::rsub.Tensor", "aten::rsub.Scalar"}, Rsub);
X2IR_TORCH(mul).From({"aten::mul.Tensor", "aten::mul.Scalar", "aten::multiply.Tensor",
                      "aten::multiply.Scalar"},
                     Mul);
X2IR_TORCH(div)
    .From({"aten::div.Tensor", "aten::div.Scalar", "aten::div.Tensor_mode", "aten::div.Scalar_mode",
           "aten::divide.Tensor", "aten::divide.Scalar", "aten::divide.Tensor_mode",
           "aten::divide.Scalar_mode", "aten::true_divide.Tensor", "aten::true_divide.Scalar"},
          Div)
    .From({"aten::floor_divide.default", "aten::floor_divide.Scalar"}, FloorDivide);
X2IR_TORCH(mod)
    .From({"aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor"},
          [](TorchCall& c) { return Remainder(c, false); })
    .From({"aten::fmod.Tensor", "aten::fmod.Scalar"},
          [](TorchCall& c) { return Remainder(c, true); });
X2IR_TORCH(pow).From({"aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar", "aten::pow.Scalar"},
                     PowCall);

}  // namespace
}  // namespace x2ir
