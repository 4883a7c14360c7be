// NNEF: products of matrices, and sums of products.
#include <set>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Value* MatmulRow(NnefArgs& a) {
  std::vector<Expr> both = a.Alike({a.Tensor("A"), a.Tensor("B")});
  if (a.Flag("transposeA")) both[0] = SwapLast(both[0]);
  if (a.Flag("transposeB")) both[1] = SwapLast(both[1]);
  return both[0].Op("matmul", {both[1]});
}
Value* LinearRow(NnefArgs& a) {
  const std::vector<Expr> both = a.Alike({a.Tensor("input"), a.Tensor("filter")});
  const Expr y = both[0].Op("matmul", {SwapLast(both[1])});
  if (!a.Has("bias")) return y;
  const std::vector<Expr> sum = a.Alike({y, a.Tensor("bias")});
  return sum[0] + sum[1];
}

// Its operands, sums and result are of the type that `acc` names.
Value* EinsumRow(NnefArgs& a) {
  const std::string acc = a.Text("acc"), output = a.Text("output");
  a.Require(output.empty(), "an einsum of quantized numbers");
  const DType t = acc == "f32"   ? DType::kFloat32
                  : acc == "f16" ? DType::kFloat16
                  : acc == "f64" ? DType::kFloat64
                  : acc == "i32" ? DType::kInt32
                                 : DType::kUndefined;
  a.Require(t != DType::kUndefined, StrCat("an einsum in '", acc, "'"));
  std::vector<Value*> operands;
  for (Value* x : a.Tensors("inputs")) operands.push_back(a.Cast(x, t));
  return a.Op("einsum", operands, {{"equation", a.Text("expr")}});
}

absl::StatusOr<Value*> ToMatmul(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_a, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_b, w.Rank(1));
  if (rank_a < 2 || rank_b < 2) return CannotExpress("a product of vectors");
  const int64_t rank = std::max(rank_a, rank_b);
  X2IR_ASSIGN_OR_RETURN(Value * x, w.OfRank(w.in(0), rank));
  X2IR_ASSIGN_OR_RETURN(Value * y, w.OfRank(w.in(1), rank));
  return w.Call("matmul", {{"A", x}, {"B", y}}, {{"transposeA", 0}, {"transposeB", 0}});
}

// alpha * a * b + beta * c; rows of c are one row, or one for each of the result.
absl::StatusOr<Value*> ToGemm(NnefWriter& w) {
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  const int64_t trans_a = w.Int("transA"), trans_b = w.Int("transB");
  Value* c = w.in(2);
  if (c) {
    X2IR_ASSIGN_OR_RETURN(c, w.OfRank(c, 2));
  }
  if (c && beta != 1) c = Scaled(Expr(w, c), beta);
  const bool is_row = !c || c->dtype() == DType::kUndefined || !c->shape() ||
                      c->shape()->rank() == 0 || (*c->shape())[0] == Dim(1);
  if (alpha == 1 && trans_a == 0 && trans_b != 0 && is_row) {
    NnefWriter::Given operands = {{"input", w.in(0)}, {"filter", w.in(1)}};
    if (c) operands.emplace_back("bias", c);
    return w.Call("linear", operands);
  }
  X2IR_ASSIGN_OR_RETURN(Value * y, w.Call("matmul", {{"A", w.in(0)}, {"B", w.in(1)}},
                                          {{"transposeA", trans_a}, {"transposeB", trans_b}}));
  if (alpha != 1) {
    X2IR_ASSIGN_OR_RETURN(y, w.Call("mul", {{"x", y}, {"y", w.Number(DType::kFloat32, alpha)}}));
  }
  return c ? w.Call("add", {{"x", y}, {"y", c}}) : absl::StatusOr<Value*>(y);
}

}  // namespace

X2IR_NNEF(gemm).To("linear", ToGemm);
X2IR_NNEF(matmul).From("matmul", MatmulRow).From("linear", LinearRow).To("matmul", ToMatmul);
X2IR_NNEF(einsum).From("tract_core_einsum", EinsumRow);

}  // namespace x2ir
