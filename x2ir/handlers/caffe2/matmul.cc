// Caffe2: products and decompositions of matrices.

#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// x from an axis on as columns, by weights [out, in].
absl::StatusOr<Value*> Fc(Caffe2Args& a, bool transposed) {
  const Expr x = a.in(0);
  const int64_t given = a.Int("axis", 1), of_weights = a.Int("axis_w", 1);
  const int64_t axis = given == 1 ? 1 : a.AxisOf(given);  // 1 there is, of any rank
  Expr weights = a.in(1);
  a.Require(weights->shape() != nullptr, "weights of unknown rank");
  if (weights->shape()->rank() != 2) weights = weights.Op("flatten", {}, {{"axis", of_weights}});
  return DenseFrom(x, axis, weights, a.in(2), transposed).value();
}

Expr MaybeSwapped(const Expr& x, bool swap) { return swap ? SwapLast(x) : x; }

absl::StatusOr<Value*> MatrixProduct(Caffe2Args& a) {
  const bool left = a.Bool("trans_a", false), right = a.Bool("trans_b", false);
  a.Drop({"broadcast"});
  a.Require(a.Int("axis_a", 1) == 1 && a.Int("axis_b", 1) == 1, "axes of a product");
  if (a.RankOf(0) < 2 || a.RankOf(1) < 2) return Unimplemented("a product of lists");
  return MatMul(MaybeSwapped(a.in(0), left), MaybeSwapped(a.in(1), right)).value();
}

}  // namespace

X2IR_CAFFE2(gemm)
    .From("FC", [](Caffe2Args& a) { return Fc(a, false); })
    .From("FCTransposed", [](Caffe2Args& a) { return Fc(a, true); });
X2IR_CAFFE2(matmul).From({"MatMul", "BatchMatMul"}, MatrixProduct);

}  // namespace x2ir
