// Windows bitmaps: 1 to 32 bits a pixel, not run-length encoded.
#include <algorithm>
#include <array>
#include <bit>

#include "x2ir/ops/image_codecs/codec_internal.h"

namespace x2ir {
namespace {

// Little-endian fields; reads past the end give 0 and are recorded.
class Fields {
 public:
  explicit Fields(ImageBytes file) : file_(file) {}
  uint32_t At(uint64_t offset, int bytes) {
    if (offset > file_.size() || file_.size() - offset < static_cast<size_t>(bytes)) {
      short_ = true;
      return 0;
    }
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= uint32_t{file_[offset + i]} << (8 * i);
    return value;
  }
  bool too_short() const { return short_; }

 private:
  ImageBytes file_;
  bool short_ = false;
};

// The bits of a mask, as 0 to 255.
uint8_t Channel(uint32_t pixel, uint32_t mask) {
  if (mask == 0) return 0;
  const uint64_t most = mask >> std::countr_zero(mask);
  const uint64_t value = (pixel & mask) >> std::countr_zero(mask);
  return static_cast<uint8_t>(value * 255 / most);
}

}  // namespace

absl::StatusOr<Picture> DecodeBmp(ImageBytes file) {
  constexpr uint32_t kRgb = 0, kBitFields = 3, kAlphaBitFields = 6;
  Fields fields(file);
  const uint64_t pixels = fields.At(10, 4), header = fields.At(14, 4);
  const bool core = header == 12;
  if (!core && header < 40) return Corrupt("BMP: the header");
  auto signed_at = [&](uint64_t offset) {
    return int64_t{static_cast<int32_t>(fields.At(offset, 4))};
  };
  const int64_t width = core ? int64_t{fields.At(18, 2)} : signed_at(18);
  int64_t height = core ? int64_t{fields.At(20, 2)} : signed_at(22);
  const uint32_t bits = fields.At(core ? 24 : 28, 2);
  const uint32_t compression = core ? kRgb : fields.At(30, 4);
  uint32_t colors = core ? 0 : fields.At(46, 4);
  const bool top_down = height < 0;
  if (top_down) height = -height;
  if (fields.too_short()) return Corrupt("BMP: too short");
  const bool masked = compression == kBitFields || compression == kAlphaBitFields;
  if (compression != kRgb && !masked) return Unimplemented("BMP of compression ", compression);
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32) {
    return Corrupt("BMP: bits of a pixel");
  }
  std::array<uint32_t, 3> masks = {0xFF0000, 0xFF00, 0xFF};
  if (bits == 16) masks = {0x7C00, 0x3E0, 0x1F};
  if (masked) {
    if (bits != 16 && bits != 32) return Corrupt("BMP: masks");
    for (int i = 0; i < 3; ++i) masks[i] = fields.At(14 + 40 + 4 * i, 4);
  }
  const uint64_t entry = core ? 3 : 4, palette = 14 + header;
  if (bits <= 8 && (colors == 0 || colors > 1u << bits)) colors = 1u << bits;
  X2IR_ASSIGN_OR_RETURN(Picture picture, BlankPicture(height, width));
  const uint64_t stride = (static_cast<uint64_t>(width) * bits + 31) / 32 * 4;
  const uint64_t used = (static_cast<uint64_t>(width) * bits + 7) / 8;  // of the last row
  if (pixels > file.size() || file.size() - pixels < stride * (height - 1) + used) {
    return Corrupt("BMP: too short");
  }
  for (int64_t y = 0; y < height; ++y) {
    const uint64_t row = pixels + stride * (top_down ? y : height - 1 - y);
    uint8_t* out = picture.rgb.data() + y * width * 3;
    for (int64_t x = 0; x < width; ++x, out += 3) {
      if (bits <= 8) {
        const uint64_t bit = static_cast<uint64_t>(x) * bits;
        const uint32_t index =
            (fields.At(row + bit / 8, 1) >> (8 - bits - bit % 8)) & ((1u << bits) - 1);
        if (index >= colors) return Corrupt("BMP: a color outside of the palette");
        for (int c = 0; c < 3; ++c) {
          out[c] = static_cast<uint8_t>(fields.At(palette + index * entry + 2 - c, 1));
        }
      } else {
        const int bytes = static_cast<int>(bits / 8);
        const uint32_t pixel = fields.At(row + static_cast<uint64_t>(x) * bytes, bytes);
        for (int c = 0; c < 3; ++c) out[c] = Channel(pixel, masks[c]);
      }
    }
  }
  if (fields.too_short()) return Corrupt("BMP: too short");
  return picture;
}

}  // namespace x2ir
