#include <utility>

#include "x2ir/formats/hdf5/attributes_internal.h"
#include "x2ir/formats/hdf5/trees_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr uint64_t kSharedType = 1, kSharedExtent = 2;

absl::Status AddAttribute(const Image& image, std::string_view data, Attributes* attributes) {
  Cursor in = image.Over(data);
  const uint64_t version = in.UInt(1), flags = in.UInt(1);
  const uint64_t name_size = in.UInt(2), type_size = in.UInt(2), extent_size = in.UInt(2);
  if (version < 1 || version > 3) return NotRead("an attribute is of version ", version);
  if (version == 3) in.Skip(1);  // how the name is encoded
  const size_t begin = in.at();
  const auto part = [&](uint64_t size) {
    const std::string_view bytes = in.Bytes(size);
    if (version == 1) in.Align8(begin);
    return bytes;
  };
  const std::string_view name = part(name_size);
  Attribute attribute;
  attribute.type = part(type_size);
  attribute.extent = part(extent_size);
  if (!in.ok()) return Broken("an attribute is cut off");
  attribute.value = in.rest();
  attribute.shared_type = version > 1 && (flags & kSharedType) != 0;
  attribute.shared_extent = version > 1 && (flags & kSharedExtent) != 0;
  attributes->emplace(name.substr(0, name.find('\0')), attribute);
  return absl::OkStatus();
}

// Many attributes, or a large one.
absl::Status AddOutside(Image* image, std::string_view data, Attributes* attributes) {
  constexpr uint64_t kSharedAttribute = 2;
  X2IR_ASSIGN_OR_RETURN(std::optional<Outside> outside,
                        OpenOutside(image, image->Over(data), 2, "attributes"));
  if (!outside) return absl::OkStatus();
  FractalHeap& heap = outside->heap;
  return WalkTree2(*image, outside->tree, RecordType::kAttributeName, heap.id_size() + 1,
                   image->structures(), [&](std::string_view record) -> absl::Status {
                     Cursor one = image->Over(record);
                     const std::string_view id = one.Bytes(heap.id_size());
                     if ((one.UInt(1) & kSharedAttribute) != 0) {
                       return NotRead("an attribute is shared by many objects");
                     }
                     X2IR_ASSIGN_OR_RETURN(const std::string_view object, heap.Object(id));
                     return AddAttribute(*image, object, attributes);
                   });
}

}  // namespace

absl::StatusOr<Attributes> ReadAttributes(Image* image, const Messages& messages) {
  Attributes attributes;
  for (const Message& message : messages) {
    if (message.type == MessageType::kAttribute) {
      if (message.shared) return NotRead("an attribute is shared by many objects");
      X2IR_RETURN_IF_ERROR(AddAttribute(*image, message.data, &attributes));
    } else if (message.type == MessageType::kAttributeInfo) {
      X2IR_RETURN_IF_ERROR(AddOutside(image, message.data, &attributes));
    }
  }
  return attributes;
}

absl::StatusOr<std::vector<std::string>> TextsOf(Image* image, GlobalHeaps* heaps,
                                                 const ElementType& type, int64_t count,
                                                 std::string_view bytes) {
  Cursor in = image->Over(bytes);
  if (static_cast<uint64_t>(count) > in.left() / type.size) return Broken("a text is cut off");
  std::vector<std::string> texts;
  uint64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::string_view text = in.Bytes(type.size);
    if (type.kind == ElementType::kLongText) {
      X2IR_ASSIGN_OR_RETURN(text, heaps->Text(image, text));
    }
    text = text.substr(0, text.find('\0'));
    while (type.padded_with_spaces && text.ends_with(' ')) text.remove_suffix(1);
    // Elements may share what they refer to.
    total += text.size();
    if (total > image->bytes().size() + bytes.size()) {
      return Broken("its texts have more bytes than the file");
    }
    texts.emplace_back(text);
  }
  return texts;
}

}  // namespace x2ir::hdf5
