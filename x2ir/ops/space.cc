// Moves between channels and space: depth_to_space and space_to_depth.
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

absl::StatusOr<int64_t> BlockSize(const AttributeMap& attrs) {
  const int64_t b = attrs.Int("blocksize");
  if (b < 1 || b >= (int64_t{1} << 31))
    return Invalid("blocksize: expected a number from 1, got ", b);
  return b;
}

absl::StatusOr<bool> ColumnsFirst(const AttributeMap& attrs) {
  return ChoiceOf<bool>("mode", attrs.String("mode", "DCR"), {"DCR", "CRD"});
}

// `from` over `by`; InvalidArgument if that leaves a rest for certain.
absl::StatusOr<Dim> Divide(const Dim& from, int64_t by, std::string_view what) {
  if (from.is_static() && from.value() % by != 0) {
    return Invalid(what, ": expected a multiple of ", by, ", got ", from.value());
  }
  return FloorDiv(from, by);
}

absl::Status InferSpace(InferContext& ctx, bool to_depth) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const int64_t b, BlockSize(ctx.attrs()));
  if (!to_depth) X2IR_RETURN_IF_ERROR(ColumnsFirst(ctx.attrs()).status());
  ctx.Set(0, ctx.dtype(0));
  const Shape* x = ctx.shape(0);
  if (x == nullptr) return absl::OkStatus();
  if (x->rank() != 4) return Invalid("x: expected rank 4, got ", x->rank());
  Dim channels = (*x)[ChannelAxis(last, 4)];
  std::vector<Dim> spatial = {(*x)[SpatialAxis(last, 0)], (*x)[SpatialAxis(last, 1)]};
  if (to_depth) {
    channels = channels * Dim(b * b);
    for (Dim& d : spatial) {
      X2IR_ASSIGN_OR_RETURN(d, Divide(d, b, "spatial size"));
    }
  } else {
    X2IR_ASSIGN_OR_RETURN(channels, Divide(channels, b * b, "channels"));
    for (Dim& d : spatial) d = d * Dim(b);
  }
  return ctx.Return(ctx.dtype(0), LayoutShape(last, (*x)[0], channels, std::move(spatial)));
}

absl::Status InferDepthToSpace(InferContext& ctx) { return InferSpace(ctx, false); }
absl::Status InferSpaceToDepth(InferContext& ctx) { return InferSpace(ctx, true); }

// Both are a reshape to rank 6, a transpose and a reshape back.
absl::Status EvalSpace(EvalContext& ctx, bool to_depth) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const int64_t b, BlockSize(ctx.attrs()));
  if (ctx.input(0).rank() != 4) return Invalid("x: expected rank 4");
  const Tensor x = last ? ToChannelsFirst(ctx.input(0)) : ctx.input(0);
  const int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2), w = x.dim(3);
  Tensor out;
  if (to_depth) {
    if (h % b != 0 || w % b != 0) return Invalid("spatial sizes: expected multiples of ", b);
    out = TransposeTensor(x.Reshaped({n, c, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4})
              .Reshaped({n, c * b * b, h / b, w / b});
  } else {
    X2IR_ASSIGN_OR_RETURN(const bool crd, ColumnsFirst(ctx.attrs()));
    if (c % (b * b) != 0) return Invalid("channels: expected a multiple of ", b * b);
    const int64_t left = c / (b * b);
    out = crd ? TransposeTensor(x.Reshaped({n, left, b, b, h, w}), {0, 1, 4, 2, 5, 3})
              : TransposeTensor(x.Reshaped({n, b, b, left, h, w}), {0, 3, 4, 1, 5, 2});
    out = out.Reshaped({n, left, h * b, w * b});
  }
  return ctx.Return(last ? ToChannelsLast(out) : out);
}

absl::Status EvalDepthToSpace(EvalContext& ctx) { return EvalSpace(ctx, false); }
absl::Status EvalSpaceToDepth(EvalContext& ctx) { return EvalSpace(ctx, true); }

X2IR_OP(depth_to_space)
    .Signature("x -> y")
    .Attrs("layout = 'channels_first', blocksize: int, mode = 'DCR'")
    .Functions(InferDepthToSpace, EvalDepthToSpace)
    .Moves(kAxesStay, MoveUse::kAll)
    .Doc(
        "Channels become blocks of space. DCR: the block's place is the outer part of the channel "
        "number; CRD: the inner part.")
    .Origins(OriginsOfBatch)
    .Complex(ComplexUse::kParts);

X2IR_OP(space_to_depth)
    .Signature("x -> y")
    .Attrs("layout = 'channels_first', blocksize: int")
    .Functions(InferSpaceToDepth, EvalSpaceToDepth)
    .Moves(kAxesStay, MoveUse::kAll)
    .Doc("Blocks of space become channels, the block's place the outer part of the channel number.")
    .Origins(OriginsOfBatch)
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
