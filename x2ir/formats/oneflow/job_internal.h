// OneFlow's messages, and the numbers of their fields.
#ifndef X2IR_FORMATS_ONEFLOW_JOB_INTERNAL_H_
#define X2IR_FORMATS_ONEFLOW_JOB_INTERNAL_H_

#include <cstdint>

#include "x2ir/formats/oneflow/schema.h"
#include "x2ir/formats/proto_text.h"

namespace x2ir::oneflow {

#include "x2ir_oneflow_fields.inc"

const ProtoMessage& JobMessage();
const ProtoMessage& OperatorMessage();
const ProtoMessage& VariableMetaMessage();

}  // namespace x2ir::oneflow

#endif  // X2IR_FORMATS_ONEFLOW_JOB_INTERNAL_H_
