// OneFlow: activations, softmax, dropout.
#include "x2ir/builder/layers/activation.h"

#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/oneflow/oneflow.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* FastGelu(OneflowArgs& a) { return activation::GeluTanh(a.in(0)); }
Value* FastGeluMul(OneflowArgs& a) { return activation::GeluTanh(a.in(0)) * a.in(1); }
Value* QuickGelu(OneflowArgs& a) { return a.Op("swish", {a.in(0)}, {{"alpha", 1.702f}}); }

Value* ToGelu(OneflowWriter& w) {
  return w.Oneflow(w.String("approximate") == "tanh" ? "fast_gelu" : "gelu", {w.in(0)});
}

absl::StatusOr<Value*> ToSwish(OneflowWriter& w) {
  if (w.Float("alpha") == 1.0f) return w.Oneflow("silu", {w.in(0)});
  if (w.Float("alpha") == 1.702f) return w.Oneflow("quick_gelu", {w.in(0)});
  Value* scaled = w.Op("mul", {w.in(0), w.Number(w.dtype(), w.Float("alpha"))});
  return w.Op("mul", {w.in(0), w.Op("sigmoid", {scaled})});
}

Value* FromSilu(OneflowArgs& a) { return a.Op("swish", {a.in(0)}, {{"alpha", 1.0f}}); }

Value* HardTanh(OneflowArgs& a) {
  const double low = a.Number("min_val"), high = a.Number("max_val");
  return a.Op("clip", {a.in(0), a.in(0).Number(low), a.in(0).Number(high)});
}

// Of integers the integral bounds count.
Value* ClipBounds(OneflowArgs& a, bool has_low, bool has_high) {
  const Expr x = a.in(0);
  const auto bound = [&](Symbol real, Symbol integral) {
    const double number = a.Number(real);
    const int64_t integer = a.Int(integral);
    return IsFloating(x.dtype()) ? x.Number(number) : IntegerOf(a.b(), x.dtype(), integer);
  };
  Value* low = has_low ? bound("floating_min", "integral_min").value() : nullptr;
  Value* high = has_high ? bound("floating_max", "integral_max").value() : nullptr;
  return a.Op("clip", {x, low, high});
}

Value* ClipByScalar(OneflowArgs& a) { return ClipBounds(a, true, true); }
Value* ClipByScalarMin(OneflowArgs& a) { return ClipBounds(a, true, false); }
Value* ClipByScalarMax(OneflowArgs& a) { return ClipBounds(a, false, true); }

absl::StatusOr<Value*> ToClip(OneflowWriter& w) {
  if (w.dtype() == DType::kBool) return CannotExpress("bounds of bools");
  const auto low = OneflowWriter::NumberOf(w.in(1)), high = OneflowWriter::NumberOf(w.in(2));
  if ((w.has(1) && !low) || (w.has(2) && !high)) {
    return ClipByBounds(w);
  }
  if (!low && !high) return w.Op("identity", {w.in(0)});
  AttributeMap attrs;
  const bool real = IsFloating(w.dtype());
  const auto set = [&](std::string_view side, double number) {
    if (real) {
      attrs.Set(StrCat("floating_", side), number);
    } else {
      attrs.Set(StrCat("integral_", side), static_cast<int64_t>(number));
    }
  };
  if (low) set("min", *low);
  if (high) set("max", *high);
  return w.Oneflow(!high  ? "clip_by_scalar_min"
                   : !low ? "clip_by_scalar_max"
                          : "clip_by_scalar",
                   {w.in(0)}, std::move(attrs));
}

Value* FromSoftplus(OneflowArgs& a) {
  const double beta = a.Number("beta"), threshold = a.Number("threshold");
  const Expr x = a.in(0), scaled = Scaled(x, beta);
  const Expr soft = Scaled(a.Op("softplus", {scaled}), 1 / beta);
  return Where(scaled > threshold, x, soft);
}

// Past the threshold the function is its operand, to the last digit or nearly.
Value* ToSoftplus(OneflowWriter& w) {
  return w.Oneflow("softplus", {w.in(0)}, {{"beta", 1.0}, {"threshold", 88.0}});
}

Value* SoftShrink(OneflowArgs& a) {
  const auto alpha = static_cast<float>(a.Number("alpha"));
  return a.Op("shrink", {a.in(0)}, {{"lambd", alpha}, {"bias", alpha}});
}

Value* HardShrink(OneflowArgs& a) {
  const auto lambd = static_cast<float>(a.Number("lambd"));
  return a.Op("shrink", {a.in(0)}, {{"lambd", lambd}, {"bias", 0.0f}});
}

