// Rules of simplify for ops that move elements (see simplify.cc).
//  9. `transpose` that moves nothing is its operand; two in a row are one.
// 10. `pad` by nothing, `slice` of everything, `split` into one part are their operand.
// 11. `expand` and `tile` to the shape that the operand has are it. Sizes of `expand` that are
//     the operand's own become 1, where that makes them all numbers.
// 12. `slice` of a `slice` without other users is one: along other axes, or where the bounds
//     can be added up (no bound counts from the end, or the size is a number).
// 13. A `concat` that only another one along the same axis uses becomes part of that; operands
//     without elements go.
// 26. A `concat` of all parts of one value, along their axis, is that value; where they are slices
//     in another order (a roll) without other users, they are the parts of one `split`.
// 25. `unsqueeze` that gives back the axis of a `gather` of one constant index, which has no other
//     user, becomes part of that: its index is a list of one.
// 36. `split` of a reshape that takes an axis apart in two, along the first of them, where all
// parts
//     are reshaped to have them as one axis again, is a split along that axis.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/ops/infer.h"
#include "x2ir/ops/slice.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// --- 9 --------------------------------------------------------------------------------------

// As PermOf (ops/perm.h), but also of an unknown rank, where the attribute says it.
std::optional<std::vector<int64_t>> PermAttr(const Node& node) {
  if (node.attrs().Has("perm")) return node.attrs().Ints("perm");
  const int64_t rank = RankOf(node.input(0));
  if (rank < 0) return std::nullopt;
  std::vector<int64_t> perm;
  for (int64_t i = rank; i-- > 0;) perm.push_back(i);
  return perm;
}

absl::StatusOr<bool> MergeTransposes(Rewriter& r) {
  const auto perm = PermAttr(r.node());
  const Node* first = r.Producer(0, "transpose");
  if (!perm) {  // the reversal of a rank that is not known, twice
    return first && !first->attrs().Has("perm") && r.Replace(first->input(0));
  }
  if (std::is_sorted(perm->begin(), perm->end())) return r.Replace(r.in(0));
  const auto before = first ? PermAttr(*first) : std::nullopt;
  if (!before || before->size() != perm->size()) return false;
  std::vector<int64_t> both;
  for (const int64_t axis : *perm) both.push_back((*before)[axis]);
  if (std::is_sorted(both.begin(), both.end())) return r.Replace(first->input(0));
  return r.Replace(r.b().Op("transpose", {first->input(0)}, {{"perm", std::move(both)}}));
}
X2IR_RULE(simplify, transpose, MergeTransposes);

// --- 10, 11 ---------------------------------------------------------------------------------

absl::StatusOr<bool> RemovePad(Rewriter& r) {
  const auto pads = KnownInts(r.in(1));
  if (!pads || std::any_of(pads->begin(), pads->end(), [](int64_t p) { return p != 0; })) {
    return false;
  }
  return r.Replace(r.in(0));
}
X2IR_RULE(simplify, pad, RemovePad);

absl::StatusOr<bool> RemoveSplit(Rewriter& r) {
  return r.node().num_outputs() == 1 && HasTypeOf(r, 0) && r.Replace(r.in(0));
}
X2IR_RULE(simplify, split, RemoveSplit);

absl::StatusOr<bool> RemoveRepeats(Rewriter& r) { return HasTypeOf(r, 0) && r.Replace(r.in(0)); }
X2IR_RULE(simplify, tile, RemoveRepeats);
X2IR_RULE(simplify, expand, RemoveRepeats);

absl::StatusOr<bool> ExpandByNumbers(Rewriter& r) {
  const Shape* in = r.in(0)->shape();
  const auto sizes = KnownElements(r.in(1));
  if (!in || !sizes || r.in(1)->fixed_constant()) return false;
  std::vector<int64_t> numbers;
  const auto rank = static_cast<int64_t>(sizes->size());
  for (int64_t i = 0; i < rank; ++i) {
    const Dim& size = (*sizes)[i];
    const int64_t axis = i - (rank - in->rank());
    if (size.is_static()) {
      numbers.push_back(size.value());
    } else if (axis >= 0 && ProvablyEqual(size, (*in)[axis])) {
      numbers.push_back(1);
    } else {
      return false;
    }
  }
  return r.Replace(r.b().Op("expand", {r.in(0), r.b().Ints(numbers)}));
}
X2IR_RULE(simplify, expand, ExpandByNumbers);

// --- 10, 12: slices -------------------------------------------------------------------------

struct AxisSlice {
  int64_t axis;
  Dim start, end;
  int64_t step;
};

