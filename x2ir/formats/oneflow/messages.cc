// The messages of jobs, made of facts/oneflow-proto-fields.json. Text has what a reader needs.
#include "x2ir/formats/oneflow/job_internal.h"

namespace x2ir::oneflow {
namespace {

#include "x2ir_oneflow_messages.inc"

}  // namespace

const ProtoMessage& JobMessage() { return kJob; }
const ProtoMessage& OperatorMessage() { return kOperatorConf; }
const ProtoMessage& VariableMetaMessage() { return kVariableMetaInfo; }

std::string_view DataTypeName(int64_t number) { return kDataType.name(number); }
std::optional<int64_t> DataTypeNumber(std::string_view name) { return kDataType.number(name); }
std::string_view MemoryFormatName(int64_t number) { return kMemoryFormat.name(number); }
std::optional<int64_t> MemoryFormatNumber(std::string_view name) {
  return kMemoryFormat.number(name);
}

}  // namespace x2ir::oneflow
