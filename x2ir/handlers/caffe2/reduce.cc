// Caffe2: reductions.

#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

template <typename Prepare>
auto Reduced(const char* op, Prepare prepare) {
  return [op, prepare](Caffe2Args& a) -> Value* {
    std::vector<int64_t> axes = a.Ints("axes");
    const bool keep = a.Bool("keepdims", true);
    if (axes.empty()) axes = CountedFrom(0, a.RankOf());
    return prepare(a.in(0)).Op(op, {a.b().Ints(axes)}, {{"keepdims", keep ? 1 : 0}});
  };
}

Expr AsItIs(const Expr& x) { return x; }

// So many axes, the first or the last ones.
auto ReducedEnd(const char* op, bool front) {
  return [op, front](Caffe2Args& a) -> absl::StatusOr<Value*> {
    const int64_t count = a.Int("num_reduce_dim", 1), rank = a.RankOf();
    a.Require(a.num_inputs() == 1, "lengths");
    if (count < 1 || count > rank) return Invalid(count, " axes of ", rank);
    return Reduce(a.in(0), op, CountedFrom(front ? 0 : rank - count, count)).value();
  };
}

// Pairs of rows: a number for each.
template <typename Fn>
auto OfRows(Fn fn) {
  return [fn](Caffe2Args& a) -> absl::StatusOr<Value*> {
    const auto rows = [&](size_t i) {
      return a.RankOf(i) < 2 ? Unsqueeze(a.in(i), {1}) : a.in(i).Op("flatten", {}, {{"axis", 1}});
    };
    return fn(rows(0), rows(1)).value();
  };
}

Expr RowSum(const Expr& x) { return Sum(x, 1); }

Expr CosineSimilarity(const Expr& x, const Expr& y) {
  const auto length = [](const Expr& v) { return Sqrt(Max(RowSum(Square(v)), 1e-12)); };
  return RowSum(x * y) / (length(x) * length(y));
}

Value* ArgOf(Caffe2Args& a, bool largest) {
  const int64_t axis = a.AxisOf(a.Int("axis", -1));
  return a.Op(largest ? "arg_max" : "arg_min", {a.in(0)},
              {{"axis", axis}, {"keepdims", a.Bool("keepdims", true) ? 1 : 0}});
}

}  // namespace

X2IR_CAFFE2(reduce_sum)
    .From({{"ReduceSum", Reduced("reduce_sum", AsItIs)},
           {"ReduceFrontSum", ReducedEnd("reduce_sum", true)},
           {"ReduceBackSum", ReducedEnd("reduce_sum", false)}})
    .From("SumElements",
          [](Caffe2Args& a) {
            const bool average = a.Bool("average", false);
            return Reduce(a.in(0), average ? "reduce_mean" : "reduce_sum", {}).value();
          })
    .From("DotProduct", OfRows([](const Expr& x, const Expr& y) { return RowSum(x * y); }))
    .From("CosineSimilarity", OfRows(CosineSimilarity))
    .From("L1Distance", OfRows([](const Expr& x, const Expr& y) { return RowSum(Abs(x - y)); }))
    .From("SquaredL2Distance",
          OfRows([](const Expr& x, const Expr& y) { return RowSum(Square(x - y)) / 2; }));
X2IR_CAFFE2(reduce_mean)
    .From({{"ReduceMean", Reduced("reduce_mean", AsItIs)},
           {"ReduceFrontMean", ReducedEnd("reduce_mean", true)},
           {"ReduceBackMean", ReducedEnd("reduce_mean", false)}});
X2IR_CAFFE2(reduce_max)
    .From({{"ReduceMax", Reduced("reduce_max", AsItIs)},
           {"ReduceFrontMax", ReducedEnd("reduce_max", true)},
           {"ReduceBackMax", ReducedEnd("reduce_max", false)}});
X2IR_CAFFE2(reduce_min).From("ReduceMin", Reduced("reduce_min", AsItIs));
X2IR_CAFFE2(reduce_l1).From("ReduceL1", Reduced("reduce_l1", AsItIs));
X2IR_CAFFE2(reduce_l2).From("ReduceL2", Reduced("reduce_l2", AsItIs));
X2IR_CAFFE2(arg_max).From("ArgMax", [](Caffe2Args& a) { return ArgOf(a, true); });
X2IR_CAFFE2(arg_min).From("ArgMin", [](Caffe2Args& a) { return ArgOf(a, false); });

}  // namespace x2ir
