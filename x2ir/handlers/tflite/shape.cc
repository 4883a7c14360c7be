// TFLite: shapes, slices and other movement of elements. Nearly all of it is TensorFlow's.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/empty_slices.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// A shape of rank 1 is an operand; else it is an option, of which [0] once was a scalar.
absl::StatusOr<Value*> FromReshape(TfliteArgs& a) {
  std::vector<int64_t> dims = a.IntList("new_shape", {});
  if (a.has(1) && a.rank(1) == 1) {
    return a.Op("reshape", {a.in(0), a.AsInt64(a.in(1))}, {{"allowzero", 1}});
  }
  if (dims.size() == 1 && dims[0] == 0) dims.clear();
  return a.Op("reshape", {a.in(0), a.b().Ints(dims)}, {{"allowzero", 1}});
}

Value* FromSqueeze(TfliteArgs& a) {
  return AsTf(a, "Squeeze", {a.in(0)}, {{"squeeze_dims", a.IntList("squeeze_dims", {})}})[0];
}

Value* Concatenation(TfliteArgs& a) {
  const int64_t axis = a.Int("axis", 0);
  if (a.num_inputs() == 1) return a.Op("identity", {a.in(0)});
  return a.Op("concat", a.inputs(), {{"axis", axis}});
}

// `offset`: ends count from the begins.
Value* StridedSlice(TfliteArgs& a) {
  AttributeMap attrs;
  for (const char* name :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    attrs.Set(name, a.Int(name, 0));
  }
  Value* end = a.in(2);
  if (a.Bool("offset", false)) end = a.in(1) + a.in(2);
  return AsTf(a, "StridedSlice", {a.in(0), a.in(1), end, a.in(3)}, std::move(attrs))[0];
}

template <bool kValuesFirst>
Values Split(TfliteArgs& a) {
  const auto count = static_cast<int64_t>(a.num_outputs());
  a.Ignore("num_splits");
  return kValuesFirst ? AsTf(a, "SplitV", a.inputs(), {{"num_split", count}})
                      : AsTf(a, "Split", a.inputs(), {{"num_split", count}});
}

Values Unpack(TfliteArgs& a) {
  a.Ignore("num");
  return AsTf(a, "Unpack", a.inputs(),
              {{"axis", a.Int("axis", 0)}, {"num", static_cast<int64_t>(a.num_outputs())}});
}

Value* MirrorPad(TfliteArgs& a) {
  return AsTf(a, "MirrorPad", a.inputs(), {{"mode", a.String("mode", "REFLECT")}})[0];
}

Value* ShapeAs(TfliteArgs& a) {
  a.Ignore("out_type");
  return a.Cast(ShapeOf(a.in(0)), a.out_dtype());
}

Value* RankOf(TfliteArgs& a) { return a.Cast(a.Op("size", {ShapeOf(a.in(0))}), a.out_dtype()); }

Value* OneHot(TfliteArgs& a) {
  return AsTf(a, "OneHot", a.inputs(), {{"axis", a.Int("axis", -1)}})[0];
}

// Blocks of size x size places as channels, the row in the block first; and back. Of types that
// runtimes have no kernels for, by hand.
template <bool kToDepth>
absl::StatusOr<Value*> SpaceBlocks(TfliteArgs& a) {
  const int64_t size = a.Int("block_size", 0);
  if (size < 1) return Invalid("block_size is ", size);
  if (a.dtype() == DType::kFloat32) {
    return AsTf(a, kToDepth ? "SpaceToDepth" : "DepthToSpace", {a.in(0)},
                {{"block_size", size}})[0];
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 4) return Invalid("an operand of rank ", rank);
  const std::vector<Size> s = AllSizes(a.in(0));
  const auto times = [&](const Size& n, int64_t by) { return Times(a, n, by); };
  const auto over = [&](const Size& n, int64_t by) { return DividedBy(a, n, by); };
  if (kToDepth) {
    const Expr parts =
        ReshapeTo(a.in(0), {s[0], over(s[1], size), size, over(s[2], size), size, s[3]});
    return ReshapeTo(Transpose(parts, {0, 1, 3, 2, 4, 5}),
                     {s[0], over(s[1], size), over(s[2], size), times(s[3], size * size)});
  }
  const Expr parts = ReshapeTo(a.in(0), {s[0], s[1], s[2], size, size, over(s[3], size * size)});
  return ReshapeTo(Transpose(parts, {0, 1, 3, 2, 4, 5}),
                   {s[0], times(s[1], size), times(s[2], size), over(s[3], size * size)});
}

