#include "x2ir/formats/checkpoint/ggml_types.h"

namespace x2ir::ggml {
namespace {

constexpr DType kBlocks = DType::kUndefined;

constexpr Type kTypes[] = {
    {kF32, "F32", 1, 4, DType::kFloat32},
    {kF16, "F16", 1, 2, DType::kFloat16},
    {kQ4_0, "Q4_0", 32, 18, kBlocks, true, {0, -1}},
    {kQ4_1, "Q4_1", 32, 20, kBlocks, true, {0, 2, -1}},
    {kQ5_0, "Q5_0", 32, 22, kBlocks, true, {-2}},
    {kQ5_1, "Q5_1", 32, 24, kBlocks, true, {-2}},
    {kQ8_0, "Q8_0", 32, 34, kBlocks, true, {0, -1}},
    {kQ8_1, "Q8_1", 32, 36, kBlocks, true, {0, 2, -1}},
    {kQ2_K, "Q2_K", 256, 84, kBlocks, true, {80, 82, -1}},
    {kQ3_K, "Q3_K", 256, 110, kBlocks, true, {108, -1}},
    {kQ4_K, "Q4_K", 256, 144, kBlocks, true, {0, 2, -1}},
    {kQ5_K, "Q5_K", 256, 176, kBlocks, true, {0, 2, -1}},
    {kQ6_K, "Q6_K", 256, 210, kBlocks, true, {208, -1}},
    {kQ8_K, "Q8_K", 256, 292, kBlocks, true, {-2}},
    {16, "IQ2_XXS", 256, 66, kBlocks, false},
    {17, "IQ2_XS", 256, 74, kBlocks, false},
    {18, "IQ3_XXS", 256, 98, kBlocks, false},
    {19, "IQ1_S", 256, 50, kBlocks, false},
    {kIQ4_NL, "IQ4_NL", 32, 18, kBlocks, true, {0, -1}},
    {21, "IQ3_S", 256, 110, kBlocks, false},
    {22, "IQ2_S", 256, 82, kBlocks, false},
    {kIQ4_XS, "IQ4_XS", 256, 136, kBlocks, true, {0, 2, -1}},
    {kI8, "I8", 1, 1, DType::kInt8},
    {kI16, "I16", 1, 2, DType::kInt16},
    {kI32, "I32", 1, 4, DType::kInt32},
    {kI64, "I64", 1, 8, DType::kInt64},
    {kF64, "F64", 1, 8, DType::kFloat64},
    {29, "IQ1_M", 256, 56, kBlocks, false},
    {kBF16, "BF16", 1, 2, DType::kBFloat16},
    {kTQ1_0, "TQ1_0", 256, 54, kBlocks, true, {52, -1}},
    {kTQ2_0, "TQ2_0", 256, 66, kBlocks, true, {64, -1}},
    {kMXFP4, "MXFP4", 32, 17, kBlocks, true, {-1}},
    {40, "NVFP4", 64, 36, kBlocks, false},
};

}  // namespace

const Type* FindType(uint64_t number) {
  for (const Type& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

}  // namespace x2ir::ggml
