// Functions in models of Keras: arithmetic that is no operator of TensorFlow, matrices.
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

// --- Of each element -----------------------------------------------------------------------------

// Integers are divided as floats: TensorFlow's small ones as float32, others as float64.
Value* FunctionDivide(KerasCall& c) {
  DType type = c.CommonType({"x", "y"});
  if (IsInteger(type) || type == DType::kBool) {
    type = c.promotes() || BitWidth(type) <= 16 ? DType::kFloat32 : DType::kFloat64;
  }
  return c.Tensor("x", c.CommonType({"x", "y"})).To(type) /
         c.Tensor("y", c.CommonType({"x", "y"})).To(type);
}

Value* FunctionXor(KerasCall& c) {
  const Expr x = c.Tensor("x"), y = c.Tensor("y");
  return x.To(DType::kBool) ^ y.To(DType::kBool);
}

Value* FunctionRound(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const int64_t decimals = c.Integer("decimals", 0);
  if (!IsFloating(x.dtype())) {
    c.Require(decimals >= 0, "integers that are rounded");
    return x.Op("identity");
  }
  if (decimals == 0) return Round(x);
  const double factor = portable::pow(10.0, static_cast<double>(decimals));
  return Round(x * factor) / factor;
}

// What formulas say of floats.
template <Expr (*kFormula)(const Expr&)>
Value* OfFloats(KerasCall& c) {
  return kFormula(c.Floats("x"));
}
Expr Exp2(const Expr& x) { return Pow(2.0, x); }
Expr Log2Of(const Expr& x) { return Log(x) / portable::log(2.0); }
Expr Log10Of(const Expr& x) { return Log(x) / portable::log(10.0); }
Expr CubeRoot(const Expr& x) { return Sign(x) * Pow(Abs(x), 1.0 / 3); }
Expr Truncated(const Expr& x) { return Sign(x) * Floor(Abs(x)); }
Expr ToRadians(const Expr& x) { return x * (M_PI / 180); }

template <Expr (*kFormula)(const Expr&, const Expr&)>
Value* OfTwoFloats(KerasCall& c) {
  const DType together = c.CommonType({"x", "y"});
  const DType type = IsFloating(together) ? together : DType::kFloat32;
  return kFormula(c.Tensor("x", type), c.Tensor("y", type));
}
// The larger one is taken out of the sum, unless it is infinite.
Expr LogAddExp(const Expr& x, const Expr& y) {
  const Expr top = Max(x, y), down = -Abs(x - y);
  return Where(IsNan(down), x + y, top + Log1p(Exp(down)));
}
Expr Hypotenuse(const Expr& x, const Expr& y) {
  return VectorNorm(Stack(x.builder(), {(x + y * 0.0).value(), (y + x * 0.0).value()}, -1), 2, {-1},
                    false);
}

Value* FunctionIsClose(KerasCall& c) {
  const bool equal_nan = c.Flag("equal_nan");
  const DType together = c.CommonType({"x", "y"});
  const DType type = IsFloating(together) ? together : DType::kFloat32;
  const Expr x = c.Tensor("x", type), y = c.Tensor("y", type);
  const Expr bound = Abs(y) * c.Number("rtol", 1e-5) + c.Number("atol", 1e-8);
  const Expr finite = Not(IsInf(x) | IsInf(y));
  Expr close = (x == y) | (finite & (Abs(x - y) <= bound));
  if (equal_nan) close = close | (IsNan(x) & IsNan(y));
  return close;
}

Value* FunctionNanToNum(KerasCall& c) {
  const Expr x = c.Tensor("x");
  if (!IsFloating(x.dtype())) return x.Op("identity");
  const Expr zero = x.Number(c.Number("nan", 0));
  const Expr most = c.Given("posinf") ? x.Number(c.Number("posinf", 0))
                                      : FiniteExtreme(c, x.dtype(), true),
             least = c.Given("neginf") ? x.Number(c.Number("neginf", 0))
                                       : FiniteExtreme(c, x.dtype(), false);
  const Expr y = Where(IsNan(x), zero, x);
  return Where(IsInf(y), Where(y > 0.0, most, least), y);
}

// The norm of all elements, or along axes, is brought down to `clip_norm`.
Value* FunctionClipByNorm(KerasCall& c) {
  const Expr x = c.Tensor("t");
  const Expr sum = Reduce(Square(x), "reduce_sum", c.Axes("axes", x), true);
  const Expr norm = Where(sum > 0.0, Sqrt(Where(sum > 0.0, sum, 1.0)), sum);
  const Expr bound = c.Tensor("clip_norm", x.dtype());
  return x * bound / Max(norm, bound);
}

// --- Matrices ------------------------------------------------------------------------------------

Expr ProductOfMatrices(const Expr& x, const Expr& y) {
  return x.dtype() == DType::kBool ? IsTrue(MatMul(x.To(DType::kInt32), y.To(DType::kInt32)))
                                   : MatMul(x, y);
}