// Columns of a matrix [axes, 2]: begins and ends. Known ones go through TensorFlow's rows.
Expr EdgeOf(TfliteArgs& a, int64_t column) {
  return Gather({a, a.AsInt64(a.in(2))}, a.b().Int(column), 1);
}

// Axes 1 .. of a padded operand cut to blocks, whose elements become batches.
absl::StatusOr<Value*> SpaceToBatch(TfliteArgs& a) {
  if (a.Ints(2)) return AsTf(a, "SpaceToBatchND", a.inputs())[0];
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> blocks, a.KnownInts(1, "sizes of blocks"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const auto count = static_cast<int64_t>(blocks.size());
  if (count + 1 > rank) return Invalid("blocks of ", count, " axes");
  Value* first = a.b().Ints({0});
  Value* rest = a.b().Ints(std::vector<int64_t>(static_cast<size_t>(rank - 1 - count), 0));
  const Expr pads = Concat(a, {first, EdgeOf(a, 0), rest, first, EdgeOf(a, 1), rest}, 0);
  const Expr x = a.Op("pad", {a.in(0), pads}, {{"mode", "constant"}});
  const std::vector<Size> s = AllSizes(x);
  std::vector<Size> parts = {s[0]}, joined;
  std::vector<int64_t> perm;
  Size batch = s[0];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t block = blocks[static_cast<size_t>(i)];
    const Size over = DividedBy(a, s[static_cast<size_t>(i + 1)], block);
    parts.push_back(over);
    parts.push_back(block);
    joined.push_back(over);
    batch = Times(a, batch, block);
    perm.push_back(2 + 2 * i);
  }
  perm.push_back(0);
  for (int64_t i = 0; i < count; ++i) perm.push_back(1 + 2 * i);
  joined.insert(joined.begin(), batch);
  for (int64_t i = count + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(parts.size()));
    parts.push_back(s[static_cast<size_t>(i)]);
    joined.push_back(s[static_cast<size_t>(i)]);
  }
  return ReshapeTo(Transpose(ReshapeTo(x, parts), perm), joined);
}

// The inverse; then the crops are cut off.
absl::StatusOr<Value*> BatchToSpace(TfliteArgs& a) {
  if (a.Ints(2)) return AsTf(a, "BatchToSpaceND", a.inputs())[0];
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> blocks, a.KnownInts(1, "sizes of blocks"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const auto count = static_cast<int64_t>(blocks.size());
  if (count + 1 > rank) return Invalid("blocks of ", count, " axes");
  const std::vector<Size> s = AllSizes(a.in(0));
  std::vector<Size> parts, joined;
  std::vector<int64_t> perm = {count}, axes;
  Size batch = s[0];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t block = blocks[static_cast<size_t>(i)];
    batch = DividedBy(a, batch, block);
    parts.push_back(block);
    joined.push_back(Times(a, s[static_cast<size_t>(i + 1)], block));
    perm.push_back(count + 1 + i);
    perm.push_back(i);
    axes.push_back(i + 1);
  }
  parts.push_back(batch);
  joined.insert(joined.begin(), batch);
  for (int64_t i = 1; i < rank; ++i) {
    parts.push_back(s[static_cast<size_t>(i)]);
    if (i <= count) continue;
    perm.push_back(count + i);
    joined.push_back(s[static_cast<size_t>(i)]);
  }
  const Expr x = ReshapeTo(Transpose(ReshapeTo(a.in(0), parts), perm), joined);
  const Expr ends = ShapeOf(x, 1, count + 1) - EdgeOf(a, 1);
  return x.Op("slice", {EdgeOf(a, 0), ends, a.b().Ints(axes)});
}

template <const char* kOp>
absl::StatusOr<Values> ToBlocks(TfliteWriter& w) {
  const Attribute* mode = w.attrs().Find("mode");
  if (mode && *mode != Attribute("DCR")) return CannotExpress("mode CRD");
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToBlocks<kOp>);
  return Values{w.Tflite(kOp, {w.in(0)}, {{"block_size", w.Int("blocksize")}})};
}

