// TensorFlow.js: convolutions, which have either strides or dilations.
#include "x2ir/handlers/tf/conv.h"

#include <algorithm>
#include <vector>

#include "x2ir/builder/layers/split_conv.h"
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

bool AnyFromTwo(const TfWriter& w, Symbol attr) {
  const std::vector<int64_t> all = w.attrs().Ints(attr, {});
  return std::any_of(all.begin(), all.end(), [](int64_t n) { return n > 1; });
}

absl::StatusOr<Values> ToTfjsConv(TfWriter& w) {
  if (AnyFromTwo(w, "strides") && AnyFromTwo(w, "dilations")) return ConvWithZerosBetween(w);
  return ToTfConv(w);
}

}  // namespace

X2IR_TFJS(conv).To("Conv2D", ToTfjsConv);

}  // namespace x2ir
