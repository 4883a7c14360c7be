// Functions in models of Keras: reductions, and what is normalized by them.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

// An empty list of axes reduces nothing.
Expr Reduced(KerasCall& c, const Expr& x, Symbol op) {
  const auto axes = c.Integers("axis");
  const bool keep = c.Flag("keepdims");
  if (axes && axes->empty()) return x.Op("identity");
  return Reduce(x, op, axes ? c.Axes("axis", x) : std::vector<int64_t>(), keep);
}

// Of bools and small integers Keras 3 makes sums of int32.
Expr Summand(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const DType t = x.dtype();
  const bool small = t == DType::kBool || (IsInteger(t) && BitWidth(t) < 32);
  if (!c.promotes() || !small) return x;
  return x.To(t == DType::kBool || IsSignedInt(t) ? DType::kInt32 : DType::kUInt32);
}

Value* FunctionSum(KerasCall& c) { return Reduced(c, Summand(c), "reduce_sum"); }
Value* FunctionProd(KerasCall& c) { return Reduced(c, Summand(c), "reduce_prod"); }
Value* FunctionMean(KerasCall& c) { return Reduced(c, c.Floats("x"), "reduce_mean"); }
Value* FunctionMax(KerasCall& c) { return Reduced(c, c.Tensor("x"), "reduce_max"); }
Value* FunctionMin(KerasCall& c) { return Reduced(c, c.Tensor("x"), "reduce_min"); }

template <bool kAll>
Value* FunctionAny(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const Expr test = c.promotes() ? x.To(DType::kBool) : x;
  if (test.dtype() != DType::kBool) c.Fail(Invalid("a test of ", Name(test.dtype())));
  const auto axes = c.Integers("axis");
  const bool keep = c.Flag("keepdims");
  if (axes && axes->empty()) return test.Op("identity");
  const std::vector<int64_t> over = c.Axes("axis", x);
  return kAll ? All(test, over, keep) : Any(test, over, keep);
}

Value* FunctionLogSumExp(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Reduced(c, x, "reduce_log_sum_exp");
}

Value* FunctionEuclidean(KerasCall& c) { return Reduced(c, c.Tensor("x"), "reduce_l2"); }

// The mean of the squared differences from the mean.
Expr VarianceOf(const Expr& x, const std::vector<int64_t>& axes, bool keep) {
  return Reduce(Square(x - Reduce(x, "reduce_mean", axes, true)), "reduce_mean", axes, keep);
}

Expr VarianceOfCall(KerasCall& c) {
  const Expr x = c.Floats("x");
  if (!IsFloating(x.dtype())) c.Fail(Invalid("a variance of ", Name(x.dtype())));
  return VarianceOf(x, c.Axes("axis", x), c.Flag("keepdims"));
}

Value* FunctionVariance(KerasCall& c) { return VarianceOfCall(c); }
Value* FunctionStd(KerasCall& c) { return Sqrt(VarianceOfCall(c)); }

// Mean and variance.
Values FunctionMoments(KerasCall& c) {
  c.Arg("shift");
  c.Arg("synchronized");
  const Expr x = c.Floats("x");
  const std::vector<int64_t> axes = c.Axes("axes", x);
  const bool keep = c.Flag("keepdims");
  if (axes.empty()) return {x.Op("identity"), x - x};
  return {Reduce(x, "reduce_mean", axes, keep), VarianceOf(x, axes, keep)};
}

Value* FunctionCountNonzero(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const DType to = c.TypeOf("dtype", c.promotes() ? DType::kInt32 : DType::kInt64);
  const Expr counts = x.dtype() == DType::kBool ? x : IsTrue(x);
  return Reduced(c, counts.To(to), "reduce_sum");
}

// Of all elements where there is no axis.
template <bool kLimit>
Value* FunctionArg(KerasCall& c) {
  Expr x = c.Tensor("x");
  if (x.dtype() == DType::kBool) x = x.To(DType::kInt32);
  const auto axis = c.Integers("axis");
  const bool keep = c.Flag("keepdims");
  const int64_t rank = x.rank();
  if (axis && axis->size() != 1) c.Fail(Invalid("its axis"));
  if (!axis) x = Flat(x);
  const int64_t along = axis ? c.AxisOf((*axis)[0], rank) : 0;
  Expr y = x.Op(kLimit ? "arg_max" : "arg_min", {}, {{"axis", along}, {"keepdims", keep && axis}});
  if (keep && !axis) y = Unsqueeze(y, CountedFrom(0, rank));
  return y.To(DType::kInt32);
}

Value* FunctionAverage(KerasCall& c) {
  const Expr x = c.Floats("x");
  if (!c.Given("weights")) return Reduced(c, x, "reduce_mean");
  const Expr w = c.Tensor("weights", x.dtype());
  c.Require(w.rank() == x.rank(), "weights of another rank");
  const auto axes = c.Integers("axis");
  const std::vector<int64_t> over = axes ? c.Axes("axis", x) : std::vector<int64_t>();
  return Reduce(x * w, "reduce_sum", over) / Reduce(w, "reduce_sum", over);
}

// Keras 3: along all elements where there is no axis.
Value* FunctionCumSum(KerasCall& c) {
  Expr x = c.Tensor("x");
  const DType to = c.TypeOf("dtype", x.dtype() == DType::kBool ? DType::kInt32 : x.dtype());
  x = x.To(to);
  if (!c.Given("axis")) return CumSum(Flat(x), 0);
  return CumSum(x, c.AxisOf(c.Integer("axis", 0), x.rank()));
}

