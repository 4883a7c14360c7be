// StableHLO, written: products of matrices, systems of equations.
#include <algorithm>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

AttributeMap DotAttrs(std::vector<int64_t> lhs_batch, std::vector<int64_t> rhs_batch,
                      int64_t lhs_contracting, int64_t rhs_contracting) {
  return {{"lhs_batching_dimensions", std::move(lhs_batch)},
          {"rhs_batching_dimensions", std::move(rhs_batch)},
          {"lhs_contracting_dimensions", std::vector<int64_t>{lhs_contracting}},
          {"rhs_contracting_dimensions", std::vector<int64_t>{rhs_contracting}}};
}

// Leading axes are broadcast, except where one operand is a single matrix on the right.
absl::StatusOr<Value*> ToMatMul(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_a, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_b, w.Rank(1));
  if (Value* of_vectors = MatMulOfVectors(w, rank_a, rank_b)) return of_vectors;
  if (rank_b == 2) return w.Hlo("dot_general", {w.in(0), w.in(1)}, DotAttrs({}, {}, rank_a - 1, 0));
  Value *a = w.in(0), *b = w.in(1);
  const int64_t batch = std::max(rank_a, rank_b) - 2;
  // Both with the same leading axes.
  Shape together = Shape::UnknownDims(batch);
  for (int64_t i = 0; i < batch; ++i) {
    Dim size = 1;
    for (const Value* x : {a, b}) {
      const int64_t own = i - batch + x->shape()->rank() - 2;
      if (own < 0 || (*x->shape())[own] == Dim(1)) continue;
      const Dim& dim = (*x->shape())[own];
      if (!(size == Dim(1)) && !ProvablyEqual(size, dim)) {
        return CannotExpress("batches of sizes that are not known to be equal");
      }
      size = dim;
    }
    together[i] = size;
  }
  for (Value** x : {&a, &b}) {
    const Shape& own = *(*x)->shape();
    bool same = own.rank() == batch + 2;
    for (int64_t i = 0; same && i < batch; ++i) same = ProvablyEqual(own[i], together[i]);
    if (same) continue;
    std::vector<Dim> dims = together.dims();
    dims.push_back(own[own.rank() - 2]);
    dims.push_back(own[own.rank() - 1]);
    const auto sizes = Shape(dims).Static();
    if (!sizes) return CannotExpress("batches of unknown sizes that are broadcast");
    *x = w.Op("expand", {*x, w.Ints(*sizes)});
  }
  const std::vector<int64_t> axes = CountedFrom(0, batch);
  return w.Hlo("dot_general", {a, b}, DotAttrs(axes, axes, batch + 1, batch));
}

absl::StatusOr<Value*> ToGemm(StablehloWriter& w) {
  for (const size_t i : {0, 1}) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(i));
    if (rank != 2) return CannotExpress("matrices of rank ", rank);
  }
  const int64_t trans_a = w.Int("transA") != 0 ? 1 : 0, trans_b = w.Int("transB") != 0 ? 1 : 0;
  const Shape &a = *w.in(0)->shape(), &b = *w.in(1)->shape();
  const Type type = Type::Tensor(w.dtype(), Shape({a[trans_a], b[1 - trans_b]}));
  Expr y(w.b(),
         w.Hlo("dot_general", {w.in(0), w.in(1)}, DotAttrs({}, {}, 1 - trans_a, trans_b), type));
  const double alpha = w.attrs().Float("alpha", 1), beta = w.attrs().Float("beta", 1);
  if (!IsFloating(w.dtype()) && (alpha != static_cast<double>(static_cast<int64_t>(alpha)) ||
                                 beta != static_cast<double>(static_cast<int64_t>(beta)))) {
    return CannotExpress("factors of integers that are none");
  }
  y = Scaled(y, alpha);
  if (w.has(2) && beta != 0) y = y + Scaled(X(w, 2), beta);
  return y.value();
}

absl::StatusOr<Value*> ToTriangularSolve(StablehloWriter& w) {
  return w.Hlo("triangular_solve", {w.in(0), w.in(1)},
               {{"left_side", 1},
                {"lower", w.Int("upper") != 0 ? 0 : 1},
                {"unit_diagonal", w.Int("unit")},
                {"transpose_a", "NO_TRANSPOSE"}});
}

// Above the diagonal it is 0, which the operation leaves open.
absl::StatusOr<Value*> ToCholesky(StablehloWriter& w) {
  Value* l = w.Hlo("cholesky", {w.in(0)}, {{"lower", 1}}, w.in(0)->type());
  return w.Op("trilu", {l}, {{"upper", 0}});
}

}  // namespace

X2IR_STABLEHLO(matmul).To("dot_general", ToMatMul);
X2IR_STABLEHLO(gemm).To("dot_general", ToGemm);
X2IR_STABLEHLO(triangular_solve).To("triangular_solve", ToTriangularSolve);
X2IR_STABLEHLO(cholesky).To("cholesky", ToCholesky);

}  // namespace x2ir
