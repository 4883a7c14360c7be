// StableHLO: rng_bit_generator by counters, as XLA computes it: the n-th block of bits is a
// function of a key and of the state plus n (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", 2011). THREE_FRY is Threefry-2x32 of 20 rounds, PHILOX is Philox-4x32 of 10. The state is
// uint64[2], the key and a counter; of PHILOX also uint64[3], with a counter of 128 bits.
#include <array>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

using Word = Expr;  // of uint32, or of uint64 where it is said
template <size_t kCount>
using RandomWords = std::array<Word, kCount>;

Expr WordOf(const Expr& like, uint64_t bits) {
  return IntegerOf(like.builder(), like.dtype(), static_cast<int64_t>(bits));
}
Expr BitsMoved(const Expr& x, int by, const char* direction) {
  return x.Op("bit_shift", {WordOf(x, static_cast<uint64_t>(by))}, {{"direction", direction}});
}
Expr RotatedLeft(const Expr& x, int by) {
  return BitsMoved(x, by, "LEFT").Op("bitwise_or", {BitsMoved(x, 32 - by, "RIGHT")});
}
Expr Xored(const Expr& x, const Expr& y) { return x.Op("bitwise_xor", {y}); }

Expr LowWord(const Expr& x) { return x.To(DType::kUInt32); }
Expr HighWord(const Expr& x) { return BitsMoved(x, 32, "RIGHT").To(DType::kUInt32); }
// uint64
Expr OfWords(const Expr& low, const Expr& high) {
  const Expr above = BitsMoved(high.To(DType::kUInt64), 32, "LEFT");
  return low.To(DType::kUInt64).Op("bitwise_or", {above});
}

// 0, 1, .. of these sizes, in their order: uint64.
Expr Numbers(Builder& b, int64_t count) { return Iota(Int(b, count)).To(DType::kUInt64); }

// --- Threefry
// -------------------------------------------------------------------------------------

RandomWords<2> Threefry(const RandomWords<2>& counter, const RandomWords<2>& key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr uint64_t kParity = 0x1BD11BDA;
  constexpr int kGroups = 5;  // of four rounds
  const RandomWords<3> keys = {key[0], key[1],
                               Xored(Xored(WordOf(key[0], kParity), key[0]), key[1])};
  Expr x = counter[0] + keys[0], y = counter[1] + keys[1];
  for (int group = 0; group < kGroups; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x = x + y;
      y = Xored(x, RotatedLeft(y, rotation));
    }
    const auto next = static_cast<size_t>(group) + 1;
    x = x + keys[next % 3];
    y = y + (keys[(next + 1) % 3] + WordOf(y, next));
  }
  return {x, y};
}

struct RandomBits {
  Expr bits;                // as many as were asked for, flat or in their shape
  std::vector<Expr> state;  // what follows the key: uint64 of rank 1
};

// Along which axis the two words of a block lie: the first of even size, else the first of the
// largest.
size_t HalvedAxis(const std::vector<int64_t>& sizes) {
  size_t largest = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] % 2 == 0) return i;
    if (sizes[i] > sizes[largest]) largest = i;
  }
  return largest;
}

RandomBits BitsByThreefry(const std::vector<Expr>& state, const std::vector<int64_t>& sizes,
                          bool wide) {
  Builder& b = state[0].builder();
  const RandomWords<2> key = {LowWord(state[0]), HighWord(state[0])};
  std::vector<int64_t> blocks = sizes.empty() ? std::vector<int64_t>{1} : sizes;
  const size_t axis = HalvedAxis(blocks);
  if (!wide && !sizes.empty()) blocks[axis] = (blocks[axis] + 1) / 2;
  int64_t count = 1;
  for (const int64_t size : blocks) count *= size;
  const Expr counter = Reshape(state[1] + Numbers(b, count), blocks);
  const RandomWords<2> out = Threefry({LowWord(counter), HighWord(counter)}, key);
  const std::vector<Expr> next = {state[1] + WordOf(state[1], static_cast<uint64_t>(count))};
  if (wide) return {OfWords(out[0], out[1]), next};
  if (sizes.empty()) return {out[0], next};
  const auto along = static_cast<int64_t>(axis);
  std::vector<int64_t> both = blocks;
  both[axis] *= 2;
  const Expr all = Reshape(Stack(b, {out[0], out[1]}, along + 1), both);
  return {both == sizes ? all : Slice(all, along, 0, sizes[axis]), next};
}

// --- Philox
// ---------------------------------------------------------------------------------------

