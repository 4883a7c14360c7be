// Keras: convolutions.
#include "x2ir/handlers/keras/conv.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/weights.h"
#include "x2ir/handlers/keras/activation.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {

void SetPadding(NodeReader& a, const std::string& padding, Window* window) {
  if (padding == "same") {
    window->auto_pad = AutoPad::kSameUpper;
  } else if (padding == "causal") {
    a.Require(window->rank() == 1, "causal padding of several axes");
    window->pads = {window->extent(0) - 1, 0};
  } else {
    a.Require(padding == "valid", StrCat("padding '", padding, "'"));
  }
}

Window TakeKerasWindow(KerasArgs& a, size_t spatial) {
  constexpr int64_t kLimit = int64_t{1} << 24;
  Window w;
  w.kernel = a.Tuple("kernel_size", spatial, 1);
  w.strides = a.Tuple("strides", spatial, 1);
  w.dilations = a.Tuple("dilation_rate", spatial, 1);
  w.channels_last = a.ChannelsLast();
  for (const auto* list : {&w.kernel, &w.strides, &w.dilations}) {
    for (const int64_t n : *list) {
      if (n < 1 || n > kLimit) a.Fail(Invalid("a window of size or step ", n));
    }
  }
  SetPadding(a, a.Text("padding", "valid"), &w);
  return w;
}

Expr ConvolveKeras(NodeReader& a, const Expr& x, const Expr& kernel, const Window& window,
                   int64_t groups) {
  const auto spatial = static_cast<int64_t>(window.kernel.size());
  if (kernel.rank() != spatial + 2) a.Fail(Invalid("a kernel of ", kernel.rank(), " axes"));
  if (x.rank() != spatial + 2) a.Fail(Invalid("an image of ", x.rank(), " axes"));
  return MakeConv(x, KernelToOihw(a, kernel), nullptr, window, groups);
}

namespace {

// A kernel [space..., in, multiplier] as one of groups of one channel each.
Expr DepthwiseKernel(NodeReader& a, const Expr& kernel, int64_t* channels) {
  const auto dims = KnownSizes(kernel);
  a.Require(dims.has_value(), "a kernel of unknown size");
  const size_t rank = dims->size();
  *channels = (*dims)[rank - 2];
  std::vector<int64_t> perm = {static_cast<int64_t>(rank) - 2, static_cast<int64_t>(rank) - 1};
  std::vector<int64_t> to = {(*dims)[rank - 2] * (*dims)[rank - 1], 1};
  for (size_t i = 0; i + 2 < rank; ++i) {
    perm.push_back(static_cast<int64_t>(i));
    to.push_back((*dims)[i]);
  }
  return {a, ReshapedWeight(a, Relaid(a, kernel, perm), to)};
}

}  // namespace

Expr DepthwiseKeras(NodeReader& a, const Expr& x, const Expr& kernel, const Window& window) {
  if (kernel.rank() != static_cast<int64_t>(window.kernel.size()) + 2) {
    a.Fail(Invalid("a kernel of ", kernel.rank(), " axes"));
  }
  int64_t channels = 0;
  const Expr w = DepthwiseKernel(a, kernel, &channels);
  return MakeConv(x, w, nullptr, window, channels);
}

Expr WithBias(const Expr& y, const Expr& bias, bool channels_last) {
  if (channels_last) return y + bias;
  return y + AlongAxis(bias, 1, y.rank(), "bias");
}

