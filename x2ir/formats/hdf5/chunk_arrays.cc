// Indexes of chunks that are arrays: of fixed size, and with one axis that may grow. Large blocks
// of entries are in pages, each with a checksum; bits say which pages were ever written.
#include <algorithm>
#include <bit>

#include "x2ir/formats/hdf5/chunks_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr uint64_t kMaxPageBits = 40;

absl::Status Unfit() { return Broken("the sizes in an index of chunks do not fit"); }

bool IsSet(std::string_view bits, uint64_t i) {
  return i / 8 < bits.size() && (static_cast<unsigned char>(bits[i / 8]) & 0x80 >> i % 8) != 0;
}

// What headers and blocks of both kinds have in common.
class EntryReader {
 public:
  EntryReader(Image* image, EntryVisitor visit)
      : image_(*image), meter_(image->indexes()), visit_(visit) {}

  absl::StatusOr<Cursor> Block(uint64_t address, uint64_t size, std::string_view signature) const {
    return image_.Checked(address, size, signature, "index of chunks", meter_);
  }
  // After the signature: a version, 0, and what the entries are of.
  static absl::Status SkipKind(Cursor* in) {
    const uint64_t version = in->UInt(1);
    if (version != 0) return NotRead("its index of chunks is of version ", version);
    in->Skip(1);
    return absl::OkStatus();
  }
  absl::Status SetEntrySize(uint64_t size) {
    entry_size_ = size;
    return size < image_.widths().address ? Unfit() : absl::OkStatus();
  }
  uint64_t entry_size() const { return entry_size_; }
  uint64_t address_width() const { return image_.widths().address; }

  absl::Status Entries(Cursor* in, uint64_t first, uint64_t count) const {
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view entry = in->Bytes(entry_size_);
      if (!in->ok()) return Unfit();
      X2IR_RETURN_IF_ERROR(visit_(first + i, image_.Over(entry)));
    }
    return absl::OkStatus();
  }
  // Pages of `of_page` entries at an address, the last one shorter: those whose bits are set, from
  // bit `first_bit` on.
  absl::Status Pages(uint64_t address, uint64_t first, uint64_t count, uint64_t of_page,
                     std::string_view written, uint64_t first_bit) const {
    const uint64_t size = of_page * entry_size_ + kSumSize;
    for (uint64_t i = 0; i * of_page < count; ++i) {
      if (!IsSet(written, first_bit + i)) continue;
      const uint64_t n = std::min(of_page, count - i * of_page);
      X2IR_ASSIGN_OR_RETURN(Cursor page, Block(address + i * size, n * entry_size_ + kSumSize, ""));
      X2IR_RETURN_IF_ERROR(Entries(&page, first + i * of_page, n));
    }
    return absl::OkStatus();
  }

 private:
  const Image& image_;
  Meter* meter_;
  EntryVisitor visit_;
  uint64_t entry_size_ = 0;
};

// Data blocks whose number and size grow from super block to super block: the first few are listed
// in the index block, others in super blocks of their own.
class ExtensibleArray {
 public:
  ExtensibleArray(Image* image, EntryVisitor visit) : image_(image), reader_(image, visit) {}

  absl::Status Visit(uint64_t address) {
    const Widths widths = image_->widths();
    X2IR_ASSIGN_OR_RETURN(
        Cursor in,
        reader_.Block(address, 4 + 8 + 6 * widths.length + widths.address + kSumSize, "EAHD"));
    X2IR_RETURN_IF_ERROR(EntryReader::SkipKind(&in));
    X2IR_RETURN_IF_ERROR(reader_.SetEntrySize(in.UInt(1)));
    const uint64_t bits = in.UInt(1);
    const uint64_t own_entries = in.UInt(1);
    least_ = in.UInt(1);
    const uint64_t pointers = in.UInt(1);
    page_bits_ = in.UInt(1);
    for (int i = 0; i < 4; ++i) in.SkipLength();
    count_ = in.Length();
    in.SkipLength();
    const uint64_t index_block = in.Address();
    if (bits == 0 || bits > 64 || !std::has_single_bit(least_) || !std::has_single_bit(pointers) ||
        page_bits_ > kMaxPageBits || pointers < 2) {
      return Unfit();
    }
    if (index_block == kNowhere) return absl::OkStatus();
    offset_width_ = (bits + 7) / 8;
    const auto log2 = [](uint64_t power) {
      return static_cast<uint64_t>(std::bit_width(power)) - 1;
    };
    if (bits < log2(least_)) return Unfit();
    const uint64_t listed_blocks = 2 * (pointers - 1), first_super = 2 * log2(pointers);
    const uint64_t supers = 1 + bits - log2(least_);
    const uint64_t listed_supers = supers > first_super ? supers - first_super : 0;
    const uint64_t width = reader_.address_width();
    X2IR_ASSIGN_OR_RETURN(Cursor block,
                          reader_.Block(index_block,
                                        4 + 2 + width + own_entries * reader_.entry_size() +
                                            (listed_blocks + listed_supers) * width + kSumSize,
                                        "EAIB"));
    X2IR_RETURN_IF_ERROR(EntryReader::SkipKind(&block));
    block.SkipAddress();
    X2IR_RETURN_IF_ERROR(reader_.Entries(&block, 0, own_entries));
    uint64_t first = own_entries;
    for (uint64_t i = 0; i < supers && first < count_; ++i) {
      // The sizes of super block i.
      const uint64_t blocks = uint64_t{1} << i / 2, entries = least_ << (i + 1) / 2;
      if (i < first_super) {
        for (uint64_t b = 0; b < blocks; ++b) {
          X2IR_RETURN_IF_ERROR(DataBlock(block.Address(), first + b * entries, entries, "", 0));
        }
      } else if (const uint64_t super = block.Address(); super != kNowhere) {
        X2IR_RETURN_IF_ERROR(SuperBlock(super, first, blocks, entries));
      }
      uint64_t all = 0;
      if (__builtin_mul_overflow(blocks, entries, &all) ||
          __builtin_add_overflow(first, all, &first)) {
        return Unfit();
      }
    }
    return absl::OkStatus();
  }

