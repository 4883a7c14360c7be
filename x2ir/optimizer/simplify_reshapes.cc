// Rules of simplify for ops that only give elements another shape: reshape, flatten, squeeze and
// unsqueeze (see simplify.cc).
// 14. One that gives the shape that the operand has is its operand.
// 15. Two in a row are one reshape, where its sizes can be written down.
// 16. Sizes of a reshape that are computed become numbers, where they can be written down; or it is
//     a flatten.
// 17. One that only drops the axes that a reduction left as 1, or puts them back, is the reduction
//     with keepdims the other way.
// 18. One that only adds or drops axes of size 1, after a transpose of a reshape, becomes part of
//     that reshape.
// 35. One that ends a chain of reshapes and transposes by which the axes that are at its start are
//     moved is one transpose, with a reshape where it puts axes together or takes them apart.
//
// Sizes can be written down as numbers, as 0 (the operand's own size there) and as one -1 (what
// the others leave). -1 beside a 0 means nothing for an operand without elements, so they occur
// together only if they did so before; the result must hold for every size of every dim.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/axis_parts.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

bool OnlyReshapes(const OpDef& op) { return op.moves() == MoveUse::kInOrder; }
bool IsAnyReshape(const Node* node) {
  const OpDef* op = OpOf(node);
  return op && OnlyReshapes(*op);
}

// A shape on the way: every dim known, except for one that is what the others leave.
struct Sizes {
  std::vector<Dim> dims;
  int64_t hole = -1;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

// Dims that are not known get names of their own, so that they can be followed.
std::optional<Sizes> SizesOf(const Value& value) {
  if (!value.shape()) return std::nullopt;
  Sizes sizes;
  for (const Dim& dim : *value.shape()) {
    sizes.dims.push_back(dim.is_unknown() ? Dim::Symbol(StrCat("?", sizes.rank())) : dim);
  }
  return sizes;
}

std::optional<Sizes> Reshape(const Node& node, const std::optional<Sizes>& in) {
  const auto wanted = KnownElements(node.input(1));
  if (!wanted) return std::nullopt;
  const bool copies = node.attrs().Int("allowzero") == 0;
  Sizes out;
  const auto hole = [&] {
    if (out.hole >= 0) return false;
    out.hole = out.rank();
    out.dims.emplace_back();
    return true;
  };
  int64_t unknown = 0;
  bool positive = true;  // all but the unknown ones
  for (const Dim& size : *wanted) {
    unknown += size.is_unknown();
    positive = positive && (size.is_unknown() || (size.is_static() && size.value() > 0));
  }
  for (const Dim& size : *wanted) {
    const int64_t i = out.rank();
    if (size.is_unknown()) {  // it is the size that the others leave
      if (unknown > 1 || !positive || !hole()) return std::nullopt;
    } else if (size == Dim(-1)) {
      if (!hole()) return std::nullopt;
    } else if (size == Dim(0) && copies) {
      if (!in || i >= in->rank()) return std::nullopt;
      if (i != in->hole) {
        out.dims.push_back(in->dims[i]);
      } else if (!hole()) {
        return std::nullopt;
      }
    } else if (size.is_static() && size.value() < 0) {
      return std::nullopt;
    } else {
      out.dims.push_back(size);
    }
  }
  return out;
}

std::optional<Sizes> Flatten(const Node& node, const Sizes& in) {
  int64_t axis = node.attrs().Int("axis");
  if (axis < 0) axis += in.rank();
  if (axis < 0 || axis > in.rank()) return std::nullopt;
  Sizes out{{1, 1}};
  for (int64_t i = 0; i < in.rank(); ++i) {
    const int64_t side = i < axis ? 0 : 1;
    if (i == in.hole) {
      out.hole = side;
    } else {
      out.dims[side] = out.dims[side] * in.dims[i];
    }
  }
  if (out.hole >= 0) out.dims[out.hole] = Dim();
  return out;
}

std::optional<Sizes> Squeeze(const Node& node, const Sizes& in) {
  std::vector<bool> drop(in.rank(), false);
  if (node.input(1)) {
    const auto axes = KnownInts(node.input(1));
    if (!axes) return std::nullopt;
    const auto normal = NormalizeAxes(*axes, in.rank());
    if (!normal.ok()) return std::nullopt;
    for (const int64_t axis : *normal) drop[axis] = true;
  } else {
    for (int64_t i = 0; i < in.rank(); ++i) {
      if (i == in.hole || !in.dims[i].is_static()) return std::nullopt;
      drop[i] = in.dims[i].value() == 1;
    }
  }
  Sizes out;
  for (int64_t i = 0; i < in.rank(); ++i) {
    if (drop[i]) {
      if (i == in.hole) return std::nullopt;
      continue;
    }
    if (i == in.hole) out.hole = out.rank();
    out.dims.push_back(in.dims[i]);
  }
  return out;
}

std::optional<Sizes> Unsqueeze(const Node& node, const Sizes& in) {
  const auto axes = KnownInts(node.input(1));
  if (!axes) return std::nullopt;
  const int64_t rank = in.rank() + static_cast<int64_t>(axes->size());
  const auto normal = NormalizeAxes(*axes, rank);
  if (!normal.ok()) return std::nullopt;
  std::vector<bool> fresh(rank, false);
  for (const int64_t axis : *normal) fresh[axis] = true;
  Sizes out;
  int64_t from = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (fresh[i]) {
      out.dims.emplace_back(1);
      continue;
    }
    if (from == in.hole) out.hole = i;
    out.dims.push_back(in.dims[from++]);
  }
  return out;
}

