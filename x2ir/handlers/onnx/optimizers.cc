// ONNX: steps of training (domain ai.onnx.preview.training).
#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(adagrad).Is("ai.onnx.preview.training::Adagrad", Since(1), Same("decay_factor"),
                      Same("epsilon"), Same("norm_coefficient"));
X2IR_ONNX(adam).Is("ai.onnx.preview.training::Adam", Since(1), Same("alpha"), Same("beta"),
                   Same("epsilon"), Same("norm_coefficient"), Same("norm_coefficient_post"));
X2IR_ONNX(momentum).Is("ai.onnx.preview.training::Momentum", Since(1), Same("alpha"), Same("beta"),
                       Same("mode"), Same("norm_coefficient"));

}  // namespace x2ir
