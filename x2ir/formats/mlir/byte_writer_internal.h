// Bytes of MLIR bytecode as they are written.
#ifndef X2IR_FORMATS_MLIR_BYTE_WRITER_INTERNAL_H_
#define X2IR_FORMATS_MLIR_BYTE_WRITER_INTERNAL_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace x2ir::mlir {

class ByteWriter {
 public:
  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

  void Byte(uint8_t byte) { bytes_ += static_cast<char>(byte); }
  void Raw(std::string_view bytes) { bytes_ += bytes; }
  void Varint(uint64_t value) {
    for (int count = 1; count <= 8; ++count) {
      if (count < 8 ? (value >> (7 * count)) != 0 : (value >> 56) != 0) continue;
      return Little(((value << 1) | 1) << (count - 1), count);
    }
    Byte(0);
    Little(value, 8);
  }
  void Signed(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    Varint((bits << 1) ^ (value < 0 ? ~uint64_t{0} : 0));
  }
  void Flagged(uint64_t value, bool flag) { Varint((value << 1) | (flag ? 1 : 0)); }
  void SectionHead(uint8_t id, uint64_t size) {
    Byte(id);
    Varint(size);
  }
  void Section(uint8_t id, std::string_view content) {
    SectionHead(id, content.size());
    Raw(content);
  }

 private:
  void Little(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) Byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  std::string bytes_;
};

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_BYTE_WRITER_INTERNAL_H_
