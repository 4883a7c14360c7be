// affine_grid as products of theta's columns with the places along each axis.
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr DType kDouble = DType::kFloat64;  // what evaluation computes in

// Places between -1 and 1, as many as `size` (int64, rank 0) says: the centres of pixels if
// corners are aligned, else the middles of equal parts.
Value* Places(Builder& b, Value* size, bool align_corners) {
  const auto number = [&](double v) { return b.Scalar(kDouble, v); };
  Value* i = b.Op("range", {b.Int(0, "start"), size, b.Int(1, "step")});
  Value* twice = b.Op("mul", {Expr(b, i).To(kDouble), number(2)});
  Value* n = Expr(b, size).To(kDouble);
  if (!align_corners) {
    Value* part = b.Op("div", {b.Op("add", {twice, number(1)}), n});
    return b.Op("sub", {part, number(1)});
  }
  Value* place = b.Op("sub", {b.Op("div", {twice, b.Op("sub", {n, number(1)})}), number(1)});
  Value* single = b.Op("equal", {size, b.Int(1, "one")});  // in the middle
  return b.Op("where", {single, number(0), place});
}

Value* KnownPlaces(Builder& b, int64_t size, bool align_corners) {
  std::vector<double> at;
  for (int64_t i = 0; i < size; ++i) {
    const double twice = 2.0 * static_cast<double>(i);
    at.push_back(!align_corners ? (twice + 1) / static_cast<double>(size) - 1
                 : size == 1    ? 0
                                : twice / static_cast<double>(size - 1) - 1);
  }
  return NumbersAs(b, kDouble, {size}, at, "places");
}

absl::StatusOr<Values> AffineGridAsProducts(Rewrite& r) {
  Builder& b = r.b;
  const Shape *theta = r.in(0)->shape(), *length = r.in(1)->shape();
  const Shape* y = r.node.output(0)->shape();  // says what size is, even where that is computed
  int64_t axes = 0;
  if (theta && theta->rank() == 3 && (*theta)[1].is_static()) axes = (*theta)[1].value();
  if (length && length->rank() == 1 && (*length)[0].is_static()) axes = (*length)[0].value() - 2;
  if ((axes != 2 && axes != 3) || !IsFloating(r.dtype(0))) {
    return CannotExpress("the number of axes or the element type is not known");
  }
  const bool align = r.attrs().Int("align_corners") != 0;
  std::vector<Value*> at;  // the last axis first, as theta's columns have it
  for (int64_t k = 0; k < axes; ++k) {
    const int64_t axis = axes + 1 - k;
    const Dim known = y && y->rank() == axes + 2 ? (*y)[axis - 1] : Dim();
    Value* places;
    if (known.is_static()) {
      if (known.value() > kMaxLoweringElements) return CannotExpress("a size of ", known.value());
      places = KnownPlaces(b, known.value(), align);
    } else {
      Value* size = b.Op("gather", {Expr(b, r.in(1)).To(DType::kInt64), b.Int(axis, "axis")});
      places = Places(b, size, align);
    }
    std::vector<int64_t> after(k);
    std::iota(after.begin(), after.end(), 1);
    at.push_back(k == 0 ? places : b.Op("unsqueeze", {places, b.Ints(after, "axes")}));
  }
  std::vector<int64_t> places_axes(axes);
  std::iota(places_axes.begin(), places_axes.end(), 1);
  Value* matrix = Expr(b, r.in(0)).To(kDouble);
  std::vector<Value*> rows;
  for (int64_t i = 0; i < axes; ++i) {
    Value* row = b.Op("gather", {matrix, b.Int(i, "row")}, {{"axis", 1}});
    const auto column = [&](int64_t k) {
      Value* v = b.Op("gather", {row, b.Int(k, "column")}, {{"axis", 1}});
      return b.Op("unsqueeze", {v, b.Ints(places_axes, "axes")});
    };
    Value* sum = column(axes);
    for (int64_t k = 0; k < axes; ++k) sum = b.Op("add", {sum, b.Op("mul", {column(k), at[k]})});
    rows.push_back(b.Op("unsqueeze", {sum, b.Ints({axes + 1}, "axes")}));
  }
  Value* grid = b.Op("concat", rows, {{"axis", axes + 1}});
  return Values{Expr(b, grid).To(r.dtype(0))};
}
X2IR_LOWERING(affine_grid, AsConstant);
X2IR_LOWERING(affine_grid, AffineGridAsProducts);

}  // namespace
}  // namespace x2ir
