#include "x2ir/formats/hdf5/heaps_internal.h"

namespace x2ir::hdf5 {

absl::StatusOr<std::string_view> LocalHeap(const Image& image, uint64_t address) {
  Cursor in = image.From(address);
  if (in.Bytes(4) != "HEAP") return Broken(StrCat("there is no heap of names at ", address));
  in.Skip(4);
  const uint64_t size = in.Length();
  in.SkipLength();
  const uint64_t begin = in.Address();
  const std::string_view bytes = image.At(begin, size);
  if (!in.ok() || bytes.size() != size) return Broken("a heap of names ends past the file");
  return bytes;
}

absl::StatusOr<std::string_view> TextAt(std::string_view heap, uint64_t offset) {
  if (offset >= heap.size()) return Broken("a name is outside of its heap");
  const std::string_view rest = heap.substr(offset);
  const size_t end = rest.find('\0');
  if (end == rest.npos) return Broken("a name ends past its heap");
  return rest.substr(0, end);
}

absl::StatusOr<GlobalHeaps::Objects> GlobalHeaps::Read(Image* image, uint64_t address) {
  Cursor head = image->From(address);
  if (head.Bytes(4) != "GCOL") return Broken(StrCat("there is no heap of texts at ", address));
  head.Skip(4);
  const uint64_t size = head.Length();
  const std::string_view heap = image->At(address, size);
  if (!head.ok() || heap.size() != size || size < head.at()) {
    return Broken("a heap of texts ends past the file");
  }
  X2IR_RETURN_IF_ERROR(image->structures()->Take(size));
  Objects objects;
  Cursor in = image->Over(heap);
  in.Skip(head.at());
  in.Align8(0);
  while (in.left() >= 8u + image->widths().length) {
    const uint64_t number = in.UInt(2);
    in.Skip(6);
    const uint64_t length = in.Length();
    in.Align8(0);
    if (number == 0) break;  // the rest is free
    const std::string_view object = in.Bytes(length);
    if (!in.ok()) return Broken("a text is longer than its heap");
    objects.emplace(number, object);
    in.Align8(0);
  }
  return objects;
}

absl::StatusOr<std::string_view> GlobalHeaps::Text(Image* image, std::string_view reference) {
  Cursor in = image->Over(reference);
  const uint64_t length = in.UInt(4), address = in.Address(), index = in.UInt(4);
  if (!in.ok()) return Broken("a text of variable length is cut off");
  if (length == 0) return std::string_view();
  auto heap = heaps_.find(address);
  if (heap == heaps_.end()) {
    X2IR_ASSIGN_OR_RETURN(Objects objects, Read(image, address));
    heap = heaps_.emplace(address, std::move(objects)).first;
  }
  const auto object = heap->second.find(index);
  if (object == heap->second.end() || length > object->second.size()) {
    return Broken("a text of variable length is not in its heap");
  }
  return object->second.substr(0, length);
}

absl::StatusOr<std::optional<Outside>> OpenOutside(Image* image, Cursor in, size_t order_size,
                                                   std::string_view what) {
  if (const uint64_t version = in.UInt(1); version != 0) {
    return NotRead(what, " are of version ", version);
  }
  if ((in.UInt(1) & 1) != 0) in.Skip(order_size);
  const uint64_t heap_at = in.Address(), tree = in.Address();
  if (!in.ok()) return Broken(StrCat("the place of ", what, " is cut off"));
  if (heap_at == kNowhere) return std::nullopt;
  X2IR_ASSIGN_OR_RETURN(FractalHeap heap, FractalHeap::Open(image, heap_at));
  return Outside{std::move(heap), tree};
}

}  // namespace x2ir::hdf5
