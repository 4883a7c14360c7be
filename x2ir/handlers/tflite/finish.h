// What is done to a graph of TFLite's operators before it is written.
#ifndef X2IR_HANDLERS_TFLITE_FINISH_H_
#define X2IR_HANDLERS_TFLITE_FINISH_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Operators take up what stands around them: activations, biases, transposes of matrices.
absl::Status FinishTflite(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_FINISH_H_
