// Regions of images cut into cells, of which each is the mean of its whole pixels; and maps in
// which each cell has channels of its own (position-sensitive maps, as R-FCN has them).
// https://arxiv.org/abs/1605.06409
#ifndef X2IR_BUILDER_REGION_CELLS_H_
#define X2IR_BUILDER_REGION_CELLS_H_

#include "x2ir/builder/expr.h"
#include "x2ir/builder/size.h"

namespace X2IR_API x2ir {

// Along one axis, [regions, cells]: the first pixel of each cell, and the one after its last;
// whole floats between 0 and the axis' size.
struct CellBounds {
  Expr from, to;
};

// As R-FCN places them. begin, end [regions]: a region's first and last pixel before the scale.
CellBounds RfcnCells(const Expr& begin, const Expr& end, double scale, int64_t cells,
                     const Expr& size);

// [regions, channels, rows, columns] of images [batch, channels, height, width], of which `batch`
// [regions] (int64) says one for each region; 0 where a cell has no pixel.
Expr CellMeans(const Expr& images, const Expr& batch, const CellBounds& rows,
               const CellBounds& columns);

// Of all channels in all cells, [regions, groups * height * width, height, width], those of each
// cell: [regions, groups, height, width]. The number of channels must be known, or it is
// Unimplemented.
Expr OwnChannels(const Expr& all, int64_t height, int64_t width);

}  // namespace x2ir

#endif  // X2IR_BUILDER_REGION_CELLS_H_
