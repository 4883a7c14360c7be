// A cursor over bytes of MLIR bytecode: varints, strings, sections.
#ifndef X2IR_FORMATS_MLIR_BYTE_READER_INTERNAL_H_
#define X2IR_FORMATS_MLIR_BYTE_READER_INTERNAL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {

inline constexpr uint8_t kAlignmentByte = 0xCB;

// What a section holds.
enum SectionId : uint8_t {
  kStringSection = 0,
  kDialectSection = 1,
  kAttrTypeSection = 2,
  kAttrTypeOffsetSection = 3,
  kIrSection = 4,
  kResourceSection = 5,
  kResourceOffsetSection = 6,
  kDialectVersionSection = 7,
  kPropertiesSection = 8,
  kNumSections = 9,
};

// The parts that an operation has.
enum OpMask : uint8_t {
  kHasAttrs = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
  kHasUseListOrders = 32,
  kHasProperties = 64,
};

// Since which version of bytecode.
inline constexpr int kDialectVersioning = 1, kIsolatedSections = 2, kUseListOrdering = 3,
                     kElidedLocations = 4, kNativeProperties = 5, kSegmentSizes = 6,
                     kNewestBytecode = 6;

// An error is kept: everything read after it is zero or empty, and nothing moves.
class ByteReader {
 public:
  ByteReader() = default;
  // `begin` is where the bytes lie in the bytecode: alignment and messages count from its start.
  ByteReader(std::string_view bytes, uint64_t begin) : bytes_(bytes), begin_(begin) {}

  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  bool empty() const { return bytes_.empty(); }
  size_t remaining() const { return bytes_.size(); }
  uint64_t position() const { return begin_; }

  uint8_t Byte();
  // The number of zeros at the low end of the first byte says how many bytes follow.
  uint64_t Varint();
  int64_t Signed();
  uint64_t Flagged(bool* flag);
  // A varint that counts things of at least one byte each, of those that remain.
  size_t Count();
  std::string_view Bytes(uint64_t size);
  std::string_view Text();  // to a null byte
  // Skips to a multiple of `alignment`.
  void AlignTo(uint64_t alignment);
  ByteReader Section(uint8_t* id);

  // DataLoss at this byte.
  void Fail(std::string_view what);
  void Fail(const absl::Status& status);

 private:
  std::string_view bytes_;
  uint64_t begin_ = 0;
  absl::Status status_;
};

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_BYTE_READER_INTERNAL_H_