absl::StatusOr<Value*> ToShrink(OneflowWriter& w) {
  const double lambd = w.Float("lambd"), bias = w.Float("bias");
  if (!IsFloating(w.dtype())) return CannotExpress("shrink of integers");
  if (bias == 0) return w.Oneflow("hardshrink", {w.in(0)}, {{"lambd", lambd}});
  if (bias == lambd) return w.Oneflow("softshrink", {w.in(0)}, {{"alpha", lambd}});
  return CannotExpress("a bias that is neither 0 nor lambd");
}

Value* FromThreshold(OneflowArgs& a) {
  const double threshold = a.Number("threshold_val"), value = a.Number("value");
  return Where(a.in(0) <= threshold, value, a.in(0));
}

Value* ToThreshold(OneflowWriter& w) {
  return w.Oneflow("threshold", {w.in(0)},
                   {{"threshold_val", static_cast<double>(w.Float("alpha"))}, {"value", 0.0}});
}

Value* FromHardSigmoid(OneflowArgs& a) {
  return a.Op("hard_sigmoid", {a.in(0)}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
}

absl::StatusOr<Value*> ToHardSigmoid(OneflowWriter& w) {
  const float alpha = w.Float("alpha"), beta = w.Float("beta");
  if (std::fabs(alpha - 1.0f / 6) < 1e-7f && beta == 0.5f) {
    return w.Oneflow("hardsigmoid", {w.in(0)});
  }
  const DType t = w.dtype();
  Value* line = w.Op("mul", {w.in(0), w.Number(t, alpha)});
  line = w.Op("add", {line, w.Number(t, beta)});
  return w.Op("clip", {line, w.Number(t, 0), w.Number(t, 1)});
}

absl::StatusOr<Value*> ToSelu(OneflowWriter& w) {
  if (w.Float("alpha") == 1.6732632f && w.Float("gamma") == 1.050701f) {
    return w.Oneflow("selu", {w.in(0)});
  }
  Value* x = w.Op("elu", {w.in(0)}, {{"alpha", w.Float("alpha")}});
  return w.Op("mul", {x, w.Number(w.dtype(), w.Float("gamma"))});
}

// A slope, or one for each channel (axis 1).
Value* FromPRelu(OneflowArgs& a) {
  const Expr x = a.in(0), alpha = a.in(1);
  const int64_t rank = x.rank();
  const bool channels = alpha.rank() == 1 && rank > 2;
  return a.Op("prelu", {x, channels ? AlongAxis(alpha, 1, rank) : alpha});
}

// A slope for each element but of the batch.
Value* TfPRelu(OneflowArgs& a) { return a.Op("prelu", {a.in(0), a.in(1)}); }

absl::StatusOr<Value*> ToPRelu(OneflowWriter& w) {
  const Shape* slopes = w.shape(1);
  const Shape* x = w.shape(0);
  if (slopes && x && x->rank() > 1) {
    bool channels = slopes->rank() <= x->rank();
    int64_t count = 1;
    for (int64_t i = 0; channels && i < slopes->rank(); ++i) {
      const Dim& dim = (*slopes)[i];
      const bool at_channels = i + x->rank() - slopes->rank() == 1;
      channels = dim.is_static() && (at_channels || dim.value() == 1);
      if (at_channels && channels) count = dim.value();
    }
    if (channels) return w.Oneflow("prelu", {w.in(0), w.Reshape(w.in(1), {count})});
  }
  Value* negative = w.Op("less", {w.in(0), w.Number(w.dtype(), 0)});
  return w.Op("where", {negative, w.Op("mul", {w.in(1), w.in(0)}), w.in(0)});
}

// Along the last axis.
template <typename F>
absl::StatusOr<Value*> AlongLastAxis(OneflowWriter& w, const F& make) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (axis == rank - 1) return make(w.in(0), rank);
  return x2ir::AlongLastAxis(w, axis, rank);
}

absl::StatusOr<Value*> ToSoftmax(OneflowWriter& w) {
  return AlongLastAxis(w, [&](Value* x, int64_t) { return w.Oneflow("softmax", {x}); });
}

absl::StatusOr<Value*> ToLogSoftmax(OneflowWriter& w) {
  return AlongLastAxis(w, [&](Value* x, int64_t) { return w.Oneflow("log_softmax", {x}); });
}

// The mask says where elements stay: all of them, in a network that is not trained.
Values FromDropout(OneflowArgs& a) {
  a.Ignore("rate");
  a.Ignore("seed");
  const Expr x = a.in(0);
  Value* y = a.has(1) ? (x + a.in(1)).value() : a.Op("identity", {x}).value();
  Value* mask = nullptr;
  if (a.wants(1)) {
    mask = Expand({a, a.b().Constant(Tensor::Scalar<bool>(true))}, ShapeOf(x));
  }
  return {y, mask};
}

