// Tells TensorFlow's files from others by their first fields.
#include <algorithm>
#include <filesystem>

#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"

namespace x2ir {
namespace tf_format {
namespace {

// The tag and length at the begin of `bytes`; 0 when there are none.
struct Start {
  uint64_t tag = 0;
  std::string_view body;  // what of it is in sight
  uint64_t size = 0;      // what it claims
};
Start StartOf(std::string_view bytes) {
  Start start;
  size_t pos = 0;
  for (uint64_t* number : {&start.tag, &start.size}) {
    const auto found = VarintAt(bytes, &pos, 10);
    if (!found) return {};
    *number = *found;
  }
  start.body = bytes.substr(pos, std::min<uint64_t>(start.size, bytes.size() - pos));
  return start;
}

constexpr uint64_t Tag(uint32_t field, WireType type) {
  return uint64_t{field} << 3 | static_cast<uint64_t>(type);
}

bool IsPrintable(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c != 0x7f; });
}

// A node begins with its name and its op.
bool LooksLikeNode(std::string_view bytes) {
  Start name = StartOf(bytes);
  if (name.tag != Tag(node_def_field::kName, WireType::kBytes) || !IsPrintable(name.body))
    return false;
  if (name.body.size() < name.size) return true;  // all that is in sight
  const Start op = StartOf({name.body.end(), bytes.end()});
  return op.tag == Tag(node_def_field::kOp, WireType::kBytes) && IsPrintable(op.body);
}

}  // namespace
}  // namespace tf_format

bool LooksLikeTensorFlow(absl::Span<const std::byte> head, uint64_t file_size) {
  using namespace tf_format;  // NOLINT: the field numbers
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  if (!TextRoot(bytes).empty()) return true;
  const Start first = StartOf(bytes);
  if (first.tag == Tag(graph_def_field::kNode, WireType::kBytes)) {
    return first.size <= file_size && LooksLikeNode(first.body);
  }
  // A SavedModel: its version, which is 1, and a graph, which begins with what it says of itself.
  if (first.tag != Tag(saved_model_field::kSavedModelSchemaVersion, WireType::kVarint) ||
      first.size != 1) {
    return false;
  }
  const Start graph = StartOf(bytes.substr(2));
  const Start info = StartOf(graph.body);
  return graph.tag == Tag(saved_model_field::kMetaGraphs, WireType::kBytes) &&
         graph.size <= file_size && info.size <= graph.size &&
         (info.tag == Tag(meta_graph_def_field::kMetaInfoDef, WireType::kBytes) ||
          info.tag == Tag(meta_graph_def_field::kGraphDef, WireType::kBytes));
}

bool IsSavedModelFolder(const std::string& path) {
  const std::filesystem::path folder(path);
  std::error_code error;
  return std::filesystem::exists(folder / "saved_model.pb", error) ||
         std::filesystem::exists(folder / "saved_model.pbtxt", error);
}

}  // namespace x2ir
