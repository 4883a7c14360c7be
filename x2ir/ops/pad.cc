// The op pad.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

absl::StatusOr<PadMode> ReadMode(const AttributeMap& attrs) {
  return ChoiceAttr<PadMode>(attrs, "mode", {"constant", "reflect", "edge", "wrap"});
}

// How many elements of an axis are left after what negative padding cuts off; 1 where it is not
// known.
int64_t Kept(const Dim& size, const Dim& begin, const Dim& end) {
  if (!size.is_static() || !begin.is_static() || !end.is_static()) return 1;
  return size.value() + std::min<int64_t>(begin.value(), 0) + std::min<int64_t>(end.value(), 0);
}

absl::Status InferPad(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const PadMode mode, ReadMode(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "pads"));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 3, "axes"));
  if (ctx.has(2) && ctx.dtype(2) != DType::kUndefined && ctx.dtype(0) != DType::kUndefined &&
      ctx.dtype(2) != ctx.dtype(0)) {
    return Invalid("constant_value: expected ", Name(ctx.dtype(0)), ", got ", Name(ctx.dtype(2)));
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, 1));
  ctx.Set(0, ctx.dtype(0));
  const Shape* in = ctx.shape(0);
  if (!in) {
    if (length >= 0 && length % 2 == 0 && !ctx.has(3) &&
        length <= int64_t{InferContext::kMaxElements}) {
      ctx.Set(0, ctx.dtype(0), Shape::UnknownDims(length / 2));
    }
    return absl::OkStatus();
  }
  std::optional<std::vector<int64_t>> axes;
  if (ctx.has(3)) {
    axes = ctx.ConstInts(3);
  } else {
    axes.emplace();
    for (int64_t i = 0; i < in->rank(); ++i) axes->push_back(i);
  }
  if (!axes) {
    return ctx.Return(ctx.dtype(0), Shape::UnknownDims(in->rank()));
  }
  X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), in->rank()));
  const size_t n = axes->size();
  if (length >= 0 && length != static_cast<int64_t>(2 * n)) {
    return Invalid("pads: expected ", 2 * n, " numbers, got ", length);
  }
  const auto pads = ctx.Elements(1);
  Shape out = *in;
  int64_t gone = -1;
  for (size_t i = 0; i < n; ++i) {
    Dim& dim = out[(*axes)[i]];
    dim = pads && pads->size() == 2 * n ? dim + (*pads)[i] + (*pads)[n + i] : Dim();
    if (dim.is_static() && dim.value() < 0) {
      return Invalid("pads: more is cut off axis ", (*axes)[i], " than it has");
    }
    if (mode != PadMode::kConstant && pads && pads->size() == 2 * n &&
        Kept((*in)[(*axes)[i]], (*pads)[i], (*pads)[n + i]) <= 0) {
      gone = (*axes)[i];
    }
  }
  // A result without elements needs none to fill it from.
  const auto some = [](const Dim& dim) { return dim.is_static() && dim.value() > 0; };
  if (gone >= 0 && std::all_of(out.begin(), out.end(), some)) {
    return Invalid("pads: axis ", gone, " has no elements left to fill the padding from");
  }
  return ctx.Return(ctx.dtype(0), std::move(out));
}

// Where the elements of an axis of the result come from: an index, or -1 for the constant.
absl::StatusOr<std::vector<int64_t>> Sources(PadMode mode, int64_t size, int64_t begin, int64_t end,
                                             int64_t out) {
  std::vector<int64_t> from(out);
  // Negative padding cuts off first; what is left is [low, low + n).
  const int64_t low = std::max<int64_t>(-begin, 0);
  const int64_t n = size - low - std::max<int64_t>(-end, 0);
  if (mode != PadMode::kConstant && n <= 0 && out > 0) {
    return Invalid("nothing to fill the padding from: the axis has no elements");
  }
  for (int64_t o = 0; o < out; ++o) {
    const int64_t i = o - begin;
    int64_t k = i - low;
    switch (mode) {
      case PadMode::kConstant: from[o] = i >= 0 && i < size ? i : -1; continue;
      case PadMode::kEdge: k = std::clamp<int64_t>(k, 0, n - 1); break;
      case PadMode::kWrap: k = ((k % n) + n) % n; break;
      case PadMode::kReflect: {
        // To and fro over the elements; the outermost ones are not repeated.
        const int64_t period = std::max<int64_t>(2 * (n - 1), 1);
        k = ((k % period) + period) % period;
        if (k >= n) k = period - k;
        break;
      }
    }
    from[o] = low + k;
  }
  return from;
}

