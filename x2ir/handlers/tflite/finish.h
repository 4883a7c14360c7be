// What is done to a graph before and after its nodes become TFLite's operators.
#ifndef X2IR_HANDLERS_TFLITE_FINISH_H_
#define X2IR_HANDLERS_TFLITE_FINISH_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// In IR: qlinear_conv and qlinear_matmul become units of dequantize_linear, the op in floats, and
// quantize_linear (quantized kernels come of these, fold_quantized.h); a resize of images has
// its channels last.
absl::Status ReadyForTflite(Graph& graph);

// Operators take up the operators next to them: activations, biases, transposes of matrices.
absl::Status FinishTflite(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_FINISH_H_
