// Ops that reorder or repeat elements by axes: transpose, expand, tile.
#include <algorithm>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- transpose ------------------------------------------------------------------------------

// `perm` as given, or the reversal where it is absent; InvalidArgument unless it permutes
// that many axes.
absl::StatusOr<std::vector<int64_t>> Permutation(const AttributeMap& attrs, int64_t rank) {
  std::vector<int64_t> perm;
  if (!attrs.Has("perm")) {
    for (int64_t i = rank; i-- > 0;) perm.push_back(i);
    return perm;
  }
  perm = attrs.Ints("perm");
  std::vector<bool> seen(rank, false);
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= rank || seen[axis] || static_cast<int64_t>(perm.size()) != rank) {
      return Invalid("perm ", DimsText(perm), " is no permutation of ", rank, " axes");
    }
    seen[axis] = true;
  }
  if (static_cast<int64_t>(perm.size()) != rank) {
    return Invalid("perm ", DimsText(perm), " is no permutation of ", rank, " axes");
  }
  return perm;
}

absl::Status InferTranspose(InferContext& ctx) {
  const Shape* in = ctx.shape(0);
  if (!in) {
    ctx.Set(0, ctx.dtype(0));
    if (!ctx.attrs().Has("perm")) return absl::OkStatus();
    const int64_t rank = static_cast<int64_t>(ctx.attrs().Ints("perm").size());
    X2IR_RETURN_IF_ERROR(Permutation(ctx.attrs(), rank).status());
    return ctx.Return(ctx.dtype(0), Shape::UnknownDims(rank));
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, Permutation(ctx.attrs(), in->rank()));
  Shape out;
  for (int64_t axis : perm) out.Append((*in)[axis]);
  KeepElements(ctx, out);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalTranspose(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                        Permutation(ctx.attrs(), ctx.input(0).rank()));
  return ctx.Return(TransposeTensor(ctx.input(0), perm));
}

X2IR_OP(transpose)
    .Signature("data -> transposed")
    .Attrs("perm: ints?")
    .Functions(InferTranspose, EvalTranspose)
    .Moves(kAxesStay, MoveUse::kAll)
    .Doc(
        "Axis i of the result is axis perm[i] of the operand. perm is absent only where the rank "
        "is not known: then the axes are reversed.")
    .Origins(OriginsOfTranspose)
    .Complex(ComplexUse::kParts);

// --- expand ---------------------------------------------------------------------------------

// The elements of operand 0 repeated, when it holds elements and the result is a short list.
void RepeatElements(InferContext& ctx, const Shape& out) {
  if (out.rank() > 1 || !out.is_static()) return;
  const auto in = ctx.Elements(0);
  const int64_t n = out.NumElements().value();
  if (!in || in->empty() || n > int64_t{InferContext::kMaxElements}) return;
  std::vector<Dim> elements;
  for (int64_t i = 0; i < n; ++i) elements.push_back((*in)[i % in->size()]);
  ctx.SetElements(0, std::move(elements));
}

absl::Status InferExpand(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  X2IR_ASSIGN_OR_RETURN(auto sizes, SizesOperand(ctx, 1));
  if (!sizes || !ctx.shape(0)) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(*ctx.shape(0), Shape(*std::move(sizes))));
  RepeatElements(ctx, out);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalExpand(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntsOperand(ctx, 1, "shape"));
  for (int64_t size : sizes) {
    if (size < 0) return Invalid("size ", size, " is negative");
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, BroadcastDims(ctx.dims(0), sizes));
  X2IR_RETURN_IF_ERROR(CheckAllocation(ctx.dtype(0), dims));
  return ctx.Return(BroadcastTo(ctx.input(0), std::move(dims)));
}

