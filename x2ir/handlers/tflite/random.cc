// TFLite: random numbers.
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Values RandomAs(TfliteArgs& a, const char* op) {
  return AsTf(a, op, a.inputs(),
              {{"seed", a.Int("seed", 0)},
               {"seed2", a.Int("seed2", 0)},
               {"dtype", Type::Tensor(a.out_dtype())}});
}

Values RandomUniform(TfliteArgs& a) { return RandomAs(a, "RandomUniform"); }
Values RandomNormal(TfliteArgs& a) { return RandomAs(a, "RandomStandardNormal"); }

Values Multinomial(TfliteArgs& a) {
  return AsTf(a, "Multinomial", a.inputs(),
              {{"seed", a.Int("seed", 0)},
               {"seed2", a.Int("seed2", 0)},
               {"output_dtype", Type::Tensor(a.out_dtype())}});
}

}  // namespace

X2IR_TFLITE(random_uniform).From("RANDOM_UNIFORM", RandomUniform);
X2IR_TFLITE(random_normal).From("RANDOM_STANDARD_NORMAL", RandomNormal);
X2IR_TFLITE(multinomial).From("MULTINOMIAL", Multinomial);

}  // namespace x2ir
