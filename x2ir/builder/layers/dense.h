// Dense layers: products with a matrix of weights, and a bias.
#ifndef X2IR_BUILDER_LAYERS_DENSE_H_
#define X2IR_BUILDER_LAYERS_DENSE_H_

#include <cstdint>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// x [batch, ...] with its other axes as one.
Expr FlattenedRows(const Expr& x);
// The last axis of x by weights [out, in], or transposed ones [in, out]: of a matrix a gemm, which
// leaves weights as they are. bias [out] may be null.
Expr Dense(const Expr& x, const Expr& weights, Value* bias, bool transposed = false);
// The same of all axes from one on as one; those before it stay.
Expr DenseFrom(const Expr& x, int64_t axis, const Expr& weights, Value* bias,
               bool transposed = false);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_DENSE_H_
