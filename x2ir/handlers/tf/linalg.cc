// TensorFlow: linear algebra.
#include <limits>
#include <numeric>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

void ExpectReal(TfArgs& a) {
  a.Require(!IsComplex(a.in(0)->dtype()), "matrices of complex numbers");
}

Value* Turned(TfArgs& a, Value* v) {
  const int64_t rank = Expr(a, v).rank();
  if (rank < 2) {
    a.b().Fail(Invalid("a matrix of rank ", rank));
    return v;
  }
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 2], perm[rank - 1]);
  return Transpose({a, v}, std::move(perm));
}

Value* MatrixSolve(TfArgs& a) {
  ExpectReal(a);
  const bool adjoint = a.Bool("adjoint", false);
  return a.Op("solve", {adjoint ? Turned(a, a.in(0)) : a.in(0), a.in(1)});
}

// Batches are spread to each other.
Value* MatrixTriangularSolve(TfArgs& a) {
  ExpectReal(a);
  const bool lower = a.Bool("lower", true), adjoint = a.Bool("adjoint", false);
  Value* matrix = a.in(0);
  Value* sides = a.in(1);
  if (adjoint) matrix = Turned(a, matrix);
  const int64_t rank = Expr(a, matrix).rank(), of_sides = Expr(a, sides).rank();
  if (rank >= 2 && of_sides >= 2 && (rank > 2 || of_sides > 2)) {
    // Zeros of both batches, added, are of the batch of both.
    const auto batch = [&](Value* v, int64_t r) {
      Value* one = a.b().Scalar(DType::kFloat32, 0);
      return r == 2 ? one : a.Op("expand", {one, ShapeOf({a, v}, 0, r - 2)});
    };
    Value* both = a.Op("shape", {a.Op("add", {batch(matrix, rank), batch(sides, of_sides)})});
    const auto spread = [&](Value* v, int64_t r) {
      return a.Op("expand", {v, Concat(a, {both, ShapeOf({a, v}, r - 2)}, 0)});
    };
    matrix = spread(matrix, rank);
    sides = spread(sides, of_sides);
  }
  return a.Op("triangular_solve", {matrix, sides}, {{"upper", lower == adjoint}});
}

Value* MatrixInverse(TfArgs& a) {
  ExpectReal(a);
  const bool adjoint = a.Bool("adjoint", false);
  Value* x = adjoint ? Turned(a, a.in(0)) : a.in(0);
  const int64_t rank = Expr(a, x).rank();
  if (rank < 2) return x;
  Value* places = Iota({a, SizeAt(a, x, rank - 1)});
  Value* on = a.Op("equal", {Unsqueeze({a, places}, {1}), places});
  Value* ones = a.Op("expand", {a.Cast(on, x->dtype()), ShapeOf({a, x}, 0)});
  return a.Op("solve", {x, ones});
}

// Of a matrix with the diagonal and those on both sides of it, [..., n] each; the last element
// above it and the first below it do not count.
struct Diagonals {
  Value *above, *on, *below;
};

Value* Tridiagonal(TfArgs& a, const Diagonals& d) {
  const int64_t rank = Expr(a, d.on).rank();
  if (rank < 1) return d.on;
  Value* columns = Iota({a, SizeAt(a, d.on, rank - 1)});
  Value* rows = Unsqueeze({a, columns}, {1});
  Value* matrix = Expr(a, d.on).Number(0);
  for (const auto& [values, shift] :
       {std::pair(d.above, 1), std::pair(d.on, 0), std::pair(d.below, -1)}) {
    Value* place = a.Op("equal", {columns, a.Op("add", {rows, a.b().Int(shift)})});
    matrix = Where({a, place}, Unsqueeze({a, values}, {-1}), {a, matrix});
  }
  return matrix;
}

Value* TridiagonalSolve(TfArgs& a) {
  ExpectReal(a);
  a.Ignore("partial_pivoting");  // without it others round as well
  a.Require(!a.Bool("perturb_singular", false), "singular matrices that are changed");
  const int64_t rank = a.in(0).rank();
  if (rank < 2) return a.in(0);
  const auto row = [&](int64_t i) { return Gather(a.in(0), a.b().Int(i), rank - 2); };
  return a.Op("solve", {Tridiagonal(a, {row(0), row(1), row(2)}), a.in(1)});
}

