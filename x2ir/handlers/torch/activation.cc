// Activations.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// f(x) computed as PyTorch does: halves in float32, rounded once.
template <typename F>
TorchHandler Formula(F f) {
  return [f](TorchCall& c) -> Values {
    const Expr self = c.Tensor("self");
    RequireFloat(c, self);
    const DType t = self.dtype();
    return {f(c, self.To(AtLeastFloat32(t))).To(t)};
  };
}

double Real(TorchCall& c, std::string_view name, double fallback) {
  const std::optional<TorchNumber> number = c.OptNumber(name);
  return number ? number->real() : fallback;
}

// --- Those that are one op ------------------------------------------------------------------

Values Gelu(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireFloat(c, self);
  return {c.Op("gelu", {self}, {{"approximate", c.String("approximate", "none")}})};
}

X2IR_TORCH(gelu).From("aten::gelu.default", Gelu);

Values Silu(TorchCall& c) {
  const Expr self = c.Tensor("self");
  if (IsComplex(self.dtype())) return {ComplexOf(SwishOf(PartsOf(self)))};
  RequireFloat(c, self);
  return {c.Op("swish", {self}, {{"alpha", 1.0f}})};
}

X2IR_TORCH(swish).From("aten::silu.default", Silu);

// Of an attribute that is a float32: a formula where that is not enough.
Values LeakyRelu(TorchCall& c) {
  const Expr self = c.Tensor("self");
  RequireFloat(c, self);
  const double slope = Real(c, "negative_slope", 0.01);
  if (FitsAttribute(self->dtype(), slope)) {
    return {c.Op("leaky_relu", {self}, {{"alpha", static_cast<float>(slope)}})};
  }
  return {Where(self > 0, self, Scaled(self, slope))};
}

X2IR_TORCH(leaky_relu).From("aten::leaky_relu.default", LeakyRelu);

// max(x, 0) scale + min(alpha (exp(input_scale x) - 1), 0) scale
Expr EluOf(const Expr& x, double alpha, double scale, double input_scale) {
  const Expr inner = Scaled(x, input_scale);
  const Expr negative = Scaled(Exp(inner) - 1, alpha * scale);
  return Where(x <= 0, negative, Scaled(x, scale));
}

Values Elu(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireFloat(c, self);
  const double alpha = c.Number("alpha", 1).real(), scale = c.Number("scale", 1).real();
  const double input_scale = c.Number("input_scale", 1).real();
  if (scale == 1 && input_scale == 1 && FitsAttribute(self->dtype(), alpha)) {
    return {c.Op("elu", {self}, {{"alpha", static_cast<float>(alpha)}})};
  }
  const Expr wide = c.Cast(self, AtLeastFloat32(self->dtype()));
  return {EluOf(wide, alpha, scale, input_scale).To(self->dtype())};
}

X2IR_TORCH(elu).From("aten::elu.default", Elu);

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

Values Selu(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireFloat(c, self);
  if (self->dtype() != DType::kFloat64) return {c.Op("selu", {self})};
  return {EluOf({c, self}, kSeluAlpha, kSeluScale, 1)};
}

X2IR_TORCH(selu).From("aten::selu.default", Selu);

Values Celu(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireFloat(c, self);
  const double alpha = c.Number("alpha", 1).real();
  if (alpha == 0) return c.Fail(Invalid("alpha must not be 0"));
  if (FitsAttribute(self->dtype(), alpha)) {
    return {c.Op("celu", {self}, {{"alpha", static_cast<float>(alpha)}})};
  }
  return {EluOf({c, self}, alpha, 1, 1 / alpha)};
}

X2IR_TORCH(celu).From("aten::celu.default", Celu);

Values HardSigmoid(TorchCall& c) {
  const Expr self = c.Tensor("self");
  RequireFloat(c, self);
  if (self.dtype() != DType::kFloat64) {
    return {c.Op("hard_sigmoid", {self}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})};
  }
  const Expr bounded = c.Op("clip", {self + 3, self.Number(0), self.Number(6)});
  return {bounded / 6};
}

X2IR_TORCH(hard_sigmoid).From("aten::hardsigmoid.default", HardSigmoid);

Values Hardtanh(TorchCall& c) {
  Value* self = c.Tensor("self");
  const DType t = self->dtype();
  const TorchNumber low = c.Number("min_val", -1), high = c.Number("max_val", 1);
  return {c.Op("clip", {self, c.Constant(t, low), c.Constant(t, high)})};
}

X2IR_TORCH(clip).From("aten::hardtanh.default", Hardtanh);
X2IR_TORCH(clip).From("aten::relu6.default", [](TorchCall& c) -> Values {
  Value* self = c.Tensor("self");
  return {c.Op("clip", {self, c.Constant(self->dtype(), 0), c.Constant(self->dtype(), 6)})};
});