std::optional<Sizes> Apply(const Node& node, const std::optional<Sizes>& in) {
  if (node.op() == "reshape") return Reshape(node, in);
  if (!in) return std::nullopt;
  if (node.op() == "flatten") return Flatten(node, *in);
  if (node.op() == "squeeze") return Squeeze(node, *in);
  return node.op() == "unsqueeze" ? Unsqueeze(node, *in) : std::nullopt;
}

// What is left for the hole, where inference knows it.
void FillHole(Sizes& sizes, const Value& value) {
  if (sizes.hole < 0 || RankOf(&value) != sizes.rank() || value.is_graph_output()) return;
  const Dim& dim = (*value.shape())[sizes.hole];
  if (dim.is_unknown()) return;
  sizes.dims[sizes.hole] = dim;
  sizes.hole = -1;
}

struct Written {
  std::vector<int64_t> sizes;
  bool allowzero = false;
};

std::optional<Written> Write(const Sizes& sizes, const std::optional<Sizes>& in) {
  Written out;
  bool copies = false, zeros = false, positive = true;
  int64_t left = -1;  // a size that has no other name than "what is left"
  for (int64_t i = 0; i < sizes.rank(); ++i) {
    const Dim& dim = sizes.dims[i];
    if (i == sizes.hole) {
      out.sizes.push_back(-1);
    } else if (dim.is_static()) {
      zeros |= dim.value() == 0;
      positive = positive && dim.value() > 0;
      out.sizes.push_back(dim.value());
    } else if (in && i < in->rank() && ProvablyEqual(dim, in->dims[i])) {
      copies = true;
      out.sizes.push_back(0);
    } else if (left < 0 && sizes.hole < 0) {
      left = i;
      out.sizes.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  if (left >= 0 && (copies || !positive)) return std::nullopt;
  if (zeros && (copies || sizes.hole >= 0)) return std::nullopt;
  out.allowzero = zeros;
  return out;
}

absl::StatusOr<bool> ReplaceBy(Rewriter& r, Value* x, const Written& written) {
  Builder& b = r.b();
  return r.Replace(b.Op("reshape", {x, b.Ints(written.sizes, "sizes")},
                        {{"allowzero", written.allowzero ? 1 : 0}}));
}

// The shape of `value` itself; also where some of its dims are not known.
bool IsShapeOf(const Sizes& sizes, const Sizes& value) {
  if (sizes.hole >= 0 || sizes.rank() != value.rank()) return false;
  for (int64_t i = 0; i < sizes.rank(); ++i) {
    if (!ProvablyEqual(sizes.dims[i], value.dims[i])) return false;
  }
  return true;
}

absl::StatusOr<bool> RemoveReshape(Rewriter& r) { return HasTypeOf(r, 0) && r.Replace(r.in(0)); }
X2IR_RULE_OF_OPS(simplify, OnlyReshapes, RemoveReshape);

absl::StatusOr<bool> MergeReshapes(Rewriter& r) {
  const Node* first = r.in(0)->producer();
  if (!IsAnyReshape(first) || first->graph() != &r.graph()) return false;
  Value* x = first->input(0);
  const std::optional<Sizes> in = SizesOf(*x);
  std::optional<Sizes> middle = Apply(*first, in);
  if (middle) FillHole(*middle, *r.in(0));
  const std::optional<Sizes> sizes = Apply(r.node(), middle);
  if (!sizes) return false;
  if (in && IsShapeOf(*sizes, *in)) return r.Replace(x);
  const std::optional<Written> written = Write(*sizes, in);
  if (!written) return false;
  return ReplaceBy(r, x, *written);
}
X2IR_RULE_OF_OPS(simplify, OnlyReshapes, MergeReshapes);

// Where two sizes are the products of the axes before and after an axis of the operand, for all
// sizes.
std::optional<int64_t> FlattenAxis(const Rewriter& r, const Sizes& sizes) {
  const Shape* in = r.in(0)->shape();
  if (!in || sizes.rank() != 2 || sizes.hole >= 0) return std::nullopt;
  for (int64_t axis = 0; axis <= in->rank(); ++axis) {
    if (ProvablyEqual(in->NumElements(0, axis), sizes.dims[0]) &&
        ProvablyEqual(in->NumElements(axis, in->rank()), sizes.dims[1])) {
      return axis;
    }
  }
  return std::nullopt;
}

absl::StatusOr<bool> ReshapeByNumbers(Rewriter& r) {
  if (r.in(1)->constant()) return false;
  const std::optional<Sizes> in = SizesOf(*r.in(0));
  const std::optional<Sizes> sizes = Apply(r.node(), in);
  if (!sizes) return false;
  if (const std::optional<Written> written = Write(*sizes, in)) {
    return ReplaceBy(r, r.in(0), *written);
  }
  const std::optional<int64_t> axis = FlattenAxis(r, *sizes);
  return axis && r.Replace(r.b().Op("flatten", {r.in(0)}, {{"axis", *axis}}));
}
X2IR_RULE(simplify, reshape, ReshapeByNumbers);

absl::StatusOr<bool> ReduceToShape(Rewriter& r) {
  const Node* reduction = r.in(0)->producer();
  if (!reduction || !reduction->is_ir() || reduction->graph() != &r.graph() ||
      !reduction->attrs().Has("keepdims") || !Rewriter::UsedOnce(r.in(0))) {
    return false;
  }
  AttributeMap attrs = reduction->attrs();
  attrs.Set("keepdims", attrs.Int("keepdims") != 0 ? 0 : 1);
  Value* y = r.b().Op(reduction->op(), reduction->inputs(), std::move(attrs));
  // A glance, before the trial that decides.
  if (!r.b().status().ok() || RankOf(y) != RankOf(r.out())) return false;
  return SameShape(y->shape(), InferredType(r).shape()) && r.Replace(y);
}
X2IR_RULE_OF_OPS(simplify, OnlyReshapes, ReduceToShape);

// The axes of other sizes than 1.
std::vector<int64_t> Cores(const Shape& shape) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != Dim(1)) axes.push_back(i);
  }
  return axes;
}