// How many sizes the shape operand gives, -1 when that is not known.
int64_t SizesGiven(const Node& node) {
  const Value* sizes = node.input(1);
  if (RankOf(sizes) != 1 || !(*sizes->shape())[0].is_static()) return -1;
  return (*sizes->shape())[0].value();
}
std::optional<Flip> FlipExpand(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = RankOf(node.output(0)), own = RankOf(node.input(0));
  const int64_t given = SizesGiven(node);
  if (given < 0 || rank < 0 || own < 0 || (!slot.output && slot.index != 0)) return std::nullopt;
  const bool known = KnownTensor(*node.input(1)).has_value();
  if (given < rank && !known) return std::nullopt;  // ones would have to be put before
  if (static_cast<int64_t>(p.size()) != rank) return std::nullopt;
  Flip flip(node);
  flip.in[0] = OperandOrder(*node.input(0), p);
  flip.out[0] = p;
  if (flip.at(slot) != p) return std::nullopt;
  if (!known) flip.cost = 1;
  return flip;
}
void MoveSizes(Node& node, const Flip& flip, Builder& b) {
  const Perm& p = flip.out[0];
  if (SizesGiven(node) == static_cast<int64_t>(p.size())) {
    return SetOperand(node, 1, Reordered(b, node.input(1), AsInts(p)));
  }
  std::vector<int64_t> sizes = *KnownInts(node.input(1)), moved;
  sizes.insert(sizes.begin(), p.size() - sizes.size(), 1);
  for (int64_t axis : p) moved.push_back(sizes[axis]);
  SetOperand(node, 1, b.Ints(moved, "shape"));
}

X2IR_OP(expand)
    .Signature("input, shape -> output")
    .Functions(InferExpand, EvalExpand)
    .Moves({FlipExpand, MoveSizes})
    .Doc("The operand broadcast together with a tensor of that shape.")
    .Origins(OriginsOfExpand)
    .Complex(ComplexUse::kParts);

// --- tile -----------------------------------------------------------------------------------

absl::Status InferTile(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  X2IR_ASSIGN_OR_RETURN(auto repeats, SizesOperand(ctx, 1));
  const Shape* in = ctx.shape(0);
  if (!repeats) {
    if (in) ctx.Set(0, ctx.dtype(0), Shape::UnknownDims(in->rank()));
    return absl::OkStatus();
  }
  const int64_t rank = static_cast<int64_t>(repeats->size());
  if (in && in->rank() != rank) {
    return Invalid("repeats: expected ", in->rank(), " numbers, got ", rank);
  }
  Shape out = Shape::UnknownDims(rank);
  for (int64_t i = 0; in && i < rank; ++i) out[i] = (*in)[i] * (*repeats)[i];
  if (in) RepeatElements(ctx, out);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalTile(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, IntsOperand(ctx, 1, "repeats"));
  if (static_cast<int64_t>(repeats.size()) != in.rank()) {
    return Invalid("repeats: expected ", in.rank(), " numbers, got ", repeats.size());
  }
  // As [repeat, size] pairs: the repeats are axes along which nothing moves.
  const std::vector<int64_t> strides = Strides(in.dims());
  std::vector<int64_t> dims, pairs, steps;
  for (int64_t i = 0; i < in.rank(); ++i) {
    if (repeats[i] < 0) return Invalid("repeats: ", repeats[i], " is negative");
    int64_t size;
    if (__builtin_mul_overflow(in.dim(i), repeats[i], &size)) return Invalid("sizes overflow");
    dims.push_back(size);
    pairs.insert(pairs.end(), {repeats[i], in.dim(i)});
    steps.insert(steps.end(), {0, strides[i]});
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(in.dtype(), dims));
  return ctx.Return(StridedCopy(in, std::move(pairs), steps).Reshaped(std::move(dims)));
}

std::optional<Flip> FlipTile(const Node& node, Slot slot, const Perm& p) {
  auto flip = FlipSame(node, slot, p, 1);
  if (flip) flip->cost = CostOfOrdering(node.input(1));
  return flip;
}
void MoveRepeats(Node& node, const Flip& flip, Builder& b) {
  SetOperand(node, 1, Reordered(b, node.input(1), AsInts(flip.in[0])));
}

X2IR_OP(tile)
    .Signature("input, repeats -> output")
    .Functions(InferTile, EvalTile)
    .Moves({FlipTile, MoveRepeats})
    .Doc("The operand repeated along each axis, as often as `repeats` says.")
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
