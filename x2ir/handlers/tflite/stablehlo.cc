// TFLite: operators of StableHLO that have kernels or are another name of one of IR's.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

// The cube root, of negative numbers too.
Value* CubeRoot(TfliteArgs& a) {
  const Expr x = a.in(0);
  return Sign(x) * Pow(Abs(x), 1.0 / 3);
}
Value* ReciprocalRoot(TfliteArgs& a) { return 1 / Sqrt(a.in(0)); }

Value* Permuted(TfliteArgs& a) { return Transpose(a.in(0), a.IntList("permutation", {})); }

Value* Joined(TfliteArgs& a) { return Concat(a, a.inputs(), a.Int("dimension", 0)); }

// Between operands 0 and 2.
Value* Clamped(TfliteArgs& a) { return Clip(a.in(1), a.in(0), a.in(2)); }

Value* Chosen(TfliteArgs& a) { return Where(a.in(0), a.in(1), a.in(2)); }

}  // namespace

X2IR_TFLITE(abs).From("STABLEHLO_ABS");
X2IR_TFLITE(add).From("STABLEHLO_ADD");
X2IR_TFLITE(bit_shift).From("STABLEHLO_SHIFT_LEFT", SameAsTf("LeftShift"));
X2IR_TFLITE(clip).From("STABLEHLO_CLAMP", Clamped);
X2IR_TFLITE(concat).From("STABLEHLO_CONCATENATE", Joined);
X2IR_TFLITE(cos).From("STABLEHLO_COSINE");
X2IR_TFLITE(div).From("STABLEHLO_DIVIDE").From("STABLEHLO_RSQRT", ReciprocalRoot);
X2IR_TFLITE(exp).From("STABLEHLO_EXPONENTIAL");
X2IR_TFLITE(floor).From("STABLEHLO_FLOOR");
X2IR_TFLITE(log).From("STABLEHLO_LOG");
X2IR_TFLITE(max).From("STABLEHLO_MAXIMUM");
X2IR_TFLITE(min).From("STABLEHLO_MINIMUM");
X2IR_TFLITE(mul).From("STABLEHLO_MULTIPLY");
X2IR_TFLITE(neg).From("STABLEHLO_NEGATE");
X2IR_TFLITE(pow).From("STABLEHLO_POWER").From("STABLEHLO_CBRT", CubeRoot);
X2IR_TFLITE(sigmoid).From("STABLEHLO_LOGISTIC");
X2IR_TFLITE(sub).From("STABLEHLO_SUBTRACT");
X2IR_TFLITE(tanh).From("STABLEHLO_TANH");
X2IR_TFLITE(transpose).From("STABLEHLO_TRANSPOSE", Permuted);
X2IR_TFLITE(where).From("STABLEHLO_SELECT", Chosen);

}  // namespace x2ir