absl::StatusOr<bool> MoveOnesBeforeTranspose(Rewriter& r) {
  const Node* transpose = r.Producer(0, "transpose");
  if (!transpose || !Rewriter::UsedOnce(r.in(0))) return false;
  const Value* before = transpose->input(0);
  const Node* first = before->producer();
  if (!IsAnyReshape(first) || first->graph() != &r.graph() || !Rewriter::UsedOnce(before))
    return false;
  const Shape *from = before->shape(), *moved = r.in(0)->shape();
  const Type type = InferredType(r);
  const Shape* to = type.shape();
  const std::optional<Sizes> in = SizesOf(*first->input(0));
  if (!from || !moved || !to || !in || !transpose->attrs().Has("perm")) return false;
  const std::vector<int64_t> perm = transpose->attrs().Ints("perm");
  const std::vector<int64_t> a = Cores(*from), b = Cores(*moved), c = Cores(*to);
  if (b.size() != c.size()) return false;
  for (size_t i = 0; i < b.size(); ++i) {
    if (!ProvablyEqual((*moved)[b[i]], (*to)[c[i]])) return false;
  }
  // Axes of size 1 get the position before the transpose that they have after it, the others keep
  // their order.
  Sizes sizes;
  std::vector<int64_t> place(from->rank(), -1), order;
  for (int64_t i = 0, next = 0; i < to->rank(); ++i) {
    if ((*to)[i] == Dim(1)) {
      sizes.dims.emplace_back(1);
    } else {
      place[a[next]] = i;
      sizes.dims.push_back((*from)[a[next++]]);
    }
  }
  for (int64_t i = 0, next = 0; i < to->rank(); ++i) {
    order.push_back((*to)[i] == Dim(1) ? i : place[perm[b[next++]]]);
  }
  const std::optional<Written> written = Write(sizes, in);
  if (!written) return false;
  Builder& builder = r.b();
  Value* y = builder.Op("reshape", {first->input(0), builder.Ints(written->sizes, "sizes")},
                        {{"allowzero", written->allowzero ? 1 : 0}});
  return r.Replace(builder.Op("transpose", {y}, {{"perm", std::move(order)}}));
}
X2IR_RULE(simplify, reshape, MoveOnesBeforeTranspose);
X2IR_RULE(simplify, squeeze, MoveOnesBeforeTranspose);
X2IR_RULE(simplify, unsqueeze, MoveOnesBeforeTranspose);

