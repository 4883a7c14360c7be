// What options of the format say about weights, inputs and outputs of a TFLite model.
#ifndef X2IR_HANDLERS_TFLITE_WEIGHTS_H_
#define X2IR_HANDLERS_TFLITE_WEIGHTS_H_

#include <string_view>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Of a node that multiplies floats with weights of int8 as LiteRT's hybrid kernels do, which round
// the other operand to int8, too: "symmetric", or "asymmetric".
inline constexpr char kHybrid[] = "tflite.hybrid";

// Weights of convolutions and products with 1024 elements or more become int8, a scale for each
// channel; nodes that take such weights are marked as hybrid.
void UseDynamicRange(Graph& graph);
// Nodes that are marked take their weights as integers.
void FoldHybrid(Graph& graph);

// Weights become float16, which DEQUANTIZE makes floats: those of convolutions and products with
// their biases, tables, and other constants of 1024 elements or more. What float16 cannot hold
// stays; `exact`: what it rounds stays, too.
void UseFloat16(Graph& graph, bool exact = false);

// Of a graph that has, or had, weights of float16: they are written so where nothing is rounded.
inline constexpr char kHalfWeights[] = "tflite.float16_weights";

// Inputs and outputs of the model that are quantized, or are quantized first and dequantized last,
// become "int8", "uint8" or "float32"; empty: they stay what they are. An option error where one
// is a float that nothing quantizes.
absl::Status SetIoType(Graph& graph, std::string_view type);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_WEIGHTS_H_
