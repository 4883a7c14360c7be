// JPEG, by libjpeg (libjpeg-turbo has the chroma upsampling that ONNX requires).
#include "x2ir/ops/image_codecs/codec_internal.h"

#ifdef X2IR_HAVE_JPEG
#include <csetjmp>
#include <cstddef>
#include <cstdio>
// After <cstdio>, which it needs.
#include <jerror.h>
#include <jpeglib.h>
#endif

namespace x2ir {

#ifdef X2IR_HAVE_JPEG
namespace {

struct State {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf failed;
  bool truncated = false;
  bool unusual = false;  // colors that libjpeg cannot turn into RGB
  bool no_memory = false;
  absl::StatusOr<Picture> picture = Corrupt("JPEG");
};

State& StateOf(j_common_ptr info) { return *static_cast<State*>(info->client_data); }

// No object with a destructor may live in a function that longjmp leaves, so all is in `s`.
bool Read(State& s, ImageBytes file) {
  if (setjmp(s.failed) != 0) return false;
  jpeg_create_decompress(&s.info);
  s.info.client_data = &s;
  jpeg_mem_src(&s.info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&s.info, TRUE);
  s.unusual = s.info.jpeg_color_space == JCS_CMYK || s.info.jpeg_color_space == JCS_YCCK;
  if (s.unusual) return false;
  s.info.out_color_space = JCS_RGB;
  s.picture = BlankPictureOf(file, s.info.image_height, s.info.image_width);
  if (!s.picture.ok()) return false;
  jpeg_start_decompress(&s.info);
  while (s.info.output_scanline < s.info.output_height) {
    JSAMPROW row = s.picture->rgb.data() +
                   static_cast<size_t>(s.info.output_scanline) * s.info.output_width * 3;
    jpeg_read_scanlines(&s.info, &row, 1);
  }
  jpeg_finish_decompress(&s.info);
  return !s.truncated;
}

}  // namespace

absl::StatusOr<Picture> DecodeJpeg(ImageBytes file) {
  State s;
  s.info.err = jpeg_std_error(&s.errors);
  s.info.client_data = &s;
  s.errors.error_exit = [](j_common_ptr info) {
    StateOf(info).no_memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
    std::longjmp(StateOf(info).failed, 1);
  };
  s.errors.emit_message = [](j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) StateOf(info).truncated = true;
  };
  const bool ok = Read(s, file);
  jpeg_destroy_decompress(&s.info);
  if (s.no_memory) return absl::ResourceExhaustedError("out of memory");
  if (s.unusual) return Unimplemented("JPEG of four colors");
  if (ok || !s.picture.ok()) return std::move(s.picture);
  return Corrupt("JPEG");
}
#else
absl::StatusOr<Picture> DecodeJpeg(ImageBytes) {
  return Unimplemented("JPEG: x2ir was built without libjpeg");
}
#endif

}  // namespace x2ir
