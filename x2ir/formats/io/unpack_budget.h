// The limit for unpacking compressed files: one rule for archives and for files with compressed
// parts (docs/security.md).
#ifndef X2IR_FORMATS_IO_UNPACK_BUDGET_H_
#define X2IR_FORMATS_IO_UNPACK_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

// All parts together may be 16 MiB, or 100 times the size of the file: trained weights pack to nine
// tenths, and data that packs to a hundredth is only zeros.
class UnpackBudget {
 public:
  explicit UnpackBudget(uint64_t file_bytes = 0)
      : file_bytes_(file_bytes),
        left_(std::max(kSmall, file_bytes > kLimit / kTimes ? kLimit : file_bytes * kTimes)) {}

  // Must be called before that many bytes are unpacked. DataLoss if they are too many.
  absl::Status Take(uint64_t bytes) {
    if (bytes > left_) {
      return DataLoss("unpacks to more than ", kTimes, " times the ", file_bytes_,
                      " bytes of the file, and than 16 MiB; if the file is trusted, pack it again "
                      "without compression");
    }
    left_ -= bytes;
    return absl::OkStatus();
  }

  static constexpr uint64_t kSmall = uint64_t{16} << 20, kTimes = 100;

 private:
  static constexpr uint64_t kLimit = uint64_t{1} << 62;
  uint64_t file_bytes_, left_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_UNPACK_BUDGET_H_
