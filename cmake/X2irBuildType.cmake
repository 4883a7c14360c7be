# How everything here is compiled: language, warnings, optimization, sanitizers, output folders.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
# -O3 makes the code larger and the build longer; nothing here got faster from it.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # a host may put the static library into a shared one
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Nothing of the static library is seen from outside of what links it (graph_wrapper/api.h). The
# shared one shows everything: its tests look into internal headers too.
if(NOT BUILD_SHARED_LIBS)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()
# __FILE__ is a path in this repository, not one of the machine that builds.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(X2IR_CCACHE ccache)
  if(X2IR_CCACHE)
    # The sloppiness that its manual asks for where headers are precompiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${X2IR_CCACHE})
  endif()
endif()

add_compile_options(-Wall -Wextra)
# GCC 12 takes moved-from optional and variant members for uninitialized ones (many known
# false alarms, none true in this code); the sanitizers look for the real thing.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(X2IR_WERROR)
  add_compile_options(-Werror)
endif()

if(X2IR_SANITIZE)
  if(X2IR_FUZZ)
    list(APPEND X2IR_SANITIZE fuzzer-no-link)
  endif()
  list(JOIN X2IR_SANITIZE "," x2ir_sanitizers)
  add_compile_options(-fsanitize=${x2ir_sanitizers} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  # GCC's warnings about values that may be uninitialized or out of range go wrong under
  # instrumentation; the ordinary builds have them as errors.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-error=maybe-uninitialized -Wno-error=array-bounds
      -Wno-error=stringop-overflow)
  endif()
  add_link_options(-fsanitize=${x2ir_sanitizers})
endif()

# What nearly every file includes takes longer to parse than the file. Precompiled, it makes a build
# from nothing a third shorter. Files still include what they use: a build without this shows it.
option(X2IR_PRECOMPILE "Precompile the headers that nearly every file includes" ON)
set(X2IR_PRECOMPILED <algorithm> <functional> <limits> <map> <optional> <string> <vector>
  <absl/status/statusor.h> <absl/strings/str_join.h> <absl/container/flat_hash_set.h>
  ${PROJECT_SOURCE_DIR}/x2ir/graph_wrapper/graph.h)
function(x2ir_precompile target)
  if(X2IR_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${X2IR_PRECOMPILED} ${ARGN})
    # ccache asks for -fpch-preprocess with GCC, and for what stands below with clang. GCC 12's false
    # alarms in std::string are silent in a system header, but not in a precompiled one.
    target_compile_options(${target} PRIVATE
      "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict>"
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endfunction()
