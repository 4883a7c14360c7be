// TensorFlow: reductions over axes.
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// An empty list of axes reduces nothing.
template <const char* kOp>
Value* FromReduce(TfArgs& a) {
  Value* axes = a.AsInt64(a.in(1));
  if (a.rank(1) != 1) axes = ReshapeTo({a, axes}, Ints(a, {-1}));
  return a.Op(kOp, {a.in(0), axes},
              {{"keepdims", a.Bool("keep_dims", false)}, {"noop_with_empty_axes", 1}});
}

constexpr char kSum[] = "reduce_sum", kMean[] = "reduce_mean", kMax[] = "reduce_max",
               kMin[] = "reduce_min", kProd[] = "reduce_prod", kL2[] = "reduce_l2";

template <const char* kOp>
absl::StatusOr<Value*> Arg(TfArgs& a) {
  int64_t axis = 0;
  if (a.num_inputs() > 1) {
    X2IR_ASSIGN_OR_RETURN(axis, a.KnownInt(1, "dimension"));
  }
  const DType to = a.Type("output_type", DType::kInt64);
  return a.Cast(a.Op(kOp, {a.in(0)}, {{"axis", axis}, {"keepdims", 0}}), to);
}

constexpr char kArgMax[] = "arg_max", kArgMin[] = "arg_min";

// Half the sum of squares of all elements.
Value* L2Loss(TfArgs& a) {
  Value* sum = a.Op("reduce_sum_square", {a.in(0)}, {{"keepdims", 0}});
  return a.Op("div", {sum, Expr(a, sum).Number(2)});
}

Value* Running(TfArgs& a, Symbol op) {
  const bool exclusive = a.Bool("exclusive", false), reverse = a.Bool("reverse", false);
  a.Require(!IsComplex(a.in(0)->dtype()), "complex numbers");
  Value* axis = ReshapeTo(a.AsInt64(a.in(1)), Ints(a, {}));
  return a.Op(op, {a.in(0), axis}, {{"exclusive", exclusive}, {"reverse", reverse}});
}

Value* FromCumSum(TfArgs& a) { return Running(a, "cum_sum"); }
Value* CumProd(TfArgs& a) { return Running(a, "cum_prod"); }

// log(sum(exp)) of those up to each one. Of none of them it is the least finite number, which
// TensorFlow takes for log(0).
absl::StatusOr<Value*> CumLogSumExp(TfArgs& a) {
  const bool exclusive = a.Bool("exclusive", false), reverse = a.Bool("reverse", false);
  X2IR_ASSIGN_OR_RETURN(int64_t axis, a.KnownInt(1, "axis"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid("axis of an operand of rank ", rank);
  Value* x = a.in(0);
  const DType t = x->dtype();
  if (!IsFloating(t)) return Invalid("expected floats, got ", Name(t));
  x = a.Cast(x, AtLeastFloat32(t));
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) perm.push_back(i);
  }
  perm.push_back(axis);
  Value* rows = Unsqueeze(Transpose({a, x}, perm), {-2});  // [.., 1, n]
  Value* places = Iota({a, SizeAt(a, x, axis)});
  Value* of_result = Unsqueeze({a, places}, {1});
  Value* seen = reverse ? a.Op(exclusive ? "greater" : "greater_or_equal", {places, of_result})
                        : a.Op(exclusive ? "less" : "less_or_equal", {places, of_result});
  Value* masked = Where({a, seen}, {a, rows},
                        {a, a.b().Scalar(x->dtype(), -std::numeric_limits<double>::infinity())});
  Value* sums = Reduce({a, masked}, "reduce_log_sum_exp", {-1});
  if (exclusive) {
    Value* none = Not(Any({a, seen}, {1}));
    sums = Where({a, none}, a.Cast(FiniteExtreme(a, t, false), x->dtype()), {a, sums});
  }
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
  return a.Cast(Transpose({a, sums}, back), t);
}

