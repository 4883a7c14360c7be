#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "x2ir/formats/io/checksums.h"
#include "x2ir/formats/tensorflow/sorted_table_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr size_t kFooterSize = 48;
constexpr size_t kBlockTrailer = 5;  // how it is compressed, and a checksum
constexpr size_t kMaxKey = 1 << 16;
constexpr uint64_t kMaxSnapped = 22;  // three bytes say 64 at most

struct Handle {
  uint64_t offset = 0, size = 0;
};
bool TakeHandle(std::string_view* bytes, Handle* handle) {
  return TakeVarint(bytes, &handle->offset) && TakeVarint(bytes, &handle->size);
}

class Table {
 public:
  explicit Table(std::string_view file) : file_(file), left_(file.size()) {}

  absl::Status ForEach(const VisitEntry& visit) {
    if (file_.size() < kFooterSize) return DataLoss("the index is too short");
    std::string_view footer = file_.substr(file_.size() - kFooterSize);
    if (LoadNumber<uint64_t>(footer.data() + kFooterSize - 8) != kTableMagic) {
      return DataLoss("the index is not a table");
    }
    Handle meta, index;
    if (!TakeHandle(&footer, &meta) || !TakeHandle(&footer, &index)) {
      return DataLoss("the index has a broken end");
    }
    std::optional<std::string> last;
    const VisitEntry ascending = [&](std::string_view key, std::string_view value) -> absl::Status {
      if (last && key <= *last) return DataLoss("the keys of the index are not sorted");
      last = std::string(key);
      return visit(key, value);
    };
    return ForEachInBlock(index, [&](std::string_view, std::string_view value) -> absl::Status {
      Handle block;
      if (!TakeHandle(&value, &block)) return DataLoss("the index has a broken block");
      return ForEachInBlock(block, ascending);
    });
  }

 private:
  absl::StatusOr<std::string_view> Block(Handle handle, std::string* storage) {
    const uint64_t size = file_.size();
    if (handle.offset > size || handle.size > size - handle.offset ||
        size - handle.offset - handle.size < kBlockTrailer) {
      return DataLoss("the index has a block outside of the file");
    }
    const uint64_t whole = handle.size + kBlockTrailer;
    if (whole > left_) return DataLoss("the index has blocks that overlap");
    left_ -= whole;
    const std::string_view block = file_.substr(handle.offset, handle.size);
    const std::string_view trailer = file_.substr(handle.offset + handle.size, kBlockTrailer);
    const uint32_t crc = Crc32c(file_.substr(handle.offset, handle.size + 1));
    if (LoadNumber<uint32_t>(trailer.data() + 1) != MaskedCrc32c(crc)) {
      return DataLoss("the index has a block with a wrong checksum");
    }
    if (trailer[0] == 0) return block;
    if (trailer[0] != 1) {
      return Unimplemented("the index uses unknown compression ", static_cast<int>(trailer[0]));
    }
    X2IR_ASSIGN_OR_RETURN(*storage, Unsnapped(block));
    return std::string_view(*storage);
  }

  // Keys share their begins with the key before.
  absl::Status ForEachInBlock(Handle handle, const VisitEntry& visit) {
    std::string storage;
    X2IR_ASSIGN_OR_RETURN(std::string_view block, Block(handle, &storage));
    if (block.size() < 4) return DataLoss("the index has a broken block");
    const uint64_t restarts = LoadNumber<uint32_t>(block.data() + block.size() - 4);
    const uint64_t trailer = 4 * (restarts + 1);
    if (trailer > block.size()) return DataLoss("the index has a broken block");
    block.remove_suffix(trailer);
    std::string key;
    while (!block.empty()) {
      uint64_t shared, unshared, length;
      if (!TakeVarint(&block, &shared) || !TakeVarint(&block, &unshared) ||
          !TakeVarint(&block, &length) || shared > key.size() || unshared > block.size() ||
          length > block.size() - unshared || shared + unshared > kMaxKey) {
        return DataLoss("the index has a broken entry");
      }
      key.resize(shared);
      key.append(block.substr(0, unshared));
      X2IR_RETURN_IF_ERROR(visit(key, block.substr(unshared, length)));
      block.remove_prefix(unshared + length);
    }
    return absl::OkStatus();
  }

  std::string_view file_;
  uint64_t left_;  // bytes that no block has had
};

}  // namespace

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

uint32_t MaskedCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

absl::StatusOr<std::string> Unsnapped(std::string_view bytes) {
  const absl::Status broken = DataLoss("the index has a broken compressed block");
  uint64_t size = 0;
  if (!TakeVarint(&bytes, &size) || size / kMaxSnapped > bytes.size()) return broken;
  std::string out;
  out.reserve(size);
  const auto take = [&bytes](uint64_t n) {  // n bytes of a number
    uint64_t value = 0;
    for (uint64_t i = 0; i < n; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    bytes.remove_prefix(n);
    return value;
  };
  while (!bytes.empty()) {
    const auto tag = static_cast<uint8_t>(take(1));
    const uint64_t kind = tag & 3, high = tag >> 2;
    if (kind == 0) {  // bytes as they are; their number is in the tag or after it
      const uint64_t more = high < 60 ? 0 : high - 59;
      if (more > bytes.size()) return broken;
      const uint64_t length = 1 + (more == 0 ? high : take(more));
      if (length > bytes.size() || length > size - out.size()) return broken;
      out.append(bytes.substr(0, length));
      bytes.remove_prefix(length);
      continue;
    }
    // A copy of earlier bytes, which may overlap its own result.
    const uint64_t more = kind == 1 ? 1 : kind == 2 ? 2 : 4;
    if (more > bytes.size()) return broken;
    const uint64_t low = take(more);
    const uint64_t length = kind == 1 ? 4 + (high & 7) : 1 + high;
    const uint64_t offset = kind == 1 ? (high >> 3) << 8 | low : low;
    if (offset == 0 || offset > out.size() || length > size - out.size()) return broken;
    for (uint64_t i = 0; i < length; ++i) out.push_back(out[out.size() - offset]);
  }
  if (out.size() != size) return broken;
  return out;
}

absl::Status ForEachEntry(std::string_view file, const VisitEntry& visit) {
  return Table(file).ForEach(visit);
}

}  // namespace x2ir::tf_format