// Operands: the three diagonals, [..., 1, n], and a matrix.
Value* TridiagonalMatMul(TfArgs& a) {
  ExpectReal(a);
  const int64_t rank = a.in(0).rank();
  if (rank < 2) return a.in(0);
  Value* x = a.in(3);
  Value* axis = a.b().Ints({rank - 2});
  const auto part = [&](Value* v, int64_t from, int64_t to, int64_t along) {
    return a.Op("slice", {v, a.b().Ints({from}), a.b().Ints({to}), a.b().Ints({along})});
  };
  const auto padded = [&](Value* v, int64_t before, int64_t after) {
    return a.Op("pad", {v, a.b().Ints({before, after}), nullptr, axis}, {{"mode", "constant"}});
  };
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  const auto factor = [&](size_t i, int64_t from, int64_t to) {
    return Unsqueeze(Squeeze({a, part(a.in(i), from, to, rank - 1)}, {rank - 2}), {-1});
  };
  Value* on = a.Op("mul", {factor(1, 0, kAll), x});
  Value* above = a.Op("mul", {factor(0, 0, -1), part(x, 1, kAll, rank - 2)});
  Value* below = a.Op("mul", {factor(2, 1, kAll), part(x, 0, -1, rank - 2)});
  return a.Op("add", {a.Op("add", {on, padded(above, 0, 1)}), padded(below, 1, 0)});
}

Value* MatrixDeterminant(TfArgs& a) {
  ExpectReal(a);
  return a.Op("det", {a.in(0)});
}

// From the pivots, whose product might be too large or small: {sign, logarithm}.
Values LogMatrixDeterminant(TfArgs& a) {
  ExpectReal(a);
  Value* x = a.in(0);
  const DType t = x->dtype();
  const int64_t rank = Expr(a, x).rank();
  if (rank < 2 || !a.b().status().ok()) return {x, x};
  const Values lu = a.b().Ops("lu", {a.Cast(x, DType::kFloat64)}, {}, 2);
  Value* places = Iota({a, SizeAt(a, x, rank - 1)});
  Value* on = a.Op("equal", {Unsqueeze({a, places}, {1}), places});
  Value* wide_zero = a.b().Scalar(DType::kFloat64, 0);
  Value* pivots = Reduce(Where({a, on}, {a, lu[0]}, {a, wide_zero}), "reduce_sum", {-1});
  // Rows changed places an odd number of times if an odd number of pairs are out of order.
  Value* later = a.Op("less", {Unsqueeze({a, places}, {1}), places});
  Value* greater = a.Op("greater", {Unsqueeze({a, lu[1]}, {-1}), Unsqueeze({a, lu[1]}, {-2})});
  Value* pairs = a.Cast(a.Op("and", {later, greater}), DType::kInt64);
  pairs = Reduce(Reduce({a, pairs}, "reduce_sum", {-1}), "reduce_sum", {-1});
  Value* odd = a.Cast(a.Op("mod", {pairs, a.b().Int(2)}), DType::kFloat64);
  Value* parity = a.Op("sub", {a.b().Scalar(DType::kFloat64, 1),
                               a.Op("mul", {odd, a.b().Scalar(DType::kFloat64, 2)})});
  Value* sign = a.Op("mul", {Reduce(a.Op("sign", {pivots}), "reduce_prod", {-1}), parity});
  Value* log = Reduce(a.Op("log", {a.Op("abs", {pivots})}), "reduce_sum", {-1});
  log = a.Cast(log, t);
  // TensorFlow has no NaN here.
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Value* strange = a.Op("or", {a.Op("is_nan", {log}), a.Op("is_inf", {log})});
  Value* positive = a.Op("greater", {log, a.b().Scalar(t, 0)});
  Value* infinite = Where({a, positive}, {a, a.b().Scalar(t, kInf)}, {a, a.b().Scalar(t, -kInf)});
  sign = Where({a, strange}, {a, a.b().Scalar(t, 0)}, a.Cast(sign, t));
  return {sign, Where({a, strange}, {a, infinite}, {a, log})};
}

Value* Cholesky(TfArgs& a) {
  ExpectReal(a);
  return a.Op("cholesky", {a.in(0)});
}

Values Lu(TfArgs& a) {
  ExpectReal(a);
  const DType to = a.Type("output_idx_type", DType::kInt32);
  Values lu = a.b().Ops("lu", {a.in(0)}, {}, 2);
  return {lu[0], a.Cast(lu[1], to)};
}

Values Qr(TfArgs& a) {
  ExpectReal(a);
  return a.b().Ops("qr", {a.in(0)}, {{"full", a.Bool("full_matrices", false)}}, 2);
}

