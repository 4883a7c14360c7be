// ONNX: random numbers.
#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(random_uniform).Is("RandomUniform", Since(1), OperandAsAttr("shape"), DTypeAttr("dtype"));
X2IR_ONNX(random_uniform_like).Is("RandomUniformLike", Since(1), DTypeAttr("dtype"));
X2IR_ONNX(random_normal).Is("RandomNormal", Since(1), OperandAsAttr("shape"), DTypeAttr("dtype"));
X2IR_ONNX(random_normal_like).Is("RandomNormalLike", Since(1), DTypeAttr("dtype"));
X2IR_ONNX(bernoulli).Is("Bernoulli", Since(15), DTypeAttr("dtype"));
X2IR_ONNX(multinomial).Is("Multinomial", Since(7), DTypeAttr("dtype"));

}  // namespace x2ir
