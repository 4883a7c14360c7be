// Operands that are computed where older opsets have attributes: axes of squeeze and unsqueeze,
// sizes of split, bounds of slice, k of top_k.
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/slice.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/axis_masks.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// How many elements an operand of rank 0 or 1 has; -1: not known.
int64_t LengthOf(const Value* operand) {
  const Shape* shape = operand->shape();
  if (!shape || shape->rank() > 1) return -1;
  if (shape->rank() == 0) return 1;
  return (*shape)[0].is_static() ? (*shape)[0].value() : -1;
}

// --- Without axes ---------------------------------------------------------------------------

absl::StatusOr<Values> WithoutAxes(Rewrite& r) {
  if (!NamesNoAxes(r.node)) return NothingToDo();
  return Values{r.b.Op("identity", {r.in(0)})};
}
X2IR_LOWERING(slice, WithoutAxes);
X2IR_LOWERING(pad, WithoutAxes);
X2IR_LOWERING(squeeze, WithoutAxes);

// --- one_hot --------------------------------------------------------------------------------

absl::StatusOr<Values> OneHotOfScalar(Rewrite& r) {
  if (r.rank(0) != 0) return CannotExpress("its indices have axes");
  Value* first = r.b.Ints({0}, "first");
  Value* y =
      r.b.Op("one_hot", {r.b.Op("unsqueeze", {r.in(0), first}), r.in(1), r.in(2)}, {{"axis", 1}});
  return Values{r.b.Op("squeeze", {y, first})};
}
// The new axis after all others, then moved.
absl::StatusOr<Values> OneHotBehind(Rewrite& r) {
  const int64_t rank = r.rank(0);
  if (rank < 1) return CannotExpress("the rank is not known");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank + 1));
  if (axis == rank) return CannotExpress("its new axis is the last one already");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  perm.insert(perm.begin() + axis, rank);
  Value* y = r.b.Op("one_hot", {r.in(0), r.in(1), r.in(2)}, {{"axis", -1}});
  return Values{r.b.Op("transpose", {y}, {{"perm", std::move(perm)}})};
}
// The places along the new axis, each compared with the index; indices below 0 count from the end.
absl::StatusOr<Values> OneHotByComparison(Rewrite& r) {
  const int64_t rank = r.rank(0);
  const auto known = KnownInts(r.in(1));
  if (rank < 0 || !known || known->size() != 1) {
    return CannotExpress("by comparisons, it needs a known depth and rank");
  }
  if (!IsInteger(r.dtype(0))) return CannotExpress("indices that are no integers");
  const int64_t depth = (*known)[0];
  constexpr int64_t kMaxDepth = 1 << 20;
  if (depth < 0 || depth > kMaxDepth) return CannotExpress("a depth of ", depth);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank + 1));
  Builder& b = r.b;
  Value* index = b.Op("cast", {r.in(0)}, {{"to", "int64"}});
  Value* from_end = b.Op("add", {index, b.Int(depth, "depth")});
  Value* place = b.Op("where", {b.Op("less", {index, b.Int(0, "zero")}), from_end, index});
  std::vector<int64_t> dims(static_cast<size_t>(rank - axis + 1), 1), positions(depth);
  dims[0] = depth;
  std::iota(positions.begin(), positions.end(), 0);
  Value* places = b.Constant(Tensor::Of<int64_t>(dims, positions), "places");
  Value* is_on = b.Op("equal", {b.Op("unsqueeze", {place, b.Ints({axis}, "axis")}), places});
  const auto value = [&](int64_t i) {
    return b.Op("gather", {r.in(2), b.Int(i, "number")}, {{"axis", 0}});
  };
  return Values{b.Op("where", {is_on, value(1), value(0)})};
}
X2IR_LOWERING(one_hot, OneHotOfScalar);
X2IR_LOWERING(one_hot, OneHotBehind);
X2IR_LOWERING(one_hot, OneHotByComparison);

// --- squeeze, unsqueeze ---------------------------------------------------------------------

