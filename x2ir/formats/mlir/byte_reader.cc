// Varints, strings and sections of MLIR bytecode.
#include <bit>

#include "x2ir/formats/mlir/byte_reader_internal.h"

namespace x2ir::mlir {

void ByteReader::Fail(const absl::Status& status) {
  if (ok()) status_ = status;
  bytes_ = {};
}

void ByteReader::Fail(std::string_view what) {
  if (ok()) Fail(DataLoss("MLIR bytecode: ", what, " at byte ", begin_));
}

std::string_view ByteReader::Bytes(uint64_t size) {
  if (size > bytes_.size()) {
    Fail(StrCat(size, " bytes are needed where ", bytes_.size(), " are left"));
    return {};
  }
  const std::string_view result = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  begin_ += size;
  return result;
}

uint8_t ByteReader::Byte() {
  const std::string_view byte = Bytes(1);
  return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
}

uint64_t ByteReader::Varint() {
  const uint8_t first = Byte();
  if (first & 1) return first >> 1;
  if (!ok()) return 0;
  const int more = first == 0 ? 8 : std::countr_zero(first);
  const std::string_view rest = Bytes(static_cast<uint64_t>(more));
  uint64_t value = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    value |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * i);
  }
  if (more == 8) return value;
  return ((value << 8) | first) >> (more + 1);
}

int64_t ByteReader::Signed() {
  const uint64_t value = Varint();
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

uint64_t ByteReader::Flagged(bool* flag) {
  const uint64_t value = Varint();
  *flag = value & 1;
  return value >> 1;
}

size_t ByteReader::Count() {
  const uint64_t count = Varint();
  if (count <= bytes_.size()) return static_cast<size_t>(count);
  Fail(StrCat("a list of ", count, " entries in ", bytes_.size(), " bytes"));
  return 0;
}

std::string_view ByteReader::Text() {
  const size_t end = bytes_.find('\0');
  if (end == std::string_view::npos) {
    Fail("a text does not end");
    return {};
  }
  const std::string_view text = Bytes(end);
  Byte();
  return text;
}

void ByteReader::AlignTo(uint64_t alignment) {
  if (!std::has_single_bit(alignment)) return Fail(StrCat("an alignment of ", alignment));
  while (ok() && (begin_ & (alignment - 1)) != 0) {
    if (Byte() != kAlignmentByte) return Fail("no padding where an alignment needs it");
  }
}

ByteReader ByteReader::Section(uint8_t* id) {
  const uint8_t byte = Byte();
  const uint64_t size = Varint();
  *id = byte & 0x7F;
  if (ok() && *id >= kNumSections) Fail(StrCat("a section of unknown kind ", int{*id}));
  if (byte & 0x80) AlignTo(Varint());
  const uint64_t begin = begin_;
  return ByteReader(Bytes(size), begin);
}

}  // namespace x2ir::mlir
