// StableHLO: products of tensors along axes, and systems of equations.
#include <algorithm>
#include <numeric>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/dot.h"

namespace x2ir {
namespace {

using DotAxes = std::vector<int64_t>;

bool IsInOrder(const DotAxes& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Axes of the two kinds must be of the tensor, and each there once.
DotAxes FreeAxes(StablehloArgs& a, int64_t rank, const DotAxes& batch, const DotAxes& contracted) {
  std::vector<bool> used(static_cast<size_t>(rank), false);
  for (const DotAxes* axes : {&batch, &contracted}) {
    for (const int64_t axis : *axes) {
      if (axis < 0 || axis >= rank || used[static_cast<size_t>(axis)]) {
        a.Fail(Invalid("axis ", axis, " of an operand of rank ", rank, " is not there, or twice"));
      }
      used[static_cast<size_t>(axis)] = true;
    }
  }
  DotAxes free;
  for (int64_t i = 0; i < rank; ++i) {
    if (!used[static_cast<size_t>(i)]) free.push_back(i);
  }
  return free;
}

Expr InOrder(const Expr& x, DotAxes perm) {
  return IsInOrder(perm) ? x : Transpose(x, std::move(perm));
}

void AppendSizes(const Expr& x, const DotAxes& axes, std::vector<Size>& sizes) {
  for (const int64_t axis : axes) sizes.push_back(SizeAt(x, axis));
}
Size SizeOfAxes(const Expr& x, const DotAxes& axes) {
  std::vector<Size> sizes;
  AppendSizes(x, axes, sizes);
  return Product(x.builder(), sizes);
}

// An operand of a product of matrices: its batch axes, then the two of the matrix, each of which
// may stand for any number of axes. `free_first`: the free ones come before the contracted ones.
Expr MatrixOf(const Expr& x, const DotAxes& batch, const DotAxes& free, const DotAxes& contracted,
              bool free_first, bool keep_free) {
  DotAxes perm = batch;
  for (const DotAxes* axes : {free_first ? &free : &contracted, free_first ? &contracted : &free}) {
    perm.insert(perm.end(), axes->begin(), axes->end());
  }
  const Expr ordered = InOrder(x, std::move(perm));
  if ((keep_free || free.size() == 1) && contracted.size() == 1) return ordered;
  std::vector<Size> sizes;
  AppendSizes(x, batch, sizes);
  const auto add_free = [&] {
    if (keep_free) {
      AppendSizes(x, free, sizes);
    } else {
      sizes.push_back(SizeOfAxes(x, free));
    }
  };
  if (free_first) add_free();
  sizes.push_back(SizeOfAxes(x, contracted));
  if (!free_first) add_free();
  return ReshapeTo(ordered, sizes);
}

// Without axes to sum over: each element of one by each of the other.
Expr OuterProduct(const Expr& x, const Expr& y, const DotSpec& d, const DotAxes& free_x,
                  const DotAxes& free_y) {
  DotAxes perm_x = d.lhs_batch, perm_y = d.rhs_batch;
  perm_x.insert(perm_x.end(), free_x.begin(), free_x.end());
  perm_y.insert(perm_y.end(), free_y.begin(), free_y.end());
  const int64_t batch = static_cast<int64_t>(d.lhs_batch.size());
  const Expr a = InOrder(x, perm_x), b = InOrder(y, perm_y);
  const int64_t more_x = static_cast<int64_t>(free_x.size());
  const Expr spread =
      free_y.empty() || free_x.empty() ? b : Unsqueeze(b, CountedFrom(batch, more_x));
  const Expr other =
      free_y.empty()
          ? a
          : Unsqueeze(a, CountedFrom(batch + more_x, static_cast<int64_t>(free_y.size())));
  const Expr right =
      free_y.empty() && more_x > 0 ? Unsqueeze(b, CountedFrom(batch, more_x)) : spread;
  return other * right;
}

}  // namespace

Expr DotGeneral(StablehloArgs& a, const Expr& lhs, const Expr& rhs, const DotSpec& d,
                DType result) {
  const int64_t rank_x = lhs.rank(), rank_y = rhs.rank();
  if (d.lhs_batch.size() != d.rhs_batch.size() ||
      d.lhs_contracting.size() != d.rhs_contracting.size()) {
    a.Fail(Invalid("its operands have different numbers of batching or contracting axes"));
  }
  const DotAxes free_x = FreeAxes(a, rank_x, d.lhs_batch, d.lhs_contracting);
  const DotAxes free_y = FreeAxes(a, rank_y, d.rhs_batch, d.rhs_contracting);
  const DType t = ComputedType(lhs.dtype(), rhs.dtype(), result);
  const Expr x = lhs.To(t), y = rhs.To(t);
  if (d.lhs_contracting.empty()) return OuterProduct(x, y, d, free_x, free_y).To(result);
  const bool batched = !d.lhs_batch.empty();
  // Rows of any number of axes are what matmul broadcasts over, if there is one other matrix.
  const bool keep_x = !batched && free_x.size() > 1 && free_y.size() == 1;
  const Expr left = MatrixOf(x, d.lhs_batch, free_x, d.lhs_contracting, true, keep_x);
  const Expr right = MatrixOf(y, d.rhs_batch, free_y, d.rhs_contracting, false, false);
  const Expr product = MatMul(left, right).To(result);
  if ((keep_x || free_x.size() == 1) && free_y.size() == 1) return product;
  std::vector<Size> sizes;
  AppendSizes(x, d.lhs_batch, sizes);
  AppendSizes(x, free_x, sizes);
  AppendSizes(y, free_y, sizes);
  return ReshapeTo(product, sizes);
}

DType ComputedType(DType x, DType y, DType result) {
  if (result == DType::kBool) return DType::kInt32;
  if (IsComplex(x) || IsComplex(y) || IsComplex(result)) return result;
  const auto wider = [](DType s, DType t) { return BitWidth(s) > BitWidth(t) ? s : t; };
  if (IsFloating(result)) {
    DType t = result;
    if (IsFloating(x)) t = wider(t, x);
    if (IsFloating(y)) t = wider(t, y);
    return t;
  }
  return result;
}

namespace {

Value* FromDotGeneral(StablehloArgs& a) {
  for (const char* name : {"precision_config", "lhs_precision_type", "rhs_precision_type",
                           "accumulation_type", "lhs_component_count", "rhs_component_count",
                           "num_primitive_operations", "allow_imprecise_accumulation"}) {
    a.Ignore(name);  // hints about how exact it must be
  }
  const DotSpec d = {a.Ints("lhs_batching_dimensions"), a.Ints("rhs_batching_dimensions"),
                     a.Ints("lhs_contracting_dimensions"), a.Ints("rhs_contracting_dimensions")};
  return DotGeneral(a, a.in(0), a.in(1), d, a.out_dtype());
}

// The last axis of the left one by the first of the right one.
Value* FromDot(StablehloArgs& a) {
  a.Ignore("precision_config");
  const int64_t rank = a.RankOf(0);
  if (rank == 0 || a.RankOf(1) == 0) a.Fail(Invalid("a product of numbers of rank 0"));
  return DotGeneral(a, a.in(0), a.in(1), {{}, {}, {rank - 1}, {0}}, a.out_dtype());
}

// --- Equations
// ------------------------------------------------------------------------------------

Complex PartsOfMatrix(const Expr& x) { return {x.Op("real"), x.Op("imag")}; }
Expr Whole(const Complex& z) { return z.re.Op("complex", {z.im}); }
Complex Transposed(const Complex& z) { return {SwapLast(z.re), SwapLast(z.im)}; }

// Of halves in float32, whose loops would round at each step.
Value* FromCholesky(StablehloArgs& a) {
  const bool lower = a.Bool("lower", false);
  const Expr x = a.in(0);
  if (x.rank() < 2) a.Fail(Invalid("a matrix of rank ", x.rank()));
  if (IsComplex(x.dtype())) {
    const Complex z = PartsOfMatrix(x);
    const Complex l = CholeskyOf(lower ? z : Conj(Transposed(z))).l;
    return Whole(lower ? l : Conj(Transposed(l)));
  }
  const Expr y = (lower ? x : SwapLast(x)).To(AtLeastFloat32(x.dtype())).Op("cholesky");
  return (lower ? y : SwapLast(y)).To(x.dtype());
}

Value* FromTriangularSolve(StablehloArgs& a) {
  const bool left = a.Bool("left_side", true), unit = a.Bool("unit_diagonal", false);
  bool upper = !a.Bool("lower", true);
  const std::string transpose = a.String("transpose_a", "NO_TRANSPOSE");
  const Expr m = a.in(0), b = a.in(1);
  if (m.rank() < 2 || b.rank() != m.rank()) a.Fail(Invalid("matrices of different ranks"));
  bool transposes = transpose == "TRANSPOSE" || transpose == "ADJOINT";
  if (!transposes && transpose != "NO_TRANSPOSE") {
    a.Fail(Invalid("transpose_a is '", transpose, "'"));
  }
  // x op(a) = b is op(a)^T x^T = b^T.
  if (!left) transposes = !transposes;
  if (transposes) upper = !upper;
  if (IsComplex(m.dtype())) {
    Complex z = PartsOfMatrix(m), c = PartsOfMatrix(b);
    if (transpose == "ADJOINT") z = Conj(z);
    if (transposes) z = Transposed(z);
    const Complex y = SolveTriangular(z, left ? c : Transposed(c), upper, unit);
    return Whole(left ? y : Transposed(y));
  }
  const DType t = AtLeastFloat32(m.dtype());
  const Expr matrix = (transposes ? SwapLast(m) : m).To(t);
  const Expr right = (left ? b : SwapLast(b)).To(t);
  const Expr y = matrix.Op("triangular_solve", {right}, {{"upper", upper}, {"unit", unit}});
  return (left ? y : SwapLast(y)).To(m.dtype());
}

}  // namespace

X2IR_STABLEHLO(cholesky).From("cholesky", FromCholesky);
X2IR_STABLEHLO(matmul).From({{"dot_general", FromDotGeneral}, {"dot", FromDot}});
X2IR_STABLEHLO(triangular_solve).From("triangular_solve", FromTriangularSolve);

}  // namespace x2ir
