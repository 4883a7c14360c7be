// ONNX: activation functions, and dropout.
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// --- Dropout before opset 12: the ratio an attribute, and training before 7 alone -----------

constexpr float kDefaultRatio = 0.5f;

absl::StatusOr<Values> FromOldDropout(Rewrite& r) {
  const bool training = r.opset < 7 && r.attrs().Int("is_test", 0) == 0;
  const bool typed_mask = r.opset < 10 && r.node.output(1) != nullptr;
  // Of that type, nothing said what it holds when nothing is dropped.
  if (!training && typed_mask && !r.node.output(1)->is_unused()) {
    return Unimplemented("the mask of Dropout has no meaning before opset 10");
  }
  const Attribute* attr = r.attrs().Find("ratio");
  if (attr && attr->kind() != AttrKind::kFloat) {
    return Invalid("attribute 'ratio': expected float, got ", Name(attr->kind()));
  }
  const float ratio = attr ? *attr->get<float>() : kDefaultRatio;
  std::vector<Value*> operands = {r.in(0), nullptr};
  if (ratio != kDefaultRatio) {
    operands[1] = r.b.Constant(Tensor::Scalar<float>(ratio), "ratio");
  }
  if (training) operands.push_back(r.b.Constant(Tensor::Scalar<bool>(true), "training_mode"));
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  Values results = r.b.Ops("dropout", std::move(operands), {}, wanted);
  if (typed_mask) results[1] = r.b.Op("cast_like", {results[1], r.in(0)});
  return results;
}

absl::StatusOr<Values> ToOldDropout(Rewrite& r) {
  // Runtimes fill older masks with false when nothing is dropped.
  const Value* mask = r.node.output(1);
  if (mask && (r.opset < 10 || !mask->is_unused())) {
    return CannotExpress("the mask of Dropout has a certain meaning from opset 12 on");
  }
  if (r.attrs().Has("seed")) return CannotExpress("a seed can be given from opset 12 on");
  AttributeMap attrs;
  if (r.has(2)) {
    const Tensor* training = r.in(2)->fixed_constant();
    if (!training || training->is_sparse() || training->num_elements() != 1 ||
        training->dtype() != DType::kBool || training->AsInt(0) != 0) {
      return CannotExpress("training mode can be chosen from opset 12 on");
    }
  }
  if (r.has(1)) {
    const Tensor* ratio = r.in(1)->fixed_constant();
    if (!ratio || ratio->is_sparse() || ratio->num_elements() != 1 || !IsFloating(ratio->dtype())) {
      return CannotExpress("operand 'ratio' must be a constant before opset 12");
    }
    // Nothing is dropped, so a rounded ratio changes no result.
    const auto value = static_cast<float>(ratio->AsDouble(0));
    if (value != kDefaultRatio) attrs.Set("ratio", value);
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Node(r.dialect, "Dropout", {r.in(0)}, std::move(attrs), wanted);
}

// Bounds of one element become scalars, which is what ONNX wants.
class ScalarBounds : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    for (const char* name : {"min", "max"}) {
      const Node& node = draft.node();
      Value* bound = node.input(name == std::string_view("min") ? 1 : 2);
      if (!bound || (bound->shape() && bound->shape()->rank() == 0)) continue;
      if (!bound->shape()) continue;  // as the source had it
      draft.TakeOperand(name);
      Builder& b = draft.builder();
      const Tensor* constant = bound->fixed_constant();
      Value* scalar = constant && !constant->is_sparse()
                          ? b.Scalar(constant->dtype(), constant->AsDouble(0), name)
                          : b.Op("reshape", {bound, b.Ints({}, "scalar")});
      X2IR_RETURN_IF_ERROR(draft.SetOperand(name, scalar));
    }
    return absl::OkStatus();
  }
};

}  // namespace

X2IR_ONNX(celu).Is("Celu", Since(12));
X2IR_ONNX(clip)
    .Is("Clip", In(1, 5), OperandAsAttr("min"), OperandAsAttr("max"), InPlaceHint(), ImportOnly())
    .Is("Clip", In(6, 10), OperandAsAttr("min", "min", -kInfinity),
        OperandAsAttr("max", "max", kInfinity), NotOf(DType::kFloat64))
    .Is("Clip", In(11, 11), NotOf(DType::kFloat64), Lens(std::make_shared<ScalarBounds>()))
    .Is("Clip", Since(12), Lens(std::make_shared<ScalarBounds>()));
X2IR_ONNX(dropout)
    .Is("Dropout", In(1, 6), Code{FromOldDropout, nullptr})
    .Is("Dropout", In(7, 11), Code{FromOldDropout, ToOldDropout})
    .Is("Dropout", Since(12));
X2IR_ONNX(elu).Is("Elu", Since(1), InPlaceHint());
X2IR_ONNX(gelu).Is("Gelu", Since(20));
X2IR_ONNX(hard_sigmoid).Is("HardSigmoid", Since(1), InPlaceHint(), NotOf(DType::kFloat64));
X2IR_ONNX(hard_swish).Is("HardSwish", Since(14), NotOf(DType::kFloat64));
X2IR_ONNX(leaky_relu).Is("LeakyRelu", Since(1), InPlaceHint(), NotOf(DType::kFloat64));
X2IR_ONNX(mish).Is("Mish", Since(18));
X2IR_ONNX(prelu)
    .Is("PRelu", In(1, 6), SlopePerChannel(), InPlaceHint(), ImportOnly())
    .Is("PRelu", Since(7), NotOf(DType::kFloat64));
X2IR_ONNX(relu).Is("Relu", Since(1), InPlaceHint());
X2IR_ONNX(selu).Is("Selu", Since(1), InPlaceHint());
X2IR_ONNX(shrink).Is("Shrink", Since(9));
X2IR_ONNX(sigmoid).Is("Sigmoid", Since(1), InPlaceHint());
X2IR_ONNX(softplus).Is("Softplus", Since(1));
X2IR_ONNX(softsign).Is("Softsign", Since(1), NotOf(DType::kFloat64));
X2IR_ONNX(swish).Is("Swish", Since(24));
X2IR_ONNX(thresholded_relu).Is("ThresholdedRelu", Since(10), NotOf(DType::kFloat64));

}  // namespace x2ir
