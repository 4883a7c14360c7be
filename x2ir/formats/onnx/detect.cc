// Tells an ONNX model from other files by the first fields of its message.
#include <algorithm>

#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx/onnx_internal.h"

namespace x2ir {

// Protobuf has no magic number, and most bytes are some message. So: every field up to the
// graph must be one of ModelProto's, of its wire type and of a likely size. What has no IR version
// must be such a message from begin to end.
bool LooksLikeOnnx(absl::Span<const std::byte> head, uint64_t file_size) {
  namespace model_field = onnx_format::model_field;
  constexpr uint64_t kMaxIrVersion = 1000;
  constexpr uint64_t kMaxName = 4096;
  file_size = std::max<uint64_t>(file_size, head.size());
  const auto at = [&](size_t i) { return static_cast<uint64_t>(head[i]); };
  size_t pos = 0;
  const auto varint = [&](uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && pos < head.size(); shift += 7) {
      const uint64_t byte = at(pos++);
      *value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  bool ir_version = false, graph = false;
  while (pos < head.size()) {
    uint64_t tag, value;
    if (!varint(&tag) || !varint(&value)) break;
    const WireType type = static_cast<WireType>(tag & 7);
    const uint64_t field = tag >> 3;
    if (field == model_field::kIrVersion || field == model_field::kModelVersion) {
      if (type != WireType::kVarint) return false;
      if (field == model_field::kIrVersion) {
        if (value > kMaxIrVersion) return false;
        ir_version = true;
      }
      continue;
    }
    if (type != WireType::kBytes || value > file_size - pos) return false;
    const bool in_sight = value <= head.size() - pos;
    switch (field) {
      case model_field::kProducerName:
      case model_field::kProducerVersion:
      case model_field::kDomain:
        if (value > kMaxName || !in_sight) return false;
        break;
      case model_field::kGraph: graph = true; break;
      case model_field::kDocString:
      case model_field::kOpsetImport:
      case model_field::kMetadata:
      case model_field::kTrainingInfo:
      case model_field::kFunctions:
      case model_field::kConfiguration: break;
      default:
        if (!graph) return false;  // something newer, after what we know
    }
    if (graph && ir_version) return true;
    if (!in_sight) return ir_version;
    pos += value;
  }
  if (head.size() < file_size) return ir_version;
  return graph && pos == head.size();
}

}  // namespace x2ir
