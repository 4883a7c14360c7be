# How a build parses less: precompiled headers, and several files at a time.

# What nearly every file includes takes longer to parse than the file. Precompiled, it makes a build
# from nothing a third shorter. Files still include what they use: a build without this, and without
# X2IR_UNITY, shows it. `x2ir_precompile(target header...)` makes a precompiled header,
# `x2ir_precompile(target FROM other)` takes the one of another target with the same flags.
option(X2IR_PRECOMPILE "Precompile the headers that nearly every file includes" ON)
set(X2IR_PRECOMPILED <algorithm> <functional> <limits> <map> <optional> <string> <vector>
  <absl/status/statusor.h> <absl/strings/str_join.h> <absl/container/flat_hash_set.h>
  ${CMAKE_CURRENT_LIST_DIR}/../x2ir/graph_wrapper/graph.h)
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
