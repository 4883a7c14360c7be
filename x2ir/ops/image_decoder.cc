// image_decoder: an image file becomes pixels.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/image_codecs/codec_internal.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

absl::StatusOr<int64_t> ChannelsOf(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(const size_t format,
                        ChoiceAttr<size_t>(attrs, "pixel_format", {"RGB", "BGR", "Grayscale"}));
  return format == 2 ? 1 : 3;
}

absl::Status InferImageDecoder(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const int64_t channels, ChannelsOf(ctx.attrs()));
  if (ctx.dtype(0) != DType::kUndefined && ctx.dtype(0) != DType::kUInt8) {
    return Invalid("expected uint8, got ", Name(ctx.dtype(0)));
  }
  if (ctx.shape(0) && ctx.rank(0) != 1) return Invalid("expected rank 1, got ", ctx.rank(0));
  return ctx.Return(DType::kUInt8, Shape{Dim(), Dim(), channels});
}

// Brightness as ITU-R BT.601 weighs the colors, in 16-bit fixed point.
uint8_t Gray(const uint8_t* rgb) {
  return static_cast<uint8_t>((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 0x8000u) >> 16);
}

absl::Status EvalImageDecoder(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const int64_t channels, ChannelsOf(ctx.attrs()));
  const Tensor& x = ctx.input(0);
  if (x.dtype() != DType::kUInt8 || x.rank() != 1) {
    return Invalid("expected uint8 of rank 1, got ", x.type().ToString());
  }
  auto picture = DecodeImage(x.span<uint8_t>());
  if (absl::IsDataLoss(picture.status())) {
    // A file that cannot be read is not an error, but an empty image.
    return ctx.Return(Tensor::Zeros(DType::kUInt8, {0, 0, channels}));
  }
  if (!picture.ok()) return picture.status();
  std::vector<uint8_t>& rgb = picture->rgb;
  const bool bgr = ctx.attrs().String("pixel_format") == "BGR";
  for (size_t i = 0; i < rgb.size(); i += 3) {
    if (bgr) std::swap(rgb[i], rgb[i + 2]);
    if (channels == 1) rgb[i / 3] = Gray(&rgb[i]);
  }
  return ctx.Return(Tensor::Of<uint8_t>({picture->height, picture->width, channels}, rgb));
}

X2IR_OP(image_decoder)
    .Signature("encoded_stream -> image")
    .Attrs("pixel_format = 'RGB'")
    .Functions(InferImageDecoder, EvalImageDecoder)
    .Opaque()
    .Doc(
        "The pixels of a BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file as [H,W,C]; an empty "
        "image if the file cannot be read.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
