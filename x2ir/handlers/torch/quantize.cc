// Fake quantization: rounded to the steps of integers, and back.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// x rounded to the steps of integers in [low, high], and back.
Values FakeQuantize(TorchCall& c, Value* x, Value* scale, Value* zero_point, Value* enabled) {
  const int64_t low = c.Int("quant_min"), high = c.Int("quant_max");
  RequireFloat(c, x);
  const auto in = [&](Value* v) { return c.Cast(v, AtLeastFloat32(x->dtype())); };
  const Expr wide = in(x), shift = in(zero_point);
  // PyTorch divides by the scale once.
  const Expr steps = wide * Reciprocal(in(scale));
  const Expr q = Round(steps) + shift;
  const double a = static_cast<double>(low), b = static_cast<double>(high);
  const Expr bounded = q.Op("clip", {q.Number(a), q.Number(b)});
  Expr y = (bounded - shift) * in(scale);
  if (enabled) y = Where(c.Cast(enabled, DType::kBool), y, wide);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = c.Cast(y, x->dtype());
  if (c.wants(1)) {
    if (enabled) return c.Fail(Unimplemented("its mask"));
    values[1] = c.Op("and", {q >= a, q <= b});
  }
  return values;
}

Values FakeQuantizePerTensor(TorchCall& c) {
  Value* x = c.Tensor("self");
  const DType t = AtLeastFloat32(x->dtype());
  return FakeQuantize(c, x, c.Operand("scale", t), c.Operand("zero_point", t),
                      c.OptTensor("fake_quant_enabled"));
}
Values FakeQuantizePerChannel(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("axis", x), rank = c.Rank(x);
  std::vector<int64_t> dims(static_cast<size_t>(std::max<int64_t>(rank, 1)), 1);
  dims[static_cast<size_t>(axis)] = -1;
  return FakeQuantize(c, x, Reshape(c.Tensor("scale"), dims), Reshape(c.Tensor("zero_point"), dims),
                      nullptr);
}
X2IR_TORCH(quantize_linear)
    .From({"aten::fake_quantize_per_tensor_affine.default",
           "aten::fake_quantize_per_tensor_affine_cachemask.default",
           "aten::fake_quantize_per_tensor_affine.tensor_qparams",
           "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default"},
          FakeQuantizePerTensor)
    .From({"aten::fake_quantize_per_channel_affine.default",
           "aten::fake_quantize_per_channel_affine_cachemask.default"},
          FakeQuantizePerChannel);

}  // namespace
}  // namespace x2ir
