// The element types of GGUF's tensors, by their numbers: plain ones, and blocks of a few bits with
// scales (ggml-common.h of llama.cpp).
#ifndef X2IR_FORMATS_CHECKPOINT_GGML_TYPES_H_
#define X2IR_FORMATS_CHECKPOINT_GGML_TYPES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {
namespace ggml {

enum TypeNumber : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ8_1 = 9,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kQ8_K = 15,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
};

struct Type {
  uint32_t number = 0;
  std::string_view name;
  int64_t block = 1;                // elements of a block, all of one row
  int64_t bytes = 0;                // of a block
  DType dtype = DType::kUndefined;  // of plain types
  bool read = true;                 // false: known by name only
  // Where a block has numbers of two bytes, which are the other way round in big-endian files; -1
  // ends the list. A first -2: such files are not read.
  int16_t halves[3] = {-1, -1, -1};

  bool plain() const { return dtype != DType::kUndefined; }
};

// Null for an unknown number.
const Type* FindType(uint64_t number);

}  // namespace ggml
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GGML_TYPES_H_
