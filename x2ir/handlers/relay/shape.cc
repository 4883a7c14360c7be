// Relay: shapes, parts and movement of elements.
#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/windows_internal.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> ReshapeOp(SymbolArgs& a) {
  const bool zero = a.Flag("allowzero", false);
  const std::vector<int64_t> codes = a.Tuple("newshape");
  if (a.op() == "dyn.reshape" || a.num_inputs() > 1) {
    return a.Op("reshape", {a.in(0), a.AsInt64(a.in(1))}, {{"allowzero", zero ? 1 : 0}}).value();
  }
  if (zero) return a.Op("reshape", {a.in(0), a.b().Ints(codes)}, {{"allowzero", 1}}).value();
  X2IR_ASSIGN_OR_RETURN(const Expr y,
                        ReshapeByCodes(a, a.in(0), codes, a.op() == "contrib_reverse_reshape"));
  return y.value();
}

// The sizes of some axes, by those of some of the other operand.
Value* ReshapeLikeOp(SymbolArgs& a) {
  const int64_t from = a.Integer("lhs_begin", 0), other = a.Integer("rhs_begin", 0);
  const auto to = a.MaybeInteger("lhs_end"), end = a.MaybeInteger("rhs_end");
  if (from == 0 && other == 0 && !to && !end) return ReshapeTo(a.in(0), ShapeOf(a.in(1)));
  const int64_t rank = a.RankOf(0), rank_of_other = a.RankOf(1);
  const auto place = [](int64_t i, int64_t n) {
    return std::clamp(i < 0 ? i + n : i, int64_t{0}, n);
  };
  std::vector<Size> sizes = SizesAt(a.in(0), 0, place(from, rank));
  for (const Size& size : SizesAt(a.in(1), place(other, rank_of_other),
                                  place(end.value_or(rank_of_other), rank_of_other))) {
    sizes.push_back(size);
  }
  for (const Size& size : SizesAt(a.in(0), place(to.value_or(rank), rank), rank)) {
    sizes.push_back(size);
  }
  return ReshapeTo(a.in(0), sizes);
}

Value* BatchFlattenRow(SymbolArgs& a) { return a.Op("flatten", {a.in(0)}, {{"axis", 1}}); }

absl::StatusOr<Value*> ExpandDimsOp(SymbolArgs& a) {
  const int64_t count = a.Integer("num_newaxis", 1);
  int64_t axis = a.Integer("axis", 0);
  if (a.op() == "dyn.expand_dims") {
    X2IR_ASSIGN_OR_RETURN(axis, a.KnownInt(1, "axis"));
  }
  if (count < 0 || count > 64) return Invalid("new axes: ", count);
  // A negative one is counted in the operand, as the place after its last axis.
  if (axis < 0) axis += a.RankOf(0) + 1;
  return Unsqueeze(a.in(0), CountedFrom(axis, count)).value();
}

absl::StatusOr<Value*> SqueezeOp(SymbolArgs& a) {
  std::vector<int64_t> axes = a.Tuple("axis");
  if (a.op() == "dyn.squeeze") {
    X2IR_ASSIGN_OR_RETURN(axes, a.KnownInts(1, "axis"));
  }
  return axes.empty() ? a.Op("squeeze", {a.in(0)}).value() : Squeeze(a.in(0), axes).value();
}

// Both shapes are broadcast with each other there as well.
Value* BroadcastToOp(SymbolArgs& a) {
  a.Ignore("dtype");
  if (a.num_inputs() > 1) return Expand(a.in(0), a.AsInt64(a.in(1)));
  return Expand(a.in(0), a.b().Ints(a.Tuple("shape")));
}
Value* BroadcastToLikeOp(SymbolArgs& a) { return Expand(a.in(0), ShapeOf(a.in(1))); }

absl::StatusOr<Values> SplitParts(SymbolArgs& a) {
  const std::string text = a.Text("indices_or_sections", "1");
  const std::vector<int64_t> places = a.Tuple("indices_or_sections", {1});
  const int64_t axis = a.AxisOf(a.Integer("axis", 0));
  const Expr x = a.in(0);
  if (text.find_first_of("([") == text.npos) {
    if (places.size() != 1) return Invalid("parts of no number");
    return a.b().Ops("split", {x}, {{"axis", axis}, {"num_outputs", places[0]}},
                     static_cast<size_t>(std::clamp<int64_t>(places[0], 1, 1 << 20)));
  }
  Values parts;
  for (size_t i = 0; i <= places.size(); ++i) {
    parts.push_back(Slice(x, axis, Size(i == 0 ? 0 : places[i - 1]),
                          i < places.size() ? Size(places[i]) : Size(kToEnd)));
  }
  return parts;
}

