// ncnn: reductions.

#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Reduction(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0);
  const bool all = a.Flag(1, true), keep = a.Flag(4, false);
  const double factor = a.Float(2, 1);
  std::vector<int64_t> axes = a.Ints(3);
  a.Drop({5});
  static constexpr std::string_view kOps[] = {
      "reduce_sum",  "reduce_sum", "reduce_sum", "reduce_mean", "reduce_max",        "reduce_min",
      "reduce_prod", "reduce_l1",  "reduce_l2",  "reduce_sum",  "reduce_log_sum_exp"};
  if (kind < 0 || kind > 10) return Unimplemented("operation ", kind);
  for (int64_t& axis : axes) axis = a.AxisOf(axis);
  if (all || axes.empty()) axes = CountedFrom(1, a.RankOf() - 1);
  Expr x = a.in(0);
  if (kind == 1) x = Abs(x);
  if (kind == 2) x = Square(x);
  Expr y = x.Op(kOps[kind], {a.b().Ints(axes)}, {{"keepdims", keep ? 1 : 0}});
  if (kind == 9) y = Log(y);
  // A number is a list of one.
  const bool one = !keep && static_cast<int64_t>(axes.size()) == a.RankOf() - 1;
  if (one) y = Unsqueeze(y, {1});
  return Scaled(y, factor).value();
}

}  // namespace

X2IR_NCNN(reduce_sum).From("Reduction", Reduction);
X2IR_NCNN(cum_sum).From("CumulativeSum",
                        [](NcnnArgs& a) { return CumSum(a.in(0), a.AxisOf(a.Int(0, 0))); });

}  // namespace x2ir
