// WebP, by libwebp.
#include "x2ir/ops/image_codecs/codec_internal.h"

#ifdef X2IR_HAVE_WEBP
#include <webp/decode.h>
#endif

namespace x2ir {

absl::StatusOr<Picture> DecodeWebp([[maybe_unused]] ImageBytes file) {
#ifdef X2IR_HAVE_WEBP
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) {
    return Corrupt("WebP");
  }
  if (features.has_animation) return Unimplemented("WebP that moves");
  X2IR_ASSIGN_OR_RETURN(Picture picture, BlankPicture(features.height, features.width));
  if (!WebPDecodeRGBInto(file.data(), file.size(), picture.rgb.data(), picture.rgb.size(),
                         features.width * 3)) {
    return Corrupt("WebP");
  }
  return picture;
#else
  return Unimplemented("WebP: x2ir was built without libwebp");
#endif
}

}  // namespace x2ir
