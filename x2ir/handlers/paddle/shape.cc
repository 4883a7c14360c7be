// Shapes and moves of elements, without arithmetic.
#include <algorithm>
#include <optional>

#include "x2ir/handlers/paddle/nn.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

Expr ShapeOfInput(PaddleArgs& a, DType type) {
  const Expr x = a.X("Input");
  return ShapeOf(x).To(type);
}

Expr ViewShape(PaddleArgs& a) {
  const std::vector<int64_t> sizes = a.Ints("dims");
  return Reshape(a.X("Input"), sizes);
}

// 0: the operand's size; -1: the remaining size.
Expr ReshapeLike(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<Size> sizes = a.Sizes("shape", {"ShapeTensor", "Shape"});
  return x.Op("reshape", {sizes.empty() ? a.b().Ints({}) : Vector(a, sizes).value()});
}

// Only axes of size 1 go. Of a named axis whose size is not known Paddle's own inference of shapes
// takes that it is 1, and so does the rest of the program.
Expr SqueezeLike(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t rank = a.Rank(x);
  std::vector<int64_t> axes = a.KnownList("axes", {});
  const bool named = !axes.empty();
  if (!named) {
    a.Require(x->shape()->is_static(), "every axis of size 1, where sizes are not known");
    axes = AllAxes(x);
  }
  std::vector<int64_t> ones;
  for (const int64_t each : axes) {
    const int64_t axis = rank == 0 ? 0 : a.Axis(each, x);
    if (rank == 0) continue;
    const Dim dim = (*x->shape())[axis];
    const bool counts = dim.is_static() ? dim.value() == 1 : named;
    if (counts && std::find(ones.begin(), ones.end(), axis) == ones.end()) ones.push_back(axis);
  }
  std::sort(ones.begin(), ones.end());
  return ones.empty() ? x.Op("identity") : Squeeze(x, ones);
}

// Axes are put in one after the other.
Expr UnsqueezeLike(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> axes = a.KnownList("axes", {"AxesTensorList", "AxesTensor"});
  std::vector<bool> fresh(static_cast<size_t>(a.Rank(x)), false);
  for (int64_t axis : axes) {
    const auto rank = static_cast<int64_t>(fresh.size());
    if (axis < 0) axis += rank + 1;
    if (axis < 0 || axis > rank) a.Fail(Invalid("there is no axis ", axis));
    fresh.insert(fresh.begin() + axis, true);
  }
  std::vector<int64_t> placed;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i]) placed.push_back(static_cast<int64_t>(i));
  }
  return placed.empty() ? x.Op("identity") : Unsqueeze(x, placed);
}

// Axes from `start` to `stop` as one.
Expr FlattenRange(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t start = a.Int("start_axis", 1), stop = a.Int("stop_axis", 1);
  const int64_t rank = a.Rank(x);
  if (rank == 0) return Flat(x);
  const int64_t from = a.Axis(start, x), to = a.Axis(stop, x);
  if (from > to) a.Fail(Invalid("the axes ", from, " to ", to));
  if (from == to) return x.Op("identity");
  // The axes before do not change, so only one size of the axes that follow must be known.
  std::vector<Size> sizes = AllSizes(x);
  std::vector<Size> result;
  for (int64_t i = 0; i < from; ++i) result.emplace_back(sizes[static_cast<size_t>(i)]);
  std::vector<Size> joined(sizes.begin() + from, sizes.begin() + to + 1);
  result.push_back(Product(a, joined));
  for (int64_t i = to + 1; i < rank; ++i) result.emplace_back(sizes[static_cast<size_t>(i)]);
  return ReshapeTo(x, result);
}

// A matrix: the axes before `axis`, and the others.
Expr FlattenToMatrix(PaddleArgs& a) {
  const Expr x = a.X();
  return x.Op("flatten", {}, {{"axis", a.Int("axis", 1)}});
}

