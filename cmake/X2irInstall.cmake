# Installation: headers, library, programs, a CMake package (find_package(x2ir CONFIG) gives
# x2ir::x2ir) and a pkg-config file. All of it may be moved afterwards.

include(CMakePackageConfigHelpers)

set(x2ir_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/x2ir)

install(TARGETS ${X2IR_BINARY_TARGET} EXPORT x2irTargets FILE_SET HEADERS)
if(NOT BUILD_SHARED_LIBS)
  install(TARGETS x2ir EXPORT x2irTargets)
endif()
if(TARGET x2ir_c)
  install(TARGETS x2ir_c EXPORT x2irTargets FILE_SET HEADERS)
endif()
if(X2IR_BUILD_PROGRAMS)
  install(TARGETS x2ir_program ir2onnx_program)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT x2irTargets NAMESPACE x2ir:: DESTINATION ${x2ir_cmake_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/x2irConfig.cmake.in ${PROJECT_BINARY_DIR}/x2irConfig.cmake
  INSTALL_DESTINATION ${x2ir_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/x2irConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/x2irConfig.cmake ${PROJECT_BINARY_DIR}/x2irConfigVersion.cmake
  DESTINATION ${x2ir_cmake_dir})

# pkg-config. The archive goes in one word with its --whole-archive: pkg-config may reorder words.
if(BUILD_SHARED_LIBS)
  set(X2IR_PC_LIBS "-L\${libdir} -lx2ir")
  set(X2IR_PC_DEFINES " -DX2IR_SHARED")
else()
  set(X2IR_PC_LIBS "-Wl,--whole-archive,\${libdir}/libx2ir.a,--no-whole-archive")
  foreach(lib IN LISTS X2IR_CODEC_LIBS)
    string(APPEND X2IR_PC_LIBS " -l${lib}")
  endforeach()
endif()
list(TRANSFORM X2IR_ABSL_PARTS PREPEND absl_ OUTPUT_VARIABLE X2IR_PC_REQUIRES)
if(NOT BUILD_SHARED_LIBS)
  list(APPEND X2IR_PC_REQUIRES re2 zlib)
endif()
list(JOIN X2IR_PC_REQUIRES " " X2IR_PC_REQUIRES)
# From lib/pkgconfig up to the prefix, so that the file holds no absolute path.
file(RELATIVE_PATH X2IR_PC_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" X2IR_PC_PREFIX "${X2IR_PC_PREFIX}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/x2ir.pc.in ${PROJECT_BINARY_DIR}/x2ir.pc @ONLY)
if(TARGET x2ir_c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/x2ir-c.pc.in ${PROJECT_BINARY_DIR}/x2ir-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/x2ir-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(FILES ${PROJECT_BINARY_DIR}/x2ir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