// nullopt where axes or steps are not known, or bounds are not even named.
std::optional<std::vector<AxisSlice>> SlicesOf(const Node& node) {
  const int64_t rank = RankOf(node.input(0));
  const auto starts = KnownElements(node.input(1)), ends = KnownElements(node.input(2));
  if (rank < 0 || !starts || !ends || starts->size() != ends->size()) return std::nullopt;
  const size_t n = starts->size();
  std::vector<int64_t> axes, steps(n, 1);
  for (size_t i = 0; i < n; ++i) axes.push_back(static_cast<int64_t>(i));
  if (node.input(3)) {
    const auto known = KnownInts(node.input(3));
    if (!known || known->size() != n) return std::nullopt;
    const auto normal = NormalizeAxes(*known, rank);
    if (!normal.ok()) return std::nullopt;
    axes = *normal;
  }
  if (node.input(4)) {
    const auto known = KnownInts(node.input(4));
    if (!known || known->size() != n) return std::nullopt;
    steps = *known;
  }
  std::vector<AxisSlice> slices;
  for (size_t i = 0; i < n; ++i) {
    if (axes[i] >= rank || steps[i] == 0) return std::nullopt;
    slices.push_back({axes[i], (*starts)[i], (*ends)[i], steps[i]});
  }
  return slices;
}

bool TakesAll(const AxisSlice& slice, const Dim& size) {
  return slice.step == 1 && ProvablyEqual(SlicedDim(size, slice.start, slice.end, 1), size);
}

absl::StatusOr<bool> RemoveSlice(Rewriter& r) {
  const auto slices = SlicesOf(r.node());
  if (!slices) return false;
  for (const AxisSlice& slice : *slices) {
    if (!TakesAll(slice, (*r.in(0)->shape())[slice.axis])) return false;
  }
  return r.Replace(r.in(0));
}
X2IR_RULE(simplify, slice, RemoveSlice);

// One after the other along the same axis of that size.
std::optional<AxisSlice> Compose(const AxisSlice& a, const AxisSlice& b, const Dim& size) {
  if (!a.start.is_static() || !a.end.is_static() || !b.start.is_static() || !b.end.is_static()) {
    return std::nullopt;
  }
  if (size.is_static()) {
    const SliceRange x = ResolveSlice(size.value(), a.start.value(), a.end.value(), a.step);
    const SliceRange y = ResolveSlice(x.count, b.start.value(), b.end.value(), b.step);
    if (y.count == 0) return AxisSlice{a.axis, 0, 0, 1};
    const int64_t start = x.start + (y.count > 0 ? y.start * x.step : 0);
    if (y.count == 1) return AxisSlice{a.axis, start, start + 1, 1};
    // More than one element: steps are smaller than the size, and so is their product.
    const int64_t step = x.step * y.step;
    int64_t end = start + (y.count - 1) * step + (step > 0 ? 1 : -1);
    if (end < 0) end = std::numeric_limits<int64_t>::min();
    return AxisSlice{a.axis, start, end, step};
  }
  if (a.step != 1 || b.step != 1 || a.start.value() < 0 || a.end.value() < 0 ||
      b.start.value() < 0 || b.end.value() < 0) {
    return std::nullopt;
  }
  const auto add = [](int64_t x, int64_t y) {
    int64_t sum;
    return __builtin_add_overflow(x, y, &sum) ? std::numeric_limits<int64_t>::max() : sum;
  };
  const int64_t start = add(a.start.value(), b.start.value());
  const int64_t end = std::min(a.end.value(), add(a.start.value(), b.end.value()));
  return AxisSlice{a.axis, start, end, 1};
}

absl::StatusOr<bool> MergeSlices(Rewriter& r) {
  const Node* first = r.Producer(0, "slice");
  if (!first || !Rewriter::UsedOnce(r.in(0))) return false;
  auto slices = SlicesOf(*first);
  const auto more = SlicesOf(r.node());
  if (!slices || !more) return false;
  for (const AxisSlice& b : *more) {
    const auto a = std::find_if(slices->begin(), slices->end(),
                                [&](const AxisSlice& s) { return s.axis == b.axis; });
    if (a == slices->end()) {
      slices->push_back(b);
    } else if (const auto both = Compose(*a, b, (*first->input(0)->shape())[b.axis])) {
      *a = *both;
    } else {
      return false;
    }
  }
  std::vector<int64_t> starts, ends, axes, steps;
  for (const AxisSlice& slice : *slices) {
    if (!slice.start.is_static() || !slice.end.is_static()) return false;
    starts.push_back(slice.start.value());
    ends.push_back(slice.end.value());
    axes.push_back(slice.axis);
    steps.push_back(slice.step);
  }
  Builder& b = r.b();
  return r.Replace(b.Op("slice", {first->input(0), b.Ints(starts, "starts"), b.Ints(ends, "ends"),
                                  b.Ints(axes, "axes"), b.Ints(steps, "steps")}));
}
X2IR_RULE(simplify, slice, MergeSlices);

