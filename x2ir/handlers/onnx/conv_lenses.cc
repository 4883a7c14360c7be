// Lenses that convolutions share, the layout also with pools and norms.
#include "x2ir/handlers/onnx/conv_lenses.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace x2ir {
namespace {

class KernelShapeLens : public LensImpl {
 public:
  explicit KernelShapeLens(size_t w) : w_(w) {}
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr("kernel_shape");
    if (!attr) return absl::OkStatus();
    const auto* said = attr->get<Attribute::Ints>();
    if (!said) return Invalid("attribute 'kernel_shape': expected ints");
    const std::optional<Attribute::Ints> known = Kernel(draft.node().input(w_));
    if (known && !said->empty() && *said != *known) {
      return Invalid("attribute 'kernel_shape' = ", attr->ToString(), ", but w has ",
                     Attribute(*known).ToString());
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute::Ints> known = Kernel(draft.node().input(w_));
    if (known && !known->empty()) draft.SetAttr("kernel_shape", *std::move(known));
    return absl::OkStatus();
  }
  std::vector<std::string> ForeignAttrs() const override { return {"kernel_shape"}; }

 private:
  static std::optional<Attribute::Ints> Kernel(const Value* w) {
    const Shape* shape = w ? w->shape() : nullptr;
    if (!shape || shape->rank() < 2) return std::nullopt;
    return Shape(std::vector<Dim>(shape->begin() + 2, shape->end())).Static();
  }
  size_t w_;
};

}  // namespace

Lens KernelShapeOfOperand(size_t w) { return std::make_shared<KernelShapeLens>(w); }
Lens ChannelsFirst() { return Fixed("layout", "channels_first"); }

}  // namespace x2ir
