// The table of ONNX's messages, by which text becomes their wire form and back.
#ifndef X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_
#define X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_

#include "x2ir/formats/proto_text.h"

namespace x2ir::onnx_text {

const ProtoMessage& ModelMessage();

}  // namespace x2ir::onnx_text

#endif  // X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_
