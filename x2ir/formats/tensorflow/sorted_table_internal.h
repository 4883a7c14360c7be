// Files of sorted keys and values as LevelDB writes them: blocks of entries, a block that says
// where these are, and a footer that says where that one is.
#ifndef X2IR_FORMATS_TENSORFLOW_SORTED_TABLE_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_SORTED_TABLE_INTERNAL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace x2ir::tf_format {

inline constexpr uint64_t kTableMagic = 0xdb4775248b80fb57;  // the last bytes of a file

// Takes a number off the begin of `bytes`.
bool TakeVarint(std::string_view* bytes, uint64_t* value);

// A CRC-32C as files have it, so that checksums of data that contains checksums are not 0.
uint32_t MaskedCrc32c(uint32_t crc);

// What was compressed with Snappy; DataLoss where it was not.
absl::StatusOr<std::string> Unsnapped(std::string_view bytes);

// Calls visit(key, value) for all entries, in order. Keys ascend and blocks do not overlap, so the
// time is that of the file's size. DataLoss for anything broken, checksums included.
using VisitEntry = std::function<absl::Status(std::string_view key, std::string_view value)>;
absl::Status ForEachEntry(std::string_view file, const VisitEntry& visit);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_SORTED_TABLE_INTERNAL_H_
