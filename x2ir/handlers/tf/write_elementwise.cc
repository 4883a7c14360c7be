// Functions of elements, arithmetic and choices, written as TensorFlow's.
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

X2IR_TF(reciprocal).To("Reciprocal");

Value* ToTfRound(TfWriter& w) { return w.Tf("Round", {w.in(0)}); }
X2IR_TF(round).To("Round", ToTfRound);

absl::StatusOr<Value*> ToTfCast(TfWriter& w) {
  const DType to = w.DTypeAttr("to");
  if (to == DType::kString || w.dtype() == DType::kString) return CannotExpress("casts of strings");
  if (IsFloating(to) && BitWidth(to) <= 8) return CannotExpress("casts to ", Name(to));
  return w.Tf("Cast", {w.in(0)}, {{"DstT", Type::Tensor(to)}});
}
X2IR_TF(cast).To("Cast", ToTfCast);

Value* ToTfBitcast(TfWriter& w) {
  return w.Tf("Bitcast", {w.in(0)}, {{"type", Type::Tensor(w.DTypeAttr("to"))}});
}
X2IR_TF(bit_cast).To("Bitcast", ToTfBitcast);

// --- Arithmetic -----------------------------------------------------------------------------

X2IR_TF(add).To("AddV2");

Value* ToTfDiv(TfWriter& w) {
  return w.Tf(IsFloating(w.dtype()) ? "RealDiv" : "TruncateDiv", {w.in(0), w.in(1)});
}
X2IR_TF(div).To("RealDiv", ToTfDiv);

absl::StatusOr<Value*> ToTfMod(TfWriter& w) {
  const bool fmod = w.Int("fmod") != 0;
  if (!fmod && IsFloating(w.dtype())) {
    return CannotExpress("remainders of floats that have the divisor's sign");
  }
  return w.Tf(fmod ? "TruncateMod" : "FloorMod", {w.in(0), w.in(1)});
}
X2IR_TF(mod).To("FloorMod", ToTfMod);

absl::StatusOr<Value*> ToTfPow(TfWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return w.Tf("Pow", {w.in(0), w.in(1)});
}
X2IR_TF(pow).To("Pow", ToTfPow);

// Two at a time.
auto ToTfFold(Symbol ir, std::string_view op) {
  return [=](TfWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
    return w.Tf(op, {w.FoldedButLast(ir), w.in(w.num_inputs() - 1)});
  };
}
X2IR_TF(max).To("Maximum", ToTfFold("max", "Maximum"));
X2IR_TF(min).To("Minimum", ToTfFold("min", "Minimum"));

Value* ToTfShift(TfWriter& w) {
  return w.Tf(w.String("direction") == "LEFT" ? "LeftShift" : "RightShift", {w.in(0), w.in(1)});
}
X2IR_TF(bit_shift).To("LeftShift", ToTfShift);

// --- Comparisons, choices -------------------------------------------------------------------

X2IR_TF(equal).To("Equal");
X2IR_TF(xor).To("NotEqual");
X2IR_TF(where).To("SelectV2");

// --- Activations ----------------------------------------------------------------------------

Value* ToTfHardSigmoid(TfWriter& w) {
  const DType t = w.dtype();
  Value* line = w.Op("mul", {w.in(0), w.Number(t, w.Float("alpha"))});
  line = w.Op("add", {line, w.Number(t, w.Float("beta"))});
  return w.Op("min", {w.Op("max", {line, w.Number(t, 0)}), w.Number(t, 1)});
}
X2IR_TF(hard_sigmoid).To("Maximum", ToTfHardSigmoid);

Value* ToTfPRelu(TfWriter& w) {
  Value* negative = w.Op("less", {w.in(0), w.Number(w.dtype(), 0)});
  return w.Op("where", {negative, w.Op("mul", {w.in(1), w.in(0)}), w.in(0)});
}
X2IR_TF(prelu).To("SelectV2", ToTfPRelu);

// Along the last axis.
auto ToTfAlongLast(std::string_view op) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    if (axis == rank - 1) return w.Tf(op, {w.in(0)});
    return AlongLastAxis(w, axis, rank);
  };
}
X2IR_TF(softmax).To("Softmax", ToTfAlongLast("Softmax"));
X2IR_TF(log_softmax).To("LogSoftmax", ToTfAlongLast("LogSoftmax"));

}  // namespace
}  // namespace x2ir
