// What the reader and the writer share.
#ifndef X2IR_FORMATS_ORT_ORT_INTERNAL_H_
#define X2IR_FORMATS_ORT_ORT_INTERNAL_H_

#include <ort_generated.h>

#include "x2ir/formats/ort/ort.h"

namespace x2ir::ort_format {

namespace fb = ::x2ir::ort_fb;

const OrtOperators& Operators();

// Element types and kinds of attributes have the numbers of ONNX's messages.
inline constexpr int32_t kStrings = 8;            // TensorDataType
inline constexpr int32_t kNewestOfVersion5 = 16;  // BFLOAT16

}  // namespace x2ir::ort_format

#endif  // X2IR_FORMATS_ORT_ORT_INTERNAL_H_