// x / sqrt(max(sum of squares, epsilon)).
Value* FunctionL2Normalize(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const std::vector<int64_t> axes = c.Axes("axis", x);
  const Expr sum = Reduce(Square(x), "reduce_sum", axes, true);
  return x / Sqrt(Max(sum, x.Number(c.Number("epsilon", 1e-12))));
}

// Keras 3: by a norm of some order.
Value* FunctionNormalize(KerasCall& c) {
  const Expr x = c.Floats("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", -1), x.rank());
  const double order = c.Number("order", 2), epsilon = c.Number("epsilon", 1e-7);
  if (order < 1 || epsilon <= 0) c.Fail(Invalid("a norm of order ", order));
  if (order == 2) {
    const Expr sum = Reduce(Square(x), "reduce_sum", {axis}, true);
    return x * Min(1.0 / Sqrt(sum), 1.0 / epsilon);
  }
  return x / Max(VectorNorm(x, order, {axis}, true), x.Number(epsilon));
}

// Of vectors; of matrices that of Frobenius.
Value* FunctionNorm(KerasCall& c) {
  const Expr x = c.Floats("x");
  const auto axes = c.Integers("axis");
  const bool keep = c.Flag("keepdims");
  const Json& order = c.Arg("ord");
  const std::string name = order.text();
  c.Require(name.empty() || name == "euclidean" || name == "fro", StrCat("norm '", name, "'"));
  const std::vector<int64_t> over = c.Axes("axis", x);
  if (order.is_null() || !name.empty()) {
    return Reduce(x, "reduce_l2", axes ? over : std::vector<int64_t>(), keep);
  }
  const double p = order.Number();
  // Keras 3: without an axis a norm of matrices, where x is one.
  const bool vector = c.promotes() ? over.size() == 1 : !axes || over.size() == 1;
  c.Require(vector && p >= 1, StrCat("a norm of matrices of order ", p));
  return VectorNorm(x, p, over, keep);
}

constexpr char kReduction[] =
    "x|input_tensor axis|reduction_indices keepdims|keep_dims initial where";

}  // namespace

X2IR_KERAS_FUNCTION(reduce_sum)
    .From("tf.math.reduce_sum tf.compat.v1.reduce_sum tf.compat.v1.math.reduce_sum ops.Sum",
          kReduction, FunctionSum)
    .From("tf.math.count_nonzero ops.CountNonzero", "x|input axis keepdims dtype",
          FunctionCountNonzero);
X2IR_KERAS_FUNCTION(reduce_prod)
    .From("tf.math.reduce_prod tf.compat.v1.reduce_prod tf.compat.v1.math.reduce_prod ops.Prod",
          kReduction, FunctionProd);
X2IR_KERAS_FUNCTION(reduce_mean)
    .From("tf.math.reduce_mean tf.compat.v1.reduce_mean tf.compat.v1.math.reduce_mean ops.Mean",
          kReduction, FunctionMean)
    .From("tf.math.reduce_variance ops.Var", kReduction, FunctionVariance)
    .From("tf.math.reduce_std ops.Std", kReduction, FunctionStd)
    .From("tf.nn.moments ops.Moments", "x axes shift keepdims synchronized", FunctionMoments)
    .From("ops.Average", "x weights axis keepdims", FunctionAverage);
X2IR_KERAS_FUNCTION(reduce_max)
    .From(
        "tf.math.reduce_max tf.compat.v1.reduce_max tf.compat.v1.math.reduce_max ops.Max ops.Amax",
        kReduction, FunctionMax)
    .From("tf.math.reduce_any tf.compat.v1.reduce_any tf.compat.v1.math.reduce_any ops.Any",
          kReduction, FunctionAny<false>);
X2IR_KERAS_FUNCTION(reduce_min)
    .From(
        "tf.math.reduce_min tf.compat.v1.reduce_min tf.compat.v1.math.reduce_min ops.Min ops.Amin",
        kReduction, FunctionMin)
    .From("tf.math.reduce_all tf.compat.v1.reduce_all tf.compat.v1.math.reduce_all ops.All",
          kReduction, FunctionAny<true>);
X2IR_KERAS_FUNCTION(reduce_log_sum_exp)
    .From(
        "tf.math.reduce_logsumexp tf.compat.v1.reduce_logsumexp tf.compat.v1.math.reduce_logsumexp "
        "ops.Logsumexp",
        kReduction, FunctionLogSumExp);
X2IR_KERAS_FUNCTION(reduce_l2)
    .From("tf.math.reduce_euclidean_norm", kReduction, FunctionEuclidean)
    .From("tf.norm tf.linalg.norm ops.Norm", "x|tensor ord axis keepdims", FunctionNorm)
    .From("tf.math.l2_normalize", "x axis|dim epsilon", FunctionL2Normalize)
    .From("ops.Normalize", "x axis order epsilon", FunctionNormalize);
X2IR_KERAS_FUNCTION(arg_max).From("ops.Argmax", "x axis keepdims", FunctionArg<true>);
X2IR_KERAS_FUNCTION(arg_min).From("ops.Argmin", "x axis keepdims", FunctionArg<false>);
X2IR_KERAS_FUNCTION(cum_sum).From("ops.Cumsum", "x axis dtype", FunctionCumSum);

}  // namespace x2ir
