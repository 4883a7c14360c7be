# Abseil, RE2 and zlib of Debian's sources: Debian has no archives of them for this target.

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

foreach(library absl_wasm re2_wasm zlib_wasm)
  target_compile_options(${library} PRIVATE -w)  # not ours to mend
endforeach()
