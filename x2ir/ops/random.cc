// Random numbers: random_uniform, random_normal, those like another tensor, bernoulli,
// multinomial.
#include "x2ir/ops/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {

uint64_t Random::Next() {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double Random::Uniform(int bits) {
  return std::ldexp(static_cast<double>(Next() >> (64 - bits)), -bits);
}

double Random::Normal() {
  if (std::exchange(has_second_, false)) return second_;
  const double radius = std::sqrt(-2 * portable::log(1 - Uniform()));  // of a number above 0
  const double angle = 2 * std::numbers::pi * Uniform();
  second_ = radius * portable::sin(angle);
  has_second_ = true;
  return radius * portable::cos(angle);
}

uint64_t SeedOf(const Node& node) {
  if (const Attribute* seed = node.attrs().Find("seed")) {
    if (const float* f = seed->get<float>()) return std::bit_cast<uint32_t>(*f);
    if (const int64_t* i = seed->get<int64_t>()) return static_cast<uint64_t>(*i);
  }
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  const Value* first = node.num_outputs() > 0 ? node.output(0) : nullptr;
  for (const char c : first ? first->name() : std::string()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  return hash;
}

int SignificantBits(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 53;
    case DType::kFloat16: return 11;
    case DType::kBFloat16: return 8;
    default: return 24;
  }
}

namespace {

// The attribute `dtype`, or where it is absent `own`.
absl::StatusOr<DType> ResultDType(const AttributeMap& attrs, DType own) {
  if (!attrs.Has("dtype")) return own;
  const std::optional<DType> dtype = ParseDType(attrs.String("dtype"));
  if (!dtype) return Invalid("dtype: '", attrs.String("dtype"), "' is no element type");
  return *dtype;
}

absl::StatusOr<DType> FloatResult(const AttributeMap& attrs, DType own) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, ResultDType(attrs, own));
  if (dtype == DType::kUndefined || IsFloating(dtype)) return dtype;
  return Invalid("expected a floating-point type, got ", Name(dtype));
}

absl::Status InferOfShape(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, FloatResult(ctx.attrs(), DType::kFloat32));
  X2IR_ASSIGN_OR_RETURN(auto sizes, SizesOperand(ctx, 0));
  return ctx.Return(dtype, sizes ? std::optional<Shape>(Shape(*std::move(sizes))) : std::nullopt);
}

absl::Status InferLike(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, FloatResult(ctx.attrs(), ctx.dtype(0)));
  return ShapeAsFirst(ctx, dtype);
}

// Output 0 of these sizes, each element next().
template <typename F>
absl::Status Fill(EvalContext& ctx, DType dtype, std::vector<int64_t> dims, F&& next) {
  for (int64_t d : dims) {
    if (d < 0) return Invalid("size ", d, " is negative");
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, dims));
  return DispatchReal(dtype, [&](auto zero) {
    using T = decltype(zero);
    NumbersOut<T> out(dtype, std::move(dims));
    for (int64_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(next());
    return ctx.Return(out.Finish());
  });
}

absl::Status FillUniform(EvalContext& ctx, DType dtype, std::vector<int64_t> dims) {
  const double low = ctx.attrs().Float("low"), high = ctx.attrs().Float("high");
  const int bits = SignificantBits(dtype);
  Random random(SeedOf(ctx.node()));
  return Fill(ctx, dtype, std::move(dims),
              [&] { return low + (high - low) * random.Uniform(bits); });
}

absl::Status FillNormal(EvalContext& ctx, DType dtype, std::vector<int64_t> dims) {
  const double mean = ctx.attrs().Float("mean"), scale = ctx.attrs().Float("scale");
  Random random(SeedOf(ctx.node()));
  return Fill(ctx, dtype, std::move(dims), [&] { return mean + scale * random.Normal(); });
}

using FillFn = absl::Status (*)(EvalContext&, DType, std::vector<int64_t>);

template <FillFn fill>
absl::Status EvalOfShape(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, FloatResult(ctx.attrs(), DType::kFloat32));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, IntsOperand(ctx, 0, "shape"));
  return fill(ctx, dtype, std::move(dims));
}

template <FillFn fill>
absl::Status EvalLike(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, FloatResult(ctx.attrs(), ctx.dtype(0)));
  return fill(ctx, dtype, ctx.dims(0));
}

X2IR_OP(random_uniform)
    .Signature("shape -> output")
    .Attrs("low = 0.0, high = 1.0, dtype = 'float32', seed: float?")
    .Impure()
    .Functions(InferOfShape, EvalOfShape<FillUniform>)
    .Opaque()
    .Doc("Numbers drawn evenly from [low, high), in a tensor of that shape.")
    .AllowsFloat16();

X2IR_OP(random_uniform_like)
    .Signature("input -> output")
    .Attrs("low = 0.0, high = 1.0, dtype: string?, seed: float?")
    .Impure()
    .Functions(InferLike, EvalLike<FillUniform>)
    .Opaque()
    .Doc("Numbers drawn evenly from [low, high), as many as the operand's. dtype absent: its own.")
    .AllowsFloat16();

