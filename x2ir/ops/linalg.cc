// Linear algebra of the matrices in the last two axes: lu, triangular_solve, solve, cholesky, qr,
// svd, eigh. All compute in float64 and round once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "Eigen/Eigenvalues"
#include "Eigen/LU"
#include "Eigen/QR"
#include "Eigen/SVD"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const Matrix>;
using Dims = std::vector<int64_t>;

// --- What is common -------------------------------------------------------------------------

absl::Status InferMatrices(const InferContext& ctx, size_t i, bool square) {
  const Shape* in = ctx.shape(i);
  if (!in) return absl::OkStatus();
  const int64_t rank = in->rank();
  if (rank < 2 || (square && ProvablyDifferent((*in)[rank - 1], (*in)[rank - 2]))) {
    return Invalid("expected ", square ? "square " : "", "matrices, got [", in->ToString(), "]");
  }
  return absl::OkStatus();
}

void MatrixOp(OpDef& op) { op.Opaque().NeedsFloat32(float32_for::kSolves).Zeros(ZeroUse::kTells); }

absl::Status CheckMatrices(const Tensor& in, bool square) {
  if (in.rank() < 2 || (square && in.dims().back() != in.dim(in.rank() - 2))) {
    return Invalid("expected ", square ? "square " : "", "matrices, got ", DimsText(in.dims()));
  }
  return absl::OkStatus();
}

// The batch's sizes, then these.
Shape WithBatch(const Shape& matrices, std::vector<Dim> last) {
  std::vector<Dim> dims(matrices.begin(), matrices.end() - 2);
  dims.insert(dims.end(), last.begin(), last.end());
  return Shape(std::move(dims));
}
Dims WithBatch(const Tensor& matrices, const Dims& last) {
  Dims dims(matrices.dims().begin(), matrices.dims().end() - 2);
  dims.insert(dims.end(), last.begin(), last.end());
  return dims;
}

// A result of float64 numbers, of the operand's type in the end.
class Result {
 public:
  static absl::StatusOr<Result> Of(DType t, Dims dims) {
    X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
    return Result(t, std::move(dims));
  }
  double* at(int64_t matrix, int64_t size) { return numbers_.data() + matrix * size; }
  void Write(int64_t matrix, const Matrix& m) {
    std::copy(m.data(), m.data() + m.size(), at(matrix, m.size()));
  }
  Tensor Finish() { return FromNumbers<double>(t_, std::move(dims_), numbers_); }

 private:
  Result(DType t, Dims dims) : t_(t), dims_(std::move(dims)), numbers_(Count(dims_)) {}
  DType t_;
  Dims dims_;
  std::vector<double> numbers_;
};

absl::Status ExpectFloats(const Tensor& in) {
  if (IsFloating(in.dtype())) return absl::OkStatus();
  return Unimplemented("evaluation of ", Name(in.dtype()));
}

int64_t Matrices(const Tensor& in) { return Count(WithBatch(in, {})); }

bool AllFinite(const MatrixView& m) {
  return std::all_of(m.data(), m.data() + m.size(), [](double v) { return std::isfinite(v); });
}
Matrix NaNs(int64_t rows, int64_t columns) {
  return Matrix::Constant(rows, columns, std::numeric_limits<double>::quiet_NaN());
}

// --- lu -------------------------------------------------------------------------------------

absl::Status InferLu(InferContext& ctx) {
  ctx.Set(0, ctx.type(0));
  ctx.Set(1, DType::kInt64);
  X2IR_RETURN_IF_ERROR(InferMatrices(ctx, 0, true));
  if (const Shape* in = ctx.shape(0)) {
    ctx.Set(1, DType::kInt64, WithBatch(*in, {(*in)[in->rank() - 1]}));
  }
  return absl::OkStatus();
}

// In place, by columns; a column of zeros is left as it is. Of equal pivots the first is taken.
void Decompose(Matrix& m, int64_t* order) {
  const int64_t n = m.rows();
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(m(i, k)) > std::abs(m(pivot, k))) pivot = i;
    }
    m.row(k).swap(m.row(pivot));
    std::swap(order[k], order[pivot]);
    if (m(k, k) == 0) continue;
    for (int64_t i = k + 1; i < n; ++i) {
      m(i, k) /= m(k, k);
      for (int64_t j = k + 1; j < n; ++j) m(i, j) -= m(i, k) * m(k, j);
    }
  }
}

