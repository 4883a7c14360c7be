// Image files as image_decoder sees them. Each codec is one file beside this one; those that need a
// library (X2IR_HAVE_...) return Unimplemented if the build had none.
#ifndef X2IR_OPS_IMAGE_CODECS_CODEC_INTERNAL_H_
#define X2IR_OPS_IMAGE_CODECS_CODEC_INTERNAL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

using ImageBytes = absl::Span<const uint8_t>;

// Rows from top to bottom, three bytes a pixel: red, green, blue. Alpha is dropped.
struct Picture {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> rgb;
};

// The error of a file that no decoder can read; ONNX requires an empty result for it. Other errors
// are returned.
inline absl::Status Corrupt(std::string_view what) { return DataLoss(what); }

// A black picture of that size. The size is bounded, because a file of a few bytes can request any
// size.
absl::StatusOr<Picture> BlankPicture(int64_t height, int64_t width);
// The same of a format that has at least some bits for each block of pixels, as PNG and JPEG have:
// small files get no large pictures.
absl::StatusOr<Picture> BlankPictureOf(ImageBytes file, int64_t height, int64_t width);

absl::StatusOr<Picture> DecodeBmp(ImageBytes file);
absl::StatusOr<Picture> DecodeJpeg(ImageBytes file);
absl::StatusOr<Picture> DecodeJpeg2000(ImageBytes file);
absl::StatusOr<Picture> DecodePng(ImageBytes file);
absl::StatusOr<Picture> DecodePnm(ImageBytes file);
absl::StatusOr<Picture> DecodeTiff(ImageBytes file);
absl::StatusOr<Picture> DecodeWebp(ImageBytes file);

// Selects the codec by the first bytes of the file. DataLoss if they are unknown.
absl::StatusOr<Picture> DecodeImage(ImageBytes file);

}  // namespace x2ir

#endif  // X2IR_OPS_IMAGE_CODECS_CODEC_INTERNAL_H_
