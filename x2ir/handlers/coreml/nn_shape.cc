// Layers of networks that move elements: shapes, orders, parts and wholes.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/indexing.h"
#include "x2ir/handlers/coreml/layout.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

// The last three axes under other sizes; with four sizes the sequence too.
Expr ReshapedImage(NnArgs& a) {
  const std::vector<int64_t> dims = a.List("targetShape");
  const std::string mode = a.Enum("mode", "CHANNEL_FIRST");
  const Expr x = a.X();
  const int64_t rank = x.rank();
  a.Require(rank >= 3 && (dims.size() == 3 || dims.size() == 4), "a shape of other axes");
  const bool last = mode == "CHANNEL_LAST";
  std::vector<Size> sizes = SizesAt(x, 0, rank - 3);
  if (dims.size() == 4) {
    a.Require(!last && (rank == 4 || rank == 5), "sizes of a sequence");
    if (rank == 5) a.Require(sizes[1].number && *sizes[1].number == 1, "sequences of a batch");
    sizes[0] = dims[0];
  }
  const auto n = dims.size();
  const int64_t c = dims[n - 3], h = dims[n - 2], w = dims[n - 1];
  if (!last) {
    for (const int64_t dim : {c, h, w}) sizes.emplace_back(dim);
    return ReshapeTo(x, sizes);
  }
  for (const int64_t dim : {h, w, c}) sizes.emplace_back(dim);
  return MoveAxis(ReshapeTo(MoveAxis(x, rank - 3, rank - 1), sizes), rank - 1, rank - 3);
}

Expr FlattenedImage(NnArgs& a) {
  const bool last = a.Enum("mode", "CHANNEL_FIRST") == "CHANNEL_LAST";
  const Expr x = a.X();
  const int64_t rank = x.rank();
  a.Require(rank >= 3, StrCat("rank ", rank));
  std::vector<Size> sizes = SizesAt(x, 0, rank - 3);
  sizes.push_back(Product(a.b(), SizesAt(x, rank - 3, rank)));
  sizes.emplace_back(1);
  sizes.emplace_back(1);
  return ReshapeTo(last ? MoveAxis(x, rank - 3, rank - 1) : x, sizes);
}

// Of sequence, channels, height and width; the batch stays.
Expr Permuted(NnArgs& a) {
  std::vector<int64_t> axes = a.List("axis", {0, 1, 2, 3});
  const Expr x = a.X();
  const int64_t rank = x.rank();
  a.Require(axes.size() == 4 && (rank == 4 || rank == 5), StrCat("rank ", rank));
  for (int64_t& axis : axes) {
    a.Require(axis >= 0 && axis < 4, "an axis that is none");
    if (rank == 5 && axis > 0) ++axis;
  }
  if (rank == 5) axes.insert(axes.begin() + 1, 1);
  return Transpose(x, axes);
}

Expr ConcatImages(NnArgs& a) {
  const bool sequence = a.Flag("sequenceConcat");
  return Concat(a.b(), a.all(), sequence ? -5 : -3);
}

Values InEqualParts(NnArgs& a, int64_t axis, int64_t count) {
  a.Require(count == static_cast<int64_t>(a.num_outputs()), "another number of results");
  const Dim whole = DimAt(a.X(), axis);
  a.Require(!whole.is_static() || whole.value() % count == 0, "parts of different sizes");
  return a.b().Ops("split", {a.X(), nullptr}, {{"axis", axis}, {"num_outputs", count}},
                   a.num_outputs());
}

Values SplitImages(NnArgs& a) { return InEqualParts(a, -3, a.Int("nOutputs")); }

Expr Repeated(NnArgs& a) {
  const int64_t count = a.Int("nRepetitions");
  const Expr x = a.X();
  a.Require(x.rank() == 5 && count >= 1, "a sequence again and again");
  return x.Op("tile", {a.b().Ints({count, 1, 1, 1, 1})});
}

Expr Reorganized(NnArgs& a) {
  const std::string mode = a.Enum("mode", "SPACE_TO_DEPTH");
  const int64_t block = a.Int("blockSize");
  return OnImages(a, a.X(), [&](const Expr& x) {
    if (mode == "SPACE_TO_DEPTH") return x.Op("space_to_depth", {}, {{"blocksize", block}});
    const bool shuffle = mode == "PIXEL_SHUFFLE";
    a.Require(shuffle || mode == "DEPTH_TO_SPACE", StrCat("mode ", mode));
    return x.Op("depth_to_space", {}, {{"blocksize", block}, {"mode", shuffle ? "CRD" : "DCR"}});
  });
}

