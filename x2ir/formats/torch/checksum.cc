// Implements ZipChecksum. Processors that multiply polynomials take 64 bytes a step: what has been
// read is a polynomial over bits, of which only the remainder by CRC-32's counts, so that a part of
// it may be replaced by one that lies 512 bits further on and has the same remainder. Others do
// what zlib does.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "x2ir/formats/io/zip_writer.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X2IR_FOLDS_CHECKSUMS 1
#endif

namespace x2ir {
namespace {

uint32_t ByZlib(std::string_view bytes, uint32_t crc) {
  constexpr size_t kLimit = size_t{1} << 30;
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kLimit);
    crc = static_cast<uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(n)));
    bytes.remove_prefix(n);
  }
  return crc;
}

#ifdef X2IR_FOLDS_CHECKSUMS

// The remainder of x^n, the highest power in the lowest bit as CRC-32 has it, as a factor.
constexpr long long Power(int n) {
  uint32_t remainder = 0x80000000;
  for (int i = 0; i < n; ++i) remainder = (remainder >> 1) ^ (remainder & 1 ? 0xedb88320 : 0);
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

// Of a multiple of 64 bytes.
X2IR_TARGET uint32_t ByFolding(std::string_view bytes, uint32_t crc) {
  const __m128i by512 = _mm_set_epi64x(Power(512 - 32), Power(512 + 32));
  const __m128i by128 = _mm_set_epi64x(Power(128 - 32), Power(128 + 32));
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
  return ByZlib(std::string_view(last, sizeof(last)), ~uint32_t{0});
}

#endif

}  // namespace

uint32_t ZipChecksum(std::string_view bytes, uint32_t crc) {
#ifdef X2IR_FOLDS_CHECKSUMS
  static const bool folds = __builtin_cpu_supports("pclmul");
  if (const size_t whole = bytes.size() / 64 * 64; folds && whole > 0) {
    crc = ByFolding(bytes.substr(0, whole), crc);
    bytes.remove_prefix(whole);
  }
#endif
  return ByZlib(bytes, crc);
}

}  // namespace x2ir
