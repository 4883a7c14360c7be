// Keras: function_elementwise.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

// Where both are left out: the places of what is true.
Value* FunctionWhere(KerasCall& c) {
  const Expr test = c.Tensor("condition");
  if (!c.Given("x") && !c.Given("y")) {
    c.Require(!c.promotes(), "a choice of nothing");
    return c.AsTf("Where", {test});
  }
  const std::vector<Expr> of = c.Matched({"x", "y"});
  const Expr yes = test.dtype() == DType::kBool ? test : IsTrue(test);
  return Select(yes, of[0], of[1]);
}

// Floats go to integers towards zero, and to bools as whether they are not zero.
Expr CastTo(const Expr& x, DType type) {
  if (type == DType::kBool && x.dtype() != DType::kBool) return IsTrue(x);
  return x.dtype() == type ? x.Op("identity") : x.To(type);
}

Value* FunctionCast(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return CastTo(x, c.TypeOf("dtype", x.dtype()));
}

// Whether a step is one of the first `lengths`.
Value* FunctionSequenceMask(KerasCall& c) {
  const Expr lengths = c.Tensor("lengths").To(DType::kInt64);
  const Expr count = c.Given("maxlen") ? c.Sizes("maxlen") : Reduce(lengths, "reduce_max", {});
  const Expr mask = Iota(count) < Unsqueeze(lengths, {-1});
  return CastTo(mask, c.TypeOf("dtype", DType::kBool));
}

}  // namespace

X2IR_KERAS_FUNCTION(where).From("tf.where tf.compat.v1.where ops.Where", "condition x|x1 y|x2",
                                FunctionWhere);
X2IR_KERAS_FUNCTION(cast)
    .From("tf.cast ops.Cast", "x dtype", FunctionCast)
    .From("tf.convert_to_tensor tf.compat.v1.convert_to_tensor ops.ConvertToTensor",
          "x|value dtype", FunctionCast);
X2IR_KERAS_FUNCTION(less).From("tf.sequence_mask", "lengths maxlen dtype", FunctionSequenceMask);

}  // namespace x2ir
