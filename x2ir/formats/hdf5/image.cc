#include <algorithm>

#include "x2ir/formats/hdf5/image_internal.h"

namespace x2ir::hdf5 {
namespace {

uint32_t Rotated(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// Up to four bytes of a text, as far as there are some.
uint32_t Word(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = std::min(at + 4, bytes.size()); i-- > at;) {
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return word;
}

}  // namespace

uint32_t Lookup3(std::string_view bytes) {
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  while (bytes.size() > 12) {
    a += Word(bytes, 0);
    b += Word(bytes, 4);
    c += Word(bytes, 8);
    a = (a - c) ^ Rotated(c, 4), c += b;
    b = (b - a) ^ Rotated(a, 6), a += c;
    c = (c - b) ^ Rotated(b, 8), b += a;
    a = (a - c) ^ Rotated(c, 16), c += b;
    b = (b - a) ^ Rotated(a, 19), a += c;
    c = (c - b) ^ Rotated(b, 4), b += a;
    bytes.remove_prefix(12);
  }
  if (bytes.empty()) return c;
  a += Word(bytes, 0);
  b += Word(bytes, 4);
  c += Word(bytes, 8);
  c = (c ^ b) - Rotated(b, 14);
  a = (a ^ c) - Rotated(c, 11);
  b = (b ^ a) - Rotated(a, 25);
  c = (c ^ b) - Rotated(b, 16);
  a = (a ^ c) - Rotated(c, 4);
  b = (b ^ a) - Rotated(a, 14);
  c = (c ^ b) - Rotated(b, 24);
  return c;
}

uint32_t Fletcher32(std::string_view bytes) {
  constexpr size_t kWords = 360;  // that the sums hold without a carry
  uint32_t first = 0, second = 0;
  const auto fold = [](uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  const size_t even = bytes.size() / 2 * 2;
  for (size_t i = 0; i < even;) {
    for (const size_t end = std::min(even, i + 2 * kWords); i < end; i += 2) {
      first += byte(i) << 8 | byte(i + 1);
      second += first;
    }
    first = fold(first);
    second = fold(second);
  }
  if (even < bytes.size()) {
    first += byte(even) << 8;
    second += first;
    first = fold(first);
    second = fold(second);
  }
  return fold(second) << 16 | fold(first);
}

absl::StatusOr<Cursor> Image::Checked(uint64_t address, uint64_t size, std::string_view signature,
                                      std::string_view what, Meter* meter) const {
  const std::string_view block = At(address, size);
  if (size < signature.size() + kSumSize || block.size() != size) {
    return Broken(StrCat(what, " ends past the file"));
  }
  if (!block.starts_with(signature)) {
    return Broken(StrCat("there is no ", what, " ('", signature, "') at ", address));
  }
  X2IR_RETURN_IF_ERROR(meter->Take(size));
  const std::string_view summed = block.substr(0, size - kSumSize);
  if (verify_ && Lookup3(summed) != Over(block.substr(size - kSumSize)).UInt(kSumSize)) {
    return Broken(StrCat("the checksum of the ", what, " at ", address, " is wrong"));
  }
  return Over(summed.substr(signature.size()));
}

}  // namespace x2ir::hdf5
