// A gemm that the target has for transposed or for plain operands alone: the operand is transposed
// before it, which costs nothing where it is a weight.
#include <cstdint>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> OperandsAsTheTargetHasThem(Rewrite& r) {
  AttributeMap attrs = r.attrs();
  std::vector<Value*> operands = r.node.inputs();
  bool any = false;
  constexpr std::string_view kFlags[] = {"transA", "transB"};
  for (size_t i = 0; i < 2; ++i) {
    const Symbol flag(kFlags[i]);
    const int64_t now = r.attrs().Int(kFlags[i]), other = 1 - now;
    if (r.target.Says("gemm", flag, now) || !r.target.Says("gemm", flag, other)) continue;
    const Tensor* weight = operands[i]->fixed_constant();
    operands[i] = weight && weight->rank() == 2 && !weight->is_sparse()
                      ? r.b.Constant(TransposeTensor(*weight, {1, 0}))
                      : r.b.Op("transpose", {operands[i]}, {{"perm", {1, 0}}});
    attrs.Set(flag, other);
    any = true;
  }
  if (!any) return NothingToDo();
  return Values{r.b.Op("gemm", operands, std::move(attrs))};
}
X2IR_LOWERING(gemm, OperandsAsTheTargetHasThem);

}  // namespace
}  // namespace x2ir
