// Sizes and tensors seen in other shapes: what handlers of views, joins and factories share.
#ifndef X2IR_HANDLERS_TORCH_VIEWS_H_
#define X2IR_HANDLERS_TORCH_VIEWS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "x2ir/handlers/torch/layers.h"

namespace X2IR_API x2ir {

// "aten::view.default" and the same under "aten::view_copy.default".
void IsView(Symbol ir, std::string_view op, const TorchHandler& handler);

// The type of the result, which the program must say; Fail()s where it does not.
DType OutType(TorchCall& c);

// x with other sizes. `declared`, where known, gives the values of sizes that are computed:
// they are then constants where that is possible.
Expr ReshapeAsDeclared(const Expr& x, const std::vector<Size>& sizes, const Shape* declared);

// x cut along an axis into parts of these sizes.
Values Cut(TorchCall& c, Value* x, int64_t axis, const std::vector<int64_t>& sizes);

// How many numbers a constant that a handler makes of sizes alone may have.
inline constexpr int64_t kMaxPositions = int64_t{1} << 24;
// The diagonal of a matrix in the last two axes of x.
Expr Diagonal(const Expr& x, int64_t offset, int64_t axis1, int64_t axis2);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_VIEWS_H_
