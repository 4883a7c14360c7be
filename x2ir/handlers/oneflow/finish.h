// What is done to a graph before and after it is rewritten to OneFlow's ops.
#ifndef X2IR_HANDLERS_ONEFLOW_FINISH_H_
#define X2IR_HANDLERS_ONEFLOW_FINISH_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/ops/target.h"

namespace X2IR_API x2ir {

// In a graph of IR: numbers that are quantized and dequantized again, and constants that are
// dequantized, become `fake_quantization`, OneFlow's form of a quantized network. Only where that
// gives the same numbers: float32, 2 to 8 bits, constant steps, one for all or one for each index
// of axis 0.
void UseFakeQuantization(Graph& graph, const Target& target);

// Products absorb transposes of their operands, and ops of a tensor and a number have the number as
// an attribute, as OneFlow's own graphs do.
absl::Status FinishOneflow(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONEFLOW_FINISH_H_