// Without vectors they are empty.
Value* NoVectors(TfArgs& a) {
  const DType t = a.in(0)->dtype();
  if (!IsFloating(t)) a.b().Fail(Invalid("matrices of ", Name(t)));
  return a.b().Constant(Tensor::Zeros(IsFloating(t) ? t : DType::kFloat32, {0}));
}

Values Svd(TfArgs& a) {
  ExpectReal(a);
  const bool vectors = a.Bool("compute_uv", true), full = a.Bool("full_matrices", false);
  const std::vector<bool> wanted = {true, vectors, vectors};
  Values found = a.b().Ops("svd", {a.in(0)}, {{"full", vectors && full}}, wanted);
  if (vectors) return found;
  return {found[0], a.wants(1) ? a.Op("identity", {NoVectors(a)}) : nullptr,
          a.wants(2) ? a.Op("identity", {NoVectors(a)}) : nullptr};
}

Values SelfAdjointEig(TfArgs& a) {
  ExpectReal(a);
  const bool vectors = a.Bool("compute_v", true);
  Values found = a.b().Ops("eigh", {a.in(0)}, {}, std::vector<bool>{true, vectors});
  if (vectors) return found;
  return {found[0], a.wants(1) ? a.Op("identity", {NoVectors(a)}) : nullptr};
}

absl::StatusOr<Value*> ToTfTriangularSolve(TfWriter& w) {
  if (w.Int("unit") != 0) return CannotExpress("a diagonal of ones that is not there");
  return w.Tf("MatrixTriangularSolve", {w.in(0), w.in(1)}, {{"lower", w.Int("upper") == 0}});
}

Values ToTfQr(TfWriter& w) {
  return w.TfAll("Qr", {w.in(0)}, {{"full_matrices", w.Int("full")}}, {w.wants(0), w.wants(1)});
}

Values ToTfSvd(TfWriter& w) {
  const bool vectors = w.wants(1) || w.wants(2);
  Values found =
      w.TfAll("Svd", {w.in(0)}, {{"compute_uv", vectors}, {"full_matrices", w.Int("full")}},
              {w.wants(0), w.wants(1), w.wants(2)});
  found.resize(w.node().num_outputs());
  return found;
}

Values ToTfEigh(TfWriter& w) {
  Values found =
      w.TfAll("SelfAdjointEigV2", {w.in(0)}, {{"compute_v", w.wants(1)}}, {w.wants(0), w.wants(1)});
  found.resize(w.node().num_outputs());
  return found;
}

}  // namespace

// Batch... are older names.
X2IR_TF(solve).From({{"MatrixSolve", MatrixSolve},
                     {"BatchMatrixSolve", MatrixSolve},
                     {"MatrixInverse", MatrixInverse},
                     {"BatchMatrixInverse", MatrixInverse},
                     {"TridiagonalSolve", TridiagonalSolve}});
X2IR_TF(mul).From("TridiagonalMatMul", TridiagonalMatMul);
X2IR_TF(triangular_solve)
    .From({{"MatrixTriangularSolve", MatrixTriangularSolve},
           {"BatchMatrixTriangularSolve", MatrixTriangularSolve}});
X2IR_TF(det).From({{"MatrixDeterminant", MatrixDeterminant},
                   {"BatchMatrixDeterminant", MatrixDeterminant}});
X2IR_TF(lu).From({{"Lu", Lu}, {"LogMatrixDeterminant", LogMatrixDeterminant}});
X2IR_TF(cholesky).From({{"Cholesky", Cholesky}, {"BatchCholesky", Cholesky}});
X2IR_TF(qr).From("Qr", Qr);
X2IR_TF(svd).From({{"Svd", Svd}, {"BatchSvd", Svd}});
X2IR_TF(eigh).From({{"SelfAdjointEigV2", SelfAdjointEig},
                    {"BatchSelfAdjointEigV2", SelfAdjointEig}});
X2IR_TF(cholesky).To("Cholesky");
X2IR_TF(solve).To("MatrixSolve");
X2IR_TF(triangular_solve).To("MatrixTriangularSolve", ToTfTriangularSolve);
X2IR_TF(qr).To("Qr", ToTfQr);
X2IR_TF(svd).To("Svd", ToTfSvd);
X2IR_TF(eigh).To("SelfAdjointEigV2", ToTfEigh);

}  // namespace x2ir