Expr TransposeLike(PaddleArgs& a) {
  const Expr x = a.X();
  a.String("data_format", "");
  std::vector<int64_t> perm = a.Ints("axis");
  for (int64_t& axis : perm) axis = a.Axis(axis, x);
  if (static_cast<int64_t>(perm.size()) != a.Rank(x)) a.Fail(Invalid("an order of other axes"));
  return x.Op("transpose", {}, {{"perm", perm}});
}

Expr ConcatLike(PaddleArgs& a) {
  const std::vector<Value*> parts = a.List("X");
  a.Require(!parts.empty(), "nothing to put together");
  const int64_t axis = a.KnownNumber("axis", {"AxisTensor"}, 0);
  DType type = DType::kUndefined;
  for (Value* part : parts) type = PaddlePromote(type, part->dtype());
  std::vector<Value*> cast;
  for (Value* part : parts) cast.push_back(a.Cast(part, type));
  if (cast.size() == 1) return Expr(a.b(), cast[0]).Op("identity");
  return a.Op("concat", cast, {{"axis", axis}});
}

Expr StackLike(PaddleArgs& a) {
  const std::vector<Value*> parts = a.List("X");
  a.Require(!parts.empty(), "nothing to put together");
  const int64_t rank = a.Rank(Expr(a.b(), parts[0]));
  int64_t axis = a.Int("axis", 0);
  if (axis < 0) axis += rank + 1;
  return Stack(a, parts, axis);
}

Values SplitLike(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t axis = a.Axis(a.KnownNumber("axis", {"AxisTensor"}, 0), x);
  std::vector<Size> sections = a.Sizes("sections", {"SectionsTensorList"});
  int64_t count = a.Int("num", 0);
  if (sections.empty()) {
    a.Require(count > 0 && count <= (1 << 20), "parts of that number");
    if (count == 1) return {x.Op("identity")};
    return a.b().Ops("split", {x, nullptr}, {{"axis", axis}, {"num_outputs", count}},
                     static_cast<size_t>(count));
  }
  // A size of -1 is the remaining size.
  std::optional<size_t> open;
  Size rest = SizeAt(x, axis);
  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].number && *sections[i].number == -1) {
      open = i;
    } else {
      rest = Minus(a, rest, sections[i]);
    }
  }
  if (open) sections[*open] = rest;
  if (sections.size() == 1) return {x.Op("identity")};
  return a.b().Ops("split", {x, Vector(a, sections)}, {{"axis", axis}}, sections.size());
}

// One part for each index of an axis, without the axis.
Values Unstacked(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t axis = a.Axis(a.Int("axis", 0), x);
  a.Int("num", 0);
  const Dim size = (*x->shape())[axis];
  // As many results as there are indices.
  const auto count = static_cast<int64_t>(a.NumResults("Y") + a.NumResults("Out"));
  if (size.is_static() && size.value() < count) a.Fail(Invalid("more results than indices"));
  Values parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(Gather(x, a.b().Int(i), axis));
  return parts;
}

Expr WithoutAxes(PaddleArgs& a, const Expr& y, std::vector<int64_t> axes) {
  for (int64_t& axis : axes) axis = a.Axis(axis, y);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes.empty() ? y : Squeeze(y, axes);
}

Expr SliceLike(PaddleArgs& a) {
  std::vector<int64_t> axes = a.Ints("axes");
  const std::vector<int64_t> decreased = a.Ints("decrease_axis");
  const std::vector<Size> starts = a.Sizes("starts", {"StartsTensorList", "StartsTensor"});
  std::vector<Size> ends = a.Sizes("ends", {"EndsTensorList", "EndsTensor"});
  if (starts.size() != axes.size() || ends.size() != axes.size()) {
    a.Fail(Invalid("not one start and end for each axis"));
  }
  const Expr x = a.X("Input");
  // An element of an array.
  if (x->type().kind() == Type::kSequence) {
    return x.Op("sequence_at", {Scalar(a, starts[0])});
  }
  // The last index has no end to name: -1 + 1 is 0, which counts from the front.
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = a.Axis(axes[i], x);
    const bool single = std::find(decreased.begin(), decreased.end(), axes[i]) != decreased.end();
    if (single && starts[i].number && *starts[i].number == -1) ends[i] = kToEnd;
  }
  if (axes.empty()) return x.Op("identity");
  const Expr y = x.Op("slice", {Vector(a, starts), Vector(a, ends), a.b().Ints(axes)});
  return WithoutAxes(a, y, decreased);
}

