// Steps of training, dropout in training, and numbers drawn like another tensor, written as calls.
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

// --- Random numbers -------------------------------------------------------------------------

// A seed of the IR is none of PyTorch's.
auto WriteLike(std::string_view op, Symbol offset, Symbol scale) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (w.attrs().Has("seed")) return CannotExpress("a seed");
    const DType t = w.out_type().dtype();
    const double from = w.Float(offset);
    const double factor = w.Float(scale) - (scale == "high" ? from : 0);
    const Expr x{w, w.Call(op, {{"self", w.in(0)}, {"dtype", t}}, w.out_type())};
    return Shifted(Scaled(x, factor), from);
  };
}
X2IR_TORCH(random_uniform_like)
    .To("aten::rand_like.default", WriteLike("aten::rand_like.default", "low", "high"));
X2IR_TORCH(random_normal_like)
    .To("aten::randn_like.default", WriteLike("aten::randn_like.default", "mean", "scale"));

absl::StatusOr<Value*> WriteMultinomial(TorchWriter& w) {
  if (w.attrs().Has("seed")) return CannotExpress("a seed");
  Value* chances = w.Op("softmax", {w.in(0)}, {{"axis", -1}});
  const Shape* shape = w.out_type().shape();
  Value* drawn =
      w.Call("aten::multinomial.default",
             {{"self", chances}, {"num_samples", w.Int("sample_size")}, {"replacement", true}},
             shape ? Type::Tensor(DType::kInt64, *shape) : Type::Tensor(DType::kInt64));
  return w.Cast(drawn, w.out_type().dtype());
}
X2IR_TORCH(multinomial).To("aten::multinomial.default", WriteMultinomial);

// One that drops nothing has lowerings.
absl::StatusOr<Values> WriteDropout(TorchWriter& w) {
  const auto training = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
  if (!w.has(2) || (training && training->AsInt(0) == 0)) return CannotExpress("no training");
  // A seed of its own would make runs alike; torch.manual_seed does.
  const Expr x{w, w.in(0)};
  const DType fine = AtLeastFloat32(x.dtype());
  const Expr ratio =
      w.has(1) ? Expr{w, OneElement(w, w.in(1))}.To(fine) : Expr{w, w.Number(fine, 0.5)};
  const Shape* shape = x->shape();
  const Expr drawn{w, w.Call("aten::rand_like.default", {{"self", x}, {"dtype", fine}},
                             shape ? Type::Tensor(fine, *shape) : Type::Tensor(fine))};
  Expr kept = drawn >= ratio, grown = (x.To(fine) / (1 - ratio)).To(x.dtype());
  if (!training) {
    const Expr is_training{w, OneElement(w, w.in(2))};
    kept = kept | Not(is_training);
    grown = Where(is_training, grown, x);
  }
  Values values(w.num_outputs(), nullptr);
  if (w.wants(0)) values[0] = Where(kept, grown, 0);
  if (w.wants(1)) values[1] = kept;
  return values;
}
X2IR_TORCH(dropout).To("aten::rand_like.default", WriteDropout);

// --- Steps ----------------------------------------------------------------------------------

// `step` gives, of a variable, its gradient (with what the norm adds) and its states, the new
// variable and the new states.
struct Step {
  Expr rate, count;  // rank 0, of the variables' type
};
using StepFn = Values (*)(TorchWriter& w, const Step& step, const Expr& x, const Expr& g,
                          const std::vector<Expr>& states);

auto WriteSteps(size_t states, StepFn fn) {
  return [=](TorchWriter& w) -> absl::StatusOr<Values> {
    const size_t n = (w.num_inputs() - 2) / (2 + states);
    Values values((1 + states) * n, nullptr);
    for (size_t i = 0; i < n; ++i) {
      const auto operand = [&](size_t k) { return Expr{w, w.in(2 + k * n + i)}; };
      const Expr x = operand(0);
      const Step step = {Expr{w, OneElement(w, w.in(0))}.To(x.dtype()),
                         Expr{w, OneElement(w, w.in(1))}.To(x.dtype())};
      const Expr g = operand(1) + Scaled(x, w.Float("norm_coefficient"));
      std::vector<Expr> old;
      for (size_t k = 0; k < states; ++k) old.push_back(operand(2 + k));
      const Values made = fn(w, step, x, g, old);
      for (size_t k = 0; k <= states; ++k) values[k * n + i] = made[k];
    }
    values.resize(w.num_outputs());
    return values;
  };
}

Values Adagrad(TorchWriter& w, const Step& step, const Expr& x, const Expr& g,
               const std::vector<Expr>& states) {
  const Expr rate = step.rate / (step.count * w.Float("decay_factor") + 1);
  const Expr h = states[0] + g * g;
  return {x - rate * g / (Sqrt(h) + w.Float("epsilon")), h};
}
X2IR_TORCH(adagrad).To("aten::sub.Tensor", WriteSteps(1, Adagrad));

Values Adam(TorchWriter& w, const Step& step, const Expr& x, const Expr& g,
            const std::vector<Expr>& states) {
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  const Expr v = states[0] * alpha + g * (1 - alpha), h = states[1] * beta + g * g * (1 - beta);
  const Expr adjusted = step.rate * Sqrt(1 - Pow(step.rate.Number(beta), step.count)) /
                        (1 - Pow(step.rate.Number(alpha), step.count));
  const Expr rate = Where(step.count > 0, adjusted, step.rate);
  const Expr moved = x - rate * v / (Sqrt(h) + w.Float("epsilon"));
  return {Scaled(moved, 1 - w.Float("norm_coefficient_post")), v, h};
}
X2IR_TORCH(adam).To("aten::sub.Tensor", WriteSteps(2, Adam));

Values Momentum(TorchWriter& w, const Step& step, const Expr& x, const Expr& g,
                const std::vector<Expr>& states) {
  const double alpha = w.Float("alpha");
  const Expr beta = Where(step.count > 0, step.rate.Number(w.Float("beta")), 1);
  const Expr v = states[0] * alpha + beta * g;
  return {x - step.rate * (w.String("mode") == "nesterov" ? g + v * alpha : v), v};
}
X2IR_TORCH(momentum).To("aten::sub.Tensor", WriteSteps(1, Momentum));

}  // namespace
}  // namespace x2ir