absl::StatusOr<Values> SqueezeAsReshape(Rewrite& r) {
  const int64_t rank = r.rank(0);
  if (!r.has(1) || rank < 0) return CannotExpress("as Reshape, it needs axes and a known rank");
  X2IR_ASSIGN_OR_RETURN(Value * sizes, SizesToReshape(r, r.in(0)));
  Value* kept = r.b.Op("not", {AxisMask(r, r.in(1), rank)});
  sizes = r.b.Op("compress", {sizes, kept}, {{"axis", 0}});
  return Values{ReshapeTo(r, r.in(0), sizes)};
}
X2IR_LOWERING(squeeze, SqueezeAsReshape);

// Each axis of the result is new, or the next one of the operand.
absl::StatusOr<Values> UnsqueezeAsReshape(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t added = LengthOf(r.in(1));
  if (r.rank(0) < 0 || added < 0) {
    return CannotExpress("as Reshape, it needs a known rank and number of axes");
  }
  X2IR_ASSIGN_OR_RETURN(Value * sizes, SizesToReshape(r, r.in(0)));
  const int64_t rank = r.rank(0) + added;
  if (r.rank(0) == 0) {
    sizes = b.Ints(std::vector<int64_t>(rank, 1), "sizes");
  } else {
    Value* is_new = AxisMask(r, r.in(1), rank);
    Value* old = Expr(b, b.Op("not", {is_new})).To(DType::kInt64);
    Value* count = b.Op("cum_sum", {old, b.Int(0, "axis")});
    Value* from = math.Maximum(b.Op("sub", {count, b.Int(1, "one")}), b.Int(0, "zero"));
    sizes = b.Op("where", {is_new, b.Int(1, "new"), b.Op("gather", {sizes, from}, {{"axis", 0}})});
  }
  return Values{ReshapeTo(r, r.in(0), sizes)};
}
X2IR_LOWERING(unsqueeze, UnsqueezeAsReshape);

// --- split ----------------------------------------------------------------------------------

absl::StatusOr<Values> SplitAsSlices(Rewrite& r) {
  if (!r.has(1)) return CannotExpress("as slices, it needs sizes");
  IntegerMath math(r);
  const Integers sizes = math.Read(r.in(1));
  if (sizes.known && sizes.known->size() != r.num_outputs())
    return Invalid("expected one size each");
  Value* axes = r.b.Ints({r.attrs().Int("axis")}, "axis");
  Values parts;
  Integers start = math.Of({0});
  for (size_t i = 0; i < r.num_outputs(); ++i) {
    const Integers end = math.Add(start, math.At(sizes, {static_cast<int64_t>(i)}));
    parts.push_back(r.node.output(i) ? r.b.Op("slice", {r.in(0), math.Get(start, "start"),
                                                        math.Get(end, "end"), axes})
                                     : nullptr);
    start = end;
  }
  return parts;
}
X2IR_LOWERING(split, SplitAsSlices);

// --- slice ----------------------------------------------------------------------------------

// Bounds of some axes as nodes compute them, one entry an axis.
struct Bounds {
  std::vector<int64_t> axes;
  Value *start, *end, *step, *size;
};

absl::StatusOr<Bounds> BoundsOf(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0);
  Value *start = math.Get(math.Read(r.in(1)), "start"), *end = math.Get(math.Read(r.in(2)), "end");
  Value* step = r.has(4) ? math.Get(math.Read(r.in(4)), "step") : b.Ints({1}, "step");
  Bounds bounds;
  auto axes = r.has(3) ? KnownInts(r.in(3)) : std::nullopt;
  if (r.has(3) && !axes) {  // of all axes, those not named being taken whole
    for (int64_t i = 0; i < rank; ++i) bounds.axes.push_back(i);
    Value* matrix = AxisMatrix(r, r.in(3), rank);
    bounds.size = math.Get(math.Sizes(r.in(0), 0, rank), "sizes");
    bounds.start = ByAxis(r, matrix, start, b.Int(0, "zero"));
    bounds.end = ByAxis(r, matrix, end, bounds.size);
    bounds.step = r.has(4) ? ByAxis(r, matrix, step, b.Int(1, "one")) : step;
    return bounds;
  }
  if (!axes) {
    const int64_t n = LengthOf(r.in(1));
    if (n < 0) return CannotExpress("how many axes it slices is not known");
    axes.emplace();
    for (int64_t i = 0; i < n; ++i) axes->push_back(i);
  }
  X2IR_ASSIGN_OR_RETURN(bounds.axes, NormalizeAxes(*std::move(axes), rank));
  bounds.start = start, bounds.end = end, bounds.step = step;
  bounds.size = math.Get(math.Sizes(r.in(0), bounds.axes), "sizes");
  return bounds;
}

