// Fake quantization, as training for integers has it: rounded to the steps of integers, and back.
#include "x2ir/handlers/torch/quantize.h"

#include <algorithm>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {

Values FakeQuantizedCall(TorchCall& c, const Expr& x, const QuantizationParams& steps,
                         const IntegerBounds& bounds, Value* enabled) {
  const std::optional<int64_t> switched = enabled ? SwitchOf(enabled) : 1;
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) {
    Expr y = x;
    if (switched != 0) {
      y = FakeQuantized(x, steps, bounds.low, bounds.high);
      // The kernel of one scale multiplies in float32, whatever x is.
      if (x.dtype() == DType::kFloat64 && !steps.axis) y = y.To(DType::kFloat32).To(x.dtype());
    }
    if (!switched) y = Where(OneElement({c, enabled}).To(DType::kBool), y, x);
    values[0] = switched == 0 ? y.Op("identity") : y;
  }
  if (c.wants(1)) {
    const Expr wide = x.To(AtLeastFloat32(x.dtype()));
    const Expr inverse = Reciprocal(PlacedAlong(wide, steps.scale, steps)).To(wide.dtype());
    const Expr q =
        Round(wide * inverse) + PlacedAlong(wide, steps.zero_point, steps).To(wide.dtype());
    Expr inside = (q >= static_cast<double>(bounds.low)) & (q <= static_cast<double>(bounds.high));
    if (switched != 1) inside = inside | Not(OneElement({c, enabled}).To(DType::kBool));
    values[1] = inside;
  }
  return values;
}

std::optional<int64_t> SwitchOf(const Value* value) {
  const ValueBounds bounds = BoundsOf(value);
  if (bounds.low == 0 && bounds.high == 0) return 0;
  return bounds.low > 0 || bounds.high < 0 ? std::optional<int64_t>(1) : std::nullopt;
}

Expr OneElement(const Expr& x) {
  const Shape* shape = x->shape();
  return shape && shape->rank() == 0 ? x : Reshape(x, {});
}

namespace {

Values FakeQuantizePerTensor(TorchCall& c) {
  const Expr x = c.Tensor("self");
  RequireFloat(c, x);
  const IntegerBounds bounds{c.Int("quant_min"), c.Int("quant_max")};
  // The kernel has the scale as a float32.
  QuantizationParams steps{OneElement(c.Operand("scale", DType::kFloat32)),
                           OneElement(c.Operand("zero_point", DType::kInt32))};
  return FakeQuantizedCall(c, x, steps, bounds, c.OptTensor("fake_quant_enabled"));
}

// Zero points that are floats are added before the rounding.
Values FakeQuantizeByFloats(TorchCall& c, const Expr& x, const QuantizationParams& steps,
                            const IntegerBounds& bounds) {
  const Expr wide = x.To(AtLeastFloat32(x.dtype()));
  const Expr zero_point = PlacedAlong(x, steps.zero_point, steps).To(wide.dtype());
  const Expr scale = PlacedAlong(x, steps.scale, steps).To(wide.dtype());
  const Expr q = Round(wide * Reciprocal(scale) + zero_point);
  const auto low = static_cast<double>(bounds.low), high = static_cast<double>(bounds.high);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) {
    const Expr bounded = Min(Where(q >= low, q, low), high);
    values[0] = ((bounded - zero_point) * scale).To(x.dtype());
  }
  if (c.wants(1)) values[1] = (q >= low) & (q <= high);
  return values;
}

Values FakeQuantizePerChannel(TorchCall& c) {
  const Expr x = c.Tensor("self");
  RequireFloat(c, x);
  const IntegerBounds bounds{c.Int("quant_min"), c.Int("quant_max")};
  const QuantizationParams steps{c.Tensor("scale"), c.Tensor("zero_point"), c.Axis("axis", x)};
  if (IsFloating(steps.zero_point.dtype())) return FakeQuantizeByFloats(c, x, steps, bounds);
  return FakeQuantizedCall(c, x, steps, bounds, nullptr);
}

// Of parameters that are learned: zero points are floats, rounded to the integers.
Values FakeQuantizeLearned(TorchCall& c) {
  const Expr x = c.Tensor("self");
  RequireFloat(c, x);
  c.Ignore({"grad_factor"});
  const IntegerBounds bounds{c.Int("quant_min"), c.Int("quant_max")};
  QuantizationParams steps{c.Tensor("scale"), c.Tensor("zero_point")};
  if (c.Has("axis")) {
    steps.axis = c.Axis("axis", x);
  } else {
    steps.scale = OneElement(steps.scale);
    steps.zero_point = OneElement(steps.zero_point);
  }
  const Expr rounded = Round(steps.zero_point.To(DType::kFloat32));
  steps.zero_point = rounded
                         .Op("clip", {rounded.Number(static_cast<double>(bounds.low)),
                                      rounded.Number(static_cast<double>(bounds.high))})
                         .To(DType::kInt32);
  return FakeQuantizedCall(c, x, steps, bounds, nullptr);
}

}  // namespace

X2IR_TORCH(quantize_linear)
    .From({"aten::fake_quantize_per_tensor_affine.default",
           "aten::fake_quantize_per_tensor_affine_cachemask.default",
           "aten::fake_quantize_per_tensor_affine.tensor_qparams",
           "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default"},
          FakeQuantizePerTensor)
    .From({"aten::fake_quantize_per_channel_affine.default",
           "aten::fake_quantize_per_channel_affine_cachemask.default"},
          FakeQuantizePerChannel)
    .From({"aten::_fake_quantize_learnable_per_tensor_affine.default",
           "aten::_fake_quantize_learnable_per_channel_affine.default"},
          FakeQuantizeLearned);

}  // namespace x2ir
