// max_roi_pool as maxima of masked pixels, first over the rows and then over the columns of a cell.
// The steps are those of its evaluation (x2ir/ops/max_roi_pool.cc). It takes as much room as all
// images of the regions together.
#include <cstdint>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxCells = 64;  // along an axis, where each is a few nodes

// Halves away from zero.
Expr RoundedCorner(const Expr& x) { return Sign(x) * RoundHalfUp(Abs(x)); }

// Pixels [begin, end) of the regions' cells along one axis, each int64[regions, 1].
struct CellBounds {
  Expr start, step, size;

  Expr Bound(const Expr& places) const {
    return Min(Max(start + places.To(DType::kInt64), 0), size);
  }
  Expr Begin(int64_t cell) const { return Bound(Floor(Scaled(step, static_cast<double>(cell)))); }
  Expr End(int64_t cell) const { return Bound(Ceil(Scaled(step, static_cast<double>(cell + 1)))); }
};

struct AxisOfCells {
  int64_t from, to;  // columns of the regions
  int64_t count, axis;
};

CellBounds BoundsAlong(const Expr& x, const Expr& rois, double scale, const AxisOfCells& a) {
  const auto corner = [&](int64_t column) {
    return RoundedCorner(SliceAt(rois, 1, column) * scale).To(DType::kInt64);
  };
  const Expr start = corner(a.from);
  const Expr length = Max(corner(a.to) - start + 1, 1);
  const Expr step = length.To(rois.dtype()) / static_cast<double>(a.count);
  return {start, step, SizeOf(x, a.axis)};
}

// [regions, channels, ...] with an element for each cell along the axis; what is outside of all
// pixels is `least`, and then 0.
Expr LargestOfCells(const Expr& x, const CellBounds& bounds, const AxisOfCells& a,
                    const Expr& least) {
  Builder& b = x.builder();
  const Expr places = Unsqueeze(Iota(bounds.size), {0});
  std::vector<int64_t> others = {1, 5 - a.axis};
  std::vector<Value*> cells;
  for (int64_t i = 0; i < a.count; ++i) {
    const Expr begin = bounds.Begin(i), end = bounds.End(i);
    const Expr inside = Unsqueeze((places >= begin) & (places < end), others);
    cells.push_back(Reduce(Where(inside, x, least), "reduce_max", {a.axis}, true));
  }
  return Concat(b, std::move(cells), a.axis);
}

// bool[regions, 1, ...]: whether a cell has pixels.
Expr HavePixels(Builder& b, const CellBounds& bounds, const AxisOfCells& a) {
  std::vector<Value*> cells;
  for (int64_t i = 0; i < a.count; ++i) cells.push_back(bounds.Begin(i) < bounds.End(i));
  return Unsqueeze(Concat(b, std::move(cells), 1), {1, 5 - a.axis});
}

absl::StatusOr<Values> MaxRoiPoolAsMasks(Rewrite& r) {
  Builder& b = r.b;
  const std::vector<int64_t>& cells = r.attrs().Ints("pooled_shape");
  if (cells[0] > kMaxCells || cells[1] > kMaxCells) return CannotExpress("so many cells");
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatComputeType(r.dtype(0)));
  const Shape* shape = r.in(0)->shape();
  if (!shape || shape->rank() != 4 || (*shape)[2] == Dim(0) || (*shape)[3] == Dim(0)) {
    return CannotExpress("the image is empty, or its shape is not known");
  }
  const Expr x = Expr(b, r.in(0)).To(t), rois = Expr(b, r.in(1)).To(t);
  const double scale = r.attrs().Float("spatial_scale");
  const AxisOfCells down{2, 4, cells[0], 2}, across{1, 3, cells[1], 3};
  const CellBounds rows = BoundsAlong(x, rois, scale, down);
  const CellBounds columns = BoundsAlong(x, rois, scale, across);
  // NaN is never larger.
  const Expr least = FiniteExtreme(b, t, false);
  Expr y = Gather(Where(x > least, x, least), ElementAt(rois, 1, 0).To(DType::kInt64), 0);
  y = LargestOfCells(LargestOfCells(y, rows, down, least), columns, across, least);
  y = Where(HavePixels(b, rows, down) & HavePixels(b, columns, across), y, 0.0);
  return Values{y.To(r.dtype(0))};
}
X2IR_LOWERING(max_roi_pool, MaxRoiPoolAsMasks);

}  // namespace
}  // namespace x2ir
