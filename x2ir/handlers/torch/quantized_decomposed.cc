// Operators of the library quantized_decomposed: integers that represent floats, with the scale and
// the zero point as operands of each call. One scale for a tensor or for each channel, and groups
// of a channel, are IR's own ops; a scale for each token is arithmetic, which no runtime has a
// kernel for.
#include <algorithm>
#include <limits>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/quantize.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Arguments ----------------------------------------------------------------------------------

// A Python number, or a tensor of one element as it is.
Expr NumberOrTensor(TorchCall& c, std::string_view name, DType of_number) {
  return c.HasAttr(name) ? c.Operand(name, of_number) : OneElement(c.Tensor(name));
}

int64_t KnownBound(TorchCall& c, std::string_view name) {
  if (c.HasAttr(name)) return c.Int(name);
  const auto known = KnownInts(c.Tensor(name));
  if (known && known->size() == 1) return (*known)[0];
  c.Fail(Unimplemented("argument '", name, "' must be known, but is computed"));
  return 0;
}

// quant_min, quant_max and dtype.
IntegerRange TakeRange(TorchCall& c) {
  const DType t = c.Dtype("dtype", c.out_dtype());
  if (!IsInteger(t)) c.Fail(Unimplemented("quantization to ", Name(t)));
  return {t, KnownBound(c, "quant_min"), KnownBound(c, "quant_max")};
}
// Of integers these say what is known already.
void IgnoreRange(TorchCall& c) { c.Ignore({"quant_min", "quant_max", "dtype"}); }

// What is quantized, as float32.
Expr TakeFloats(TorchCall& c) {
  const Expr x = c.Tensor("input");
  if (!IsFloating(x.dtype()) || BitWidth(x.dtype()) < 16 || BitWidth(x.dtype()) > 32) {
    c.Fail(Unimplemented("quantization of ", Name(x.dtype())));
  }
  return x.To(DType::kFloat32);
}
Expr TakeIntegers(TorchCall& c) {
  const Expr q = c.Tensor("input");
  if (!IsInteger(q.dtype())) c.Fail(Unimplemented("dequantization of ", Name(q.dtype())));
  return q;
}

// PyTorch subtracts zero points in the integer type that both are promoted to.
void RequireNoWrap(TorchCall& c, const Expr& q, const Expr& zero_point) {
  if (!zero_point.value() || !IsInteger(zero_point.dtype())) return;
  const ValueBounds n = RangeOfInteger(q.dtype()), z = BoundsOf(zero_point);
  const ValueBounds range = RangeOfInteger(TorchPromote(q.dtype(), zero_point.dtype()));
  if (!ValueBounds{n.low - z.high, n.high - z.low}.Within(range.low, range.high)) {
    c.Fail(Unimplemented("zero points of ", Name(zero_point.dtype()), " below integers of ",
                         Name(q.dtype()), ": differences wrap around"));
  }
}

// --- One scale, and one for each channel
// ----------------------------------------------------------

QuantizationParams OneOf(TorchCall& c) {
  return {NumberOrTensor(c, "scale", DType::kFloat64),
          NumberOrTensor(c, "zero_point", DType::kInt64)};
}
QuantizationParams OneForEach(TorchCall& c, const Value* x) {
  return {c.Tensor("scales"), Expr(c, c.OptTensor("zero_points")), c.Axis("axis", x)};
}

Values QuantizePerTensor(TorchCall& c) {
  const Expr x = TakeFloats(c);
  return {Quantized(x, OneOf(c), TakeRange(c))};
}
Values QuantizePerChannel(TorchCall& c) {
  Expr x = TakeFloats(c);
  const QuantizationParams steps = OneForEach(c, x);
  // Scales of float64 make it a computation of float64, which constants get.
  if (steps.scale.dtype() == DType::kFloat64 && IsSettled(x)) x = x.To(DType::kFloat64);
  return {Quantized(x, steps, TakeRange(c))};
}

