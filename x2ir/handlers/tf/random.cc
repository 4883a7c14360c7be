// TensorFlow: random numbers, and their seeds. IR's numbers are others than TensorFlow's,
// of the same distribution. Ops whose numbers follow from operands (Stateless...) give the same
// ones for the same seed here too, which must be known for that.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// --- Seeds ----------------------------------------------------------------------------------

// Bits of several numbers in the 24 that a float has.
float Mixed(absl::Span<const uint64_t> numbers) {
  uint64_t bits = 0;
  for (const uint64_t number : numbers) {
    bits = (bits ^ number) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    bits ^= bits >> 29;
  }
  return static_cast<float>(bits >> 40);
}

// The second number of a seed that is one of the IR's: the first number has its bits.
constexpr uint64_t kSeedOfIr = 0x78326972;

// What numbers are drawn from: none, or that of the node and of each draw in it.
class Seed {
 public:
  Seed() = default;
  explicit Seed(std::vector<uint64_t> numbers) : numbers_(std::move(numbers)) {}
  // Attributes of a draw; one node's draws have seeds of their own.
  AttributeMap Attrs(DType t) {
    AttributeMap attrs = {{"dtype", Name(t)}};
    if (numbers_.empty()) return attrs;
    const bool is_ir = numbers_.size() == 2 && numbers_[1] == kSeedOfIr;
    attrs.Set("seed",
              is_ir ? std::bit_cast<float>(static_cast<uint32_t>(numbers_[0])) : Mixed(numbers_));
    numbers_.push_back(numbers_.size());
    return attrs;
  }

 private:
  std::vector<uint64_t> numbers_;
};

// Two attributes, of which 0 and 0 is none.
Seed OfAttributes(TfArgs& a) {
  const int64_t seed = a.Int("seed", 0), seed2 = a.Int("seed2", 0);
  if (seed == 0 && seed2 == 0) return {};
  return Seed({static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2)});
}

// Elements of integer operands from `first` on.
absl::StatusOr<Seed> OfOperands(TfArgs& a, size_t first, size_t count) {
  std::vector<uint64_t> numbers;
  for (size_t i = first; i < first + count; ++i) {
    const Tensor* constant = ConstantBehind(a.in(i));
    if (!constant) {
      return Unimplemented("operand ", i, " (of the seed) is computed; expected a constant");
    }
    if (constant->num_elements() > 2) return Invalid("a seed of more than 2 numbers");
    if (constant->dtype() == DType::kUInt64) {
      const auto keys = constant->AlignedCopyIfNeeded();
      for (const uint64_t key : keys.span<uint64_t>()) numbers.push_back(key);
      continue;
    }
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, constant->ToInts());
    for (const int64_t n : ints) numbers.push_back(static_cast<uint64_t>(n));
  }
  if (numbers.empty()) return Invalid("an empty seed");
  return Seed(std::move(numbers));
}

// The operands of a draw: stateful ops have the seed in attributes, stateless ones as
// operand 1, their second versions as a key, a counter and the generator's number.
enum class DrawKind { kStateful, kStateless, kStateless2 };

constexpr size_t After(DrawKind kind) {  // the first operand after them
  return kind == DrawKind::kStateful ? 1 : kind == DrawKind::kStateless ? 2 : 4;
}

absl::StatusOr<Seed> TakeSeed(TfArgs& a, DrawKind kind, size_t first = 1) {
  if (kind == DrawKind::kStateful) return OfAttributes(a);
  return OfOperands(a, first, kind == DrawKind::kStateless ? 1 : 2);
}

// --- Philox -----------------------------------------------------------------------------------

