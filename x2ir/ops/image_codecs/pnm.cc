// Portable bitmaps, graymaps and pixmaps, as text (P1 to P3) and in binary (P4 to P6).
#include <optional>

#include "x2ir/ops/image_codecs/codec_internal.h"

namespace x2ir {
namespace {

bool IsSpace(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13); }

class Reader {
 public:
  explicit Reader(ImageBytes file) : file_(file) {}

  // A number after white space and comments.
  std::optional<int64_t> Number() {
    SkipSpace();
    int64_t value = 0;
    const size_t start = at_;
    for (; at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9'; ++at_) {
      value = value * 10 + (file_[at_] - '0');
      if (value > int64_t{1} << 32) return std::nullopt;
    }
    if (at_ == start) return std::nullopt;
    return value;
  }
  // A digit 0 or 1, which need not be apart from the next one.
  std::optional<int64_t> Bit() {
    SkipSpace();
    if (at_ >= file_.size() || (file_[at_] != '0' && file_[at_] != '1')) return std::nullopt;
    return file_[at_++] - '0';
  }
  std::optional<int64_t> Byte() {
    if (at_ >= file_.size()) return std::nullopt;
    return file_[at_++];
  }

 private:
  void SkipSpace() {
    while (at_ < file_.size()) {
      if (file_[at_] == '#') {
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      } else if (IsSpace(file_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }
  ImageBytes file_;
  size_t at_ = 2;  // after the magic number
};

}  // namespace

absl::StatusOr<Picture> DecodePnm(ImageBytes file) {
  const int kind = file[1] - '0';
  const bool bitmap = kind == 1 || kind == 4, text = kind <= 3;
  const int channels = kind == 3 || kind == 6 ? 3 : 1;
  Reader in(file);
  const auto width = in.Number();
  const auto height = in.Number();
  const auto max = bitmap ? 1 : in.Number();
  if (!width || !height || !max) return Corrupt("PNM: the header");
  if (*max < 1 || *max > 65535) return Corrupt("PNM: the largest value");
  if (!text) in.Byte();  // the one white space character after the header
  // Before so much is allocated: a pixel takes at least one bit.
  if (*width > 0 && *height > static_cast<int64_t>(file.size()) * 8 / *width) {
    return Corrupt("PNM: too short");
  }
  X2IR_ASSIGN_OR_RETURN(Picture picture, BlankPicture(*height, *width));
  uint8_t* out = picture.rgb.data();
  for (int64_t y = 0; y < *height; ++y) {
    int64_t bits = 0;  // of a row of P4, which begins with a new byte
    for (int64_t x = 0; x < *width; ++x, out += 3) {
      for (int c = 0; c < channels; ++c) {
        std::optional<int64_t> value;
        if (kind == 1) {
          value = in.Bit();
        } else if (text) {
          value = in.Number();
        } else if (kind == 4) {
          if (x % 8 == 0) {
            const auto byte = in.Byte();
            if (!byte) return Corrupt("PNM: too short");
            bits = *byte;
          }
          value = bits >> (7 - x % 8) & 1;
        } else {
          value = in.Byte();
          if (value && *max > 255) {
            const auto low = in.Byte();
            if (low) {
              value = *value * 256 + *low;
            } else {
              value.reset();
            }
          }
        }
        if (!value) return Corrupt("PNM: too short");
        if (*value > *max) return Corrupt("PNM: a value above the largest one");
        const int64_t level = bitmap ? 1 - *value : *value;  // 1 is black in a bitmap
        out[c] = static_cast<uint8_t>((level * 255 + *max / 2) / *max);
      }
      if (channels == 1) out[1] = out[2] = out[0];
    }
  }
  return picture;
}

}  // namespace x2ir
