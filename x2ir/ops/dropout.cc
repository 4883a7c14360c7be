// dropout.
#include <cstdint>
#include <limits>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/random.h"

namespace x2ir {
namespace {

absl::Status InferDropout(InferContext& ctx) {
  ctx.Set(0, ctx.type(0));
  ctx.Set(1, DType::kBool,
          ctx.shape(0) ? std::optional<Shape>(*ctx.shape(0)) : std::optional<Shape>());
  return absl::OkStatus();
}

absl::Status EvalDropout(EvalContext& ctx) {
  for (size_t i = 1; i < 3; ++i) {
    if (ctx.has(i) && ctx.input(i).num_elements() != 1) {
      return Invalid("ratio and training_mode must hold one element each");
    }
  }
  if (ctx.has(2) && ctx.dtype(2) != DType::kBool) {
    return Invalid("training_mode must be bool, got ", Name(ctx.dtype(2)));
  }
  if (ctx.has(1) && !IsFloating(ctx.dtype(1))) {
    return Invalid("ratio must be a float, got ", Name(ctx.dtype(1)));
  }
  const bool training = ctx.has(2) && ctx.input(2).AsInt(0) != 0;
  const double ratio = !training ? 0 : ctx.has(1) ? ctx.input(1).AsDouble(0) : 0.5;
  if (!(ratio >= 0 && ratio < 1)) {
    return Invalid("ratio is ", ratio, "; expected a number from 0 to below 1");
  }
  Tensor mask = Tensor::Zeros(DType::kBool, ctx.dims(0));
  auto kept = mask.mutable_span<bool>();
  if (ratio == 0) {
    for (bool& k : kept) k = true;
    ctx.Set(0, ctx.input(0));
    ctx.Set(1, std::move(mask));
    return absl::OkStatus();
  }
  Random random(SeedOf(ctx.node()));
  for (bool& k : kept) k = random.Uniform() >= ratio;
  return DispatchFloat(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    const auto scale = static_cast<T>(1 / (1 - ratio));
    const Numbers<T> in(ctx.input(0));
    NumbersOut<T> out(ctx.dtype(0), ctx.dims(0));
    for (int64_t i = 0; i < in.size(); ++i) out[i] = kept[i] ? in[i] * scale : T{0};
    ctx.Set(0, out.Finish());
    ctx.Set(1, std::move(mask));
    return absl::OkStatus();
  });
}

}  // namespace

namespace {
// What is drawn at random depends on the order of elements.
std::optional<Flip> FlipDropout(const Node& node, Slot slot, const Perm& p) {
  if (const Value* training = node.input(2)) {
    const auto known = KnownTensor(*training);
    if (!known || known->num_elements() != 1 || known->AsInt(0) != 0) return std::nullopt;
  }
  return FlipSame(node, slot, p, 1);
}
}  // namespace

X2IR_OP(dropout)
    .Signature("x, ratio?, training_mode? -> y, mask?")
    .Attrs("seed: int?")
    .Impure()
    .Functions(InferDropout, EvalDropout)
    .Axes({FlipDropout})
    .Numbers(NumberUse::kFixed)
    .Doc(
        "In training mode each element is 0 with probability `ratio` (0.5 when left out), the "
        "others are scaled by 1 / (1 - ratio); else x itself, which is also the default. The "
        "mask is true where an element was kept.")
    .AllowsFloat16();

}  // namespace x2ir
