# Benchmarks: bench/*_bench.cc become one program, build/bin/x2ir_bench.

find_package(benchmark CONFIG REQUIRED)
file(GLOB_RECURSE x2ir_bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*_bench.cc)
if(x2ir_bench_sources)
  add_executable(x2ir_bench ${x2ir_bench_sources})
  target_compile_definitions(x2ir_bench PRIVATE
    X2IR_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    X2IR_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    X2IR_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
  target_link_libraries(x2ir_bench PRIVATE x2ir::x2ir benchmark::benchmark_main)
endif()

# Times whole programs beside cp (bench/whole_program.sh runs it).
add_executable(x2ir_whole_program ${PROJECT_SOURCE_DIR}/bench/whole_program.cc)
add_executable(x2ir_make_model ${PROJECT_SOURCE_DIR}/bench/make_model.cc)
target_link_libraries(x2ir_make_model PRIVATE x2ir::x2ir)

# Times the optimizer's passes over large graphs.
add_executable(x2ir_optimizer_bench ${PROJECT_SOURCE_DIR}/bench/optimizer.cc)
# With the allocator of the programs, whose speed this is about.
target_link_libraries(x2ir_optimizer_bench PRIVATE x2ir::x2ir ${x2ir_allocator})
