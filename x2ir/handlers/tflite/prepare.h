// What happens to a model of TFLite before its nodes are converted one by one.
#ifndef X2IR_HANDLERS_TFLITE_PREPARE_H_
#define X2IR_HANDLERS_TFLITE_PREPARE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Fused activations become nodes of their own, quantized operators units (quantized.cc).
absl::Status PrepareTflite(Model& model, std::vector<std::string>& warnings);

// Hash tables become constants that hold what they are filled with, variables the values that they
// have (resources.cc).
absl::Status ResolveResources(Graph& graph, std::vector<std::string>& warnings);

// Every quantized tensor that an operator computes with is dequantized before it, and what it gives
// is quantized. `floats`: the float network instead, inputs and outputs too.
absl::Status MakeQuantizedUnits(Graph& graph, bool floats);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_PREPARE_H_
