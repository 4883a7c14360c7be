// Identifiers of objects say where they are: in the blocks of the heap (managed), somewhere in the
// file (huge), or in themselves (tiny).
#include <bit>
#include <string>

#include "x2ir/formats/hdf5/heaps_internal.h"
#include "x2ir/formats/hdf5/trees_internal.h"

namespace x2ir::hdf5 {
namespace {

enum : uint64_t { kManaged = 0, kHuge = 1, kTiny = 2 };
constexpr uint64_t kHasSums = 2;  // among the flags of a heap
constexpr size_t kShortTiny = 16;

int Log2(uint64_t power) { return std::bit_width(power) - 1; }

}  // namespace

absl::StatusOr<FractalHeap> FractalHeap::Open(Image* image, uint64_t address) {
  const Widths widths = image->widths();
  const uint64_t size =
      4 + 1 + 2 + 2 + 1 + 4 + 12 * widths.length + 3 * widths.address + 2 + 2 + 2 + 2 + 4;
  Cursor filters = image->From(address);
  filters.Skip(4 + 1 + 2);
  if (filters.UInt(2) != 0) return NotRead("links or attributes are compressed");
  X2IR_ASSIGN_OR_RETURN(Cursor in,
                        image->Checked(address, size, "FRHP", "fractal heap", image->structures()));
  FractalHeap heap;
  heap.image_ = image;
  if (const uint64_t version = in.UInt(1); version != 0) {
    return NotRead("a fractal heap is of version ", version);
  }
  heap.id_size_ = in.UInt(2);
  in.Skip(2);
  heap.sums_ = (in.UInt(1) & kHasSums) != 0;
  const uint64_t largest_object = in.UInt(4);
  in.SkipLength();
  heap.huge_tree_ = in.Address();
  in.SkipLength();
  in.SkipAddress();
  for (int i = 0; i < 8; ++i) in.SkipLength();
  heap.width_ = in.UInt(2);
  heap.start_ = in.Length();
  heap.largest_ = in.Length();
  const uint64_t bits = in.UInt(2);
  in.Skip(2);
  heap.root_ = in.Address();
  heap.root_rows_ = in.UInt(2);
  if (!std::has_single_bit(heap.width_) || !std::has_single_bit(heap.start_) ||
      !std::has_single_bit(heap.largest_) || heap.largest_ < heap.start_ || bits == 0 ||
      bits > 64 || Log2(heap.largest_) >= static_cast<int>(bits) || heap.id_size_ == 0) {
    return Broken("the sizes in a fractal heap do not fit");
  }
  heap.offset_width_ = (bits + 7) / 8;
  heap.length_width_ = std::min<size_t>((static_cast<size_t>(Log2(heap.largest_)) + 7) / 8,
                                        BytesFor(largest_object));
  return heap;
}

absl::StatusOr<std::string_view> FractalHeap::Object(std::string_view id) {
  Cursor in = image_->Over(id);
  const uint64_t head = in.UInt(1);
  if (head >> 6 != 0 || !in.ok()) return NotRead("an identifier in a heap is of another version");
  switch (head >> 4 & 3) {
    case kManaged: {
      const uint64_t offset = in.UInt(offset_width_), size = in.UInt(length_width_);
      if (!in.ok()) return Broken("an identifier in a heap is cut off");
      return Managed(offset, size);
    }
    case kHuge: return Huge(in.rest());
    case kTiny: {
      const bool is_long = id_size_ - 1 > kShortTiny;
      const uint64_t size = (is_long ? (head & 15) << 8 | in.UInt(1) : head & 15) + 1;
      const std::string_view object = in.Bytes(size);
      if (!in.ok()) return Broken("an identifier in a heap is cut off");
      return object;
    }
    default: return Broken("an object of a heap is of an unknown kind");
  }
}

// Down from the root: in each indirect block the row and the column that have the offset.
absl::StatusOr<std::string_view> FractalHeap::Managed(uint64_t offset, uint64_t size) {
  uint64_t address = root_, rows = root_rows_, base = 0;
  if (rows == 0) return InBlock(address, start_, offset, size);
  const uint64_t address_width = image_->widths().address;
  const auto direct_rows = static_cast<uint64_t>(Log2(largest_) - Log2(start_) + 2);
  const int first_row_bits = Log2(start_) + Log2(width_);
  while (true) {
    const uint64_t from = offset - base;
    const uint64_t row =
        from >> first_row_bits == 0 ? 0 : static_cast<uint64_t>(Log2(from) - first_row_bits + 1);
    if (row >= rows || row > 64) return Broken("an object is outside of its heap");
    const uint64_t row_at = row == 0 ? 0 : uint64_t{1} << Log2(from);
    const uint64_t column = (from - row_at) / SizeInRow(row);
    // Addresses of direct blocks, then those of indirect ones.
    const uint64_t head = 4 + 1 + address_width + offset_width_;
    const std::string_view block = image_->At(address, head + rows * width_ * address_width + 4);
    if (!block.starts_with("FHIB")) return Broken("a block of a heap is not in the file");
    X2IR_RETURN_IF_ERROR(CheckSum(address, block, 0));
    Cursor in = image_->Over(block);
    in.Skip(head + (row * width_ + column) * address_width);
    address = in.Address();
    base += row_at + column * SizeInRow(row);
    if (row < direct_rows) return InBlock(address, SizeInRow(row), offset - base, size);
    const int child_rows = Log2(SizeInRow(row)) - first_row_bits + 1;
    if (child_rows <= 0) return Broken("the sizes in a fractal heap do not fit");
    rows = static_cast<uint64_t>(child_rows);
  }
}

absl::StatusOr<std::string_view> FractalHeap::InBlock(uint64_t address, uint64_t block_size,
                                                      uint64_t offset, uint64_t size) {
  const std::string_view block = image_->At(address, block_size);
  const size_t head = 4 + 1 + image_->widths().address + offset_width_;
  if (block.size() < head + 4 || !block.starts_with("FHDB")) {
    return Broken("a block of a heap is not in the file");
  }
  if (sums_) X2IR_RETURN_IF_ERROR(CheckSum(address, block, head));
  if (offset < head || offset > block.size() || size > block.size() - offset) {
    return Broken("an object is outside of its heap");
  }
  return block.substr(offset, size);
}

// `head`: where the sum is in a direct block, which counts as 0; else it is at the end.
absl::Status FractalHeap::CheckSum(uint64_t address, std::string_view block, size_t head) {
  if (!verified_.insert(address).second) return absl::OkStatus();
  X2IR_RETURN_IF_ERROR(image_->structures()->Take(block.size()));
  if (!image_->verify()) return absl::OkStatus();
  const size_t at = head != 0 ? head : block.size() - 4;
  std::string summed(head != 0 ? block : block.substr(0, at));
  if (head != 0) summed.replace(at, 4, 4, '\0');
  if (Lookup3(summed) != image_->Over(block.substr(at)).UInt(4)) {
    return Broken(StrCat("the checksum of the block of a heap at ", address, " is wrong"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> FractalHeap::Huge(std::string_view id) {
  const Widths widths = image_->widths();
  Cursor in = image_->Over(id);
  Place place;
  if (id_size_ - 1 >= size_t{widths.address} + widths.length) {
    place.address = in.Address();
    place.size = in.Length();
  } else {
    if (!knows_huge_) {
      knows_huge_ = true;
      X2IR_RETURN_IF_ERROR(WalkTree2(*image_, huge_tree_, RecordType::kHugeObject,
                                     widths.address + 2u * widths.length, image_->structures(),
                                     [&](std::string_view bytes) {
                                       Cursor record = image_->Over(bytes);
                                       Place one;
                                       one.address = record.Address();
                                       one.size = record.Length();
                                       huge_.emplace(record.Length(), one);
                                       return absl::OkStatus();
                                     }));
    }
    const uint64_t key = in.UInt(std::min<size_t>(id_size_ - 1, 8));
    const auto found = huge_.find(key);
    if (found == huge_.end()) return Broken("a large object is not in its heap");
    place = found->second;
  }
  const std::string_view object = image_->At(place.address, place.size);
  if (!in.ok() || object.size() != place.size) return Broken("a large object ends past the file");
  return object;
}

}  // namespace x2ir::hdf5
