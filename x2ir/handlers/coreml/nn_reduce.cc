// Core ML: reductions.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

Expr ReducedImage(NnArgs& a) {
  const std::string mode = a.Enum("mode", "SUM"), axis = a.Enum("axis", "CHW");
  const double epsilon = a.Number("epsilon", 1e-6);
  const Expr x = a.X();
  std::vector<int64_t> axes = {-3, -2, -1};
  if (axis == "HW") axes = {-2, -1};
  if (axis == "C") axes = {-3};
  if (axis == "H") axes = {-2};
  if (axis == "W") axes = {-1};
  a.Require(axes.size() != 3 || axis == "CHW", StrCat("axis ", axis));
  if (mode == "LOGSUM") return Reduce(Log(x + epsilon), "reduce_sum", axes, true);
  if (mode == "ARGMAX") {
    a.Require(axes.size() == 1, "the place of the greatest of several axes");
    return AsNumber(x.Op("arg_max", {}, {{"axis", axes[0]}, {"keepdims", 1}}));
  }
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"SUM", "reduce_sum"},
      {"AVG", "reduce_mean"},
      {"PROD", "reduce_prod"},
      {"L1", "reduce_l1"},
      {"SUMSQUARE", "reduce_sum_square"},
      {"L2", "reduce_l2"},
      {"MAX", "reduce_max"},
      {"MIN", "reduce_min"}};
  for (const auto& [core, ours] : kModes) {
    if (core == mode) return Reduce(x, ours, axes, true);
  }
  a.Require(false, StrCat("mode ", mode));
  return x;
}

auto Reduced(Symbol op) {
  return [op](NnArgs& a) {
    std::vector<int64_t> axes = a.List("axes");
    const bool keep = a.Flag("keepDims"), all = a.Flag("reduceAll");
    a.Require(all || !axes.empty(), "a reduction of no axes");
    const Expr x = a.X();
    if (all) axes = AllAxes(x);
    return AtLeastOneAxis(Reduce(x, op, axes, keep));
  };
}

auto PlaceOf(Symbol op) {
  return [op](NnArgs& a) {
    const Expr x = a.X();
    const int64_t axis = a.Int("axis"), keep = a.Flag("removeDim") && x.rank() > 1 ? 0 : 1;
    return AsNumber(x.Op(op, {}, {{"axis", axis}, {"keepdims", keep}}));
  };
}

absl::StatusOr<Value*> CumulativeSum(NnArgs& a) {
  int64_t axis = a.Int("axis");
  const bool exclusive = a.Flag("excludeFinalSum"), reverse = a.Flag("reverse");
  if (a.count() > 1) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(1, "axis"));
    a.Require(given.size() == 1, "several axes");
    axis = given[0];
  }
  return a.X()
      .Op("cum_sum", {a.b().Int(axis)},
          {{"exclusive", exclusive ? 1 : 0}, {"reverse", reverse ? 1 : 0}})
      .value();
}

Expr ReversedSequence(NnArgs& a) {
  const Expr x = a.X();
  const int64_t rank = x.rank();
  const int64_t batch = a.AxisOf(a.Int("batchAxis"), rank),
                time = a.AxisOf(a.Int("sequenceAxis"), rank);
  return x.Op("reverse_sequence", {a.Whole(1)}, {{"time_axis", time}, {"batch_axis", batch}});
}

}  // namespace

X2IR_NN(reduce_l1).From("reduceL1", Reduced("reduce_l1"));
X2IR_NN(reduce_l2).From("reduceL2", Reduced("reduce_l2"));
X2IR_NN(reduce_max).From("reduceMax", Reduced("reduce_max"));
X2IR_NN(reduce_min).From("reduceMin", Reduced("reduce_min"));
X2IR_NN(reduce_sum).From({{"reduceSum", Reduced("reduce_sum")}, {"reduce", ReducedImage}});
X2IR_NN(reduce_prod).From("reduceProd", Reduced("reduce_prod"));
X2IR_NN(reduce_mean).From("reduceMean", Reduced("reduce_mean"));
X2IR_NN(reduce_log_sum).From("reduceLogSum", Reduced("reduce_log_sum"));
X2IR_NN(reduce_log_sum_exp).From("reduceLogSumExp", Reduced("reduce_log_sum_exp"));
X2IR_NN(reduce_sum_square).From("reduceSumSquare", Reduced("reduce_sum_square"));
X2IR_NN(arg_max).From("argMax", PlaceOf("arg_max"));
X2IR_NN(arg_min).From("argMin", PlaceOf("arg_min"));
X2IR_NN(cum_sum).From("cumSum", CumulativeSum);
X2IR_NN(reverse_sequence).From("reverseSeq", ReversedSequence);

}  // namespace x2ir