Values DequantizePerTensor(TorchCall& c) {
  const Expr q = TakeIntegers(c);
  IgnoreRange(c);
  const DType to = c.Dtype("out_dtype", DType::kFloat32);
  if (BitWidth(q.dtype()) > 8 && BitWidth(to) < 32) {
    return c.Fail(Unimplemented("from ", Name(q.dtype()), " to ", Name(to)));
  }
  return {Dequantized(q, OneOf(c), to)};
}

// The product is of the scales' type, but for float64, whose digits float32 scales round away.
Expr ProductAs(const Expr& q, const QuantizationParams& steps, DType to) {
  const DType scale = steps.scale.dtype();
  const bool narrow = BitWidth(scale) < BitWidth(to);
  return Dequantized(q, steps, narrow ? scale : to).To(to);
}

Values DequantizePerChannel(TorchCall& c) {
  const Expr q = TakeIntegers(c);
  IgnoreRange(c);
  const QuantizationParams steps = OneForEach(c, q);
  RequireNoWrap(c, q, steps.zero_point);
  return {ProductAs(q, steps, c.Dtype("out_dtype", DType::kFloat32))};
}

Values FakeQuantPerChannel(TorchCall& c) {
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  const QuantizationParams steps{c.Tensor("scales").To(DType::kFloat32),
                                 c.Tensor("zero_points").To(DType::kInt32), c.Axis("axis", x)};
  const IntegerBounds bounds{c.Int("quant_min"), c.Int("quant_max")};
  if (IsSettled(x)) return {FakeQuantized(x, steps, bounds.low, bounds.high)};
  // NaN stays NaN, which no integer is.
  const Expr scale = PlacedAlong(x, steps.scale, steps);
  const Expr zero_point = PlacedAlong(x, steps.zero_point, steps).To(x.dtype());
  const Expr q = Round(x * Reciprocal(scale)) + zero_point;
  const auto low = static_cast<double>(bounds.low), high = static_cast<double>(bounds.high);
  Expr y = Where(q < low, low, q);
  y = Where(q > high, high, y);
  return {(y - zero_point) * scale};
}

// --- A scale for each token, or for each group of a row -----------------------------------------

// Here the zero point is added before the rounding; halves go to what is even then.
Expr RoundedSum(TorchCall& c, const Expr& x, const QuantizationParams& steps,
                const IntegerRange& range) {
  std::vector<Value*> all = {x, steps.scale};
  if (IsFloating(steps.zero_point.dtype())) all.push_back(steps.zero_point);
  const DType t = c.ResultTypeOf(all);
  Expr y = x.To(t) * Reciprocal(PlacedAlong(x, steps.scale, steps)).To(t);
  const ValueBounds bounds = BoundsOf(steps.zero_point);
  if (bounds.low != 0 || bounds.high != 0) {
    y = y + PlacedAlong(x, steps.zero_point, steps).To(t);
  }
  y = Round(y);
  return y
      .Op("clip",
          {y.Number(static_cast<double>(range.low)), y.Number(static_cast<double>(range.high))})
      .To(range.type);
}

Values QuantizePerToken(TorchCall& c) {
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  return {RoundedSum(c, x, {c.Tensor("scales"), c.Tensor("zero_points")}, TakeRange(c))};
}

Values DequantizePerToken(TorchCall& c) {
  const Expr q = TakeIntegers(c);
  IgnoreRange(c);
  const Expr scales = c.Tensor("scales"), zero_points = c.Tensor("zero_points");
  RequireNoWrap(c, q, zero_points);
  const DType to = c.Dtype("output_dtype", c.out_dtype());
  std::vector<Value*> all = {scales};
  if (IsFloating(zero_points.dtype())) all.push_back(zero_points);
  const DType t = c.ResultTypeOf(all);
  return {((q.To(t) - zero_points.To(t)) * scales.To(t)).To(to)};
}

