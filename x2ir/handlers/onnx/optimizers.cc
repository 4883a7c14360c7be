// ONNX: steps of training (domain ai.onnx.preview.training).
#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(adagrad).Is("ai.onnx.preview.training::Adagrad", Since(1));
X2IR_ONNX(adam).Is("ai.onnx.preview.training::Adam", Since(1));
X2IR_ONNX(momentum).Is("ai.onnx.preview.training::Momentum", Since(1));

}  // namespace x2ir
