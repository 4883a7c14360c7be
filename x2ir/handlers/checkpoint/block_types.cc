#include "x2ir/handlers/checkpoint/block_types.h"

#include <bit>
#include <cstring>

#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::checkpoint {
namespace {

using Bytes = const uint8_t*;

float HalfAt(Bytes at) { return HalfToFloat({static_cast<uint16_t>(at[0] | at[1] << 8)}); }

// --- Codes ---------------------------------------------------------------------------------------

// Eight codes are taken at once, as the bytes of one number.
constexpr uint64_t Each(uint64_t byte) { return byte * 0x0101010101010101; }
uint64_t Eight(const void* at) {
  uint64_t bytes;
  std::memcpy(&bytes, at, 8);
  return bytes;
}
// `bits` are bits of each byte, from the lowest one on; bytes are less than 128 afterwards.
uint64_t Bits(uint64_t bytes, int shift, uint64_t bits) { return bytes >> shift & Each(bits); }
// Bytes less than 128, less `minus`.
void Put(int8_t* codes, uint64_t bytes, uint64_t minus = 0) {
  bytes = ((bytes | Each(0x80)) - Each(minus)) ^ Each(0x80);
  std::memcpy(codes, &bytes, 8);
}

// 32 codes: the low halves of 16 bytes, then the high ones.
template <int kOffset, int kMinus>
void Nibbles32(Bytes block, int8_t* codes) {
  const Bytes q = block + kOffset;
  for (int i = 0; i < 16; i += 8) {
    Put(codes + i, Bits(Eight(q + i), 0, 15), kMinus);
    Put(codes + i + 16, Bits(Eight(q + i), 4, 15), kMinus);
  }
}

// The same with a table of 16 codes.
constexpr int8_t kCurve[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};
// Twice what float4e2m1 is.
constexpr int8_t kFloat4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
void Table32(Bytes q, const int8_t* table, int8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    codes[i] = table[q[i] & 15];
    codes[i + 16] = table[q[i] >> 4];
  }
}
void CurveNl(Bytes block, int8_t* codes) { Table32(block + 2, kCurve, codes); }
void CurveXs(Bytes block, int8_t* codes) {
  for (int i = 0; i < 8; ++i) Table32(block + 8 + 16 * i, kCurve, codes + 32 * i);
}
void Float4(Bytes block, int8_t* codes) { Table32(block + 1, kFloat4, codes); }

// Five bits: the fifth ones are in four bytes before the halves.
template <int kOffset, int kMinus>
void Fives32(Bytes block, int8_t* codes) {
  Nibbles32<kOffset + 4, 0>(block, codes);
  const Bytes h = block + kOffset;
  for (int i = 0; i < 32; ++i) {
    codes[i] = static_cast<int8_t>((codes[i] | (h[i / 8] >> (i % 8) & 1) << 4) - kMinus);
  }
}

template <int kOffset, int kCount>
void Bytes8(Bytes block, int8_t* codes) {
  std::memcpy(codes, block + kOffset, kCount);
}

// 256 codes of two bits: of 32 bytes the lowest two, then the next two, and so on.
template <int kMinus>
void Twos(Bytes q, int8_t* codes) {
  for (int half = 0; half < 2; ++half) {
    for (int part = 0; part < 4; ++part) {
      for (int i = 0; i < 32; i += 8) {
        Put(codes + 128 * half + 32 * part + i, Bits(Eight(q + 32 * half + i), 2 * part, 3),
            kMinus);
      }
    }
  }
}
void Q2K(Bytes block, int8_t* codes) { Twos<0>(block + 16, codes); }
void Ternary2(Bytes block, int8_t* codes) { Twos<1>(block, codes); }

// Three bits; where the third is not set, four less.
void Q3K(Bytes block, int8_t* codes) {
  Twos<0>(block + 32, codes);
  for (int part = 0; part < 8; ++part) {
    for (int i = 0; i < 32; i += 8) {
      int8_t* to = codes + 32 * part + i;
      Put(to, Eight(to) | Bits(Eight(block + i), part, 1) << 2, 4);
    }
  }
}

// 256 codes of four bits: of 32 bytes the low halves, then the high ones.
void Nibbles256(Bytes q, int8_t* codes) {
  for (int part = 0; part < 4; ++part) {
    for (int i = 0; i < 32; i += 8) {
      const uint64_t both = Eight(q + 32 * part + i);
      Put(codes + 64 * part + i, Bits(both, 0, 15));
      Put(codes + 64 * part + 32 + i, Bits(both, 4, 15));
    }
  }
}
void Q4K(Bytes block, int8_t* codes) { Nibbles256(block + 16, codes); }
void Q5K(Bytes block, int8_t* codes) {
  Nibbles256(block + 48, codes);
  const Bytes h = block + 16;
  for (int part = 0; part < 8; ++part) {
    for (int i = 0; i < 32; i += 8) {
      int8_t* to = codes + 32 * part + i;
      Put(to, Eight(to) | Bits(Eight(h + i), part, 1) << 4);
    }
  }
}

// Six bits: of 64 bytes the low halves and then the high ones, and two bits of 32 bytes.
void Q6K(Bytes block, int8_t* codes) {
  for (int half = 0; half < 2; ++half) {
    const Bytes low = block + 64 * half, high = block + 128 + 32 * half;
    int8_t* to = codes + 128 * half;
    for (int part = 0; part < 4; ++part) {
      for (int i = 0; i < 32; i += 8) {
        const uint64_t four = Bits(Eight(low + part % 2 * 32 + i), part / 2 * 4, 15);
        Put(to + 32 * part + i, four | Bits(Eight(high + i), 2 * part, 3) << 4, 32);
      }
    }
  }
}

