// Tensors under other sizes and with their axes in another order. Axes that are counted from the
// end, with negative numbers, are those of the result.
#ifndef X2IR_BUILDER_SHAPES_H_
#define X2IR_BUILDER_SHAPES_H_

#include <cstdint>
#include <vector>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// Axes of size 1 come and go. No axes: x itself.
Expr Unsqueeze(const Expr& x, std::vector<int64_t> axes);
Expr Squeeze(const Expr& x, std::vector<int64_t> axes);
// A vector as a tensor of that rank whose axis it is; the others are of size 1. `hint`: of the
// constant's name.
Expr AlongAxis(const Expr& vector, int64_t axis, int64_t rank, std::string_view hint = "");
// A vector as [-1, 1, ...]: along axis 1 of tensors of that rank, which is at least 2.
Expr AlongChannels(const Expr& vector, int64_t rank);
// A tensor of rank 0 as one of rank 1; and x, made of such a one, of the rank that `like` has.
Expr AtLeast1d(const Expr& x);
Expr LikeRank(const Expr& x, const Value* like);

Expr Transpose(const Expr& x, std::vector<int64_t> perm);
Expr SwapLast(const Expr& x);  // the last two axes; x itself where it has none
Expr MoveAxis(const Expr& x, int64_t from, int64_t to);

// -1 is what is left; 0 is a size of 0. Sizes that are computed: ReshapeTo.
Expr Reshape(const Expr& x, absl::Span<const int64_t> dims);
Expr ReshapeTo(const Expr& x, Value* shape);
Expr Flat(const Expr& x);
// The first `count` axes as one.
Expr FlattenFront(const Expr& x, int64_t count);
// Broadcast, both ways.
Expr Expand(const Expr& x, Value* shape);

// int64, rank 1: of all axes, or of [from, to) (to < 0: all from there on). A node, even where all
// is known.
Expr ShapeOf(const Expr& x);
Expr ShapeOf(const Expr& x, int64_t from, int64_t to = -1);
Expr ShapeWith(const Expr& x, int64_t axis, Value* size);  // with another size there (rank 0)
// What is known of a size; of tensors without that axis nothing is.
Dim DimAt(const Value* x, int64_t axis);
Expr SizeOf(const Expr& x, int64_t axis);  // int64, rank 0; a constant where it is known

// One part: itself.
Expr Concat(Builder& b, std::vector<Value*> parts, int64_t axis);
// Values of one shape along a new axis.
Expr Stack(Builder& b, const std::vector<Value*>& values, int64_t axis);

// start, start + step, ... (count of them); all axes of x; each number twice over, as pads are.
std::vector<int64_t> CountedFrom(int64_t start, int64_t count, int64_t step = 1);
std::vector<int64_t> AllAxes(const Expr& x);

}  // namespace x2ir

#endif  // X2IR_BUILDER_SHAPES_H_
