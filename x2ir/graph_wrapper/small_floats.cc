// Codecs of the small float formats: one decoder and one encoder, driven by a table of
// formats.
#include "x2ir/graph_wrapper/small_floats.h"

#include <bit>
#include <cmath>
#include <limits>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {
namespace {

// The meaning of the all-ones exponent and of the sign bit alone.
enum class Specials : uint8_t {
  kIeee,   // exponent all ones: infinity and NaNs
  kNoInf,  // only all ones is NaN (E4M3FN)
  kFnuz,   // only the sign bit alone is NaN; there is no minus zero
  kNone,   // every pattern is a number (E2M1)
};

struct Format {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
  bool float8;
};

constexpr Format kFormats[] = {
    {DType::kFloat16, 5, 10, 15, Specials::kIeee, false},
    {DType::kBFloat16, 8, 7, 127, Specials::kIeee, false},
    {DType::kFloat8E4M3FN, 4, 3, 7, Specials::kNoInf, true},
    {DType::kFloat8E4M3FNUZ, 4, 3, 8, Specials::kFnuz, true},
    {DType::kFloat8E5M2, 5, 2, 15, Specials::kIeee, true},
    {DType::kFloat8E5M2FNUZ, 5, 2, 16, Specials::kFnuz, true},
    {DType::kFloat4E2M1, 2, 1, 1, Specials::kNone, false},
};

const Format* FindFormat(DType t) {
  for (const Format& f : kFormats) {
    if (f.dtype == t) return &f;
  }
  return nullptr;
}

uint32_t SignMask(const Format& f) { return 1u << (f.exponent_bits + f.mantissa_bits); }

// The pattern of the largest finite number.
uint32_t MaxFinite(const Format& f) {
  const uint32_t all = SignMask(f) - 1;
  switch (f.specials) {
    case Specials::kIeee: return ((1u << f.exponent_bits) - 1) * (1u << f.mantissa_bits) - 1;
    case Specials::kNoInf: return all - 1;
    default: return all;
  }
}

// A NaN of that sign, where the format has signed ones.
uint32_t NaN(const Format& f, bool negative) {
  const uint32_t sign = SignMask(f);
  switch (f.specials) {
    case Specials::kIeee: {
      // Quiet: float8e5m2's canonical one is all ones, as its specification has it.
      const uint32_t inf = MaxFinite(f) + 1;
      const uint32_t nan = f.float8 ? sign - 1 : inf | (1u << (f.mantissa_bits - 1));
      return nan | (negative ? sign : 0);
    }
    case Specials::kNoInf: return (sign - 1) | (negative ? sign : 0);
    case Specials::kFnuz: return sign;
    case Specials::kNone: break;
  }
  return sign - 1;
}

float DecodeE8M0(uint32_t bits) {
  bits &= 0xff;
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

uint32_t EncodeE8M0(double value, bool saturate, E8M0Rounding rounding) {
  value = std::fabs(value);
  if (!std::isfinite(value)) return 0xff;
  if (value <= std::ldexp(1.0, -127)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent
  int code = exponent - 1 + 127;                         // of 2^(exponent-1) <= value
  switch (rounding) {
    case E8M0Rounding::kUp: code += fraction > 0.5; break;
    case E8M0Rounding::kDown: break;
    case E8M0Rounding::kNearest: code += fraction >= 0.75; break;
  }
  if (code > 0xfe) return saturate ? 0xfe : 0xff;
  return static_cast<uint32_t>(code);
}

template <typename T>
double RoundToOdd(T v) {
  const auto d = static_cast<double>(v);
  // Only values of more than 53 bits are inexact; those of 64 bits may have become 2^63 or
  // 2^64, which T cannot hold again.
  constexpr double kLimit = std::is_signed_v<T> ? 9223372036854775808.0 : 18446744073709551616.0;
  if (d < kLimit && static_cast<T>(d) == v) return d;
  const bool above = d >= kLimit || static_cast<T>(d) > v;
  // Of the two doubles around v, the one whose last bit is set means "between".
  const double other = std::nextafter(d, above ? -std::numeric_limits<double>::infinity()
                                               : std::numeric_limits<double>::infinity());
  return std::bit_cast<uint64_t>(d) & 1 ? d : other;
}

}  // namespace

bool IsSmallFloat(DType t) { return t == DType::kFloat8E8M0 || FindFormat(t) != nullptr; }

float DecodeSmallFloat(DType t, uint32_t bits) {
  if (t == DType::kFloat8E8M0) return DecodeE8M0(bits);
  const Format* f = FindFormat(t);
  X2IR_CHECK(f != nullptr, "not a small float");
  const uint32_t sign = SignMask(*f);
  const bool negative = bits & sign;
  const uint32_t rest = bits & (sign - 1);
  const uint32_t exponent = rest >> f->mantissa_bits;
  const uint32_t mantissa = rest & ((1u << f->mantissa_bits) - 1);
  const float s = negative ? -1.0f : 1.0f;
  const float nan = std::copysign(std::numeric_limits<float>::quiet_NaN(), s);
  if (f->specials == Specials::kFnuz && negative && rest == 0) return nan;
  if (rest > MaxFinite(*f)) {
    const bool infinite = f->specials == Specials::kIeee && mantissa == 0;
    return infinite ? s * std::numeric_limits<float>::infinity() : nan;
  }
  const uint32_t hidden = exponent == 0 ? 0 : 1u << f->mantissa_bits;
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - f->bias - f->mantissa_bits;
  return s * std::ldexp(static_cast<float>(hidden | mantissa), scale);
}

uint32_t EncodeSmallFloat(DType t, double value, bool saturate, E8M0Rounding rounding) {
  if (t == DType::kFloat8E8M0) return EncodeE8M0(value, saturate, rounding);
  const Format* f = FindFormat(t);
  X2IR_CHECK(f != nullptr, "not a small float");
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? SignMask(*f) : 0;
  if (std::isnan(value)) {
    // float4e2m1 has none, and minus zero in its place.
    return f->specials == Specials::kNone ? SignMask(*f) : NaN(*f, negative);
  }

  const double magnitude = std::fabs(value);
  uint32_t rest = 0;
  bool overflow = std::isinf(magnitude);
  if (!overflow && magnitude != 0) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    // The value is a whole number of units after rounding; a unit is the last mantissa bit
    // of its binade, or of the subnormals. A carry into the next binade adds up by itself.
    const int lowest = 1 - f->bias;
    const int binade = exponent - 1 < lowest ? lowest : exponent - 1;
    const int max_exponent = static_cast<int>(MaxFinite(*f) >> f->mantissa_bits);
    if (binade + f->bias > max_exponent) {
      overflow = true;
    } else {
      const double units = std::nearbyint(std::ldexp(magnitude, f->mantissa_bits - binade));
      const auto field = static_cast<uint32_t>(binade - lowest);
      rest = (field << f->mantissa_bits) + static_cast<uint32_t>(units);
      overflow = rest > MaxFinite(*f);
    }
  }

  if (overflow) {
    if (f->specials == Specials::kNone) return sign | MaxFinite(*f);
    if (f->float8 && saturate) return sign | MaxFinite(*f);
    return f->specials == Specials::kIeee ? sign | (MaxFinite(*f) + 1) : NaN(*f, negative);
  }
  if (f->specials == Specials::kFnuz && rest == 0) return 0;  // no minus zero
  return sign | rest;
}

double ToDoubleForRounding(int64_t v) { return RoundToOdd(v); }
double ToDoubleForRounding(uint64_t v) { return RoundToOdd(v); }

// --- The two that are worth being quick (declared in tensor.h) ------------------------------

float HalfToFloat(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16;
  const uint32_t rest = h.bits & 0x7fff;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest >= 0x0400) return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(rest) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

Half FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t rest = bits & 0x7fffffff;
  const auto make = [sign](uint32_t v) { return Half{static_cast<uint16_t>(sign | v)}; };
  if (rest > 0x7f800000) {
    // Quiet, and the upper part of the payload survives.
    return make(0x7e00 | (rest >> 13 & 0x3ff));
  }
  if (rest >= 0x477ff000) return make(0x7c00);  // 65520 and more round to infinity
  if (rest < 0x38800000) {                      // subnormal: count units of 2^-24
    const float units = std::nearbyint(std::bit_cast<float>(rest) * 0x1p24f);
    return make(static_cast<uint32_t>(units));
  }
  const uint32_t rounded = rest + 0xfff + (rest >> 13 & 1);
  return make((rounded >> 13) - (112u << 10));
}

float BFloat16ToFloat(BFloat16 b) {
  return std::bit_cast<float>(static_cast<uint32_t>(b.bits) << 16);
}

BFloat16 FloatToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return BFloat16{static_cast<uint16_t>(bits >> 16 | 0x40)};
  }
  return BFloat16{static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

}  // namespace x2ir