Value* ToTfReverseSequence(TfWriter& w) {
  return w.Tf("ReverseSequence", {w.in(0), w.in(1)},
              {{"seq_dim", w.Int("time_axis")}, {"batch_dim", w.Int("batch_axis")}});
}

// `of_bools`: the op for bools, if there is one.
auto ToTfReduce(std::string_view op, std::string_view of_bools = "") {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(Value * axes, ReducedAxes(w));
    if (!axes) return w.Op("identity", {w.in(0)});
    const bool bools = w.dtype() == DType::kBool;
    if (bools && of_bools.empty()) return CannotExpress("bools");
    return w.Tf(bools ? of_bools : op, {w.in(0), axes}, {{"keep_dims", w.Int("keepdims")}});
  };
}

auto ToTfArg(std::string_view op) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    Type places = w.out_type();
    if (w.Int("keepdims") == 0) {
      return w.Tf(op, {w.in(0), w.Int32(axis)}, {{"output_type", Type::Tensor(DType::kInt64)}});
    }
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    Value* found =
        w.Tf(op, {w.in(0), w.Int32(axis)}, {{"output_type", Type::Tensor(DType::kInt64)}},
             Type::Tensor(DType::kInt64, Shape::UnknownDims(rank - 1)));
    return w.Op("unsqueeze", {found, w.Ints({axis})});
  };
}

// A known axis is counted from the front, as TensorFlow.js needs it.
auto ToTfRunning(std::string_view op) {
  return [=](TfWriter& w) -> Value* {
    const auto known = KnownInts(w.in(1));
    const int64_t rank = w.shape() ? w.shape()->rank() : 0;
    const auto from_front = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
    Value* axis =
        known && known->size() == 1 ? w.Int32(from_front((*known)[0])) : w.Reshape(w.in(1), {});
    return w.Tf(op, {w.in(0), axis},
                {{"exclusive", w.Int("exclusive")}, {"reverse", w.Int("reverse")}});
  };
}

}  // namespace

X2IR_TF(reduce_sum).To("Sum", ToTfReduce("Sum")).From("Sum", FromReduce<kSum>);
X2IR_TF(reduce_mean).To("Mean", ToTfReduce("Mean")).From("Mean", FromReduce<kMean>);
X2IR_TF(reduce_max)
    .To("Max", ToTfReduce("Max", "Any"))
    .From({{"Max", FromReduce<kMax>}, {"Any", FromReduce<kMax>}});
X2IR_TF(reduce_min)
    .To("Min", ToTfReduce("Min", "All"))
    .From({{"Min", FromReduce<kMin>}, {"All", FromReduce<kMin>}});
X2IR_TF(reduce_prod).To("Prod", ToTfReduce("Prod")).From("Prod", FromReduce<kProd>);
X2IR_TF(reduce_l2).To("Sum", L2BySum).From("EuclideanNorm", FromReduce<kL2>);
X2IR_TF(reduce_sum_square).To("Sum", SumSquareBySum).From("L2Loss", L2Loss);
X2IR_TF(arg_max).To("ArgMax", ToTfArg("ArgMax")).From("ArgMax", Arg<kArgMax>);
X2IR_TF(arg_min).To("ArgMin", ToTfArg("ArgMin")).From("ArgMin", Arg<kArgMin>);
X2IR_TF(cum_sum).To("Cumsum", ToTfRunning("Cumsum")).From("Cumsum", FromCumSum);
X2IR_TF(cum_prod).To("Cumprod", ToTfRunning("Cumprod")).From("Cumprod", CumProd);
X2IR_TF(reduce_log_sum_exp).To("Sum", LogSumExpBySum).From("CumulativeLogsumexp", CumLogSumExp);
X2IR_TF(reverse_sequence).To("ReverseSequence", ToTfReverseSequence);
X2IR_TF(reduce_l1).To("Sum", L1BySum);
X2IR_TF(reduce_log_sum).To("Sum", LogSumBySum);

}  // namespace x2ir