X2IR_OP(random_normal)
    .Signature("shape -> output")
    .Attrs("mean = 0.0, scale = 1.0, dtype = 'float32', seed: float?")
    .Impure()
    .Functions(InferOfShape, EvalOfShape<FillNormal>)
    .Opaque()
    .Doc("Numbers of the normal distribution with that mean and standard deviation (scale).")
    .AllowsFloat16();

X2IR_OP(random_normal_like)
    .Signature("input -> output")
    .Attrs("mean = 0.0, scale = 1.0, dtype: string?, seed: float?")
    .Impure()
    .Functions(InferLike, EvalLike<FillNormal>)
    .Opaque()
    .Doc(
        "Numbers of the normal distribution with that mean and standard deviation (scale), as "
        "many as the operand's. dtype absent: its own.")
    .AllowsFloat16();

// --- bernoulli ------------------------------------------------------------------------------

absl::Status InferBernoulli(InferContext& ctx) {
  if (ctx.dtype(0) != DType::kUndefined && !IsFloating(ctx.dtype(0))) {
    return Invalid("expected probabilities as floats, got ", Name(ctx.dtype(0)));
  }
  X2IR_ASSIGN_OR_RETURN(const DType dtype, ResultDType(ctx.attrs(), ctx.dtype(0)));
  return ShapeAsFirst(ctx, dtype);
}

absl::Status EvalBernoulli(EvalContext& ctx) {
  if (!IsFloating(ctx.dtype(0))) return Invalid("expected floats, got ", Name(ctx.dtype(0)));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, ResultDType(ctx.attrs(), ctx.dtype(0)));
  const Numbers<double> chances(ctx.input(0));
  for (const double p : chances.span()) {
    if (!(p >= 0 && p <= 1)) return Invalid(p, " is no probability");
  }
  Random random(SeedOf(ctx.node()));
  int64_t i = 0;
  return Fill(ctx, dtype, ctx.dims(0), [&] { return random.Uniform() < chances[i++] ? 1 : 0; });
}

X2IR_OP(bernoulli)
    .Signature("input -> output")
    .Attrs("dtype: string?, seed: float?")
    .Impure()
    .Functions(InferBernoulli, EvalBernoulli)
    .Opaque()
    .Doc("1 with the probability that the operand's element says, else 0. dtype absent: its own.")
    .AllowsFloat16();

// --- multinomial ----------------------------------------------------------------------------

absl::StatusOr<DType> IndexDType(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, ResultDType(attrs, DType::kInt32));
  if (dtype == DType::kInt32 || dtype == DType::kInt64) return dtype;
  return Invalid("dtype: expected int32 or int64, got ", Name(dtype));
}

absl::Status InferMultinomial(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, IndexDType(ctx.attrs()));
  const int64_t samples = ctx.attrs().Int("sample_size");
  if (samples < 0) return Invalid("sample_size ", samples, " is negative");
  const Shape* in = ctx.shape(0);
  if (in && in->rank() != 2) return Invalid("expected rank 2, got ", in->rank());
  return ctx.Return(dtype, Shape({in ? (*in)[0] : Dim(), Dim(samples)}));
}

absl::Status EvalMultinomial(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, IndexDType(ctx.attrs()));
  const Tensor& in = ctx.input(0);
  const int64_t samples = ctx.attrs().Int("sample_size");
  if (in.rank() != 2 || !IsFloating(in.dtype())) return Invalid("expected a matrix of floats");
  if (samples < 0) return Invalid("sample_size ", samples, " is negative");
  const int64_t rows = in.dim(0), classes = in.dim(1);
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, {rows, samples}));
  const Numbers<double> logits(in);
  NumbersOut<int64_t> out(dtype, {rows, samples});
  if (out.size() == 0) {
    return ctx.Return(out.Finish());
  }
  if (classes == 0) return Invalid("there are no classes to draw from");
  Random random(SeedOf(ctx.node()));
  std::vector<double> sums(classes);
  for (int64_t row = 0; row < rows; ++row) {
    const double* logit = logits.data() + row * classes;
    const double most = *std::max_element(logit, logit + classes);
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sums[c] = sum += portable::exp(logit[c] - most);
    if (!std::isfinite(sum)) return Invalid("row ", row, " gives no probabilities");
    for (int64_t s = 0; s < samples; ++s) {
      // The first class whose sum is above the number: never one of probability 0. The last such
      // class where rounding leaves none.
      const double at = random.Uniform() * sum;
      auto found = std::upper_bound(sums.begin(), sums.end(), at);
      if (found == sums.end()) found = std::lower_bound(sums.begin(), sums.end(), sum);
      out[row * samples + s] = found - sums.begin();
    }
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(multinomial)
    .Signature("input -> output")
    .Attrs("dtype = 'int32', sample_size = 1, seed: float?")
    .Impure()
    .Functions(InferMultinomial, EvalMultinomial)
    .Opaque()
    .Doc(
        "Each row draws sample_size classes; a class's probability is the softmax of the row, "
        "which holds logarithms.")
    .NeedsFloat32(float32_for::kSums);

}  // namespace
}  // namespace x2ir