// Where a step is negative, an end of -1 is before the first element.
Size EndOf(PaddleArgs& a, const Size& end, const Size& step) {
  if (!step.number || *step.number > 0) return end;
  a.Require(end.number.has_value(), "computed ends of steps that go back");
  return *end.number == -1 ? Size(INT64_MIN + 1) : end;
}

Expr StridedSliceLike(PaddleArgs& a) {
  std::vector<int64_t> axes = a.Ints("axes");
  const std::vector<int64_t> decreased = a.Ints("decrease_axis");
  const std::vector<Size> starts = a.Sizes("starts", {"StartsTensorList", "StartsTensor"});
  std::vector<Size> ends = a.Sizes("ends", {"EndsTensorList", "EndsTensor"});
  const std::vector<Size> steps = a.Sizes("strides", {"StridesTensorList", "StridesTensor"});
  const Expr x = a.X("Input");
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size()) {
    a.Fail(Invalid("not one start, end and step for each axis"));
  }
  if (axes.empty()) return x.Op("identity");
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = a.Axis(axes[i], x);
    ends[i] = EndOf(a, ends[i], steps[i]);
  }
  const Expr y =
      x.Op("slice", {Vector(a, starts), Vector(a, ends), a.b().Ints(axes), Vector(a, steps)});
  return WithoutAxes(a, y, decreased);
}

Expr ExpandTo(PaddleArgs& a) {
  const Expr x = a.X();
  std::vector<Size> sizes = a.Sizes("shape", {"expand_shapes_tensor", "Shape"});
  // -1: the size as it is, to which a 1 is broadcast.
  for (Size& size : sizes) {
    if (size.number && *size.number == -1) size = 1;
  }
  return sizes.empty() ? x.Op("identity") : Expand(x, Vector(a, sizes));
}

Expr ExpandAs(PaddleArgs& a) {
  const Expr x = a.X();
  const Expr y = a.Opt("Y");
  const std::vector<int64_t> target = a.Ints("target_shape");
  if (y.value()) return Expand(x, ShapeOf(y));
  std::vector<int64_t> sizes = target;
  for (int64_t& size : sizes) size = size == -1 ? 1 : size;
  return Expand(x, a.b().Ints(sizes));
}

Expr Tiled(PaddleArgs& a, Expr x, std::vector<Size> repeats) {
  const int64_t rank = a.Rank(x);
  const auto count = static_cast<int64_t>(repeats.size());
  if (count > rank) x = Unsqueeze(x, CountedFrom(0, count - rank));
  if (count < rank) {
    repeats.insert(repeats.begin(), static_cast<size_t>(rank - count), Size(1));
  }
  return repeats.empty() ? x.Op("identity") : x.Op("tile", {Vector(a, repeats)});
}

Expr Tile(PaddleArgs& a) {
  const Expr x = a.X();
  return Tiled(a, x, a.Sizes("repeat_times", {"repeat_times_tensor", "RepeatTimes"}));
}

Expr ExpandTimes(PaddleArgs& a) {
  const Expr x = a.X();
  return Tiled(a, x, a.Sizes("expand_times", {"expand_times_tensor", "ExpandTimes"}));
}

// As often as makes it as large as another one.
Expr ExpandAsTarget(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("target_tensor");
  std::vector<Size> repeats;
  for (int64_t i = 0; i < a.Rank(x); ++i) {
    repeats.push_back(Divided(a, SizeAt(y, i), SizeAt(x, i)));
  }
  return Tiled(a, x, repeats);
}

