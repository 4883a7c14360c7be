// Cyclic redundancy checks of 32 bits that files hold, each the bitwise complement of the
// remainder, as is usual.
#ifndef X2IR_FORMATS_IO_CHECKSUMS_H_
#define X2IR_FORMATS_IO_CHECKSUMS_H_

#include <cstdint>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// CRC-32 of zip and gzip, and CRC-32C (Castagnoli) of TensorFlow's checkpoints, of `bytes` that
// follow bytes with checksum `crc`.
uint32_t Crc32(std::string_view bytes, uint32_t crc = 0);
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

// The same, for tests: on processors without instructions for them.
uint32_t Crc32Plain(std::string_view bytes, uint32_t crc = 0);
uint32_t Crc32cPlain(std::string_view bytes, uint32_t crc = 0);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_CHECKSUMS_H_
