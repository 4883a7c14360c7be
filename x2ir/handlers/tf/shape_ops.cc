// TensorFlow: shapes, and what makes tensors of a shape.
#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

DType IndexType(TfArgs& a) { return a.Type("out_type", DType::kInt32); }
Value* FromShapeOf(TfArgs& a) { return a.Cast(a.Op("shape", {a.in(0)}), IndexType(a)); }

Values ShapeN(TfArgs& a) {
  const DType type = IndexType(a);
  Values shapes;
  for (Value* v : a.inputs()) shapes.push_back(a.Cast(a.Op("shape", {v}), type));
  return shapes;
}

Value* SizeAsValue(TfArgs& a) { return a.Cast(a.Op("size", {a.in(0)}), IndexType(a)); }

Value* RankAsValue(TfArgs& a) {
  Value* x = a.in(0);
  if (x->shape()) return a.b().Constant(Tensor::Scalar<int32_t>(static_cast<int32_t>(a.rank(0))));
  return a.Cast(a.Op("size", {a.Op("shape", {x})}), DType::kInt32);
}

Value* ReshapeOp(TfArgs& a) {
  // A size of 0 is one; IR's other meaning of it serves where there is none.
  const auto sizes = a.Ints(1);
  const bool has_zero = !sizes || std::find(sizes->begin(), sizes->end(), 0) != sizes->end();
  return a.Op("reshape", {a.in(0), a.AsInt64(a.in(1))}, {{"allowzero", has_zero}});
}

Value* Fill(TfArgs& a) {
  Value* value = a.in(1)->shape() ? a.in(1) : ReshapeTo(a.in(1), Ints(a, {}));
  return a.Op("expand", {value, a.AsInt64(a.in(0))});
}
Value* BroadcastToOp(TfArgs& a) { return a.Op("expand", {a.in(0), a.AsInt64(a.in(1))}); }
Value* Range(TfArgs& a) { return a.Op("range", {a.in(0), a.in(1), a.in(2)}); }

// Axes as operand `i`: a number, or a list of them.
Value* Axes(TfArgs& a, size_t i) {
  Value* axes = a.AsInt64(a.in(i));
  return a.rank(i) == 1 ? axes : ReshapeTo({a, axes}, Ints(a, {-1}));
}

Value* ExpandDims(TfArgs& a) { return a.Op("unsqueeze", {a.in(0), Axes(a, 1)}); }

Value* SqueezeOp(TfArgs& a) {
  const std::vector<int64_t> axes = a.IntList("squeeze_dims", {});
  if (axes.empty()) return a.Op("squeeze", {a.in(0)});
  return a.Op("squeeze", {a.in(0), a.b().Ints(axes)});
}

// By axes that are computed: where each element of the result lies in x, as one number.
absl::StatusOr<Value*> TransposeByComputed(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 2) return a.Op("identity", {a.in(0)});
  const Expr x = {a, a.in(0)};
  const Expr given = {a, a.AsInt64(a.in(1))};
  const Expr perm = Where(given < 0, given + Int(a, rank), given);
  // The distances between neighbours along each axis, in elements.
  std::vector<Value*> steps = {a.b().Int(1)};
  for (int64_t axis = rank - 1; axis > 0; --axis) {
    steps.insert(steps.begin(), a.Op("mul", {steps.front(), SizeOf(x, axis)}));
  }
  const Expr sizes = Gather(ShapeOf(x), perm, 0);
  const Expr step = Gather(Stack(a, steps, 0), perm, 0);
  Expr place = nullptr;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const Expr at = {a, a.b().Int(axis)};
    const Expr along = AlongAxis(Iota(Gather(sizes, at, 0)) * Gather(step, at, 0), axis, rank);
    place = axis == 0 ? along : place + along;
  }
  return Gather(Flat(x), place, 0);
}

absl::StatusOr<Value*> FromTranspose(TfArgs& a) {
  absl::StatusOr<std::vector<int64_t>> known = a.KnownInts(1, "perm");
  if (!known.ok()) return TransposeByComputed(a);
  std::vector<int64_t> perm = *std::move(known);
  const auto rank = static_cast<int64_t>(perm.size());
  for (int64_t& axis : perm) {
    if (axis < 0) axis += rank;
  }
  return Transpose(a.in(0), std::move(perm));
}

absl::StatusOr<Value*> ConjugateTranspose(TfArgs& a) {
  a.Require(!IsComplex(a.in(0)->dtype()), "complex numbers");
  return FromTranspose(a);
}

Value* Tile(TfArgs& a) { return a.Op("tile", {a.in(0), a.AsInt64(a.in(1))}); }

// A begin and an end for each axis become all begins, then all ends.
// The operand has a row for each axis: the padding before and after it. The IR has all begins
// first; for a constant they are computed here, so that shapes are known.
Value* Pads(TfArgs& a) {
  const Tensor* rows = a.in(1)->fixed_constant();
  if (!rows || rows->is_sparse() || rows->rank() != 2 || rows->dim(1) != 2) {
    return ReshapeTo(Transpose(a.AsInt64(a.in(1)), {1, 0}), Ints(a, {-1}));
  }
  std::vector<int64_t> pads;
  for (int64_t side = 0; side < 2; ++side) {
    for (int64_t i = 0; i < rows->dim(0); ++i) pads.push_back(rows->AsInt(2 * i + side));
  }
  return Ints(a, pads);
}

