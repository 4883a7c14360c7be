// Bilinear forms, distances of rows, fake quantization.
#include <algorithm>
#include <cmath>

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
  TorchMath m(c, ComputeTypeFor(t));
  if (c.Rank(weight) != 3) return c.Fail(Invalid("weight: expected rank 3"));
  const int64_t rank = c.Rank(x1);
  if (rank < 1) return c.Fail(Invalid("input1: expected rank 1 or more"));
  // x1 times [i, o * j], then each of o times x2.
  const std::vector<TorchSize> w = SizesAt(c, weight, 0, 3);
  Value* columns = ReshapeTo(c, c.Transpose(m.In(weight), {1, 0, 2}), {w[1], Times(c, w[0], w[2])});
  std::vector<TorchSize> dims = SizesAt(c, x1, 0, rank - 1);
  dims.push_back(w[0]);
  dims.push_back(w[2]);
  Value* partial = ReshapeTo(c, c.Op("matmul", {m.In(x1), columns}), dims);
  Value* y = c.Squeeze(c.Op("matmul", {partial, c.Unsqueeze(m.In(x2), {rank})}), {rank});
  if (bias) y = m.Add(y, m.In(bias));
  return {c.Cast(y, t)};
}
X2IR_TORCH(matmul).Is("aten::bilinear.default", Bilinear);

DType FloatOf(DType t) { return IsFloating(t) ? t : DType::kFloat32; }

// Each vector by its length, which is at least eps; then the sum of products.
Values CosineSimilarity(TorchCall& c) {
  Value* x1 = c.Tensor("x1");
  Value* x2 = c.Tensor("x2");
  const int64_t dim = c.Int("dim", 1);
  const double eps = c.Float("eps", 1e-8);
  const DType t = FloatOf(TorchPromote(x1->dtype(), x2->dtype()));
  if (IsComplex(t) || t == DType::kUndefined) return c.Fail(Unimplemented("of complex numbers"));
  TorchMath m(c, ComputeTypeFor(t));
  // The axis is that of both, broadcast together, and so are the lengths along it.
  Value* shape = c.Op("shape", {m.Add(m.In(x1), m.In(x2))});
  const bool same = x1->shape() && x2->shape() && *x1->shape() == *x2->shape();
  Value* a = same ? m.In(x1) : c.Op("expand", {m.In(x1), shape});
  Value* b = same ? m.In(x2) : c.Op("expand", {m.In(x2), shape});
  const int64_t rank = c.Rank(a), axis = c.NormalAxis(dim, rank);
  const auto sum = [&](Value* x, bool keepdims) {
    return rank == 0 ? x : m.Reduce("sum", x, {axis}, keepdims);
  };
  const auto unit = [&](Value* x) {
    return m.Div(x, m.Max(m.Un("sqrt", sum(m.Mul(x, x), true)), m.N(eps)));
  };
  return {c.Cast(sum(m.Mul(unit(a), unit(b)), false), t)};
}
X2IR_TORCH(reduce_l2).Is("aten::cosine_similarity.default", CosineSimilarity);

// The p-norm of x1 - x2 + eps over the last axis.
Values PairwiseDistance(TorchCall& c) {
  Value* x1 = c.Tensor("x1");
  Value* x2 = c.Tensor("x2");
  const double p = c.Float("p", 2), eps = c.Float("eps", 1e-6);
  const bool keepdim = c.Bool("keepdim", false);
  const DType t = FloatOf(TorchPromote(x1->dtype(), x2->dtype()));
  if (IsComplex(t) || t == DType::kUndefined) return c.Fail(Unimplemented("of complex numbers"));
  TorchMath m(c, ComputeTypeFor(t));
  Value* apart = m.Un("abs", m.Add(m.Sub(m.In(x1), m.In(x2)), eps));
  const int64_t rank = c.Rank(apart);
  if (rank == 0) return c.Fail(Unimplemented("of numbers"));
  const std::vector<int64_t> axes = {rank - 1};
  Value* y;
  if (std::isinf(p)) {
    y = m.Reduce(p > 0 ? "max" : "min", apart, axes, keepdim);
  } else if (p == 0) {
    Value* some = c.Op("not", {c.Op("equal", {apart, m.N(0)})});
    y = m.Reduce("sum", m.In(some), axes, keepdim);
  } else if (p == 1) {
    y = m.Reduce("sum", apart, axes, keepdim);
  } else if (p == 2) {
    y = m.Reduce("l2", apart, axes, keepdim);
  } else {
    Value* sum = m.Reduce("sum", c.Op("pow", {apart, m.N(p)}), axes, keepdim);
    y = c.Op("pow", {sum, m.N(1 / p)});
  }
  return {c.Cast(y, t)};
}
X2IR_TORCH(reduce_l2).Is("aten::pairwise_distance.default", PairwiseDistance);

// --- Fake quantization ----------------------------------------------------------------------

// x rounded to the steps of integers in [low, high], and back.
Values FakeQuantize(TorchCall& c, Value* x, Value* scale, Value* zero_point, Value* enabled) {
  const int64_t low = c.Int("quant_min"), high = c.Int("quant_max");
  RequireFloat(c, x);
  TorchMath m(c, ComputeTypeFor(x->dtype()));
  Value* wide = m.In(x);
  Value* shift = m.In(zero_point);
  // PyTorch divides by the scale once.
  Value* steps = m.Mul(wide, m.Un("reciprocal", m.In(scale)));
  Value* q = m.Add(m.Un("round", steps), shift);
  const double a = static_cast<double>(low), b = static_cast<double>(high);
  Value* bounded = c.Op("clip", {q, m.N(a), m.N(b)});
  Value* y = m.Mul(m.Sub(bounded, shift), m.In(scale));
  if (enabled) y = m.Where(c.Cast(enabled, DType::kBool), y, wide);
  Values values(c.num_outputs(), nullptr);
  if (Wants(c, 0)) values[0] = c.Cast(y, x->dtype());
  if (Wants(c, 1)) {
    if (enabled) return c.Fail(Unimplemented("its mask"));
    values[1] = c.Op("and", {m.GreaterOrEqual(q, a), m.LessOrEqual(q, b)});
  }
  return values;
}

Values FakeQuantizePerTensor(TorchCall& c) {
  Value* x = c.Tensor("self");
  const DType t = ComputeTypeFor(x->dtype());
  return FakeQuantize(c, x, c.Operand("scale", t), c.Operand("zero_point", t),
                      c.OptTensor("fake_quant_enabled"));
}
Values FakeQuantizePerChannel(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("axis", x), rank = c.Rank(x);
  std::vector<int64_t> dims(static_cast<size_t>(std::max<int64_t>(rank, 1)), 1);
  dims[static_cast<size_t>(axis)] = -1;
  return FakeQuantize(c, x, c.Reshape(c.Tensor("scale"), dims),
                      c.Reshape(c.Tensor("zero_point"), dims), nullptr);
}
X2IR_TORCH(quantize_linear)
    .Is({"aten::fake_quantize_per_tensor_affine.default",
         "aten::fake_quantize_per_tensor_affine_cachemask.default",
         "aten::fake_quantize_per_tensor_affine.tensor_qparams",
         "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default"},
        FakeQuantizePerTensor)
    .Is({"aten::fake_quantize_per_channel_affine.default",
         "aten::fake_quantize_per_channel_affine_cachemask.default"},
        FakeQuantizePerChannel);

}  // namespace
}  // namespace x2ir