RandomWords<4> Philox(RandomWords<4> x, RandomWords<2> key) {
  constexpr uint64_t kFactors[2] = {0xD2511F53, 0xCD9E8D57}, kSteps[2] = {0x9E3779B9, 0xBB67AE85};
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const Expr wide0 = x[0].To(DType::kUInt64), wide1 = x[2].To(DType::kUInt64);
    const Expr first = wide0 * WordOf(wide0, kFactors[0]);
    const Expr second = wide1 * WordOf(wide1, kFactors[1]);
    x = {Xored(Xored(HighWord(second), x[1]), key[0]), LowWord(second),
         Xored(Xored(HighWord(first), x[3]), key[1]), LowWord(first)};
    for (size_t i = 0; i < 2; ++i) key[i] = key[i] + WordOf(key[i], kSteps[i]);
  }
  return x;
}

RandomBits BitsByPhilox(const std::vector<Expr>& state, const std::vector<int64_t>& sizes,
                        bool wide) {
  Builder& b = state[0].builder();
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const int64_t blocks = wide ? (count + 1) / 2 : (count + 3) / 4;
  // Without a state for it, the key is the upper half of the counter.
  const Expr low = state[1], high = state.size() > 2 ? state[2] : state[0];
  const auto plus = [&](const Expr& added) {
    const Expr sum = low + added;
    return std::array<Expr, 2>{sum, Where(sum < low, high + WordOf(high, 1), high)};
  };
  const auto [counter, above] = plus(Numbers(b, blocks));
  const RandomWords<4> out =
      Philox({LowWord(counter), HighWord(counter), LowWord(above), HighWord(above)},
             {LowWord(state[0]), HighWord(state[0])});
  const std::vector<Value*> words =
      wide ? std::vector<Value*>{OfWords(out[0], out[1]), OfWords(out[2], out[3])}
           : std::vector<Value*>{out[0], out[1], out[2], out[3]};
  const Expr all = Flat(Stack(b, words, 1));
  const auto [next, next_above] = plus(WordOf(low, static_cast<uint64_t>(blocks)));
  std::vector<Expr> after = {next};
  if (state.size() > 2) after.push_back(next_above);
  return {Reshape(Slice(all, 0, 0, count), sizes), after};
}

// --- rng_bit_generator
// ----------------------------------------------------------------------------

absl::StatusOr<Values> FromRngBitGenerator(StablehloArgs& a) {
  const std::string algorithm = a.String("rng_algorithm", "DEFAULT");
  const bool threefry = algorithm == "THREE_FRY";
  if (!threefry && algorithm != "PHILOX") {
    return a.Fail(Unimplemented("random bits by ", algorithm,
                                ", which each compiler chooses for itself; THREE_FRY and PHILOX "
                                "are read (jax_default_prng_impl threefry2x32)"));
  }
  const Expr state = a.in(0);
  const Type& type = a.node().output(1) ? a.node().output(1)->type() : Type();
  const auto sizes = type.shape() ? type.shape()->Static() : std::nullopt;
  if (!sizes || !IsInteger(type.dtype()) || BitWidth(type.dtype()) < 8) {
    return a.Fail(Unimplemented("random bits as ", type.ToString(),
                                "; expected integers of 8 to 64 bits and of known sizes"));
  }
  if (!CheckedProduct(*sizes)) return a.Fail(Invalid("sizes that are too large"));
  const Dim count = DimAt(state, 0);
  const int64_t words = state.rank() == 1 && count.is_static() ? count.value() : 0;
  if (state.dtype() != DType::kUInt64 || words < 2 || words > (threefry ? 2 : 3)) {
    return a.Fail(Unimplemented("random bits of the state ", a.in(0)->type().ToString(),
                                "; expected uint64[2]", threefry ? "" : " or uint64[3]"));
  }
  std::vector<Expr> parts;
  for (int64_t i = 0; i < words; ++i) parts.push_back(SliceAt(state, 0, i));
  const bool wide = BitWidth(type.dtype()) == 64;
  const RandomBits made =
      threefry ? BitsByThreefry(parts, *sizes, wide) : BitsByPhilox(parts, *sizes, wide);
  Values next = {parts[0]};
  next.insert(next.end(), made.state.begin(), made.state.end());
  return Values{Concat(a.b(), next, 0), Reshape(made.bits, *sizes).To(type.dtype())};
}

}  // namespace

X2IR_STABLEHLO(bitwise_xor).From("rng_bit_generator", FromRngBitGenerator);

}  // namespace x2ir
