// Caffe: reductions.

#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Reduction(CaffeArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 0));
  const std::string operation = a.Text("operation", "SUM");
  const double factor = a.Float("coeff", 1);
  const std::vector<int64_t> axes = CountedFrom(axis, a.RankOf() - axis);
  Expr x = a.in(0);
  if (operation == "ASUM") x = Abs(x);
  if (operation == "SUMSQ") x = Square(x);
  return Scaled(Reduce(x, operation == "MEAN" ? "reduce_mean" : "reduce_sum", axes), factor)
      .value();
}

}  // namespace

X2IR_CAFFE(reduce_sum).From("Reduction", "reduction_param", Reduction);

}  // namespace x2ir