constexpr char kDepthToSpace[] = "DEPTH_TO_SPACE", kSpaceToDepth[] = "SPACE_TO_DEPTH";

// A size of 0 means the operand's size, unless allowzero is set.
absl::StatusOr<Value*> ToLiteReshape(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  Value* shape = w.in(1);
  if (w.Int("allowzero") != 0) return Reshaped(w, shape);
  const auto known = KnownInts(shape);
  const std::vector<Dim>* parts = shape->elements();
  bool zero = !known && !parts;
  if (known) zero = std::count(known->begin(), known->end(), 0) != 0;
  for (size_t i = 0; parts && i < parts->size(); ++i) {
    zero |= !(*parts)[i].is_static() || (*parts)[i].value() == 0;
  }
  if (!zero) return Reshaped(w, shape);
  if (!known && !parts) return CannotExpress("sizes that may be 0");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto count = static_cast<int64_t>(known ? known->size() : parts->size());
  Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", std::min(rank, count)}});
  if (count > rank) {
    const std::vector<int64_t> rest(static_cast<size_t>(count - rank), 0);
    own = w.Op("concat", {own, w.Ints(rest)}, {{"axis", 0}});
  }
  Value* wide = w.Cast(shape, DType::kInt64);
  return Reshaped(w, w.Op("where", {w.Op("equal", {wide, w.b().Int(0)}), own, wide}));
}

absl::StatusOr<Value*> ToLiteFlatten(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t axis = w.Int("axis") < 0 ? w.Int("axis") + rank : w.Int("axis");
  const auto side = [&](int64_t from, int64_t to) {
    Value* sizes = w.Op("shape", {w.in(0)}, {{"start", from}, {"end", to}});
    return w.Op("reduce_prod", {sizes, w.Ints({0})}, {{"keepdims", 1}});
  };
  return Reshaped(w, w.Op("concat", {side(0, axis), side(axis, rank)}, {{"axis", 0}}));
}

absl::StatusOr<Value*> ToLiteTranspose(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, PermOf(w));
  if (std::is_sorted(perm.begin(), perm.end())) return w.Op("identity", {w.in(0)});
  return w.Tflite("TRANSPOSE", {w.in(0), w.Int32s(perm)});
}

absl::StatusOr<Value*> ToLiteSqueeze(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  // No axes are all of size 1.
  if (axes && axes->empty()) return w.Op("identity", {w.in(0)});
  return w.Tflite("SQUEEZE", {w.in(0)}, {{"squeeze_dims", axes.value_or(std::vector<int64_t>())}});
}

// One axis at a time.
absl::StatusOr<Value*> ToLiteUnsqueeze(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Tflite("EXPAND_DIMS", {rest.x, w.Int32(*rest.axis)});
}

Value* Known32(TfliteWriter& w, Value* ints) {
  const auto known = KnownInts(ints);
  return known ? w.Int32s(*known) : w.Cast(ints, DType::kInt32);
}

absl::StatusOr<Value*> ToLiteExpand(TfliteWriter& w) {
  const Shape* out = w.out_type().shape();
  if (const auto dims = out ? out->Static() : std::nullopt) {
    if (w.shape() && w.shape()->Static() == dims) return w.Op("identity", {w.in(0)});
    return w.Tflite("BROADCAST_TO", {w.in(0), w.Int32s(*dims)});
  }
  const Shape* of_sizes = w.shape(1);
  if (!out || !w.shape() || !of_sizes || of_sizes->rank() != 1 || !(*of_sizes)[0].is_static()) {
    return CannotExpress("a result of unknown rank");
  }
  Value* own = w.Cast(w.Op("shape", {w.in(0)}), DType::kInt32);
  const int64_t rank = out->rank();
  Value* both = w.Tflite("BROADCAST_ARGS", {own, Known32(w, w.in(1))}, {},
                         Type::Tensor(DType::kInt32, Shape({Dim(rank)})));
  return w.Tflite("BROADCAST_TO", {w.in(0), both});
}

Value* ToLiteTile(TfliteWriter& w) { return w.Tflite("TILE", {w.in(0), Known32(w, w.in(1))}); }

absl::StatusOr<Value*> ToLiteConcat(TfliteWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Tflite("CONCATENATION", w.node().inputs(), {{"axis", axis}});
}