namespace {

std::vector<std::string> KernelNames(KerasArgs& a, std::vector<std::string> kernels) {
  if (a.Flag("use_bias", true)) kernels.emplace_back("bias");
  return kernels;
}

Value* Conv(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  a.Integer("filters", 0);
  a.Ignore("call.theano_layout");
  const Window window = TakeKerasWindow(a, spatial);
  const std::vector<Expr> w = a.Weights(KernelNames(a, {"kernel"}));
  const int64_t groups = a.Integer("groups", 1);
  Expr y = ConvolveKeras(a, a.tensor(), w[0], window, groups);
  if (w.size() > 1) y = WithBias(y, w[1], window.channels_last);
  return ActivatedBy(a, "activation", y);
}

Value* DepthwiseConv(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  for (const char* name : {"depth_multiplier", "filters", "groups", "call.theano_layout"}) {
    a.Ignore(name);
  }
  const Window window = TakeKerasWindow(a, spatial);
  const std::vector<Expr> w = a.Weights(KernelNames(a, {"depthwise kernel"}));
  Expr y = DepthwiseKeras(a, a.tensor(), w[0], window);
  if (w.size() > 1) y = WithBias(y, w[1], window.channels_last);
  return ActivatedBy(a, "activation", y);
}

// Each channel by itself, then the channels at each place.
Value* SeparableConv(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  for (const char* name : {"depth_multiplier", "filters", "groups", "call.theano_layout"}) {
    a.Ignore(name);
  }
  const Window window = TakeKerasWindow(a, spatial);
  const std::vector<Expr> w = a.Weights(KernelNames(a, {"depthwise kernel", "pointwise kernel"}));
  Window point{.channels_last = window.channels_last};
  point.kernel = point.strides = point.dilations = std::vector<int64_t>(spatial, 1);
  Expr y = ConvolveKeras(a, DepthwiseKeras(a, a.tensor(), w[0], window), w[1], point);
  if (w.size() > 2) y = WithBias(y, w[2], window.channels_last);
  return ActivatedBy(a, "activation", y);
}

// Kernel [space..., out, in]. Sizes are those of Keras's deconv_output_length.
Value* ConvTranspose(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  for (const char* name : {"filters", "groups", "output_shape", "call.theano_layout"}) {
    a.Ignore(name);
  }
  Window window = TakeKerasWindow(a, spatial);
  const std::vector<int64_t> added = a.Integers("output_padding");
  const std::vector<Expr> w = a.Weights(KernelNames(a, {"kernel"}));
  a.Require(window.pads.empty(), "padding 'causal'");
  if (a.RankOf(w[0]) != static_cast<int64_t>(spatial) + 2)
    a.Fail(Invalid("a kernel of ", a.RankOf(w[0]), " axes"));
  const bool same = IsSame(std::exchange(window.auto_pad, AutoPad::kNotSet));
  window.pads.assign(2 * spatial, 0);
  std::vector<int64_t> more(spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = window.extent(i);
    // How much larger than (in - 1) * stride + size the result is.
    int64_t excess =
        same ? window.strides[i] - size : std::max<int64_t>(window.strides[i] - size, 0);
    if (!added.empty()) {
      a.Require(added.size() == 1 || added.size() == spatial, "this output_padding");
      excess = added[added.size() == 1 ? 0 : i] - (same ? 2 * (size / 2) : 0);
    }
    if (excess >= 0) {
      more[i] = excess;
    } else {
      window.SplitPads(i, -excess, /*odd_at_end=*/true);
    }
  }
  const bool pad_after = [&] {
    for (size_t i = 0; i < spatial; ++i) {
      if (more[i] >= std::max(window.strides[i], window.dilations[i])) return true;
    }
    return false;
  }();
  std::vector<int64_t> perm = {static_cast<int64_t>(spatial) + 1, static_cast<int64_t>(spatial)};
  for (size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<int64_t>(i));
  const Expr x = a.tensor();
  Expr y = MakeConvTranspose(x, Relaid(a, w[0], perm), nullptr, window, 1,
                             pad_after ? std::vector<int64_t>() : more);
  if (pad_after) {
    window.pads = JoinPads(std::vector<int64_t>(spatial, 0), more);
    y = y.Op("pad", {a.b().Ints(TensorPads(window))});
  }
  if (w.size() > 1) y = WithBias(y, w[1], window.channels_last);
  return ActivatedBy(a, "activation", y);
}

}  // namespace

X2IR_KERAS(conv)
    .From({"Conv1D", "Conv2D", "Conv3D"}, Conv)
    .From({"DepthwiseConv1D", "DepthwiseConv2D"}, DepthwiseConv)
    .From({"SeparableConv1D", "SeparableConv2D"}, SeparableConv);
X2IR_KERAS(conv_transpose)
    .From({"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"}, ConvTranspose);

}  // namespace x2ir