Expr SlicedImage(NnArgs& a) {
  const int64_t begin = a.Int("startIndex"), end = a.Int("endIndex"), stride = a.Int("stride", 1);
  const std::string axis = a.Enum("axis", "CHANNEL_AXIS");
  a.Require(end != 0, "a slice of nothing");
  const int64_t at = axis == "CHANNEL_AXIS" ? -3 : axis == "HEIGHT_AXIS" ? -2 : -1;
  return Slice(a.X(), at, begin, end, Size(stride));
}

Expr Transposed(NnArgs& a) { return Transpose(a.X(), a.List("axes")); }

Expr ReversedAxes(NnArgs& a) {
  const std::vector<int64_t> flags = a.List("reverseDim");
  const Expr x = a.X();
  a.Require(static_cast<int64_t>(flags.size()) == x.rank(), "axes of another rank");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] != 0) axes.push_back(static_cast<int64_t>(i));
  }
  return Reversed(x, axes);
}

Values SplitNd(NnArgs& a) {
  const std::vector<int64_t> sizes = a.List("splitSizes");
  const int64_t axis = a.Int("axis"), count = a.Int("numSplits");
  if (sizes.empty()) return InEqualParts(a, axis, count);
  a.Require(sizes.size() == a.num_outputs(), "another number of results");
  return a.b().Ops("split", {a.X(), a.b().Ints(sizes)}, {{"axis", axis}}, a.num_outputs());
}

Expr ConcatNd(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return a.Flag("interleave") ? Interleaved(a, a.all(), axis) : Concat(a.b(), a.all(), axis);
}

Expr StackNd(NnArgs& a) { return Stack(a.b(), a.all(), a.Int("axis")); }

// Of fewer axes: the last ones.
Expr Tiled(NnArgs& a) {
  std::vector<int64_t> counts = a.List("reps");
  const int64_t rank = a.X().rank(), own = static_cast<int64_t>(counts.size());
  if (own < rank) counts.insert(counts.begin(), static_cast<size_t>(rank - own), 1);
  return a.X().Op("tile", {a.count() > 1 ? a.Whole(1).value() : a.b().Ints(counts)});
}

Expr Squeezed(NnArgs& a) {
  const std::vector<int64_t> axes = a.List("axes");
  const bool all = a.Flag("squeezeAll");
  const Expr x = a.X();
  if (x.rank() == 1) return x.Op("identity");
  if (!all) {
    a.Require(!axes.empty(), "no axes");
    return AtLeastOneAxis(Squeeze(x, axes));
  }
  const auto sizes = KnownSizes(x);
  a.Require(sizes.has_value(), "all axes of size 1 where sizes are not known");
  std::vector<int64_t> rest;
  for (const int64_t size : *sizes) {
    if (size != 1) rest.push_back(size);
  }
  if (rest.empty()) rest = {1};
  return Reshape(x, rest);
}

Expr Expanded(NnArgs& a) { return Unsqueeze(a.X(), a.List("axes")); }

Expr FlattenedTo2d(NnArgs& a) {
  const Expr x = a.X();
  const int64_t rank = x.rank();
  int64_t axis = a.Int("axis");
  a.Require(axis >= -rank && axis <= rank, "an axis that is none");
  if (axis < 0) axis += rank;
  return ReshapeTo(x,
                   {Product(a.b(), SizesAt(x, 0, axis)), Product(a.b(), SizesAt(x, axis, rank))});
}

Expr ReshapedLike(NnArgs& a) { return ReshapeTo(a.X(), ShapeOf(a.X(1)).value()); }
Expr ReshapedStatic(NnArgs& a) { return Reshape(a.X(), a.List("targetShape")); }
Expr ReshapedDynamic(NnArgs& a) { return a.X().Op("reshape", {a.Whole(1)}, {{"allowzero", 1}}); }

// 0 is the size that is there.
Expr ReshapedInRank(NnArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> dims = a.List("targetShape");
  a.Require(static_cast<int64_t>(dims.size()) == x.rank(), "sizes of another rank");
  return x.Op("reshape", {a.b().Ints(dims)}, {{"allowzero", 0}});
}

Expr ShapeNumbers(NnArgs& a) { return AsNumber(ShapeOf(a.X())); }

