// OneFlow: linear algebra and statistics along the last axis.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

Value* FromInverse(OneflowArgs& a) { return Inverse(a.in(0)); }
Value* FromCross(OneflowArgs& a) {
  return AsTorch(a, "aten::linalg_cross.default",
                 {{"self", a.in(0)}, {"other", a.in(1)}, {"dim", a.Int("dim")}})[0];
}
// Pivots count from 1, as LAPACK's.
Values FromLu(OneflowArgs& a) {
  const LuFactors f = Lu(a.in(0));
  return {f.lu, Expr(f.pivots + 1.0).To(DType::kInt32)};
}
Value* FromMedian(OneflowArgs& a) {
  return AsTorch(a, "aten::median.default", {{"self", a.in(0)}})[0];
}
Values MedianWithIndices(OneflowArgs& a) {
  return AsTorch(a, "aten::median.dim",
                 {{"self", a.in(0)}, {"dim", int64_t{-1}}, {"keepdim", false}},
                 {a.dtype(), DType::kInt64});
}
Values FromMode(OneflowArgs& a) {
  return AsTorch(a, "aten::mode.default",
                 {{"self", a.in(0)}, {"dim", int64_t{-1}}, {"keepdim", false}},
                 {a.dtype(), DType::kInt64});
}

}  // namespace

X2IR_ONEFLOW(det).Is("det");
X2IR_ONEFLOW(solve).From("inv", FromInverse);
X2IR_ONEFLOW(mul).From("linalg_cross", FromCross);
X2IR_ONEFLOW(lu).From("lu_decomposition", FromLu);
X2IR_ONEFLOW(top_k)
    .From("median", FromMedian)
    .From("median_with_indices", MedianWithIndices)
    .From("mode", FromMode);

}  // namespace x2ir
