// ONNX signal processing.
#include "x2ir/core/spec.h"

namespace x2ir {
X2IR_ONNX(stft).Is("STFT", Since(17));
X2IR_ONNX(hann_window).Is("HannWindow", Since(17), DTypeAttr("dtype", "output_datatype"));
X2IR_ONNX(hamming_window).Is("HammingWindow", Since(17), DTypeAttr("dtype", "output_datatype"));
X2IR_ONNX(blackman_window).Is("BlackmanWindow", Since(17), DTypeAttr("dtype", "output_datatype"));
X2IR_ONNX(mel_weight_matrix)
    .Is("MelWeightMatrix", Since(17), DTypeAttr("dtype", "output_datatype"));

}  // namespace x2ir
