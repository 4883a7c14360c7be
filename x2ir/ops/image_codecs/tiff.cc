// TIFF, by libtiff, which is loaded when the first such file comes: it brings eight libraries with
// it, and every start of a program would take twice as long.
#include "x2ir/ops/image_codecs/codec_internal.h"

#ifdef X2IR_HAVE_TIFF
#include <dlfcn.h>
#include <tiffio.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#endif

namespace x2ir {

#ifdef X2IR_HAVE_TIFF
namespace {

#define X2IR_TIFF_FUNCTIONS(X)            \
  X(TIFFClientOpenExt)                    \
  X(TIFFClose)                            \
  X(TIFFGetField)                         \
  X(TIFFGetFieldDefaulted)                \
  X(TIFFOpenOptionsAlloc)                 \
  X(TIFFOpenOptionsFree)                  \
  X(TIFFOpenOptionsSetErrorHandlerExtR)   \
  X(TIFFOpenOptionsSetMaxSingleMemAlloc)  \
  X(TIFFOpenOptionsSetWarningHandlerExtR) \
  X(TIFFReadRGBAImageOriented)

struct LibTiff {
#define X2IR_TIFF_MEMBER(name) decltype(&::name) name = nullptr;
  X2IR_TIFF_FUNCTIONS(X2IR_TIFF_MEMBER)
#undef X2IR_TIFF_MEMBER
};

// Null when it is not there any more.
const LibTiff* LoadLibTiff() {
  static const LibTiff* library = []() -> const LibTiff* {
    void* handle = dlopen(X2IR_TIFF_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    auto* lib = new LibTiff;
    bool all = true;
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
      all = all && function;
    };
#define X2IR_TIFF_FIND(name) find(lib->name, #name);
    X2IR_TIFF_FUNCTIONS(X2IR_TIFF_FIND)
#undef X2IR_TIFF_FIND
    return all ? lib : nullptr;
  }();
  return library;
}

constexpr tmsize_t kMaxAllocation = tmsize_t{1} << 30;

struct Memory {
  ImageBytes file;
  uint64_t at = 0;
};
Memory& MemoryOf(thandle_t handle) { return *static_cast<Memory*>(handle); }

tmsize_t ReadBytes(thandle_t handle, void* out, tmsize_t n) {
  Memory& m = MemoryOf(handle);
  if (n <= 0 || m.at >= m.file.size()) return 0;
  const size_t count = std::min<uint64_t>(n, m.file.size() - m.at);
  std::copy_n(m.file.data() + m.at, count, static_cast<uint8_t*>(out));
  m.at += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t WriteBytes(thandle_t, void*, tmsize_t) { return -1; }
toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  Memory& m = MemoryOf(handle);
  m.at = offset + (whence == SEEK_CUR ? m.at : whence == SEEK_END ? m.file.size() : 0);
  return m.at;
}
int Close(thandle_t) { return 0; }
toff_t Size(thandle_t handle) { return MemoryOf(handle).file.size(); }
int Silent(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

absl::StatusOr<Picture> DecodeTiff(ImageBytes file) {
  const LibTiff* lib = LoadLibTiff();
  if (!lib) return Unimplemented("TIFF: ", X2IR_TIFF_SONAME, " cannot be loaded");
  Memory memory{file};
  TIFFOpenOptions* options = lib->TIFFOpenOptionsAlloc();
  if (!options) return Internal("libtiff does not start");
  lib->TIFFOpenOptionsSetErrorHandlerExtR(options, Silent, nullptr);
  lib->TIFFOpenOptionsSetWarningHandlerExtR(options, Silent, nullptr);
  lib->TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMaxAllocation);
  // "m": not by mapping.
  const std::unique_ptr<TIFF, decltype(lib->TIFFClose)> tiff(
      lib->TIFFClientOpenExt("image", "rm", &memory, ReadBytes, WriteBytes, Seek, Close, Size,
                             nullptr, nullptr, options),
      lib->TIFFClose);
  lib->TIFFOpenOptionsFree(options);
  if (!tiff) return Corrupt("TIFF");
  uint32_t width = 0, height = 0;
  lib->TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  lib->TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  // libtiff multiplies colors by such an alpha, which is to be dropped.
  uint16_t count = 0;
  uint16_t* extra = nullptr;
  lib->TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_EXTRASAMPLES, &count, &extra);
  for (uint16_t i = 0; i < count; ++i) {
    if (extra[i] == EXTRASAMPLE_UNASSALPHA) return Unimplemented("TIFF with an alpha channel");
  }
  X2IR_ASSIGN_OR_RETURN(Picture picture, BlankPicture(height, width));
  std::vector<uint32_t> raster(size_t{width} * height);
  if (!lib->TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT,
                                      /*stop_on_error=*/1)) {
    return Corrupt("TIFF");
  }
  uint8_t* out = picture.rgb.data();
  for (const uint32_t pixel : raster) {
    *out++ = static_cast<uint8_t>(TIFFGetR(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetG(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetB(pixel));
  }
  return picture;
}
#else
absl::StatusOr<Picture> DecodeTiff(ImageBytes) {
  return Unimplemented("TIFF: x2ir was built without libtiff");
}
#endif

}  // namespace x2ir