// Ten rounds (Salmon and others, 2011), which make keys of seeds.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> x, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xD2511F53} * x[0], q = uint64_t{0xCD9E8D57} * x[2];
    const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
    x = {high(q) ^ x[1] ^ key[0], static_cast<uint32_t>(q), high(p) ^ x[3] ^ key[1],
         static_cast<uint32_t>(p)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

constexpr int kPhilox = 1;  // the generator's number

// As TensorFlow has them; {key, counter, generator}.
absl::StatusOr<Values> KeyCounter(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> seed, a.KnownInts(0, "seed"));
  if (seed.size() != 2) return Invalid("expected a seed of 2 numbers");
  const auto low = [](int64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v) >> 32); };
  const std::array<uint32_t, 4> mixed =
      Philox({low(seed[0]), high(seed[0]), low(seed[1]), high(seed[1])}, {0x3EC8F720, 0x02461E29});
  const auto pair = [](uint32_t first, uint32_t second) {
    return uint64_t{first} | uint64_t{second} << 32;
  };
  const auto constant = [&](Tensor t) { return a.Op("identity", {a.b().Constant(std::move(t))}); };
  return Values{constant(Tensor::Of<uint64_t>({1}, {pair(mixed[0], mixed[1])})),
                constant(Tensor::Of<uint64_t>({2}, {0, pair(mixed[2], mixed[3])})),
                constant(Tensor::Scalar<int32_t>(kPhilox))};
}

absl::StatusOr<Values> KeyAndCounter(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Values values, KeyCounter(a));
  return Values{values[0], values[1]};
}

Value* Generator(TfArgs& a) {
  return a.Op("identity", {a.b().Constant(Tensor::Scalar<int32_t>(kPhilox))});
}

// --- Floats -----------------------------------------------------------------------------------

// Numbers of [0, 1).
Expr Uniform(TfArgs& a, Seed& seed, DType t) {
  return {a.b(), a.Op("random_uniform", {a.AsInt64(a.in(0))}, seed.Attrs(t))};
}

template <DrawKind kKind>
absl::StatusOr<Value*> RandomUniform(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  return Uniform(a, seed, a.Type("dtype", DType::kFloat32)).value();
}

template <DrawKind kKind>
absl::StatusOr<Value*> RandomNormal(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  return a.Op("random_normal", {a.AsInt64(a.in(0))}, seed.Attrs(a.Type("dtype", DType::kFloat32)));
}

// The part of the normal distribution within two standard deviations: where it reaches numbers that
// are drawn evenly.
template <DrawKind kKind>
absl::StatusOr<Value*> TruncatedNormal(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  const DType t = a.Type("dtype", DType::kFloat32);
  const double below = 0.5 * portable::erfc(std::sqrt(2.0));
  const Expr even = Uniform(a, seed, DType::kFloat64) * (1 - 2 * below) + below;
  return Ndtri(even).To(t).value();
}

// Evenly drawn numbers, float64: as many as the shape says, which in stateful ops is that of the
// draws for each parameter; and the parameter beside them.
struct Drawn {
  Expr even, parameter;
};

Drawn DrawnFor(TfArgs& a, Seed& seed, DrawKind kind) {
  Value* parameter = a.in(After(kind));
  Value* shape = a.AsInt64(a.in(0));
  if (kind == DrawKind::kStateful) shape = Concat(a, {shape, a.Op("shape", {parameter})}, 0);
  const Expr even(a.b(), a.Op("random_uniform", {shape}, seed.Attrs(DType::kFloat64)));
  const Expr wide(a.b(), a.Cast(parameter, DType::kFloat64));
  return {even, wide.Op("expand", {shape})};
}

// Where the distribution function reaches numbers that are drawn evenly.
template <DrawKind kKind>
absl::StatusOr<Value*> RandomGamma(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  const Drawn d = DrawnFor(a, seed, kKind);
  return IgammaInverse(d.parameter, d.even).To(a.dtype(After(kKind))).value();
}

