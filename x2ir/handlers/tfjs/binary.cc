// TensorFlow.js: arithmetic of two operands, for which it has fewer ops than TensorFlow. Integers
// are int32, computed in float64 and then taken modulo 2^32.
#include <string_view>

#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

Value* TfjsScalar(TfWriter& w, double number) { return w.Number(w.dtype(), number); }

// Of the operands' type and the result's shape.
Value* Arithmetic(TfWriter& w, std::string_view op, Value* a, Value* b) {
  return w.Tf(op, {a, b}, {}, Type::Tensor(a->dtype()));
}
Value* Unary(TfWriter& w, std::string_view op, Value* x) { return w.Tf(op, {x}, {}, x->type()); }
Value* Question(TfWriter& w, std::string_view op, Value* a, Value* b) {
  return w.Tf(op, {a, b}, {}, Type::Tensor(DType::kBool));
}
Value* CastTo(TfWriter& w, Value* x, DType type) {
  if (x->dtype() == type) return x;
  return w.Tf("Cast", {x}, {{"DstT", Type::Tensor(type)}}, Type::Tensor(type));
}

// Whether the signs of the operands differ and `rest`, what is left of a division, is not 0.
Value* IsCorrected(TfWriter& w, Value* rest) {
  Value* zero = TfjsScalar(w, 0);
  Value* differs = Question(w, "NotEqual", Question(w, "Less", w.in(0), zero),
                            Question(w, "Less", w.in(1), zero));
  return Question(w, "LogicalAnd", Question(w, "NotEqual", rest, zero), differs);
}

// FloorDiv rounds down; a quotient that is no integer and is negative is one too small then.
Value* ToTfjsDiv(TfWriter& w) {
  if (IsFloating(w.dtype())) return w.Tf("RealDiv", {w.in(0), w.in(1)});
  Value* quotient = Arithmetic(w, "FloorDiv", w.in(0), w.in(1));
  if (w.dtype() == DType::kUInt8) return quotient;
  Value* rest = Arithmetic(w, "FloorMod", w.in(0), w.in(1));
  return Arithmetic(w, "AddV2", quotient, CastTo(w, IsCorrected(w, rest), w.dtype()));
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
    Value* rest = Arithmetic(w, "FloorMod", Unary(w, "Abs", w.in(0)), Unary(w, "Abs", w.in(1)));
    return w.Tf("Mul", {Unary(w, "Sign", w.in(0)), rest});
  }
  Value* rest = Arithmetic(w, "FloorMod", w.in(0), w.in(1));
  if (w.dtype() == DType::kUInt8) return rest;
  return w.Tf("SelectV2", {IsCorrected(w, rest), Arithmetic(w, "Sub", rest, w.in(1)), rest});
}

// By a power of two; 2^31 is no int32, so that a shift to the right has two steps.
Value* ToTfjsShift(TfWriter& w) {
  Value* two = TfjsScalar(w, 2);
  const auto power = [&](Value* x) { return Arithmetic(w, "Pow", two, x); };
  if (w.String("direction") == "LEFT") return w.Tf("Mul", {w.in(0), power(w.in(1))});
  Value* half = Arithmetic(w, "FloorDiv", w.in(1), two);
  Value* once = Arithmetic(w, "FloorDiv", w.in(0), power(half));
  return w.Tf("FloorDiv", {once, power(Arithmetic(w, "Sub", w.in(1), half))});
}

bool IsConstantNumber(const Value* v, int64_t number) {
  const Tensor* constant = v ? v->fixed_constant() : nullptr;
  return constant && constant->rank() == 0 && constant->AsInt(0) == number;
}
// x by the op with a number, of TensorFlow.js or still of the IR; null where it is something else.
const Value* OperandBy(const Value* v, std::string_view op, std::string_view ir, int64_t number) {
  const Node* made = v->producer();
  const bool is_op = made && (made->op().view() == op || made->op().view() == ir);
  return is_op && IsConstantNumber(made->input(1), number) ? made->input(0) : nullptr;
}
// Whether what ToTfjsCast does was done.
bool IsWrapped(const Value* x, DType to) {
  if (to == DType::kInt8) x = OperandBy(x, "Sub", "sub", 128);
  return x && OperandBy(x, "FloorMod", "mod", 256);
}

// Integers of 8 bits do not wrap around by themselves.
absl::StatusOr<Value*> ToTfjsCast(TfWriter& w) {
  const DType from = w.dtype(), to = w.DTypeAttr("to");
  if (to == DType::kString || from == DType::kString) return CannotExpress("casts of strings");
  const auto result = [&](Value* x) {
    return w.Tf("Cast", {x}, {{"DstT", Type::Tensor(to)}}, Type::Tensor(to));
  };
  const bool is_byte = to == DType::kInt8 || to == DType::kUInt8;
  if (!is_byte || !IsInteger(from) || from == to || IsWrapped(w.in(0), to)) return result(w.in(0));
  Value* x = CastTo(w, w.in(0), DType::kInt32);
  Value* modulus = w.Number(DType::kInt32, 256);
  if (to == DType::kUInt8) return result(Arithmetic(w, "FloorMod", x, modulus));
  Value* shift = w.Number(DType::kInt32, 128);
  Value* rest = Arithmetic(w, "FloorMod", Arithmetic(w, "AddV2", x, shift), modulus);
  return result(Arithmetic(w, "Sub", rest, shift));
}

}  // namespace

X2IR_TFJS(div).To("RealDiv", ToTfjsDiv);
X2IR_TFJS(mod).To("FloorMod", ToTfjsMod);
X2IR_TFJS(bit_shift).To("FloorDiv", ToTfjsShift);
X2IR_TFJS(cast).To("Cast", ToTfjsCast);

}  // namespace x2ir
