// OneFlow: linear algebra and statistics along the last axis.
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

}  // namespace

X2IR_ONEFLOW(det).Is("det");
X2IR_ONEFLOW(solve).From("inv", FromInverse);
X2IR_ONEFLOW(matmul).From("linalg_cross", FromCross);
X2IR_ONEFLOW(lu).From("lu_decomposition", FromLu);

}  // namespace x2ir
