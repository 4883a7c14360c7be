// Dropout outside of training.
#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// Nothing outside of training. What is random there, no two implementations draw alike.
Values Dropout(TorchCall& c) {
  Value* input = c.Tensor(c.Has("self") ? "self" : "input");  // as dropout_ has it
  const double p = c.Float("p");
  const bool train = c.Bool("train", true);
  Values values(c.num_outputs(), nullptr);
  if (train && p != 0) {
    return c.Fail(
        Unimplemented("dropout in training, which is random; export the model in eval()"));
  }
  if (!values.empty()) values[0] = c.Op("identity", {input});
  if (c.wants(1)) {
    values[1] = c.Op("expand", {c.Constant(DType::kBool, 1), c.Op("shape", {input})});
  }
  return values;
}
X2IR_TORCH(dropout).From({"aten::dropout.default", "aten::feature_dropout.default",
                          "aten::alpha_dropout.default", "aten::feature_alpha_dropout.default",
                          "aten::native_dropout.default"},
                         Dropout);

// What was kept, and how it was scaled then, are operands. The scaled mask is rounded to the
// gradient's type, integers being float32 from then on.
Values DropoutBackward(TorchCall& c) {
  const Expr gradient = c.Tensor("grad_output"), mask = c.Tensor("mask");
  const DType t = c.out_dtype();
  RequireReal(gradient);
  RequireReal(mask);
  const Expr kept = mask.To(gradient.dtype()).To(AtLeastFloat32(t)) * c.Float("scale");
  return {gradient.To(t) * kept.To(t)};
}
X2IR_TORCH(dropout).From("aten::native_dropout_backward.default", DropoutBackward);

}  // namespace
}  // namespace x2ir
