// Activations written as calls.
#include <algorithm>

#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

X2IR_TORCH(relu).To("aten::relu.default");

// PyTorch's constants are the usual ones.
Value* WriteSelu(TorchWriter& w) {
  if (w.Float("alpha") == 1.6732632423543772f && w.Float("gamma") == 1.0507009873554805f) {
    return w.Call("aten::selu.default", {{"self", w.in(0)}});
  }
  Value* x = w.Op("elu", {w.in(0)}, {{"alpha", static_cast<float>(w.Float("alpha"))}});
  return w.Op("mul", {x, w.Number(w.dtype(), w.Float("gamma"))});
}
X2IR_TORCH(selu).To("aten::selu.default", WriteSelu);
X2IR_TORCH(gelu).To("aten::gelu.default", {"approximate"});
X2IR_TORCH(leaky_relu).To("aten::leaky_relu.default", {{"alpha", "negative_slope"}});
X2IR_TORCH(elu).To("aten::elu.default", {"alpha"});

absl::StatusOr<Value*> WriteCelu(TorchWriter& w) {
  if (w.Float("alpha") == 0) return CannotExpress("alpha 0, which PyTorch refuses");
  return w.Call("aten::celu.default", {{"self", w.in(0)}, {"alpha", w.Float("alpha")}});
}
X2IR_TORCH(celu).To("aten::celu.default", WriteCelu);
X2IR_TORCH(swish).To("aten::silu.default");

Value* WriteHardSigmoid(TorchWriter& w) {
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  if (alpha == 1.0f / 6 && beta == 0.5)
    return w.Call("aten::hardsigmoid.default", {{"self", w.in(0)}});
  const DType t = w.dtype();
  Value* line = w.Op("add", {w.Op("mul", {w.in(0), w.Number(t, alpha)}), w.Number(t, beta)});
  return w.Call("aten::clamp.default", {{"self", line}, {"min", 0}, {"max", 1}});
}
X2IR_TORCH(hard_sigmoid).To("aten::hardsigmoid.default", WriteHardSigmoid);

// Over the threshold PyTorch gives x itself, which must be no other number.
Value* WriteSoftplus(TorchWriter& w) {
  return w.Call("aten::softplus.default",
                {{"self", w.in(0)},
                 {"beta", 1.0},
                 {"threshold", w.dtype() == DType::kFloat64 ? 40.0 : 20.0}});
}
X2IR_TORCH(softplus).To("aten::softplus.default", WriteSoftplus);

Value* WriteSoftsign(TorchWriter& w) {
  Value* x = w.in(0);
  return w.Call("aten::div.Tensor",
                {{"self", x}, {"other", w.Op("add", {w.Op("abs", {x}), w.Number(w.dtype(), 1)})}});
}
X2IR_TORCH(softsign).To("aten::div.Tensor", WriteSoftsign);

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
X2IR_TORCH(prelu).To("aten::prelu.default", WritePRelu);

X2IR_TORCH(softmax).To("aten::softmax.int", {{"axis", "dim"}});
X2IR_TORCH(log_softmax).To("aten::log_softmax.int", {{"axis", "dim"}});

}  // namespace
}  // namespace x2ir