Expr CropLike(PaddleArgs& a) {
  const Expr x = a.X();
  std::vector<Size> sizes;
  if (a.Has("Y")) {
    sizes = AllSizes(a.X("Y"));
    a.Ints("shape");
  } else {
    sizes = a.Sizes("shape", {"ShapeTensor", "Shape"});
  }
  const auto rank = static_cast<size_t>(a.Rank(x));
  const std::vector<Size> offsets =
      a.Sizes("offsets", {"OffsetsTensor", "Offsets"}, std::vector<int64_t>(rank, 0));
  if (sizes.size() != rank || offsets.size() != rank) a.Fail(Invalid("sizes of other axes"));
  std::vector<Size> ends;
  for (size_t i = 0; i < rank; ++i) {
    const bool rest = sizes[i].number && *sizes[i].number == -1;
    ends.push_back(rest ? Size(kToEnd) : Plus(a, offsets[i], sizes[i]));
  }
  return x.Op("slice", {Vector(a, offsets), Vector(a, ends), a.b().Ints(AllAxes(x))});
}

Values BroadcastTensors(PaddleArgs& a) {
  const std::vector<Value*> parts = a.List("X");
  int64_t rank = 0;
  for (Value* part : parts) rank = std::max(rank, a.Rank(Expr(a.b(), part)));
  Value* shape = nullptr;
  for (Value* part : parts) {
    const Expr x(a.b(), part);
    const int64_t missing = rank - a.Rank(x);
    Value* own = ShapeOf(missing ? Unsqueeze(x, CountedFrom(0, missing)) : x);
    shape = shape ? Max(Expr(a.b(), shape), Expr(a.b(), own)).value() : own;
  }
  Values expanded;
  for (Value* part : parts) expanded.push_back(Expand(Expr(a.b(), part), shape));
  return expanded;
}

Values Meshgrid(PaddleArgs& a) {
  const std::vector<Value*> parts = a.List("X");
  const auto rank = static_cast<int64_t>(parts.size());
  std::vector<Size> sizes;
  for (Value* part : parts) sizes.push_back(SizeAt(AtLeast1d(Expr(a.b(), part)), 0));
  Values grids;
  for (int64_t i = 0; i < rank; ++i) {
    const Expr x = AtLeast1d(Expr(a.b(), parts[static_cast<size_t>(i)]));
    grids.push_back(Expand(AlongAxis(x, i, rank), Vector(a, sizes)));
  }
  return grids;
}

Expr FlipLike(PaddleArgs& a) {
  const Expr x = a.X();
  std::vector<int64_t> axes = a.HasAttr("dims") ? a.Ints("dims") : a.KnownList("axis", {});
  for (int64_t& axis : axes) axis = a.Axis(axis, x);
  if (axes.empty()) return x.Op("identity");
  const std::vector<int64_t> starts(axes.size(), -1), ends(axes.size(), INT64_MIN + 1);
  return x.Op("slice",
              {a.b().Ints(starts), a.b().Ints(ends), a.b().Ints(axes), a.b().Ints(starts)});
}

Expr RollLike(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> shifts = a.KnownList("shifts", {"ShiftsTensor"});
  // The first version called them dims.
  const std::vector<int64_t> axes = a.HasAttr("axis") ? a.Ints("axis") : a.Ints("dims");
  return AsTorch(a, "aten::roll.default",
                 {{"self", x}, {"shifts", Attribute(shifts)}, {"dims", Attribute(axes)}},
                 x.dtype());
}

Expr PixelShuffle(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = a.String("data_format", "NCHW") == "NHWC";
  const Expr y =
      (last ? MoveAxis(x, 3, 1) : x)
          .Op("depth_to_space", {}, {{"blocksize", a.Int("upscale_factor", 1)}, {"mode", "CRD"}});
  return last ? MoveAxis(y, 1, 3) : y;
}

Expr PixelUnshuffle(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = a.String("data_format", "NCHW") == "NHWC";
  const int64_t factor = a.Int("downscale_factor", 1);
  const Expr first = last ? MoveAxis(x, 3, 1) : x;
  const Expr y = AsTorch(a, "aten::pixel_unshuffle.default",
                         {{"self", first}, {"downscale_factor", factor}}, x.dtype());
  return last ? MoveAxis(y, 1, 3) : y;
}

