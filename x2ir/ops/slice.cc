// The op slice.
#include "x2ir/ops/slice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {

SliceRange ResolveSlice(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  const auto clamp = [&](int64_t i, int64_t least) {
    return std::max(least, std::min(high, i < 0 ? i + size : i));
  };
  start = clamp(start, 0);
  end = clamp(end, low);
  SliceRange range = {start, step, 0};
  if (size == 0) return range;
  // Unsigned, so that the smallest step has a magnitude.
  const uint64_t magnitude =
      step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const int64_t span = step > 0 ? end - start : start - end;
  if (span > 0)
    range.count = static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / magnitude) + 1;
  return range;
}

namespace {

// Exporters write "to the end" as the limit of int32 or of int64.
constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();

// A bound of a slice with a positive step, in [0, size].
Dim ClampedBound(const Dim& bound, const Dim& size) {
  if (bound.is_static()) {
    if (bound.value() == 0) return 0;
    if (bound.value() >= kToTheEnd) return size;
    return bound.value() > 0 ? Min(bound, size) : Max(size + bound, 0);
  }
  // Only of use when it certainly does not count from the end.
  return ProvablyEqual(Max(bound, 0), bound) ? Min(bound, size) : Dim();
}

}  // namespace

Dim SlicedDim(const Dim& size, const Dim& start, const Dim& end, int64_t step) {
  if (size.is_static() && start.is_static() && end.is_static()) {
    return ResolveSlice(size.value(), start.value(), end.value(), step).count;
  }
  if (step < 0) {
    const bool all = start.is_static() && (start.value() == -1 || start.value() >= kToTheEnd) &&
                     end.is_static() && end.value() <= -kToTheEnd;
    return all && step != std::numeric_limits<int64_t>::min() ? CeilDiv(size, -step) : Dim();
  }
  const Dim from = ClampedBound(start, size);
  const Dim to = ClampedBound(end, size);
  return CeilDiv(from == Dim(0) ? to : Max(to - from, 0), step);
}

bool NamesNoAxes(const Node& node) {
  const Value* x = node.input(0);
  if (node.Is("squeeze")) {
    const auto axes = KnownInts(node.input(1));
    return axes && axes->empty();
  }
  if (!node.Is("slice") && !node.Is("pad")) return false;
  return x && x->shape() && x->shape()->rank() == 0;
}

bool PadsBeyond(const Node& node) {
  if (!node.Is("pad") || node.attrs().String("mode") == "constant") return false;
  const std::string& mode = node.attrs().String("mode");
  const Shape* shape = node.input(0) ? node.input(0)->shape() : nullptr;
  const auto pads = KnownInts(node.input(1));
  const auto axes = node.input(3) ? KnownInts(node.input(3)) : std::nullopt;
  if (!shape || !pads || (node.input(3) && !axes)) return false;
  const auto n = static_cast<int64_t>(pads->size() / 2);
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = axes && i < static_cast<int64_t>(axes->size()) ? (*axes)[i] : i;
    axis += axis < 0 ? shape->rank() : 0;
    if (axis < 0 || axis >= shape->rank() || !(*shape)[axis].is_static()) continue;
    const int64_t begin = (*pads)[i], end = (*pads)[n + i];
    const int64_t left =
        (*shape)[axis].value() + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    const int64_t most = std::max(begin, end);
    if (left <= 0 || (mode == "reflect" && most > 0 && most >= left)) return true;
    if (mode == "wrap" && most > left) return true;
  }
  return false;
}

