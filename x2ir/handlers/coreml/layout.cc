#include "x2ir/handlers/coreml/layout.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {

Expr Reversed(const Expr& x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x.Op("identity");
  const std::vector<int64_t> from(axes.size(), -1), to(axes.size(), INT64_MIN), by(axes.size(), -1);
  Builder& b = x.builder();
  return x.Op("slice", {b.Ints(from), b.Ints(to), b.Ints(axes), b.Ints(by)});
}

Expr Interleaved(NodeReader& a, const std::vector<Value*>& parts, int64_t axis) {
  const Expr first = {a, parts[0]};
  const int64_t rank = first.rank();
  if (axis < 0) axis += rank;
  a.Require(axis >= 0 && axis < rank, "an axis that is none");
  // The parts are stacked along a new axis after `axis`, and both axes are joined.
  const Expr stacked = Stack(a.b(), parts, axis + 1);
  std::vector<Size> sizes = AllSizes(first);
  sizes[static_cast<size_t>(axis)] =
      Times(a.b(), sizes[static_cast<size_t>(axis)], static_cast<int64_t>(parts.size()));
  return ReshapeTo(stacked, sizes);
}

Expr BandPart(const Expr& x, int64_t lower, int64_t upper) {
  Expr y = x;
  if (lower >= 0) y = y.Op("trilu", {x.builder().Int(-lower)}, {{"upper", 1}});
  if (upper >= 0) y = y.Op("trilu", {x.builder().Int(upper)}, {{"upper", 0}});
  return y.value() == x.value() ? x.Op("identity") : y;
}

Expr SlidingWindows(NodeReader& a, const Expr& x, int64_t axis, int64_t size, int64_t stride) {
  const int64_t rank = x.rank();
  if (axis < 0) axis += rank;
  a.Require(axis >= 0 && axis < rank, "an axis that is none");
  const Dim whole = DimAt(x, axis);
  a.Require(whole.is_static(), "windows of an unknown size");
  a.Require(size >= 1 && stride >= 1 && size <= whole.value(), "windows of that size");
  const int64_t count = (whole.value() - size) / stride + 1;
  // No more places than a constant may have.
  a.Require(count < (int64_t{1} << 28) / size, "that many windows");
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < size; ++k) places.push_back(i * stride + k);
  }
  Value* index = a.b().Constant(Tensor::Vector(places).Reshaped({count, size}));
  return Gather(x, index, axis);
}

Expr PixelUnshuffle(const Expr& x, int64_t factor) {
  Builder& b = x.builder();
  const std::vector<Size> sizes = AllSizes(x);
  if (sizes.size() != 4 || factor < 1) {
    b.Fail(Unimplemented("blocks of a tensor of rank ", static_cast<int64_t>(sizes.size())));
    return x;
  }
  const Size h = DividedBy(b, sizes[2], factor), w = DividedBy(b, sizes[3], factor);
  const Expr apart = ReshapeTo(x, {sizes[0], sizes[1], h, factor, w, factor});
  return ReshapeTo(Transpose(apart, {0, 1, 3, 5, 2, 4}),
                   {sizes[0], Times(b, sizes[1], factor * factor), h, w});
}

Expr SlicedByIndex(NodeReader& a, const Expr& x, const Expr& begin, const Expr& end,
                   const std::vector<int64_t>& strides, const std::vector<int64_t>& begin_mask,
                   const std::vector<int64_t>& end_mask, const std::vector<int64_t>& squeeze_mask) {
  const int64_t rank = x.rank();
  const auto n = static_cast<size_t>(rank);
  a.Require(rank >= 1 && rank < 63, "a slice of that rank");
  std::vector<int64_t> by = strides.empty() ? std::vector<int64_t>(n, 1) : strides;
  a.Require(by.size() == n, "strides of other axes");
  const auto bits = [&](const std::vector<int64_t>& mask) {
    a.Require(mask.empty() || mask.size() == n, "a mask of other axes");
    int64_t set = 0;
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != 0) set |= int64_t{1} << i;
    }
    return set;
  };
  // What is squeezed is one element at its begin.
  for (size_t i = 0; i < squeeze_mask.size() && i < n; ++i) {
    if (squeeze_mask[i] != 0) by[i] = 1;
  }
  const Values y =
      AsTf(a, "StridedSlice", {x, begin.To(DType::kInt64), end.To(DType::kInt64), a.b().Ints(by)},
           {{"begin_mask", bits(begin_mask)},
            {"end_mask", bits(end_mask)},
            {"ellipsis_mask", 0},
            {"new_axis_mask", 0},
            {"shrink_axis_mask", bits(squeeze_mask)}});
  return {a, y[0]};
}

}  // namespace x2ir
