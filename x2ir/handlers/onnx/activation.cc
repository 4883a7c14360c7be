// ONNX: activation functions, and dropout, which is none at inference.
#include <limits>
#include <optional>
#include <string>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr float kMax = std::numeric_limits<float>::max();

// --- Dropout before opset 12: for inference, the ratio an attribute -------------------------

// Before opset 10 the mask had the data's type, and nothing said what it holds when nothing
// is dropped.
absl::Status CheckMask(const Rewrite& r) {
  if (r.opset >= 10 || r.node.output(1) == nullptr) return absl::OkStatus();
  return Unimplemented("the mask of Dropout has no meaning before opset 10");
}

constexpr float kDefaultRatio = 0.5f;

absl::StatusOr<Values> FromOldDropout(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckMask(r));
  for (const auto& [name, value] : r.attrs()) {
    if (name != "ratio") return Invalid("unknown attribute '", name.str(), "'");
    if (value.kind() != AttrKind::kFloat) {
      return Invalid("attribute 'ratio': expected float, got ", Name(value.kind()));
    }
  }
  const auto ratio = static_cast<float>(r.attrs().Float("ratio", kDefaultRatio));
  Value* operand =
      ratio == kDefaultRatio ? nullptr : r.b.Constant(Tensor::Scalar<float>(ratio), "ratio");
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("dropout", {r.in(0), operand}, {}, wanted);
}

absl::StatusOr<Values> ToOldDropout(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckMask(r));
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

}  // namespace

X2IR_ONNX(celu).Is("Celu", Since(12));
X2IR_ONNX(clip)
    .Is("Clip", In(6, 10), OperandAsAttr("min", "min", -kMax), OperandAsAttr("max", "max", kMax))
    .Is("Clip", Since(11));
X2IR_ONNX(dropout)
    .Is("Dropout", In(7, 11), Code{FromOldDropout, ToOldDropout})
    .Is("Dropout", Since(12));
X2IR_ONNX(elu).Is("Elu", Since(6));
X2IR_ONNX(gelu).Is("Gelu", Since(20));
X2IR_ONNX(hard_sigmoid).Is("HardSigmoid", Since(6));
X2IR_ONNX(hard_swish).Is("HardSwish", Since(14));
X2IR_ONNX(leaky_relu).Is("LeakyRelu", Since(6));
X2IR_ONNX(mish).Is("Mish", Since(18));
X2IR_ONNX(prelu).Is("PRelu", Since(7));
X2IR_ONNX(relu).Is("Relu", Since(6));
X2IR_ONNX(selu).Is("Selu", Since(6));
X2IR_ONNX(shrink).Is("Shrink", Since(9));
X2IR_ONNX(sigmoid).Is("Sigmoid", Since(6));
X2IR_ONNX(softplus).Is("Softplus", Since(1));
X2IR_ONNX(softsign).Is("Softsign", Since(1));
X2IR_ONNX(swish).Is("Swish", Since(24));
X2IR_ONNX(thresholded_relu).Is("ThresholdedRelu", Since(10));

}  // namespace x2ir
