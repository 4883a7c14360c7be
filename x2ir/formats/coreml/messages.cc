// Core ML's messages, made of facts/coreml-proto-fields.json.
#include "x2ir/formats/coreml/decode.h"

namespace x2ir::coreml {
namespace {

#include "x2ir_coreml_messages.inc"

}  // namespace

const ProtoMessage& ModelMessage() { return kModel; }
const ProtoMessage& NeuralNetworkLayerMessage() { return kNeuralNetworkLayer; }

}  // namespace x2ir::coreml
