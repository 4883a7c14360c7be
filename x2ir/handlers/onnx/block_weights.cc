// See block_weights.h.
#include "x2ir/handlers/onnx/block_weights.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

absl::Status CheckBits(const char* attribute, int64_t bits) {
  if (bits == 2 || bits == 4 || bits == 8) return absl::OkStatus();
  return Unimplemented(attribute, ": numbers of ", bits, " bits; 2, 4 and 8 are read");
}

absl::StatusOr<Tensor> UnpackedRows(const Tensor& bytes, int64_t rows, int64_t count,
                                    int64_t bits) {
  if (bytes.is_sparse() || bytes.dtype() != DType::kUInt8) return Unimplemented("expected bytes");
  const int64_t row = RowBytes(count, bits), in_byte = 8 / bits;
  if (bytes.num_elements() != rows * row) {
    return Invalid("expected ", rows * row, " bytes, got ", bytes.num_elements());
  }
  if (bits == 8) return bytes.Reshaped({rows, count});
  const DType type = bits == 2 ? DType::kUInt2 : DType::kUInt4;
  if (count % in_byte == 0) {
    return Tensor::View(type, {rows, count}, bytes.bytes(), std::make_shared<Tensor>(bytes));
  }
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.bytes().data());
  auto packed = std::make_shared<std::vector<uint8_t>>(RowBytes(rows * count, bits));
  for (int64_t i = 0, to = 0; i < rows; ++i) {
    for (int64_t k = 0; k < count; ++k, ++to) {
      const int part = from[i * row + k / in_byte] >> (k % in_byte * bits) & ((1 << bits) - 1);
      (*packed)[to / in_byte] |= static_cast<uint8_t>(part << (to % in_byte * bits));
    }
  }
  const absl::Span<const std::byte> view(reinterpret_cast<const std::byte*>(packed->data()),
                                         packed->size());
  return Tensor::View(type, {rows, count}, view, packed);
}

Tensor MiddleZeroPoints(int64_t rows, int64_t count, int64_t bits) {
  Tensor zeros = Tensor::Zeros(bits == 8   ? DType::kUInt8
                               : bits == 4 ? DType::kUInt4
                                           : DType::kUInt2,
                               {rows, count});
  const std::byte all{static_cast<unsigned char>(bits == 8 ? 0x80 : bits == 4 ? 0x88 : 0xaa)};
  for (std::byte& b : zeros.mutable_bytes()) b = all;
  return zeros;
}

}  // namespace x2ir
