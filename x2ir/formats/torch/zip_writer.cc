#include "x2ir/formats/torch/zip_writer.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMax32 = 0xffffffff, kMax16 = 0xffff;
constexpr uint16_t kZip64 = 1, kPadding = 0x4246;  // extra fields; "FB" is PyTorch's for padding
constexpr uint16_t kVersion = 20, kVersion64 = 45;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kNoTime = 0, kNoDate = (1 << 5) | 1;  // the first of January 1980
constexpr size_t kLocalHeader = 30;

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

// Of a mapped tensor the file is read, in pieces that stay in the processor's cache: pages that
// were mapped would stay in memory. A file that changed is found out when what was written is
// committed.
static uint32_t ChecksumOf(const Tensor& tensor) {
  constexpr size_t kPiece = size_t{256} << 10;
  const std::string_view all(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.nbytes());
  const auto range = tensor.file_range();
  if (!range || all.size() < kPiece) return ZipChecksum(all);
  std::string piece(kPiece, '\0');
  uint32_t crc = 0;
  for (uint64_t at = 0; at < range->size;) {
    const ssize_t got =
        ::pread(range->file->fd(), piece.data(), std::min<uint64_t>(kPiece, range->size - at),
                static_cast<off_t>(range->offset + at));
    if (got <= 0) return ZipChecksum(all.substr(at), crc);
    crc = ZipChecksum(std::string_view(piece).substr(0, static_cast<size_t>(got)), crc);
    at += static_cast<uint64_t>(got);
  }
  return crc;
}

// Computes checksums in order while those before are used.
class ZipWriter::Checksums {
 public:
  explicit Checksums(std::vector<const Tensor*> tensors)
      : tensors_(std::move(tensors)), sums_(tensors_.size()) {
    try {
      // A plain function: the thread's class is of nobody's own types, which would show in a
      // library.
      thread_ = std::thread(&Checksums::Start, static_cast<void*>(this));
    } catch (const std::system_error&) {  // no more threads: nothing is computed before
    }
  }
  ~Checksums() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // nullopt: not of the next one that was expected.
  std::optional<uint32_t> Take(const Tensor& tensor) {
    if (!thread_.joinable() || next_ >= tensors_.size() || tensors_[next_] != &tensor) {
      return std::nullopt;
    }
    for (size_t done = done_; done <= next_; done = done_) done_.wait(done);
    return sums_[next_++];
  }

 private:
  static void Start(void* self) { static_cast<Checksums*>(self)->Run(); }
  void Run() {
    for (size_t i = 0; i < tensors_.size() && !stop_; ++i) {
      sums_[i] = ChecksumOf(*tensors_[i]);
      ++done_;
      done_.notify_one();
    }
  }

  const std::vector<const Tensor*> tensors_;
  std::vector<uint32_t> sums_;
  std::atomic<size_t> done_{0};
  std::atomic<bool> stop_{false};
  size_t next_ = 0;
  std::thread thread_;
};

ZipWriter::ZipWriter(AtomicFile& file) : file_(file) {}
ZipWriter::~ZipWriter() = default;

uint32_t ZipChecksum(std::string_view bytes, uint32_t crc) {
  constexpr size_t kMost = size_t{1} << 30;
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kMost);
    crc = static_cast<uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(n)));
    bytes.remove_prefix(n);
  }
  return crc;
}

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
  X2IR_RETURN_IF_ERROR(Begin(name, bytes.size(), ZipChecksum(bytes)));
  return file_.Append(bytes);
}

absl::Status ZipWriter::Add(std::string_view name, const Tensor& tensor) {
  std::optional<uint32_t> crc;
  if (checksums_) crc = checksums_->Take(tensor);
  X2IR_RETURN_IF_ERROR(Begin(name, tensor.nbytes(), crc ? *crc : ChecksumOf(tensor)));
  return file_.Append(tensor);
}

void ZipWriter::Expect(std::vector<const Tensor*> tensors) {
  constexpr size_t kWorthAThread = size_t{16} << 20;  // bytes
  size_t bytes = 0;
  for (const Tensor* tensor : tensors) bytes += tensor->nbytes();
  if (bytes >= kWorthAThread) checksums_ = std::make_unique<Checksums>(std::move(tensors));
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