// Of a network that is not trained.
absl::StatusOr<Values> ToIdentity(OneflowWriter& w) {
  const auto training = w.has(2) ? OneflowWriter::NumberOf(w.in(2)) : std::optional<double>(0);
  if (!training || *training != 0) return CannotExpress("a dropout that is trained");
  Value* mask = nullptr;
  if (w.wants(1)) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.out_type(1)));
    mask = w.Op("expand", {w.b().Constant(Tensor::Scalar<bool>(true)), w.Ints(dims)});
  }
  return Values{w.Oneflow("identity", {w.in(0)}, {}, w.out_type()), mask};
}

Value* FusedBiasAddGelu(OneflowArgs& a) {
  const int64_t rank = a.in(0).rank();
  const Expr bias = AlongAxis(a.in(1), a.AxisOf(a.Int("axis"), rank), rank);
  return a.Op("gelu", {a.in(0) + bias});
}

Value* FusedBiasAddMaskScale(OneflowArgs& a) {
  const int64_t rank = a.in(0).rank();
  const double scale = a.Number("scale");
  a.Ignore("seed");
  const Expr bias = AlongAxis(a.in(1), a.AxisOf(a.Int("axis"), rank), rank);
  const Expr y = Scaled((a.in(0) + bias) * a.in(2).To(a.dtype()), scale);
  return a.has(3) ? y + a.in(3) : y;
}

Expr Softmax(OneflowArgs& a, const Expr& x) { return a.Op("softmax", {x}, {{"axis", -1}}); }

// What the mask does not let through is filled; the rest is scaled.
Expr Masked(OneflowArgs& a, const Expr& x) {
  const double scale = a.Number("scale_value"), fill = a.Number("mask_fill_value");
  const Expr mask = a.in(1);
  return Where(mask.dtype() == DType::kBool ? mask : IsTrue(mask), Scaled(x, scale), fill);
}

Value* ScaleMaskSoftmax(OneflowArgs& a) { return Softmax(a, Masked(a, a.in(0))); }

Values ScaleMaskSoftmaxDropout(OneflowArgs& a) {
  const Expr softmax = Softmax(a, Masked(a, a.in(0)));
  const Expr kept = softmax * a.in(2).To(a.dtype());
  return {Scaled(kept, a.Number("dropout_scale_value")), softmax};
}

Value* ScaleMaskBiasSoftmax(OneflowArgs& a) {
  a.Ignore("inplace");
  const Expr x = Scaled(a.in(0), a.Number("scale")) + a.in(1);
  return Softmax(a, a.has(2) ? x + a.in(2) : x);
}

Values BiasAddScaleMaskSoftmaxDropout(OneflowArgs& a) {
  const double scale = a.Number("scale_value"), fill = a.Number("mask_fill_value");
  const Expr mask = a.in(2);
  const Expr x = Where(mask.dtype() == DType::kBool ? mask : IsTrue(mask),
                       Scaled(a.in(0) + a.in(1), scale), fill);
  const Expr softmax = Softmax(a, x);
  return {Scaled(softmax * a.in(3).To(a.dtype()), a.Number("dropout_scale_value")), softmax};
}

// Above the diagonal the fill value, elsewhere x scaled.
Expr LowerScaled(OneflowArgs& a, double scale, double fill) {
  const Expr x = a.in(0), ones = Expand(x.Number(1), ShapeOf(x));
  const Expr lower = a.Op("trilu", {ones, Int(a, a.Int("diagonal"))}, {{"upper", 0}});
  return Where(IsTrue(lower), Scaled(x, scale), fill);
}

Values TrilScaleSoftmaxMaskScale(OneflowArgs& a) {
  const Expr softmax =
      Softmax(a, LowerScaled(a, a.Number("tril_scale_value"), a.Number("tril_fill_value")));
  return {Scaled(softmax * a.in(1).To(a.dtype()), a.Number("mask_scale_value")), softmax};
}

Value* ScaleTril(OneflowArgs& a) {
  const double real_fill = a.Number("floating_fill_value");
  const double real_scale = a.Number("floating_scale_value");
  const int64_t fill = a.Int("integer_fill_value"), scale = a.Int("integer_scale_value");
  const bool is_real_fill = a.Bool("is_floating_fill_value");
  const bool is_real_scale = a.Bool("is_floating_scale_value");
  return LowerScaled(a, is_real_scale ? real_scale : static_cast<double>(scale),
                     is_real_fill ? real_fill : static_cast<double>(fill));
}