// Whether sizes of a reshape are all written out: none is that of the operand.
bool AreOwnSizes(const Node& reshape) {
  const auto sizes = KnownInts(reshape.input(1));
  return sizes && (reshape.attrs().Int("allowzero") != 0 ||
                   std::find(sizes->begin(), sizes->end(), 0) == sizes->end());
}

absl::StatusOr<bool> MovesAsTranspose(Rewriter& r) {
  Moved moved = BeforeMoves(Pattern(r), r.in(0));
  moved.moves.push_back(&r.node());
  for (; moved.moves.size() > 2; moved.moves.erase(moved.moves.begin())) {
    const auto parts = moved.moves[0]->Is("transpose") ? std::nullopt : AxisParts::Of(moved);
    const auto perm = parts ? PermOf(*parts) : std::nullopt;
    if (perm && (perm->reshaped ? AreOwnSizes(r.node()) : true)) {
      Value* y = r.b().Op("transpose", {moved.from}, {{"perm", perm->perm}});
      return r.Replace(perm->reshaped ? r.b().Op("reshape", {y, r.in(1)}, r.attrs()) : y);
    }
    moved.from = moved.moves[0]->output(0);
  }
  return false;
}
X2IR_RULE(simplify, reshape, MovesAsTranspose, {"transpose"});

}  // namespace
}  // namespace x2ir
