// One step of training: adagrad, adam, momentum. Each takes the learning rate r, the number of
// steps made so far t, then all variables x, all gradients g, and the state of each variable; it
// gives the new variables and their new state. The arithmetic is in double.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

constexpr size_t kMaxStates = 2;
constexpr size_t kFirst = 2;  // operand after r and t

// How many variables there are; InvalidArgument when operands and outputs do not add up.
absl::StatusOr<size_t> CountVariables(const Node& node, size_t states) {
  const size_t each = 2 + states;  // x, g and the states
  const size_t tensors = node.num_inputs() < kFirst ? 0 : node.num_inputs() - kFirst;
  if (tensors == 0 || tensors % each != 0) {
    return Invalid("expected r, t and ", each, " tensors for each variable, got ",
                   node.num_inputs(), " operands");
  }
  const size_t variables = tensors / each;
  if (node.num_outputs() > variables * (1 + states)) {  // the last ones may be left out
    return Invalid("expected up to ", variables * (1 + states), " outputs, got ",
                   node.num_outputs());
  }
  return variables;
}

InferFn InferStep(size_t states) {
  return [states](InferContext& ctx) -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const size_t n, CountVariables(ctx.node(), states));
    X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "t"));
    for (size_t v = 0; v < n; ++v) {
      Type type = ctx.type(kFirst + v);
      for (size_t k = 1; k < 2 + states; ++k) {
        X2IR_ASSIGN_OR_RETURN(type, MergeTypes(type, ctx.type(kFirst + k * n + v)));
      }
      for (size_t k = 0; k < 1 + states; ++k) ctx.Set(k * n + v, type);
    }
    return absl::OkStatus();
  };
}

// The only element of r.
absl::StatusOr<double> Rate(const EvalContext& ctx) {
  if (ctx.input(0).num_elements() == 1 && IsFloating(ctx.dtype(0))) {
    return ctx.input(0).AsDouble(0);
  }
  return Invalid("r: expected one float, got ", ctx.input(0).type().ToString());
}

// make(attrs, r, t) gives the step: step(x, g, state) changes the state and gives the new x.
template <typename Make>
EvalFn EvalStep(size_t states, Make make) {
  return [states, make](EvalContext& ctx) -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const size_t n, CountVariables(ctx.node(), states));
    X2IR_ASSIGN_OR_RETURN(const double r, Rate(ctx));
    X2IR_ASSIGN_OR_RETURN(const int64_t t, IntOperand(ctx, 1, "t"));
    X2IR_ASSIGN_OR_RETURN(const auto step, make(ctx.attrs(), r, static_cast<double>(t)));
    for (size_t v = 0; v < n; ++v) {
      const Tensor& variable = ctx.input(kFirst + v);
      std::vector<Numbers<double>> in;
      std::vector<NumbersOut<double>> out;
      for (size_t k = 0; k < 2 + states; ++k) {
        const Tensor& operand = ctx.input(kFirst + k * n + v);
        if (!IsFloating(operand.dtype()) || operand.type() != variable.type()) {
          return Invalid("operand ", kFirst + k * n + v, ": expected a float tensor like ",
                         variable.type().ToString(), ", got ", operand.type().ToString());
        }
        in.emplace_back(operand);
        if (k > 0) out.emplace_back(operand.dtype(), operand.dims());
      }
      for (int64_t i = 0; i < variable.num_elements(); ++i) {
        double state[kMaxStates] = {};
        for (size_t k = 0; k < states; ++k) state[k] = in[2 + k][i];
        out[0][i] = step(in[0][i], in[1][i], state);
        for (size_t k = 0; k < states; ++k) out[1 + k][i] = state[k];
      }
      for (size_t k = 0; k < 1 + states; ++k) ctx.Set(k * n + v, out[k].Finish());
    }
    return absl::OkStatus();
  };
}

auto MakeAdagrad(const AttributeMap& attrs, double r, double t) {
  const double norm = attrs.Float("norm_coefficient"), epsilon = attrs.Float("epsilon");
  const double rate = r / (1 + t * attrs.Float("decay_factor"));
  auto step = [=](double x, double g, double* h) {
    g += norm * x;
    h[0] += g * g;
    return x - rate * g / (std::sqrt(h[0]) + epsilon);
  };
  return absl::StatusOr<decltype(step)>(step);
}

auto MakeAdam(const AttributeMap& attrs, double r, double t) {
  const double norm = attrs.Float("norm_coefficient"), epsilon = attrs.Float("epsilon");
  const double shrink = 1 - attrs.Float("norm_coefficient_post");
  const double alpha = attrs.Float("alpha"), beta = attrs.Float("beta");
  const double rate =
      t > 0 ? r * std::sqrt(1 - portable::pow(beta, t)) / (1 - portable::pow(alpha, t)) : r;
  auto step = [=](double x, double g, double* vh) {
    g += norm * x;
    vh[0] = alpha * vh[0] + (1 - alpha) * g;
    vh[1] = beta * vh[1] + (1 - beta) * g * g;
    return shrink * (x - rate * vh[0] / (std::sqrt(vh[1]) + epsilon));
  };
  return absl::StatusOr<decltype(step)>(step);
}

auto MakeMomentum(const AttributeMap& attrs, double r, double t) {
  const double norm = attrs.Float("norm_coefficient"), alpha = attrs.Float("alpha");
  const double beta = t > 0 ? attrs.Float("beta") : 1;
  const std::string& mode = attrs.String("mode");
  const bool nesterov = mode == "nesterov";
  auto step = [=](double x, double g, double* v) {
    g += norm * x;
    v[0] = alpha * v[0] + beta * g;
    return x - r * (nesterov ? g + alpha * v[0] : v[0]);
  };
  using Result = absl::StatusOr<decltype(step)>;
  if (nesterov || mode == "standard") return Result(step);
  return Result(Invalid("mode: expected standard or nesterov, got '", mode, "'"));
}

X2IR_OP(adagrad)
    .Signature("r, t, inputs+3 -> outputs+")
    .Attrs("decay_factor = 0.0, epsilon = 1e-6, norm_coefficient = 0.0")
    .Functions(InferStep(1), EvalStep(1, MakeAdagrad))
    .Opaque()
    .Doc(
        "A step of Adagrad: operands r, t, all x, all g, all h (the sum of squared gradients); "
        "results all x, all h.")
    .NeedsFloat32(float32_for::kTrains);

X2IR_OP(adam)
    .Signature("r, t, inputs+4 -> outputs+")
    .Attrs(
        "alpha = 0.9, beta = 0.999, epsilon = 1e-6, norm_coefficient = 0.0, norm_coefficient_post "
        "= 0.0")
    .Functions(InferStep(2), EvalStep(2, MakeAdam))
    .Opaque()
    .Doc(
        "A step of Adam: operands r, t, all x, all g, all v (the mean gradient, by alpha), all h "
        "(the mean squared gradient, by beta); results all x, all v, all h.")
    .NeedsFloat32(float32_for::kTrains);

X2IR_OP(momentum)
    .Signature("r, t, inputs+3 -> outputs+")
    .Attrs("alpha: float, beta: float, mode: string, norm_coefficient: float")
    .Functions(InferStep(1), EvalStep(1, MakeMomentum))
    .Opaque()
    .Doc(
        "A step of gradient descent with momentum (mode standard or nesterov): operands r, t, all "
        "x, all g, all v (the momentum); results all x, all v.")
    .NeedsFloat32(float32_for::kTrains);

}  // namespace
}  // namespace x2ir
