// Zip archives, read in place: the entries of an archive in a mapped file, or in a stored entry of
// another archive. Stored entries are never copied; deflated entries are unpacked into memory,
// within bounds. Strict: entries may not overlap, names must be plain paths.
#ifndef X2IR_FORMATS_IO_ZIP_H_
#define X2IR_FORMATS_IO_ZIP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/unpack_budget.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

struct ZipEntry {
  std::string_view name;  // a view of the file
  uint64_t header = 0;    // of its local header, in the file
  uint64_t offset = 0;    // of its bytes, in the file
  uint64_t packed = 0;    // bytes in the file
  uint64_t size = 0;      // bytes when unpacked
  uint32_t crc = 0;
  uint16_t method = 0;
  bool encrypted = false;
  bool stored() const { return method == 0 && !encrypted; }
};

class ZipArchive {
 public:
  // The archive in bytes [offset, offset + size) of the file. DataLoss: none, or a broken one.
  static absl::StatusOr<ZipArchive> Open(BlobPtr file, uint64_t offset, uint64_t size);
  static absl::StatusOr<ZipArchive> Open(BlobPtr file) {
    const uint64_t size = file->size();
    return Open(std::move(file), 0, size);
  }

  const BlobPtr& file() const { return file_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }  // as the directory has them
  const ZipEntry* Find(std::string_view name) const;

  // The bytes of an entry; the view holds as long as `owner` (null where it is of the file).
  struct Bytes {
    std::string_view view;
    std::shared_ptr<const std::string> owner;
  };
  // Deflated ones are unpacked, within the archive's UnpackBudget and to kMaxUnpacked bytes each.
  absl::StatusOr<Bytes> Read(const ZipEntry& entry);
  // The same for texts, which do not pack as well as weights may: DataLoss for one that is more
  // than kMaxOfAText times as large as it is packed, and than kSmallText. A tree of it takes some
  // times its bytes.
  absl::StatusOr<Bytes> ReadText(const ZipEntry& entry);
  // The same for a word: DataLoss where it is longer than 100 bytes.
  absl::StatusOr<std::string> ReadWord(const ZipEntry& entry);
  static constexpr uint64_t kMaxUnpacked = uint64_t{1} << 30;
  static constexpr uint64_t kSmallText = uint64_t{4} << 20, kMaxOfAText = 100;

 private:
  absl::Status ReadEntry(std::string_view record, size_t* length);
  absl::Status Locate(ZipEntry& entry);
  absl::Status CheckOverlaps(uint64_t directory) const;

  BlobPtr file_;
  uint64_t base_ = 0;       // of the archive in the file
  std::string_view bytes_;  // of the archive
  std::vector<ZipEntry> entries_;
  absl::flat_hash_map<std::string_view, size_t> by_name_;
  UnpackBudget budget_;
};

// Whether a file that begins so may be a zip archive.
bool LooksLikeZip(std::string_view head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_ZIP_H_
