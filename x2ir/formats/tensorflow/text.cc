// The messages of facts/tensorflow-proto-fields.json: as text (.pbtxt) they are turned into wire
// form, so that there is one reader. Fields that the facts do not have are read over.
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

#include "x2ir_tensorflow_messages.inc"

const ProtoMessage* const kRoots[] = {&kGraphDef, &kSavedModel};

}  // namespace

const ProtoMessage& GraphMessage() { return kGraphDef; }

std::optional<int64_t> TypeNumber(std::string_view name) { return kDataType.number(name); }

std::string TypeName(int64_t type) {
  const std::string_view name = type == 0 ? "" : kDataType.name(type);
  return name.empty() ? StrCat("type ", type) : std::string(name);
}

absl::StatusOr<std::string> TextToWire(std::string_view text, std::string_view root) {
  for (const ProtoMessage* message : kRoots) {
    if (message->name == root) return ProtoTextToWire(text, *message, ProtoUnknown::kSkipped);
  }
  return Internal("no message ", root);
}

absl::Status WireToText(std::string_view wire, std::string_view root, const ProtoPut& put) {
  for (const ProtoMessage* message : kRoots) {
    if (message->name == root) return WireToProtoText(wire, *message, put);
  }
  return Internal("no message ", root);
}

std::string_view TextRoot(std::string_view head) {
  const std::string_view word = FirstProtoTextName(head);
  for (const ProtoMessage* message : kRoots) {
    if (!word.empty() && FindProtoField(*message, word)) return message->name;
  }
  return {};
}

}  // namespace x2ir::tf_format
