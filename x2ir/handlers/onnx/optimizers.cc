// ONNX: steps of training (domain ai.onnx.preview.training).
#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(adagrad).Is("ai.onnx.preview.training::Adagrad", Since(1),
                      Renamed("decay_factor", "decay_factor"), Renamed("epsilon", "epsilon"),
                      Renamed("norm_coefficient", "norm_coefficient"));
X2IR_ONNX(adam).Is("ai.onnx.preview.training::Adam", Since(1), Renamed("alpha", "alpha"),
                   Renamed("beta", "beta"), Renamed("epsilon", "epsilon"),
                   Renamed("norm_coefficient", "norm_coefficient"),
                   Renamed("norm_coefficient_post", "norm_coefficient_post"));
X2IR_ONNX(momentum).Is("ai.onnx.preview.training::Momentum", Since(1), Renamed("alpha", "alpha"),
                       Renamed("beta", "beta"), Renamed("mode", "mode"),
                       Renamed("norm_coefficient", "norm_coefficient"));

}  // namespace x2ir