// The probabilities of 0, 1, ... are summed until they exceed the number that was drawn.
template <DrawKind kKind>
absl::StatusOr<Value*> RandomPoisson(TfArgs& a) {
  constexpr int64_t kLimit = int64_t{1} << 30;
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  a.Ignore("Rtype");
  const DType own = a.in(After(kKind))->dtype();
  const DType t = a.Type("dtype", a.op() == "RandomPoisson" ? own : DType::kInt64);
  const auto [even, rate] = DrawnFor(a, seed, kKind);
  const Expr valid = (rate >= 0.0) & Not(IsInf(rate));
  const Expr mean = Where(valid & (rate > 0.0), rate, 1.0), log_mean = Log(mean);
  const Step step = [&, u = even](const Expr& round, const std::vector<Expr>& s) -> Stepped {
    const Expr n = round.To(DType::kFloat64);
    const Expr chance = Exp(n * log_mean - mean - Lgamma(n + 1.0));
    const Expr open = u > s[0];
    const Expr sum = Where(open, s[0] + chance, s[0]);
    // Rounding may keep the sum below the number.
    const Expr more = (n < mean) | (chance > 1e-30);
    return {{sum, Where(open, n, s[1])}, (u > sum) & more};
  };
  const Expr none = mean * 0.0;
  const Expr count = Iterate(Int(a, kLimit), {none, none}, step)[1];
  const Expr result = Where(rate == 0.0, 0.0, count);
  if (!IsFloating(t)) return result.To(t).value();
  return Where(valid, result, std::numeric_limits<double>::quiet_NaN()).To(t).value();
}

// --- Integers ---------------------------------------------------------------------------------

// From minval on, below maxval.
template <DrawKind kKind>
absl::StatusOr<Value*> RandomUniformInt(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  a.Ignore("Tout");
  a.Ignore("dtype");
  constexpr size_t kLow = After(kKind), kHigh = kLow + 1;
  const DType t = a.in(kLow)->dtype();
  // A float64 has enough digits for less.
  const auto low = a.Ints(kLow), high = a.Ints(kHigh);
  constexpr int64_t kLimit = int64_t{1} << 40;
  const bool narrow = BitWidth(t) <= 32 || (low && high && low->size() == 1 && high->size() == 1 &&
                                            (*low)[0] > -kLimit && (*high)[0] < kLimit);
  a.Require(IsInteger(t) && narrow, "64-bit random numbers of a wide range");
  const Expr from = Expr(a.b(), a.AsInt64(a.in(kLow)));
  const Expr span = Expr(a.b(), a.AsInt64(a.in(kHigh))) - from;
  const Expr steps = Uniform(a, seed, DType::kFloat64) * span.To(DType::kFloat64);
  return (from + steps.To(DType::kInt64)).To(t).value();
}

// Any bits at all.
template <DrawKind kKind>
absl::StatusOr<Value*> RandomFullInt(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  const DType t = a.Type("dtype", DType::kUInt64);
  constexpr double kHalf = 0x1p32;
  const auto half = [&] { return (Uniform(a, seed, DType::kFloat64) * kHalf).To(DType::kInt64); };
  switch (t) {
    case DType::kUInt32: return half().To(t).value();
    case DType::kInt32: return (half() - kHalf / 2).To(t).value();
    case DType::kInt64:
    case DType::kUInt64: {
      const Expr high = (half() - kHalf / 2) * kHalf;
      const Expr all = high + half();
      return t == DType::kInt64 ? all.value() : a.Op("bit_cast", {all.value()}, {{"to", Name(t)}});
    }
    default: return Invalid("random integers of ", Name(t));
  }
}

// --- Others -----------------------------------------------------------------------------------

template <DrawKind kKind>
absl::StatusOr<Value*> Multinomial(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t count, a.KnownInt(1, "num_samples"));
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind, 2));
  const DType t = a.Type("output_dtype", DType::kInt64);
  AttributeMap attrs = seed.Attrs(t);
  attrs.Set("sample_size", count);
  return a.Op("multinomial", {a.in(0)}, std::move(attrs));
}

// Slices in the order of as many random numbers.
template <DrawKind kKind>
absl::StatusOr<Value*> RandomShuffle(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Seed seed, TakeSeed(a, kKind));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  Value* x = a.in(0);
  if (rank == 0) return a.Op("identity", {x});
  Value* size = ShapeOf({a, x}, 0, 1);
  Value* drawn = a.Op("random_uniform", {size}, seed.Attrs(DType::kFloat32));
  const Values order =
      a.b().Ops("top_k", {drawn, size}, {{"axis", 0}, {"largest", 1}, {"sorted", 1}}, 2);
  return Gather({a, x}, order[1], 0);
}