// Scales and zero points of groups of a row: [rows, groups].
QuantizationParams OneForEachGroup(TorchCall& c, const Expr& x) {
  const Dim row = c.Rank(x) == 2 ? DimAt(x, 1) : Dim();
  QuantizationParams steps{c.Tensor("scales"), Expr(c, c.OptTensor("zero_points")), 1,
                           c.Int("group_size", 128)};
  const Dim groups = DimAt(steps.scale, std::max<int64_t>(c.Rank(steps.scale) - 1, 0));
  if (!row.is_static()) c.Fail(Unimplemented("groups of anything but rows of a known size"));
  if (steps.block_size > row.value() && groups == Dim(1)) steps.block_size = row.value();
  if (steps.block_size < 2 || row.value() % steps.block_size != 0) {
    c.Fail(Invalid("group_size = ", steps.block_size, " of rows of ", row.value()));
  }
  const std::vector<int64_t> dims = {-1, row.value() / steps.block_size};
  steps.scale = Reshape(steps.scale, dims);
  if (steps.zero_point.value()) steps.zero_point = Reshape(steps.zero_point, dims);
  return steps;
}

Values QuantizePerChannelGroup(TorchCall& c) {
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  const QuantizationParams steps = OneForEachGroup(c, x);
  const IntegerRange range = TakeRange(c);
  const ValueBounds zero = BoundsOf(steps.zero_point);
  const bool same = zero.low == 0 && zero.high == 0 && x.dtype() == DType::kFloat32 &&
                    steps.scale.dtype() == DType::kFloat32;
  return {same ? Quantized(x, steps, range) : RoundedSum(c, x, steps, range)};
}

Values DequantizePerChannelGroup(TorchCall& c) {
  const Expr q = c.Tensor(c.Has("w_int8") ? "w_int8" : "input");
  if (!IsInteger(q.dtype())) return c.Fail(Unimplemented("dequantization of ", Name(q.dtype())));
  IgnoreRange(c);
  const QuantizationParams steps = OneForEachGroup(c, q);
  RequireNoWrap(c, q, steps.zero_point);
  return {ProductAs(q, steps, c.Dtype("output_dtype", DType::kFloat32))};
}

// --- Scales and zero points of what is there
// ------------------------------------------------------

// A whole number, cut to the bounds, as an integer.
Expr AsZeroPoint(const Expr& number, int64_t low, int64_t high, DType to) {
  return number
      .Op("clip",
          {number.Number(static_cast<double>(low)), number.Number(static_cast<double>(high))})
      .To(to);
}

// One of each, of rank 1: the range's ends have zero between them.
Values ChooseOne(TorchCall& c, bool symmetric) {
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  const DType t = c.Dtype("dtype", DType::kUInt8);
  const int64_t low = KnownBound(c, "quant_min"), high = KnownBound(c, "quant_max");
  const Expr least = Min(Reduce(x, "reduce_min", {}), 0.0);
  const Expr most = Max(Reduce(x, "reduce_max", {}), 0.0);
  const auto steps = static_cast<double>(high - low);
  const auto eps = static_cast<double>(static_cast<float>(c.Float("eps")));
  const auto result = [&](const Expr& v, size_t i, DType fallback) {
    const DType to = c.out_dtype(i) == DType::kUndefined ? fallback : c.out_dtype(i);
    return Unsqueeze(v.To(to), {0});
  };
  const Expr width = symmetric ? Max(-least, most) / (steps / 2) : (most - least) / steps;
  const Expr scale = Max(width.To(DType::kFloat32), eps);
  Expr zero_point = Int(c, symmetric && t == DType::kUInt8 ? 128 : 0);
  if (!symmetric) {
    const Expr from_least = Round(least.To(DType::kFloat32) / scale);
    zero_point = AsZeroPoint(static_cast<double>(low) - from_least, low, high, DType::kInt64);
  }
  return {result(scale, 0, DType::kFloat64), result(zero_point, 1, DType::kInt64)};
}