Value* FunctionMatMul(KerasCall& c) {
  for (const char* sparse : {"a_is_sparse", "b_is_sparse"}) c.Arg(sparse);
  const DType to = c.TypeOf("output_type", DType::kUndefined);
  const std::vector<Expr> of = c.Matched({"a", "b"});
  const bool swap_a = c.Flag("transpose_a") || c.Flag("adjoint_a"),
             swap_b = c.Flag("transpose_b") || c.Flag("adjoint_b");
  RequireReal(of[0]);
  c.Require(to == DType::kUndefined || to == of[0].dtype(), "a product of another type");
  return ProductOfMatrices(swap_a ? SwapLast(of[0]) : of[0], swap_b ? SwapLast(of[1]) : of[1]);
}

Value* FunctionMatrixTranspose(KerasCall& c) {
  c.Require(!c.Flag("conjugate"), "a conjugate");
  return SwapLast(c.Tensor("a"));
}

Value* FunctionMatVec(KerasCall& c) {
  const std::vector<Expr> of = c.Matched({"a", "b"});
  const bool swap = c.Flag("transpose_a") || c.Flag("adjoint_a");
  RequireReal(of[0]);
  const Expr y = MatMul(swap ? SwapLast(of[0]) : of[0], Unsqueeze(of[1], {-1}));
  return Squeeze(y, {-1});
}

// Sums of products along axes of both: the other axes of a, then those of b.
Expr TensorDot(KerasCall& c, const Expr& a, const Expr& b, std::vector<int64_t> of_a,
               std::vector<int64_t> of_b) {
  for (int64_t& axis : of_a) axis = c.AxisOf(axis, a.rank());
  for (int64_t& axis : of_b) axis = c.AxisOf(axis, b.rank());
  if (of_a.size() != of_b.size()) c.Fail(Invalid("axes of different numbers"));
  const auto others = [](const Expr& x, const std::vector<int64_t>& of) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (std::ranges::find(of, i) == of.end()) axes.push_back(i);
    }
    return axes;
  };
  std::vector<int64_t> left = others(a, of_a), right = others(b, of_b);
  if (left.size() + of_a.size() != static_cast<size_t>(a.rank()) ||
      right.size() + of_b.size() != static_cast<size_t>(b.rank())) {
    c.Fail(Invalid("an axis twice"));
  }
  std::vector<Size> sizes, summed;
  for (const int64_t axis : left) sizes.push_back(SizeAt(a, axis));
  const auto in_a = sizes;
  std::vector<Size> in_b;
  for (const int64_t axis : right) in_b.push_back(SizeAt(b, axis));
  sizes.insert(sizes.end(), in_b.begin(), in_b.end());
  for (const int64_t axis : of_a) summed.push_back(SizeAt(a, axis));
  std::vector<int64_t> perm_a = left, perm_b = of_b;
  perm_a.insert(perm_a.end(), of_a.begin(), of_a.end());
  perm_b.insert(perm_b.end(), right.begin(), right.end());
  const Size k = summed.empty() ? Size(1) : Product(c, summed),
             m = in_a.empty() ? Size(1) : Product(c, in_a),
             n = in_b.empty() ? Size(1) : Product(c, in_b);
  const Expr x = ReshapeTo(perm_a.empty() ? a : Transpose(a, perm_a), {m, k});
  const Expr y = ReshapeTo(perm_b.empty() ? b : Transpose(b, perm_b), {k, n});
  const Expr product = ProductOfMatrices(x, y);
  return sizes.empty() ? Reshape(product, std::vector<int64_t>{}) : ReshapeTo(product, sizes);
}

Value* FunctionTensorDot(KerasCall& c) {
  const std::vector<Expr> of = c.Matched({"a", "b"});
  const Json& axes = c.Arg("axes");
  std::vector<int64_t> of_a, of_b;
  const auto ints = [&](const Json& json) {
    std::vector<int64_t> list;
    if (json.is_number()) list.push_back(json.Int());
    for (const Json& item : json.items()) list.push_back(item.Int());
    return list;
  };
  if (axes.is_null() || axes.is_number()) {
    const int64_t count = axes.is_null() ? 2 : axes.Int();
    if (count < 0 || count > of[0].rank() || count > of[1].rank()) c.Fail(Invalid("axes"));
    of_a = CountedFrom(of[0].rank() - count, count);
    of_b = CountedFrom(0, count);
  } else {
    if (axes.size() != 2) c.Fail(Invalid("its axes are no pair"));
    of_a = ints(axes.at(0));
    of_b = ints(axes.at(1));
  }
  return TensorDot(c, of[0], of[1], of_a, of_b);
}