// Bounds as attributes, or (dyn) as operands. In mode "size" the ends are sizes, -1: all.
absl::StatusOr<Value*> StridedSliceOp(SymbolArgs& a) {
  const std::string mode = a.Text("slice_mode", "end");
  const std::vector<int64_t> named = a.Tuple("axes");
  if (a.num_inputs() > 1) {
    a.Require(mode == "end", "sizes that are computed");
    a.Ignore("begin"), a.Ignore("end"), a.Ignore("strides");
    const Dim count = DimAt(a.in(1), 0);
    a.Require(count.is_static(), "bounds of an unknown number of axes");
    const std::vector<int64_t> axes = named.empty() ? CountedFrom(0, count.value()) : named;
    Value* steps = a.has(3) ? a.AsInt64(a.in(3)).value() : nullptr;
    return a.Op("slice", {a.in(0), a.AsInt64(a.in(1)), a.AsInt64(a.in(2)), a.b().Ints(axes), steps})
        .value();
  }
  const auto begin = a.MaybeTuple("begin"), end = a.MaybeTuple("end"),
             step = a.MaybeTuple("strides");
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> begins, ends, steps;
  const size_t count = std::max(begin.size(), end.size());
  a.Require(mode == "end" || mode == "size", StrCat("slice_mode ", mode));
  for (size_t i = 0; i < count; ++i) {
    // One stride is that of all axes. With sizes there are none.
    const size_t k = step.size() == 1 ? 0 : i;
    const int64_t by = mode == "end" && k < step.size() && step[k] ? *step[k] : 1;
    if (by == 0) return Invalid("a step of 0");
    steps.push_back(by);
    begins.push_back(i < begin.size() && begin[i] ? *begin[i] : by > 0 ? 0 : kFar);
    if (mode == "size") {
      const int64_t size = i < end.size() && end[i] ? *end[i] : -1;
      const int64_t last = size < 0 ? kFar : begins.back() + size;
      if (size >= 0 && begins.back() > kFar - size) return Invalid("a slice of ", size);
      // From the end, a slice that ends there has no number for it.
      ends.push_back(begins.back() < 0 && last >= 0 ? kFar : last);
    } else {
      ends.push_back(i < end.size() && end[i] ? *end[i] : by > 0 ? kFar : -kFar);
    }
  }
  const std::vector<int64_t> axes =
      named.empty() ? CountedFrom(0, static_cast<int64_t>(count)) : named;
  return a
      .Op("slice",
          {a.in(0), a.b().Ints(begins), a.b().Ints(ends), a.b().Ints(axes), a.b().Ints(steps)})
      .value();
}

Value* ReverseOp(SymbolArgs& a) { return Flipped(a.in(0), {a.AxisOf(a.Integer("axis", 0))}); }

absl::StatusOr<Value*> PadOp(SymbolArgs& a) {
  const std::string mode = a.Text("pad_mode", "constant");
  a.Require(mode == "constant" || mode == "edge" || mode == "reflect", StrCat("mode ", mode));
  // The number was an attribute once.
  const double number = a.Number("pad_value", 0);
  const bool dynamic = a.op() == "dyn.nn.pad";
  Value* pads = nullptr;
  if (dynamic) {
    pads = Flat(SwapLast(a.AsInt64(a.in(1))));
  } else {
    pads = a.b().Ints(TakePadWidths(a, "pad_width"));
  }
  const size_t value = dynamic ? 2 : 1;
  const Expr filled =
      a.has(value) ? Reshape(a.in(value).To(a.dtype()), {}) : a.in(0).Number(number);
  return a
      .Op("pad", {a.in(0), pads, mode == "constant" ? filled.value() : nullptr}, {{"mode", mode}})
      .value();
}

// Mirrored with the elements at the edges, or without them.
absl::StatusOr<Value*> MirrorPadOp(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "SYMMETRIC");
  const std::vector<int64_t> pads = TakePadWidths(a, "pad_width");
  if (mode == "REFLECT") {
    return a.Op("pad", {a.in(0), a.b().Ints(pads), nullptr}, {{"mode", "reflect"}}).value();
  }
  a.Require(mode == "SYMMETRIC", StrCat("mode ", mode));
  Expr x = a.in(0);
  const auto rank = static_cast<int64_t>(pads.size() / 2);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t before = pads[static_cast<size_t>(axis)],
                  after = pads[static_cast<size_t>(axis + rank)];
    if (before < 0 || after < 0) return Invalid("pads below 0");
    if (before == 0 && after == 0) continue;
    Values parts;
    if (before > 0) parts.push_back(Flipped(Slice(x, axis, Size(0), Size(before)), {axis}));
    parts.push_back(x);
    if (after > 0) parts.push_back(Flipped(Slice(x, axis, Size(-after), Size(kToEnd)), {axis}));
    x = Concat(a, parts, axis);
  }
  return a.Op("identity", {x}).value();
}

