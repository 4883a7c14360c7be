// Lowerings of ops that pick elements.
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// Index tuples of one number are plain indices.
absl::StatusOr<Values> GatherNdAsGather(Rewrite& r) {
  const int64_t rank = r.rank(1);
  const bool single = rank > 0 && (*r.in(1)->shape())[rank - 1] == Dim(1);
  if (!single || r.attrs().Int("batch_dims") != 0) {
    return CannotExpress("as Gather, it needs indices of one number each and no batch_dims");
  }
  Value* indices = r.b.Op("squeeze", {r.in(1), r.b.Ints({rank - 1}, "axes")});
  return Values{r.b.Op("gather", {r.in(0), indices}, {{"axis", 0}})};
}
X2IR_LOWERING(gather_nd, GatherNdAsGather);

// In order is one of the orders that sorted = 0 allows; the smallest are the largest of the
// negated numbers. Negation is exact for floats only.
absl::StatusOr<Values> TopKAsLargest(Rewrite& r) {
  const bool largest = r.attrs().Int("largest") != 0;
  if (largest && r.attrs().Int("sorted") != 0) return CannotExpress("it is sorted already");
  if (!largest && !IsFloating(r.dtype(0))) {
    return CannotExpress("the smallest of ", Name(r.dtype(0)), " cannot be expressed");
  }
  Value* x = largest ? r.in(0) : r.b.Op("neg", {r.in(0)});
  Values best = r.b.Ops("top_k", {x, r.in(1)},
                        {{"axis", r.attrs().Int("axis")}, {"largest", 1}, {"sorted", 1}}, 2);
  if (!largest) best[0] = r.b.Op("neg", {best[0]});
  return best;
}
X2IR_LOWERING(top_k, TopKAsLargest);

}  // namespace
}  // namespace x2ir