// Channels that are sorted by group are interleaved.
Expr ChannelShuffle(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = a.String("data_format", "NCHW") == "NHWC";
  const int64_t groups = a.HasAttr("group") ? a.Int("group", 1) : a.Int("groups", 1);
  const int64_t axis = last ? a.Rank(x) - 1 : 1;
  a.Require(a.Rank(x) >= 2 && groups > 0, "groups of channels");
  std::vector<Size> sizes = AllSizes(x), parted = sizes;
  parted[static_cast<size_t>(axis)] = DividedBy(a, sizes[static_cast<size_t>(axis)], groups);
  parted.insert(parted.begin() + axis, Size(groups));
  return ReshapeTo(MoveAxis(ReshapeTo(x, parted), axis, axis + 1), sizes);
}

// Blocks of elements become channels, in the order of Darknet's reorg: x is read
// as if its blocks were in its last axes already.
Expr SpaceToDepth(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t block = a.Int("blocksize", 2);
  a.Require(block >= 1 && block <= 4096 && a.Rank(x) == 4, "blocks of images");
  const Size outer = SizeAt(x, 0), channels = SizeAt(x, 1), height = SizeAt(x, 2),
             width = SizeAt(x, 3);
  const Size parts = DividedBy(a, channels, block * block);
  const Expr blocks = ReshapeTo(x, {outer, parts, height, Size(block), width, Size(block)});
  return ReshapeTo(Transpose(blocks, {0, 3, 5, 1, 2, 4}),
                   {outer, Times(a, channels, block * block), DividedBy(a, height, block),
                    DividedBy(a, width, block)});
}

// Of every segment of images some channels are those of the next one, and some of the one before.
Expr TemporalShift(PaddleArgs& a) {
  Expr x = a.X();
  const bool last = a.String("data_format", "NCHW") == "NHWC";
  const int64_t segments = a.Int("seg_num", 1);
  const double ratio = a.Number("shift_ratio", 0.25);
  a.Require(a.Rank(x) == 4 && segments > 0 && ratio >= 0 && ratio <= 0.5, "segments of images");
  if (last) x = MoveAxis(x, 3, 1);
  const std::vector<Size> sizes = AllSizes(x);
  a.Require(sizes[1].number.has_value(), "an unknown number of channels");
  const int64_t channels = *sizes[1].number;
  const auto first =
      static_cast<int64_t>(static_cast<double>(channels) * static_cast<float>(ratio));
  const auto second =
      static_cast<int64_t>(static_cast<double>(channels) * 2 * static_cast<float>(ratio));
  std::vector<Size> parted = sizes;
  parted[0] = Divided(a, sizes[0], segments);
  parted.insert(parted.begin() + 1, Size(segments));
  const Expr y = ReshapeTo(x, parted);
  const auto moved = [&](int64_t from, int64_t to, bool back) -> Expr {
    const Expr part = Slice(y, 2, from, to);
    const std::vector<int64_t> pads =
        back ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 1};
    const Expr padded = part.Op("pad", {a.b().Ints(pads), part.Number(0), a.b().Ints({1})});
    return back ? Slice(padded, 1, 0, segments) : Slice(padded, 1, 1, segments + 1);
  };
  Expr shifted = Concat(
      a, {moved(0, first, true), moved(first, second, false), Slice(y, 2, second, channels)}, 2);
  shifted = ReshapeTo(shifted, sizes);
  return last ? MoveAxis(shifted, 1, 3) : shifted;
}

Expr IsEmpty(PaddleArgs& a) {
  const Expr x = a.X();
  return x.Op("size") == Int(a, 0);
}

