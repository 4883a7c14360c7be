// Decompositions of matrices, the last two axes, by loops over their columns: every size, static or
// not, and any axes before them.
#ifndef X2IR_HANDLERS_TORCH_MATRICES_H_
#define X2IR_HANDLERS_TORCH_MATRICES_H_

#include <cstdint>

#include "x2ir/handlers/torch/calc.h"

namespace X2IR_API x2ir {

// [n, 1] and [1, n]: the numbers of rows and columns.
Num RowNumbers(const Num& a);
Num ColumnNumbers(const Num& a);
Num Lower(const Num& a, bool with_diagonal = true);  // 0 above the diagonal
Num Upper(const Num& a);                             // 0 below it
Num DiagonalOf(const Num& a);                        // of its min(m, n) elements
Num IdentityLike(const Num& a);                      // of square matrices, with their other axes
// Operand's axes before the matrix, broadcast to those of `like`.
Num WithBatchOf(const Num& x, const Num& like);

// By Gauss with row pivots, as LAPACK: L (without its diagonal of 1) and U in one, the row of A
// that each row came from (int64), and the row that each column was swapped with, from 0.
struct LuFactors {
  Num lu, rows, pivots;
};
LuFactors Lu(const Num& a, bool pivot = true);
// The same rows from LAPACK's pivots, which count from 1; n rows in all.
Num RowsOfPivots(const Num& pivots, const Num& n);
Num TakeRows(const Num& b, const Num& rows);
// P with A = P L U.
Num PermutationOf(const Num& rows, DType t);

// x of A x = b, A triangular; unit: its diagonal counts as 1.
Num SolveTriangular(const Num& a, const Num& b, bool upper, bool unit);
Num SolveLu(const LuFactors& f, const Num& b);
Num Solve(const Num& a, const Num& b);
Num Inverse(const Num& a);

// L of A = L L^T, and the number (int32) of the first leading minor that is not positive, or 0.
struct Cholesky {
  Num l, info;
};
Cholesky CholeskyOf(const Num& a);

// By Householder's reflections, as LAPACK: R and below it the vectors, and their factors.
struct QrFactors {
  Num a, tau;
};
QrFactors Qr(const Num& a);
// Q x (or Q^T x) of reflections.
Num ApplyQ(const QrFactors& f, const Num& x, bool transpose);

// Singular values, in descending order, by Jacobi's rotations of columns (m >= n), with A V and V.
// Fail()s where the number of columns is not known, or large.
struct Svd {
  Num s, av, v;
};
Svd SvdOf(const Num& a);
// Eigenvalues of symmetric matrices, of which one triangle is looked at; ascending.
Num EigenvaluesOf(const Num& a, bool lower);
Num Symmetric(const Num& a, bool lower);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_MATRICES_H_
