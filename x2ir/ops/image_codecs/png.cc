// PNG, by libpng.
#include "x2ir/ops/image_codecs/codec_internal.h"

#ifdef X2IR_HAVE_PNG
#include <png.h>

#include <algorithm>
#include <csetjmp>
#endif

namespace x2ir {

#ifdef X2IR_HAVE_PNG
namespace {

struct State {
  png_structp png = nullptr;
  png_infop info = nullptr;
  ImageBytes file, rest;
  absl::StatusOr<Picture> picture = Corrupt("PNG");
  std::vector<png_bytep> rows;
};

void ReadBytes(png_structp png, png_bytep out, png_size_t n) {
  State& s = *static_cast<State*>(png_get_io_ptr(png));
  if (n > s.rest.size()) png_error(png, "too short");
  std::copy_n(s.rest.begin(), n, out);
  s.rest.remove_prefix(n);
}

// No object with a destructor may live in a function that longjmp leaves, so all is in `s`.
bool Read(State& s) {
  if (setjmp(png_jmpbuf(s.png)) != 0) return false;
  png_set_read_fn(s.png, &s, ReadBytes);
  png_read_info(s.png, s.info);
  s.picture = BlankPictureOf(s.file, png_get_image_height(s.png, s.info),
                             png_get_image_width(s.png, s.info));
  if (!s.picture.ok()) return false;
  // Any file becomes eight bits of red, green and blue. Of sixteen bits the high ones count.
  png_set_strip_16(s.png);
  png_set_expand(s.png);
  png_set_strip_alpha(s.png);
  png_set_gray_to_rgb(s.png);
  png_set_interlace_handling(s.png);
  png_read_update_info(s.png, s.info);
  if (png_get_rowbytes(s.png, s.info) != static_cast<size_t>(s.picture->width) * 3) return false;
  s.rows.resize(s.picture->height);
  for (size_t y = 0; y < s.rows.size(); ++y) {
    s.rows[y] = s.picture->rgb.data() + y * s.picture->width * 3;
  }
  png_read_image(s.png, s.rows.data());
  png_read_end(s.png, nullptr);
  return true;
}

}  // namespace

absl::StatusOr<Picture> DecodePng(ImageBytes file) {
  State s;
  s.file = s.rest = file;
  s.png = png_create_read_struct(
      PNG_LIBPNG_VER_STRING, nullptr, [](png_structp png, png_const_charp) { png_longjmp(png, 1); },
      [](png_structp, png_const_charp) {});
  if (!s.png) return Internal("libpng does not start");
  s.info = png_create_info_struct(s.png);
  const bool ok = s.info && Read(s);
  png_destroy_read_struct(&s.png, &s.info, nullptr);
  if (ok || !s.picture.ok()) return std::move(s.picture);
  return Corrupt("PNG");
}
#else
absl::StatusOr<Picture> DecodePng(ImageBytes) {
  return Unimplemented("PNG: x2ir was built without libpng");
}
#endif

}  // namespace x2ir
