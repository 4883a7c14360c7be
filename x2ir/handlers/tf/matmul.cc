// TensorFlow: matrix products.
#include <numeric>
#include <utility>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/fused.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// The last two axes change places: of a constant that nothing else reads, at once.
Value* Transposed(TfArgs& a, Value* v) {
  const int64_t rank = v->shape() ? v->shape()->rank() : -1;
  if (rank < 2) {
    a.b().Fail(rank < 0 ? Unimplemented("the rank of a matrix to transpose is not known")
                        : Invalid("a matrix of rank ", rank));
    return v;
  }
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 2], perm[rank - 1]);
  if (v->uses().size() == 1 && !v->is_graph_output()) return Relaid(a, v, perm);
  return Transpose({a, v}, std::move(perm));
}

Value* Product(TfArgs& a, bool transpose_x, bool transpose_y) {
  Value* x = a.in(0);
  Value* y = a.in(1);
  if (transpose_x) x = Transposed(a, x);
  if (transpose_y) y = Transposed(a, y);
  return a.Op("matmul", {x, y});
}

Value* FromMatMul(TfArgs& a) {
  for (const char* name : {"a_is_sparse", "b_is_sparse", "grad_a", "grad_b"}) a.Ignore(name);
  const bool x = a.Bool("transpose_a", false), y = a.Bool("transpose_b", false);
  return Product(a, x, y);
}

absl::StatusOr<Value*> FusedMatMul(TfArgs& a) {
  Value* y = FromMatMul(a);
  return FusedOps(a, y, TfLayout());
}

Value* BatchMatMul(TfArgs& a) {
  const bool x = a.Bool("adj_x", false), y = a.Bool("adj_y", false);
  for (const char* name : {"grad_x", "grad_y"}) a.Ignore(name);
  a.Require(!IsComplex(a.in(0)->dtype()) || !(x || y), "adjoints of complex matrices");
  const DType type = a.in(0)->dtype();
  a.Require(a.Type("Tout", type) == type && a.in(1)->dtype() == type,
            "products of one type in another");
  return Product(a, x, y);
}

// Of matrices that are mostly zeros, but not sparse tensors.
Value* SparseMatMul(TfArgs& a) {
  for (const char* name : {"a_is_sparse", "b_is_sparse"}) a.Ignore(name);
  const bool x = a.Bool("transpose_a", false), y = a.Bool("transpose_b", false);
  Value* left = a.Cast(a.in(0), DType::kFloat32);
  Value* right = a.Cast(a.in(1), DType::kFloat32);
  if (x) left = Transposed(a, left);
  if (y) right = Transposed(a, right);
  return a.Op("matmul", {left, right});
}

Value* Einsum(TfArgs& a) {
  return a.Op("einsum", a.inputs(), {{"equation", a.String("equation", "")}});
}

absl::StatusOr<Value*> ToTfMatMul(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_a, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_b, w.Rank(1));
  Value *a = w.in(0), *b = w.in(1);
  if (rank_a == 2 && rank_b == 2) return w.Tf("MatMul", {a, b});
  if (rank_a >= 2 && rank_b >= 2) return w.Tf("BatchMatMulV2", {a, b});
  return MatMulOfVectors(w, rank_a, rank_b);
}

Value* ToTfGemm(TfWriter& w) {
  const DType t = w.dtype();
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  const bool plain = alpha == 1 && !w.has(2);
  Value* weights = w.in(1);
  AttributeMap attrs;
  if (w.Int("transA") != 0) attrs.Set("transpose_a", int64_t{1});
  if (w.Int("transB") != 0) {
    const bool own = weights->fixed_constant() && !weights->fixed_constant()->is_sparse() &&
                     weights->uses().size() == 1;
    if (own) {
      weights = w.Transpose(weights, {1, 0});
    } else {
      attrs.Set("transpose_b", int64_t{1});
    }
  }
  Value* y = w.Tf("MatMul", {w.in(0), weights}, std::move(attrs), plain ? Type() : w.out_type());
  if (alpha != 1) y = w.Op("mul", {y, w.Number(t, alpha)});
  if (!w.has(2)) return y;
  Value* c = beta == 1 ? w.in(2) : w.Op("mul", {w.in(2), w.Number(t, beta)});
  return w.Op("add", {y, c});
}

Value* ToTfEinsum(TfWriter& w) {
  return w.Tf("Einsum", w.node().inputs(), {{"equation", w.String("equation")}});
}

}  // namespace

X2IR_TF(matmul)
    .To("MatMul", ToTfMatMul)
    .From({{"MatMul", FromMatMul},
           {"_FusedMatMul", FusedMatMul},
           {"SparseMatMul", SparseMatMul},
           {"BatchMatMul", BatchMatMul},
           {"BatchMatMulV2", BatchMatMul},
           {"BatchMatMulV3", BatchMatMul}});
X2IR_TF(einsum).To("Einsum", ToTfEinsum).From("Einsum", Einsum);
X2IR_TF(det).To("MatrixDeterminant");
X2IR_TF(gemm).To("MatMul", ToTfGemm);

}  // namespace x2ir
