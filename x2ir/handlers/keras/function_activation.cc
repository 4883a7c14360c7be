// Keras: function_activation.

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

template <bool kLog>
Value* FunctionSoftmax(KerasCall& c) {
  const Expr x = c.Floats("x");
  const auto axes = c.Integers("axis");
  const std::vector<int64_t> over = axes ? c.Axes("axis", x) : std::vector<int64_t>{x.rank() - 1};
  if (x.rank() < 1) c.Fail(Invalid("a softmax of a number"));
  if (over.size() == 1) {
    return x.Op(kLog ? "log_softmax" : "softmax", {}, {{"axis", over[0]}});
  }
  const Expr down = x - Reduce(x, "reduce_max", over, true);
  const Expr sum = Reduce(Exp(down), "reduce_sum", over, true);
  return kLog ? down - Log(sum) : Exp(down) / sum;
}

}  // namespace

X2IR_KERAS_FUNCTION(softmax).From(
    "tf.nn.softmax tf.math.softmax tf.compat.v1.nn.softmax ops.Softmax", "x|logits axis|dim",
    FunctionSoftmax<false>);
X2IR_KERAS_FUNCTION(log_softmax)
    .From("tf.nn.log_softmax tf.math.log_softmax tf.compat.v1.nn.log_softmax ops.LogSoftmax",
          "x|logits axis|dim", FunctionSoftmax<true>);

}  // namespace x2ir
