// JPEG 2000, by OpenJPEG.
#include "x2ir/ops/image_codecs/codec_internal.h"

#ifdef X2IR_HAVE_JPEG2000
#include <openjpeg.h>

#include <algorithm>
#include <memory>
#endif

namespace x2ir {

#ifdef X2IR_HAVE_JPEG2000
namespace {

struct Memory {
  ImageBytes file;
  uint64_t at = 0;
};

OPJ_SIZE_T ReadBytes(void* out, OPJ_SIZE_T n, void* data) {
  Memory& m = *static_cast<Memory*>(data);
  if (m.at >= m.file.size()) return static_cast<OPJ_SIZE_T>(-1);
  const size_t count = std::min<uint64_t>(n, m.file.size() - m.at);
  std::copy_n(m.file.data() + m.at, count, static_cast<uint8_t*>(out));
  m.at += count;
  return count;
}
OPJ_OFF_T Skip(OPJ_OFF_T n, void* data) {
  Memory& m = *static_cast<Memory*>(data);
  if (n < 0) return -1;
  m.at = std::min<uint64_t>(m.file.size(), m.at + static_cast<uint64_t>(n));
  return n;
}
OPJ_BOOL Seek(OPJ_OFF_T to, void* data) {
  Memory& m = *static_cast<Memory*>(data);
  if (to < 0 || static_cast<uint64_t>(to) > m.file.size()) return OPJ_FALSE;
  m.at = static_cast<uint64_t>(to);
  return OPJ_TRUE;
}

// Streams and codecs are void* to their users.
struct DestroyStream {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};
struct DestroyCodec {
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
};
struct DestroyImage {
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};

// One or three components of 8 bits, perhaps followed by alpha, all of the image's size.
absl::Status CheckUsual(const opj_image_t& image, int64_t height, int64_t width) {
  if (image.numcomps < 1 || image.numcomps > 4) {
    return Unimplemented("JPEG 2000 of ", image.numcomps, " components");
  }
  const bool other_colors = image.color_space == OPJ_CLRSPC_SYCC ||
                            image.color_space == OPJ_CLRSPC_EYCC ||
                            image.color_space == OPJ_CLRSPC_CMYK;
  if (other_colors) return Unimplemented("JPEG 2000 of colors other than RGB");
  for (OPJ_UINT32 c = 0; c < image.numcomps; ++c) {
    const opj_image_comp_t& comp = image.comps[c];
    if (comp.prec != 8 || comp.sgnd || comp.w != static_cast<uint64_t>(width) ||
        comp.h != static_cast<uint64_t>(height)) {
      return Unimplemented("JPEG 2000 of other than 8 bits a sample, or with subsampling");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Picture> DecodeJpeg2000(ImageBytes file) {
  Memory memory{file};
  const std::unique_ptr<opj_stream_t, DestroyStream> stream(opj_stream_create(1 << 16, OPJ_TRUE));
  const std::unique_ptr<opj_codec_t, DestroyCodec> codec(
      opj_create_decompress(file[0] == 0xFF ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  if (!stream || !codec) return Internal("OpenJPEG does not start");
  opj_stream_set_user_data(stream.get(), &memory, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), ReadBytes);
  opj_stream_set_skip_function(stream.get(), Skip);
  opj_stream_set_seek_function(stream.get(), Seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* made = nullptr;
  if (!opj_setup_decoder(codec.get(), &parameters) ||
      !opj_read_header(stream.get(), codec.get(), &made)) {
    if (made) opj_image_destroy(made);
    return Corrupt("JPEG 2000");
  }
  const std::unique_ptr<opj_image_t, DestroyImage> image(made);
  const int64_t height = int64_t{image->y1} - image->y0, width = int64_t{image->x1} - image->x0;
  X2IR_ASSIGN_OR_RETURN(Picture picture, BlankPicture(height, width));
  X2IR_RETURN_IF_ERROR(CheckUsual(*image, height, width));
  if (!opj_decode(codec.get(), stream.get(), image.get()) ||
      !opj_end_decompress(codec.get(), stream.get())) {
    return Corrupt("JPEG 2000");
  }
  X2IR_RETURN_IF_ERROR(CheckUsual(*image, height, width));  // a palette may have come in
  const bool gray = image->numcomps < 3;
  for (int64_t i = 0; i < height * width; ++i) {
    for (int c = 0; c < 3; ++c) {
      const opj_image_comp_t& comp = image->comps[gray ? 0 : c];
      if (!comp.data) return Corrupt("JPEG 2000");
      picture.rgb[i * 3 + c] = static_cast<uint8_t>(std::clamp(comp.data[i], 0, 255));
    }
  }
  return picture;
}
#else
absl::StatusOr<Picture> DecodeJpeg2000(ImageBytes) {
  return Unimplemented("JPEG 2000: x2ir was built without OpenJPEG");
}
#endif

}  // namespace x2ir
