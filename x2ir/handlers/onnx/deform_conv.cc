// ONNX DeformConv.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// ONNX may say the kernel's size a second time, in kernel_shape: it must be that of w then. The
// IR says it once, by w.
class KernelOfW : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr("kernel_shape");
    if (!attr) return absl::OkStatus();
    const auto* said = attr->get<Attribute::Ints>();
    if (!said) return Invalid("attribute 'kernel_shape': expected ints");
    const std::optional<Attribute::Ints> known = Kernel(draft);
    if (!known || said->empty() || *said == *known) return absl::OkStatus();
    return Invalid("attribute 'kernel_shape' = ", attr->ToString(), ", but w has ",
                   Attribute(*known).ToString());
  }
  absl::Status Export(Draft& draft) const override {
    if (auto known = Kernel(draft)) draft.SetAttr("kernel_shape", *std::move(known));
    return absl::OkStatus();
  }
  std::vector<std::string> ForeignAttrs() const override { return {"kernel_shape"}; }

 private:
  static std::optional<Attribute::Ints> Kernel(const Draft& draft) {
    const Node& node = draft.node();
    const Value* w = node.num_inputs() > 1 ? node.input(1) : nullptr;
    const Shape* shape = w ? w->shape() : nullptr;
    if (!shape || shape->rank() < 3) return std::nullopt;
    Attribute::Ints kernel;
    for (int64_t i = 2; i < shape->rank(); ++i) {
      if (!(*shape)[i].is_static()) return std::nullopt;
      kernel.push_back((*shape)[i].value());
    }
    return kernel;
  }
};

}  // namespace

X2IR_ONNX(deform_conv)
    .Is("DeformConv", Since(19), Lens(std::make_shared<KernelOfW>()), SpatialInts("strides", 1),
        SpatialInts("dilations", 1), SpatialInts("pads", 0, 2));

}  // namespace x2ir
