# The library for C, libx2ir.so.1: x2ir/c over the whole archive. It shows x2ir.h and nothing else
# (x2ir.map). Its SONAME counts changes that break programs, of which there shall be none; the C++
# interface, which changes as it likes, is that of the archive. A shared build of the library
# (BUILD_SHARED_LIBS) is one for C++ hosts that share it, and has the name; there is none for C then.

# Links `target`, a shared library, with the archive as its own copy, after other archives of this
# tree (targets) that use it. Such a library needs Abseil and RE2 as shared ones: Debian's archives
# of them are made for programs (X2IR_STATIC_ABSL). `./dev python` makes others
# (python/pic_archives.sh); with these only the C library and zlib are needed.
set(X2IR_PIC_ARCHIVES "" CACHE PATH "Folder of archives of Abseil and RE2 for shared libraries")
function(x2ir_embed_archive target)
  set(absl_and_re2 PkgConfig::X2IR_SHARED_ABSL re2)
  if(X2IR_PIC_ARCHIVES)
    file(GLOB archives ${X2IR_PIC_ARCHIVES}/*.a)
    set(absl_and_re2 -Wl,--start-group ${archives} -Wl,--end-group)
    target_link_directories(${target} BEFORE PRIVATE ${X2IR_PIC_ARCHIVES})
    # Parts of these archives are not compiled for shared libraries that show them.
    target_link_options(${target} PRIVATE
      -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--exclude-libs,ALL)
  elseif(NOT TARGET PkgConfig::X2IR_SHARED_ABSL)
    list(TRANSFORM X2IR_ABSL_PARTS PREPEND absl_ OUTPUT_VARIABLE modules)
    pkg_check_modules(X2IR_SHARED_ABSL REQUIRED QUIET IMPORTED_TARGET GLOBAL ${modules})
  endif()
  add_dependencies(${target} x2ir_archive ${ARGN})
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE before)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE
    ${before} -Wl,--whole-archive $<TARGET_FILE:x2ir_archive> -Wl,--no-whole-archive
    ${absl_and_re2} z ${X2IR_CODEC_LIBS} ${CMAKE_DL_LIBS})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS
    $<TARGET_FILE:x2ir_archive> ${before})
endfunction()

if(BUILD_SHARED_LIBS OR X2IR_SANITIZE)
  return()
endif()
set(X2IR_C_ABI 1)
set(x2ir_c_dir ${PROJECT_SOURCE_DIR}/x2ir/c)
add_library(x2ir_c SHARED ${x2ir_c_dir}/x2ir.cc)
add_library(x2ir::x2ir_c ALIAS x2ir_c)
target_sources(x2ir_c PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
  FILES ${x2ir_c_dir}/x2ir.h)
target_include_directories(x2ir_c INTERFACE
  $<BUILD_INTERFACE:${x2ir_c_dir}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/x2ir/c>)
target_compile_definitions(x2ir_c PRIVATE X2IR_VERSION="${PROJECT_VERSION}")
target_link_options(x2ir_c PRIVATE
  -Wl,--version-script=${x2ir_c_dir}/x2ir.map -Wl,--no-undefined -Wl,--as-needed)
set_property(TARGET x2ir_c APPEND PROPERTY LINK_DEPENDS ${x2ir_c_dir}/x2ir.map)
set_target_properties(x2ir_c PROPERTIES
  OUTPUT_NAME x2ir VERSION ${X2IR_C_ABI}.${PROJECT_VERSION} SOVERSION ${X2IR_C_ABI})
x2ir_embed_archive(x2ir_c)
