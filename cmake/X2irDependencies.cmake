# What the library needs. Abseil's types are in our interface, and RE2 is linked; Eigen is header-only
# and private, so users of an installed x2ir do not need it. nlohmann_json is for the tool that
# makes the schema tables, and for tests.

# The parts of Abseil that the library uses. The installed package and x2ir.pc name them too.
set(X2IR_ABSL_PARTS
  core_headers
  flat_hash_map
  flat_hash_set
  hash
  inlined_vector
  node_hash_map
  node_hash_set
  span
  status
  statusor
  str_format
  strings
  synchronization
)
find_package(absl CONFIG REQUIRED)
find_package(nlohmann_json 3.10 CONFIG REQUIRED)
find_package(Eigen3 3.4 CONFIG REQUIRED)
add_compile_definitions(EIGEN_MPL2_ONLY)  # none of its few parts under another licence
# Not every distribution gives RE2 a CMake package; all give it a pkg-config file.
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
find_package(ZLIB REQUIRED)
# FlatBuffers: headers, which users of an installed x2ir do not need, and its compiler.
find_program(X2IR_FLATC flatc REQUIRED)
find_path(X2IR_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
if(X2IR_BUILD_PROGRAMS)
  find_package(CLI11 CONFIG REQUIRED)
endif()

list(TRANSFORM X2IR_ABSL_PARTS PREPEND absl:: OUTPUT_VARIABLE X2IR_ABSL_TARGETS)

# Points the targets of a shared Abseil, and of RE2, at the archives that lie beside their libraries.
# Only what this build links is affected, not what we install.
if(X2IR_STATIC_ABSL)
  get_target_property(libraries PkgConfig::RE2 INTERFACE_LINK_LIBRARIES)
  foreach(library IN LISTS libraries)
    string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${library}")
    if(EXISTS "${archive}")
      list(TRANSFORM libraries REPLACE "^${library}$" "${archive}")
    endif()
  endforeach()
  set_target_properties(PkgConfig::RE2 PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  get_property(x2ir_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER x2ir_imported INCLUDE REGEX "^absl::")
  foreach(target IN LISTS x2ir_imported)
    get_target_property(configs ${target} IMPORTED_CONFIGURATIONS)
    foreach(config IN LISTS configs)
      get_target_property(location ${target} IMPORTED_LOCATION_${config})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${location}")
      if(EXISTS "${archive}")
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${config} ${archive})
      endif()
    endforeach()
  endforeach()
endif()
