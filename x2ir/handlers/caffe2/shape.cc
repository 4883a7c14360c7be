// Caffe2: shapes and movement of elements.
#include <algorithm>

#include "x2ir/builder/layers/images.h"
#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

// A second result has the sizes of the parts.
Expr SizesAlong(Caffe2Args& a, const std::vector<Value*>& parts, int64_t axis) {
  std::vector<Size> sizes;
  for (Value* part : parts) sizes.push_back(SizeAt({a, part}, axis));
  return Vector(a, sizes).To(DType::kInt32);
}

absl::StatusOr<Values> ConcatOp(Caffe2Args& a) {
  const bool last = a.ChannelsLast(), added = a.Bool("add_axis", false);
  const int64_t rank = a.RankOf();
  int64_t axis = a.Int("axis", last ? rank - 1 : 1);
  if (added) return Values{Stack(a, a.inputs(), a.AxisOf(axis, rank + 1))};
  axis = a.AxisOf(axis);
  Values all = {Concat(a, a.inputs(), axis)};
  if (a.wants(1)) all.push_back(SizesAlong(a, a.inputs(), axis));
  return all;
}

absl::StatusOr<Values> PartsOp(Caffe2Args& a) {
  const bool last = a.ChannelsLast();
  const int64_t axis = a.AxisOf(a.Int("axis", last ? a.RankOf() - 1 : 1));
  std::vector<int64_t> sizes = a.Ints("split");
  const size_t count = a.num_outputs();
  if (a.num_inputs() > 1) {
    X2IR_ASSIGN_OR_RETURN(sizes, a.KnownInts(1, "sizes"));
  }
  if (sizes.empty()) {
    const Dim whole = DimAt(a.in(0), axis);
    a.Require(whole.is_static(), "equal parts of an unknown size");
    const auto parts = static_cast<int64_t>(count);
    if (whole.value() % parts != 0) return Invalid(parts, " equal parts of ", whole.value());
    sizes.assign(count, whole.value() / parts);
  }
  if (sizes.size() != count) return Invalid(sizes.size(), " sizes of ", count, " parts");
  Values all;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > int64_t{1} << 40) return Invalid("a part of ", size);
    all.push_back(Slice(a.in(0), axis, Size(from), Size(from + size)));
    from += size;
  }
  return all;
}

absl::StatusOr<Values> ReshapeOp(Caffe2Args& a) {
  const std::vector<int64_t> dims = a.Ints("shape");
  Value* shape = nullptr;
  if (a.num_inputs() > 1) {
    shape = a.AsInt64(a.in(1));
  } else {
    shape = a.b().Ints(dims);
  }
  Values all = {a.Op("reshape", {a.in(0), shape}, {{"allowzero", 0}})};
  all.push_back(a.wants(1) ? ShapeOf(a.in(0)).value() : nullptr);
  return all;
}

Value* TransposeOp(Caffe2Args& a) {
  std::vector<int64_t> axes = a.Ints("axes");
  if (axes.empty()) {
    axes = CountedFrom(0, a.RankOf());
    std::reverse(axes.begin(), axes.end());
  }
  return Transpose(a.in(0), axes);
}

Value* Moved(Caffe2Args& a, bool to_last) {
  const int64_t rank = a.RankOf();
  return MoveAxis(a.in(0), to_last ? 1 : rank - 1, to_last ? rank - 1 : 1);
}

Value* FlattenOp(Caffe2Args& a) { return a.in(0).Op("flatten", {}, {{"axis", a.Int("axis", 1)}}); }

absl::StatusOr<Value*> SliceOp(Caffe2Args& a) {
  std::vector<int64_t> starts = a.Ints("starts"), ends = a.Ints("ends");
  if (a.num_inputs() == 3) {
    X2IR_ASSIGN_OR_RETURN(starts, a.KnownInts(1, "starts"));
    X2IR_ASSIGN_OR_RETURN(ends, a.KnownInts(2, "ends"));
  }
  if (starts.size() != ends.size())
    return Invalid(starts.size(), " starts, ", ends.size(), " ends");
  Expr x = a.in(0);
  for (size_t i = 0; i < starts.size(); ++i) {
    // An end of -1 is the end itself; one before it counts from there.
    const Size to = ends[i] == -1 ? Size(kToEnd) : ends[i] < -1 ? Size(ends[i] + 1) : Size(ends[i]);
    if (starts[i] == 0 && ends[i] == -1) continue;
    x = Slice(x, a.AxisOf(static_cast<int64_t>(i)), Size(starts[i]), to);
  }
  return x.value() == a.in(0).value() ? a.Op("identity", {x}).value() : x.value();
}

absl::StatusOr<Value*> TileOp(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 0)), times = a.Int("tiles", 1);
  a.Require(a.num_inputs() == 1, "computed repeats");
  if (times < 1) return Invalid("repeated ", times, " times");
  std::vector<int64_t> repeats(static_cast<size_t>(a.RankOf()), 1);
  repeats[static_cast<size_t>(axis)] = times;
  return a.Op("tile", {a.in(0), a.b().Ints(repeats)}).value();
}

