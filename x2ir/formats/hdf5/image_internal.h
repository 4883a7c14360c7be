// The bytes of an HDF5 file by address, and what all of its structures are read with.
//
// A file is untrusted. Every address and size is checked against the file, and no structure is
// longer than what is left of it. Each structure of a file has bytes of its own, so all of them
// together have no more bytes than the file: Meter counts them, which bounds the work and the
// memory of cycles and overlaps, too.
#ifndef X2IR_FORMATS_HDF5_IMAGE_INTERNAL_H_
#define X2IR_FORMATS_HDF5_IMAGE_INTERNAL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::hdf5 {

// The address of what is not there, in any width.
inline constexpr uint64_t kNowhere = ~uint64_t{0};
// The bytes of a checksum.
inline constexpr size_t kSumSize = 4;

inline absl::Status Broken(std::string_view what) { return DataLoss("the file is broken: ", what); }
// Of forms that are known to exist, and are not read.
template <typename... Args>
absl::Status NotRead(const Args&... args) {
  return Unimplemented(args..., "; write the file again with h5repack or h5py");
}

// How many bytes addresses and lengths have in a file: 2, 4 or 8.
struct Widths {
  uint8_t address = 8, length = 8;
};

// Reads on through bytes, little endian; after the first that are not there everything is 0.
class Cursor {
 public:
  Cursor() = default;
  Cursor(std::string_view bytes, Widths widths) : bytes_(bytes), widths_(widths) {}

  bool ok() const { return ok_; }
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  std::string_view rest() const { return bytes_.substr(at_); }

  std::string_view Bytes(uint64_t count) {
    if (!ok_ || count > left()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = bytes_.substr(at_, count);
    at_ += count;
    return bytes;
  }
  uint64_t UInt(size_t width) {
    uint64_t value = 0;
    const std::string_view bytes = Bytes(width);
    for (size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }
  uint64_t Length() { return UInt(widths_.length); }
  uint64_t Address() {
    const uint64_t value = UInt(widths_.address);
    return value == kNowhere >> (64 - 8 * widths_.address) ? kNowhere : value;
  }
  void Skip(uint64_t count) { Bytes(count); }
  void SkipAddress() { Skip(widths_.address); }
  void SkipLength() { Skip(widths_.length); }
  // To the next multiple of 8 after `since`, or to the end.
  void Align8(size_t since) {
    const size_t over = (at_ - since) % 8;
    if (over != 0) Skip(left() < 8 - over ? left() : 8 - over);
  }

 private:
  std::string_view bytes_;
  Widths widths_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Bytes of structures that may still be read.
struct Meter {
  uint64_t left = 0;
  absl::Status Take(uint64_t bytes) {
    if (bytes > left) return Broken("its structures overlap or contain themselves");
    left -= bytes;
    return absl::OkStatus();
  }
};

class Image {
 public:
  // `bytes` begin with the superblock: addresses count from there. `verify`: compare checksums.
  Image(std::string_view bytes, bool verify)
      : bytes_(bytes), verify_(verify), structures_{bytes.size() + kSlack} {
    const uint64_t more = kNowhere / kReadings;
    indexes_.left = kReadings * (std::min(uint64_t{bytes.size()}, more));
  }

  std::string_view bytes() const { return bytes_; }
  bool verify() const { return verify_; }
  Widths widths() const { return widths_; }
  void set_widths(Widths widths) { widths_ = widths; }

  // Empty where they are not all there.
  std::string_view At(uint64_t address, uint64_t size) const {
    if (address > bytes_.size() || size > bytes_.size() - address) return {};
    return bytes_.substr(address, size);
  }
  Cursor From(uint64_t address) const {
    return Over(address > bytes_.size() ? std::string_view() : bytes_.substr(address));
  }
  Cursor Over(std::string_view bytes) const { return {bytes, widths_}; }

  // What lies between the signature and the checksum at the end of a block of `size` bytes, which
  // the meter pays for. DataLoss if either is wrong, or `what` ends past the file.
  absl::StatusOr<Cursor> Checked(uint64_t address, uint64_t size, std::string_view signature,
                                 std::string_view what, Meter* meter) const;

  // Of objects, which are read once; and of lists of chunks, read as often as somebody asks for the
  // dataset.
  Meter* structures() { return &structures_; }
  Meter* indexes() { return &indexes_; }

 private:
  static constexpr uint64_t kSlack = 4096, kReadings = 64;
  std::string_view bytes_;
  bool verify_;
  Widths widths_;
  Meter structures_, indexes_;
};

// The checksums of HDF5: of structures since version 1.8 (lookup3, Bob Jenkins 2006, public
// domain), and of chunks (fletcher32, of words whose first byte is the higher one).
uint32_t Lookup3(std::string_view bytes);
uint32_t Fletcher32(std::string_view bytes);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_IMAGE_INTERNAL_H_
