// TFLite: functions of each element, comparisons, logic, casts, and what hands its operand on.
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Expr Between(TfliteArgs& a, double low, double high) { return Min(Max(a.in(0), low), high); }
Value* Relu6(TfliteArgs& a) { return Between(a, 0, 6); }
Value* ReluN1To1(TfliteArgs& a) { return Between(a, -1, 1); }
Value* Relu0To1(TfliteArgs& a) { return Between(a, 0, 1); }

Value* FromRsqrt(TfliteArgs& a) { return 1 / Sqrt(a.in(0)); }
Value* FromSquare(TfliteArgs& a) { return Square(a.in(0)); }
Value* SquaredDifference(TfliteArgs& a) { return Square(a.in(0) - a.in(1)); }

Value* Gelu(TfliteArgs& a) {
  return a.Op("gelu", {a.in(0)}, {{"approximate", a.Bool("approximate", false) ? "tanh" : "none"}});
}

// x * relu6(x + 3) / 6.
Value* HardSwish(TfliteArgs& a) { return a.Op("hard_swish", {a.in(0)}); }

// Floats are rounded to the nearest integer; of what is no float it is the operand.
Value* FromRound(TfliteArgs& a) {
  return a.Op(IsFloating(a.in(0)->dtype()) ? "round" : "identity", {a.in(0)});
}

// A slope for each element of the last axes.
Value* Prelu(TfliteArgs& a) { return a.Op("prelu", {a.in(0), a.in(1)}); }

Value* Cast(TfliteArgs& a) {
  a.Ignore("out_data_type");
  const DType to = a.out_dtype();
  a.Require(to != DType::kUndefined && to != DType::kString && a.dtype() != DType::kString,
            "casts of these types");
  a.Require(!IsComplex(to) && !IsComplex(a.dtype()), "casts of complex numbers");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}

// By now what is quantized is floats on both sides.
Value* Requantized(TfliteArgs& a) {
  const DType to = a.out_dtype();
  return IsFloating(to) && to != a.dtype() ? a.Op("cast", {a.in(0)}, {{"to", Name(to)}})
                                           : a.Op("identity", {a.in(0)});
}

Value* AddN(TfliteArgs& a) {
  Expr sum = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) sum = sum + a.in(i);
  return a.num_inputs() == 1 ? a.Op("identity", {sum}) : sum;
}

Value* FakeQuant(TfliteArgs& a) {
  return AsTf(a, "FakeQuantWithMinMaxArgs", {a.in(0)},
              {{"min", a.Float("min", 0)},
               {"max", a.Float("max", 0)},
               {"num_bits", a.Int("num_bits", 0)},
               {"narrow_range", a.Bool("narrow_range", false)}})[0];
}

Value* Bitcast(TfliteArgs& a) {
  return AsTf(a, "Bitcast", {a.in(0)}, {{"type", Type::Tensor(a.out_dtype())}})[0];
}

}  // namespace

X2IR_TFLITE(abs).Is("ABS");
X2IR_TFLITE(add).From("ADD").From("ADD_N", AddN);
X2IR_TFLITE(and).From("LOGICAL_AND");
X2IR_TFLITE(atan).From("ATAN2", SameAsTf("Atan2"));
X2IR_TFLITE(bit_cast).From("BITCAST", Bitcast);
X2IR_TFLITE(bitwise_xor).Is("BITWISE_XOR");
X2IR_TFLITE(cast).From("CAST", Cast);
X2IR_TFLITE(ceil).Is("CEIL");
X2IR_TFLITE(clip)
    .From("RELU6", Relu6)
    .From("RELU_N1_TO_1", ReluN1To1)
    .From("RELU_0_TO_1", Relu0To1);
X2IR_TFLITE(cos).Is("COS");
X2IR_TFLITE(div).From("DIV").From("RSQRT", FromRsqrt).From("FLOOR_DIV", SameAsTf("FloorDiv"));
X2IR_TFLITE(elu).From("ELU", Fixed("alpha", 1.0f));
X2IR_TFLITE(equal).From("EQUAL");
X2IR_TFLITE(exp).Is("EXP");
X2IR_TFLITE(floor).Is("FLOOR");
X2IR_TFLITE(gelu).From("GELU", Gelu);
X2IR_TFLITE(greater).From("GREATER");
X2IR_TFLITE(greater_or_equal).From("GREATER_EQUAL");
X2IR_TFLITE(hard_swish).From("HARD_SWISH", HardSwish);
X2IR_TFLITE(identity)
    .From("DENSIFY")
    .From("DEQUANTIZE", Requantized)
    .From("QUANTIZE", Requantized)
    .From("FAKE_QUANT", FakeQuant);
X2IR_TFLITE(leaky_relu).Is("LEAKY_RELU");
X2IR_TFLITE(less).From("LESS");
X2IR_TFLITE(less_or_equal).From("LESS_EQUAL");
X2IR_TFLITE(log).Is("LOG");
X2IR_TFLITE(max).From("MAXIMUM");
X2IR_TFLITE(min).From("MINIMUM");
X2IR_TFLITE(mod).From("FLOOR_MOD", SameAsTf("FloorMod"));
X2IR_TFLITE(mul)
    .From("MUL")
    .From("SQUARE", FromSquare)
    .From("SQUARED_DIFFERENCE", SquaredDifference);
X2IR_TFLITE(neg).Is("NEG");
X2IR_TFLITE(not ).Is("LOGICAL_NOT").From("NOT_EQUAL", SameAsTf("NotEqual"));
X2IR_TFLITE(or).From("LOGICAL_OR");
X2IR_TFLITE(pow).From("POW", SameAsTf("Pow"));
X2IR_TFLITE(prelu).From("PRELU", Prelu);
X2IR_TFLITE(relu).Is("RELU");
X2IR_TFLITE(bit_shift).From("RIGHT_SHIFT", SameAsTf("RightShift"));
X2IR_TFLITE(round).From("ROUND", FromRound);
X2IR_TFLITE(sigmoid).Is("LOGISTIC");
X2IR_TFLITE(sign).Is("SIGN");
X2IR_TFLITE(sin).Is("SIN");
X2IR_TFLITE(sqrt).Is("SQRT");
X2IR_TFLITE(sub).From("SUB");
X2IR_TFLITE(tanh).Is("TANH");

}  // namespace x2ir
