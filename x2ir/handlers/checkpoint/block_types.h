// What blocks of GGUF's types hold, as integers and scales: number i of a block is
// codes[i] * scales[i / group] - minima[i / group], computed in float32. That is exactly what
// ggml's dequantisation gives (dequantize_row_* in ggml-quants.c): products of codes and scales
// are exact in float32, so only the subtraction rounds, as it does there. The scales of blocks
// inside of blocks (d * scale) are exact, too.
#ifndef X2IR_HANDLERS_CHECKPOINT_BLOCK_TYPES_H_
#define X2IR_HANDLERS_CHECKPOINT_BLOCK_TYPES_H_

#include <cstdint>

#include "x2ir/formats/checkpoint/ggml_types.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {
namespace checkpoint {

inline constexpr int64_t kMaxBlock = 256;  // numbers of a block
inline constexpr int64_t kMinGroup = 16;   // numbers with one scale

struct BlockType {
  uint32_t number;  // ggml::TypeNumber
  int64_t group;    // numbers with one scale
  DType codes;      // the smallest type that has them all: int8, int4, uint4
  bool has_minima;
  void (*unpack)(const uint8_t* block, int8_t* codes);
  // `minima` only where it has some.
  void (*scale)(const uint8_t* block, float* scales, float* minima);
};

// Null for a type that has no row.
const BlockType* FindBlockType(int ggml_type);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_BLOCK_TYPES_H_
