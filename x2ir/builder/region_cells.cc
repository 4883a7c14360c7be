#include "x2ir/builder/region_cells.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

Expr RoundedAway(const Expr& x) { return Where(SignBit(x), -RoundHalfUp(-x), RoundHalfUp(x)); }

}  // namespace

CellBounds RfcnCells(const Expr& begin, const Expr& end, double scale, int64_t cells,
                     const Expr& size) {
  const Expr start = Unsqueeze(RoundedAway(begin) * scale, {1});
  const Expr stop = Unsqueeze((RoundedAway(end) + 1) * scale, {1});
  const Expr step = Max(stop - start, 0.1) / static_cast<double>(cells);
  const Expr cell = Unsqueeze(Iota(Int(begin.builder(), cells)).To(begin.dtype()), {0});
  const Expr most = size.To(begin.dtype());
  const auto inside = [&](const Expr& place) { return Min(Max(place, place.Number(0)), most); };
  return {inside(Floor(cell * step + start)), inside(Ceil((cell + 1) * step + start))};
}

// Sums by two products with zeros and ones.
Expr CellMeans(const Expr& images, const Expr& batch, const CellBounds& rows,
               const CellBounds& columns) {
  const DType t = rows.from.dtype();
  const auto pixels_of = [&](const CellBounds& cells, int64_t axis) {
    const Expr pixel = Reshape(Iota(SizeOf(images, axis)).To(t), {1, 1, -1});
    return ((pixel >= Unsqueeze(cells.from, {2})) & (pixel < Unsqueeze(cells.to, {2}))).To(t);
  };
  const Expr image = Gather(images.To(t), batch, 0);
  const Expr sums = MatMul(MatMul(Unsqueeze(pixels_of(rows, 2), {1}), image),
                           SwapLast(Unsqueeze(pixels_of(columns, 3), {1})));
  const auto count = [](const CellBounds& cells) { return Max(cells.to - cells.from, 0); };
  const Expr area = Unsqueeze(Unsqueeze(count(rows), {2}) * Unsqueeze(count(columns), {1}), {1});
  return Where(area == 0, 0, sums / Max(area, 1));
}

Expr OwnChannels(const Expr& all, int64_t height, int64_t width) {
  Builder& b = all.builder();
  const int64_t cells = height * width;
  const Dim channels = DimAt(all, 1);
  if (!channels.is_static() || channels.value() % cells != 0) {
    b.Fail(Unimplemented("a number of channels that is not known, or no multiple of ", cells));
    return all;
  }
  const int64_t groups = channels.value() / cells;
  const Expr apart = ReshapeTo(all, {SizeAt(all, 0), Size(groups), Size(cells), Size(cells)});
  const Expr own = DiagonalOf(apart);
  return ReshapeTo(own, {SizeAt(own, 0), Size(groups), Size(height), Size(width)});
}

}  // namespace x2ir
