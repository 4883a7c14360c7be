// Core ML: convolutions.

#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

Expr Convolved(NnArgs& a, const Expr& x, Value* weights, Value* bias, const Window& window,
               int64_t groups, bool transposed, const std::vector<int64_t>& sizes) {
  if (transposed) return Deconvolved(a, x, weights, bias, window, groups, sizes);
  return MakeConv(x, weights, bias, window, groups);
}

Expr Convolution(NnArgs& a) {
  const int64_t out = a.Int("outputChannels"), in = a.Int("kernelChannels"),
                groups = a.Int("nGroups", 1);
  const std::vector<int64_t> kernel = a.List("kernelSize", {3, 3});
  Window window;
  window.strides = a.List("stride", {1, 1});
  window.dilations = a.List("dilationFactor", {1, 1});
  a.Require(kernel.size() == 2 && window.strides.size() == 2 && window.dilations.size() == 2,
            "a kernel of other axes");
  PadAutomatically(a, &window);
  const bool transposed = a.Flag("isDeconvolution"), biased = a.Flag("hasBias");
  if (transposed) window.dilations = {1, 1};  // what the layer says of them is not used
  const std::vector<int64_t> sizes = a.List("outputShape");
  a.Require(sizes.empty() || transposed, "a size of a convolution");
  a.Require(out > 0 && in > 0 && groups > 0 && (!transposed || out % groups == 0), "channels");
  Value* weights = nullptr;
  if (a.count() > 1) {
    a.Require(!transposed, "a transposed convolution of computed weights");
    weights = a.X(1);
  } else {
    weights = a.NeedWeights(
        "weights", {transposed ? in : out, transposed ? out / groups : in, kernel[0], kernel[1]});
  }
  Value* bias = biased ? a.NeedWeights("bias", {out}).value() : nullptr;
  return OnImages(a, a.X(), [&](const Expr& x) {
    return Convolved(a, x, weights, bias, window, groups, transposed, sizes);
  });
}

Expr Convolution3d(NnArgs& a) {
  const int64_t out = a.Int("outputChannels"), in = a.Int("inputChannels"),
                groups = a.Int("nGroups", 1);
  const std::vector<int64_t> kernel = Three(a, "kernel", 3);
  Window window;
  window.strides = Three(a, "stride", 1);
  window.dilations = Three(a, "dilation", 1);
  PadThree(a, &window);
  const bool transposed = a.Flag("isDeconvolution"), biased = a.Flag("hasBias");
  const std::vector<int64_t> sizes = a.List("outputShape");
  a.Require(groups > 0 && out > 0 && in > 0 && out % groups == 0 && in % groups == 0, "channels");
  a.Require(sizes.empty() || transposed, "a size of a convolution");
  const Expr weights = a.NeedWeights(
      "weights",
      {transposed ? in : out, (transposed ? out : in) / groups, kernel[0], kernel[1], kernel[2]});
  Value* bias = biased ? a.NeedWeights("bias", {out}).value() : nullptr;
  return Convolved(a, a.X(), weights, bias, window, groups, transposed, sizes);
}

}  // namespace

X2IR_NN(conv).From({{"convolution", Convolution}, {"convolution3d", Convolution3d}});

}  // namespace x2ir