// Along the last axis of x and the one before the last of y, or its only one.
Value* FunctionDot(KerasCall& c) {
  const std::vector<Expr> of = c.Matched({"a", "b"});
  const Expr &x = of[0], &y = of[1];
  if (x.rank() == 0 || y.rank() == 0) return x * y;
  return TensorDot(c, x, y, {-1}, {y.rank() == 1 ? 0 : y.rank() - 2});
}

Value* FunctionOuter(KerasCall& c) {
  const std::vector<Expr> of = c.Matched({"a", "b"});
  return Reshape(of[0], std::vector<int64_t>{-1, 1}) * Reshape(of[1], std::vector<int64_t>{1, -1});
}

Value* FunctionEinsum(KerasCall& c) {
  std::vector<Value*> operands;
  for (const Expr& x : c.Tensors("operands")) operands.push_back(x);
  return c.Op("einsum", operands, {{"equation", c.Text("subscripts")}});
}

Value* FunctionTrace(KerasCall& c) {
  const Expr x = c.Tensor("x");
  c.Require(x.rank() == 2 && c.Integer("axis1", 0) == 0 && c.Integer("axis2", 1) == 1 &&
                c.Integer("offset", 0) == 0,
            "a trace of other than a matrix");
  return Reduce(c.AsTf("MatrixDiagPart", {x}), "reduce_sum", {});
}

// Differences of neighbours, several times over.
Value* FunctionDiff(KerasCall& c) {
  Expr x = c.Tensor("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", -1), x.rank()), times = c.Integer("n", 1);
  if (times < 0 || times > 64) c.Fail(Unimplemented("differences ", times, " times"));
  for (int64_t i = 0; i < times; ++i) {
    x = Slice(x, axis, Size(1), Size(kToEnd)) - Slice(x, axis, Size(0), Size(-1));
  }
  return x;
}

constexpr char kTwo[] = "x|x1 y|x2";

}  // namespace

X2IR_KERAS_FUNCTION(div).From("tf.math.divide tf.math.truediv ops.Divide ops.TrueDivide", kTwo,
                              FunctionDivide);
X2IR_KERAS_FUNCTION(xor).From("tf.math.logical_xor ops.LogicalXor", kTwo, FunctionXor);
X2IR_KERAS_FUNCTION(round).From("ops.Round", "x decimals", FunctionRound);
X2IR_KERAS_FUNCTION(pow)
    .From("ops.Exp2", "x", OfFloats<Exp2>)
    .From("ops.Cbrt", "x", OfFloats<CubeRoot>);
X2IR_KERAS_FUNCTION(log)
    .From("ops.Log2", "x", OfFloats<Log2Of>)
    .From("ops.Log10", "x", OfFloats<Log10Of>)
    .From("ops.Logaddexp", kTwo, OfTwoFloats<LogAddExp>);
X2IR_KERAS_FUNCTION(floor).From("ops.Trunc", "x", OfFloats<Truncated>);
X2IR_KERAS_FUNCTION(mul).From("ops.Deg2rad", "x", OfFloats<ToRadians>);
X2IR_KERAS_FUNCTION(reduce_l2).From("ops.Hypot", kTwo, OfTwoFloats<Hypotenuse>);
X2IR_KERAS_FUNCTION(less_or_equal)
    .From("ops.Isclose", "x|x1 y|x2 rtol atol equal_nan", FunctionIsClose);
X2IR_KERAS_FUNCTION(where).From("ops.NanToNum", "x nan posinf neginf", FunctionNanToNum);
X2IR_KERAS_FUNCTION(max).From("tf.clip_by_norm", "t clip_norm axes", FunctionClipByNorm);
X2IR_KERAS_FUNCTION(matmul)
    .From("tf.linalg.matmul ops.Matmul",
          "a|x1 b|x2 transpose_a transpose_b adjoint_a adjoint_b a_is_sparse b_is_sparse "
          "output_type",
          FunctionMatMul)
    .From("tf.tensordot tf.linalg.tensordot ops.Tensordot", "a|x1 b|x2 axes", FunctionTensorDot)
    .From("ops.Dot", "a|x1 b|x2", FunctionDot)
    .From("ops.Outer", "a|x1 b|x2", FunctionOuter);
X2IR_KERAS_FUNCTION(transpose).From("tf.linalg.matrix_transpose", "a conjugate",
                                    FunctionMatrixTranspose);
X2IR_KERAS_FUNCTION(matmul).From("tf.linalg.matvec", "a b transpose_a adjoint_a", FunctionMatVec);
X2IR_KERAS_FUNCTION(einsum).From("ops.Einsum", "*operands subscripts", FunctionEinsum);
X2IR_KERAS_FUNCTION(reduce_sum).From("ops.Trace", "x offset axis1 axis2", FunctionTrace);
X2IR_KERAS_FUNCTION(sub).From("ops.Diff", "x n axis", FunctionDiff);

}  // namespace x2ir
