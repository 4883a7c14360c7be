// Core ML: activations.
#include <limits>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/coreml/activations.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Expr MilClip(MilArgs& a) {
  const Expr x = a.X();
  const double low = a.Number("alpha"), high = a.Number("beta");
  return x.Op("clip", {x.Number(low), x.Number(high)});
}

Expr MilClampedRelu(MilArgs& a) {
  const double alpha = a.Number("alpha"), beta = a.Number("beta");
  return ClampedRelu(a.X(), alpha, beta);
}

Expr MilGelu(MilArgs& a) { return GeluOfMode(a, a.X(), a.Text("mode")); }

Expr MilPrelu(MilArgs& a) {
  const Expr x = a.X();
  return x.Op("prelu", {OfChannels(a.X("alpha"), x.rank(), 1)});
}

Expr MilRelu6(MilArgs& a) { return a.X().Op("clip", {a.X().Number(0), a.X().Number(6)}); }

Expr MilSoftplus(MilArgs& a) {
  const Expr x = a.X();
  const int64_t rank = x.rank();
  return OfChannels(a.X("alpha"), rank, 1) *
         Expr(x * OfChannels(a.X("beta"), rank, 1)).Op("softplus");
}

Expr MilThresholdedRelu(MilArgs& a) { return ThresholdedRelu(a.X(), a.Number("alpha")); }

absl::StatusOr<Value*> ToClip(MilWriter& w) {
  const auto low = w.has(1) ? MilWriter::NumberOf(w.in(1))
                            : std::optional<double>(-std::numeric_limits<double>::infinity());
  const auto high = w.has(2) ? MilWriter::NumberOf(w.in(2))
                             : std::optional<double>(std::numeric_limits<double>::infinity());
  if (IsFloating(w.dtype()) && low && high && w.has(1) && w.has(2)) {
    return w.Mil("clip", {w.in(0)},
                 {{"alpha", static_cast<float>(*low)}, {"beta", static_cast<float>(*high)}});
  }
  // One of rank 1 would give a scalar an axis.
  const auto limit = [&](size_t i) {
    const Shape *of_x = w.shape(), *own = w.shape(i);
    const bool broadcasts = (of_x && of_x->rank() > 0) || (own && own->rank() == 0);
    return broadcasts ? w.in(i) : w.Reshape(w.in(i), {});
  };
  Value* x = w.in(0);
  if (w.has(1)) x = w.Op("max", {x, limit(1)});
  if (w.has(2)) x = w.Op("min", {x, limit(2)});
  return x == w.in(0) ? w.Op("identity", {x}) : x;
}

absl::StatusOr<Value*> ToPrelu(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Tensor* slope = w.in(1)->fixed_constant();
  if (rank == 4 && slope && !slope->is_sparse() && w.shape()) {
    const Dim channels = (*w.shape())[1];
    const int64_t at = slope->rank() - 3;  // the channels' axis of the slope
    if (channels.is_static() && slope->num_elements() == channels.value() && at >= 0 &&
        slope->dim(at) == channels.value()) {
      return w.Mil("prelu", {w.in(0), w.b().Constant(slope->Reshaped({channels.value()}))});
    }
  }
  const Expr x = w.X();
  return Where(x < 0, x * w.X(1), x).value();
}

absl::StatusOr<Value*> ToSwish(MilWriter& w) {
  const double alpha = w.attrs().Float("alpha", 1);
  if (alpha == 1) return w.Mil("silu", {w.in(0)});
  return (w.X() * Scaled(w.X(), alpha).Op("sigmoid")).value();
}

Value* ToThresholdedRelu(MilWriter& w) {
  return Where(w.X() > w.attrs().Float("alpha"), w.X(), 0.0);
}

Value* ToLogSoftmax(MilWriter& w) {
  // x less the logarithm of the sum of exponentials; none is large without the largest.
  Value* axis = w.Ints({w.Int("axis")});
  const Expr x = w.X() - w.X().Op("reduce_max", {axis}, {{"keepdims", 1}});
  return x - x.Op("reduce_log_sum_exp", {axis}, {{"keepdims", 1}});
}

absl::StatusOr<Value*> ToHardmax(MilWriter& w) { return HardmaxByOneHot(w); }

Value* ToSelu(MilWriter& w) {
  const Expr x = w.X();
  return Scaled(x.Op("elu", {}, {{"alpha", w.Float("alpha")}}), w.Float("gamma"));
}

}  // namespace

X2IR_MIL(clip)
    .To("clip", ToClip)
    .From({{"clip", MilClip}, {"relu6", MilRelu6}, {"clamped_relu", MilClampedRelu}});
X2IR_MIL(elu).Is("elu");
X2IR_MIL(gelu)
    .To("gelu", EnumMap("approximate", "mode", {{"none", "EXACT"}, {"tanh", "TANH_APPROXIMATION"}}))
    .From("gelu", MilGelu);
X2IR_MIL(hard_sigmoid).Is("sigmoid_hard");
X2IR_MIL(leaky_relu).Is("leaky_relu");
X2IR_MIL(log_softmax).To("reduce_log_sum_exp", ToLogSoftmax);
X2IR_MIL(prelu).To("prelu", ToPrelu).From("prelu", MilPrelu);
X2IR_MIL(relu).Is("relu");
X2IR_MIL(sigmoid).Is("sigmoid");
X2IR_MIL(softmax).Is("softmax");
X2IR_MIL(softplus).Is("softplus").From("softplus_parametric", MilSoftplus);
X2IR_MIL(softsign).Is("softsign");
X2IR_MIL(swish).To("silu", ToSwish).From("silu", Fixed("alpha", 1.0f));
X2IR_MIL(thresholded_relu)
    .To("select", ToThresholdedRelu)
    .From("thresholded_relu", MilThresholdedRelu);
X2IR_MIL(hardmax).To("one_hot", ToHardmax);
X2IR_MIL(selu).To("elu", ToSelu);

}  // namespace x2ir
