// Conversions between element types.
#include <optional>
#include <string>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

absl::StatusOr<DType> CastTarget(const AttributeMap& attrs) {
  const std::optional<DType> to = ParseDType(attrs.String("to"));
  if (!to) return Invalid("attribute 'to': '", attrs.String("to"), "' is no element type");
  return *to;
}

// Elements survive a cast between types that hold every size.
bool HoldsSizes(DType t) { return IsInteger(t) && BitWidth(t) >= 32; }

absl::Status InferCastTo(InferContext& ctx, DType to) {
  const Shape* shape = ctx.shape(0);
  ctx.Set(0, to, shape ? std::optional<Shape>(*shape) : std::nullopt);
  const DType from = ctx.dtype(0);
  if ((!HoldsSizes(from) && from != DType::kBool) || !HoldsSizes(to)) return absl::OkStatus();
  auto elements = ctx.Elements(0);
  if (!elements) return absl::OkStatus();
  // Numbers that the new type lacks wrap: left to evaluation.
  for (Dim& d : *elements) {
    if (!HoldsDim(to, d)) d = Dim::Unknown();
  }
  ctx.SetElements(0, *std::move(elements));
  return absl::OkStatus();
}

absl::Status InferCast(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType to, CastTarget(ctx.attrs()));
  return InferCastTo(ctx, to);
}

absl::Status InferCastLike(InferContext& ctx) { return InferCastTo(ctx, ctx.dtype(1)); }

absl::Status EvalCastTo(EvalContext& ctx, DType to) {
  X2IR_ASSIGN_OR_RETURN(Tensor out, CastTensor(ctx.input(0), to, ctx.attrs().Int("saturate") != 0,
                                               ctx.attrs().String("round_mode")));
  return ctx.Return(std::move(out));
}

absl::Status EvalCast(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType to, CastTarget(ctx.attrs()));
  return EvalCastTo(ctx, to);
}

absl::Status EvalCastLike(EvalContext& ctx) { return EvalCastTo(ctx, ctx.dtype(1)); }

absl::Status CheckWidths(DType from, DType to) {
  if (from == DType::kUndefined || (BitWidth(from) == BitWidth(to) && BitWidth(to) != 0)) {
    return absl::OkStatus();
  }
  return Invalid("types of different width: ", Name(from), " cannot be seen as ", Name(to));
}

absl::Status InferBitCast(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType to, CastTarget(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(CheckWidths(ctx.dtype(0), to));
  const Shape* shape = ctx.shape(0);
  return ctx.Return(to, shape ? std::optional<Shape>(*shape) : std::nullopt);
}

absl::Status EvalBitCast(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType to, CastTarget(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(CheckWidths(ctx.dtype(0), to));
  return ctx.Return(ctx.input(0).Reinterpreted(to));
}

}  // namespace

X2IR_OP(cast)
    .Signature("x -> y")
    .Attrs("to: string, saturate = 1, round_mode = 'up'")
    .Functions(InferCast, EvalCast)
    .Elementwise(NumberUse::kFixed, RowUse::kElementwise)
    .Doc(
        "x converted to element type `to`. `saturate` matters for float8, `round_mode` for "
        "float8e8m0. Floats become integers towards zero; what an integer type cannot hold "
        "goes through int32 (for uint32 and wider types int64) and wraps.")
    .AllowsFloat16();

X2IR_OP(cast_like)
    .Signature("x, target_type -> y")
    .Attrs("saturate = 1, round_mode = 'up'")
    .Functions(InferCastLike, EvalCastLike)
    .Axes(kFirstElementwiseAxes)
    .Numbers(NumberUse::kFixed)
    .Doc("x converted to the element type of `target_type`, as `cast` does it.")
    .AllowsFloat16();

X2IR_OP(bit_cast)
    .Signature("x -> y")
    .Attrs("to: string")
    .Functions(InferBitCast, EvalBitCast)
    .Opaque()
    .Doc("The bits of x read as elements of type `to`, which is as wide.")
    .NeedsFloat32(float32_for::kBits)
    .Zeros(ZeroUse::kTells);

}  // namespace x2ir