constexpr DrawKind kStateful = DrawKind::kStateful, kStateless = DrawKind::kStateless,
                   kStateless2 = DrawKind::kStateless2;

// Seeds are 0 and 0 where the IR has none.
AttributeMap WrittenSeed(TfWriter& w) {
  const bool has = w.attrs().Has("seed");
  const uint64_t seed = has ? std::bit_cast<uint32_t>(w.Float("seed")) : 0;
  return {{"seed", static_cast<int64_t>(seed)},
          {"seed2", static_cast<int64_t>(has ? kSeedOfIr : 0)}};
}

auto ToTfDrawn(std::string_view op, Symbol offset, Symbol scale) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    const DType t = w.DTypeAttr("dtype");
    const double from = w.Float(offset), factor = w.Float(scale) - (scale == "high" ? from : 0);
    AttributeMap attrs = WrittenSeed(w);
    attrs.Set("dtype", Type::Tensor(t));
    Value* x = w.Tf(op, {w.Known(w.in(0))}, std::move(attrs), w.out_type());
    if (factor != 1) x = w.Op("mul", {x, w.Number(t, factor)});
    return from == 0 ? x : w.Op("add", {x, w.Number(t, from)});
  };
}

Value* ToTfMultinomial(TfWriter& w) {
  AttributeMap attrs = WrittenSeed(w);
  attrs.Set("output_dtype", Type::Tensor(w.DTypeAttr("dtype")));
  return w.Tf("Multinomial", {w.in(0), w.Int32(w.Int("sample_size"))}, std::move(attrs));
}

}  // namespace

X2IR_TF(random_uniform)
    .To("RandomUniform", ToTfDrawn("RandomUniform", "low", "high"))
    .From({{"RandomUniform", RandomUniform<kStateful>},
           {"StatelessRandomUniform", RandomUniform<kStateless>},
           {"StatelessRandomUniformV2", RandomUniform<kStateless2>},
           {"RandomUniformInt", RandomUniformInt<kStateful>},
           {"StatelessRandomUniformInt", RandomUniformInt<kStateless>},
           {"StatelessRandomUniformIntV2", RandomUniformInt<kStateless2>},
           {"StatelessRandomUniformFullInt", RandomFullInt<kStateless>},
           {"StatelessRandomUniformFullIntV2", RandomFullInt<kStateless2>},
           {"TruncatedNormal", TruncatedNormal<kStateful>},
           {"StatelessTruncatedNormal", TruncatedNormal<kStateless>},
           {"StatelessTruncatedNormalV2", TruncatedNormal<kStateless2>}});
X2IR_TF(random_normal)
    .To("RandomStandardNormal", ToTfDrawn("RandomStandardNormal", "mean", "scale"))
    .From({{"RandomStandardNormal", RandomNormal<kStateful>},
           {"StatelessRandomNormal", RandomNormal<kStateless>},
           {"StatelessRandomNormalV2", RandomNormal<kStateless2>}});
X2IR_TF(loop).From({{"RandomGamma", RandomGamma<kStateful>},
                    {"StatelessRandomGammaV2", RandomGamma<kStateless>},
                    {"StatelessRandomGammaV3", RandomGamma<kStateless2>},
                    {"RandomPoisson", RandomPoisson<kStateful>},
                    {"RandomPoissonV2", RandomPoisson<kStateful>},
                    {"StatelessRandomPoisson", RandomPoisson<kStateless>}});
X2IR_TF(multinomial)
    .To("Multinomial", ToTfMultinomial)
    .From({{"Multinomial", Multinomial<kStateful>},
           {"StatelessMultinomial", Multinomial<kStateless>}});
X2IR_TF(gather).From({{"RandomShuffle", RandomShuffle<kStateful>},
                      {"StatelessShuffle", RandomShuffle<kStateless2>}});
X2IR_TF(identity).From({{"StatelessRandomGetKeyCounter", KeyAndCounter},
                        {"StatelessRandomGetKeyCounterAlg", KeyCounter},
                        {"StatelessRandomGetAlg", Generator}});

}  // namespace x2ir