Expr OneHot(PaddleArgs& a, bool column) {
  Expr x = a.X();
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const Expr depth = a.Scalar("depth", {"depth_tensor"}, -1, DType::kInt64);
  a.Bool("allow_out_of_range", false);
  if (column) x = Squeeze(x, {a.Rank(x) - 1});
  const Expr values = {a.b(), a.b().Constant(Tensor::Of<float>({2}, {0.0f, 1.0f}))};
  return x.Op("one_hot", {depth, values.To(type)}, {{"axis", -1}});
}

std::string PadMode(PaddleArgs& a) {
  const std::string mode = a.String("mode", "constant");
  if (mode == "replicate") return "edge";
  if (mode == "circular") return "wrap";
  a.Require(mode == "constant" || mode == "reflect" || mode == "edge", StrCat("padding ", mode));
  return mode;
}

Expr Padded(PaddleArgs& a, const Expr& x, const std::vector<Size>& begins,
            const std::vector<Size>& ends, const std::vector<int64_t>& axes,
            const std::string& mode, double number) {
  std::vector<Size> pads = begins;
  pads.insert(pads.end(), ends.begin(), ends.end());
  return x.Op(
      "pad",
      {Vector(a, pads), mode == "constant" ? x.Number(number).value() : nullptr, a.b().Ints(axes)},
      {{"mode", mode}});
}

// top, bottom, left, right.
Expr Pad2d(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = ChannelsLast(a);
  const std::vector<Size> pads = a.Sizes("paddings", {"Paddings"}, {0, 0, 0, 0});
  const double number = a.Number("pad_value", 0);
  if (pads.size() != 4) a.Fail(Invalid("expected four paddings"));
  const int64_t from = last ? 1 : 2;
  return Padded(a, x, {pads[0], pads[2]}, {pads[1], pads[3]}, {from, from + 1}, PadMode(a), number);
}

// left, right, top, bottom, front, back.
Expr Pad3d(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = ChannelsLast(a);
  const std::vector<Size> pads = a.Sizes("paddings", {"Paddings"});
  const double number = a.Number("value", 0);
  const int64_t rank = a.Rank(x), spatial = rank - 2;
  if (pads.size() < static_cast<size_t>(2 * spatial)) a.Fail(Invalid("paddings of other axes"));
  std::vector<Size> begins, ends;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(2 * (spatial - 1 - i));
    begins.push_back(pads[at]);
    ends.push_back(pads[at + 1]);
    axes.push_back((last ? 1 : 2) + i);
  }
  return Padded(a, x, begins, ends, axes, PadMode(a), number);
}

// Both ends of each axis, one axis after the other.
Expr PadAll(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<Size> pads = a.Sizes("paddings", {});
  a.Bool("pad_from_left_axis", true);
  const Expr number = a.Scalar("pad_value", {}, 0, x.dtype());
  if (pads.size() != static_cast<size_t>(2 * a.Rank(x))) a.Fail(Invalid("paddings of other axes"));
  std::vector<Size> all;
  for (size_t end = 0; end < 2; ++end) {
    for (size_t i = end; i < pads.size(); i += 2) all.push_back(pads[i]);
  }
  return x.Op("pad", {Vector(a, all), number, nullptr}, {{"mode", "constant"}});
}

// Y made as large as X, at the ends.
Expr PadLike(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const double number = a.Number("pad_value", 0);
  std::vector<Size> pads(static_cast<size_t>(a.Rank(y)), Size(0));
  for (int64_t i = 0; i < a.Rank(y); ++i) pads.push_back(Minus(a, SizeAt(x, i), SizeAt(y, i)));
  return y.Op("pad", {Vector(a, pads), y.Number(number), nullptr}, {{"mode", "constant"}});
}

Expr Fold(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> sizes = a.Ints("output_sizes"), kernel = a.Ints("kernel_sizes"),
                             strides = a.Ints("strides", {1, 1}),
                             dilations = a.Ints("dilations", {1, 1});
  std::vector<int64_t> pads = a.Ints("paddings", {0, 0, 0, 0});
  if (pads.size() == 2) pads = {pads[0], pads[1], pads[0], pads[1]};
  return x.Op("col2im", {a.b().Ints(sizes), a.b().Ints(kernel)},
              {{"strides", strides}, {"dilations", dilations}, {"pads", pads}});
}

