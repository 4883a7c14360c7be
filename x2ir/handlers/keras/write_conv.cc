// Keras, written: convolutions, with their channels last.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "x2ir/handlers/keras/write_internal.h"
#include "x2ir/optimizer/layout.h"

namespace x2ir {
namespace {

absl::StatusOr<std::vector<int64_t>> KernelDims(KerasWriter& w) {
  const Tensor* kernel = w.Weight(1);
  if (!kernel) return CannotExpress("a kernel that is computed");
  if (kernel->rank() < 3 || kernel->rank() > 5) {
    return CannotExpress(kernel->rank() - 2, " spatial axes");
  }
  return kernel->dims();
}

// The weights with a bias, if it is a constant; else the bias is added to the result.
Value* WithBiasOf(KerasWriter& w, std::string_view layer, Value* x, AttributeMap config,
                  Value* kernel) {
  std::vector<Value*> weights = {kernel};
  const bool own = w.has(2) && w.Weight(2);
  if (own) weights.push_back(w.in(2));
  config.Set("activation", "linear");
  config.Set("use_bias", int64_t{own});
  Value* y = w.Layer(layer, {x}, std::move(config), weights, w.out_type());
  return w.has(2) && !own ? w.Op("add", {y, w.in(2)}) : y;
}

absl::StatusOr<Values> ToConv(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, KernelDims(w));
  const size_t axes = dims.size() - 2;
  X2IR_ASSIGN_OR_RETURN(KerasWindow window, ReadKerasWindow(w, {dims.begin() + 2, dims.end()}));
  const bool steps = std::ranges::any_of(window.strides, [](int64_t s) { return s != 1; });
  if (steps && window.dilated()) return CannotExpress("steps and dilations at once");
  if (!HasChannelsLast(w)) return InLayout(w.b(), w.node(), "channels_last");
  const int64_t groups = w.Int("group");
  const bool even =
      std::ranges::all_of(window.strides, [&](int64_t s) { return s == window.strides[0]; });
  Value* x = PaddedInput(w, window, 0);
  AttributeMap config = window.Settings("kernel_size");
  config.Set("dilation_rate", window.dilations);
  std::vector<int64_t> perm;
  for (size_t i = 0; i < axes; ++i) perm.push_back(static_cast<int64_t>(i) + 2);
  if (groups > 1 && dims[1] == 1 && axes < 3 && even) {
    // [channels, results of each, kernel...] becomes [kernel..., channels, results of each].
    const int64_t each = dims[0] / groups;
    std::vector<int64_t> apart = {groups, each};
    apart.insert(apart.end(), dims.begin() + 2, dims.end());
    perm.insert(perm.end(), {0, 1});
    config.Set("depth_multiplier", each);
    return Values{WithBiasOf(w, ClassOf("DepthwiseConv", axes), x, std::move(config),
                             RelaidWeight(w, 1, perm, apart))};
  }
  perm.insert(perm.end(), {1, 0});
  config.Set("filters", dims[0]);
  config.Set("groups", groups);
  return Values{
      WithBiasOf(w, ClassOf("Conv", axes), x, std::move(config), RelaidWeight(w, 1, perm))};
}

// A VALID one gives all results; what pads cut off is cut off by a slice.
absl::StatusOr<Values> ToConvTranspose(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, KernelDims(w));
  if (w.Int("group") != 1) return CannotExpress("groups of a transposed convolution");
  if (w.attrs().Has("output_shape") || w.String("auto_pad") != "NOTSET") {
    return CannotExpress("pads that follow from the result");
  }
  const size_t axes = dims.size() - 2;
  const std::vector<int64_t> ones(axes, 1), zeros(axes, 0);
  const std::vector<int64_t> kernel(dims.begin() + 2, dims.end());
  const std::vector<int64_t> strides = w.attrs().Ints("strides", ones),
                             dilations = w.attrs().Ints("dilations", ones),
                             more = w.attrs().Ints("output_padding", zeros),
                             pads = w.attrs().Ints("pads", std::vector<int64_t>(2 * axes, 0));
  const Shape* in = w.shape();
  if (!in) return CannotExpress("an operand of unknown rank");
  AttributeMap config = {
      {"filters", dims[1]}, {"kernel_size", kernel},          {"strides", strides},
      {"padding", "valid"}, {"data_format", "channels_last"}, {"dilation_rate", dilations}};
  std::vector<int64_t> begins, ends, cut;
  Shape whole = *in;
  whole[in->rank() - 1] = Dim(dims[1]);
  for (size_t i = 0; i < axes; ++i) {
    if (dilations[i] != 1) return CannotExpress("a dilated transposed convolution");
    // VALID: as many as the last window reaches, or the step where that is more.
    const int64_t rest = std::max<int64_t>(kernel[i] - strides[i], 0);
    const int64_t end = kernel[i] - strides[i] - rest + more[i] - pads[i + axes];
    if (pads[i] < 0 || end > 0) return CannotExpress("a result that is larger than all windows");
    const auto axis = static_cast<int64_t>(i) + 1;
    whole[axis] = (*in)[axis] * Dim(strides[i]) + Dim(rest);
    begins.push_back(pads[i]);
    ends.push_back(end == 0 ? std::numeric_limits<int64_t>::max() : end);
    cut.push_back(axis);
  }
  if (!HasChannelsLast(w)) return InLayout(w.b(), w.node(), "channels_last");
  std::vector<int64_t> perm;
  for (size_t i = 0; i < axes; ++i) perm.push_back(static_cast<int64_t>(i) + 2);
  perm.insert(perm.end(), {1, 0});
  std::vector<Value*> weights = {RelaidWeight(w, 1, perm)};
  const bool own = w.has(2) && w.Weight(2);
  if (own) weights.push_back(w.in(2));
  config.Set("activation", "linear");
  config.Set("use_bias", int64_t{own});
  const bool cuts = std::ranges::any_of(begins, [](int64_t b) { return b != 0; }) ||
                    std::ranges::any_of(ends, [](int64_t e) { return e <= 0; });
  Value* y = w.Layer(ClassOf("Conv", axes, "Transpose"), {w.in(0)}, std::move(config), weights,
                     Type::Tensor(w.dtype(), std::move(whole)));
  if (w.has(2) && !own) y = w.Op("add", {y, w.in(2)});
  if (cuts) y = w.Op("slice", {y, w.Ints(begins), w.Ints(ends), w.Ints(cut)});
  return Values{y};
}

}  // namespace

X2IR_KERAS(conv).To("Conv2D", ToConv);
X2IR_KERAS(conv_transpose).To("Conv2DTranspose", ToConvTranspose);

}  // namespace x2ir
