// Processors that multiply polynomials take 64 bytes a step: what has been read is a polynomial
// over bits, of which only the remainder counts, so that a part of it may be replaced by one that
// lies 512 bits further on and has the same remainder. Others take what zlib does, and tables.
#include "x2ir/formats/io/checksums.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X2IR_FOLDS_CHECKSUMS 1
#endif

namespace x2ir {
namespace {

// The polynomials, the highest power in the lowest bit.
constexpr uint32_t kCrc32Polynomial = 0xedb88320, kCrc32cPolynomial = 0x82f63b78;

uint64_t LoadWord(const char* at) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= uint64_t{static_cast<uint8_t>(at[i])} << (8 * i);
  return word;
}

#ifdef X2IR_FOLDS_CHECKSUMS

// The remainder of x^n, as a factor.
template <uint32_t kPolynomial>
constexpr long long Power(int n) {
  uint32_t remainder = 0x80000000;
  for (int i = 0; i < n; ++i) remainder = (remainder >> 1) ^ (remainder & 1 ? kPolynomial : 0);
  return static_cast<long long>(uint64_t{remainder} << 1);
}

#define X2IR_TARGET __attribute__((target("pclmul,sse2")))

X2IR_TARGET __m128i Load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// 16 bytes equivalent to `part`, shifted by as many bits as `powers` gives.
X2IR_TARGET __m128i Moved(__m128i part, __m128i powers) {
  return _mm_xor_si128(_mm_clmulepi64_si128(part, powers, 0x00),
                       _mm_clmulepi64_si128(part, powers, 0x11));
}

// Of a multiple of 64 bytes. `plain`: the checksum of a few bytes.
template <uint32_t kPolynomial>
X2IR_TARGET uint32_t ByFolding(std::string_view bytes, uint32_t crc,
                               uint32_t (*plain)(std::string_view, uint32_t)) {
  constexpr auto kPower = Power<kPolynomial>;
  const __m128i by512 = _mm_set_epi64x(kPower(512 - 32), kPower(512 + 32));
  const __m128i by128 = _mm_set_epi64x(kPower(128 - 32), kPower(128 + 32));
  const char* at = bytes.data();
  __m128i a = _mm_xor_si128(Load(at), _mm_cvtsi32_si128(static_cast<int>(~crc)));
  __m128i b = Load(at + 16), c = Load(at + 32), d = Load(at + 48);
  for (size_t left = bytes.size() / 64; --left > 0;) {
    at += 64;
    a = _mm_xor_si128(Moved(a, by512), Load(at));
    b = _mm_xor_si128(Moved(b, by512), Load(at + 16));
    c = _mm_xor_si128(Moved(c, by512), Load(at + 32));
    d = _mm_xor_si128(Moved(d, by512), Load(at + 48));
  }
  for (const __m128i& next : {b, c, d}) a = _mm_xor_si128(Moved(a, by128), next);
  char last[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last), a);
  return plain(std::string_view(last, sizeof(last)), ~uint32_t{0});
}

template <uint32_t kPolynomial>
uint32_t Folded(std::string_view bytes, uint32_t crc,
                uint32_t (*plain)(std::string_view, uint32_t)) {
  static const bool folds = __builtin_cpu_supports("pclmul");
  if (const size_t whole = bytes.size() / 64 * 64; folds && whole > 0) {
    crc = ByFolding<kPolynomial>(bytes.substr(0, whole), crc, plain);
    bytes.remove_prefix(whole);
  }
  return plain(bytes, crc);
}

#else

template <uint32_t kPolynomial>
uint32_t Folded(std::string_view bytes, uint32_t crc,
                uint32_t (*plain)(std::string_view, uint32_t)) {
  return plain(bytes, crc);
}

#endif

}  // namespace

uint32_t Crc32Plain(std::string_view bytes, uint32_t crc) {
  constexpr size_t kLimit = size_t{1} << 30;
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kLimit);
    crc = static_cast<uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(n)));
    bytes.remove_prefix(n);
  }
  return crc;
}

uint32_t Crc32cPlain(std::string_view bytes, uint32_t crc) {
  // kTables[k][b]: what byte b does to the sum when k bytes follow it. Eight bytes at a time.
  static constexpr auto kTables = [] {
    std::array<std::array<uint32_t, 256>, 8> tables{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t sum = i;
      for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? kCrc32cPolynomial : 0);
      tables[0][i] = sum;
    }
    for (size_t k = 1; k < tables.size(); ++k) {
      for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t before = tables[k - 1][i];
        tables[k][i] = tables[0][before & 0xff] ^ (before >> 8);
      }
    }
    return tables;
  }();
  crc = ~crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const uint64_t word = LoadWord(bytes.data()) ^ crc;
    crc = 0;
    for (int k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (const char c : bytes) crc = kTables[0][(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

uint32_t Crc32(std::string_view bytes, uint32_t crc) {
  return Folded<kCrc32Polynomial>(bytes, crc, Crc32Plain);
}
uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  return Folded<kCrc32cPolynomial>(bytes, crc, Crc32cPlain);
}

}  // namespace x2ir
