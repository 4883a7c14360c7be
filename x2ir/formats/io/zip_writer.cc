#include "x2ir/formats/io/zip_writer.h"

#include <algorithm>
#include <utility>

#include "x2ir/formats/io/checksums.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMax32 = 0xffffffff, kMax16 = 0xffff;
constexpr uint16_t kZip64 = 1, kPadding = 0x4246;  // extra fields; "FB" is PyTorch's for padding
constexpr uint16_t kVersion = 20, kVersion64 = 45;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kNoTime = 0, kNoDate = (1 << 5) | 1;  // the first of January 1980
constexpr size_t kLocalHeader = 30, kChecksumInHeader = 14;

class Record {
 public:
  template <typename T>
  Record& Put(T number) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_ += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i));
    }
    return *this;
  }
  Record& Put16(uint64_t number) { return Put(static_cast<uint16_t>(number)); }
  // A field that is full where zip64 has the number.
  Record& Put32(uint64_t number) { return Put(static_cast<uint32_t>(std::min(number, kMax32))); }
  Record& Put64(uint64_t number) { return Put(number); }
  Record& Text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

absl::Status ZipWriter::Begin(std::string_view name, uint64_t size, uint32_t crc) {
  if (name.size() > kMax16) return CannotExpress("a name of ", name.size(), " bytes");
  const bool wide = size >= kMax32;
  Record extra;
  if (wide) extra.Put16(kZip64).Put16(16).Put64(size).Put64(size);
  const uint64_t header = file_.size();
  const uint64_t bare = header + kLocalHeader + name.size() + extra.bytes().size() + 4;
  const uint64_t padding = (kAlignment - bare % kAlignment) % kAlignment;
  extra.Put16(kPadding).Put16(padding).Text(std::string(padding, '\0'));
  Record record;
  record.Put(uint32_t{0x04034b50}).Put16(wide ? kVersion64 : kVersion).Put16(kUtf8Names).Put16(0);
  record.Put16(kNoTime).Put16(kNoDate).Put(crc).Put32(wide ? kMax32 : size);
  record.Put32(wide ? kMax32 : size).Put16(name.size()).Put16(extra.bytes().size());
  record.Text(name).Text(extra.bytes());
  entries_.push_back({std::string(name), header, size, crc});
  return file_.Append(record.bytes());
}

absl::Status ZipWriter::Add(std::string_view name, std::string_view bytes) {
  X2IR_RETURN_IF_ERROR(Begin(name, bytes.size(), Crc32(bytes)));
  return file_.Append(bytes);
}

// Of large ones, the bytes are read once, and the header before them gets the checksum afterwards.
absl::Status ZipWriter::Add(std::string_view name, const Tensor& tensor) {
  constexpr size_t kLarge = size_t{64} << 10;
  if (!file_.can_replace() || tensor.nbytes() < kLarge) {
    return Add(name, {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.nbytes()});
  }
  X2IR_RETURN_IF_ERROR(Begin(name, tensor.nbytes(), 0));
  Entry& entry = entries_.back();
  X2IR_RETURN_IF_ERROR(file_.Append(
      tensor, [&entry](std::string_view bytes) { entry.crc = Crc32(bytes, entry.crc); }));
  return file_.Replace(entry.header + kChecksumInHeader, Record().Put(entry.crc).bytes());
}

absl::Status ZipWriter::Add(std::string_view name, absl::Span<const Part> parts) {
  const auto view = [](const Part& part) -> std::string_view {
    if (!part.tensor) return part.text;
    return {reinterpret_cast<const char*>(part.tensor->bytes().data()), part.tensor->nbytes()};
  };
  uint64_t size = 0;
  for (const Part& part : parts) size += part.tensor ? part.tensor->nbytes() : part.text.size();
  uint32_t crc = 0;
  if (!file_.can_replace()) {
    for (const Part& part : parts) crc = Crc32(view(part), crc);
  }
  X2IR_RETURN_IF_ERROR(Begin(name, size, crc));
  const uint64_t header = entries_.back().header;
  for (const Part& part : parts) {
    if (!file_.can_replace()) {
      X2IR_RETURN_IF_ERROR(file_.Append(view(part)));
    } else if (part.tensor) {
      X2IR_RETURN_IF_ERROR(
          file_.Append(*part.tensor, [&crc](std::string_view bytes) { crc = Crc32(bytes, crc); }));
    } else {
      crc = Crc32(part.text, crc);
      X2IR_RETURN_IF_ERROR(file_.Append(part.text));
    }
  }
  entries_.back().crc = crc;
  if (!file_.can_replace()) return absl::OkStatus();
  return file_.Replace(header + kChecksumInHeader, Record().Put(crc).bytes());
}

absl::Status ZipWriter::Finish() {
  const uint64_t start = file_.size();
  for (const Entry& entry : entries_) {
    const bool wide_size = entry.size >= kMax32, wide_place = entry.header >= kMax32;
    Record extra;
    if (wide_size || wide_place) {
      extra.Put16(kZip64).Put16((wide_size ? 16 : 0) + (wide_place ? 8 : 0));
      if (wide_size) extra.Put64(entry.size).Put64(entry.size);
      if (wide_place) extra.Put64(entry.header);
    }
    const uint16_t version = extra.bytes().empty() ? kVersion : kVersion64;
    Record record;
    record.Put(uint32_t{0x02014b50}).Put16(version).Put16(version).Put16(kUtf8Names).Put16(0);
    record.Put16(kNoTime).Put16(kNoDate).Put(entry.crc).Put32(entry.size).Put32(entry.size);
    record.Put16(entry.name.size()).Put16(extra.bytes().size()).Put16(0).Put16(0).Put16(0);
    record.Put32(0).Put32(entry.header).Text(entry.name).Text(extra.bytes());
    X2IR_RETURN_IF_ERROR(file_.Append(record.bytes()));
  }
  const uint64_t end = file_.size(), count = entries_.size();
  Record record;
  if (start >= kMax32 || count >= kMax16) {
    record.Put(uint32_t{0x06064b50}).Put64(44).Put16(kVersion64).Put16(kVersion64);
    record.Put32(0).Put32(0).Put64(count).Put64(count).Put64(end - start).Put64(start);
    record.Put(uint32_t{0x07064b50}).Put32(0).Put64(end).Put32(1);
  }
  record.Put(uint32_t{0x06054b50}).Put16(0).Put16(0).Put16(std::min(count, kMax16));
  record.Put16(std::min(count, kMax16)).Put32(end - start).Put32(start).Put16(0);
  return file_.Append(record.bytes());
}

}  // namespace x2ir