Values PRelu(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value* weight = c.Tensor("weight");
  RequireFloat(c, self);
  const int64_t rank = c.Rank(self);
  if (c.Rank(weight) == 1) {
    // One slope for all, or one for each channel.
    const auto count = KnownSizes(weight, 0, 1);
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    const bool one = count && (*count)[0] == 1;
    if (!one && rank < 2) return c.Fail(Invalid("slopes of channels that are not there"));
    if (!one) dims[1] = -1;
    weight = Reshape({c, weight}, dims);
  }
  return {c.Op("prelu", {self, c.Cast(weight, self->dtype())})};
}

X2IR_TORCH(prelu).From({"aten::prelu.default", "aten::_prelu_kernel.default"}, PRelu);

Values Glu(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireFloat(c, self);
  const int64_t axis = c.Axis("dim", self, -1);
  if (c.Rank(self) == 0) return c.Fail(Invalid("glu of rank 0"));
  std::vector<Value*> halves =
      c.b().Ops("split", {self, nullptr}, {{"axis", axis}, {"num_outputs", 2}}, 2);
  const DType t = AtLeastFloat32(self->dtype());
  const Expr gate = c.Op("sigmoid", {c.Cast(halves[1], t)});
  return {(c.Cast(halves[0], t) * gate).To(self->dtype())};
}

X2IR_TORCH(sigmoid).From("aten::glu.default", Glu);

// Integers are less widely known to runtimes.
Values Relu(TorchCall& c) {
  Value* self = c.Tensor("self");
  if (IsInteger(self->dtype())) return {c.Op("max", {self, c.Constant(self->dtype(), 0)})};
  return {c.Op("relu", {self})};
}

X2IR_TORCH(relu).From("aten::relu.default", Relu);

// --- Formulas -------------------------------------------------------------------------------

// log(1 + exp(beta x)) / beta, x itself where beta x is over the threshold.
X2IR_TORCH(softplus).From("aten::softplus.default", Formula([](TorchCall& c, const Expr& x) {
                            const double beta = Real(c, "beta", 1),
                                         threshold = Real(c, "threshold", 20);
                            const Expr scaled = Scaled(x, beta), y = scaled.Op("softplus");
                            const Expr part = beta == 1 ? y : y / beta;
                            return Where(scaled > threshold, x, part);
                          }));
X2IR_TORCH(softplus).From({"aten::log_sigmoid.default"},
                          Formula([](TorchCall&, const Expr& x) { return -(-x).Op("softplus"); }));
// NaN stays.
X2IR_TORCH(shrink).From("aten::softshrink.default", Formula([](TorchCall& c, const Expr& x) {
                          const double lambd = Real(c, "lambd", 0.5);
                          const Expr below = Where(x < -lambd, Shifted(x, lambd), x * 0);
                          return Where(x > lambd, lambd == 0 ? x : x - lambd, below);
                        }));
X2IR_TORCH(shrink).From("aten::hardshrink.default", Formula([](TorchCall& c, const Expr& x) {
                          const double lambd = Real(c, "lambd", 0.5);
                          const Expr above = x >= -lambd, below = x <= lambd;
                          return Where(above & below, 0, x);
                        }));

Values Threshold(TorchCall& c) {
  Value* self = c.Tensor("self");
  const DType t = self->dtype();
  Value* threshold = c.Constant(t, c.Number("threshold"));
  Value* value = c.Constant(t, c.Number("value"));
  return {c.Op("where", {c.Op("less_or_equal", {self, threshold}), value, self})};
}

X2IR_TORCH(thresholded_relu).From("aten::threshold.default", Threshold);

Values RRelu(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireFloat(c, self);
  c.Ignore({"noise", "generator"});
  const double lower = Real(c, "lower", 0.125), upper = Real(c, "upper", 1.0 / 3);
  if (c.Bool("training", false)) return c.Fail(Unimplemented("random slopes, in training"));
  const Expr x = c.Cast(self, AtLeastFloat32(self->dtype()));
  return FirstAlone(c, Where(x <= 0, x * ((lower + upper) / 2), x).To(self->dtype()));
}

X2IR_TORCH(leaky_relu)
    .From({"aten::rrelu.default", "aten::rrelu_with_noise.default",
           "aten::rrelu_with_noise_functional.default"},
          RRelu);

// PyTorch's constants are the usual ones.
Value* WriteSelu(TorchWriter& w) {
  if (w.Float("alpha") == 1.6732632423543772f && w.Float("gamma") == 1.0507009873554805f) {
    return w.Call("aten::selu.default", {{"self", w.in(0)}});
  }
  Value* x = w.Op("elu", {w.in(0)}, {{"alpha", static_cast<float>(w.Float("alpha"))}});
  return w.Op("mul", {x, w.Number(w.dtype(), w.Float("gamma"))});
}

