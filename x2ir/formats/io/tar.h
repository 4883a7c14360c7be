// Archives of tar, plain or compressed by gzip: read in place where they are plain, and written.
#ifndef X2IR_FORMATS_IO_TAR_H_
#define X2IR_FORMATS_IO_TAR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

bool LooksLikeGzip(std::string_view head);
// Whether a file that begins so may be an archive of tar (POSIX or GNU).
bool LooksLikeTar(std::string_view head);

// The bytes of a file that gzip compressed, in memory, within an UnpackBudget. DataLoss for a
// broken one.
absl::StatusOr<BlobPtr> Gunzip(const BlobPtr& file);

class TarArchive {
 public:
  // The archive that a file is, compressed or not. DataLoss for a broken one.
  static absl::StatusOr<TarArchive> Open(BlobPtr file);

  struct Entry {
    std::string name;  // without "./" in front
    uint64_t offset = 0, size = 0;
  };
  const BlobPtr& file() const { return file_; }  // of the unpacked archive
  // Regular files, as they are in the archive; of two with one name the last counts.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* Find(std::string_view name) const;
  std::string_view View(const Entry& entry) const {
    return file_->view().substr(entry.offset, entry.size);
  }
  // An entry as a file of its own, in place.
  BlobPtr Open(const Entry& entry) const;

 private:
  BlobPtr file_;
  std::vector<Entry> entries_;
  StringMap<size_t> by_name_;
};

// The header of an entry, of 512 bytes (longer names: of a few more blocks). Its bytes follow, and
// zeros up to a multiple of 512; two blocks of zeros are the end.
std::string TarHeader(std::string_view name, uint64_t size);
inline constexpr uint64_t kTarBlock = 512;

// Compresses what is appended, always to the same bytes, for a function that takes them.
class GzipWriter {
 public:
  explicit GzipWriter(std::function<absl::Status(std::string_view bytes)> write);
  GzipWriter(const GzipWriter&) = delete;
  ~GzipWriter();
  absl::Status Append(std::string_view bytes);
  absl::Status Finish();

 private:
  absl::Status Deflate(std::string_view bytes, int flush);
  std::function<absl::Status(std::string_view bytes)> write_;
  struct Stream;
  Stream* stream_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_TAR_H_
