// Keras, written: activations.
#include <cmath>

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

Value* Activated(KerasWriter& w, const char* name) {
  return w.Layer("Activation", {w.in(0)}, {{"activation", name}});
}

auto ToActivation(const char* name) {
  return [name](KerasWriter& w) -> absl::StatusOr<Value*> {
    X2IR_RETURN_IF_ERROR(w.WantFloats());
    return Activated(w, name);
  };
}

absl::StatusOr<Value*> ToClip(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckElements(w, Elements::kNumbers));
  const Tensor *least = w.Weight(1), *most = w.Weight(2);
  if (IsFloating(w.dtype()) && least && most && least->num_elements() == 1 &&
      most->num_elements() == 1 && least->AsDouble(0) == 0 && most->AsDouble(0) == 6) {
    return Activated(w, "relu6");
  }
  return ClipByBounds(w);
}

absl::StatusOr<Value*> ToElu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const double alpha = w.attrs().Float("alpha");
  if (alpha == 1) return Activated(w, "elu");
  return w.Layer("ELU", {w.in(0)}, {{"alpha", alpha}});
}

absl::StatusOr<Value*> ToLeakyRelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const double slope = w.attrs().Float("alpha");
  return w.Layer("LeakyReLU", {w.in(0)}, {{"negative_slope", slope}});
}

absl::StatusOr<Value*> ToSelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const float alpha = w.attrs().Float("alpha"), gamma = w.attrs().Float("gamma");
  if (std::fabs(alpha - 1.6732632f) > 1e-5f || std::fabs(gamma - 1.0507010f) > 1e-5f) {
    return CannotExpress("an alpha of ", alpha, " and a gamma of ", gamma);
  }
  return Activated(w, "selu");
}

absl::StatusOr<Value*> ToHardSigmoid(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const float alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  if (std::fabs(alpha - 1.0f / 6) < 1e-6f && beta == 0.5f) return Activated(w, "hard_sigmoid");
  Value* x = w.in(0);
  x = w.Op("mul", {x, w.Number(w.dtype(), alpha)});
  x = w.Op("add", {x, w.Number(w.dtype(), beta)});
  return w.Op("clip", {x, w.Number(w.dtype(), 0), w.Number(w.dtype(), 1)});
}

absl::StatusOr<Value*> ToSwish(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (w.attrs().Float("alpha") != 1) return CannotExpress("an alpha that is not 1");
  return Activated(w, "silu");
}

absl::StatusOr<Value*> ToGelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return w.Function(
      "Gelu", {w.in(0)},
      KerasArguments({{"approximate", Json::Bool(w.String("approximate") == "tanh")}}));
}

template <bool kLog>
absl::StatusOr<Value*> ToSoftmax(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank > 1 && axis == rank - 1) return Activated(w, kLog ? "log_softmax" : "softmax");
  return w.Function(kLog ? "LogSoftmax" : "Softmax", {w.in(0)},
                    KerasArguments({{"axis", Json(axis)}}));
}

// x relu6(x + 3) / 6.
absl::StatusOr<Value*> ToHardSwish(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return Activated(w, "hard_silu");
}

absl::StatusOr<Value*> ToPrelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Tensor* slope = w.Weight(1);
  // As a maximum and a minimum where the slopes are no weight of one image.
  if (!slope || slope->rank() + 1 != rank || rank < 2) {
    Value* zero = w.Number(w.dtype(), 0);
    return w.Op("add",
                {w.Op("relu", {w.in(0)}), w.Op("mul", {w.in(1), w.Op("min", {w.in(0), zero})})});
  }
  std::vector<int64_t> shared;
  for (int64_t axis = 1; axis < rank; ++axis) {
    const int64_t size = slope->dim(axis - 1);
    if (size == 1) {
      shared.push_back(axis);
    } else if ((*w.shape())[axis] != Dim(size)) {
      return CannotExpress("slopes of another size than the tensor");
    }
  }
  AttributeMap config;
  if (!shared.empty()) config.Set("shared_axes", shared);
  return w.Layer("PReLU", {w.in(0)}, std::move(config), {w.in(1)}, w.out_type());
}

}  // namespace

X2IR_KERAS(relu).To("Activation", ToActivation("relu"));
X2IR_KERAS(sigmoid).To("Activation", ToActivation("sigmoid"));
X2IR_KERAS(softplus).To("Activation", ToActivation("softplus"));
X2IR_KERAS(softsign).To("Activation", ToActivation("softsign"));
X2IR_KERAS(mish).To("Activation", ToActivation("mish"));
X2IR_KERAS(clip).To("Activation", ToClip);
X2IR_KERAS(elu).To("ELU", ToElu);
X2IR_KERAS(leaky_relu).To("LeakyReLU", ToLeakyRelu);
X2IR_KERAS(selu).To("Activation", ToSelu);
X2IR_KERAS(hard_sigmoid).To("Activation", ToHardSigmoid);
X2IR_KERAS(swish).To("Activation", ToSwish);
X2IR_KERAS(gelu).To("ops.Gelu", ToGelu);
X2IR_KERAS(softmax).To("Activation", ToSoftmax<false>);
X2IR_KERAS(log_softmax).To("Activation", ToSoftmax<true>);
X2IR_KERAS(prelu).To("PReLU", ToPrelu);
X2IR_KERAS(hard_swish).To("Activation", ToHardSwish);
X2IR_KERAS(hardmax).To("ops.OneHot", [](KerasWriter& w) { return HardmaxByOneHot(w); });

}  // namespace x2ir
