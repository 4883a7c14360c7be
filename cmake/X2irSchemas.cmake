# The table of ONNX's operator schemas, made from facts/ by a small program of our own.

add_executable(x2ir_gen_onnx_schemas tools/gen_onnx_schemas.cc)
target_include_directories(x2ir_gen_onnx_schemas PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(x2ir_gen_onnx_schemas PRIVATE nlohmann_json::nlohmann_json)
set_target_properties(x2ir_gen_onnx_schemas PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)

set(X2IR_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(X2IR_SCHEMA_DATA ${X2IR_GENERATED_DIR}/x2ir_onnx_schema_data.inc)
file(MAKE_DIRECTORY ${X2IR_GENERATED_DIR})
set(x2ir_facts ${PROJECT_SOURCE_DIR}/facts/onnx-schemas.json
  ${PROJECT_SOURCE_DIR}/facts/onnx-versions.txt)
add_custom_command(
  OUTPUT ${X2IR_SCHEMA_DATA}
  COMMAND x2ir_gen_onnx_schemas ${x2ir_facts} ${X2IR_SCHEMA_DATA}
  DEPENDS x2ir_gen_onnx_schemas ${x2ir_facts}
  COMMENT "Generating the ONNX schema tables"
  VERBATIM)
