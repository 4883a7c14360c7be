// The facts about element types, as one table.
#include "x2ir/graph_wrapper/dtype.h"

#include <limits>

namespace x2ir {
namespace {

enum Class : uint8_t { kNone, kFloat, kSigned, kUnsigned, kComplex, kOther };

struct Row {
  std::string_view name;
  int bits;
  Class cls;
};

// By number.
constexpr Row kRows[kNumDTypes] = {
    {"undefined", 0, kNone},       {"float32", 32, kFloat},   {"uint8", 8, kUnsigned},
    {"int8", 8, kSigned},          {"uint16", 16, kUnsigned}, {"int16", 16, kSigned},
    {"int32", 32, kSigned},        {"int64", 64, kSigned},    {"string", 0, kOther},
    {"bool", 8, kOther},           {"float16", 16, kFloat},   {"float64", 64, kFloat},
    {"uint32", 32, kUnsigned},     {"uint64", 64, kUnsigned}, {"complex64", 64, kComplex},
    {"complex128", 128, kComplex}, {"bfloat16", 16, kFloat},  {"float8e4m3fn", 8, kFloat},
    {"float8e4m3fnuz", 8, kFloat}, {"float8e5m2", 8, kFloat}, {"float8e5m2fnuz", 8, kFloat},
    {"uint4", 4, kUnsigned},       {"int4", 4, kSigned},      {"float4e2m1", 4, kFloat},
    {"float8e8m0", 8, kFloat},     {"uint2", 2, kUnsigned},   {"int2", 2, kSigned},
};

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr Alias kAliases[] = {
    {"float", DType::kFloat32}, {"double", DType::kFloat64}, {"half", DType::kFloat16},
    {"f16", DType::kFloat16},   {"f32", DType::kFloat32},    {"f64", DType::kFloat64},
    {"bf16", DType::kBFloat16}, {"i2", DType::kInt2},        {"i4", DType::kInt4},
    {"i8", DType::kInt8},       {"i16", DType::kInt16},      {"i32", DType::kInt32},
    {"i64", DType::kInt64},     {"u2", DType::kUInt2},       {"u4", DType::kUInt4},
    {"u8", DType::kUInt8},      {"u16", DType::kUInt16},     {"u32", DType::kUInt32},
    {"u64", DType::kUInt64},    {"int", DType::kInt32},      {"long", DType::kInt64},
    {"boolean", DType::kBool},  {"c64", DType::kComplex64},  {"c128", DType::kComplex128},
    {"str", DType::kString},
};

constexpr Row kUnknownRow = {"undefined", 0, kNone};

// Also safe for a number that is not a DType (a cast from untrusted data).
const Row& Of(DType t) {
  const auto i = static_cast<size_t>(t);
  return i < kNumDTypes ? kRows[i] : kUnknownRow;
}

}  // namespace

std::string_view Name(DType t) { return Of(t).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 1; i < kNumDTypes; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.dtype;
  }
  return std::nullopt;
}

bool IsKnownDType(int64_t number) { return number > 0 && number < kNumDTypes; }

int BitWidth(DType t) { return Of(t).bits; }

std::optional<int64_t> ByteSize(DType t, int64_t n) {
  const int64_t bits = BitWidth(t);
  if (bits == 0 || n < 0) return std::nullopt;
  if (bits < 8) {
    const int64_t per_byte = 8 / bits;
    return n / per_byte + (n % per_byte != 0);
  }
  const int64_t bytes = bits / 8;
  if (n > std::numeric_limits<int64_t>::max() / bytes) return std::nullopt;
  return n * bytes;
}

bool IsFloating(DType t) { return Of(t).cls == kFloat; }
bool IsSignedInt(DType t) { return Of(t).cls == kSigned; }
bool IsUnsignedInt(DType t) { return Of(t).cls == kUnsigned; }
bool IsInteger(DType t) { return IsSignedInt(t) || IsUnsignedInt(t); }
bool IsComplex(DType t) { return Of(t).cls == kComplex; }
bool IsNumeric(DType t) { return IsFloating(t) || IsInteger(t) || IsComplex(t); }

}  // namespace x2ir