Expr PaddedNd(NnArgs& a) {
  const double value = a.Number("value");
  const std::vector<int64_t> amounts = a.List("padAmounts");
  a.Require(!a.Flag("padToGivenOutputSizeMode"), "pads up to a size");
  const Expr x = a.X();
  const Expr pairs = a.count() > 1 ? a.Whole(1) : Ints(a.b(), amounts);
  Value* pads = Reshape(Transpose(Reshape(pairs, {-1, 2}), {1, 0}), {-1});
  return x.Op("pad", {pads, x.Number(value)}, {{"mode", "constant"}});
}

Expr Windows(NnArgs& a) {
  const int64_t axis = a.Int("axis"), size = a.Int("windowSize"), step = a.Int("step", 1);
  return SlidingWindows(a, a.X(), axis, size, step);
}

Expr Band(NnArgs& a) {
  const int64_t lower = a.Int("numLower"), upper = a.Int("numUpper");
  return BandPart(a.X(), lower, upper);
}

Expr Lower(NnArgs& a) { return a.X().Op("trilu", {a.b().Int(a.Int("k"))}, {{"upper", 0}}); }
Expr Upper(NnArgs& a) { return a.X().Op("trilu", {a.b().Int(a.Int("k"))}, {{"upper", 1}}); }

Expr Filling(NnArgs& a, Value* shape) {
  return Expand(NumbersAs(a.b(), DType::kFloat32, {}, {a.Number("value")}), shape);
}

Expr FilledLike(NnArgs& a) { return Filling(a, ShapeOf(a.X())); }
Expr FilledStatic(NnArgs& a) { return Filling(a, a.b().Ints(a.List("targetShape"))); }
Expr FilledDynamic(NnArgs& a) { return Filling(a, a.Whole(0)); }
Expr SpreadLike(NnArgs& a) { return Expand(a.X(), ShapeOf(a.X(1))); }
Expr SpreadStatic(NnArgs& a) { return Expand(a.X(), a.b().Ints(a.List("targetShape"))); }
Expr SpreadDynamic(NnArgs& a) { return Expand(a.X(), a.Whole(1)); }

Expr Range(const Expr& end, const Expr& start, const Expr& step) {
  const auto number = [](const Expr& x) { return Reshape(x, {}); };
  return number(start).Op("range", {number(end), number(step)});
}

Expr NumberOf(NnArgs& a, Symbol name, double fallback) {
  return NumbersAs(a.b(), DType::kFloat32, {1}, {a.Number(name, fallback)});
}

Expr RangeStatic(NnArgs& a) {
  const Expr end = NumberOf(a, "endValue", 0), start = NumberOf(a, "startValue", 0),
             step = NumberOf(a, "stepSizeValue", 1);
  return Range(end, start, step);
}

Expr RangeDynamic(NnArgs& a) {
  const Expr start = NumberOf(a, "startValue", 0), step = NumberOf(a, "stepSizeValue", 1);
  return Range(a.X(0), a.count() > 1 ? a.X(1) : start, a.count() > 2 ? a.X(2) : step);
}

Expr SliceStatic(NnArgs& a) {
  const std::vector<int64_t> begin = a.List("beginIds"), end = a.List("endIds"),
                             strides = a.List("strides"), begin_mask = a.List("beginMasks"),
                             end_mask = a.List("endMasks"), squeeze = a.List("squeezeMasks");
  return AtLeastOneAxis(SlicedByIndex(a, a.X(), Ints(a.b(), begin), Ints(a.b(), end), strides,
                                      begin_mask, end_mask, squeeze));
}

// Begin, end, strides and masks may be operands, in this order.
absl::StatusOr<Value*> SliceDynamic(NnArgs& a) {
  const std::vector<int64_t> ends = a.List("endIds");
  const Expr end = a.count() > 2 ? a.Whole(2) : Ints(a.b(), ends);
  std::vector<int64_t> lists[4] = {a.List("strides"), a.List("beginMasks"), a.List("endMasks"),
                                   a.List("squeezeMasks")};
  for (size_t i = 3; i < a.count() && i < 7; ++i) {
    X2IR_ASSIGN_OR_RETURN(lists[i - 3], a.Known(i, "stride or mask"));
  }
  return AtLeastOneAxis(
             SlicedByIndex(a, a.X(), a.Whole(1), end, lists[0], lists[1], lists[2], lists[3]))
      .value();
}

// As many elements from the begin on that the operand says.
Expr SliceBySize(NnArgs& a) {
  const int64_t size = a.Int("size"), axis = a.Int("axis");
  const Expr begin = Reshape(a.Whole(1), {1});
  return Slice(a.X(), axis, Size(begin), Plus(a.b(), Size(begin), size));
}