Value* Pad(TfArgs& a) { return a.Op("pad", {a.in(0), Pads(a)}, {{"mode", "constant"}}); }
Value* PadV2(TfArgs& a) { return a.Op("pad", {a.in(0), Pads(a), a.in(2)}, {{"mode", "constant"}}); }

// Reflection that repeats the border is one of what repeats it once, without the border.
absl::StatusOr<Value*> MirrorPad(TfArgs& a) {
  const std::string mode = a.String("mode", "");
  if (mode == "REFLECT") return a.Op("pad", {a.in(0), Pads(a)}, {{"mode", "reflect"}});
  if (mode != "SYMMETRIC") return Invalid("mode '", mode, "'");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, a.KnownInts(1, "paddings"));
  Value* x = a.in(0);
  // An axis at a time: its first elements backwards, all, its last ones backwards.
  for (int64_t axis = 0; axis < static_cast<int64_t>(pads.size() / 2); ++axis) {
    const int64_t before = pads[2 * axis], after = pads[2 * axis + 1];
    const auto slice = [&](int64_t start, int64_t end) {
      return a.Op("slice", {x, a.b().Ints({start}), a.b().Ints({end}), a.b().Ints({axis}),
                            a.b().Ints({-1})});
    };
    if (before < 0 || after < 0) return Invalid("negative paddings");
    const Shape* shape = a.shape(0);
    if (shape && axis < shape->rank() && (*shape)[axis].is_static() &&
        std::max(before, after) > (*shape)[axis].value()) {
      return Invalid("axis ", axis, " is shorter than its paddings");
    }
    std::vector<Value*> parts;
    if (before > 0) parts.push_back(slice(before - 1, std::numeric_limits<int64_t>::min()));
    parts.push_back(x);
    if (after > 0) parts.push_back(slice(-1, -1 - after));
    if (parts.size() > 1) x = a.Op("concat", parts, {{"axis", axis}});
  }
  return x;
}

// The axes along which either shape is spread to the other's.
absl::StatusOr<Values> BroadcastGradientArgs(TfArgs& a) {
  const DType t = a.in(0)->dtype();
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> x, a.KnownInts(0, "s0"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> y, a.KnownInts(1, "s1"));
  const size_t rank = std::max(x.size(), y.size());
  std::vector<int64_t> of_x, of_y;
  if (x == y) return Values{a.Cast(a.b().Ints(of_x), t), a.Cast(a.b().Ints(of_y), t)};
  for (size_t i = 0; i < rank; ++i) {
    const auto size = [&](const std::vector<int64_t>& dims) {
      return i + dims.size() < rank ? 1 : dims[i + dims.size() - rank];
    };
    const auto axis = static_cast<int64_t>(i);
    if (size(x) != size(y) && size(x) != 1 && size(y) != 1) {
      return Invalid("sizes ", size(x), " and ", size(y), " do not broadcast");
    }
    if (size(x) == 1 && size(y) == 1) return Unimplemented("an axis of size 1 in both shapes");
    if (size(x) == 1) of_x.push_back(axis);
    if (size(y) == 1) of_y.push_back(axis);
  }
  return Values{a.Cast(a.b().Ints(of_x), t), a.Cast(a.b().Ints(of_y), t)};
}

// The sizes of a result with one unknown size, which is -1; null for other results.
Value* SizesButOne(TfWriter& w) {
  const Shape* shape = w.out_type().shape();
  if (!shape) return nullptr;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    sizes.push_back((*shape)[i].is_static() ? (*shape)[i].value() : -1);
  }
  const bool fits = std::count(sizes.begin(), sizes.end(), -1) == 1 &&
                    std::count(sizes.begin(), sizes.end(), 0) == 0;
  return fits ? w.Ints(sizes) : nullptr;
}

// Known sizes, of which those that are 0 are the operand's.
absl::StatusOr<Value*> SizesWithOwn(TfWriter& w, const std::vector<Dim>& sizes) {
  std::vector<Value*> parts;
  const auto count = static_cast<int64_t>(sizes.size());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  for (int64_t i = 0; i < count;) {
    const int64_t begin = i;
    const bool own = sizes[static_cast<size_t>(i)].value() == 0;
    std::vector<int64_t> given;
    for (; i < count && (sizes[static_cast<size_t>(i)].value() == 0) == own; ++i) {
      given.push_back(sizes[static_cast<size_t>(i)].value());
    }
    if (own && i > rank) return CannotExpress("sizes of axes that the operand does not have");
    parts.push_back(own ? w.Op("shape", {w.in(0)}, {{"start", begin}, {"end", i}}) : w.Ints(given));
  }
  return parts.size() == 1 ? parts[0] : w.Op("concat", parts, {{"axis", 0}});
}

