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

}  // namespace

X2IR_NNEF(matmul).From("matmul", MatmulRow).From("linear", LinearRow).To("matmul", ToMatmul);
X2IR_NNEF(einsum).From("tract_core_einsum", EinsumRow);

}  // namespace x2ir