absl::StatusOr<Value*> OneHot(NnArgs& a) {
  int64_t size = a.Int("oneHotVectorSize");
  const int64_t axis = a.Int("axis");
  const double on = a.Number("onValue"), off = a.Number("offValue");
  if (a.count() > 1) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(1, "size"));
    a.Require(given.size() == 1, "several sizes");
    size = given[0];
  }
  const Expr values = NumbersAs(a.b(), DType::kFloat32, {2}, {off, on});
  return a.Op("one_hot", {a.Whole(0), a.b().Int(size), values}, {{"axis", axis}}).value();
}

Expr Cropped(NnArgs& a) {
  const Expr x = a.X();
  if (a.count() == 1) {
    a.Given("cropAmounts");
    const std::vector<int64_t> borders = BordersOf(a, "cropAmounts");
    a.Ignore("offset");
    Expr y = x;
    for (const int64_t axis : {-2, -1}) {
      const auto at = static_cast<size_t>(2 * (axis + 2));
      const Size end = borders[at + 1] == 0 ? Size(kToEnd) : Size(-borders[at + 1]);
      y = Slice(y, axis, borders[at], end);
    }
    return y;
  }
  const std::vector<int64_t> offset = a.List("offset", {0, 0});
  a.Given("cropAmounts");
  BordersOf(a, "cropAmounts");
  a.Require(offset.size() == 2, "offsets of other axes");
  Expr y = x;
  for (const int64_t axis : {-2, -1}) {
    const int64_t begin = offset[static_cast<size_t>(axis + 2)];
    y = Slice(y, axis, begin, Plus(a.b(), begin, SizeAt(a.X(1), axis)));
  }
  return y;
}

Expr Padded(NnArgs& a) {
  std::string mode;
  double value = 0;
  if (a.Given("reflection")) mode = "reflect";
  if (a.Given("replication")) mode = "edge";
  if (a.Given("constant")) {
    mode = "constant";
    value = a.Number("constant.value");
  }
  a.Require(!mode.empty(), "padding of another kind");
  a.Given("paddingAmounts");
  const std::vector<int64_t> borders = BordersOf(a, "paddingAmounts");
  return OnImages(a, a.X(), [&](const Expr& x) {
    return x.Op(
        "pad",
        {a.b().Ints({0, 0, borders[0], borders[2], 0, 0, borders[1], borders[3]}), x.Number(value)},
        {{"mode", mode}});
  });
}

}  // namespace

X2IR_NN(reshape).From({{"reshape", ReshapedImage},
                       {"flatten", FlattenedImage},
                       {"flattenTo2D", FlattenedTo2d},
                       {"reshapeLike", ReshapedLike},
                       {"reshapeStatic", ReshapedStatic},
                       {"reshapeDynamic", ReshapedDynamic},
                       {"rankPreservingReshape", ReshapedInRank}});
X2IR_NN(transpose).From({{"permute", Permuted}, {"transpose", Transposed}});
X2IR_NN(concat).From({{"concat", ConcatImages}, {"concatND", ConcatNd}, {"stack", StackNd}});
X2IR_NN(split).From({{"split", SplitImages}, {"splitND", SplitNd}});
X2IR_NN(tile).From({{"sequenceRepeat", Repeated}, {"tile", Tiled}});
X2IR_NN(space_to_depth).From("reorganizeData", Reorganized);
X2IR_NN(slice).From({{"slice", SlicedImage},
                     {"reverse", ReversedAxes},
                     {"slidingWindows", Windows},
                     {"sliceStatic", SliceStatic},
                     {"sliceDynamic", SliceDynamic},
                     {"sliceBySize", SliceBySize},
                     {"crop", Cropped}});
X2IR_NN(squeeze).From("squeeze", Squeezed);
X2IR_NN(unsqueeze).From("expandDims", Expanded);
X2IR_NN(shape).From("getShape", ShapeNumbers);
X2IR_NN(pad).From({{"constantPad", PaddedNd}, {"padding", Padded}});
X2IR_NN(trilu).From({{"matrixBandPart", Band},
                     {"lowerTriangular", Lower},
                     {"upperTriangular", Upper}});
X2IR_NN(expand).From({{"fillLike", FilledLike},
                      {"fillStatic", FilledStatic},
                      {"fillDynamic", FilledDynamic},
                      {"broadcastToLike", SpreadLike},
                      {"broadcastToStatic", SpreadStatic},
                      {"broadcastToDynamic", SpreadDynamic}});
X2IR_NN(range).From({{"rangeStatic", RangeStatic}, {"rangeDynamic", RangeDynamic}});
X2IR_NN(one_hot).From("oneHot", OneHot);

}  // namespace x2ir