// --- 13 -------------------------------------------------------------------------------------

// A chain of many is put together at a cost of its length times this.
constexpr size_t kMaxConcatOperands = 256;

bool SameAxis(const Node& a, const Node& b, int64_t rank) {
  const int64_t x = a.attrs().Int("axis"), y = b.attrs().Int("axis");
  return x == y || (rank >= 0 && (x < 0 ? x + rank : x) == (y < 0 ? y + rank : y));
}

bool IsEmptyAlong(const Value& part, int64_t axis) {
  const int64_t rank = RankOf(&part);
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank && (*part.shape())[axis] == Dim(0);
}

absl::StatusOr<bool> FlattenConcat(Rewriter& r) {
  const int64_t axis = r.attrs().Int("axis");
  std::vector<Value*> parts;
  bool changed = false;
  size_t empty = 0;
  for (size_t i = 0; i < r.node().num_inputs(); ++i) {
    const Node* inner = r.Producer(i, "concat");
    if (inner && Rewriter::UsedOnce(r.in(i)) &&
        r.node().num_inputs() + inner->num_inputs() <= kMaxConcatOperands &&
        SameAxis(r.node(), *inner, RankOf(r.in(i)))) {
      for (Value* part : inner->inputs()) parts.push_back(part);
      changed = true;
    } else {
      parts.push_back(r.in(i));
    }
  }
  for (const Value* part : parts) empty += IsEmptyAlong(*part, axis);
  if (empty != 0 && parts.size() > 1) {
    Value* first = parts[0];
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [&](Value* part) { return IsEmptyAlong(*part, axis); }),
                parts.end());
    if (parts.empty()) parts.push_back(first);
    changed = true;
  }
  return changed && r.Replace(r.b().Op("concat", std::move(parts), r.attrs()));
}
X2IR_RULE(simplify, concat, FlattenConcat);

// --- 26 -------------------------------------------------------------------------------------

// What a slice or a split took out of a value of known size.
struct TakenPart {
  Value* whole;
  int64_t from, to;
  bool alone;  // by a slice without other users
};

std::optional<TakenPart> PartAlong(Rewriter& r, size_t i, int64_t axis) {
  const Value* part = r.in(i);
  const Node* node = r.Producer(i, "slice");
  if (!node) node = r.Producer(i, "split");
  const Shape* shape = node && node->input(0) ? node->input(0)->shape() : nullptr;
  if (!shape || axis >= shape->rank() || !(*shape)[axis].is_static()) return std::nullopt;
  if (node->Is("slice")) {
    const auto slices = SlicesOf(*node);
    if (!slices || slices->size() != 1 || (*slices)[0].axis != axis || (*slices)[0].step != 1 ||
        !(*slices)[0].start.is_static() || !(*slices)[0].end.is_static()) {
      return std::nullopt;
    }
    const SliceRange range = ResolveSlice((*shape)[axis].value(), (*slices)[0].start.value(),
                                          (*slices)[0].end.value(), 1);
    return TakenPart{node->input(0), range.start, range.start + range.count,
                     Rewriter::UsedOnce(part)};
  }
  const auto own = NormalizeAxes({node->attrs().Int("axis")}, shape->rank());
  if (!own.ok() || (*own)[0] != axis) return std::nullopt;
  int64_t from = 0;
  for (size_t k = 0; k < node->num_outputs(); ++k) {
    const Shape* sized = node->output(k) ? node->output(k)->shape() : nullptr;
    if (!sized || !(*sized)[axis].is_static()) return std::nullopt;
    const int64_t to = from + (*sized)[axis].value();
    if (k == part->output_index()) return TakenPart{node->input(0), from, to, false};
    from = to;
  }
  return std::nullopt;
}

