// softmax and its kin along another axis than the last, for targets that know only that one
// (ONNX before opset 13): the axis changes places with the last and back again.
#include <numeric>
#include <utility>
#include <vector>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> OnLastAxis(Rewrite& r) {
  const int64_t rank = r.rank(0);
  if (rank < 0) return CannotExpress("the rank of the operand is not known");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  if (axis == rank - 1) return NothingToDo();
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm[rank - 1]);
  Value* moved = r.b.Op("transpose", {r.in(0)}, {{"perm", perm}});
  Value* y = r.b.Op(r.node.op(), {moved}, {{"axis", rank - 1}});
  return Values{r.b.Op("transpose", {y}, {{"perm", perm}})};
}

}  // namespace

X2IR_LOWERING(softmax, OnLastAxis);
X2IR_LOWERING(log_softmax, OnLastAxis);
X2IR_LOWERING(hardmax, OnLastAxis);

}  // namespace x2ir