// Five digits of base three in a byte: their value by 256 / 243, rounded up. Byte times 3^n has
// digit n on top.
void Digits(Bytes q, int bytes, int digits, int8_t* codes) {
  static constexpr uint8_t kPowers[] = {1, 3, 9, 27, 81};
  for (int n = 0; n < digits; ++n) {
    for (int i = 0; i < bytes; ++i) {
      const auto rest = static_cast<uint8_t>(q[i] * kPowers[n]);
      *codes++ = static_cast<int8_t>((rest * 3 >> 8) - 1);
    }
  }
}
void Ternary1(Bytes block, int8_t* codes) {
  Digits(block, 32, 5, codes);
  Digits(block + 32, 16, 5, codes + 160);
  Digits(block + 48, 4, 4, codes + 240);
}

// --- Scales --------------------------------------------------------------------------------------

template <int kOffset>
void HalfScale(Bytes block, float* scales, float*) {
  scales[0] = HalfAt(block + kOffset);
}
// What is added is a minimum with the other sign.
void HalfScaleAndShift(Bytes block, float* scales, float* minima) {
  scales[0] = HalfAt(block);
  minima[0] = -HalfAt(block + 2);
}
void FloatScale(Bytes block, float* scales, float*) { std::memcpy(scales, block, 4); }
// Half of a power of two, since codes are doubled: 2^(e - 128).
void PowerScale(Bytes block, float* scales, float*) {
  const uint32_t e = block[0];
  scales[0] = std::bit_cast<float>(e < 2 ? uint32_t{0x00200000} << e : (e - 1) << 23);
}

void Q2KScales(Bytes block, float* scales, float* minima) {
  const float d = HalfAt(block + 80), min = HalfAt(block + 82);
  for (int i = 0; i < 16; ++i) {
    scales[i] = d * static_cast<float>(block[i] & 15);
    minima[i] = min * static_cast<float>(block[i] >> 4);
  }
}
void Q3KScales(Bytes block, float* scales, float*) {
  const Bytes s = block + 96;
  const float d = HalfAt(block + 108);
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4;
    const int high = s[8 + i % 4] >> (2 * (i / 4)) & 3;
    scales[i] = d * static_cast<float>((low | high << 4) - 32);
  }
}
// Six bits each for scales and minima, in twelve bytes.
void Q4KScales(Bytes block, float* scales, float* minima) {
  const float d = HalfAt(block), min = HalfAt(block + 2);
  const Bytes s = block + 4;
  for (int i = 0; i < 8; ++i) {
    const int scale = i < 4 ? s[i] & 63 : (s[i + 4] & 15) | s[i - 4] >> 6 << 4;
    const int minimum = i < 4 ? s[i + 4] & 63 : s[i + 4] >> 4 | s[i] >> 6 << 4;
    scales[i] = d * static_cast<float>(scale);
    minima[i] = min * static_cast<float>(minimum);
  }
}
void Q6KScales(Bytes block, float* scales, float*) {
  const float d = HalfAt(block + 208);
  for (int i = 0; i < 16; ++i) {
    scales[i] = d * static_cast<float>(static_cast<int8_t>(block[192 + i]));
  }
}
void CurveXsScales(Bytes block, float* scales, float*) {
  const float d = HalfAt(block);
  const int high = block[2] | block[3] << 8;
  for (int i = 0; i < 8; ++i) {
    const int scale = (block[4 + i / 2] >> (4 * (i % 2)) & 15) | (high >> (2 * i) & 3) << 4;
    scales[i] = d * static_cast<float>(scale - 32);
  }
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr BlockType kTypes[] = {
    {ggml::kQ4_0, 32, DType::kInt4, false, Nibbles32<2, 8>, HalfScale<0>},
    {ggml::kQ4_1, 32, DType::kUInt4, true, Nibbles32<4, 0>, HalfScaleAndShift},
    {ggml::kQ5_0, 32, DType::kInt8, false, Fives32<2, 16>, HalfScale<0>},
    {ggml::kQ5_1, 32, DType::kInt8, true, Fives32<4, 0>, HalfScaleAndShift},
    {ggml::kQ8_0, 32, DType::kInt8, false, Bytes8<2, 32>, HalfScale<0>},
    {ggml::kQ8_1, 32, DType::kInt8, false, Bytes8<4, 32>, HalfScale<0>},
    {ggml::kQ2_K, 16, DType::kUInt4, true, Q2K, Q2KScales},
    {ggml::kQ3_K, 16, DType::kInt4, false, Q3K, Q3KScales},
    {ggml::kQ4_K, 32, DType::kUInt4, true, Q4K, Q4KScales},
    {ggml::kQ5_K, 32, DType::kInt8, true, Q5K, Q4KScales},
    {ggml::kQ6_K, 16, DType::kInt8, false, Q6K, Q6KScales},
    {ggml::kQ8_K, 256, DType::kInt8, false, Bytes8<4, 256>, FloatScale},
    {ggml::kIQ4_NL, 32, DType::kInt8, false, CurveNl, HalfScale<0>},
    {ggml::kIQ4_XS, 32, DType::kInt8, false, CurveXs, CurveXsScales},
    {ggml::kTQ1_0, 256, DType::kInt4, false, Ternary1, HalfScale<52>},
    {ggml::kTQ2_0, 256, DType::kInt4, false, Ternary2, HalfScale<64>},
    {ggml::kMXFP4, 32, DType::kInt8, false, Float4, PowerScale},
};

}  // namespace

const BlockType* FindBlockType(int ggml_type) {
  for (const BlockType& type : kTypes) {
    if (ggml_type == static_cast<int>(type.number)) return &type;
  }
  return nullptr;
}

}  // namespace x2ir::checkpoint
