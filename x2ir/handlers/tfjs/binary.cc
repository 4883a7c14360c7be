// TensorFlow.js: arithmetic of two operands, for which it has fewer ops than TensorFlow. Integers
// are int32, computed in float64 and then taken modulo 2^32.
#include <string_view>

#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

Value* TfjsScalar(TfWriter& w, double number) { return w.Number(w.dtype(), number); }

// Whether the signs of the operands differ and `rest`, what is left of a division, is not 0.
Value* IsCorrected(TfWriter& w, Value* rest) {
  Value* zero = TfjsScalar(w, 0);
  Value* differs = w.Tf("NotEqual", {w.Tf("Less", {w.in(0), zero}), w.Tf("Less", {w.in(1), zero})});
  return w.Tf("LogicalAnd", {w.Tf("NotEqual", {rest, zero}), differs});
}

// FloorDiv rounds down; a quotient that is no integer and is negative is one too small then.
Value* ToTfjsDiv(TfWriter& w) {
  if (IsFloating(w.dtype())) return w.Tf("RealDiv", {w.in(0), w.in(1)});
  Value* quotient = w.Tf("FloorDiv", {w.in(0), w.in(1)});
  if (w.dtype() == DType::kUInt8) return quotient;
  Value* rest = w.Tf("FloorMod", {w.in(0), w.in(1)});
  Value* correction = w.Tf("Cast", {IsCorrected(w, rest)}, {{"DstT", Type::Tensor(w.dtype())}},
                           Type::Tensor(w.dtype()));
  return w.Tf("AddV2", {quotient, correction});
}

// FloorMod has the divisor's sign, TruncateMod that of the dividend.
absl::StatusOr<Value*> ToTfjsMod(TfWriter& w) {
  if (w.Int("fmod") == 0) {
    if (IsFloating(w.dtype())) {
      return CannotExpress("remainders of floats that have the divisor's sign");
    }
    return w.Tf("FloorMod", {w.in(0), w.in(1)});
  }
  if (IsFloating(w.dtype())) {
    Value* rest = w.Tf("FloorMod", {w.Tf("Abs", {w.in(0)}), w.Tf("Abs", {w.in(1)})});
    return w.Tf("Mul", {w.Tf("Sign", {w.in(0)}), rest});
  }
  Value* rest = w.Tf("FloorMod", {w.in(0), w.in(1)});
  if (w.dtype() == DType::kUInt8) return rest;
  return w.Tf("SelectV2", {IsCorrected(w, rest), w.Tf("Sub", {rest, w.in(1)}), rest});
}

// a or b = a + b - (a and b); a xor b = a + b - 2 * (a and b).
auto ToTfjsBits(int both) {
  return [=](TfWriter& w) {
    Value* common = w.Tf("BitwiseAnd", {w.in(0), w.in(1)});
    if (both == 2) common = w.Tf("AddV2", {common, common});
    return w.Tf("Sub", {w.Tf("AddV2", {w.in(0), w.in(1)}), common});
  };
}

Value* ToTfjsNot(TfWriter& w) {
  if (w.dtype() == DType::kUInt8) return w.Tf("Sub", {TfjsScalar(w, 255), w.in(0)});
  return w.Tf("Sub", {TfjsScalar(w, -1), w.in(0)});
}

// By a power of two; 2^31 is no int32, so that a shift to the right has two steps.
Value* ToTfjsShift(TfWriter& w) {
  Value* two = TfjsScalar(w, 2);
  if (w.String("direction") == "LEFT") {
    return w.Tf("Mul", {w.in(0), w.Tf("Pow", {two, w.in(1)})});
  }
  Value* half = w.Tf("FloorDiv", {w.in(1), two});
  Value* once = w.Tf("FloorDiv", {w.in(0), w.Tf("Pow", {two, half})});
  return w.Tf("FloorDiv", {once, w.Tf("Pow", {two, w.Tf("Sub", {w.in(1), half})})});
}

// Integers of 8 bits do not wrap around by themselves.
absl::StatusOr<Value*> ToTfjsCast(TfWriter& w) {
  const DType from = w.dtype(), to = w.DTypeAttr("to");
  if (to == DType::kString || from == DType::kString) return CannotExpress("casts of strings");
  const auto cast = [&](Value* x, DType type) {
    return w.Tf("Cast", {x}, {{"DstT", Type::Tensor(type)}}, Type::Tensor(type));
  };
  const bool is_byte = to == DType::kInt8 || to == DType::kUInt8;
  if (!is_byte || !IsInteger(from) || from == to) return cast(w.in(0), to);
  Value* x = cast(w.in(0), DType::kInt32);
  Value* modulus = w.Number(DType::kInt32, 256);
  if (to == DType::kUInt8) return cast(w.Tf("FloorMod", {x, modulus}), to);
  Value* shift = w.Number(DType::kInt32, 128);
  return cast(w.Tf("Sub", {w.Tf("FloorMod", {w.Tf("AddV2", {x, shift}), modulus}), shift}), to);
}

Value* ToTfjsSoftsign(TfWriter& w) {
  Value* size = w.Tf("AddV2", {w.Tf("Abs", {w.in(0)}), TfjsScalar(w, 1)});
  return w.Tf("RealDiv", {w.in(0), size});
}

}  // namespace

X2IR_TFJS(div).To("RealDiv", ToTfjsDiv);
X2IR_TFJS(mod).To("FloorMod", ToTfjsMod);
X2IR_TFJS(bitwise_or).To("BitwiseAnd", ToTfjsBits(1));
X2IR_TFJS(bitwise_xor).To("BitwiseAnd", ToTfjsBits(2));
X2IR_TFJS(bitwise_not).To("Sub", ToTfjsNot);
X2IR_TFJS(bit_shift).To("FloorDiv", ToTfjsShift);
X2IR_TFJS(cast).To("Cast", ToTfjsCast);
X2IR_TFJS(softsign).To("RealDiv", ToTfjsSoftsign);

}  // namespace x2ir
