// softmax and log_softmax.

#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// Along an axis; a tensor of rank 0 is one element along axis 0.
Values AlongAxisCall(TorchCall& c, Symbol ir) {
  const DType t = c.out_dtype();
  c.Ignore({"dtype", "half_to_float"});
  Value* x = c.Operand("self", t);
  if (c.Rank(x) == 0) {
    c.Axis("dim", x);
    return {Squeeze(c.Op(ir, {Unsqueeze({c, x}, {0})}, {{"axis", 0}}), {0})};
  }
  return {c.Op(ir, {x}, {{"axis", c.Axis("dim", x)}})};
}

// Zeros where all along the axis is -inf, where softmax gives NaN.
Values SafeSoftmax(TorchCall& c) {
  const DType t = c.out_dtype();
  const Values values = AlongAxisCall(c, "softmax");
  if (values.empty() || !values[0] || !IsFloating(c.Tensor("self").dtype())) return values;
  const Expr x = c.Operand("self", t);
  const Expr lowest = x == -std::numeric_limits<double>::infinity();
  const bool number = x.rank() == 0;
  const Expr masked =
      number ? lowest : All(lowest, {c.NormalAxis(c.Int("dim"), x.rank())}, /*keepdims=*/true);
  return {Where(masked, x.Number(0), Expr(c, values[0]))};
}

// The gradient of the operand from that of the result y: y g - y sum(y g) of softmax, and
// g - exp(y) sum(g) of log_softmax.
TorchHandler SoftmaxBackward(bool log) {
  return [log](TorchCall& c) -> Values {
    const Expr gradient = c.Tensor("grad_output"), result = c.Tensor("output");
    const DType t = gradient.dtype(), computed = AtLeastFloat32(t);
    RequireFloat(c, gradient);
    if (result.dtype() != t || c.Dtype("input_dtype", t) != t) {
      return c.Fail(Unimplemented("of different element types"));
    }
    const int64_t axis = c.Axis("dim", gradient);
    const auto sum = [&](const Expr& x) { return x.rank() == 0 ? x : Sum(x, axis, true); };
    const Expr g = gradient.To(computed), y = result.To(computed);
    if (log) return {(g - Exp(y) * sum(g)).To(t)};
    return {(y * g - y * sum(y * g)).To(t)};
  };
}

X2IR_TORCH(softmax)
    .From({"aten::softmax.int", "aten::_softmax.default", "aten::special_softmax.int"},
          [](TorchCall& c) { return AlongAxisCall(c, "softmax"); })
    .From("aten::_safe_softmax.default", SafeSoftmax)
    .From("aten::_softmax_backward_data.default", SoftmaxBackward(false));
X2IR_TORCH(log_softmax)
    .From({"aten::log_softmax.int", "aten::_log_softmax.default", "aten::special_log_softmax.int"},
          [](TorchCall& c) { return AlongAxisCall(c, "log_softmax"); })
    .From("aten::_log_softmax_backward_data.default", SoftmaxBackward(true));

absl::StatusOr<Value*> WriteHardmax(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.shape() && (*w.shape())[axis] == Dim(0)) return CannotExpress("the largest of nothing");
  Value* x = w.in(0);
  Value* first = w.Op("arg_max", {x}, {{"axis", axis}, {"keepdims", 1}});
  Value* zeros = w.Call("aten::zeros_like.default", {{"self", x}}, x->type());
  return w.Call("aten::scatter.value",
                {{"self", zeros}, {"dim", axis}, {"index", first}, {"value", 1}});
}

}  // namespace

X2IR_TORCH(softmax).To("aten::softmax.int", {{"axis", "dim"}});
X2IR_TORCH(log_softmax).To("aten::log_softmax.int", {{"axis", "dim"}});
X2IR_TORCH(hardmax).To("aten::scatter.value", WriteHardmax);

}  // namespace x2ir
