// The parts of the zip format that readers need (PKWARE's APPNOTE 6.3): end records, with and
// without zip64, central directory, local headers.
#include "x2ir/formats/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56;
constexpr size_t kLocator64Size = 20;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kExtra64 = 1;
// Deflate packs at most 1032 bytes into one, so an entry that says more lies.
constexpr uint64_t kMaxRatio = 1032;

// Little-endian number at a place that is known to be there.
template <typename T>
T At(std::string_view bytes, size_t pos) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[pos + i])) << (8 * i));
  }
  return value;
}

bool IsPlainPath(std::string_view name) {
  if (name.empty() || name[0] == '/' || name.find('\0') != name.npos ||
      name.find('\\') != name.npos) {
    return false;
  }
  for (size_t at = 0; at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, slash - at);
    if (part == ".." || part == ".") return false;
    at = slash + 1;
  }
  return true;
}

}  // namespace

bool LooksLikeZip(std::string_view head) {
  return head.size() >= 4 && (At<uint32_t>(head, 0) == kLocal || At<uint32_t>(head, 0) == kEnd);
}

absl::StatusOr<ZipArchive> ZipArchive::Open(BlobPtr file, uint64_t offset, uint64_t size) {
  ZipArchive zip;
  if (offset > file->size() || size > file->size() - offset) {
    return DataLoss("not a zip archive: it ends after the file");
  }
  zip.bytes_ = file->view().substr(offset, size);
  zip.base_ = offset;
  zip.budget_ = UnpackBudget(size);
  zip.file_ = std::move(file);
  const std::string_view bytes = zip.bytes_;
  if (bytes.size() < kEndSize) return DataLoss("not a zip archive: only ", size, " bytes");

  // The end record is followed by a comment of the length that it says.
  constexpr size_t kMaxComment = 0xffff;
  size_t end = bytes.size() - kEndSize;
  const size_t stop = end > kMaxComment ? end - kMaxComment : 0;
  while (At<uint32_t>(bytes, end) != kEnd ||
         At<uint16_t>(bytes, end + 20) != bytes.size() - end - kEndSize) {
    if (end == stop) return DataLoss("not a zip archive, or cut off: it has no end record");
    --end;
  }
  uint64_t disk = At<uint16_t>(bytes, end + 4), count = At<uint16_t>(bytes, end + 10);
  uint64_t length = At<uint32_t>(bytes, end + 12), start = At<uint32_t>(bytes, end + 16);
  size_t tail = end;  // where the records at the end begin
  if (end >= kLocator64Size && At<uint32_t>(bytes, end - kLocator64Size) == kLocator64) {
    const uint64_t at = At<uint64_t>(bytes, end - kLocator64Size + 8);
    if (at > end - kLocator64Size || end - kLocator64Size - at < kEnd64Size ||
        At<uint32_t>(bytes, at) != kEnd64) {
      return DataLoss("broken zip archive: no zip64 end record where the file says");
    }
    disk = At<uint32_t>(bytes, at + 16);
    count = At<uint64_t>(bytes, at + 32);
    length = At<uint64_t>(bytes, at + 40);
    start = At<uint64_t>(bytes, at + 48);
    tail = at;
  }
  if (disk != 0) return DataLoss("a zip archive of several parts");
  if (start > tail || length > tail - start) {
    return DataLoss("broken zip archive: its directory is outside of the file");
  }
  if (count > length / kCentralSize) {
    return DataLoss("broken zip archive: ", count, " entries in a directory of ", length, " bytes");
  }
  zip.entries_.reserve(count);
  zip.by_name_.reserve(count);
  size_t at = start;
  for (uint64_t i = 0; i < count; ++i) {
    size_t used = 0;
    X2IR_RETURN_IF_ERROR(zip.ReadEntry(bytes.substr(at, start + length - at), &used));
    at += used;
  }
  X2IR_RETURN_IF_ERROR(zip.CheckOverlaps(start));
  return zip;
}

