// Tensors turned around and rolled along axes.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

// Elements that move past an end come in at the other.
Value* RollAxis(TorchCall& c, Value* x, int64_t axis, const Size& shift) {
  const Size size = SizeAt({c, x}, axis);
  Size start;  // of what is last
  if (size.number && shift.number) {
    if (*size.number == 0) return x;
    const int64_t by = ((*shift.number % *size.number) + *size.number) % *size.number;
    if (by == 0) return x;
    start = *size.number - by;
  } else {
    Value* least = c.Op("max", {Scalar(c, size), Int(c, 1)});
    start.value = c.Op("sub", {least, c.Op("mod", {Scalar(c, shift), least}, {{"fmod", 0}})});
  }
  return Concat(c, {Slice({c, x}, axis, start, kToEnd), Slice({c, x}, axis, 0, start)}, axis);
}

Values Roll(TorchCall& c) {
  Value* x = c.Tensor("self");
  const std::vector<Size> shifts = c.Sizes("shifts");
  const std::vector<int64_t> dims = c.Ints("dims", {});
  if (dims.empty()) {
    if (shifts.size() != 1) return c.Fail(Invalid("expected one shift"));
    Value* rolled = RollAxis(c, Reshape({c, x}, {-1}), 0, shifts[0]);
    return {ReshapeAsDeclared({c, rolled}, AllSizes({c, x}), x->shape())};
  }
  if (dims.size() != shifts.size()) return c.Fail(Invalid("shifts and dims differ in length"));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t axis = c.NormalAxis(dims[i], c.Rank(x));
    if (c.Rank(x) > 0) x = RollAxis(c, x, axis, shifts[i]);
  }
  return {c.Op("identity", {x})};
}

Value* FlipAxes(TorchCall& c, Value* x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return c.Op("identity", {x});
  const std::vector<int64_t> back(axes.size(), -1), past(axes.size(), INT64_MIN);
  return c.Op("slice", {x, Ints(c, back), Ints(c, past), Ints(c, axes), Ints(c, back)});
}
Values Flip(TorchCall& c) {
  Value* x = c.Tensor("self");
  std::vector<int64_t> axes = c.Ints("dims");
  for (int64_t& axis : axes) axis = c.NormalAxis(axis, c.Rank(x));
  if (c.Rank(x) == 0) axes.clear();
  return {FlipAxes(c, x, axes)};
}
TorchHandler FlipAxis(int64_t axis) {
  return [axis](TorchCall& c) -> Values {
    Value* x = c.Tensor("self");
    if (axis >= c.Rank(x)) return c.Fail(Invalid("of a tensor of rank ", c.Rank(x)));
    return {FlipAxes(c, x, {axis})};
  };
}

Values Rot90(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t k = ((c.Int("k", 1) % 4) + 4) % 4;
  std::vector<int64_t> dims = c.Ints("dims", {0, 1});
  if (dims.size() != 2) return c.Fail(Invalid("expected two axes"));
  const int64_t a = c.NormalAxis(dims[0], c.Rank(x)), b = c.NormalAxis(dims[1], c.Rank(x));
  if (a == b || c.Rank(x) < 2) return c.Fail(Invalid("expected two different axes"));
  if (k == 0) return {c.Op("identity", {x})};
  if (k == 2) return {FlipAxes(c, x, {a, b})};
  std::vector<int64_t> perm = AllAxes({c, x});
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  return {Transpose({c, FlipAxes(c, x, {k == 1 ? b : a})}, perm)};
}

X2IR_TORCH(concat).From("aten::roll.default", Roll);
X2IR_TORCH(slice)
    .From("aten::flip.default", Flip)
    .From("aten::fliplr.default", FlipAxis(1))
    .From("aten::flipud.default", FlipAxis(0))
    .From("aten::rot90.default", Rot90);

}  // namespace
}  // namespace x2ir