absl::Status EvalLu(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckMatrices(in, true));
  X2IR_RETURN_IF_ERROR(ExpectFloats(in));
  const int64_t n = in.dims().back();
  X2IR_ASSIGN_OR_RETURN(Result lu, Result::Of(in.dtype(), in.dims()));
  const Dims order_dims = WithBatch(in, {n});
  std::vector<int64_t> order(Count(order_dims));
  const Numbers<double> numbers(in);
  for (int64_t i = 0; i < Matrices(in) && n > 0; ++i) {
    Matrix m = MatrixView(numbers.data() + i * n * n, n, n);
    Decompose(m, order.data() + i * n);
    lu.Write(i, m);
  }
  ctx.Set(0, lu.Finish());
  ctx.Set(1, Tensor::Of<int64_t>(order_dims, order));
  return absl::OkStatus();
}

X2IR_OP(lu)
    .Signature("x -> lu, order")
    .Functions(InferLu, EvalLu)
    .With(MatrixOp)
    .Doc(
        "Elimination with the greatest pivot of each column: l (below the diagonal, of which it "
        "has ones) times u (the rest) are the rows of x in that order.");

// --- Equations ------------------------------------------------------------------------------

absl::Status InferSolve(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType t, CommonDType(ctx, 0, 2));
  ctx.Set(0, t);
  X2IR_RETURN_IF_ERROR(InferMatrices(ctx, 0, true));
  X2IR_RETURN_IF_ERROR(InferMatrices(ctx, 1, false));
  const Shape *a = ctx.shape(0), *b = ctx.shape(1);
  if (b) ctx.Set(0, t, *b);
  if (!a || !b) return absl::OkStatus();
  bool fits = a->rank() == b->rank();
  for (int64_t i = 0; fits && i + 1 < a->rank(); ++i) fits = !ProvablyDifferent((*a)[i], (*b)[i]);
  if (!fits) return Invalid("a [", a->ToString(), "] does not fit b [", b->ToString(), "]");
  return absl::OkStatus();
}

// Rows of m from the right sides to the solutions.
void SolveTriangular(const Matrix& a, Matrix& m, bool upper, bool unit) {
  const int64_t n = a.rows();
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) m.row(i) -= a(i, j) * m.row(j);
    if (!unit) m.row(i) /= a(i, i);
  }
}

absl::Status EvalEquations(EvalContext& ctx, bool triangular) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  X2IR_RETURN_IF_ERROR(CheckMatrices(a, true));
  X2IR_RETURN_IF_ERROR(CheckMatrices(b, false));
  X2IR_RETURN_IF_ERROR(ExpectFloats(a));
  if (a.rank() != b.rank() || !std::equal(a.dims().begin(), a.dims().end() - 1, b.dims().begin())) {
    return Invalid("a ", DimsText(a.dims()), " does not fit b ", DimsText(b.dims()));
  }
  const bool upper = triangular && ctx.attrs().Int("upper") != 0;
  const bool unit = triangular && ctx.attrs().Int("unit") != 0;
  const int64_t n = a.dims().back(), m = b.dims().back();
  X2IR_ASSIGN_OR_RETURN(Result result, Result::Of(a.dtype(), b.dims()));
  const Numbers<double> left(a), right(b);
  for (int64_t i = 0; i < Matrices(a) && n > 0 && m > 0; ++i) {
    Matrix matrix = MatrixView(left.data() + i * n * n, n, n);
    const MatrixView sides(right.data() + i * n * m, n, m);
    Matrix y = sides;
    if (triangular) {
      SolveTriangular(matrix, y, upper, unit);
    } else {
      std::vector<int64_t> order(n);
      Decompose(matrix, order.data());
      for (int64_t row = 0; row < n; ++row) y.row(row) = sides.row(order[row]);
      SolveTriangular(matrix, y, false, true);
      SolveTriangular(matrix, y, true, false);
    }
    result.Write(i, y);
  }
  return ctx.Return(result.Finish());
}
absl::Status EvalSolve(EvalContext& ctx) { return EvalEquations(ctx, false); }
absl::Status EvalTriangularSolve(EvalContext& ctx) { return EvalEquations(ctx, true); }

X2IR_OP(solve)
    .Signature("a, b -> y")
    .Functions(InferSolve, EvalSolve)
    .With(MatrixOp)
    .Doc("The matrices y for which a y = b. The batches of a and b are the same.");

X2IR_OP(triangular_solve)
    .Signature("a, b -> y")
    .Attrs("upper = 0, unit = 0")
    .Functions(InferSolve, EvalTriangularSolve)
    .With(MatrixOp)
    .Doc(
        "The matrices y for which a y = b, where of a only the lower (or upper) triangle is looked "
        "at, its diagonal taken for ones if unit.");

