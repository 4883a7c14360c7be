# Abseil, RE2, zlib, libjpeg-turbo and libpng of Debian's sources: Debian has no archives of them for this target.

file(GLOB absl_sources
  ${X2IR_SOURCES_DIR}/abseil/absl/base/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/base/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/container/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/debugging/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/debugging/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/hash/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/numeric/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/profiling/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/status/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/strings/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/strings/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/strings/internal/str_format/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/synchronization/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/synchronization/internal/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/time/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/time/internal/cctz/src/*.cc
  ${X2IR_SOURCES_DIR}/abseil/absl/types/*.cc)
# Tests, benchmarks and tools lie beside what they are about.
list(FILTER absl_sources EXCLUDE REGEX "(_test|_benchmark|benchmarks|_testing|test_helper|test_util|test_common|\
test_instance_tracker|mock|_main|print_hash_of|gentables|failure_signal_handler|exception_safety|\
hash_generator|unordered_map|time_zone_name_win|scoped_set_env|cordz_sample|pow10_helper|tool)[a-z_]*\\.cc$")
add_library(absl_wasm STATIC ${absl_sources})

set(re2_files
  re2/bitstate re2/compile re2/dfa re2/filtered_re2 re2/mimics_pcre re2/nfa re2/onepass re2/parse
  re2/perl_groups re2/prefilter re2/prefilter_tree re2/prog re2/re2 re2/regexp re2/set re2/simplify
  re2/stringpiece re2/tostring re2/unicode_casefold re2/unicode_groups util/rune util/strutil)
list(TRANSFORM re2_files REPLACE "(.+)" "${X2IR_SOURCES_DIR}/re2/\\1.cc")
add_library(re2_wasm STATIC ${re2_files})

set(zlib_files adler32 compress crc32 deflate inffast inflate inftrees trees uncompr zutil)
list(TRANSFORM zlib_files REPLACE "(.+)" "${X2IR_SOURCES_DIR}/zlib/\\1.c")
add_library(zlib_wasm STATIC ${zlib_files})

# Only what decodes. Of the native library no results differ: its code of processors has the same ones.
set(jpeg_files
  jcomapi jdapimin jdapistd jdarith jaricom jdatasrc jdcoefct jdcolor jddctmgr jdhuff jdinput jdmainct jdmarker
  jdmaster jdmerge jdphuff jdpostct jdsample jerror jidctflt jidctfst jidctint jidctred jmemmgr jmemnobs jquant1
  jquant2 jsimd_none jutils)
list(TRANSFORM jpeg_files REPLACE "(.+)" "${X2IR_SOURCES_DIR}/libjpeg-turbo/\\1.c")
add_library(jpeg_wasm STATIC ${jpeg_files})
set(X2IR_JPEG_INCLUDES ${PROJECT_SOURCE_DIR}/include/libjpeg ${X2IR_SOURCES_DIR}/libjpeg-turbo)
target_include_directories(jpeg_wasm PRIVATE ${X2IR_JPEG_INCLUDES})

set(png_files png pngerror pngget pngmem pngread pngrio pngrtran pngrutil pngset pngtrans)
list(TRANSFORM png_files REPLACE "(.+)" "${X2IR_SOURCES_DIR}/libpng1.6/\\1.c")
add_library(png_wasm STATIC ${png_files})
set(X2IR_PNG_INCLUDES ${X2IR_HEADERS_DIR}/libpng ${X2IR_SOURCES_DIR}/libpng1.6)
configure_file(${X2IR_SOURCES_DIR}/libpng1.6/scripts/pnglibconf.h.prebuilt
  ${X2IR_HEADERS_DIR}/libpng/pnglibconf.h COPYONLY)
target_include_directories(png_wasm PRIVATE ${X2IR_PNG_INCLUDES})
target_compile_options(png_wasm PRIVATE "SHELL:-mllvm -wasm-enable-sjlj")

foreach(library absl_wasm re2_wasm zlib_wasm jpeg_wasm png_wasm)
  target_compile_options(${library} PRIVATE -w)  # not ours to mend
endforeach()
# In these, too, an exception only passes (see CMakeLists.txt).
foreach(library absl_wasm re2_wasm)
  target_compile_options(${library} PRIVATE -fignore-exceptions)
endforeach()
