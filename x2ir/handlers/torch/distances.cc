// Bilinear forms, distances of rows, fake quantization.
#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// sum over i, j of x1[.., i] w[o, i, j] x2[.., j]
Values Bilinear(TorchCall& c) {
  Value* x1 = c.Tensor("input1");
  Value* x2 = c.Tensor("input2");
  Value* weight = c.Tensor("weight");
  Value* bias = c.OptTensor("bias");
  const DType t = x1->dtype();
  if (!IsInteger(t)) RequireFloat(c, x1);
  const auto in = [&](Value* x) { return c.Cast(x, AtLeastFloat32(t)); };
  if (c.Rank(weight) != 3) return c.Fail(Invalid("weight: expected rank 3"));
  const int64_t rank = c.Rank(x1);
  if (rank < 1) return c.Fail(Invalid("input1: expected rank 1 or more"));
  // x1 times [i, o * j], then each of o times x2.
  const std::vector<Size> w = SizesAt({c, weight}, 0, 3);
  const Expr columns = ReshapeTo(Transpose(in(weight), {1, 0, 2}), {w[1], Times(c, w[0], w[2])});
  std::vector<Size> dims = SizesAt({c, x1}, 0, rank - 1);
  dims.push_back(w[0]);
  dims.push_back(w[2]);
  const Expr partial = ReshapeTo(in(x1).Op("matmul", {columns}), dims);
  Expr y = Squeeze(partial.Op("matmul", {Unsqueeze(in(x2), {rank})}), {rank});
  if (bias) y = y + in(bias);
  return {y.To(t)};
}
X2IR_TORCH(matmul).From("aten::bilinear.default", Bilinear);

DType FloatOf(DType t) { return IsFloating(t) ? t : DType::kFloat32; }

// Each vector by its length, which is at least eps; then the sum of products.
Values CosineSimilarity(TorchCall& c) {
  Value* x1 = c.Tensor("x1");
  Value* x2 = c.Tensor("x2");
  const int64_t dim = c.Int("dim", 1);
  const double eps = c.Float("eps", 1e-8);
  const DType t = FloatOf(TorchPromote(x1->dtype(), x2->dtype()));
  if (IsComplex(t) || t == DType::kUndefined) return c.Fail(Unimplemented("of complex numbers"));
  const auto in = [&](Value* x) { return c.Cast(x, AtLeastFloat32(t)); };
  // The axis is that of both, broadcast together, and so are the lengths along it.
  const Expr shape = ShapeOf(in(x1) + in(x2));
  const bool same = x1->shape() && x2->shape() && *x1->shape() == *x2->shape();
  const Expr a = same ? in(x1) : Expand(in(x1), shape);
  const Expr b = same ? in(x2) : Expand(in(x2), shape);
  const int64_t rank = a.rank(), axis = c.NormalAxis(dim, rank);
  const auto sum = [&](const Expr& x, bool keepdims) {
    return rank == 0 ? x : Sum(x, axis, keepdims);
  };
  const auto unit = [&](const Expr& x) { return x / Max(Sqrt(sum(x * x, true)), x.Number(eps)); };
  return {sum(unit(a) * unit(b), false).To(t)};
}
X2IR_TORCH(reduce_l2).From("aten::cosine_similarity.default", CosineSimilarity);

// The p-norm of x1 - x2 + eps over the last axis.
Values PairwiseDistance(TorchCall& c) {
  Value* x1 = c.Tensor("x1");
  Value* x2 = c.Tensor("x2");
  const double p = c.Float("p", 2), eps = c.Float("eps", 1e-6);
  const bool keepdim = c.Bool("keepdim", false);
  const DType t = FloatOf(TorchPromote(x1->dtype(), x2->dtype()));
  if (IsComplex(t) || t == DType::kUndefined) return c.Fail(Unimplemented("of complex numbers"));
  const auto in = [&](Value* x) { return c.Cast(x, AtLeastFloat32(t)); };
  const Expr apart = Abs(Shifted(in(x1)-in(x2), eps));
  const int64_t rank = apart.rank();
  if (rank == 0) return c.Fail(Unimplemented("of numbers"));
  const std::vector<int64_t> axes = {rank - 1};
  const auto reduce = [&](Symbol op, const Expr& x) { return Reduce(x, op, axes, keepdim); };
  Expr y = nullptr;
  if (std::isinf(p)) {
    y = reduce(p > 0 ? "reduce_max" : "reduce_min", apart);
  } else if (p == 0) {
    y = reduce("reduce_sum", in(Not(apart == 0)));
  } else if (p == 1) {
    y = reduce("reduce_sum", apart);
  } else if (p == 2) {
    y = reduce("reduce_l2", apart);
  } else {
    y = Pow(reduce("reduce_sum", Pow(apart, p)), 1 / p);
  }
  return {y.To(t)};
}
X2IR_TORCH(reduce_l2).From("aten::pairwise_distance.default", PairwiseDistance);

}  // namespace
}  // namespace x2ir
