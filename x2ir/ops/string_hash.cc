// string_hash: text as numbers that other programs count on, so each method is that of its
// publication, bit by bit: FarmHash's 64-bit fingerprint, and SipHash-2-4 with a key.
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/string_util.h"

namespace x2ir {
namespace {

template <typename T>
T Load(std::string_view text, size_t at) {
  return LoadNumber<T>(text.data() + at);
}

// --- FarmHash -------------------------------------------------------------------------------

namespace farm {

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

uint64_t Folded(uint64_t v) { return v ^ (v >> 47); }
uint64_t Mixed(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = Folded((u ^ v) * factor);
  return Folded((v ^ a) * factor) * factor;
}

uint64_t UpTo16(std::string_view s) {
  const size_t n = s.size();
  const uint64_t factor = k2 + 2 * n;
  if (n >= 8) {
    const uint64_t a = Load<uint64_t>(s, 0) + k2, b = Load<uint64_t>(s, n - 8);
    return Mixed(std::rotr(b, 37) * factor + a, (std::rotr(a, 25) + b) * factor, factor);
  }
  if (n >= 4) {
    const uint64_t a = Load<uint32_t>(s, 0), b = Load<uint32_t>(s, n - 4);
    return Mixed(n + (a << 3), b, factor);
  }
  if (n == 0) return k2;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(s[i])); };
  const uint32_t y = byte(0) + (byte(n / 2) << 8);
  const uint32_t z = static_cast<uint32_t>(n) + (byte(n - 1) << 2);
  return Folded(y * k2 ^ z * k0) * k2;
}

uint64_t UpTo32(std::string_view s) {
  const size_t n = s.size();
  const uint64_t factor = k2 + 2 * n;
  const uint64_t a = Load<uint64_t>(s, 0) * k1, b = Load<uint64_t>(s, 8);
  const uint64_t c = Load<uint64_t>(s, n - 8) * factor, d = Load<uint64_t>(s, n - 16) * k2;
  return Mixed(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c, factor);
}

uint64_t UpTo64(std::string_view s) {
  const size_t n = s.size();
  const uint64_t factor = k2 + 2 * n;
  const uint64_t a = Load<uint64_t>(s, 0) * k2, b = Load<uint64_t>(s, 8);
  const uint64_t c = Load<uint64_t>(s, n - 8) * factor, d = Load<uint64_t>(s, n - 16) * k2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = Mixed(y, a + std::rotr(b + k2, 18) + c, factor);
  const uint64_t e = Load<uint64_t>(s, 16) * factor, f = Load<uint64_t>(s, 24);
  const uint64_t g = (y + Load<uint64_t>(s, n - 32)) * factor;
  const uint64_t h = (z + Load<uint64_t>(s, n - 24)) * factor;
  return Mixed(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, factor);
}

using Pair = std::pair<uint64_t, uint64_t>;
// Of 32 bytes.
Pair Weak(std::string_view s, size_t at, uint64_t a, uint64_t b) {
  const auto word = [&](int i) { return Load<uint64_t>(s, at + 8 * i); };
  a += word(0);
  b = std::rotr(b + a + word(3), 21);
  const uint64_t before = a;
  a += word(1) + word(2);
  b += std::rotr(a, 44);
  return {a + word(3), b + before};
}

struct State {
  uint64_t x, y, z;
  Pair v, w;

  // `often`: by what v and w count in the last block.
  void Block(std::string_view s, size_t at, uint64_t factor, uint64_t often) {
    const auto word = [&](int i) { return Load<uint64_t>(s, at + 8 * i); };
    x = std::rotr(x + y + v.first + word(1), 37) * factor;
    y = std::rotr(y + v.second + word(6), 42) * factor;
    x ^= w.second * often;
    y += v.first * often + word(5);
    z = std::rotr(z + w.first, 33) * factor;
    v = Weak(s, at, v.second * factor, x + w.first);
    w = Weak(s, at + 32, z + w.second, y + word(2));
    std::swap(z, x);
  }
};

uint64_t Hash(std::string_view s) {
  const size_t n = s.size();
  if (n <= 16) return UpTo16(s);
  if (n <= 32) return UpTo32(s);
  if (n <= 64) return UpTo64(s);
  constexpr uint64_t kSeed = 81;
  State state{kSeed * k2 + Load<uint64_t>(s, 0), kSeed * k1 + 113, 0, {}, {}};
  state.z = Folded(state.y * k2 + 113) * k2;
  const size_t whole = (n - 1) / 64 * 64;
  for (size_t at = 0; at < whole; at += 64) state.Block(s, at, k1, 1);
  const uint64_t factor = k1 + ((state.z & 0xff) << 1);
  state.w.first += (n - 1) & 63;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.Block(s, n - 64, factor, 9);
  return Mixed(Mixed(state.v.first, state.w.first, factor) + Folded(state.y) * k0 + state.z,
               Mixed(state.v.second, state.w.second, factor) + state.x, factor);
}

}  // namespace farm

// --- SipHash-2-4 ----------------------------------------------------------------------------

uint64_t SipHash(std::string_view s, uint64_t key0, uint64_t key1) {
  uint64_t v0 = key0 ^ 0x736f6d6570736575, v1 = key1 ^ 0x646f72616e646f6d;
  uint64_t v2 = key0 ^ 0x6c7967656e657261, v3 = key1 ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32) + v3;
      v2 += v1;
      v3 = std::rotl(v3, 21) ^ v0;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  const auto take = [&](uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  const size_t whole = s.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) take(Load<uint64_t>(s, at));
  uint64_t last = uint64_t{s.size()} << 56;
  std::memcpy(&last, s.data() + whole, s.size() - whole);
  take(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

// --- The op ---------------------------------------------------------------------------------

struct Hash {
  bool sip;
  uint64_t buckets, key[2];
};

absl::StatusOr<Hash> HashOf(const AttributeMap& attrs) {
  const std::string& method = attrs.String("method");
  const std::vector<int64_t>& key = attrs.Ints("key");
  const int64_t buckets = attrs.Int("buckets");
  if (method != "farm" && method != "sip") return Invalid("method: unknown name '", method, "'");
  const bool sip = method == "sip";
  if (key.size() != (sip ? 2 : 0)) return Invalid("a key of ", key.size(), " numbers");
  if (buckets < 1) return Invalid("buckets: ", buckets);
  Hash hash{sip, static_cast<uint64_t>(buckets), {}};
  for (size_t i = 0; i < key.size(); ++i) hash.key[i] = static_cast<uint64_t>(key[i]);
  return hash;
}

absl::Status InferHash(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(HashOf(ctx.attrs()).status());
  return ShapeAsFirst(ctx, DType::kInt64);
}

absl::Status EvalHash(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const Hash hash, HashOf(ctx.attrs()));
  std::vector<int64_t> numbers;
  for (const std::string& text : ctx.input(0).strings()) {
    const uint64_t number = hash.sip ? SipHash(text, hash.key[0], hash.key[1]) : farm::Hash(text);
    numbers.push_back(static_cast<int64_t>(number % hash.buckets));
  }
  return ctx.Return(Tensor::Of<int64_t>(ctx.dims(0), numbers));
}

X2IR_OP(string_hash)
    .Signature("x -> y")
    .Attrs("buckets: int")
    .Attr("key", Attribute::Ints{})
    .Attrs("method = 'farm'")
    .Functions(InferHash, EvalHash)
    .Opaque()
    .Doc(
        "A number in [0, buckets) for each string: its hash by FarmHash (farm), or by SipHash-2-4 "
        "with a key of two numbers (sip), modulo buckets.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
