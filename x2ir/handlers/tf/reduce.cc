// TensorFlow: reductions over axes.
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// An empty list of axes reduces nothing.
Value* ReduceAxes(TfArgs& a, Symbol op, Value* x) {
  Value* axes = a.AsInt64(a.in(1));
  if (a.rank(1) != 1) axes = ReshapeTo({a, axes}, Ints(a, {-1}));
  return a.Op(op, {x, axes},
              {{"keepdims", a.Bool("keep_dims", false)}, {"noop_with_empty_axes", 1}});
}

template <const char* kOp>
Value* FromReduce(TfArgs& a) {
  return ReduceAxes(a, kOp, a.in(0));
}

// Of bytes: of nothing All is true (255), and Any is false (0).
template <const char* kOp>
Value* ReduceBool(TfArgs& a) {
  return a.Cast(ReduceAxes(a, kOp, a.Cast(a.in(0), DType::kUInt8)), DType::kBool);
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

template <const char* kOp>
Value* AlongLast(TfArgs& a) {
  return a.Op(kOp, {a.in(0)}, {{"axis", -1}});
}
constexpr char kSoftmax[] = "softmax", kLogSoftmax[] = "log_softmax";

// Half the sum of squares of all elements.
Value* L2Loss(TfArgs& a) {
  Value* sum = a.Op("reduce_sum_square", {a.in(0)}, {{"keepdims", 0}});
  return a.Op("div", {sum, Expr(a, sum).Number(2)});
}

}  // namespace

X2IR_TF(reduce_sum).From("Sum", FromReduce<kSum>);
X2IR_TF(reduce_mean).From("Mean", FromReduce<kMean>);
X2IR_TF(reduce_max).From("Max", FromReduce<kMax>).From("Any", ReduceBool<kMax>);
X2IR_TF(reduce_min).From("Min", FromReduce<kMin>).From("All", ReduceBool<kMin>);
X2IR_TF(reduce_prod).From("Prod", FromReduce<kProd>);
X2IR_TF(reduce_l2).From("EuclideanNorm", FromReduce<kL2>);
X2IR_TF(reduce_sum_square).From("L2Loss", L2Loss);
X2IR_TF(arg_max).From("ArgMax", Arg<kArgMax>);
X2IR_TF(arg_min).From("ArgMin", Arg<kArgMin>);
X2IR_TF(softmax).From("Softmax", AlongLast<kSoftmax>);
X2IR_TF(log_softmax).From("LogSoftmax", AlongLast<kLogSoftmax>);

}  // namespace x2ir
