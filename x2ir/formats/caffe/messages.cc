// Caffe's messages: those of BVLC's caffe.proto, and parameters of layers that other branches
// added. The tables are made of facts/caffe*-proto-fields.json.
#include "x2ir/formats/caffe/caffe_internal.h"

namespace x2ir::caffe {
namespace {

#include "x2ir_caffe_messages.inc"

}  // namespace

const ProtoMessage& NetMessage() { return kNetParameter; }
const ProtoMessage& LayerMessage() { return kLayerParameter; }
const ProtoMessage& V1LayerMessage() { return kV1LayerParameter; }
const ProtoMessage& V0LayerMessage() { return kV0LayerParameter; }

}  // namespace x2ir::caffe
