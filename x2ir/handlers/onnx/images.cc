// ONNX: ImageDecoder.

#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(image_decoder).Is("ImageDecoder", Since(20));

}  // namespace x2ir
