// NNVM: products and decompositions of matrices.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

Value* DenseUnits(SymbolArgs& a) {
  IgnoreTypes(a);
  const bool bias = a.Flag("use_bias", true);
  const Expr x = a.in(0);
  a.Require(x->shape() == nullptr || x->shape()->rank() == 2,
            "a dense layer of another rank than 2");
  std::vector<Value*> operands = {x, a.in(1)};
  if (bias) operands.push_back(a.in(2));
  return a.Op("gemm", std::move(operands), {{"transB", 1}});
}

Value* MatmulRow(SymbolArgs& a) {
  const Expr x = a.Flag("transpose_a", false) ? SwapLast(a.in(0)) : a.in(0);
  const Expr y = a.Flag("transpose_b", false) ? SwapLast(a.in(1)) : a.in(1);
  a.Require(a.rank(0) >= 0 && a.rank(0) <= 2 && a.rank(1) <= 2, "products of more than matrices");
  return MatMul(x, y);
}

// alpha a b + beta c by its parts where it is no dense layer.
absl::StatusOr<Value*> ToDense(SymbolWriter& w) {
  Value *a = w.in(0), *b = w.in(1), *c = w.in(2);
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  if (w.Int("transA") != 0) a = w.Op("transpose", {a}, {{"perm", {1, 0}}});
  if (w.Int("transB") == 0) b = w.Op("transpose", {b}, {{"perm", {1, 0}}});
  const Shape* weights = b->shape();
  const bool known = weights && weights->rank() == 2 && (*weights)[0].is_static();
  if (!known) return CannotExpress("weights of unknown size");
  const Shape* bias = c ? c->shape() : nullptr;
  const bool is_bias = bias && bias->rank() == 1 && ProvablyEqual((*bias)[0], (*weights)[0]) &&
                       alpha == 1 && beta == 1;
  std::vector<Value*> operands = {a, b};
  if (is_bias) operands.push_back(c);
  Value* y = w.Nnvm("dense", std::move(operands),
                    {{"units", StrCat((*weights)[0].value())}, {"use_bias", FlagText(is_bias)}});
  if (alpha != 1) y = w.Nnvm("__mul_scalar__", {y}, {{"scalar", NumberText(alpha)}});
  if (!c || is_bias) return y;
  if (beta != 1) c = w.Nnvm("__mul_scalar__", {c}, {{"scalar", NumberText(beta)}});
  return w.Nnvm("broadcast_add", {y, c});
}

absl::StatusOr<Value*> ToMatmul(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t other, w.Rank(1));
  if (rank != 2 || other != 2) return CannotExpress("a product of other tensors than two matrices");
  return w.Nnvm("matmul", {w.in(0), w.in(1)});
}

}  // namespace

X2IR_NNVM(gemm).From("dense", DenseUnits).To("dense", ToDense);
X2IR_NNVM(matmul).From("matmul", MatmulRow).To("matmul", ToMatmul);

}  // namespace x2ir