// --- cholesky -------------------------------------------------------------------------------

absl::Status InferSquare(InferContext& ctx) {
  ctx.Set(0, ctx.type(0));
  return InferMatrices(ctx, 0, true);
}

absl::Status EvalCholesky(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckMatrices(in, true));
  X2IR_RETURN_IF_ERROR(ExpectFloats(in));
  const int64_t n = in.dims().back();
  X2IR_ASSIGN_OR_RETURN(Result result, Result::Of(in.dtype(), in.dims()));
  const Numbers<double> numbers(in);
  for (int64_t i = 0; i < Matrices(in) && n > 0; ++i) {
    Matrix m = MatrixView(numbers.data() + i * n * n, n, n);
    for (int64_t k = 0; k < n; ++k) {
      m(k, k) = std::sqrt(m(k, k));
      for (int64_t row = k + 1; row < n; ++row) m(row, k) /= m(k, k);
      for (int64_t row = k + 1; row < n; ++row) {
        for (int64_t column = k + 1; column <= row; ++column) {
          m(row, column) -= m(row, k) * m(column, k);
        }
      }
      for (int64_t column = k + 1; column < n; ++column) m(k, column) = 0;
    }
    result.Write(i, m);
  }
  return ctx.Return(result.Finish());
}

X2IR_OP(cholesky)
    .Signature("x -> y")
    .Functions(InferSquare, EvalCholesky)
    .With(MatrixOp)
    .Doc(
        "The lower triangular y with y times its transpose x, of which the lower triangle is "
        "looked at; NaN where there is none.");

// --- qr -------------------------------------------------------------------------------------

absl::Status InferQr(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  ctx.Set(1, ctx.dtype(0));
  X2IR_RETURN_IF_ERROR(InferMatrices(ctx, 0, false));
  const Shape* in = ctx.shape(0);
  if (!in) return absl::OkStatus();
  const Dim rows = (*in)[in->rank() - 2], columns = (*in)[in->rank() - 1];
  Dim inner = rows;
  if (ctx.attrs().Int("full") == 0) {
    inner = rows.is_static() && columns.is_static() ? Dim(std::min(rows.value(), columns.value()))
                                                    : Dim::Unknown();
  }
  ctx.Set(0, ctx.dtype(0), WithBatch(*in, {rows, inner}));
  ctx.Set(1, ctx.dtype(0), WithBatch(*in, {inner, columns}));
  return absl::OkStatus();
}

absl::Status EvalQr(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckMatrices(in, false));
  X2IR_RETURN_IF_ERROR(ExpectFloats(in));
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dims().back();
  const int64_t inner = ctx.attrs().Int("full") != 0 ? rows : std::min(rows, columns);
  X2IR_ASSIGN_OR_RETURN(Result q, Result::Of(in.dtype(), WithBatch(in, {rows, inner})));
  X2IR_ASSIGN_OR_RETURN(Result r, Result::Of(in.dtype(), WithBatch(in, {inner, columns})));
  const Numbers<double> numbers(in);
  for (int64_t i = 0; i < Matrices(in) && rows > 0; ++i) {
    if (columns == 0) {
      q.Write(i, Matrix::Identity(rows, inner));
      continue;
    }
    const MatrixView m(numbers.data() + i * rows * columns, rows, columns);
    const Eigen::HouseholderQR<Matrix> qr(m);
    q.Write(i, qr.householderQ() * Matrix::Identity(rows, inner));
    r.Write(i, qr.matrixQR().topRows(inner).triangularView<Eigen::Upper>());
  }
  ctx.Set(0, q.Finish());
  ctx.Set(1, r.Finish());
  return absl::OkStatus();
}

X2IR_OP(qr)
    .Signature("x -> q, r")
    .Attrs("full = 0")
    .Functions(InferQr, EvalQr)
    .With(MatrixOp)
    .Doc(
        "q (columns of length 1 at right angles, as many as x has if not full) times r (upper "
        "triangular) is x, by Householder's reflections.");

// --- svd, eigh ------------------------------------------------------------------------------