absl::StatusOr<Values> ToLiteSplit(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (axis >= rank) return Invalid("there is no axis ", axis);
  const Shape* in = w.shape();
  const auto count = static_cast<int64_t>(w.node().num_outputs());
  std::vector<int64_t> parts;
  if (w.has(1)) {
    X2IR_ASSIGN_OR_RETURN(const auto known, w.KnownInts(1, "sizes"));
    parts = *known;
  } else {
    if (!(*in)[axis].is_static()) return CannotExpress("parts of unknown sizes");
    const int64_t size = (*in)[axis].value(), each = (size + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) parts.push_back(std::min(each, size - i * each));
  }
  if (static_cast<int64_t>(parts.size()) != count || count == 0) return Invalid("its parts");
  if (std::any_of(parts.begin(), parts.end(), [](int64_t n) { return n < 1; })) {
    return CannotExpress("parts of nothing");
  }
  // The kernels make every part.
  std::vector<Type> types;
  for (int64_t i = 0; i < count; ++i) {
    Shape shape = *in;
    shape[axis] = Dim(parts[static_cast<size_t>(i)]);
    types.push_back(Type::Tensor(w.dtype(), std::move(shape)));
  }
  const std::vector<bool> all(static_cast<size_t>(count), true);
  const bool equal = std::count(parts.begin(), parts.end(), parts[0]) == count;
  Values made =
      equal ? w.TfliteAll("SPLIT", {w.Int32(axis), w.in(0)}, {{"num_splits", count}}, all, types)
            : w.TfliteAll("SPLIT_V", {w.in(0), w.Int32s(parts), w.Int32(axis)},
                          {{"num_splits", count}}, all, types);
  for (int64_t i = 0; i < count; ++i) {
    if (!w.wants(static_cast<size_t>(i))) made[static_cast<size_t>(i)] = nullptr;
  }
  return made;
}

// Whether a slice is all of one axis, the last element first.
std::optional<int64_t> ReversedAxis(const TfliteWriter& w, int64_t rank) {
  const auto only = [&](size_t i) {
    const auto known = w.has(i) ? KnownInts(w.in(i)) : std::nullopt;
    return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
  };
  const auto start = only(1), end = only(2), axis = only(3), step = only(4);
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  if (step != -1 || !axis || !start || !end || *end > -kFar) return std::nullopt;
  if (*start != -1 && *start < kFar) return std::nullopt;
  return *axis < 0 ? *axis + rank : *axis;
}

absl::StatusOr<Value*> ToLiteSlice(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank == 0) return w.Op("identity", {w.in(0)});
  if (const auto axis = ReversedAxis(w, rank); axis && BitWidth(w.dtype()) >= 8) {
    return w.Tflite("REVERSE_V2", {w.in(0), w.Int32s({*axis})});
  }
  X2IR_ASSIGN_OR_RETURN(StridedBounds bounds, StridedBoundsOf(w));
  PutEmptyAt(w, 1, &bounds);  // LiteRT takes an end of 0 for that of the axis
  return w.Tflite("STRIDED_SLICE", {w.in(0), bounds.begin, bounds.end, bounds.strides},
                  {{"begin_mask", bounds.begin_mask}, {"end_mask", bounds.end_mask}});
}

absl::StatusOr<Value*> ToLiteShape(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t from = bound(w.Int("start")), to = bound(w.attrs().Int("end", rank));
  std::vector<int64_t> known;
  for (int64_t i = from; i < to && (*w.shape())[i].is_static(); ++i) {
    known.push_back((*w.shape())[i].value());
  }
  if (static_cast<int64_t>(known.size()) == std::max<int64_t>(0, to - from) &&
      !w.node().output(0)->is_graph_output()) {
    return w.Ints(known);
  }
  const Type whole = Type::Tensor(DType::kInt64, Shape({Dim(rank)}));
  Value* all = w.Tflite("SHAPE", {w.in(0)}, {{"out_type", "INT64"}}, whole);
  if (from == 0 && to == rank) return all;
  return w.Op("slice", {all, w.Ints({from}), w.Ints({std::max(from, to)}), w.Ints({0})});
}

Value* ToLiteSize(TfliteWriter& w) {
  return w.Op("reduce_prod", {w.Op("shape", {w.in(0)}), w.Ints({0})}, {{"keepdims", 0}});
}

