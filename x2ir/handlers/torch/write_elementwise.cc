// Functions of elements, arithmetic and comparisons, written as calls.
#include <cmath>
#include <limits>

#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Rounding, signs, tests -----------------------------------------------------------------

X2IR_TORCH(floor).To("aten::floor.default");
X2IR_TORCH(ceil).To("aten::ceil.default");
X2IR_TORCH(round).To("aten::round.default");
X2IR_TORCH(sign).To("aten::sign.default");
X2IR_TORCH(is_nan).To("aten::isnan.default");
X2IR_TORCH(not ).To("aten::logical_not.default");
X2IR_TORCH(bitwise_not).To("aten::bitwise_not.default");

// PyTorch's is a float of integers, too.
absl::StatusOr<Value*> WriteErf(TorchWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("the error function of integers");
  return w.Call("aten::erf.default", {{"self", w.in(0)}});
}
X2IR_TORCH(erf).To("aten::erf.default", WriteErf);

absl::StatusOr<Value*> WriteIsInf(TorchWriter& w) {
  const bool negative = w.Int("detect_negative") != 0, positive = w.Int("detect_positive") != 0;
  if (!negative && !positive) return CannotExpress("a test for neither infinity");
  return w.Call(negative && positive ? "aten::isinf.default"
                : positive           ? "aten::isposinf.default"
                                     : "aten::isneginf.default",
                {{"self", w.in(0)}});
}
X2IR_TORCH(is_inf).To("aten::isinf.default", WriteIsInf);

// --- Arithmetic -----------------------------------------------------------------------------

X2IR_TORCH(add).To("aten::add.Tensor");
X2IR_TORCH(sub).To("aten::sub.Tensor");
X2IR_TORCH(mul).To("aten::mul.Tensor");

// Integers go towards zero.
Value* WriteDiv(TorchWriter& w) {
  if (IsFloating(w.dtype())) {
    return w.Call("aten::div.Tensor", {{"self", w.in(0)}, {"other", w.in(1)}});
  }
  return w.Call("aten::div.Tensor_mode",
                {{"self", w.in(0)}, {"other", w.in(1)}, {"rounding_mode", "trunc"}});
}
X2IR_TORCH(div).To("aten::div.Tensor", WriteDiv);

absl::StatusOr<Value*> WriteMod(TorchWriter& w) {
  const bool fmod = w.Int("fmod") != 0;
  if (!fmod && IsFloating(w.dtype())) {
    return CannotExpress("remainders of floats that have the divisor's sign");
  }
  return w.Call(fmod ? "aten::fmod.Tensor" : "aten::remainder.Tensor",
                {{"self", w.in(0)}, {"other", w.in(1)}});
}
X2IR_TORCH(mod).To("aten::remainder.Tensor", WriteMod);

absl::StatusOr<Value*> WritePow(TorchWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return w.Call("aten::pow.Tensor_Tensor", {{"self", w.in(0)}, {"exponent", w.in(1)}});
}
X2IR_TORCH(pow).To("aten::pow.Tensor_Tensor", WritePow);

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
X2IR_TORCH(max).To("aten::maximum.default", WriteFold("max", "aten::maximum.default"));
X2IR_TORCH(min).To("aten::minimum.default", WriteFold("min", "aten::minimum.default"));