absl::StatusOr<Value*> PadImage(Caffe2Args& a) {
  const int64_t all = a.Int("pad", 0);
  const bool last = a.ChannelsLast();
  const int64_t t = a.Int("pad_t", all), l = a.Int("pad_l", all), b = a.Int("pad_b", all),
                r = a.Int("pad_r", all);
  std::vector<int64_t> given = a.Ints("pads", {t, l, b, r});
  const std::string mode = a.String("mode", "constant");
  const double number = a.Number("value", 0);
  if (given.size() != 4 || a.RankOf() != 4) return Unimplemented("padding of what is no image");
  a.Require(mode == "constant" || mode == "reflect" || mode == "edge", StrCat("mode ", mode));
  const size_t first = last ? 1 : 2;
  std::vector<int64_t> pads(8, 0);
  pads[first] = given[0];
  pads[first + 1] = given[1];
  pads[4 + first] = given[2];
  pads[4 + first + 1] = given[3];
  std::vector<Value*> operands = {a.in(0), a.b().Ints(pads)};
  if (mode == "constant") operands.push_back(a.in(0).Number(number));
  return a.Op("pad", std::move(operands), {{"mode", mode}}).value();
}

absl::StatusOr<Value*> ChannelShuffle(Caffe2Args& a) {
  a.Drop({"kernel"});
  const int64_t groups = a.Int("group", 1);
  if (!a.ChannelsLast()) return ShuffledChannels(a, a.in(0), groups);
  const int64_t last = a.RankOf() - 1;
  X2IR_ASSIGN_OR_RETURN(Value * shuffled, ShuffledChannels(a, MoveAxis(a.in(0), last, 1), groups));
  return MoveAxis({a, shuffled}, 1, last).value();
}

// What an ONNX expand is: broadcast both ways.
absl::StatusOr<Value*> ExpandOp(Caffe2Args& a) {
  const std::vector<int64_t> shape = a.Ints("shape");
  return Expand(a.in(0), a.num_inputs() > 1 ? a.AsInt64(a.in(1)).value() : a.b().Ints(shape))
      .value();
}

absl::StatusOr<Value*> MergeDim(Caffe2Args& a) {
  if (a.RankOf() < 2) return Invalid("two axes of a list");
  return FlattenFront(a.in(0), 2).value();
}

// Numbers, as many as the operand has, or as the operand says.
absl::StatusOr<Value*> ConstantLike(Caffe2Args& a) {
  a.Require(a.Int("dtype", 1) == 1 && a.Ints("extra_shape").empty(), "constants of another type");
  const bool as_shape = a.Bool("input_as_shape", false);
  const Expr sizes = as_shape ? a.AsInt64(a.in(0)) : ShapeOf(a.in(0));
  const Expr number(a, a.b().Scalar(DType::kFloat32, a.Number("value", 0)));
  return Expand(number, sizes).value();
}

}  // namespace

X2IR_CAFFE2(concat).From({"Concat", "DepthConcat"}, ConcatOp);
X2IR_CAFFE2(split).From({"Split", "DepthSplit"}, PartsOp);
X2IR_CAFFE2(reshape)
    .From({{"Reshape", ReshapeOp}, {"MergeDim", MergeDim}})
    .From("FlattenToVec", [](Caffe2Args& a) { return Flat(a.in(0)); });
X2IR_CAFFE2(flatten).From("Flatten", FlattenOp);
X2IR_CAFFE2(squeeze).From("Squeeze",
                          [](Caffe2Args& a) { return Squeeze(a.in(0), a.Ints("dims")); });
X2IR_CAFFE2(unsqueeze).From("ExpandDims",
                            [](Caffe2Args& a) { return Unsqueeze(a.in(0), a.Ints("dims")); });
X2IR_CAFFE2(transpose)
    .From("Transpose", TransposeOp)
    .From("NCHW2NHWC", [](Caffe2Args& a) { return Moved(a, true); })
    .From("NHWC2NCHW", [](Caffe2Args& a) { return Moved(a, false); })
    .From("ChannelShuffle", ChannelShuffle);
X2IR_CAFFE2(slice).From("Slice", SliceOp);
X2IR_CAFFE2(size).From("Size", PlainOp("size"));
X2IR_CAFFE2(tile).From("Tile", TileOp);
X2IR_CAFFE2(pad).From("PadImage", PadImage);
X2IR_CAFFE2(shape).From("Shape", [](Caffe2Args& a) -> Value* {
  const std::vector<int64_t> axes = a.Ints("axes");
  const Expr sizes = ShapeOf(a.in(0));
  return axes.empty() ? sizes.value() : Gather(sizes, a.b().Ints(axes), 0).value();
});
X2IR_CAFFE2(expand).From({{"ConstantFill", ConstantLike}, {"Expand", ExpandOp}});

}  // namespace x2ir
