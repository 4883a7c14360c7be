# How everything here is compiled: language, warnings, optimization, sanitizers, output folders.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
# -O3 makes the code larger and the build longer; nothing here got faster from it.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# GCC looks for garbage of its own every few megabytes: a tenth of its time, for memory that is there.
add_compile_options(
  "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=400;--param=ggc-min-heapsize=1000000>")

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
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/compiler_cache.sh)
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

include(${CMAKE_CURRENT_LIST_DIR}/X2irFewerParses.cmake)

# Code that runs once a file or once a node, and not once an element: GCC compiles it a third faster
# with -O1, and conversions take as long (docs/performance.md).
function(x2ir_runs_once target)
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-O1>")
endfunction()
