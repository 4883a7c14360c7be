// Decompositions of matrices, the last two axes, by loops over their columns: every size, static or
// not, and any axes before them. Those that have a form for `Complex` are of complex matrices too.
#ifndef X2IR_BUILDER_MATRICES_H_
#define X2IR_BUILDER_MATRICES_H_

#include <cstdint>

#include "x2ir/builder/complex.h"
#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// [n, 1] and [1, n]: the numbers of rows and columns.
Expr RowNumbers(const Expr& a);
Expr ColumnNumbers(const Expr& a);
Expr Lower(const Expr& a, bool with_diagonal = true);  // 0 above the diagonal
Expr Upper(const Expr& a);                             // 0 below it
Expr DiagonalOf(const Expr& a);                        // of its min(m, n) elements
Complex DiagonalOf(const Complex& a);
Expr IdentityLike(const Expr& a);  // of square matrices, with their other axes
Complex IdentityLike(const Complex& a);
// Operand's axes before the matrix, broadcast to those of `like`.
Expr WithBatchOf(const Expr& x, const Expr& like);

// By Gauss with row pivots, as LAPACK: L (without its diagonal of 1) and U in one, the row of A
// that each row came from (int64), and the row that each column was swapped with, from 0. Of
// complex numbers the pivot has the largest |re| + |im|.
template <typename T>
struct LuFactorsOf {
  T lu;
  Expr rows, pivots;
};
using LuFactors = LuFactorsOf<Expr>;
LuFactors Lu(const Expr& a, bool pivot = true);
LuFactorsOf<Complex> Lu(const Complex& a, bool pivot = true);
// The same rows from LAPACK's pivots, which count from 1; n rows in all.
Expr RowsOfPivots(const Expr& pivots, const Expr& n);
Expr TakeRows(const Expr& b, const Expr& rows);
// P with A = P L U.
Expr PermutationOf(const Expr& rows, DType t);

// x of A x = b, A triangular; unit: its diagonal counts as 1.
Expr SolveTriangular(const Expr& a, const Expr& b, bool upper, bool unit);
Complex SolveTriangular(const Complex& a, const Complex& b, bool upper, bool unit);
Expr SolveLu(const LuFactors& f, const Expr& b);
Complex SolveLu(const LuFactorsOf<Complex>& f, const Complex& b);
Expr Solve(const Expr& a, const Expr& b);
Complex Solve(const Complex& a, const Complex& b);
Expr Inverse(const Expr& a);
Complex Inverse(const Complex& a);

// L of A = L L^H, and the number (int32) of the first leading minor that is not positive, or 0.
// What is above the diagonal is not looked at, nor imaginary parts on it.
template <typename T>
struct Cholesky {
  T l;
  Expr info;
};
Cholesky<Expr> CholeskyOf(const Expr& a);
Cholesky<Complex> CholeskyOf(const Complex& a);

// By Householder's reflections, as LAPACK: R and below it the vectors, and their factors.
struct QrFactors {
  Expr a, tau;
};
QrFactors Qr(const Expr& a);
// Q x (or Q^T x) of reflections.
Expr ApplyQ(const QrFactors& f, const Expr& x, bool transpose);

// Singular values, in descending order, by Jacobi's rotations of columns (m >= n), with A V and V.
// Fail()s where the number of columns is not known, or large.
struct Svd {
  Expr s, av, v;
};
Svd SvdOf(const Expr& a);
// [[re, -im], [im, re]], which multiplies as the complex matrices do and has each of their singular
// values twice. Reversed: the upper left and the lower left quarter.
Expr RealFormOf(const Complex& a);
Complex ComplexOfRealForm(const Expr& a);
// Eigenvalues of symmetric matrices, of which one triangle is looked at; ascending.
Expr EigenvaluesOf(const Expr& a, bool lower);
Expr Symmetric(const Expr& a, bool lower);

}  // namespace x2ir

#endif  // X2IR_BUILDER_MATRICES_H_
