// Sources: POSIX.1-2001 (pax), the manual of GNU tar on its headers, RFC 1952 by zlib.
#include "x2ir/formats/io/tar.h"

#include <zlib.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <optional>
#include <utility>

#include "x2ir/formats/io/unpack_budget.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr size_t kTarName = 100, kTarSizeAt = 124, kTarTypeAt = 156, kTarMagicAt = 257;
constexpr size_t kTarPrefixAt = 345, kTarPrefix = 155;
constexpr size_t kGzipPart = size_t{1} << 16;

std::string_view UpToZero(std::string_view field) { return field.substr(0, field.find('\0')); }

// A number in octal digits, or, where the first bit is set, in binary.
std::optional<uint64_t> TarNumber(std::string_view field) {
  uint64_t number = 0;
  if (static_cast<unsigned char>(field[0]) & 0x80) {
    for (size_t i = 0; i < field.size(); ++i) {
      const auto byte = static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7f : 0xff);
      if (number >> 55) return std::nullopt;
      number = number << 8 | static_cast<uint64_t>(byte);
    }
    return number;
  }
  bool any = false;
  for (const char c : field) {
    if (c == ' ' && !any) continue;
    if (c == '\0' || c == ' ') break;
    if (c < '0' || c > '7' || number >> 60) return std::nullopt;
    number = number << 3 | static_cast<uint64_t>(c - '0');
    any = true;
  }
  return number;
}

bool ChecksumHolds(std::string_view block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  }
  const auto said = TarNumber(block.substr(148, 8));
  return said && *said == sum;
}

// The "path" of the records "LENGTH KEY=VALUE\n" of a header of pax; empty: there is none.
std::string PathOfPax(std::string_view records) {
  std::string path;
  while (!records.empty()) {
    const size_t space = records.find(' ');
    if (space == records.npos) break;
    const auto length = ParseIndex(records.substr(0, space));
    if (!length || static_cast<uint64_t>(*length) > records.size() ||
        static_cast<size_t>(*length) <= space + 1) {
      break;
    }
    std::string_view record = records.substr(space + 1, static_cast<size_t>(*length) - space - 1);
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.starts_with("path=")) path = std::string(record.substr(5));
    records.remove_prefix(static_cast<size_t>(*length));
  }
  return path;
}

}  // namespace

bool LooksLikeGzip(std::string_view head) { return head.starts_with("\x1f\x8b\x08"); }
bool LooksLikeTar(std::string_view head) {
  return head.size() >= kTarBlock && head.substr(kTarMagicAt, 5) == "ustar" &&
         ChecksumHolds(head.substr(0, kTarBlock));
}

absl::StatusOr<BlobPtr> Gunzip(const BlobPtr& file) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return Internal("zlib cannot be started");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};
  UnpackBudget budget(file->size());
  auto bytes = std::make_shared<std::string>();
  std::string_view rest = file->view();
  std::string part(kGzipPart, '\0');
  int result = Z_OK;
  while (true) {
    if (stream.avail_in == 0 && !rest.empty()) {
      const size_t n = std::min<size_t>(rest.size(), INT_MAX);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
      stream.avail_in = static_cast<uInt>(n);
      rest.remove_prefix(n);
    }
    if (result == Z_STREAM_END) {
      // Files of gzip may follow each other; zeros may be behind the last one.
      const bool more = stream.avail_in >= 2 && stream.next_in[0] == 0x1f;
      if (!more) break;
      if (inflateReset(&stream) != Z_OK) return Internal("zlib cannot be started again");
    }
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) {
      return DataLoss("'", file->path(), "' is broken, or cut off, where gzip compressed it");
    }
    const size_t made = part.size() - stream.avail_out;
    X2IR_RETURN_IF_ERROR(budget.Take(made));
    bytes->append(part, 0, made);
  }
  const absl::Span<const std::byte> view(reinterpret_cast<const std::byte*>(bytes->data()),
                                         bytes->size());
  return Blob::InMemory(view, std::move(bytes), file->path());
}

