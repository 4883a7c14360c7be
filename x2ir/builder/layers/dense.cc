#include "x2ir/builder/layers/dense.h"

#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"

namespace x2ir {

Expr FlattenedRows(const Expr& x) {
  if (x->shape() && x->shape()->rank() == 2) return x;
  return x.Op("flatten", {}, {{"axis", 1}});
}

Expr Dense(const Expr& x, const Expr& weights, Value* bias, bool transposed) {
  if (x->shape() && x->shape()->rank() == 2) {
    std::vector<Value*> operands = {weights};
    if (bias) operands.push_back(bias);
    return x.Op("gemm", std::move(operands), {{"transB", transposed ? 0 : 1}});
  }
  const Expr y = MatMul(x, transposed ? weights : SwapLast(weights));
  return bias ? y + Expr(x.builder(), bias) : y;
}

Expr DenseFrom(const Expr& x, int64_t axis, const Expr& weights, Value* bias, bool transposed) {
  const Expr rows = axis == 1 ? FlattenedRows(x) : x.Op("flatten", {}, {{"axis", axis}});
  const Expr y = Dense(rows, weights, bias, transposed);
  if (axis == 1) return y;
  std::vector<Size> sizes = SizesAt(x, 0, axis);
  sizes.push_back(SizeAt(weights, transposed ? 1 : 0));
  return ReshapeTo(y, sizes);
}

}  // namespace x2ir