// Bounds that are constants, as steps other than 1 may have, of axes of known sizes.
absl::StatusOr<Values> KnownSliceAsGather(Rewrite& r) {
  IntegerMath math(r);
  const auto starts = KnownInts(r.in(1)), ends = KnownInts(r.in(2));
  auto axes = r.has(3) ? KnownInts(r.in(3)) : std::nullopt;
  if (!starts || !ends || (r.has(3) && !axes) || r.rank(0) < 0) {
    return CannotExpress("its bounds are not known");
  }
  const size_t n = starts->size();
  std::vector<int64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  const auto steps = r.has(4) ? KnownInts(r.in(4)) : std::vector<int64_t>(n, 1);
  X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(axes.value_or(all), r.rank(0)));
  const Integers sizes = math.Sizes(r.in(0), *axes);
  if (!steps || !sizes.known) return CannotExpress("its steps, or sizes of axes, are not known");
  if (ends->size() != n || steps->size() != n || axes->size() != n) {
    return Invalid("starts, ends, axes and steps: expected lists of one length");
  }
  Value* x = r.in(0);
  for (size_t i = 0; i < n; ++i) {
    if ((*steps)[i] == 0) return Invalid("steps: 0");
    const SliceRange range = ResolveSlice((*sizes.known)[i], (*starts)[i], (*ends)[i], (*steps)[i]);
    const Integers places =
        math.Add(math.Of({range.start}),
                 math.Mul(math.Of({range.step}), math.Positions(math.Of({range.count}))));
    x = r.b.Op("gather", {x, math.Get(places, "positions")}, {{"axis", (*axes)[i]}});
  }
  return Values{n == 0 ? r.b.Op("identity", {x}) : x};
}
X2IR_LOWERING(slice, KnownSliceAsGather);

// The positions that each axis takes, start + i * step, are gathered.
absl::StatusOr<Values> SliceAsGather(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  if (r.rank(0) < 0) return CannotExpress("as Gather, it needs a known rank");
  X2IR_ASSIGN_OR_RETURN(const Bounds at, BoundsOf(r));
  const Integers size = math.Read(at.size);
  Value *zero = b.Int(0, "zero"), *one = b.Int(1, "one");
  // Bounds are clamped to what a step in their direction can reach.
  Value* up = b.Op("greater", {at.step, zero});
  Value* high = b.Op("where", {up, at.size, b.Op("sub", {at.size, one})});
  Value* low = b.Op("where", {up, zero, b.Int(-1, "before")});
  const auto clamp = [&](Value* bound, Value* least) {
    return math.Maximum(math.Minimum(math.FromFront(bound, size), high), least);
  };
  Value *start = clamp(at.start, zero), *end = clamp(at.end, low);
  Value* span = b.Op("where", {up, b.Op("sub", {end, start}), b.Op("sub", {start, end})});
  // A step that leaves the axis takes one element, however large it is.
  Value* most = b.Op("add", {at.size, one});
  Value* step = math.Maximum(math.Minimum(at.step, most), b.Op("neg", {most}));
  Value* stride = b.Op("abs", {step});
  Value* count = b.Op("div", {b.Op("sub", {b.Op("add", {span, stride}), one}), stride});
  count = math.Maximum(math.Minimum(count, at.size), zero);
  // One step may be given for all axes.
  const int64_t n = static_cast<int64_t>(at.axes.size());
  step = b.Op("expand", {step, b.Ints({n}, "axes")});
  Value* x = r.in(0);
  for (int64_t i = 0; i < n; ++i) {
    const auto entry = [&](Value* all) {
      return b.Op("gather", {all, b.Ints({i}, "entry")}, {{"axis", 0}});
    };
    Value* places = math.Get(math.Positions({std::nullopt, entry(count)}));
    Value* index = b.Op("add", {entry(start), b.Op("mul", {places, entry(step)})});
    x = b.Op("gather", {x, index}, {{"axis", at.axes[i]}});
  }
  return Values{n == 0 ? b.Op("identity", {x}) : x};
}
X2IR_LOWERING(slice, SliceAsGather);

}  // namespace
}  // namespace x2ir
