// The messages of onnx.proto, with all of their fields, made of facts/onnx-proto-fields.json.
#include "x2ir/formats/onnx_text/onnx_text_internal.h"

namespace x2ir::onnx_text {
namespace {

#include "x2ir_onnx_messages.inc"

}  // namespace

const ProtoMessage& ModelMessage() { return kModelProto; }

}  // namespace x2ir::onnx_text