// A number as an operand, and the sizes as an attribute or (dyn) an operand.
Value* FullOp(SymbolArgs& a, const Expr& number, size_t shape) {
  const DType t = a.ElementType("dtype", number.dtype());
  Value* sizes = nullptr;
  if (a.has(shape)) {
    sizes = a.AsInt64(a.in(shape));
    a.Ignore("shape");
  } else {
    sizes = a.b().Ints(a.Tuple("shape"));
  }
  return Expand(Reshape(number.To(t), {}), sizes);
}
template <int kNumber>
Value* NumbersOp(SymbolArgs& a) {
  const DType t = a.ElementType("dtype", DType::kFloat32);
  return FullOp(a, {a, a.b().Scalar(t, kNumber)}, 0);
}
template <int kNumber>
Value* LikeOp(SymbolArgs& a) {
  return Expand(a.in(0).Number(kNumber), ShapeOf(a.in(0)));
}

Value* ArangeOp(SymbolArgs& a) {
  a.Ignore("start"), a.Ignore("stop"), a.Ignore("step");
  const DType t = a.ElementType("dtype", a.dtype());
  const auto part = [&](size_t i) { return Reshape(a.in(i).To(t), {}); };
  return a.Op("range", {part(0), part(1), part(2)});
}

Value* ShapeOfOp(SymbolArgs& a) {
  return ShapeOf(a.in(0)).To(a.ElementType("dtype", DType::kInt32));
}
Value* SizeOp(SymbolArgs& a) {
  return a.Op("size", {a.in(0)}).To(a.ElementType("dtype", DType::kInt32));
}

Value* StackOp(SymbolArgs& a) {
  const int64_t rank = a.RankOf(0), axis = a.Integer("axis", 0);
  return Stack(a, a.inputs(), a.AxisOf(axis, rank + 1));
}

// Missing axes in front are of size 1, of either.
Value* TileOp(SymbolArgs& a) {
  Expr x = a.in(0);
  Expr reps = nullptr;
  int64_t count = 0;
  if (a.num_inputs() > 1) {
    reps = a.AsInt64(a.in(1));
    const Dim known = DimAt(reps, 0);
    a.Require(known.is_static() && known.value() <= 64, "repeats of an unknown number of axes");
    count = known.value();
    a.Ignore("reps");
  } else {
    const std::vector<int64_t> numbers = a.Tuple("reps");
    count = static_cast<int64_t>(numbers.size());
    reps = Ints(a, numbers);
  }
  const int64_t rank = a.RankOf(0);
  a.Require(count <= rank + 64, "so many axes");
  if (count > rank) x = Unsqueeze(x, CountedFrom(0, count - rank));
  if (count < rank) {
    reps =
        Concat(a, {Ints(a, std::vector<int64_t>(static_cast<size_t>(rank - count), 1)), reps}, 0);
  }
  return a.Op("tile", {x, reps});
}

// Each element so many times.
Value* RepeatOp(SymbolArgs& a) {
  const int64_t times = a.Integer("repeats", 1);
  const auto given = a.MaybeInteger("axis");
  const Expr x = given ? a.in(0) : Flat(a.in(0));
  const int64_t rank = x.rank(), axis = a.AxisOf(given.value_or(0), rank);
  a.Require(times >= 0 && times < (int64_t{1} << 24), "so many repeats");
  std::vector<Size> each = AllSizes(x), all = each;
  each.insert(each.begin() + axis + 1, Size(times));
  all[static_cast<size_t>(axis)] = Times(a, all[static_cast<size_t>(axis)], Size(times));
  return ReshapeTo(Expand(Unsqueeze(x, {axis + 1}), Vector(a, each)), all);
}

Value* LayoutTransformOp(SymbolArgs& a) {
  const std::string from = a.Text("src_layout", ""), to = a.Text("dst_layout", "");
  return InLayout(a, a.in(0), from, to);
}

