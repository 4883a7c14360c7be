// How text becomes the wire form of a ModelProto and back: the table of ONNX's messages for
// protobuf's text and JSON, and ONNX's own syntax.
#ifndef X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_
#define X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_

#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/proto_text.h"

namespace x2ir::onnx_text {

const ProtoMessage& ModelMessage();

// ONNX's own syntax (onnx.parser). Errors are DataLoss and say line and column.
absl::StatusOr<std::string> SyntaxToWire(std::string_view text);
// Back. FailedPrecondition for what that syntax cannot hold.
absl::Status WireToSyntax(std::string_view wire, const ProtoPut& put);
// Whether a text begins like a model in that syntax.
bool LooksLikeSyntax(std::string_view head);

// The words of the syntax. Of a number that has none, empty.
bool IsIdStart(char c);
bool IsIdentifier(std::string_view text);
bool IsTypeWord(std::string_view word);                     // begins a type
std::string_view ElementName(int64_t number);               // of TensorProto.DataType
std::string_view AttrKindWord(onnx_format::AttrType type);  // after the ':' of an attribute

}  // namespace x2ir::onnx_text

#endif  // X2IR_FORMATS_ONNX_TEXT_ONNX_TEXT_INTERNAL_H_