absl::Status EvalPad(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const PadMode mode, ReadMode(ctx.attrs()));
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, IntsOperand(ctx, 1, "pads"));
  std::vector<int64_t> axes;
  if (ctx.has(3)) {
    X2IR_ASSIGN_OR_RETURN(axes, IntsOperand(ctx, 3, "axes"));
    X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(std::move(axes), in.rank()));
  } else {
    for (int64_t i = 0; i < in.rank(); ++i) axes.push_back(i);
  }
  const size_t n = axes.size();
  if (pads.size() != 2 * n) return Invalid("pads: expected ", 2 * n, " numbers, got ", pads.size());
  std::vector<int64_t> dims = in.dims();
  for (size_t i = 0; i < n; ++i) {
    int64_t& dim = dims[axes[i]];
    // Bounds that no tensor reaches keep the arithmetic below from overflowing.
    constexpr int64_t kLimit = int64_t{1} << 60;
    if (std::max(pads[i], pads[n + i]) > kLimit || std::min(pads[i], pads[n + i]) < -kLimit ||
        dim > kLimit || dim + pads[i] + pads[n + i] < 0) {
      return Invalid("pads: axis ", axes[i], " of size ", dim, " cannot be padded by ", pads[i],
                     " and ", pads[n + i]);
    }
    dim += pads[i] + pads[n + i];
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(in.dtype(), dims));
  if (ctx.has(2) && (ctx.dtype(2) != in.dtype() || ctx.input(2).num_elements() != 1)) {
    return Invalid("constant_value: expected one ", Name(in.dtype()), ", got ",
                   ctx.input(2).type().ToString());
  }
  CellsOut out(in.dtype(), dims);
  if (out.num_elements() == 0) {
    return ctx.Return(out.Finish());
  }
  std::vector<std::vector<int64_t>> from(in.rank());
  for (int64_t axis = 0; axis < in.rank(); ++axis) {
    X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kInt64, {dims[axis]}));
    const size_t i = std::find(axes.begin(), axes.end(), axis) - axes.begin();
    X2IR_ASSIGN_OR_RETURN(from[axis], Sources(mode, in.dim(axis), i < n ? pads[i] : 0,
                                              i < n ? pads[n + i] : 0, dims[axis]));
  }
  const Cells data(in);
  const std::optional<Cells> fill =
      ctx.has(2) ? std::optional<Cells>(std::in_place, ctx.input(2)) : std::nullopt;
  const std::vector<int64_t> strides = Strides(in.dims());
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    C* to = out.as<C>();
    const C constant = fill ? *fill->as<C>() : to[0];  // cells start as zeros
    const C* elements = data.as<C>();
    std::vector<int64_t> index(dims.size(), 0);
    const int64_t count = out.num_elements();
    for (int64_t o = 0; o < count; ++o) {
      int64_t at = 0;
      for (size_t k = 0; k < index.size() && at >= 0; ++k) {
        const int64_t i = from[k][index[k]];
        at = i < 0 ? -1 : at + i * strides[k];
      }
      to[o] = at < 0 ? constant : elements[at];
      for (size_t k = index.size(); k-- > 0;) {
        if (++index[k] < dims[k]) break;
        index[k] = 0;
      }
    }
  });
  return ctx.Return(out.Finish());
}

std::optional<Flip> FlipPad(const Node& node, Slot slot, const Perm& p) {
  if (node.input(3)) {
    const auto axes = KnownInts(node.input(3));
    if (!axes || !AxisMask(*axes, static_cast<int64_t>(p.size()))) return std::nullopt;
  }
  auto flip = FlipSame(node, slot, p, 1);
  if (flip && !node.input(3)) flip->cost = CostOfOrdering(node.input(1));
  return flip;
}
void MovePads(Node& node, const Flip& flip, Builder& b) {
  const Perm& p = flip.in[0];
  if (node.input(3)) {
    return SetOperand(node, 3, b.Ints(NewAxes(*KnownInts(node.input(3)), p), "axes"));
  }
  std::vector<int64_t> order = AsInts(p);  // all begins, then all ends
  for (int64_t axis : p) order.push_back(axis + static_cast<int64_t>(p.size()));
  SetOperand(node, 1, Reordered(b, node.input(1), order));
}

X2IR_OP(pad)
    .Signature("data, pads, constant_value?, axes? -> output")
    .Attrs("mode = 'constant'")
    .Functions(InferPad, EvalPad)
    .Axes({FlipPad, MovePads})
    .Numbers(NumberUse::kMoves, 0b101)
    .Doc(
        "Adds elements at both ends of each of `axes` (left out: all), all begins first; negative "
        "numbers cut off. Modes: constant, reflect, edge, wrap.")
    .Origins(OriginsInOrder)
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