absl::StatusOr<Value*> ToLiteFill(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Tensor fill, FillOf(w));
  return w.Tflite("FILL", {Known32(w, w.in(0)), w.b().Constant(std::move(fill))});
}

Value* ToLiteRange(TfliteWriter& w) { return w.Tflite("RANGE", {w.in(0), w.in(1), w.in(2)}); }

absl::StatusOr<Value*> ToLiteOneHot(TfliteWriter& w) {
  if (!IsInteger(w.dtype())) {
    std::vector<Value*> operands = w.node().inputs();
    operands[0] = w.Cast(operands[0], DType::kInt64);
    return w.Op("one_hot", std::move(operands), w.attrs());
  }
  X2IR_ASSIGN_OR_RETURN(const OneHotParts parts, OneHotPartsOf(w));
  return w.Tflite("ONE_HOT", {parts.index, parts.depth, parts.on, parts.off},
                  {{"axis", parts.axis}});
}

}  // namespace

X2IR_TFLITE(concat)
    .To("CONCATENATION", ToLiteConcat)
    .From("CONCATENATION", Concatenation)
    .From("PACK", SameAsTf("Pack", {"axis"}));
X2IR_TFLITE(depth_to_space)
    .To("DEPTH_TO_SPACE", ToBlocks<kDepthToSpace>)
    .From("DEPTH_TO_SPACE", SpaceBlocks<false>);
X2IR_TFLITE(expand)
    .To("BROADCAST_TO", ToLiteExpand)
    .From({{"BROADCAST_TO", SameAsTf("BroadcastTo")},
           {"FILL", SameAsTf("Fill")},
           {"ZEROS_LIKE", SameAsTf("ZerosLike")}});
X2IR_TFLITE(one_hot).To("ONE_HOT", ToLiteOneHot).From("ONE_HOT", OneHot);
X2IR_TFLITE(pad).From({{"PAD", SameAsTf("Pad")},
                       {"PADV2", SameAsTf("PadV2")},
                       {"MIRROR_PAD", MirrorPad}});
X2IR_TFLITE(range).To("RANGE", ToLiteRange).From("RANGE", SameAsTf("Range"));
X2IR_TFLITE(reshape)
    .To("RESHAPE", ToLiteReshape)
    .From({{"RESHAPE", FromReshape},
           {"BATCH_TO_SPACE_ND", BatchToSpace},
           {"SPACE_TO_BATCH_ND", SpaceToBatch}});
X2IR_TFLITE(shape)
    .To("SHAPE", ToLiteShape)
    .From({{"SHAPE", ShapeAs}, {"RANK", RankOf}, {"BROADCAST_ARGS", SameAsTf("BroadcastArgs")}});
X2IR_TFLITE(slice)
    .To("STRIDED_SLICE", ToLiteSlice)
    .From({{"SLICE", SameAsTf("Slice")},
           {"STRIDED_SLICE", StridedSlice},
           {"REVERSE_V2", SameAsTf("ReverseV2")}});
X2IR_TFLITE(space_to_depth)
    .To("SPACE_TO_DEPTH", ToBlocks<kSpaceToDepth>)
    .From("SPACE_TO_DEPTH", SpaceBlocks<true>);
X2IR_TFLITE(split)
    .To("SPLIT_V", ToLiteSplit)
    .From({{"SPLIT", Split<false>}, {"SPLIT_V", Split<true>}, {"UNPACK", Unpack}});
X2IR_TFLITE(squeeze).To("SQUEEZE", ToLiteSqueeze).From("SQUEEZE", FromSqueeze);
X2IR_TFLITE(tile).To("TILE", ToLiteTile).From("TILE", SameAsTf("Tile"));
X2IR_TFLITE(transpose).To("TRANSPOSE", ToLiteTranspose).From("TRANSPOSE", SameAsTf("Transpose"));
X2IR_TFLITE(unsqueeze)
    .To("EXPAND_DIMS", ToLiteUnsqueeze)
    .From("EXPAND_DIMS", SameAsTf("ExpandDims"));
X2IR_TFLITE(flatten).To("RESHAPE", ToLiteFlatten);
X2IR_TFLITE(size).To("REDUCE_PROD", ToLiteSize);
X2IR_TFLITE(constant_of_shape).To("FILL", ToLiteFill);

}  // namespace x2ir
