// ONNX Conv and ConvTranspose.
#include <memory>
#include <string>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// ONNX may say the kernel's size twice: in kernel_shape and in the shape of w. The IR says it
// once, by w. Written out where known, since some runtimes want it.
class KernelShapeOfW : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr("kernel_shape");
    if (!attr) return absl::OkStatus();
    const auto* said = attr->get<Attribute::Ints>();
    if (said == nullptr) return Invalid("attribute 'kernel_shape': expected ints");
    const std::optional<Attribute::Ints> known = KernelOf(draft.node().input(1));
    if (known && !said->empty() && *said != *known) {
      return Invalid("attribute 'kernel_shape' = ", attr->ToString(), ", but w has ",
                     Attribute(*known).ToString());
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    if (auto known = KernelOf(draft.node().input(1)); known && !known->empty()) {
      draft.SetAttr("kernel_shape", *std::move(known));
    }
    return absl::OkStatus();
  }
  std::vector<std::string> ForeignAttrs() const override { return {"kernel_shape"}; }

 private:
  static std::optional<Attribute::Ints> KernelOf(const Value* w) {
    if (w == nullptr || w->shape() == nullptr || w->shape()->rank() < 2) return std::nullopt;
    Attribute::Ints kernel;
    for (int64_t i = 2; i < w->shape()->rank(); ++i) {
      if (!(*w->shape())[i].is_static()) return std::nullopt;
      kernel.push_back((*w->shape())[i].value());
    }
    return kernel;
  }
};

Lens KernelShape() { return std::make_shared<KernelShapeOfW>(); }
Lens ChannelsFirst() { return Fixed("layout", "channels_first"); }

X2IR_ONNX(conv).Is("Conv", Since(1), ChannelsFirst(), KernelShape(), SpatialInts("strides", 1),
                   SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));

X2IR_ONNX(conv_transpose)
    .Is("ConvTranspose", Since(1), ChannelsFirst(), KernelShape(), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), SpatialInts("output_padding", 0));

}  // namespace
}  // namespace x2ir
