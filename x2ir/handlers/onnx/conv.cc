// ONNX Conv and ConvTranspose.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/handlers/onnx/conv_lenses.h"

namespace x2ir {
namespace {

// Where files give output_shape for all axes, those of the batch and of the channels come first;
// where they give output_padding for both ends of each axis, one end counts.
class AllAxesLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const int64_t n = SpatialAxes(draft.node());
    const auto sizes = Take(draft, "output_shape");
    if (sizes) {
      const size_t more = n > 0 && static_cast<int64_t>(sizes->size()) == n + 2 ? 2 : 0;
      draft.SetAttr("output_shape", Attribute::Ints(sizes->begin() + more, sizes->end()));
    }
    const auto padding = draft.node().attrs().Find("output_padding");
    const auto* ints = padding ? padding->get<Attribute::Ints>() : nullptr;
    if (!ints || n < 1 || static_cast<int64_t>(ints->size()) != 2 * n ||
        !std::equal(ints->begin(), ints->begin() + n, ints->begin() + n)) {
      return padding_->Import(draft);
    }
    const Attribute::Ints once(ints->begin(), ints->begin() + n);
    draft.TakeAttr("output_padding");
    draft.SetAttr("output_padding", once);
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    if (auto sizes = draft.TakeAttr("output_shape")) draft.SetAttr("output_shape", *sizes);
    return padding_->Export(draft);
  }
  std::vector<std::string> IrAttrs() const override { return {"output_shape", "output_padding"}; }
  std::vector<std::string> ForeignAttrs() const override {
    return {"output_shape", "output_padding"};
  }

 private:
  static int64_t SpatialAxes(const Node& node) {
    for (size_t i = 0; i < 2 && i < node.num_inputs(); ++i) {
      if (node.input(i) && node.input(i)->shape()) return node.input(i)->shape()->rank() - 2;
    }
    return -1;
  }
  static std::optional<Attribute::Ints> Take(Draft& draft, Symbol name) {
    const std::optional<Attribute> attr = draft.TakeAttr(name);
    const auto* ints = attr ? attr->get<Attribute::Ints>() : nullptr;
    return ints ? std::optional(*ints) : std::nullopt;
  }
  const Lens padding_ = SpatialInts("output_padding", 0);
};

X2IR_ONNX(conv).Is("Conv", Since(1), ChannelsFirst(), KernelShapeOfOperand(1),
                   SpatialInts("strides", 1), SpatialInts("dilations", 1),
                   SpatialInts("pads", 0, 2), DilatedSameAsPads());

X2IR_ONNX(conv_transpose)
    .Is("ConvTranspose", Since(1), ChannelsFirst(), KernelShapeOfOperand(1),
        SpatialInts("strides", 1), SpatialInts("dilations", 1), SpatialInts("pads", 0, 2),
        Lens(std::make_shared<AllAxesLens>()));

}  // namespace
}  // namespace x2ir
