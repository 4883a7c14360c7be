// DType: the element type of a tensor. The numbers are those of ONNX's
// TensorProto.DataType (IR version 14), so a cast is the conversion.
#ifndef X2IR_GRAPH_WRAPPER_DTYPE_H_
#define X2IR_GRAPH_WRAPPER_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

enum class DType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};
inline constexpr int kNumDTypes = 27;

// "float32", "int4", "float8e4m3fn", ...; "undefined" for kUndefined.
std::string_view Name(DType t);
// The inverse of Name; also takes the usual aliases: ONNX's ("float", "double"),
// short ones ("f32", "f16", "bf16", "i64", "u8", "half"). nullopt when unknown.
std::optional<DType> ParseDType(std::string_view name);
// Whether `number` (of TensorProto.DataType) is an element type that we know.
bool IsKnownDType(int64_t number);

// Bits of one element in memory; 0 for kString and kUndefined. Types under 8 bits are
// packed low bits first, as in ONNX's raw_data.
int BitWidth(DType t);
// Bytes that n elements take: ceil(n * BitWidth / 8). nullopt on overflow, or for strings.
std::optional<int64_t> ByteSize(DType t, int64_t n);

bool IsFloating(DType t);     // float4 .. float64 and bfloat16; not complex
bool IsSignedInt(DType t);    // int2 .. int64
bool IsUnsignedInt(DType t);  // uint2 .. uint64; not bool
bool IsInteger(DType t);      // either of the two above
bool IsComplex(DType t);
bool IsNumeric(DType t);  // floating, integer or complex

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_DTYPE_H_
