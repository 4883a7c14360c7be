// OneFlow: observers, which find the step of quantized numbers, and quantization with it.
// https://oneflow.readthedocs.io/en/v0.8.1/nn.html#quantization-aware-training
#include <cmath>
#include <numbers>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

struct Scheme {
  bool cambricon;  // steps are powers of 2, of which the exponent is given
  bool affine;     // integers without a sign, and one that is 0
  int64_t low, high;
};
Scheme TakeScheme(OneflowArgs& a) {
  const std::string formula = a.String("quantization_formula");
  const std::string scheme = a.String("quantization_scheme");
  const int64_t bits = a.Int("quantization_bit");
  a.Require(formula == "google" || formula == "cambricon", StrCat("formula ", formula));
  a.Require(scheme == "symmetric" || scheme == "affine", StrCat("scheme ", scheme));
  a.Require(bits >= 2 && bits <= 8, StrCat(bits, " bits"));
  const int64_t half = int64_t{1} << (bits - 1);
  Scheme s{formula == "cambricon", formula == "google" && scheme == "affine", -half, half - 1};
  if (s.cambricon) s.low = -s.high;
  if (s.affine) s.low = 0, s.high = 2 * half - 1;
  return s;
}

// The scale and zero point of numbers from `low` to `high`.
Values StepOf(OneflowArgs& a, const Scheme& scheme, const Expr& low, const Expr& high,
              const Expr& greatest, int64_t bits) {
  if (scheme.cambricon) {
    const Expr exponent =
        Floor(Log(greatest) * (1 / std::numbers::ln2)) - static_cast<double>(bits - 2);
    return {exponent, exponent * 0.0};
  }
  if (!scheme.affine) {
    const Expr step = greatest / static_cast<double>(scheme.high);
    return {step, Expand(step.Number(0), ShapeOf(step))};
  }
  const Expr step = (high - low) / static_cast<double>(scheme.high);
  (void)a;
  return {step, -Round(low / step)};
}

// Of the operand's own numbers: all, or those of each index of axis 0.
Values MinMaxObserver(OneflowArgs& a) {
  const int64_t bits = a.Int("quantization_bit");
  const Scheme scheme = TakeScheme(a);
  const bool per_layer = a.Bool("per_layer_quantization") || scheme.cambricon;
  const Expr x = a.in(0);
  Expr flat = per_layer ? Reshape(x, {1, -1}) : x;
  if (!per_layer) {
    const Dim channels = DimAt(x, 0);
    a.Require(channels.is_static(), "an unknown number of channels");
    flat = Reshape(x, {channels.value(), -1});
  }
  const Expr low = Reduce(flat, "reduce_min", {1}), high = Reduce(flat, "reduce_max", {1});
  return StepOf(a, scheme, low, high, Reduce(Abs(flat), "reduce_max", {1}), bits);
}

// Of the bounds that training has left.
Values MovingAverageObserver(OneflowArgs& a) {
  const int64_t bits = a.Int("quantization_bit");
  const Scheme scheme = TakeScheme(a);
  a.Require(!a.Bool("training"), "an observer that is trained");
  a.Ignore("momentum");
  a.Ignore("stop_update_after_iters");
  const Expr high = Reshape(a.in(2), {-1}), low = Reshape(a.in(3), {-1});
  return StepOf(a, scheme, low, high, high, bits);
}

// One for all, or one for each index of axis 0.
QuantizationParams StepsOf(OneflowArgs& a, const Scheme& scheme) {
  const Shape* sizes = a.shape(1);
  a.Require(sizes && sizes->NumElements().is_static(), "an unknown number of steps");
  const int64_t count = sizes->NumElements().value();
  const auto placed = [&](const Expr& v) {
    return Reshape(v, count == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{-1});
  };
  Expr scale = placed(a.in(1));
  if (scheme.cambricon) scale = Pow(2.0, scale);
  QuantizationParams steps{scale, nullptr};
  if (scheme.affine) steps.zero_point = placed(Round(a.in(2)).To(DType::kUInt8));
  if (count != 1) steps.axis = 0;
  return steps;
}
Value* FakeQuantization(OneflowArgs& a) {
  const Scheme scheme = TakeScheme(a);
  return FakeQuantized(a.in(0), StepsOf(a, scheme), scheme.low, scheme.high);
}
// The integers, as floats.
Value* Quantization(OneflowArgs& a) {
  const Scheme scheme = TakeScheme(a);
  const IntegerRange range{scheme.affine ? DType::kUInt8 : DType::kInt8, scheme.low, scheme.high};
  return Quantized(a.in(0), StepsOf(a, scheme), range).To(a.dtype());
}

// --- Writing ------------------------------------------------------------------------------------

// A step or zero as floats, along the axis.
absl::StatusOr<Value*> FloatsAlongAxis(OneflowWriter& w, Value* v) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t of_steps, w.RankOf(v));
  Value* floats = w.Cast(v, w.dtype(1));
  if (of_steps == 0) return floats;
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, w.Sizes(v->type()));
  if (of_steps != 1) return CannotExpress("steps of blocks");
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  if (sizes[0] != 1) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    dims[static_cast<size_t>(axis)] = sizes[0];
  }
  return w.Reshape(floats, dims);
}
absl::StatusOr<Value*> ToDequantized(OneflowWriter& w) {
  if (w.Int("block_size") != 0) return CannotExpress("steps of blocks");
  X2IR_ASSIGN_OR_RETURN(Value * scale, FloatsAlongAxis(w, w.in(1)));
  Value* x = w.Cast(w.in(0), w.dtype(1));
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(Value * zero, FloatsAlongAxis(w, w.in(2)));
    x = w.Op("sub", {x, zero});
  }
  return w.Cast(w.Op("mul", {x, scale}), w.out_type().dtype());
}
absl::StatusOr<Value*> ToQuantized(OneflowWriter& w) {
  const DType to = w.out_type().dtype();
  if (w.Int("block_size") != 0) return CannotExpress("steps of blocks");
  if ((to != DType::kInt8 && to != DType::kUInt8) || w.dtype() != w.dtype(1)) {
    return CannotExpress("quantized numbers of ", Name(to));
  }
  X2IR_ASSIGN_OR_RETURN(Value * scale, FloatsAlongAxis(w, w.in(1)));
  Value* x = w.Op("round", {w.Op("div", {w.in(0), scale})});
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(Value * zero, FloatsAlongAxis(w, w.in(2)));
    x = w.Op("add", {x, zero});
  }
  const ValueBounds bounds = RangeOfInteger(to);
  const DType t = w.dtype();
  return w.Cast(w.Op("clip", {x, w.Number(t, bounds.low), w.Number(t, bounds.high)}), to);
}

}  // namespace

X2IR_ONEFLOW(dequantize_linear).To("broadcast_mul", ToDequantized);
X2IR_ONEFLOW(div).From({{"min_max_observer", MinMaxObserver},
                        {"moving_average_min_max_observer", MovingAverageObserver}});
X2IR_ONEFLOW(quantize_linear)
    .To("clip_by_scalar", ToQuantized)
    .From({{"fake_quantization", FakeQuantization}, {"quantization", Quantization}});

}  // namespace x2ir