// Bounds that are known are Python numbers.
absl::StatusOr<Value*> WriteClip(TorchWriter& w) {
  const auto known = [&](size_t i) { return !w.has(i) || KnownTensor(*w.in(i)); };
  if (!w.has(1) && !w.has(2)) return w.Op("identity", {w.in(0)});
  TorchArguments arguments = {{"self", w.in(0)}};
  const bool numbers = known(1) && known(2);
  for (const auto& [name, i] : {std::pair("min", 1), {"max", 2}}) {
    if (!w.has(i)) {
      if (i == 1) arguments.emplace_back(name, nullptr);
    } else if (numbers) {
      arguments.emplace_back(name, w.Scalar(w.in(i)));
    } else {
      X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(i));
      arguments.emplace_back(name, rank == 0 ? w.in(i) : w.Reshape(w.in(i), {}));
    }
  }
  return w.Call(numbers ? "aten::clamp.default" : "aten::clamp.Tensor", std::move(arguments));
}
X2IR_TORCH(clip).To("aten::clamp.default", WriteClip);

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
X2IR_TORCH(bit_shift).To("aten::bitwise_left_shift.Tensor", WriteShift);
X2IR_TORCH(bitwise_and).To("aten::bitwise_and.Tensor");
X2IR_TORCH(bitwise_or).To("aten::bitwise_or.Tensor");
X2IR_TORCH(bitwise_xor).To("aten::bitwise_xor.Tensor");

// --- Comparisons, logic, choices ------------------------------------------------------------

X2IR_TORCH(equal).To("aten::eq.Tensor");
X2IR_TORCH(less).To("aten::lt.Tensor");
X2IR_TORCH(less_or_equal).To("aten::le.Tensor");
X2IR_TORCH(greater).To("aten::gt.Tensor");
X2IR_TORCH(greater_or_equal).To("aten::ge.Tensor");
X2IR_TORCH(and).To("aten::logical_and.default");
X2IR_TORCH(or).To("aten::logical_or.default");
X2IR_TORCH(xor).To("aten::logical_xor.default");
X2IR_TORCH(where).To("aten::where.self");

// --- Element types --------------------------------------------------------------------------

// PyTorch rounds as the IR does, to nearest even; what is too large becomes infinite or NaN. The
// IR's default is the largest number instead, for infinities too.
absl::StatusOr<Value*> WriteFloat8(TorchWriter& w, DType to) {
  double most = 0;
  switch (to) {
    case DType::kFloat8E4M3FN: most = 448; break;
    case DType::kFloat8E4M3FNUZ: most = 240; break;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ: most = 57344; break;
    default: return CannotExpress("casts to ", Name(to));
  }
  const DType from = w.dtype();
  if (!IsFloating(from) || BitWidth(from) < 16 || BitWidth(from) > 32) {
    return CannotExpress("casts of ", Name(from), " to ", Name(to));
  }
  // As float32, of which PyTorch has the conversion itself.
  Value* x = w.Cast(w.in(0), DType::kFloat32);
  if (w.Int("saturate") != 0) {
    x = w.Call("aten::clamp.default", {{"self", x}, {"min", -most}, {"max", most}}, x->type());
  } else if (to == DType::kFloat8E4M3FN) {
    // What PyTorch makes of larger ones differs among its versions. 464 is rounded down.
    Value* fits = w.Op("less_or_equal", {w.Op("abs", {x}), w.Number(DType::kFloat32, 464)});
    x = w.Op("where", {fits, x, w.Number(DType::kFloat32, std::nan(""))});
  }
  return w.Call("aten::_to_copy.default", {{"self", x}, {"dtype", to}});
}

absl::StatusOr<Value*> WriteCast(TorchWriter& w) {
  const DType to = w.DTypeAttr("to");
  if (to == DType::kString || w.dtype() == DType::kString) return CannotExpress("casts of strings");
  if (IsFloating(to) && BitWidth(to) <= 8) return WriteFloat8(w, to);
  return w.Call("aten::_to_copy.default", {{"self", w.in(0)}, {"dtype", to}});
}
X2IR_TORCH(cast).To("aten::_to_copy.default", WriteCast);

Value* WriteBitCast(TorchWriter& w) {
  return w.Call("aten::view.dtype", {{"self", w.in(0)}, {"dtype", w.DTypeAttr("to")}});
}
X2IR_TORCH(bit_cast).To("aten::view.dtype", WriteBitCast);

}  // namespace
}  // namespace x2ir