absl::StatusOr<bool> JoinParts(Rewriter& r) {
  const size_t n = r.node().num_inputs();
  const auto axes = NormalizeAxes({r.attrs().Int("axis")}, RankOf(r.in(0)));
  if (n < 2 || n > kMaxConcatOperands || !axes.ok()) return false;
  const int64_t axis = (*axes)[0];
  std::vector<TakenPart> parts;
  std::vector<size_t> order;
  bool alone = true;
  for (size_t i = 0; i < n; ++i) {
    const auto part = PartAlong(r, i, axis);
    if (!part || part->from == part->to || (i > 0 && part->whole != parts[0].whole)) return false;
    alone = alone && part->alone;
    order.push_back(i);
    parts.push_back(*part);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return parts[a].from < parts[b].from; });
  int64_t at = 0;
  for (const size_t i : order) {
    if (parts[i].from != at) return false;
    at = parts[i].to;
  }
  Value* whole = parts[0].whole;
  if ((*whole->shape())[axis] != Dim(at)) return false;
  if (std::is_sorted(order.begin(), order.end())) return r.Replace(whole);
  if (!alone) return false;
  std::vector<int64_t> sizes;
  for (const size_t i : order) sizes.push_back(parts[i].to - parts[i].from);
  const std::vector<Value*> pieces =
      r.b().Ops("split", {whole, r.b().Ints(sizes, "sizes")}, {{"axis", axis}}, n);
  std::vector<Value*> turned(n);
  for (size_t k = 0; k < n; ++k) turned[order[k]] = pieces[k];
  return r.Replace(r.b().Op("concat", std::move(turned), r.attrs()));
}
X2IR_RULE(simplify, concat, JoinParts, {"slice", "split"});

// --- 18 -------------------------------------------------------------------------------------

absl::StatusOr<bool> KeepGatheredAxis(Rewriter& r) {
  const Node* gather = r.Producer(0, "gather");
  const int64_t rank = gather ? RankOf(gather->input(0)) : -1;
  const auto axes = KnownInts(r.in(1));
  if (rank < 1 || !axes || axes->size() != 1 || !Rewriter::UsedOnce(r.in(0))) return false;
  const Tensor* index = gather->input(1)->fixed_constant();
  const auto from = NormalizeAxes({gather->attrs().Int("axis")}, rank);
  const auto to = NormalizeAxes(*axes, rank);
  if (!index || index->is_sparse() || index->rank() != 0 || !from.ok() || !to.ok() ||
      *from != *to) {
    return false;
  }
  Value* list = r.b().Constant(index->Reshaped({1}), "index");
  return r.Replace(r.b().Op("gather", {gather->input(0), list}, gather->attrs()));
}
X2IR_RULE(simplify, unsqueeze, KeepGatheredAxis);

// Whether the value is only reshaped to that shape.
bool AllReshapeTo(const Value& value, const Shape& shape) {
  if (value.is_graph_output()) return false;
  return std::all_of(value.uses().begin(), value.uses().end(), [&](const Use& use) {
    return use.node->Is("reshape") && use.index == 0 && use.node->graph() == value.graph() &&
           SameShape(use.node->output(0)->shape(), &shape);
  });
}

absl::StatusOr<bool> SplitBeforeReshape(Rewriter& r) {
  const Node* reshape = r.Producer(0, "reshape");
  if (!reshape || !Rewriter::UsedOnce(r.in(0))) return false;
  Value* whole = reshape->input(0);
  const Shape *from = whole->shape(), *apart = r.in(0)->shape();
  if (!from || !apart || apart->rank() != from->rank() + 1) return false;
  int64_t axis = r.attrs().Int("axis");
  if (axis < 0) axis += apart->rank();
  if (axis + 1 >= apart->rank() || !(*apart)[axis].is_static() || !(*apart)[axis + 1].is_static() ||
      (*from)[axis] != (*apart)[axis] * (*apart)[axis + 1]) {
    return false;
  }
  for (int64_t i = 0; i < from->rank(); ++i) {
    if (i != axis && !ProvablyEqual((*from)[i], (*apart)[i < axis ? i : i + 1])) return false;
  }
  std::vector<int64_t> sizes;
  for (const Value* part : r.node().outputs()) {
    if (!part || !part->shape() || !(*part->shape())[axis].is_static()) return false;
    sizes.push_back((*part->shape())[axis].value() * (*apart)[axis + 1].value());
    std::vector<Dim> dims = from->dims();
    dims[axis] = sizes.back();
    if (!AllReshapeTo(*part, Shape(dims))) return false;
  }
  Builder& b = r.b();
  const Values parts =
      b.Ops("split", {whole, b.Ints(sizes, "sizes")}, {{"axis", axis}}, sizes.size());
  // Its users' reshapes are of the shape that they give.
  Values again;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<int64_t> dims(from->rank() + 1, 0);
    dims[axis] = (*r.out(i)->shape())[axis].value();
    dims[axis + 1] = (*apart)[axis + 1].value();
    for (int64_t k = axis + 2; k < apart->rank(); ++k) {
      if (!(*apart)[k].is_static()) return false;
      dims[k] = (*apart)[k].value();
    }
    again.push_back(b.Op("reshape", {parts[i], b.Ints(dims)}));
  }
  return r.Replace(again);
}
X2IR_RULE(simplify, split, SplitBeforeReshape, {"reshape"});

}  // namespace
}  // namespace x2ir
