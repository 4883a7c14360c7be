#include <zlib.h>

#include <iterator>

#include "x2ir/formats/hdf5/filters_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr uint64_t kDeflate = 1, kShuffle = 2, kFletcher32 = 3;
constexpr uint64_t kFirstWithName = 256;  // of those registered with The HDF Group
constexpr uint64_t kMaxFilters = 32;      // as bits of a mask

constexpr struct {
  uint64_t id;
  std::string_view name;
} kNamesOfFilters[] = {{4, "szip"},    {5, "nbit"},      {6, "scaleoffset"}, {307, "bzip2"},
                       {32000, "lzf"}, {32001, "blosc"}, {32004, "lz4"},     {32008, "bitshuffle"},
                       {32013, "zfp"}, {32015, "zstd"},  {32026, "blosc2"}};

std::string NameOfFilter(uint64_t id) {
  for (const auto& one : kNamesOfFilters) {
    if (one.id == id) return StrCat("'", one.name, "'");
  }
  return StrCat(id);
}

// The first bytes of all elements, then the second ones; what is left over stays at the end.
void Unshuffle(std::string_view bytes, size_t width, char* to) {
  const size_t count = bytes.size() / width;
  for (size_t b = 0; b < width; ++b) {
    for (size_t i = 0; i < count; ++i) to[i * width + b] = bytes[b * count + i];
  }
  const size_t even = count * width;
  bytes.substr(even).copy(to + even, bytes.size() - even);
}

// Releases before 1.6.3 wrote the bytes of each half of the sum the other way round.
uint32_t InOldOrder(uint32_t sum) { return (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff); }

}  // namespace

absl::StatusOr<Filters> Filters::Of(const Image& image, std::string_view data) {
  Cursor in = image.Over(data);
  const uint64_t version = in.UInt(1), count = in.UInt(1);
  if (version != 1 && version != 2) return NotRead("its filters are of version ", version);
  if (count > kMaxFilters) return Broken("a dataset has too many filters");
  if (version == 1) in.Skip(6);
  Filters filters;
  filters.verify_ = image.verify();
  for (uint64_t i = 0; i < count; ++i) {
    Filter filter;
    filter.id = in.UInt(2);
    const uint64_t name = version == 1 || filter.id >= kFirstWithName ? in.UInt(2) : 0;
    in.Skip(2);
    const uint64_t values = in.UInt(2);
    in.Skip(version == 1 ? (name + 7) / 8 * 8 : name);
    Cursor parameters = image.Over(in.Bytes(4 * values));
    filter.parameter = parameters.UInt(4);
    if (version == 1 && values % 2 != 0) in.Skip(4);
    if (!in.ok()) return Broken("a list of filters is cut off");
    filters.filters_.push_back(filter);
  }
  return filters;
}

absl::StatusOr<std::string_view> Filters::Undo(std::string_view stored, uint64_t skipped,
                                               uint64_t size) {
  std::string_view bytes = stored;
  // Each checksum made them longer.
  const uint64_t most = size + kSumSize * filters_.size();
  for (size_t i = filters_.size(); i-- > 0;) {
    if ((skipped >> i & 1) != 0) continue;
    X2IR_ASSIGN_OR_RETURN(bytes, UndoOne(filters_[i], bytes, most));
  }
  if (bytes.size() != size) {
    return Broken(StrCat("a chunk has ", bytes.size(), " bytes; its shape has ", size));
  }
  return bytes;
}

absl::StatusOr<std::string_view> Filters::UndoOne(const Filter& filter, std::string_view bytes,
                                                  uint64_t most) {
  switch (filter.id) {
    case kFletcher32: {
      if (bytes.size() < kSumSize) return Broken("a chunk is shorter than its checksum");
      const std::string_view summed = bytes.substr(0, bytes.size() - kSumSize);
      const auto stored =
          static_cast<uint32_t>(Cursor(bytes.substr(summed.size()), Widths()).UInt(kSumSize));
      if (verify_) {
        const uint32_t sum = Fletcher32(summed);
        if (stored != sum && stored != InOldOrder(sum)) {
          return Broken("the checksum of a chunk is wrong");
        }
      }
      return summed;
    }
    case kDeflate: {
      std::string& to = buffers_[turn_++ % 2];
      to.resize(most);
      uLongf length = to.size();
      if (uncompress(reinterpret_cast<Bytef*>(to.data()), &length,
                     reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK) {
        return Broken("a chunk cannot be unpacked");
      }
      return std::string_view(to).substr(0, length);
    }
    case kShuffle: {
      if (filter.parameter == 0) return Broken("the filter 'shuffle' has no size of elements");
      if (filter.parameter == 1 || filter.parameter > bytes.size()) return bytes;
      std::string& to = buffers_[turn_++ % 2];
      to.resize(bytes.size());
      Unshuffle(bytes, filter.parameter, to.data());
      return to;
    }
    default:
      return NotRead("it is packed by the filter ", NameOfFilter(filter.id),
                     "; deflate, shuffle and fletcher32 are supported");
  }
}

}  // namespace x2ir::hdf5