absl::StatusOr<TarArchive> TarArchive::Open(BlobPtr file) {
  if (LooksLikeGzip(file->view())) {
    X2IR_ASSIGN_OR_RETURN(file, Gunzip(file));
  }
  TarArchive tar;
  const std::string_view bytes = file->view();
  const auto broken = [&](std::string_view what) {
    return DataLoss("'", file->path(), "': broken tar archive: ", what);
  };
  std::string long_name;
  uint64_t at = 0;
  while (bytes.size() - at >= kTarBlock) {
    const std::string_view block = bytes.substr(at, kTarBlock);
    at += kTarBlock;
    if (block.find_first_not_of('\0') == block.npos) {
      if (tar.entries_.empty() && at == kTarBlock) return broken("it is empty");
      break;
    }
    if (!ChecksumHolds(block)) return broken("a header with a wrong checksum");
    const auto size = TarNumber(block.substr(kTarSizeAt, 12));
    if (!size || *size > bytes.size() - at) return broken("a file that is cut off");
    const char type = block[kTarTypeAt];
    const std::string_view content = bytes.substr(at, *size);
    const bool regular = type == '0' || type == '\0' || type == '7';
    if (type == 'L') {
      long_name = std::string(UpToZero(content));
    } else if (type == 'x') {
      long_name = PathOfPax(content);
    } else if (type != 'g') {
      std::string name = long_name;
      if (name.empty()) {
        name = std::string(UpToZero(block.substr(0, kTarName)));
        const std::string prefix(UpToZero(block.substr(kTarPrefixAt, kTarPrefix)));
        const bool posix = block.substr(kTarMagicAt, 6) == std::string_view("ustar\0", 6);
        if (posix && !prefix.empty()) name = StrCat(prefix, "/", name);
      }
      long_name.clear();
      while (name.starts_with("./")) name.erase(0, 2);
      if (regular) {
        tar.by_name_[name] = tar.entries_.size();
        tar.entries_.push_back({std::move(name), at, *size});
      }
    }
    const uint64_t padded = (*size + kTarBlock - 1) / kTarBlock * kTarBlock;
    at += std::min<uint64_t>(padded, bytes.size() - at);
  }
  if (tar.entries_.empty()) return broken("it has no files");
  tar.file_ = std::move(file);
  return tar;
}

const TarArchive::Entry* TarArchive::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &entries_[it->second];
}

BlobPtr TarArchive::Open(const Entry& entry) const {
  const absl::Span<const std::byte> bytes(file_->data() + entry.offset, entry.size);
  return Blob::InMemory(bytes, file_, entry.name);
}

std::string TarHeader(std::string_view name, uint64_t size) {
  std::string header;
  if (name.size() > kTarName) {
    // GNU's entry for the long name of the next one.
    header = TarHeader("././@LongLink", name.size() + 1);
    header[kTarTypeAt] = 'L';
    uint64_t sum = 0;
    for (size_t i = 0; i < kTarBlock; ++i) {
      sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
    }
    for (int i = 5; i >= 0; --i, sum >>= 3) {
      header[148 + static_cast<size_t>(i)] = static_cast<char>('0' + (sum & 7));
    }
    header.append(name);
    header.resize((header.size() + kTarBlock) / kTarBlock * kTarBlock);
  }
  std::string block(kTarBlock, '\0');
  const auto put = [&](size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), block.begin() + static_cast<ptrdiff_t>(at));
  };
  const auto octal = [&](size_t at, size_t digits, uint64_t number) {
    for (size_t i = digits; i-- > 0; number >>= 3) {
      block[at + i] = static_cast<char>('0' + (number & 7));
    }
  };
  put(0, name.substr(0, kTarName));
  octal(100, 7, 0644);
  octal(108, 7, 0);
  octal(116, 7, 0);
  if (size >> 33) {
    for (size_t i = 0; i < 8; ++i) {
      block[kTarSizeAt + 4 + i] = static_cast<char>(size >> (56 - 8 * i));
    }
    block[kTarSizeAt] = static_cast<char>(0x80);
  } else {
    octal(kTarSizeAt, 11, size);
  }
  octal(136, 11, 0);
  block[kTarTypeAt] = '0';
  put(kTarMagicAt, std::string_view("ustar  \0", 8));
  uint64_t sum = 8 * ' ';
  for (const char c : block) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum);
  block[155] = ' ';
  return header + block;
}

struct GzipWriter::Stream {
  z_stream z{};
  bool started = false;
};

GzipWriter::GzipWriter(std::function<absl::Status(std::string_view bytes)> write)
    : write_(std::move(write)), stream_(new Stream) {
  // The header that zlib makes has no time and no name.
  stream_->started = deflateInit2(&stream_->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                                  Z_DEFAULT_STRATEGY) == Z_OK;
}
GzipWriter::~GzipWriter() {
  if (stream_->started) deflateEnd(&stream_->z);
  delete stream_;
}
absl::Status GzipWriter::Deflate(std::string_view bytes, int flush) {
  if (!stream_->started) return Internal("zlib cannot be started");
  z_stream& z = stream_->z;
  std::string part(kGzipPart, '\0');
  do {
    if (z.avail_in == 0 && !bytes.empty()) {
      const size_t n = std::min<size_t>(bytes.size(), INT_MAX);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      z.avail_in = static_cast<uInt>(n);
      bytes.remove_prefix(n);
    }
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    const int result = deflate(&z, bytes.empty() ? flush : Z_NO_FLUSH);
    if (result == Z_STREAM_ERROR) return Internal("zlib failed");
    X2IR_RETURN_IF_ERROR(write_(std::string_view(part).substr(0, part.size() - z.avail_out)));
  } while (z.avail_out == 0 || z.avail_in != 0 || !bytes.empty());
  return absl::OkStatus();
}
absl::Status GzipWriter::Append(std::string_view bytes) { return Deflate(bytes, Z_NO_FLUSH); }
absl::Status GzipWriter::Finish() { return Deflate({}, Z_FINISH); }

}  // namespace x2ir