// A size of 0 means the operand's size, unless allowzero is set.
absl::StatusOr<Value*> ToTfReshape(TfWriter& w) {
  if (Value* known = TfShapeOf(w, w.out_type())) return w.Tf("Reshape", {w.in(0), known});
  if (Value* known = SizesButOne(w)) return w.Tf("Reshape", {w.in(0), known});
  Value* shape = w.Known(w.in(1));
  if (w.Int("allowzero") != 0) return w.Tf("Reshape", {w.in(0), shape});
  const auto numbers = PartlyKnownInts(shape);
  if (!numbers) return CannotExpress("sizes that may be 0");
  const auto is_known = [](const Dim& n) { return n.is_static(); };
  const auto is_zero = [](const Dim& n) { return n.is_static() && n.value() == 0; };
  if (!std::all_of(numbers->begin(), numbers->end(), is_known)) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    const auto count = static_cast<int64_t>(numbers->size());
    Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", std::min(rank, count)}});
    if (count > rank) {
      std::vector<int64_t> rest(static_cast<size_t>(count - rank), 0);
      own = w.Op("concat", {own, w.Ints(rest)}, {{"axis", 0}});
    }
    Value* wide = w.Cast(shape, DType::kInt64);
    shape = w.Op("where", {w.Op("equal", {wide, w.b().Int(0)}), own, wide});
  } else if (std::any_of(numbers->begin(), numbers->end(), is_zero)) {
    X2IR_ASSIGN_OR_RETURN(shape, SizesWithOwn(w, *numbers));
  }
  return w.Tf("Reshape", {w.in(0), shape});
}

absl::StatusOr<Value*> ToTfFlatten(TfWriter& w) {
  if (Value* known = TfShapeOf(w, w.out_type())) return w.Tf("Reshape", {w.in(0), known});
  if (Value* known = SizesButOne(w)) return w.Tf("Reshape", {w.in(0), known});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += rank;
  const auto side = [&](int64_t from, int64_t to) {
    Value* sizes = w.Op("shape", {w.in(0)}, {{"start", from}, {"end", to}});
    return w.Op("reduce_prod", {sizes, w.Ints({0})}, {{"keepdims", 1}});
  };
  return w.Tf("Reshape",
              {w.in(0), w.Op("concat", {side(0, axis), side(axis, rank)}, {{"axis", 0}})});
}

absl::StatusOr<Value*> ToTfSqueeze(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  // No axes are all of size 1.
  if (axes && axes->empty()) return w.Op("identity", {w.in(0)});
  AttributeMap attrs;
  if (axes) attrs.Set("squeeze_dims", *axes);
  return w.Tf("Squeeze", {w.in(0)}, std::move(attrs));
}

// One axis at a time.
absl::StatusOr<Value*> ToTfUnsqueeze(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Tf("ExpandDims", {rest.x, w.Int32(*rest.axis)});
}

absl::StatusOr<Value*> ToTfShape(TfWriter& w) {
  const auto wide = [] { return AttributeMap{{"out_type", Type::Tensor(DType::kInt64)}}; };
  const int64_t start = w.Int("start");
  if (start == 0 && !w.attrs().Has("end")) return w.Tf("Shape", {w.in(0)}, wide());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* all = w.Tf("Shape", {w.in(0)}, wide(), Type::Tensor(DType::kInt64, Shape({Dim(rank)})));
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t from = bound(start), to = bound(w.attrs().Int("end", rank));
  return w.Op("slice", {all, w.Ints({from}), w.Ints({std::max(from, to)}), w.Ints({0})});
}

Value* ToTfSize(TfWriter& w) {
  return w.Tf("Size", {w.in(0)}, {{"out_type", Type::Tensor(DType::kInt64)}});
}

}  // namespace

X2IR_TF(shape)
    .To("Shape", ToTfShape)
    .From({{"Shape", FromShapeOf},
           {"VariableShape", FromShapeOf},
           {"ShapeN", ShapeN},
           {"Rank", RankAsValue},
           {"BroadcastGradientArgs", BroadcastGradientArgs}});
X2IR_TF(size).To("Size", ToTfSize).From("Size", SizeAsValue);
X2IR_TF(reshape).To("Reshape", ToTfReshape).From("Reshape", ReshapeOp);
X2IR_TF(expand).From({{"Fill", Fill}, {"BroadcastTo", BroadcastToOp}});
X2IR_TF(range).From("Range", Range);
X2IR_TF(unsqueeze).To("ExpandDims", ToTfUnsqueeze).From("ExpandDims", ExpandDims);
X2IR_TF(squeeze).To("Squeeze", ToTfSqueeze).From("Squeeze", SqueezeOp);
X2IR_TF(transpose).From({{"Transpose", FromTranspose}, {"ConjugateTranspose", ConjugateTranspose}});
X2IR_TF(tile).From("Tile", Tile);
X2IR_TF(pad).From({{"Pad", Pad}, {"PadV2", PadV2}, {"MirrorPad", MirrorPad}});
X2IR_TF(flatten).To("Reshape", ToTfFlatten);

}  // namespace x2ir
