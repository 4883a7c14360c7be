// ONNX: quantization, and products of quantized tensors.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/conv_lenses.h"

namespace x2ir {
namespace {

// An element type that may be left out: absent in IR, 0 in ONNX.
class OptionalDTypeLens : public LensImpl {
 public:
  explicit OptionalDTypeLens(std::string_view name) : name_(name) {}
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    const int64_t* number = attr->get<int64_t>();
    if (!number || (*number != 0 && !IsKnownDType(*number))) {
      return Invalid("attribute '", name_, "' = ", attr->ToString(), " is no element type");
    }
    if (*number != 0) draft.SetAttr(name_, Attribute(Name(static_cast<DType>(*number))));
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    const std::string* name = attr->get<std::string>();
    const std::optional<DType> dtype = name ? ParseDType(*name) : std::nullopt;
    if (!dtype) return Invalid("attribute '", name_, "' = ", attr->ToString(), " is no type");
    draft.SetAttr(name_, static_cast<int64_t>(*dtype));
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {name_}; }
  std::vector<std::string> ForeignAttrs() const override { return {name_}; }

 private:
  std::string name_;
};
Lens OptionalDType(std::string_view name) { return std::make_shared<OptionalDTypeLens>(name); }

// Before opset 13 there was one scale for the whole tensor, so no axis.
class OneScaleLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    if (!draft.TakeAttr("axis")) return absl::OkStatus();
    const Value* scale = draft.node().input(1);
    const Shape* shape = scale ? scale->shape() : nullptr;
    if (shape && (shape->rank() == 0 || (shape->rank() == 1 && (*shape)[0] == Dim(1)))) {
      return absl::OkStatus();
    }
    return CannotExpress("the scale must be one number at opset ", draft.opset(),
                         "; from opset 13 on there may be one for each index of an axis");
  }
  std::vector<std::string> IrAttrs() const override { return {"axis"}; }
};
Lens OneScale() { return std::make_shared<OneScaleLens>(); }

// At opsets 19 to 22 x and its scale were of one type.
class ScaleOfXLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value *x = draft.node().input(0), *scale = draft.node().input(1);
    if (x && scale && x->dtype() != scale->dtype()) {
      return CannotExpress("x of ", Name(x->dtype()), " and a scale of ", Name(scale->dtype()),
                           ": opset 23 has that");
    }
    return absl::OkStatus();
  }
};
Lens ScaleOfX() { return std::make_shared<ScaleOfXLens>(); }

// A convolution's weights must have one zero point: ONNX Runtime makes a QLinearConv of them, and
// refuses others only when it runs (to 1.23).
class OneZeroPointLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* point = draft.node().input(2);
    const Tensor* points = point ? point->fixed_constant() : nullptr;
    if (!points || points->num_elements() < 2 || points->is_sparse()) return absl::OkStatus();
    bool one = true;
    for (int64_t i = 1; one && i < points->num_elements(); ++i) {
      one = points->AsInt(i) == points->AsInt(0);
    }
    const Value* result = draft.node().output(0);
    if (one || !result) return absl::OkStatus();
    for (const Use& use : result->uses()) {
      if (use.index == 1 && (use.node->op() == "conv" || use.node->op() == "Conv")) {
        return CannotExpress("zero points of a convolution's weights that differ");
      }
    }
    return absl::OkStatus();
  }
};
Lens OneZeroPoint() { return std::make_shared<OneZeroPointLens>(); }

// IR without an axis has one scale for all, and no blocks; ONNX's axis is 1 where none is given.
class BlocksOfAxisLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    if (!draft.node().attrs().Has("axis")) draft.TakeAttr("block_size");
    return absl::OkStatus();
  }
};
Lens BlocksOfAxis() { return std::make_shared<BlocksOfAxisLens>(); }

}  // namespace

X2IR_ONNX(quantize_linear)
    .Is("QuantizeLinear", In(10, 12), OneScale())
    .Is("QuantizeLinear", In(13, 18))
    .Is("QuantizeLinear", In(19, 20), ScaleOfX())
    .Is("QuantizeLinear", In(21, 22), ScaleOfX(), OptionalDType("output_dtype"), BlocksOfAxis())
    .Is("QuantizeLinear", Since(23), OptionalDType("output_dtype"), OptionalDType("precision"),
        BlocksOfAxis());
X2IR_ONNX(dequantize_linear)
    .Is("DequantizeLinear", In(10, 12), OneScale())
    .Is("DequantizeLinear", In(13, 20), OneZeroPoint())
    .Is("DequantizeLinear", In(21, 22), OneZeroPoint(), BlocksOfAxis())
    .Is("DequantizeLinear", Since(23), OneZeroPoint(), OptionalDType("output_dtype"),
        BlocksOfAxis());
X2IR_ONNX(dynamic_quantize_linear).Is("DynamicQuantizeLinear", Since(11));

X2IR_ONNX(matmul_integer).Is("MatMulInteger", Since(10));
X2IR_ONNX(qlinear_matmul).Is("QLinearMatMul", Since(10));
X2IR_ONNX(conv_integer)
    .Is("ConvInteger", Since(10), ChannelsFirst(), KernelShapeOfOperand(1),
        SpatialInts("strides", 1), SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));
X2IR_ONNX(qlinear_conv)
    .Is("QLinearConv", Since(10), ChannelsFirst(), KernelShapeOfOperand(3),
        SpatialInts("strides", 1), SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));

}  // namespace x2ir
