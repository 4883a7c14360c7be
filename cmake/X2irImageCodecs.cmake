# Libraries that decode image files, for the evaluation of image_decoder. Each is optional; without
# it evaluation reports that the build had none. Libraries that are linked are named as linker flags
# (-ljpeg), in the installed package too, so that its users need not find their CMake packages.

option(X2IR_IMAGE_CODECS "Decode image files with the libraries that are there" ON)

# NAME of X2IR_HAVE_NAME: the library's module for pkg-config.
set(X2IR_CODEC_MODULES
  "JPEG:libjpeg" "PNG:libpng" "WEBP:libwebp" "TIFF:libtiff-4>=4.5" "JPEG2000:libopenjp2")

set(X2IR_CODEC_LIBS)
if(X2IR_IMAGE_CODECS)
  find_package(PkgConfig QUIET)
endif()
foreach(entry IN LISTS X2IR_CODEC_MODULES)
  if(NOT X2IR_IMAGE_CODECS OR NOT PKG_CONFIG_FOUND)
    break()
  endif()
  string(REGEX MATCH "^([^:]+):(.+)$" matched "${entry}")
  set(name ${CMAKE_MATCH_1})
  pkg_check_modules(X2IR_${name} QUIET ${CMAKE_MATCH_2})
  if(NOT X2IR_${name}_FOUND)
    message(STATUS "${CMAKE_MATCH_2} is not installed: no such image files can be decoded")
    continue()
  endif()
  string(TOLOWER ${name} file)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/x2ir/ops/image_codecs/${file}.cc APPEND PROPERTY
    COMPILE_DEFINITIONS X2IR_HAVE_${name})
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/x2ir/ops/image_codecs/${file}.cc APPEND PROPERTY
    INCLUDE_DIRECTORIES ${X2IR_${name}_INCLUDE_DIRS})
  if(NOT name STREQUAL "TIFF")
    list(APPEND X2IR_CODEC_LIBS ${X2IR_${name}_LIBRARIES})
    continue()
  endif()
  # Loaded when it is needed (tiff.cc says why), by its name with the version: libtiff.so.6.
  get_filename_component(tiff "${X2IR_TIFF_LINK_LIBRARIES}" REALPATH)
  get_filename_component(tiff "${tiff}" NAME)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*$" "\\1" tiff "${tiff}")
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/x2ir/ops/image_codecs/tiff.cc APPEND PROPERTY
    COMPILE_DEFINITIONS X2IR_TIFF_SONAME="${tiff}")
endforeach()
if(X2IR_PNG_FOUND AND X2IR_IMAGE_CODECS)
  list(APPEND X2IR_CODEC_LIBS z)  # what an archive of libpng needs
endif()
list(REMOVE_DUPLICATES X2IR_CODEC_LIBS)