Value* OneHotOp(SymbolArgs& a) {
  const DType t = a.ElementType("dtype", DType::kFloat32);
  const int64_t axis = a.Integer("axis", -1);
  const Expr on = Reshape(a.in(1).To(t), {1}), off = Reshape(a.in(2).To(t), {1});
  Value* depth = a.num_inputs() > 3 ? Reshape(a.AsInt64(a.in(3)), {}).value()
                                    : Int(a, a.Integer("depth", 0)).value();
  a.Ignore("depth");
  const Expr values = Concat(a, {off, on}, 0);
  const Expr index = a.AsInt64(a.in(0));
  // Indices from the end are none there.
  const Expr inside = Where(index < 0.0, {a, depth}, index);
  return a.Op("one_hot", {inside, depth, values}, {{"axis", axis}});
}

Value* TriluOp(SymbolArgs& a) {
  const bool upper = a.Flag("upper", true);
  return a.Op("trilu", {a.in(0), Reshape(a.AsInt64(a.in(1)), {})}, {{"upper", upper ? 1 : 0}});
}

absl::StatusOr<Values> MeshgridOp(SymbolArgs& a) {
  const std::string indexing = a.Text("indexing", "ij");
  a.Require(indexing == "ij" || indexing == "xy", StrCat("indexing ", indexing));
  const auto n = static_cast<int64_t>(a.num_inputs());
  const auto axis_of = [&](int64_t i) { return indexing == "xy" && i < 2 && n > 1 ? 1 - i : i; };
  std::vector<Size> sizes(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const Expr x = Flat(a.in(static_cast<size_t>(i)));
    sizes[static_cast<size_t>(axis_of(i))] = SizeAt(x, 0);
  }
  const Expr shape = Vector(a, sizes);
  Values grids;
  for (int64_t i = 0; i < n; ++i) {
    const Expr x = Flat(a.in(static_cast<size_t>(i)));
    grids.push_back(Expand(AlongAxis(x, axis_of(i), n), shape));
  }
  return grids;
}

}  // namespace

X2IR_RELAY(reshape).From({{"reshape", ReshapeOp},
                          {"dyn.reshape", ReshapeOp},
                          {"contrib_reverse_reshape", ReshapeOp},
                          {"reshape_like", ReshapeLikeOp}});
X2IR_RELAY(flatten).From("nn.batch_flatten", BatchFlattenRow);
X2IR_RELAY(transpose)
    .Is("transpose", TextAttr("perm", "axes", AttrKind::kInts))
    .From("layout_transform", LayoutTransformOp);
X2IR_RELAY(concat)
    .Is("concatenate", TextAttr("axis", "axis", AttrKind::kInt, Attribute(0)))
    .From("stack", StackOp);
X2IR_RELAY(unsqueeze).From({"expand_dims", "dyn.expand_dims"}, ExpandDimsOp);
X2IR_RELAY(squeeze).From({"squeeze", "dyn.squeeze"}, SqueezeOp);
X2IR_RELAY(expand)
    .From({"broadcast_to", "dyn.broadcast_to"}, BroadcastToOp)
    .From({{"broadcast_to_like", BroadcastToLikeOp},
           {"zeros_like", LikeOp<0>},
           {"ones_like", LikeOp<1>},
           {"repeat", RepeatOp}})
    .From("full_like",
          [](SymbolArgs& a) -> Value* {
            return Expand(Reshape(a.in(1).To(a.dtype()), {}), ShapeOf(a.in(0)));
          })
    .From("meshgrid", MeshgridOp);
X2IR_RELAY(constant_of_shape)
    .From({"full", "dyn.full"}, [](SymbolArgs& a) { return FullOp(a, a.in(0), 1); })
    .From({"zeros", "dyn.zeros"}, NumbersOp<0>)
    .From({"ones", "dyn.ones"}, NumbersOp<1>);
X2IR_RELAY(split).From("split", SplitParts);
X2IR_RELAY(slice)
    .From({"strided_slice", "dyn.strided_slice"}, StridedSliceOp)
    .From({{"slice_like", SliceLike("axes")}, {"reverse", ReverseOp}});
X2IR_RELAY(pad).From({"nn.pad", "dyn.nn.pad"}, PadOp).From("nn.mirror_pad", MirrorPadOp);
X2IR_RELAY(range).From("arange", ArangeOp);
X2IR_RELAY(shape).From({"shape_of", "vm.shape_of"}, ShapeOfOp);
X2IR_RELAY(size).From("ndarray_size", SizeOp);
X2IR_RELAY(tile).From({"tile", "dyn.tile"}, TileOp);
X2IR_RELAY(one_hot).From({"one_hot", "dyn.one_hot"}, OneHotOp);
X2IR_RELAY(trilu).From("trilu", TriluOp);
}  // namespace x2ir
