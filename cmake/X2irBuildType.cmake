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

# What nearly every file includes takes longer to parse than the file. Precompiled, it makes a build
# from nothing a third shorter. Files still include what they use: a build without this, and without
# X2IR_UNITY, shows it. `x2ir_precompile(target header...)` makes a precompiled header,
# `x2ir_precompile(target FROM other)` takes the one of another target with the same flags.
option(X2IR_PRECOMPILE "Precompile the headers that nearly every file includes" ON)
set(X2IR_PRECOMPILED <algorithm> <functional> <limits> <map> <optional> <string> <vector>
  <absl/status/statusor.h> <absl/strings/str_join.h> <absl/container/flat_hash_set.h>
  ${PROJECT_SOURCE_DIR}/x2ir/graph_wrapper/graph.h)
function(x2ir_precompile target)
  if(NOT X2IR_PRECOMPILE)
    return()
  endif()
  if("${ARGV1}" STREQUAL "FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${X2IR_PRECOMPILED} ${ARGN})
  endif()
  # ccache asks for -fpch-preprocess with GCC, and for the flags below with clang. GCC 12's false
  # alarms in std::string are silent in a system header, but not in a precompiled one.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict>"
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# Files of one folder are compiled some at a time, as if they were one: the templates that all of
# them use are instantiated once, and a build from nothing takes a third of the time. So names in
# anonymous namespaces must differ within a folder. A file with compile definitions or include
# folders of its own is compiled by itself.
option(X2IR_UNITY "Compile several files of a folder at a time" ON)
function(x2ir_unity target batch)
  if(NOT X2IR_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  set(folders)
  foreach(source IN LISTS sources)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(includes ${source} INCLUDE_DIRECTORIES)
    if(definitions OR includes)
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND files_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    # As many batches as are needed, all of about the same size.
    list(LENGTH files_of_${folder} count)
    math(EXPR batches "(${count} + ${batch} - 1) / ${batch}")
    set(index 0)
    foreach(source IN LISTS files_of_${folder})
      math(EXPR group "${index} * ${batches} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class of one file may have members of types in its anonymous namespace.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Code that runs once a file or once a node, and not once an element: GCC compiles it a third faster
# with -O1, and conversions take as long (docs/performance.md).
function(x2ir_runs_once target)
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-O1>")
endfunction()