// x w^T + b, of which one half gates the other.
Values FusedGlu(OneflowArgs& a) {
  const bool split = a.Bool("is_split"), has_bias = a.Bool("has_bias");
  const std::string name = a.String("activation");
  const Expr x = a.in(0);
  const auto linear = [&](const Expr& w, size_t bias) {
    Expr y = MatMul(x, SwapLast(w));
    return has_bias && a.has(bias) ? y + a.in(bias) : y;
  };
  Expr hidden = linear(a.in(1), 2), gate = hidden;
  if (split) {
    gate = linear(a.in(3), 4);
  } else {
    const Values halves =
        a.b().Ops("split", {hidden}, {{"axis", -1}, {"num_outputs", 2}}, {true, true});
    hidden = {a, halves[0]};
    gate = {a, halves[1]};
  }
  static constexpr NamedActivation kOwn[] = {
      {"none", ""}, {"fast_gelu", "", activation::GeluTanh}, {"silu", "swish"}};
  const std::optional<Expr> activated = Activated("relu sigmoid gelu", kOwn, name, gate);
  a.Require(activated.has_value(), StrCat("activation ", name));
  a.Require(!a.wants(1) && !a.wants(2), "the products besides");
  return {hidden * *activated};
}

}  // namespace

X2IR_ONEFLOW(celu).Is("celu", Real("alpha"));
X2IR_ONEFLOW(clip)
    .To("clip_by_scalar", ToClip)
    .From({{"clip_by_scalar", ClipByScalar},
           {"clip_by_scalar_min", ClipByScalarMin},
           {"clip_by_scalar_max", ClipByScalarMax},
           {"hardtanh", HardTanh}});
X2IR_ONEFLOW(elu).Is("elu", Real("alpha"));
X2IR_ONEFLOW(gelu)
    .To("gelu", ToGelu)
    .From({{"gelu", Fixed("approximate", "none")},
           {"fast_gelu", FastGelu},
           {"fused_fast_gelu_mul", FastGeluMul},
           {"fused_bias_add_gelu", FusedBiasAddGelu}});
X2IR_ONEFLOW(hard_sigmoid).To("hardsigmoid", ToHardSigmoid).From("hardsigmoid", FromHardSigmoid);
X2IR_ONEFLOW(hard_swish).Is("hardswish");
X2IR_ONEFLOW(leaky_relu).Is("leaky_relu");
X2IR_ONEFLOW(log_softmax)
    .To("log_softmax", ToLogSoftmax)
    .From("log_softmax", Fixed("axis", -1))
    .From("logsoftmax", Fixed("axis", -1));
X2IR_ONEFLOW(mish).Is("mish");
X2IR_ONEFLOW(prelu).To("prelu", ToPRelu).From({{"prelu", FromPRelu}, {"tf_prelu", TfPRelu}});
X2IR_ONEFLOW(relu).Is("relu");
X2IR_ONEFLOW(selu)
    .To("selu", ToSelu)
    .From("selu", Fixed("alpha", 1.6732632f), Fixed("gamma", 1.050701f));
X2IR_ONEFLOW(shrink)
    .To("softshrink", ToShrink)
    .From({{"softshrink", SoftShrink}, {"hardshrink", HardShrink}});
X2IR_ONEFLOW(sigmoid).Is("sigmoid").From("sigmoid_v2");
X2IR_ONEFLOW(softmax)
    .To("softmax", ToSoftmax)
    .From("softmax", Fixed("axis", -1))
    .From({{"fused_scale_mask_softmax", ScaleMaskSoftmax},
           {"fused_scale_mask_softmax_dropout", ScaleMaskSoftmaxDropout},
           {"fused_scale_mask_bias_softmax", ScaleMaskBiasSoftmax},
           {"fused_bias_add_scale_mask_softmax_dropout", BiasAddScaleMaskSoftmaxDropout},
           {"fused_tril_scale_softmax_mask_scale", TrilScaleSoftmaxMaskScale}});
X2IR_ONEFLOW(softplus).To("softplus", ToSoftplus).From("softplus", FromSoftplus);
X2IR_ONEFLOW(softsign).Is("softsign");
X2IR_ONEFLOW(swish).To("silu", ToSwish).From({{"silu", FromSilu}, {"quick_gelu", QuickGelu}});
X2IR_ONEFLOW(thresholded_relu).To("threshold", ToThreshold).From("threshold", FromThreshold);
X2IR_ONEFLOW(trilu).From("fused_scale_tril", ScaleTril);
X2IR_ONEFLOW(mul).From("fused_glu", FusedGlu);
X2IR_ONEFLOW(add).From("fused_bias_add_mask_scale", FusedBiasAddMaskScale);
X2IR_ONEFLOW(identity).From("dropout", FromDropout);
X2IR_ONEFLOW(dropout).To("identity", ToIdentity);

}  // namespace x2ir
