// How text becomes the wire form of a ModelProto: the table of ONNX's messages for protobuf's text
// and JSON, and the parser of ONNX's own syntax.
#ifndef X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_
#define X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_

#include "x2ir/formats/proto_text.h"

namespace x2ir::onnx_text {

const ProtoMessage& ModelMessage();

// ONNX's own syntax (onnx.parser). Errors are DataLoss and say line and column.
absl::StatusOr<std::string> SyntaxToWire(std::string_view text);
// Whether a text begins like a model in that syntax.
bool LooksLikeSyntax(std::string_view head);

}  // namespace x2ir::onnx_text

#endif  // X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_