absl::Status InferSvd(InferContext& ctx) {
  for (size_t i : {0, 1, 2}) ctx.Set(i, ctx.dtype(0));
  X2IR_RETURN_IF_ERROR(InferMatrices(ctx, 0, false));
  const Shape* in = ctx.shape(0);
  if (!in) return absl::OkStatus();
  const Dim rows = (*in)[in->rank() - 2], columns = (*in)[in->rank() - 1];
  const Dim least = rows.is_static() && columns.is_static()
                        ? Dim(std::min(rows.value(), columns.value()))
                        : Dim::Unknown();
  const bool full = ctx.attrs().Int("full") != 0;
  ctx.Set(0, ctx.dtype(0), WithBatch(*in, {least}));
  ctx.Set(1, ctx.dtype(0), WithBatch(*in, {rows, full ? rows : least}));
  ctx.Set(2, ctx.dtype(0), WithBatch(*in, {columns, full ? columns : least}));
  return absl::OkStatus();
}

absl::Status EvalSvd(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckMatrices(in, false));
  X2IR_RETURN_IF_ERROR(ExpectFloats(in));
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dims().back();
  const int64_t least = std::min(rows, columns);
  const bool full = ctx.attrs().Int("full") != 0;
  const int64_t left = full ? rows : least, right = full ? columns : least;
  X2IR_ASSIGN_OR_RETURN(Result s, Result::Of(in.dtype(), WithBatch(in, {least})));
  X2IR_ASSIGN_OR_RETURN(Result u, Result::Of(in.dtype(), WithBatch(in, {rows, left})));
  X2IR_ASSIGN_OR_RETURN(Result v, Result::Of(in.dtype(), WithBatch(in, {columns, right})));
  const unsigned options =
      full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Numbers<double> numbers(in);
  for (int64_t i = 0; i < Matrices(in); ++i) {
    if (least == 0) {
      u.Write(i, Matrix::Identity(rows, left));
      v.Write(i, Matrix::Identity(columns, right));
      continue;
    }
    const MatrixView m(numbers.data() + i * rows * columns, rows, columns);
    if (!AllFinite(m)) {
      s.Write(i, NaNs(1, least));
      u.Write(i, NaNs(rows, left));
      v.Write(i, NaNs(columns, right));
      continue;
    }
    const Eigen::BDCSVD<Eigen::MatrixXd> svd(m, options);
    s.Write(i, svd.singularValues().transpose());
    u.Write(i, svd.matrixU());
    v.Write(i, svd.matrixV());
  }
  ctx.Set(0, s.Finish());
  ctx.Set(1, u.Finish());
  ctx.Set(2, v.Finish());
  return absl::OkStatus();
}

X2IR_OP(svd)
    .Signature("x -> s, u?, v?")
    .Attrs("full = 0")
    .Functions(InferSvd, EvalSvd)
    .With(MatrixOp)
    .Doc(
        "Singular values of x, the greatest first, and the vectors: u times diag(s) times the "
        "transpose of v is x. Which sign a pair of vectors has is not said.");

absl::Status InferEigh(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  ctx.Set(1, ctx.type(0));
  X2IR_RETURN_IF_ERROR(InferMatrices(ctx, 0, true));
  if (const Shape* in = ctx.shape(0)) {
    ctx.Set(0, ctx.dtype(0), WithBatch(*in, {(*in)[in->rank() - 1]}));
  }
  return absl::OkStatus();
}

absl::Status EvalEigh(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckMatrices(in, true));
  X2IR_RETURN_IF_ERROR(ExpectFloats(in));
  const int64_t n = in.dims().back();
  X2IR_ASSIGN_OR_RETURN(Result values, Result::Of(in.dtype(), WithBatch(in, {n})));
  X2IR_ASSIGN_OR_RETURN(Result vectors, Result::Of(in.dtype(), in.dims()));
  const Numbers<double> numbers(in);
  for (int64_t i = 0; i < Matrices(in) && n > 0; ++i) {
    const MatrixView m(numbers.data() + i * n * n, n, n);
    if (!AllFinite(m)) {
      values.Write(i, NaNs(1, n));
      vectors.Write(i, NaNs(n, n));
      continue;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(m)};
    if (solver.info() != Eigen::Success) return Unimplemented("eigenvalues that do not converge");
    values.Write(i, solver.eigenvalues().transpose());
    vectors.Write(i, solver.eigenvectors());
  }
  ctx.Set(0, values.Finish());
  ctx.Set(1, vectors.Finish());
  return absl::OkStatus();
}

X2IR_OP(eigh)
    .Signature("x -> values, vectors?")
    .Functions(InferEigh, EvalEigh)
    .With(MatrixOp)
    .Doc(
        "Eigenvalues of symmetric matrices, the least first, and the vectors as columns, whose "
        "sign is not said; the lower triangle is looked at.");

}  // namespace
}  // namespace x2ir
