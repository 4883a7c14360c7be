// Caffe: products and decompositions of matrices.

#include "x2ir/builder/layers/dense.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

Value* InnerProduct(CaffeArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1));
  const bool transposed = a.Bool("transpose", false);
  a.Drop({"num_output"});
  const Expr weights = a.blob(0, 2);
  Value* const bias = a.Bool("bias_term", true) ? a.blob(1, 1).value() : nullptr;
  return DenseFrom(a.in(0), axis, weights, bias, transposed);
}

}  // namespace

X2IR_CAFFE(gemm).From("InnerProduct", "inner_product_param", InnerProduct);

}  // namespace x2ir
