// Keras: layers that move, repeat, cut off and add elements.
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// Channels become the last axis first.
Value* Flatten(KerasArgs& a) {
  Expr x = a.tensor();
  const bool last = a.ChannelsLast();
  const int64_t rank = a.RankOf(x);
  if (!last && rank > 2) x = MoveAxis(x, 1, rank - 1);
  if (rank == 1) return Unsqueeze(x, {1});
  return rank == 2 ? x : x.Op("flatten", {}, {{"axis", 1}});
}

Value* ReshapeLayer(KerasArgs& a) {
  const Expr x = a.tensor();
  std::vector<Size> sizes = {SizeAt(x, 0)};
  for (const int64_t size : a.Integers("target_shape")) sizes.emplace_back(size);
  return ReshapeTo(x, sizes);
}

Value* Permute(KerasArgs& a) {
  const Expr x = a.tensor();
  std::vector<int64_t> perm = a.Integers("dims");
  perm.insert(perm.begin(), 0);
  return Transpose(x, perm);
}

Value* RepeatVector(KerasArgs& a) {
  const Expr x = Unsqueeze(a.tensor(), {1});
  const std::vector<int64_t> sizes = {1, a.Integer("n", 1), 1};
  return Expand(x, a.b().Ints(sizes));
}

// Begin and end of each spatial axis: of one number for all, one an axis, or two an axis.
std::vector<int64_t> Sides(KerasArgs& a, Symbol name, size_t spatial) {
  std::vector<int64_t> list = a.Integers(name), sides;
  if (list.empty()) list = {1};
  if (list.size() == 1) list.resize(spatial, list[0]);
  if (list.size() == 2 * spatial) return list;
  a.Require(list.size() == spatial, "sides of another number of axes");
  for (const int64_t size : list) sides.insert(sides.end(), {size, size});
  return sides;
}

Value* Cropping(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  Expr x = a.tensor();
  const int64_t first = a.ChannelsLast() ? 1 : 2;
  const std::vector<int64_t> sides = Sides(a, "cropping", spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t begin = sides[2 * i], end = sides[2 * i + 1];
    if (begin < 0 || end < 0) a.Fail(Invalid("a negative number of elements to cut off"));
    if (begin == 0 && end == 0) continue;
    x = Slice(x, first + static_cast<int64_t>(i), Size(begin),
              end == 0 ? Size(kToEnd) : Size(-end));
  }
  return x;
}

Value* ZeroPadding(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const Expr x = a.tensor();
  const int64_t first = a.ChannelsLast() ? 1 : 2;
  const std::vector<int64_t> sides = Sides(a, "padding", spatial);
  const auto rank = static_cast<int64_t>(spatial) + 2;
  std::vector<int64_t> pads(2 * (spatial + 2), 0);
  for (size_t i = 0; i < spatial; ++i) {
    pads[static_cast<size_t>(first) + i] = sides[2 * i];
    pads[static_cast<size_t>(rank + first) + i] = sides[2 * i + 1];
  }
  return x.Op("pad", {a.b().Ints(pads)});
}

// What is applied to each step is applied to a batch of all of them.
Value* Fold(KerasArgs& a) {
  const Expr x = a.tensor();
  a.Require(a.RankOf(x) >= 2, "steps of a tensor without a second axis");
  return FlattenFront(x, 2);
}

// y, with the first two axes of the second tensor.
Value* Unfold(KerasArgs& a) {
  const Expr y = a.tensor(0), x = a.tensor(1);
  const int64_t rank = a.RankOf(y);
  std::vector<Size> sizes = SizesAt(x, 0, 2);
  for (const Size& size : SizesAt(y, 1, rank)) sizes.push_back(size);
  return ReshapeTo(y, sizes);
}

}  // namespace

X2IR_KERAS(flatten).From("Flatten", Flatten);
X2IR_KERAS(reshape)
    .From("Reshape", ReshapeLayer)
    .From(keras::kFold, Fold)
    .From(keras::kUnfold, Unfold);
X2IR_KERAS(transpose).From("Permute", Permute);
X2IR_KERAS(expand).From("RepeatVector", RepeatVector);
X2IR_KERAS(slice).From({"Cropping1D", "Cropping2D", "Cropping3D"}, Cropping);
X2IR_KERAS(pad).From({"ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"}, ZeroPadding);

}  // namespace x2ir
