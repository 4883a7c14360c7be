// TensorFlow: derivatives of functions of each element, which models have that go by gradients.
// Each is the derivative times what came back, `dy`; some want the operand x for it, others the
// result y.
#include <numeric>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

using Formula = Expr (*)(TfArgs& a, const Expr& dy, const Expr& v);

// Operands: dy, then x or y; or the other way round.
template <Formula kFormula>
Value* DyFirst(TfArgs& a) {
  return kFormula(a, Expr(a.b(), a.in(0)), Expr(a.b(), a.in(1))).value();
}
template <Formula kFormula>
Value* DyLast(TfArgs& a) {
  return kFormula(a, Expr(a.b(), a.in(1)), Expr(a.b(), a.in(0))).value();
}

// What is infinite times 0 is NaN, as it is in TensorFlow.
Expr Relu(TfArgs&, const Expr& dy, const Expr& x) { return dy * (x > 0.0).To(dy.dtype()); }
Expr Relu6(TfArgs&, const Expr& dy, const Expr& x) {
  return dy * ((x > 0.0) & (x < 6.0)).To(dy.dtype());
}
Expr LeakyRelu(TfArgs& a, const Expr& dy, const Expr& x) {
  return Where(x > 0.0, dy, dy * a.Float("alpha", 0.2f));
}
Expr Elu(TfArgs&, const Expr& dy, const Expr& y) { return Where(y < 0.0, dy * (y + 1.0), dy); }
Expr Selu(TfArgs&, const Expr& dy, const Expr& y) {
  constexpr double kScale = 1.0507009873554804934193, kScaleAlpha = 1.7580993408473768599402;
  return Where(y < 0.0, dy * (y + kScaleAlpha), dy * kScale);
}
Expr Sigmoid(TfArgs&, const Expr& dy, const Expr& y) { return dy * y * (1.0 - y); }
Expr Tanh(TfArgs&, const Expr& dy, const Expr& y) { return dy * (1.0 - y * y); }
Expr Sqrt(TfArgs&, const Expr& dy, const Expr& y) { return dy * 0.5 / y; }
Expr Rsqrt(TfArgs&, const Expr& dy, const Expr& y) { return dy * -0.5 * y * (y * y); }
Expr Reciprocal(TfArgs&, const Expr& dy, const Expr& y) { return -dy * y * y; }
Expr Softplus(TfArgs&, const Expr& dy, const Expr& x) { return dy / (Exp(-x) + 1.0); }
Expr Softsign(TfArgs&, const Expr& dy, const Expr& x) {
  const Expr size = Abs(x) + 1.0;
  return dy / (size * size);
}

// The sum over everything but the channels.
absl::StatusOr<Value*> BiasAddGrad(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 2) return Invalid("expected rank 2 or more, got ", rank);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + layout.ChannelAxis(rank));
  return Reduce(a.in(0), "reduce_sum", axes);
}

}  // namespace

X2IR_TF(mul).From({{"ReluGrad", DyFirst<Relu>},
                   {"Relu6Grad", DyFirst<Relu6>},
                   {"SigmoidGrad", DyLast<Sigmoid>},
                   {"TanhGrad", DyLast<Tanh>},
                   {"RsqrtGrad", DyLast<Rsqrt>},
                   {"InvGrad", DyLast<Reciprocal>},
                   {"ReciprocalGrad", DyLast<Reciprocal>}});
X2IR_TF(div).From({{"SqrtGrad", DyLast<Sqrt>},
                   {"SoftplusGrad", DyFirst<Softplus>},
                   {"SoftsignGrad", DyFirst<Softsign>}});
X2IR_TF(where).From({{"LeakyReluGrad", DyFirst<LeakyRelu>},
                     {"EluGrad", DyFirst<Elu>},
                     {"SeluGrad", DyFirst<Selu>}});
X2IR_TF(reduce_sum).From("BiasAddGrad", BiasAddGrad);

}  // namespace x2ir
