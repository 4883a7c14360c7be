// Movements of elements that operations of MIL and layers of networks both have.
#ifndef X2IR_HANDLERS_COREML_LAYOUT_H_
#define X2IR_HANDLERS_COREML_LAYOUT_H_

#include <vector>

#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

// Axes, counted from the front, in the other direction.
Expr Reversed(const Expr& x, const std::vector<int64_t>& axes);
// Slices of equal tensors in turn along an axis.
Expr Interleaved(NodeReader& a, const std::vector<Value*>& parts, int64_t axis);
// Matrices (the last two axes) with zeros beyond so many diagonals below and above the main one;
// a negative number is all of them.
Expr BandPart(const Expr& x, int64_t lower, int64_t upper);
// Windows of an axis, whose size must be known, each along a new axis after it.
Expr SlidingWindows(NodeReader& a, const Expr& x, int64_t axis, int64_t size, int64_t stride);
// [n, c, h f, w f] as [n, c f f, h, w], the place in a block the inner part of the channel.
Expr PixelUnshuffle(const Expr& x, int64_t factor);
// slice_by_index: bounds of all axes; masks may be empty.
Expr SlicedByIndex(NodeReader& a, const Expr& x, const Expr& begin, const Expr& end,
                   const std::vector<int64_t>& strides, const std::vector<int64_t>& begin_mask,
                   const std::vector<int64_t>& end_mask, const std::vector<int64_t>& squeeze_mask);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_LAYOUT_H_
