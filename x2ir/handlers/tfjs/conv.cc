// TensorFlow.js: convolutions, which have either strides or dilations.
#include "x2ir/handlers/tf/conv.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/split_conv.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

bool AnyFromTwo(const TfWriter& w, Symbol attr) {
  const std::vector<int64_t> all = w.attrs().Ints(attr, {});
  return std::any_of(all.begin(), all.end(), [](int64_t n) { return n > 1; });
}

// Steps that leave elements out would give SAME negative pads, which TensorFlow.js (4.22) takes as
// they are along three axes.
bool HasNegativePads(const Window& window) {
  bool any = false;
  for (size_t i = 0; i < window.rank(); ++i) any |= window.strides[i] > window.extent(i);
  return any && window.rank() == 3 && IsSame(window.auto_pad);
}

absl::StatusOr<Values> ToTfjsConv(TfWriter& w) {
  const auto kernel = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  if (kernel && kernel->size() == 5) {
    X2IR_ASSIGN_OR_RETURN(const Window window,
                          ReadWindow(w.attrs(), {kernel->begin() + 2, kernel->end()}));
    if (HasNegativePads(window)) {
      std::optional<Window> padded = WithPads(window, w.shape());
      if (!padded) return CannotExpress("auto_pad SAME of unknown sizes, with long steps");
      padded->auto_pad = AutoPad::kNotSet;
      AttributeMap attrs = WindowAttrs(*padded);
      attrs.Set("group", w.Int("group"));
      return Values{w.Op("conv", w.node().inputs(), std::move(attrs))};
    }
  }
  if (AnyFromTwo(w, "strides") && AnyFromTwo(w, "dilations")) return ConvWithZerosBetween(w);
  return ToTfConv(w);
}

}  // namespace

X2IR_TFJS(conv).To("Conv2D", ToTfjsConv);

}  // namespace x2ir
