# The programs, build/bin/x2ir and build/bin/ir2onnx: a main file each, and what they share.

file(GLOB_RECURSE x2ir_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/x2ir/cli/*.cc)
list(FILTER x2ir_cli_sources EXCLUDE REGEX "_main\\.cc$")

# Tests of the command line link it too.
add_library(x2ir_cli STATIC ${x2ir_cli_sources})
set_target_properties(x2ir_cli PROPERTIES LINKER_LANGUAGE CXX)
target_compile_definitions(x2ir_cli
  PUBLIC X2IR_VERSION="${PROJECT_VERSION}"
  PRIVATE X2IR_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(x2ir_cli PUBLIC x2ir::x2ir CLI11::CLI11 ${CMAKE_DL_LIBS})
x2ir_precompile(x2ir_cli FROM x2ir_once)
x2ir_runs_once(x2ir_cli)
x2ir_unity(x2ir_cli 20)

# libonnx's checker, which ir2onnx loads for --check if it is there. A module, so that programs
# which do not check load neither libonnx nor protobuf.
find_package(Protobuf QUIET)  # libonnx's package uses its targets, but does not look for them
if(Protobuf_FOUND)
  find_package(ONNX CONFIG QUIET)
endif()
if(ONNX_FOUND AND NOT X2IR_SANITIZE)
  add_library(x2ir_libonnx_checker MODULE ${PROJECT_SOURCE_DIR}/tools/libonnx_checker.cc)
  set_target_properties(x2ir_libonnx_checker PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET default)
  target_link_libraries(x2ir_libonnx_checker PRIVATE onnx onnx_proto)
  install(TARGETS x2ir_libonnx_checker DESTINATION ${CMAKE_INSTALL_LIBDIR}/x2ir)
endif()

# The archives of what the library names to the linker, where there are any: as with Abseil, a
# folder in which the linker looks first and finds nothing else.
if(X2IR_STATIC_ABSL)
  set(x2ir_archives ${PROJECT_BINARY_DIR}/archives)
  file(REMOVE_RECURSE ${x2ir_archives})
  file(MAKE_DIRECTORY ${x2ir_archives})
  foreach(library IN LISTS X2IR_CODEC_LIBS)
    find_library(X2IR_ARCHIVE_OF_${library} lib${library}.a)
    if(X2IR_ARCHIVE_OF_${library})
      file(CREATE_LINK ${X2IR_ARCHIVE_OF_${library}} ${x2ir_archives}/lib${library}.a SYMBOLIC)
    endif()
  endforeach()
endif()

# A graph is hundreds of thousands of small things: jemalloc's memory for them is a fifth faster than
# the C library's on a large one. For our own programs only; who links the library has an allocator.
option(X2IR_JEMALLOC "Link our programs with jemalloc's archive if present" ON)
set(x2ir_allocator)
if(X2IR_JEMALLOC AND NOT X2IR_SANITIZE)
  find_library(X2IR_JEMALLOC_ARCHIVE libjemalloc_pic.a)
  if(X2IR_JEMALLOC_ARCHIVE)
    set(x2ir_allocator ${X2IR_JEMALLOC_ARCHIVE})
  else()
    message(STATUS "libjemalloc-dev is not installed: the programs use the C library's allocator")
  endif()
endif()

# The target is not called like the program: x2ir is the library.
foreach(program x2ir ir2onnx)
  add_executable(${program}_program ${PROJECT_SOURCE_DIR}/x2ir/cli/${program}_main.cc)
  target_link_libraries(${program}_program PRIVATE x2ir_cli ${x2ir_allocator})
  if(X2IR_STATIC_ABSL)
    target_link_directories(${program}_program BEFORE PRIVATE ${x2ir_archives})
  endif()
  set_target_properties(${program}_program PROPERTIES OUTPUT_NAME ${program})
  if(BUILD_SHARED_LIBS)
    set_target_properties(${program}_program PROPERTIES
      INSTALL_RPATH "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
  if(X2IR_STATIC_ABSL AND NOT X2IR_SANITIZE)
    # Fewer libraries to load at start.
    target_link_options(${program}_program PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endforeach()

# All that a user runs.
add_custom_target(programs DEPENDS x2ir_program ir2onnx_program)
if(TARGET x2ir_libonnx_checker)
  add_dependencies(programs x2ir_libonnx_checker)
endif()
