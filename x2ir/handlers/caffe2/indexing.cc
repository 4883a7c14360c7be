// Caffe2: picking and putting elements.

#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> TopK(Caffe2Args& a) {
  const int64_t count = a.Int("k", 1), axis = a.AxisOf(a.Int("axis", -1));
  a.Require(a.num_inputs() == 1 && !a.wants(2), "computed or flat places");
  if (count < 1) return Invalid("the ", count, " largest numbers");
  const Sorted top = TopOf(a.in(0), a.b().Ints({count}), axis);
  return Values{top.values, top.indices};
}

}  // namespace

X2IR_CAFFE2(gather)
    .From("Gather",
          [](Caffe2Args& a) { return Gather(a.in(0), a.AsInt64(a.in(1)), a.Int("axis", 0)); })
    .From("BatchGather", [](Caffe2Args& a) { return Gather(a.in(0), a.AsInt64(a.in(1)), 1); });
X2IR_CAFFE2(top_k).From("TopK", TopK);

}  // namespace x2ir