absl::Status ZipArchive::ReadEntry(std::string_view record, size_t* length) {
  if (record.size() < kCentralSize || At<uint32_t>(record, 0) != kCentral) {
    return DataLoss("broken zip archive: entry ", entries_.size(), " of its directory");
  }
  const size_t name_size = At<uint16_t>(record, 28), extra_size = At<uint16_t>(record, 30);
  *length = kCentralSize + name_size + extra_size + At<uint16_t>(record, 32);
  if (*length > record.size()) {
    return DataLoss("broken zip archive: entry ", entries_.size(), " of its directory");
  }
  ZipEntry entry;
  entry.name = record.substr(kCentralSize, name_size);
  entry.encrypted = (At<uint16_t>(record, 8) & 1) != 0;
  entry.method = At<uint16_t>(record, 10);
  entry.crc = At<uint32_t>(record, 16);
  entry.packed = At<uint32_t>(record, 20);
  entry.size = At<uint32_t>(record, 24);
  entry.header = At<uint32_t>(record, 42);
  // Numbers that do not fit into 32 bits are in an extra field, in this order.
  std::string_view extra = record.substr(kCentralSize + name_size, extra_size);
  while (extra.size() >= 4) {
    const size_t size = At<uint16_t>(extra, 2);
    if (size > extra.size() - 4) break;
    std::string_view field = extra.substr(4, size);
    if (At<uint16_t>(extra, 0) == kExtra64) {
      for (uint64_t* number : {&entry.size, &entry.packed, &entry.header}) {
        if (*number != std::numeric_limits<uint32_t>::max() || field.size() < 8) continue;
        *number = At<uint64_t>(field, 0);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + size);
  }
  if (!IsPlainPath(entry.name)) {
    return Invalid("zip entry '", absl::CHexEscape(ForAbsl(entry.name)), "' has a bad name");
  }
  if (!by_name_.emplace(entry.name, entries_.size()).second) {
    return Invalid("zip entry '", entry.name, "' occurs twice");
  }
  X2IR_RETURN_IF_ERROR(Locate(entry));
  entries_.push_back(entry);
  return absl::OkStatus();
}

// From the local header to the bytes after it.
absl::Status ZipArchive::Locate(ZipEntry& entry) {
  const auto broken = [&] {
    return DataLoss("broken zip archive: entry '", entry.name, "' is outside of the file");
  };
  if (entry.header > bytes_.size() || bytes_.size() - entry.header < kLocalSize) return broken();
  if (At<uint32_t>(bytes_, entry.header) != kLocal) {
    return DataLoss("broken zip archive: no local header of entry '", entry.name, "'");
  }
  const size_t name_size = At<uint16_t>(bytes_, entry.header + 26);
  const uint64_t offset =
      entry.header + kLocalSize + name_size + At<uint16_t>(bytes_, entry.header + 28);
  if (offset > bytes_.size() || entry.packed > bytes_.size() - offset) return broken();
  if (bytes_.substr(entry.header + kLocalSize, name_size) != entry.name) {
    return DataLoss("broken zip archive: entry '", entry.name, "' has another name in its header");
  }
  if (entry.method == kStored && entry.packed != entry.size) {
    return DataLoss("broken zip archive: entry '", entry.name, "' is stored, but of two sizes");
  }
  entry.header += base_;
  entry.offset = base_ + offset;
  return absl::OkStatus();
}

absl::Status ZipArchive::CheckOverlaps(uint64_t directory) const {
  std::vector<const ZipEntry*> order;
  order.reserve(entries_.size());
  for (const ZipEntry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header < b->header; });
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t next = i + 1 < order.size() ? order[i + 1]->header : base_ + directory;
    if (order[i]->offset + order[i]->packed > next) {
      return DataLoss("broken zip archive: entry '", order[i]->name, "' overlaps what follows it");
    }
  }
  return absl::OkStatus();
}

const ZipEntry* ZipArchive::Find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &entries_[it->second];
}

absl::StatusOr<ZipArchive::Bytes> ZipArchive::ReadText(const ZipEntry& entry) {
  if (entry.size > kSmallText && entry.size / kMaxOfAText > entry.packed) {
    return DataLoss("zip entry '", entry.name, "': a text of ", entry.size, " bytes, packed into ",
                    entry.packed);
  }
  return Read(entry);
}

absl::StatusOr<std::string> ZipArchive::ReadWord(const ZipEntry& entry) {
  constexpr uint64_t kMaxOfAWord = 100;
  if (entry.size > kMaxOfAWord) {
    return DataLoss("zip entry '", entry.name, "' has ", entry.size, " bytes; expected a word");
  }
  X2IR_ASSIGN_OR_RETURN(const Bytes bytes, Read(entry));
  return std::string(bytes.view);
}

absl::StatusOr<ZipArchive::Bytes> ZipArchive::Read(const ZipEntry& entry) {
  const std::string_view packed = file_->view().substr(entry.offset, entry.packed);
  if (entry.encrypted) return Unimplemented("zip entry '", entry.name, "' is encrypted");
  if (entry.method == kStored) return Bytes{packed, nullptr};
  if (entry.method != kDeflated) {
    return Unimplemented("zip entry '", entry.name, "' is packed by method ", entry.method);
  }
  if (entry.size / kMaxRatio > entry.packed || entry.size > kMaxUnpacked) {
    return DataLoss("zip entry '", entry.name, "': ", entry.packed, " bytes that say they are ",
                    entry.size);
  }
  if (absl::Status s = budget_.Take(entry.size); !s.ok()) {
    return Annotate(s, StrCat("zip entry '", entry.name, "'"));
  }
  const auto broken = [&] { return DataLoss("zip entry '", entry.name, "' cannot be unpacked"); };
  auto out = std::make_shared<std::string>(entry.size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return SystemError("zlib does not start");
  // zlib's counters have 32 bits, and kMaxUnpacked fits into them.
  const bool fits = packed.size() <= kMaxUnpacked;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = fits ? static_cast<uInt>(packed.size()) : 0;
  stream.next_out = reinterpret_cast<Bytef*>(out->data());
  stream.avail_out = static_cast<uInt>(out->size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.total_out == out->size();
  inflateEnd(&stream);
  if (!whole) return broken();
  const uint32_t crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(out->data()), static_cast<uInt>(out->size())));
  if (crc != entry.crc) return DataLoss("zip entry '", entry.name, "' has another checksum");
  Bytes bytes;
  bytes.view = *out;
  bytes.owner = std::move(out);
  return bytes;
}

}  // namespace x2ir
