// Quantized operators of TFLite, from units of DEQUANTIZE, the operator in floats, and QUANTIZE.
#ifndef X2IR_HANDLERS_TFLITE_FOLD_QUANTIZED_H_
#define X2IR_HANDLERS_TFLITE_FOLD_QUANTIZED_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// An operator whose operands come from DEQUANTIZE, and whose result only goes into QUANTIZE,
// becomes one operator on integers, if there is such a kernel and it takes these scales
// (kernels.h). What only moves or selects elements works on the integers where it can. Everything
// else stays as it is, in floats. Values that are quantized integers carry tflite::Quantization.
//
// Tensors of uint8 become int8 where operators have kernels for that alone; inputs and outputs of
// the model keep their types.
absl::Status FoldQuantized(Graph& graph);

// round(x / scale) + zero_point, clamped, halves to even; scales are one, or those of an axis.
// nullopt: a number is no number, or `exact` and one is not such a step.
std::optional<Tensor> QuantizedTensor(const Tensor& floats, const tflite::Quantization& q,
                                      DType dtype);
// A tensor of integers, as floats.
Tensor DequantizedTensor(const Tensor& integers, const tflite::Quantization& q);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_FOLD_QUANTIZED_H_
