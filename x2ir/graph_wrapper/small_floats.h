// Codecs of the floating-point formats that C++ has no type for: sixteen bits (half,
// bfloat16), eight bits (the float8 family) and four bits (float4e2m1); and access to
// elements that share a byte. All conversions are exact or correctly rounded.
#ifndef X2IR_GRAPH_WRAPPER_SMALL_FLOATS_H_
#define X2IR_GRAPH_WRAPPER_SMALL_FLOATS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {

// Whether `t` is one of: float16, bfloat16, float8*, float4e2m1.
bool IsSmallFloat(DType t);

// The value of a bit pattern; every one of these formats is exact in float. Bits above the
// format's width are ignored. `t` must be a small float (CHECK).
float DecodeSmallFloat(DType t, uint32_t bits);

// How float8e8m0, which holds only powers of two, rounds: away from zero, towards zero, or
// to the nearest with ties up. The other formats always round to nearest even.
enum class E8M0Rounding : uint8_t { kUp, kDown, kNearest };

// The bit pattern of a value. Out of range is infinity, or NaN where the format has no
// infinity. With `saturate` the float8 formats clamp to their largest finite number,
// infinity too. (The table in ONNX's Cast has NaN for infinity in the FNUZ formats; ONNX's own
// backend cases clamp, as runtimes do, and so do we.) float4e2m1 always clamps, and has minus
// zero for NaN, as in those cases. float8e8m0 has no sign and no zero: it holds
// the magnitude, and 2^-127 for zero.
uint32_t EncodeSmallFloat(DType t, double value, bool saturate = true,
                          E8M0Rounding rounding = E8M0Rounding::kUp);

// A double that rounds to every narrower format just as `v` itself does: v where a double
// holds it, else v rounded to odd. Avoids rounding twice.
double ToDoubleForRounding(int64_t v);
double ToDoubleForRounding(uint64_t v);

// Element i of packed elements of 1, 2, 4 or 8 bits, low bits first.
inline uint8_t GetPacked(const std::byte* data, int64_t i, int bits) {
  const int per_byte = 8 / bits;
  const int shift = static_cast<int>(i % per_byte) * bits;
  return static_cast<uint8_t>(static_cast<unsigned>(data[i / per_byte]) >> shift) &
         static_cast<uint8_t>((1u << bits) - 1);
}
inline void SetPacked(std::byte* data, int64_t i, int bits, uint8_t value) {
  const int per_byte = 8 / bits;
  const int shift = static_cast<int>(i % per_byte) * bits;
  const unsigned mask = ((1u << bits) - 1) << shift;
  std::byte& b = data[i / per_byte];
  b = static_cast<std::byte>((static_cast<unsigned>(b) & ~mask) |
                             ((static_cast<unsigned>(value) << shift) & mask));
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_SMALL_FLOATS_H_
