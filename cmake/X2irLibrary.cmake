# The library. Ops, passes and handlers register themselves through static objects that nothing
# refers to by name. From a plain static library the linker takes only what is referred to, so it
# would drop every one of them, silently. Therefore:
#
#   shared:  x2ir is the library.
#   static:  x2ir_archive is the archive, libx2ir.a; x2ir is only a name that links it whole.
#
# Targets that link x2ir::x2ir get all of it, in this tree and from the installed package. A shared
# library that links the archive hides its copy (see graph_wrapper/api.h).

set(X2IR_ROOMS graph_wrapper ops builder optimizer formats core inspect view runtimes handlers)
set(x2ir_sources)
set(x2ir_headers)
foreach(room IN LISTS X2IR_ROOMS)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/x2ir/${room}/*.cc)
  list(APPEND x2ir_sources ${found})
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/x2ir/${room}/*.h)
  list(APPEND x2ir_headers ${found})
endforeach()
# Internal headers may show what we keep from our users (JSON, wire formats): not installed.
list(FILTER x2ir_headers EXCLUDE REGEX "_internal\\.h$")

if(BUILD_SHARED_LIBS)
  set(X2IR_BINARY_TARGET x2ir)
  add_library(x2ir SHARED)
  target_compile_definitions(x2ir PUBLIC X2IR_SHARED)
  set(X2IR_SHARED_DEFINITION X2IR_SHARED)
  # No macro of its own (x2ir_EXPORTS): other targets use its precompiled header.
  set_target_properties(x2ir PROPERTIES DEFINE_SYMBOL "")
else()
  set(X2IR_BINARY_TARGET x2ir_archive)
  add_library(x2ir_archive STATIC)
  set_target_properties(x2ir_archive PROPERTIES OUTPUT_NAME x2ir)
  # With its namespace: CMake 3.25 does not add it inside of LINK_LIBRARY when it exports this.
  add_library(x2ir::x2ir_archive ALIAS x2ir_archive)
  add_library(x2ir INTERFACE)
  target_link_libraries(x2ir INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,x2ir::x2ir_archive>)
endif()
add_library(x2ir::x2ir ALIAS x2ir)

# Two thirds of the code runs once a file or once a node: rows, readers, reports (x2ir_runs_once). The
# other third walks over whole graphs, tensors, blocks of weights and files of ONNX.
set(x2ir_once_sources ${x2ir_sources})
list(FILTER x2ir_sources INCLUDE REGEX
  "/x2ir/(graph_wrapper/|ops/|builder/|optimizer/|core/|formats/(io|ir|onnx|npy|safetensors)/|formats/[a-z_]+\\.cc|handlers/checkpoint/block[a-z_]*\\.cc)")
list(REMOVE_ITEM x2ir_once_sources ${x2ir_sources})
add_library(x2ir_once OBJECT ${x2ir_once_sources})
x2ir_runs_once(x2ir_once)

target_sources(${X2IR_BINARY_TARGET}
  PRIVATE ${x2ir_sources} ${X2IR_SCHEMA_DATA} $<TARGET_OBJECTS:x2ir_once>
  PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${x2ir_headers})
# It includes what is generated, and compiles none of it.
set(x2ir_generated_headers ${X2IR_SCHEMA_DATA})
list(FILTER x2ir_generated_headers EXCLUDE REGEX "\\.cc$")
target_sources(x2ir_once PRIVATE ${x2ir_generated_headers})
target_include_directories(x2ir_once PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(${X2IR_BINARY_TARGET} PUBLIC cxx_std_20)
foreach(target ${X2IR_BINARY_TARGET} x2ir_once)
  target_include_directories(${target} SYSTEM PRIVATE
    ${X2IR_GENERATED_DIR} ${X2IR_FLATBUFFERS_INCLUDE})
  target_compile_definitions(${target} PRIVATE X2IR_VERSION="${PROJECT_VERSION}"
    ${X2IR_SHARED_DEFINITION})
  # BUILD_INTERFACE: header-only and private, so the installed package need not find them.
  target_link_libraries(${target}
    PUBLIC ${X2IR_ABSL_TARGETS}
    PRIVATE $<LINK_ONLY:PkgConfig::RE2> $<LINK_ONLY:ZLIB::ZLIB>
      $<BUILD_INTERFACE:Eigen3::Eigen> ${X2IR_CODEC_LIBS})
endforeach()
# RE2's compile flags are for the one file that includes it.
set_source_files_properties(${PROJECT_SOURCE_DIR}/x2ir/ops/regex.cc PROPERTIES
  INCLUDE_DIRECTORIES "${RE2_INCLUDE_DIRS}" COMPILE_OPTIONS "${RE2_CFLAGS_OTHER}"
  SKIP_PRECOMPILE_HEADERS ON)
# The same bits on every processor, also where one has an instruction for a product and a sum.
set_source_files_properties(${PROJECT_SOURCE_DIR}/x2ir/graph_wrapper/portable_math.cc
  ${PROJECT_SOURCE_DIR}/x2ir/ops/product_in_order.cc PROPERTIES
  COMPILE_OPTIONS "-ffp-contract=off;-O3" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
# FlatBuffers are headers only, but for a locale that FlexBuffers would have.
set_source_files_properties(${PROJECT_SOURCE_DIR}/x2ir/formats/tflite/options.cc PROPERTIES
  COMPILE_DEFINITIONS "FLATBUFFERS_LOCALE_INDEPENDENT=0")
foreach(target ${X2IR_BINARY_TARGET} x2ir_once)
  x2ir_precompile(${target})
  x2ir_unity(${target} 20)
endforeach()

# Before 1.0 a new minor version may change the interface.
set_target_properties(${X2IR_BINARY_TARGET} PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
