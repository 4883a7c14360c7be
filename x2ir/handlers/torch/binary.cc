// Sums, products, quotients and powers, with PyTorch's rules for integers and bools.
#include <limits>

#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

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

// What torch.utils.mobile_optimizer makes of a sum and relu.
Values AddRelu(TorchCall& c) {
  const Values sum = Add(c, /*subtract=*/false);
  if (sum.empty() || !sum[0]) return sum;
  return {c.Op("relu", {sum[0]})};
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

X2IR_TORCH(add)
    .From({"aten::add.Tensor", "aten::add.Scalar"}, [](TorchCall& c) { return Add(c, false); })
    .From({"aten::_add_relu.Tensor", "aten::_add_relu.Scalar"}, AddRelu);
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

// Integers go towards zero.
Value* WriteDiv(TorchWriter& w) {
  if (IsFloating(w.dtype())) {
    return w.Call("aten::div.Tensor", {{"self", w.in(0)}, {"other", w.in(1)}});
  }
  return w.Call("aten::div.Tensor_mode",
                {{"self", w.in(0)}, {"other", w.in(1)}, {"rounding_mode", "trunc"}});
}

absl::StatusOr<Value*> WriteMod(TorchWriter& w) {
  const bool fmod = w.Int("fmod") != 0;
  if (!fmod && IsFloating(w.dtype())) {
    return CannotExpress("remainders of floats that have the divisor's sign");
  }
  return w.Call(fmod ? "aten::fmod.Tensor" : "aten::remainder.Tensor",
                {{"self", w.in(0)}, {"other", w.in(1)}});
}

absl::StatusOr<Value*> WritePow(TorchWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return w.Call("aten::pow.Tensor_Tensor", {{"self", w.in(0)}, {"exponent", w.in(1)}});
}

// Numbers of 64 bits are in the same order as the signed ones whose first bit is the other one.
Value* AsSigned(TorchWriter& w, Symbol ir) {
  Value* turn = w.b().Int(std::numeric_limits<int64_t>::min());
  const auto turned = [&](Value* x) { return w.Op("bitwise_xor", {x, turn}); };
  std::vector<Value*> operands;
  for (size_t i = 0; i < w.num_inputs(); ++i) {
    operands.push_back(turned(w.Op("bit_cast", {w.in(i)}, {{"to", "int64"}})));
  }
  return w.Op("bit_cast", {turned(w.Op(ir, operands))}, {{"to", "uint64"}});
}

// Two at a time.
auto WriteFold(Symbol ir, std::string_view op) {
  return [=](TorchWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
    if (w.dtype() == DType::kUInt64) return AsSigned(w, ir);
    Value* rest = w.FoldedButLast(ir);
    return w.Call(op, {{"self", rest}, {"other", w.in(w.num_inputs() - 1)}});
  };
}

// PyTorch shifts no unsigned integers but bytes.
absl::StatusOr<Value*> WriteShift(TorchWriter& w) {
  if (w.dtype() == DType::kUInt64) {
    const auto bits = [&](size_t i) { return w.Op("bit_cast", {w.in(i)}, {{"to", "int64"}}); };
    const auto shift = [&](Value* x, Value* by, const char* way) {
      return w.Op("bit_shift", {x, by}, {{"direction", way}});
    };
    Value *x = bits(0), *by = bits(1);
    Value* shifted = shift(x, by, "LEFT");
    if (w.String("direction") != "LEFT") {
      // The first step clears the sign.
      Value* one = w.b().Int(1);
      Value* most = w.b().Int(std::numeric_limits<int64_t>::max());
      Value* rest = shift(w.Op("bitwise_and", {shift(x, one, "RIGHT"), most}),
                          w.Op("sub", {by, one}), "RIGHT");
      shifted = w.Op("where", {w.Op("equal", {by, w.b().Int(0)}), x, rest});
    }
    return w.Op("bit_cast", {shifted}, {{"to", "uint64"}});
  }
  if (w.dtype() != DType::kUInt8 && !IsSignedInt(w.dtype())) {
    return CannotExpress("shifts of ", Name(w.dtype()));
  }
  return w.Call(w.String("direction") == "LEFT" ? "aten::bitwise_left_shift.Tensor"
                                                : "aten::bitwise_right_shift.Tensor",
                {{"self", w.in(0)}, {"other", w.in(1)}});
}

}  // namespace

X2IR_TORCH(add).To("aten::add.Tensor");
X2IR_TORCH(sub).To("aten::sub.Tensor");
X2IR_TORCH(mul).To("aten::mul.Tensor");
X2IR_TORCH(div).To("aten::div.Tensor", WriteDiv);
X2IR_TORCH(mod).To("aten::remainder.Tensor", WriteMod);
X2IR_TORCH(pow).To("aten::pow.Tensor_Tensor", WritePow);
X2IR_TORCH(max).To("aten::maximum.default", WriteFold("max", "aten::maximum.default"));
X2IR_TORCH(min).To("aten::minimum.default", WriteFold("min", "aten::minimum.default"));
X2IR_TORCH(bit_shift).To("aten::bitwise_left_shift.Tensor", WriteShift);
X2IR_TORCH(bitwise_and).To("aten::bitwise_and.Tensor");
X2IR_TORCH(bitwise_or).To("aten::bitwise_or.Tensor");
X2IR_TORCH(bitwise_xor).To("aten::bitwise_xor.Tensor");
X2IR_TORCH(equal).To("aten::eq.Tensor");
X2IR_TORCH(less).To("aten::lt.Tensor");
X2IR_TORCH(less_or_equal).To("aten::le.Tensor");
X2IR_TORCH(greater).To("aten::gt.Tensor");
X2IR_TORCH(greater_or_equal).To("aten::ge.Tensor");
X2IR_TORCH(and).To("aten::logical_and.default");
X2IR_TORCH(or).To("aten::logical_or.default");
X2IR_TORCH(xor).To("aten::logical_xor.default");
X2IR_TORCH(where).To("aten::where.self");

}  // namespace x2ir
