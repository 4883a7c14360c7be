# The tables of ONNX's and PyTorch's operator schemas, of ONNX Runtime's kernels, of OneFlow's names and operators, of
# StableHLO's dialects, of protobuf messages and of schemas of FlatBuffers, made from facts/ by
# small programs of our own.

set(X2IR_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(X2IR_SCHEMA_DATA)
file(MAKE_DIRECTORY ${X2IR_GENERATED_DIR})

# JSON takes longer to parse than any of these programs: precompiled once for all of them.
function(x2ir_table_program name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  x2ir_runs_once(${name})
  if(TARGET x2ir_gen_proto_tables AND NOT name STREQUAL "x2ir_gen_proto_tables")
    x2ir_precompile(${name} FROM x2ir_gen_proto_tables)
  elseif(X2IR_PRECOMPILE)
    target_precompile_headers(${name} PRIVATE <fstream> <iostream> <map> <nlohmann/json.hpp>)
  endif()
endfunction()
x2ir_table_program(x2ir_gen_proto_tables tools/gen_proto_tables.cc)

# x2ir_schema_table(framework facts...): tools/gen_<framework>_schemas.cc makes
# x2ir_<framework>_schema_data.inc of them.
function(x2ir_schema_table framework)
  set(program x2ir_gen_${framework}_schemas)
  x2ir_table_program(${program} tools/gen_${framework}_schemas.cc)
  set(output ${X2IR_GENERATED_DIR}/x2ir_${framework}_schema_data.inc)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/facts/ OUTPUT_VARIABLE facts)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${program} ${facts} ${output}
    DEPENDS ${program} ${facts}
    COMMENT "Generating the schema tables of ${framework}"
    VERBATIM)
  set(X2IR_SCHEMA_DATA ${X2IR_SCHEMA_DATA} ${output} PARENT_SCOPE)
endfunction()

x2ir_schema_table(onnx onnx-schemas.json onnx-versions.txt)
x2ir_schema_table(onnx_kernels onnxruntime-kernels.txt)
x2ir_schema_table(torch torch-ops.json)
x2ir_schema_table(oneflow oneflow-names.txt)
x2ir_schema_table(oneflow_ops oneflow-ops.json)
x2ir_schema_table(tfjs_ops tfjs-ops.json)

# StableHLO's dialects: the printed forms of operations; and the operations of all versions, with the
# codes that attributes and types have in bytecode.
set(x2ir_stablehlo_facts ${PROJECT_SOURCE_DIR}/facts/stablehlo-ops.json)
foreach(table mlir_syntax stablehlo_tables)
  x2ir_table_program(x2ir_gen_${table} tools/gen_${table}.cc)
  set(x2ir_output ${X2IR_GENERATED_DIR}/x2ir_${table}.inc)
  add_custom_command(
    OUTPUT ${x2ir_output}
    COMMAND x2ir_gen_${table} ${x2ir_stablehlo_facts} ${x2ir_output}
    DEPENDS x2ir_gen_${table} ${x2ir_stablehlo_facts}
    COMMENT "Generating x2ir_${table}.inc"
    VERBATIM)
  list(APPEND X2IR_SCHEMA_DATA ${x2ir_output})
endforeach()

# Protobuf messages. x2ir_proto_table(framework facts...) makes their tables,
# x2ir_<framework>_messages.inc, and the numbers of their fields, x2ir_<framework>_fields.inc.
function(x2ir_proto_table framework)
  set(outputs ${X2IR_GENERATED_DIR}/x2ir_${framework}_messages.inc
    ${X2IR_GENERATED_DIR}/x2ir_${framework}_fields.inc)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/facts/ OUTPUT_VARIABLE facts)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND x2ir_gen_proto_tables ${facts} ${outputs}
    DEPENDS x2ir_gen_proto_tables ${facts}
    COMMENT "Generating the messages of ${framework}"
    VERBATIM)
  set(X2IR_SCHEMA_DATA ${X2IR_SCHEMA_DATA} ${outputs} PARENT_SCOPE)
endfunction()

x2ir_proto_table(caffe caffe-proto-fields.json caffe-branches-proto-fields.json)
x2ir_proto_table(caffe2 caffe2-proto-fields.json)
x2ir_proto_table(coreml coreml-proto-fields.json)
x2ir_proto_table(oneflow oneflow-proto-fields.json)
x2ir_proto_table(onnx onnx-proto-fields.json)
x2ir_proto_table(paddle paddle-proto-fields.json)
x2ir_proto_table(tensorflow tensorflow-proto-fields.json)

# Schemas of FlatBuffers. x2ir_flat_schema(name [tables]): facts/<name>-schema.json in FlatBuffers'
# language, the header that flatc makes of it, <name>_generated.h, and TFLite's tables of options.
x2ir_table_program(x2ir_gen_flat_schema tools/gen_flat_schema.cc)
function(x2ir_flat_schema name)
  set(facts ${PROJECT_SOURCE_DIR}/facts/${name}-schema.json)
  set(outputs ${X2IR_GENERATED_DIR}/${name}_generated.h)
  set(tables ${ARGN})
  list(TRANSFORM tables PREPEND ${X2IR_GENERATED_DIR}/)
  list(APPEND outputs ${tables})
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND x2ir_gen_flat_schema ${name} ${facts} ${X2IR_GENERATED_DIR}/${name}.fbs ${tables}
    COMMAND ${X2IR_FLATC} --cpp --scoped-enums -o ${X2IR_GENERATED_DIR}
      ${X2IR_GENERATED_DIR}/${name}.fbs
    DEPENDS x2ir_gen_flat_schema ${facts}
    COMMENT "Generating the schema ${name}"
    VERBATIM)
  set(X2IR_SCHEMA_DATA ${X2IR_SCHEMA_DATA} ${outputs} PARENT_SCOPE)
endfunction()

x2ir_flat_schema(tflite x2ir_tflite_schema_data.inc)
x2ir_flat_schema(ort)

# The tables of files of jax.export.
set(x2ir_jax_schema ${PROJECT_SOURCE_DIR}/x2ir/formats/stablehlo/jax_export.fbs)
add_custom_command(
  OUTPUT ${X2IR_GENERATED_DIR}/jax_export_generated.h
  COMMAND ${X2IR_FLATC} --cpp --scoped-enums -o ${X2IR_GENERATED_DIR} ${x2ir_jax_schema}
  DEPENDS ${x2ir_jax_schema}
  COMMENT "Generating the tables of jax.export"
  VERBATIM)
list(APPEND X2IR_SCHEMA_DATA ${X2IR_GENERATED_DIR}/jax_export_generated.h)