// One of each for each row of the last axis, whose size is 1 in them.
Values ChoosePerToken(TorchCall& c) {
  constexpr double kLeastScale = 1e-5, kGreatest = 127;
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  if (c.Dtype("dtype", DType::kInt8) != DType::kInt8) {
    return c.Fail(Unimplemented("for other integers than int8"));
  }
  Expr most = Reduce(Abs(x), "reduce_max", {-1}, true);
  if (most.dtype() == DType::kFloat16) most = most.To(DType::kFloat32);
  const Expr scale = Max(most, kLeastScale) / kGreatest;
  const auto as = [&](size_t i, DType fallback) {
    return c.out_dtype(i) == DType::kUndefined ? fallback : c.out_dtype(i);
  };
  // All are zero.
  const Expr zero_point = Expand({c, c.b().Scalar(as(1, DType::kInt64), 0)}, ShapeOf(scale));
  return {scale.To(as(0, DType::kFloat64)), zero_point};
}

Values ChoosePerTokenAsymmetric(TorchCall& c) {
  constexpr double kLow = -128, kHigh = 127;
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  c.Ignore({"dtype"});
  const Expr least = Min(Reduce(x, "reduce_min", {-1}, true), 0.0);
  const Expr most = Max(Reduce(x, "reduce_max", {-1}, true), 0.0);
  const Expr scale = Max((most - least) / (kHigh - kLow), std::numeric_limits<float>::epsilon());
  const Expr from = least / scale, to = most / scale;
  // From the side that is rounded less.
  const Expr zero_point = Where((kLow + from) + (kHigh + to) > 0.0, kLow - from, kHigh - to);
  const Expr bounded = zero_point.Op("clip", {zero_point.Number(kLow), zero_point.Number(kHigh)});
  return {scale.To(DType::kFloat64), Round(bounded).To(DType::kInt64)};
}

}  // namespace

X2IR_TORCH(quantize_linear)
    .From({"quantized_decomposed::quantize_per_tensor.default",
           "quantized_decomposed::quantize_per_tensor.tensor",
           "quantized_decomposed::quantize_per_tensor.tensor2"},
          QuantizePerTensor)
    .From("quantized_decomposed::quantize_per_channel.default", QuantizePerChannel)
    .From("quantized_decomposed::quantize_per_token.default", QuantizePerToken)
    .From("quantized_decomposed::quantize_per_channel_group.default", QuantizePerChannelGroup)
    .From("quantized_decomposed::fake_quant_per_channel.default", FakeQuantPerChannel);
X2IR_TORCH(dequantize_linear)
    .From({"quantized_decomposed::dequantize_per_tensor.default",
           "quantized_decomposed::dequantize_per_tensor.tensor",
           "quantized_decomposed::dequantize_per_tensor.tensor2"},
          DequantizePerTensor)
    .From("quantized_decomposed::dequantize_per_channel.default", DequantizePerChannel)
    .From("quantized_decomposed::dequantize_per_token.default", DequantizePerToken)
    .From("quantized_decomposed::dequantize_per_channel_group.default", DequantizePerChannelGroup);
X2IR_TORCH(reduce_max)
    .From("quantized_decomposed::choose_qparams.tensor",
          [](TorchCall& c) { return ChooseOne(c, false); })
    .From("quantized_decomposed::choose_qparams_symmetric.tensor",
          [](TorchCall& c) { return ChooseOne(c, true); })
    .From("quantized_decomposed::choose_qparams_per_token.default", ChoosePerToken)
    .From({"quantized_decomposed::choose_qparams_per_token_asymmetric.default",
           "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl.default"},
          ChoosePerTokenAsymmetric);
X2IR_TORCH(cast).From("quantized_decomposed::convert_element_type.no_fuse", [](TorchCall& c) {
  return Values{c.Tensor("input").To(c.Dtype("dtype", c.out_dtype())).Op("identity")};
});

}  // namespace x2ir