// Columns [start, start + length) of each, side by side or added up.
std::vector<Value*> PartsOf(PaddleArgs& a) {
  const int64_t start = a.Int("start_index", 0), length = a.Int("length", -1);
  std::vector<Value*> parts;
  for (Value* each : a.List("X")) {
    const Expr x(a.b(), each);
    parts.push_back(Slice(x, 1, start, length < 0 ? Size(kToEnd) : Size(start + length)));
  }
  a.Require(!parts.empty() && start >= 0, "no operands");
  return parts;
}

Expr PartialConcat(PaddleArgs& a) { return Concat(a, PartsOf(a), 1); }

Expr PartialSum(PaddleArgs& a) {
  const std::vector<Value*> parts = PartsOf(a);
  Expr sum(a.b(), parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) sum = sum + Expr(a.b(), parts[i]);
  return sum;
}

}  // namespace

X2IR_PADDLE(shape)
    .From("shape", [](PaddleArgs& a) { return ShapeOfInput(a, DType::kInt32); })
    .From("shape64", [](PaddleArgs& a) { return ShapeOfInput(a, DType::kInt64); });
X2IR_PADDLE(size)
    .From("size", [](PaddleArgs& a) { return a.X("Input").Op("size"); })
    .From("is_empty", IsEmpty);
X2IR_PADDLE(reshape)
    .From({"reshape2", "reshape"}, ReshapeLike)
    .From("view_shape", ViewShape)
    .From({"flatten_contiguous_range"}, FlattenRange);
X2IR_PADDLE(flatten).From({"flatten", "flatten2"}, FlattenToMatrix);
X2IR_PADDLE(squeeze).From({"squeeze2", "squeeze"}, SqueezeLike);
X2IR_PADDLE(unsqueeze).From({"unsqueeze2", "unsqueeze"}, UnsqueezeLike);
X2IR_PADDLE(transpose)
    .From({"transpose2", "transpose"}, TransposeLike)
    .From({"shuffle_channel", "channel_shuffle"}, ChannelShuffle);
X2IR_PADDLE(concat).From({{"concat", ConcatLike},
                          {"stack", StackLike},
                          {"temporal_shift", TemporalShift},
                          {"roll", RollLike},
                          {"partial_concat", PartialConcat}});
X2IR_PADDLE(split).From("split", SplitLike).From({"unstack", "unbind"}, Unstacked);
X2IR_PADDLE(slice)
    .From({{"slice", SliceLike}, {"strided_slice", StridedSliceLike}})
    .From({"crop_tensor", "crop"}, CropLike)
    .From({"flip", "reverse"}, FlipLike);
X2IR_PADDLE(expand).From({{"expand_v2", ExpandTo},
                          {"expand_as_v2", ExpandAs},
                          {"broadcast_tensors", BroadcastTensors},
                          {"meshgrid", Meshgrid}});
X2IR_PADDLE(tile).From({{"tile", Tile}, {"expand", ExpandTimes}, {"expand_as", ExpandAsTarget}});
X2IR_PADDLE(depth_to_space).From("pixel_shuffle", PixelShuffle);
X2IR_PADDLE(space_to_depth)
    .From({{"pixel_unshuffle", PixelUnshuffle}, {"space_to_depth", SpaceToDepth}});
X2IR_PADDLE(one_hot)
    .From("one_hot_v2", [](PaddleArgs& a) { return OneHot(a, false); })
    .From("one_hot", [](PaddleArgs& a) { return OneHot(a, true); });
X2IR_PADDLE(pad).From(
    {{"pad2d", Pad2d}, {"pad3d", Pad3d}, {"pad", PadAll}, {"pad_constant_like", PadLike}});
X2IR_PADDLE(col2im).From("fold", Fold);
X2IR_PADDLE(sum).From("partial_sum", PartialSum);

}  // namespace x2ir