 private:
  uint64_t Pages(uint64_t entries) const {
    return entries >> page_bits_ > 1 ? entries >> page_bits_ : 0;
  }

  absl::Status SuperBlock(uint64_t address, uint64_t first, uint64_t blocks, uint64_t entries) {
    const uint64_t width = reader_.address_width();
    const uint64_t pages = Pages(entries), bits = blocks * ((pages + 7) / 8);
    X2IR_ASSIGN_OR_RETURN(
        Cursor in,
        reader_.Block(address, 4 + 2 + width + offset_width_ + bits + blocks * width + kSumSize,
                      "EASB"));
    X2IR_RETURN_IF_ERROR(EntryReader::SkipKind(&in));
    in.SkipAddress();
    in.Skip(offset_width_);
    const std::string_view written = in.Bytes(bits);
    for (uint64_t b = 0; b < blocks; ++b) {
      X2IR_RETURN_IF_ERROR(
          DataBlock(in.Address(), first + b * entries, entries, written, b * pages));
    }
    return absl::OkStatus();
  }

  absl::Status DataBlock(uint64_t address, uint64_t first, uint64_t entries,
                         std::string_view written, uint64_t first_bit) {
    if (address == kNowhere) return absl::OkStatus();
    const uint64_t head = 4 + 2 + reader_.address_width() + offset_width_;
    const bool paged = Pages(entries) != 0;
    if (paged && written.empty())
      return NotRead("its index of chunks has pages in its first block");
    X2IR_ASSIGN_OR_RETURN(
        Cursor in,
        reader_.Block(address, head + (paged ? 0 : entries * reader_.entry_size()) + kSumSize,
                      "EADB"));
    X2IR_RETURN_IF_ERROR(EntryReader::SkipKind(&in));
    in.SkipAddress();
    in.Skip(offset_width_);
    if (!paged) return reader_.Entries(&in, first, entries);
    return reader_.Pages(address + head + kSumSize, first, entries, uint64_t{1} << page_bits_,
                         written, first_bit);
  }

  Image* image_;
  EntryReader reader_;
  uint64_t least_ = 0, page_bits_ = 0, offset_width_ = 0;
  uint64_t count_ = 0;  // entries that were ever set lie before this one
};

}  // namespace

absl::Status VisitFixedArray(Image* image, uint64_t address, EntryVisitor visit) {
  EntryReader reader(image, visit);
  const Widths widths = image->widths();
  X2IR_ASSIGN_OR_RETURN(
      Cursor in, reader.Block(address, 4 + 4 + widths.length + widths.address + kSumSize, "FAHD"));
  X2IR_RETURN_IF_ERROR(EntryReader::SkipKind(&in));
  X2IR_RETURN_IF_ERROR(reader.SetEntrySize(in.UInt(1)));
  const uint64_t page_bits = in.UInt(1), count = in.Length(), block_at = in.Address();
  if (page_bits > kMaxPageBits) return Unfit();
  if (block_at == kNowhere) return absl::OkStatus();
  const uint64_t of_page = uint64_t{1} << page_bits;
  const bool paged = count > of_page;
  if (count > image->bytes().size()) return Unfit();
  const uint64_t bits = paged ? ((count - 1) / of_page + 8) / 8 : 0;
  const uint64_t head = 4 + 2 + reader.address_width() + bits;
  X2IR_ASSIGN_OR_RETURN(
      Cursor block,
      reader.Block(block_at, head + (paged ? 0 : count * reader.entry_size()) + kSumSize, "FADB"));
  X2IR_RETURN_IF_ERROR(EntryReader::SkipKind(&block));
  block.SkipAddress();
  if (!paged) return reader.Entries(&block, 0, count);
  return reader.Pages(block_at + head + kSumSize, 0, count, of_page, block.Bytes(bits), 0);
}

absl::Status VisitExtensibleArray(Image* image, uint64_t address, EntryVisitor visit) {
  return ExtensibleArray(image, visit).Visit(address);
}

}  // namespace x2ir::hdf5