namespace {

absl::Status InferSlice(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  for (const auto& [i, name] : {std::pair(1, "starts"), {2, "ends"}, {3, "axes"}, {4, "steps"}}) {
    X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, i, name));
  }
  const Shape* in = ctx.shape(0);
  if (!in) return absl::OkStatus();
  const auto starts = ctx.Elements(1), ends = ctx.Elements(2);
  int64_t n = -1;  // how many axes are sliced
  for (size_t i = 1; i < 5; ++i) {
    if (!ctx.has(i)) continue;
    X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, i));
    if (length < 0) continue;
    if (n >= 0 && length != n) {
      return Invalid("starts, ends, axes and steps: expected equal lengths, got ", n, " and ",
                     length);
    }
    n = length;
  }
  if (n > in->rank()) return Invalid(n, " slices of a tensor of rank ", in->rank());
  std::optional<std::vector<int64_t>> axes, steps;
  if (ctx.has(3)) {
    axes = ctx.ConstInts(3);
  } else if (n >= 0) {
    axes.emplace();
    for (int64_t i = 0; i < n; ++i) axes->push_back(i);
  }
  if (ctx.has(4)) {
    steps = ctx.ConstInts(4);
  } else if (n >= 0) {
    steps.emplace(n, 1);
  }
  if (!axes) {
    return ctx.Return(ctx.dtype(0), Shape::UnknownDims(in->rank()));
  }
  X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), in->rank()));
  Shape out = *in;
  const auto fits = [&](const auto& list) { return list && list->size() == axes->size(); };
  const bool known = fits(starts) && fits(ends) && fits(steps);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i];
    if (fits(steps) && (*steps)[i] == 0) return Invalid("step 0 along axis ", axis);
    out[axis] = known ? SlicedDim((*in)[axis], (*starts)[i], (*ends)[i], (*steps)[i]) : Dim();
  }
  if (const auto elements = ctx.Elements(0); elements && in->rank() == 1 && axes->size() == 1 &&
                                             out[0].is_static() && known &&
                                             (*starts)[0].is_static() && (*ends)[0].is_static()) {
    const SliceRange range = ResolveSlice(static_cast<int64_t>(elements->size()),
                                          (*starts)[0].value(), (*ends)[0].value(), (*steps)[0]);
    std::vector<Dim> kept;
    int64_t at = range.start;
    for (int64_t i = 0; i < range.count; ++i) {
      kept.push_back((*elements)[at]);
      if (i + 1 < range.count) at += range.step;
    }
    ctx.SetElements(0, std::move(kept));
  } else if (elements && axes->empty()) {
    KeepElements(ctx, out);
  }
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalSlice(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, IntsOperand(ctx, 1, "starts"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, IntsOperand(ctx, 2, "ends"));
  std::vector<int64_t> axes, steps(starts.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (ctx.has(3)) {
    X2IR_ASSIGN_OR_RETURN(axes, IntsOperand(ctx, 3, "axes"));
  }
  if (ctx.has(4)) {
    X2IR_ASSIGN_OR_RETURN(steps, IntsOperand(ctx, 4, "steps"));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return Invalid("starts, ends, axes and steps: expected equal lengths, got ", starts.size(),
                   ", ", ends.size(), ", ", axes.size(), " and ", steps.size());
  }
  X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(std::move(axes), in.rank()));
  std::vector<int64_t> dims = in.dims(), strides = Strides(in.dims());
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i];
    if (steps[i] == 0) return Invalid("step 0 along axis ", axis);
    const SliceRange range = ResolveSlice(in.dim(axis), starts[i], ends[i], steps[i]);
    dims[axis] = range.count;
    if (range.count > 0) offset += range.start * strides[axis];
    // A single element needs no stride, however large the step.
    strides[axis] = range.count > 1 ? strides[axis] * range.step : 0;
  }
  return ctx.Return(StridedCopy(in, std::move(dims), strides, offset));
}

std::optional<std::vector<int64_t>> SlicedAxes(const Node& node) {
  if (node.input(3)) return KnownInts(node.input(3));
  const Value* starts = node.input(1);
  if (RankOf(starts) != 1 || !(*starts->shape())[0].is_static()) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < (*starts->shape())[0].value(); ++i) axes.push_back(i);
  return axes;
}
std::optional<Flip> FlipSlice(const Node& node, Slot slot, const Perm& p) {
  const auto axes = SlicedAxes(node);
  if (!axes || !AxisMask(*axes, static_cast<int64_t>(p.size()))) return std::nullopt;
  return FlipSame(node, slot, p, 1);
}
void MoveSliced(Node& node, const Flip& flip, Builder& b) {
  SetOperand(node, 3, b.Ints(NewAxes(*SlicedAxes(node), flip.in[0]), "axes"));
}

X2IR_OP(slice)
    .Signature("data, starts, ends, axes?, steps? -> output")
    .Functions(InferSlice, EvalSlice)
    .Moves({FlipSlice, MoveSliced}, MoveUse::kSome)
    .Doc(
        "The elements from starts to ends (excluded) by steps along the given axes (left out: "
        "the first ones). Negative bounds count from the end; bounds are clamped.")
    .Origins(OriginsInOrder)
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