absl::StatusOr<Value*> WriteCelu(TorchWriter& w) {
  if (w.Float("alpha") == 0) return CannotExpress("alpha 0, which PyTorch refuses");
  return w.Call("aten::celu.default", {{"self", w.in(0)}, {"alpha", w.Float("alpha")}});
}

Value* WriteHardSigmoid(TorchWriter& w) {
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  if (alpha == 1.0f / 6 && beta == 0.5)
    return w.Call("aten::hardsigmoid.default", {{"self", w.in(0)}});
  const DType t = w.dtype();
  Value* line = w.Op("add", {w.Op("mul", {w.in(0), w.Number(t, alpha)}), w.Number(t, beta)});
  return w.Call("aten::clamp.default", {{"self", line}, {"min", 0}, {"max", 1}});
}

// Over the threshold PyTorch gives x itself, which must be no other number.
Value* WriteSoftplus(TorchWriter& w) {
  return w.Call("aten::softplus.default",
                {{"self", w.in(0)},
                 {"beta", 1.0},
                 {"threshold", w.dtype() == DType::kFloat64 ? 40.0 : 20.0}});
}

Value* WriteSoftsign(TorchWriter& w) {
  Value* x = w.in(0);
  return w.Call("aten::div.Tensor",
                {{"self", x}, {"other", w.Op("add", {w.Op("abs", {x}), w.Number(w.dtype(), 1)})}});
}

// One slope for all or one a channel are PyTorch's; others are spelled out.
Value* WritePRelu(TorchWriter& w) {
  Value *x = w.in(0), *slope = w.in(1);
  const auto dims = slope->shape() ? slope->shape()->Static() : std::nullopt;
  const size_t rank = x->shape() ? static_cast<size_t>(x->shape()->rank()) : 0;
  bool channels = dims && rank >= 1 && dims->size() <= rank;
  int64_t count = 1;
  for (size_t i = 0; channels && i < dims->size(); ++i) {
    const bool channel = rank >= 2 && i + rank - dims->size() == 1;
    channels = (*dims)[i] == 1 || channel;
    count *= (*dims)[i];
  }
  // A count that is not the input's would have to broadcast it.
  if (channels && count != 1) channels = (*x->shape())[1] == Dim(count);
  if (channels) {
    return w.Call("aten::prelu.default", {{"self", x}, {"weight", w.Reshape(slope, {count})}});
  }
  Value* negative = w.Op("less", {x, w.Number(w.dtype(), 0)});
  return w.Op("where", {negative, w.Op("mul", {slope, x}), x});
}

// Bounds that are known are Python numbers.
absl::StatusOr<Value*> WriteClip(TorchWriter& w) {
  const auto known = [&](size_t i) { return !w.has(i) || KnownTensor(*w.in(i)); };
  if (!w.has(1) && !w.has(2)) return w.Op("identity", {w.in(0)});
  TorchArguments arguments = {{"self", w.in(0)}};
  const bool numbers = known(1) && known(2);
  for (const auto& [name, i] : {std::pair("min", 1), {"max", 2}}) {
    if (!w.has(i)) {
      if (i == 1) arguments.emplace_back(name, nullptr);
    } else if (numbers) {
      arguments.emplace_back(name, w.Scalar(w.in(i)));
    } else {
      X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(i));
      arguments.emplace_back(name, rank == 0 ? w.in(i) : w.Reshape(w.in(i), {}));
    }
  }
  return w.Call(numbers ? "aten::clamp.default" : "aten::clamp.Tensor", std::move(arguments));
}

}  // namespace

X2IR_TORCH(hard_swish).Is("aten::hardswish.default");
X2IR_TORCH(mish).Is("aten::mish.default");
X2IR_TORCH(sigmoid).Is("aten::sigmoid.default").From("aten::special_expit.default");
X2IR_TORCH(relu).To("aten::relu.default");
X2IR_TORCH(selu).To("aten::selu.default", WriteSelu);
X2IR_TORCH(gelu).To("aten::gelu.default", {"approximate"});
X2IR_TORCH(leaky_relu).To("aten::leaky_relu.default", {{"alpha", "negative_slope"}});
X2IR_TORCH(elu).To("aten::elu.default", {"alpha"});
X2IR_TORCH(celu).To("aten::celu.default", WriteCelu);
X2IR_TORCH(swish).To("aten::silu.default");
X2IR_TORCH(hard_sigmoid).To("aten::hardsigmoid.default", WriteHardSigmoid);
X2IR_TORCH(softplus).To("aten::softplus.default", WriteSoftplus);
X2IR_TORCH(softsign).To("aten::div.Tensor", WriteSoftsign);
X2IR_TORCH(prelu).To("aten::prelu.default", WritePRelu);
X2IR_TORCH(clip).To("aten::clamp.default", WriteClip);

}  // namespace x2ir
