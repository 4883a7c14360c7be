// Which codec reads a file.
#include <algorithm>
#include <string_view>

#include "x2ir/ops/image_codecs/codec_internal.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 28;
// A byte of deflate gives at most 1032, of 8 pixels each; Huffman codes of JPEG have at least a bit
// for each 8 x 8 pixels of a component. Only large pictures are measured by it.
constexpr int64_t kMaxPixelsOfByte = int64_t{1} << 14, kManyPixels = int64_t{1} << 24;

struct Codec {
  absl::StatusOr<Picture> (*decode)(ImageBytes file);
  std::string_view magic;
  std::string_view more{};  // besides, from `at` on
  size_t at = 0;
};

using namespace std::string_view_literals;
constexpr Codec kCodecs[] = {
    {DecodeBmp, "BM"sv},
    {DecodeJpeg, "\xFF\xD8\xFF"sv},
    {DecodeJpeg2000, "\0\0\0\x0CjP  \r\n\x87\n"sv},
    {DecodeJpeg2000, "\xFF\x4F\xFF\x51"sv},
    {DecodePng, "\x89PNG\r\n\x1A\n"sv},
    {DecodePnm, "P1"sv},
    {DecodePnm, "P2"sv},
    {DecodePnm, "P3"sv},
    {DecodePnm, "P4"sv},
    {DecodePnm, "P5"sv},
    {DecodePnm, "P6"sv},
    {DecodeTiff, "II*\0"sv},
    {DecodeTiff, "MM\0*"sv},
    {DecodeWebp, "RIFF"sv, "WEBP"sv, 8},
};

}  // namespace

absl::StatusOr<Picture> BlankPicture(int64_t height, int64_t width) {
  if (height < 1 || width < 1) return Corrupt("an image without pixels");
  if (height > kMaxPixels || width > kMaxPixels / height) {
    return Unimplemented("an image of ", height, " x ", width, " pixels");
  }
  Picture picture{height, width, {}};
  picture.rgb.resize(height * width * 3);
  return picture;
}

absl::StatusOr<Picture> BlankPictureOf(ImageBytes file, int64_t height, int64_t width) {
  const auto bytes = static_cast<int64_t>(file.size());
  const int64_t most = std::max(kManyPixels, std::min(bytes, kMaxPixels) * kMaxPixelsOfByte);
  if (width > 0 && height > most / width) {
    return Unimplemented("an image of ", height, " x ", width, " pixels in ", bytes, " bytes");
  }
  return BlankPicture(height, width);
}

absl::StatusOr<Picture> DecodeImage(ImageBytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Codec& codec : kCodecs) {
    if (!text.starts_with(codec.magic)) continue;
    if (text.size() < codec.at || !text.substr(codec.at).starts_with(codec.more)) continue;
    return codec.decode(file);
  }
  return Corrupt("not a known image format");
}

}  // namespace x2ir
