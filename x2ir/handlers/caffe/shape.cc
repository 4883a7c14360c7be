// Caffe: layers that move numbers: joined, cut, reshaped, counted, of other sizes.
#include <algorithm>

#include "x2ir/builder/layers/images.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

// The axis by its name of today or by the one of before, which counts from the front.
int64_t AxisOrDim(CaffeArgs& a, std::string_view dim) {
  const int64_t axis = a.Int("axis", 1), old = a.Int(dim, 1);
  return a.AxisOf(a.Has(dim) ? old : axis);
}

Value* Joined(CaffeArgs& a) {
  std::vector<Value*> parts = a.inputs();
  return Concat(a, std::move(parts), AxisOrDim(a, "concat_dim"));
}

absl::StatusOr<Values> Cut(CaffeArgs& a) {
  const int64_t axis = AxisOrDim(a, "slice_dim");
  std::vector<int64_t> points = a.Ints("slice_point");
  const size_t count = a.num_outputs();
  const Dim whole = DimAt(a.in(0), axis);
  if (points.empty()) {
    a.Require(whole.is_static() || count == 1, "equal parts of an unknown size");
    if (count > 1 && whole.value() % static_cast<int64_t>(count) != 0) {
      return Invalid(count, " equal parts of ", whole.value());
    }
    for (size_t i = 1; i < count; ++i) {
      points.push_back(whole.value() / static_cast<int64_t>(count) * static_cast<int64_t>(i));
    }
  }
  if (points.size() + 1 != count) {
    return Invalid(points.size(), " places to cut for ", count, " parts");
  }
  Values parts;
  for (size_t i = 0; i < count; ++i) {
    const int64_t from = i == 0 ? 0 : points[i - 1];
    const Size to = i + 1 == count ? SizeAt(a.in(0), axis) : Size(points[i]);
    if ((to.number && *to.number <= from) || from < 0) return Invalid("a part that has nothing");
    parts.push_back(Slice(a.in(0), axis, Size(from), to));
  }
  return parts;
}

// Axes from one to another as one.
Value* Flatten(CaffeArgs& a) {
  const int64_t from = a.AxisOf(a.Int("axis", 1)), to = a.AxisOf(a.Int("end_axis", -1));
  if (to < from) a.Fail(Invalid("axes ", from, " to ", to));
  std::vector<Size> sizes = SizesAt(a.in(0), 0, from);
  sizes.push_back(Product(a, SizesAt(a.in(0), from, to + 1)));
  for (const Size& size : SizesAt(a.in(0), to + 1, a.RankOf())) sizes.push_back(size);
  return ReshapeTo(a.in(0), sizes);
}

absl::StatusOr<Value*> ReshapeLayer(CaffeArgs& a) {
  const std::vector<int64_t> dims = a.Ints("shape.dim");
  const int64_t rank = a.RankOf();
  int64_t first = a.Int("axis", 0);
  const int64_t count = a.Int("num_axes", -1);
  // One past the last axis, too.
  if (first < 0) first += rank + 1;
  const int64_t end = count == -1 ? rank : first + count;
  if (first < 0 || first > rank || count < -1 || end > rank) {
    return Invalid("axes ", first, " to ", end, " of ", rank);
  }
  std::vector<Size> sizes = SizesAt(a.in(0), 0, first), rest = SizesAt(a.in(0), end, rank);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t own = first + static_cast<int64_t>(i);
    if (dims[i] == 0 && own >= rank) return Invalid("a copy of the size of axis ", own);
    if (dims[i] < -1) return Invalid("a size of ", dims[i]);
    sizes.push_back(dims[i] == 0 ? SizeAt(a.in(0), own) : Size(dims[i]));
  }
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return ReshapeTo(a.in(0), sizes).value();
}

// The first operand's axes from `axis` on as large as the second's, beginning at the offsets.
absl::StatusOr<Value*> CropLayer(CaffeArgs& a) {
  const int64_t rank = a.RankOf(), axis = a.AxisOf(a.Int("axis", 2));
  const std::vector<int64_t> offsets = a.Ints("offset");
  if (offsets.size() > 1 && offsets.size() != static_cast<size_t>(rank - axis)) {
    return Invalid(offsets.size(), " offsets of ", rank - axis, " axes");
  }
  Expr x = a.in(0);
  for (int64_t i = axis; i < rank; ++i) {
    const int64_t from = offsets.empty()       ? 0
                         : offsets.size() == 1 ? offsets[0]
                                               : offsets[static_cast<size_t>(i - axis)];
    const Size to = Plus(a, Size(from), SizeAt(a.in(1), i)), whole = SizeAt(x, i);
    if (to.number && whole.number && *to.number > *whole.number) {
      return Invalid("a part from ", from, " to ", *to.number, " of ", *whole.number);
    }
    x = Slice(x, i, Size(from), to);
  }
  return x.value();
}

absl::StatusOr<Value*> TileLayer(CaffeArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1)), times = a.Int("tiles", 0);
  if (times < 1) return Invalid("repeated ", times, " times");
  std::vector<int64_t> repeats(static_cast<size_t>(a.RankOf()), 1);
  repeats[static_cast<size_t>(axis)] = times;
  return a.Op("tile", {a.in(0), a.b().Ints(repeats)}).value();
}

Value* PermuteLayer(CaffeArgs& a) {
  std::vector<int64_t> order = a.Ints("order");
  const int64_t rank = a.RankOf();
  // Axes that are not named follow in their order.
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  }
  if (static_cast<int64_t>(order.size()) != rank)
    a.Fail(Invalid("an axis twice, or none of these"));
  return Transpose(a.in(0), order);
}

absl::StatusOr<Value*> ShuffleChannel(CaffeArgs& a) {
  return ShuffledChannels(a, a.in(0), a.Int("group", 1));
}

absl::StatusOr<Value*> ReorgLayer(CaffeArgs& a) {
  return Reorganized(a, a.in(0), a.Int("stride", 2), a.Bool("reverse", false));
}

}  // namespace

X2IR_CAFFE(concat).From("Concat", "concat_param", Joined);
X2IR_CAFFE(split).From("Slice", "slice_param", Cut);
X2IR_CAFFE(reshape)
    .From("Flatten", "flatten_param", Flatten)
    .From("Reshape", "reshape_param", ReshapeLayer);
X2IR_CAFFE(slice).From("Crop", "crop_param", CropLayer);
X2IR_CAFFE(tile).From("Tile", "tile_param", TileLayer);
X2IR_CAFFE(transpose)
    .From("Permute", "permute_param", PermuteLayer)
    .From("ShuffleChannel", "shuffle_channel_param", ShuffleChannel);
X2IR_CAFFE(space_to_depth).From("Reorg", "reorg_param", ReorgLayer);

}  // namespace x2ir
